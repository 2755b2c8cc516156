use super::*;
use crate::data::rows::Rows;
use crate::network::features::Padded;
use crate::polish::tests::random;
use crate::solve::stacked::CASES;

/// The gradient Jᵀr is half the derivative of φ, exactly (Kaufman's approximation is in JᵀJ alone).
#[test]
fn gradient_of_the_projected_objective() {
    for (activation, form) in CASES {
        for weights in [None, Some([2.0, 0.5, 0.0, 1.0].repeat(6))] {
            let (m, n, c) = (24, 5, 2);
            let x = Padded::new(activation, random(m, 3, 1.0, 1).as_ref());
            let x = x.as_ref();
            let y = random(m, c, 1.0, 2);
            let w = random(n, x.columns(), 0.7, 3);
            let rows = Rows {
                x,
                y: y.as_ref(),
                weights: weights.as_deref(),
            };
            let support = Support::full(n, x.columns());
            let projection = Projection::new(activation, form, &rows, &support);
            let tau = 1e-3;
            let point = projection.evaluate(w.clone(), tau).expect("finite");
            let p = point.b.nrows();
            let q = point.y.nrows() - p;
            for l in 0..n {
                for j in 0..x.columns() {
                    let mut gradient = 0.0;
                    for o in 0..c {
                        let mut g = Mat::zeros(q + p, n * x.columns());
                        projection.slopes(&point, o, g.as_mut());
                        point.qr.transpose_apply(g.as_mut());
                        for k in p..p + q {
                            gradient -= g[(k, l * x.columns() + j)] * point.y[(k, o)];
                        }
                    }
                    let h = 1e-5;
                    let at = |step: f64| {
                        let mut w = w.clone();
                        w[(l, j)] += step;
                        projection.evaluate(w, tau).expect("finite").objective
                    };
                    let numeric = (at(h) - at(-h)) / (2.0 * h);
                    let error = (2.0 * gradient - numeric).abs();
                    assert!(
                        error < 1e-5 * (1.0 + numeric.abs()),
                        "{activation:?} {form:?} ({l},{j}): {gradient:e} {numeric:e}"
                    );
                }
            }
        }
    }
}

/// JᵀJ = GᵀG − GᵀA(AᵀA + τ²I)⁻¹AᵀG, and the step solves (JᵀJ + μD²)δ = −Jᵀr, on either side.
#[test]
fn step_solves_the_damped_normal_equations() {
    for (m, inputs) in [(40, 2), (8, 6)] {
        let activation = Activation::Fourier;
        let n = 4;
        let (x, y) = (random(m, inputs, 1.0, 4), random(m, 2, 1.0, 5));
        let x = Padded::new(Activation::Fourier, x.as_ref());
        let rows = Rows {
            x: x.as_ref(),
            y: y.as_ref(),
            weights: None,
        };
        let w = random(n, inputs, 0.5, 6);
        for form in [Form::Complex, Form::Real] {
            let support = Support::full(n, inputs);
            let projection = Projection::new(activation, form, &rows, &support);
            let tau = 0.05;
            let point = projection.evaluate(w.clone(), tau).expect("finite");
            let (p, parameters) = (point.b.nrows(), n * inputs);
            let a = projection.stack(point.e.as_ref(), 0);
            let q = a.nrows();
            let s = a.transpose() * &a + faer::Scale(tau * tau) * Mat::<f64>::identity(p, p);
            let inverse = faer::linalg::solvers::DenseSolveCore::inverse(&s.partial_piv_lu());
            let right = stacked::stack_outputs(y.as_ref(), None, q);
            let residual = &a * &point.b - right;
            let mut h = Mat::<f64>::zeros(parameters, parameters);
            let mut gradient = Mat::<f64>::zeros(parameters, 1);
            for o in 0..2 {
                let mut g = Mat::zeros(q + p, parameters);
                projection.slopes(&point, o, g.as_mut());
                let g = g.as_ref().subrows(0, q);
                let t = a.transpose() * g;
                h += g.transpose() * g - t.transpose() * &inverse * &t;
                gradient += g.transpose() * residual.as_ref().subcols(o, 1);
            }
            let mean = (0..parameters).map(|i| h[(i, i)]).sum::<f64>() / parameters as f64;
            let mut linearised = projection.linearise(&point).expect("depends on w");
            for mu in [1e-4, 1e-1] {
                let step = linearised.solve(mu);
                let step = linearised.delta(&step);
                let delta = Mat::from_fn(parameters, 1, |i, _| step[i]);
                let mut left = &h * &delta + &gradient;
                for i in 0..parameters {
                    left[(i, 0)] += mu * (h[(i, i)] + 1e-3 * mean) * delta[(i, 0)];
                }
                assert!(
                    left.norm_max() < 1e-9 * gradient.norm_max(),
                    "{form:?} m {m} mu {mu}"
                );
            }
        }
    }
}

/// The residual in the coordinates Q₂ᵀ is r + h Jδ + ½h² r″ + O(h³), and `bend` is −½ (JᵀJ + μD²)⁻¹Jᵀ r″.
#[test]
fn bend_is_the_second_order_of_the_step() {
    for (m, inputs) in [(40, 2), (8, 6)] {
        let (x, y) = (random(m, inputs, 1.0, 20), random(m, 2, 1.0, 21));
        let x = Padded::new(Activation::Fourier, x.as_ref());
        let rows = Rows {
            x: x.as_ref(),
            y: y.as_ref(),
            weights: None,
        };
        let w = random(4, inputs, 0.5, 22);
        let support = Support::full(4, inputs);
        let projection = Projection::new(Activation::Fourier, Form::Complex, &rows, &support);
        let (tau, mu) = (0.05, 0.1);
        let point = projection.evaluate(w, tau).expect("finite");
        let mut linearised = projection.linearise(&point).expect("depends on w");
        let step = linearised.solve(mu);
        let delta = linearised.delta(&step);
        let change = |h: f64| {
            let to = projection.evaluate(projection.moved(&point, &delta, h), tau);
            projection.change(&point, &to.expect("finite"))
        };
        let h = 1e-3;
        let (ahead, back) = (change(h), change(-h));
        // J from its columns, Jδ against the central difference.
        let p = point.b.nrows();
        let q = point.y.nrows() - p;
        let mut jacobian = Mat::zeros(2 * q, delta.len());
        for o in 0..2 {
            let mut g = Mat::zeros(q + p, delta.len());
            projection.slopes(&point, o, g.as_mut());
            point.qr.transpose_apply(g.as_mut());
            let mut block = jacobian.as_mut().subrows_mut(o * q, q);
            block.copy_from(g.as_ref().subrows(p, q));
        }
        let flat = &jacobian * Mat::from_fn(delta.len(), 1, |i, _| delta[i]);
        let central = Mat::from_fn(2 * q, 1, |k, _| (ahead[k] - back[k]) / (2.0 * h));
        assert!((&flat - &central).norm_max() < 1e-5 * flat.norm_max());
        let second = Mat::from_fn(2 * q, 1, |k, _| (ahead[k] + back[k]) / (h * h));
        let squares: Vec<f64> = (0..delta.len())
            .map(|i| jacobian.col(i).squared_norm_l2())
            .collect();
        let mean = squares.iter().sum::<f64>() / squares.len() as f64;
        let mut normal = jacobian.transpose() * &jacobian;
        for (i, square) in squares.iter().enumerate() {
            normal[(i, i)] += mu * (square + 1e-3 * mean);
        }
        let inverse = faer::linalg::solvers::DenseSolveCore::inverse(&normal.partial_piv_lu());
        let exact = faer::Scale(-0.5) * inverse * jacobian.transpose() * second;
        let bend = linearised.delta(&linearised.bend(&step, &ahead, h));
        let bend = Mat::from_fn(delta.len(), 1, |i, _| bend[i]);
        let error = (&bend - &exact).norm_l2() / exact.norm_l2();
        assert!(error < 1e-2, "m {m}: {error:e}");
    }
}
