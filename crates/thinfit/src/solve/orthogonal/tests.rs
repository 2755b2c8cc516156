use super::*;
use crate::data::rows::Rows;
use crate::network::features;
use crate::solve::householder::Qr;
use crate::solve::stacked::CASES;
use crate::solve::tsqr::TsqrTree;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn random(rows: usize, columns: usize, seed: u64) -> Mat<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    Mat::from_fn(rows, columns, |_, _| 2.0 * rng.random::<f64>() - 1.0)
}

fn planes(activation: Activation, m: usize, n: usize, seed: u64) -> Mat<f64> {
    let w = random(n, activation.weights(3), seed + 1);
    features::planes(activation, random(m, 3, seed).as_ref(), w.as_ref())
}

/// A matrix with singular values from 1 down to 1e-12 and outputs in its range, b = (1, 1, …).
fn ill_conditioned(rows: usize, k: usize) -> (Mat<f64>, Mat<f64>) {
    let mut a = Mat::zeros(rows, k);
    for i in 0..k {
        a[(i, i)] = 10f64.powf(-12.0 * i as f64 / (k - 1) as f64);
    }
    Qr::new(random(rows, k, 1)).apply(a.as_mut());
    let mut turned = a.transpose().to_owned();
    Qr::new(random(k, k, 2)).apply(turned.as_mut());
    let a = turned.transpose().to_owned();
    let y = &a * Mat::from_fn(k, 1, |_, _| 1.0);
    (a, y)
}

#[test]
fn fitted_values_at_condition_1e12_where_normal_equations_fail() {
    let (a, y) = ill_conditioned(120, 40);
    let e = a.as_ref();
    // A real activation's planes are the matrix itself.
    let fit = Orthogonal::new(Activation::Relu, Form::Real, e, y.as_ref(), None).expect("finite");
    let b = fit.coefficients(fit.tau(1e-15));
    let error = (&a * &b - &y).norm_l2() / y.norm_l2();
    assert!(error < 1e-13, "{error:e}");
    // Fitted values in the direction that only small singular values see.
    let exact = (&b - Mat::from_fn(40, 1, |_, _| 1.0)).norm_max();
    assert!(exact < 1e-2, "b itself is off by {exact:e}");
    let gram = a.transpose() * &a;
    let normal = match gram.llt(faer::Side::Lower) {
        Ok(factor) => faer::linalg::solvers::Solve::solve(&factor, a.transpose() * &y),
        Err(_) => return,
    };
    let lost = (&normal - Mat::from_fn(40, 1, |_, _| 1.0)).norm_max();
    assert!(
        lost > 1e2 * exact,
        "normal equations were as good: {lost:e}"
    );
}

#[test]
fn coefficients_satisfy_the_defining_equation() {
    for (activation, form) in CASES {
        for (m, n) in [(60, 12), (9, 14)] {
            let e = planes(activation, m, n, 3);
            let y = random(m, 2, 4);
            let weights: Vec<f64> = (0..m).map(|k| 0.5 + (k % 3) as f64).collect();
            let roots = roots(Some(&weights));
            let fit = Orthogonal::new(activation, form, e.as_ref(), y.as_ref(), Some(&weights))
                .expect("finite");
            for epsilon in [1e-3f64, 1e-9] {
                let b = fit.coefficients(epsilon.sqrt());
                let a = stack(activation, form, e.as_ref(), roots.as_deref(), 0);
                let y = stack_outputs(y.as_ref(), roots.as_deref(), a.nrows());
                let left = a.transpose() * (&a * &b - &y) + faer::Scale(epsilon) * &b;
                let scale = a.norm_l2() * (a.norm_l2() * b.norm_l2() + y.norm_l2());
                let tolerance = 20.0 * f64::EPSILON * scale;
                assert!(
                    left.norm_max() < tolerance,
                    "{activation:?} {form:?} {m} {epsilon:e}"
                );
            }
        }
    }
}

#[test]
fn fitted_is_the_real_part_of_the_stacked_product() {
    let e = planes(Activation::Fourier, 20, 6, 5);
    let b = random(12, 2, 6);
    let f = fitted(Activation::Fourier, e.as_ref(), b.as_ref());
    let a = stack(Activation::Fourier, Form::Real, e.as_ref(), None, 0);
    assert!((f - a * b).norm_max() < 1e-15);
}

#[test]
fn leave_one_out_equals_refits() {
    for (activation, form) in CASES {
        for (m, n, kappa) in [(40, 8, 1e-6), (40, 8, 1e-3), (12, 16, 1e-3)] {
            let e = planes(activation, m, n, 7);
            let y = random(m, 2, 8);
            let mut weights: Vec<f64> = (0..m).map(|k| 0.5 + (k % 4) as f64).collect();
            weights[3] = 0.0;
            for weights in [None, Some(weights.as_slice())] {
                let (e, y) = (e.as_ref(), y.as_ref());
                let fit = Orthogonal::new(activation, form, e, y, weights).expect("finite");
                let tau = fit.tau(kappa);
                let loo = fit.leave_one_out(tau);
                for left in [0, 3, m - 1] {
                    let keep = |a: MatRef<'_, f64>| {
                        Mat::from_fn(m - 1, a.ncols(), |k, j| a[(k + usize::from(k >= left), j)])
                    };
                    let kept: Option<Vec<f64>> = weights.map(|w| {
                        let rest = w.iter().enumerate().filter(|(k, _)| *k != left);
                        rest.map(|(_, w)| *w).collect()
                    });
                    let refit = Orthogonal::new(
                        activation,
                        form,
                        keep(e).as_ref(),
                        keep(y).as_ref(),
                        kept.as_deref(),
                    );
                    let b = refit.expect("finite").coefficients(tau);
                    let f = fitted(activation, e.subrows(left, 1), b.as_ref());
                    for o in 0..2 {
                        let exact = y[(left, o)] - f[(0, o)];
                        let error = (loo[(left, o)] - exact).abs();
                        assert!(
                            error < 1e-8 * exact.abs(),
                            "{activation:?} {form:?} {m} {kappa:e} row {left}: {error:e} of {exact:e}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn leave_one_out_of_an_interpolating_fit_is_finite() {
    for form in [Form::Complex, Form::Real] {
        let e = planes(Activation::Fourier, 10, 30, 9);
        let y = random(10, 1, 10);
        let fit = Orthogonal::new(Activation::Fourier, form, e.as_ref(), y.as_ref(), None)
            .expect("finite");
        for tau in [0.0, 1e-14, 1e-3] {
            assert!(fit.coefficients(tau).is_all_finite());
            assert!(fit.leave_one_out(tau).is_all_finite());
            assert!(fit.covariance(tau).is_all_finite());
        }
    }
}

#[test]
fn weight_two_is_the_row_twice() {
    for (activation, form) in CASES {
        let (m, n) = (30, 7);
        let e = planes(activation, m, n, 11);
        let y = random(m, 1, 12);
        let mut weights = vec![1.0; m];
        weights[4] = 2.0;
        let twice = |a: &Mat<f64>| {
            Mat::from_fn(m + 1, a.ncols(), |k, j| a[(if k == m { 4 } else { k }, j)])
        };
        let (e2, y2) = (twice(&e), twice(&y));
        let one = Orthogonal::new(activation, form, e.as_ref(), y.as_ref(), Some(&weights))
            .expect("finite");
        let two =
            Orthogonal::new(activation, form, e2.as_ref(), y2.as_ref(), None).expect("finite");
        let tau = one.tau(1e-6);
        let (b, other) = (one.coefficients(tau), two.coefficients(tau));
        assert!(
            (&b - &other).norm_max() < 1e-8 * b.norm_max(),
            "{activation:?}"
        );
        let (v, other) = (one.covariance(tau), two.covariance(tau));
        assert!(
            (&v - &other).norm_max() < 1e-8 * v.norm_max(),
            "{activation:?}"
        );
    }
}

#[test]
fn covariance_is_the_map_from_outputs_times_its_transpose() {
    for (activation, form) in CASES {
        let (m, n) = (25, 6);
        let e = planes(activation, m, n, 13);
        let all = Mat::<f64>::identity(m, m);
        let fit =
            Orthogonal::new(activation, form, e.as_ref(), all.as_ref(), None).expect("finite");
        let tau = fit.tau(1e-4);
        let explicit = fit.coefficients(tau);
        let g = fitted(activation, e.as_ref(), explicit.as_ref());
        let e = e.as_ref().subcols(0, explicit.nrows());
        let variance = e * fit.covariance(tau) * e.transpose();
        let exact = &g * g.transpose();
        assert!(
            (&variance - &exact).norm_max() < 1e-10 * exact.norm_max(),
            "{activation:?} {form:?}"
        );
    }
}

/// (AᵀA + τ²I)⁻¹ from the normal equations, with the signs of [`Orthogonal::covariance`], and h/(1 − h).
fn plain_posterior(
    activation: Activation,
    a: &Mat<f64>,
    m: usize,
    tau: f64,
) -> (Mat<f64>, Vec<f64>) {
    let p = a.ncols();
    let normal = a.transpose() * a + faer::Scale(tau * tau) * Mat::<f64>::identity(p, p);
    let factor = normal.llt(faer::Side::Lower).expect("positive definite");
    let inverse = faer::linalg::solvers::Solve::solve(&factor, Mat::<f64>::identity(p, p));
    let hat = a * &inverse * a.transpose();
    let spread = (0..m).map(|k| hat[(k, k)] / (1.0 - hat[(k, k)])).collect();
    let sign = |k: usize| match activation.is_complex() && k >= p / 2 {
        true => -1.0,
        false => 1.0,
    };
    let covariance = Mat::from_fn(p, p, |i, j| sign(i) * sign(j) * inverse[(i, j)]);
    (covariance, spread)
}

#[test]
fn the_posterior_is_the_inverse_of_the_normal_matrix() {
    for (activation, form) in CASES {
        // More columns than rows leave directions that no sample determines.
        for (m, n) in [(40, 6), (7, 12)] {
            let (e, y) = (planes(activation, m, n, 15), random(m, 1, 16));
            let weights: Vec<f64> = (0..m).map(|k| 0.5 + (k % 3) as f64).collect();
            for weights in [None, Some(weights.as_slice())] {
                let fit = Orthogonal::new(activation, form, e.as_ref(), y.as_ref(), weights)
                    .expect("finite");
                let a = stack(activation, form, e.as_ref(), roots(weights).as_deref(), 0);
                let tau = fit.tau(0.1);
                let (covariance, spread) = fit.posterior(tau);
                let (exact, plain) = plain_posterior(activation, &a, m, tau);
                let error = (&covariance - &exact).norm_max();
                assert!(
                    error < 1e-11 * exact.norm_max(),
                    "{activation:?} {form:?} {m}: {error:e}"
                );
                for (spread, exact) in spread.iter().zip(&plain) {
                    let error = (spread - exact).abs();
                    assert!(
                        error < 1e-11 * exact.max(1.0),
                        "{activation:?} {form:?} {m}: {spread} {exact}"
                    );
                }
                assert_eq!(spread.len(), m);
            }
        }
    }
}

#[test]
fn without_singular_values_the_answers_are_the_same() {
    let e = planes(Activation::Fourier, 30, 6, 15);
    let y = random(30, 2, 16);
    let mut fit = Orthogonal::new(
        Activation::Fourier,
        Form::Complex,
        e.as_ref(),
        y.as_ref(),
        None,
    )
    .expect("finite");
    let tau = fit.tau(1e-5);
    let expected = [
        fit.coefficients(tau),
        fit.leave_one_out(tau),
        fit.covariance(tau),
    ];
    fit.factor = Decomposition::whole(stack(
        Activation::Fourier,
        Form::Complex,
        e.as_ref(),
        None,
        0,
    ));
    assert!((fit.tau(1e-5) - tau).abs() < 1e-3 * tau);
    let found = [
        fit.coefficients(tau),
        fit.leave_one_out(tau),
        fit.covariance(tau),
    ];
    for (found, expected) in found.iter().zip(&expected) {
        assert!((found - expected).norm_max() < 1e-8 * expected.norm_max());
    }
}

#[test]
fn kappa_is_chosen_against_noise() {
    let e = planes(Activation::Fourier, 60, 20, 17);
    let noise = random(60, 1, 18);
    let y = Mat::from_fn(60, 1, |k, _| e[(k, 0)] * 20.0 + 0.3 * noise[(k, 0)]);
    let (train, rest) = (e.as_ref().subrows(0, 45), e.as_ref().subrows(45, 15));
    let fit = Orthogonal::new(
        Activation::Fourier,
        Form::Real,
        train,
        y.as_ref().subrows(0, 45),
        None,
    )
    .expect("finite");
    let x = Mat::<f64>::zeros(15, 0);
    let rows = Rows {
        x: x.as_ref(),
        y: y.as_ref().subrows(45, 15),
        weights: None,
    };
    let grid = [1e-14, 1e-8, 1e-4, 1e-2, 1e-1];
    let (kappa, error) = fit
        .choose_by_validation(&grid, rest, &rows)
        .expect("finite");
    let (by_rows, loo) = fit.choose_by_leave_one_out(&grid).expect("finite");
    assert!(kappa >= 1e-4 && error < 0.2, "{kappa:e} {error}");
    assert!(by_rows >= 1e-4 && loo < 0.2, "{by_rows:e} {loo}");
}

#[test]
fn tsqr_gives_the_same_weights_and_covariance() {
    for activation in Activation::ALL {
        for form in [Form::Complex, Form::Real] {
            let x = Mat::from_fn(90, 2, |i, j| ((i * (5 + 8 * j)) % 89) as f64 / 89.0);
            let y = Mat::from_fn(90, 2, |i, o| (3.0 * x[(i, 0)] - o as f64).sin() + x[(i, 1)]);
            let w = Mat::from_fn(6, activation.weights(2), |l, j| {
                0.25 * l as f64 - 0.6 * j as f64 + 0.1
            });
            let e = features::planes(activation, x.as_ref(), w.as_ref());
            let weights: Vec<f64> = (0..90).map(|i| 0.5 + (i % 3) as f64).collect();
            let whole =
                Orthogonal::new(activation, form, e.as_ref(), y.as_ref(), Some(&weights)).unwrap();
            let all = Rows {
                x: x.as_ref(),
                y: y.as_ref(),
                weights: Some(&weights),
            };
            let leaves = [(0, 7), (7, 50), (57, 3), (60, 12), (72, 18)];
            let leaf = |k: u64| {
                let (start, len) = leaves[k as usize];
                let planes = |some: &Rows<'_>| features::planes(activation, some.x, w.as_ref());
                TsqrFactor::leaf(activation, form, &all.slice(start, len), planes)
            };
            let rows = TsqrTree::of(0..5, &leaf).finish().unwrap();
            let tsqr = Orthogonal::of_tsqr(activation, rows).unwrap();
            let tau = whole.tau(1e-4);
            assert!((tsqr.tau(1e-4) - tau).abs() < 1e-12 * tau);
            let close = |a: Mat<f64>, b: Mat<f64>| (&a - &b).norm_max() <= 1e-8 * b.norm_max();
            assert!(
                close(tsqr.coefficients(tau), whole.coefficients(tau)),
                "{activation:?} {form:?}"
            );
            assert!(
                close(tsqr.covariance(tau), whole.covariance(tau)),
                "{activation:?} {form:?}"
            );
        }
    }
}
