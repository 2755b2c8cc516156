use super::*;
use crate::network::features::pad;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn random(rows: usize, columns: usize, scale: f64, seed: u64) -> Mat<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    Mat::from_fn(rows, columns, |_, _| {
        scale * (2.0 * rng.random::<f64>() - 1.0)
    })
}

const CASES: [(Activation, Form); 6] = [
    (Activation::Fourier, Form::Complex),
    (Activation::Fourier, Form::Real),
    (Activation::Cosine, Form::Complex),
    (Activation::Sigmoid, Form::Complex),
    (Activation::Tanh, Form::Complex),
    (Activation::Relu, Form::Complex),
];

/// The gradient Jᵀr is half the derivative of φ, exactly (Kaufman's approximation is in JᵀJ alone).
#[test]
fn gradient_of_the_projected_objective() {
    for (activation, form) in CASES {
        for weights in [None, Some([2.0, 0.5, 0.0, 1.0].repeat(6))] {
            let (m, n, c) = (24, 5, 2);
            let x = pad(activation, random(m, 3, 1.0, 1).as_ref());
            let y = random(m, c, 1.0, 2);
            let w = random(n, x.ncols(), 0.7, 3);
            let rows = Rows {
                x: x.as_ref(),
                y: y.as_ref(),
                weights: weights.as_deref(),
            };
            let problem = Problem::new(activation, form, &rows, w.as_ref(), false);
            let tau = 1e-3;
            let point = problem.evaluate(w.clone(), tau).expect("finite");
            let p = point.b.nrows();
            let q = point.y.nrows() - p;
            for l in 0..n {
                for j in 0..x.ncols() {
                    let mut gradient = 0.0;
                    for o in 0..c {
                        let mut g = Mat::zeros(q + p, n * x.ncols());
                        problem.slopes(&point, o, g.as_mut());
                        point.qr.transpose_apply(g.as_mut());
                        for k in p..p + q {
                            gradient -= g[(k, l * x.ncols() + j)] * point.y[(k, o)];
                        }
                    }
                    let h = 1e-5;
                    let at = |step: f64| {
                        let mut w = w.clone();
                        w[(l, j)] += step;
                        problem.evaluate(w, tau).expect("finite").objective
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
        let rows = Rows {
            x: x.as_ref(),
            y: y.as_ref(),
            weights: None,
        };
        let w = random(n, inputs, 0.5, 6);
        for form in [Form::Complex, Form::Real] {
            let problem = Problem::new(activation, form, &rows, w.as_ref(), false);
            let tau = 0.05;
            let point = problem.evaluate(w.clone(), tau).expect("finite");
            let (p, parameters) = (point.b.nrows(), n * inputs);
            let a = problem.stack(point.e.as_ref(), 0);
            let q = a.nrows();
            let s = a.transpose() * &a + faer::Scale(tau * tau) * Mat::<f64>::identity(p, p);
            let inverse = faer::linalg::solvers::DenseSolveCore::inverse(&s.partial_piv_lu());
            let right = stacked::stack_outputs(y.as_ref(), None, q);
            let residual = &a * &point.b - right;
            let mut h = Mat::<f64>::zeros(parameters, parameters);
            let mut gradient = Mat::<f64>::zeros(parameters, 1);
            for o in 0..2 {
                let mut g = Mat::zeros(q + p, parameters);
                problem.slopes(&point, o, g.as_mut());
                let g = g.as_ref().subrows(0, q);
                let t = a.transpose() * g;
                h += g.transpose() * g - t.transpose() * &inverse * &t;
                gradient += g.transpose() * residual.as_ref().subcols(o, 1);
            }
            let mean = (0..parameters).map(|i| h[(i, i)]).sum::<f64>() / parameters as f64;
            let mut model = problem.linearise(&point).expect("depends on w");
            for mu in [1e-4, 1e-1] {
                let step = model.solve(mu);
                let step = model.delta(&step);
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

fn quadratic(m: usize, seed: u64) -> (Mat<f64>, Mat<f64>) {
    let x = random(m, 2, 0.5, seed);
    let y = Mat::from_fn(m, 1, |k, _| x[(k, 0)].powi(2) + x[(k, 0)] * x[(k, 1)]);
    (x, y)
}

#[test]
fn a_smooth_function_is_fitted_to_rounding() {
    let (x, y) = quadratic(100, 7);
    let (xv, yv) = quadratic(20, 8);
    let train = Rows {
        x: x.as_ref(),
        y: y.as_ref(),
        weights: None,
    };
    let validation = Rows {
        x: xv.as_ref(),
        y: yv.as_ref(),
        weights: None,
    };
    for form in [Form::Complex, Form::Real] {
        let options = Options {
            steps: 40,
            kappa: 1e-13,
            ..Options::default()
        };
        let mut seen = Vec::new();
        let w = random(12, 2, 0.3, 9);
        let result = polish(
            Activation::Fourier,
            form,
            &train,
            &validation,
            w,
            &options,
            &mut |step, objective, error| {
                seen.push((step, objective, error));
                true
            },
        );
        assert!(
            result.validation < 1e-11,
            "{form:?} {:e}",
            result.validation
        );
        assert!(result.validation < result.start_validation);
        assert_eq!(seen.len(), result.steps + 1);
        let best = seen.iter().map(|s| s.2).fold(f64::INFINITY, f64::min);
        assert_eq!(best, result.validation);
    }
}

#[test]
fn the_start_is_kept_where_steps_only_hurt() {
    // Noise only: whatever is learned is wrong, and the start (w = 0, a constant) is best.
    let (x, y) = (random(30, 3, 1.0, 10), random(30, 1, 1.0, 11));
    let (xv, yv) = (random(30, 3, 1.0, 12), Mat::<f64>::zeros(30, 1));
    let train = Rows {
        x: x.as_ref(),
        y: y.as_ref(),
        weights: None,
    };
    let validation = Rows {
        x: xv.as_ref(),
        y: yv.as_ref(),
        weights: None,
    };
    let w = random(20, 3, 1e-9, 13);
    let options = Options {
        kappa: 1e-4,
        patience: 5,
        ..Options::default()
    };
    let result = polish(
        Activation::Fourier,
        Form::Complex,
        &train,
        &validation,
        w.clone(),
        &options,
        &mut |_, _, _| true,
    );
    assert!(result.validation <= result.start_validation);
    if result.best_step == 0 {
        assert_eq!(result.w, w);
    }
}

#[test]
fn the_observer_can_stop_it() {
    let (x, y) = quadratic(50, 14);
    let rows = Rows {
        x: x.as_ref(),
        y: y.as_ref(),
        weights: None,
    };
    let result = polish(
        Activation::Tanh,
        Form::Complex,
        &Rows {
            x: pad(Activation::Tanh, x.as_ref()).as_ref(),
            ..rows
        },
        &Rows {
            x: pad(Activation::Tanh, x.as_ref()).as_ref(),
            ..rows
        },
        random(5, 3, 1.0, 15),
        &Options::default(),
        &mut |step, _, _| step < 2,
    );
    assert_eq!((result.steps, result.stopped), (2, Stopped::Observer));
}

#[test]
fn awkward_data_never_panics_and_never_gives_nan() {
    let huge = 1e300;
    for (activation, form) in CASES {
        for (m, n, scale) in [
            (1, 1, 1.0),
            (3, 9, 1.0),
            (20, 4, 1.0),
            (20, 4, huge),
            (20, 4, 0.0),
            (0, 3, 1.0),
        ] {
            for kind in 0..5 {
                let mut x = random(m, 2, scale, 16);
                let mut y = random(m, 1, 1.0, 17);
                let mut w = random(n, activation.weights(2), 1.0, 18);
                let weights = vec![if kind == 4 { 0.0 } else { 1.0 }; m];
                match kind {
                    0 => w.fill(-50.0),
                    1 => x.fill(0.25),
                    2 => y.fill(huge),
                    3 => w.fill(0.0),
                    _ => {}
                }
                let x = pad(activation, x.as_ref());
                let rows = Rows {
                    x: x.as_ref(),
                    y: y.as_ref(),
                    weights: Some(&weights),
                };
                let options = Options {
                    steps: 4,
                    ..Options::default()
                };
                let result = polish(
                    activation,
                    form,
                    &rows,
                    &rows,
                    w,
                    &options,
                    &mut |_, _, _| true,
                );
                assert!(!result.validation.is_nan() && result.w.is_all_finite());
            }
        }
    }
}

/// The residual in the coordinates Q₂ᵀ is r + h Jδ + ½h² r″ + O(h³), and `bend` is −½ (JᵀJ + μD²)⁻¹Jᵀ r″.
#[test]
fn bend_is_the_second_order_of_the_step() {
    for (m, inputs) in [(40, 2), (8, 6)] {
        let (x, y) = (random(m, inputs, 1.0, 20), random(m, 2, 1.0, 21));
        let rows = Rows {
            x: x.as_ref(),
            y: y.as_ref(),
            weights: None,
        };
        let w = random(4, inputs, 0.5, 22);
        let problem = Problem::new(Activation::Fourier, Form::Complex, &rows, w.as_ref(), false);
        let (tau, mu) = (0.05, 0.1);
        let point = problem.evaluate(w, tau).expect("finite");
        let mut model = problem.linearise(&point).expect("depends on w");
        let step = model.solve(mu);
        let delta = model.delta(&step);
        let change = |h: f64| {
            let to = problem.evaluate(problem.moved(&point, &delta, h), tau);
            problem.change(&point, &to.expect("finite"))
        };
        let h = 1e-3;
        let (ahead, back) = (change(h), change(-h));
        // J from its columns, Jδ against the central difference.
        let p = point.b.nrows();
        let q = point.y.nrows() - p;
        let mut jacobian = Mat::zeros(2 * q, delta.len());
        for o in 0..2 {
            let mut g = Mat::zeros(q + p, delta.len());
            problem.slopes(&point, o, g.as_mut());
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
        let bend = model.delta(&model.bend(&step, &ahead, h));
        let bend = Mat::from_fn(delta.len(), 1, |i, _| bend[i]);
        let error = (&bend - &exact).norm_l2() / exact.norm_l2();
        assert!(error < 1e-2, "m {m}: {error:e}");
    }
}

#[test]
fn zeros_stay_zero_when_asked() {
    let (x, y) = quadratic(60, 23);
    let rows = Rows {
        x: x.as_ref(),
        y: y.as_ref(),
        weights: None,
    };
    let mut w = random(6, 2, 0.3, 24);
    w[(0, 1)] = 0.0;
    w[(5, 0)] = 0.0;
    let options = Options {
        steps: 5,
        keep_zeros: true,
        ..Options::default()
    };
    let run = |w: Mat<f64>| {
        let mut all = |_, _, _| true;
        polish(
            Activation::Fourier,
            Form::Real,
            &rows,
            &rows,
            w,
            &options,
            &mut all,
        )
    };
    let result = run(w);
    assert!(result.best_step > 0);
    assert_eq!((result.w[(0, 1)], result.w[(5, 0)]), (0.0, 0.0));
    assert!(result.w[(0, 0)] != 0.0);
    let nothing = run(Mat::zeros(6, 2));
    assert_eq!((nothing.steps, nothing.stopped), (0, Stopped::Stalled));
}
