use super::*;
use crate::data::rows::Rows;
use crate::network::features::Padded;
use crate::network::support::Support;
use crate::solve::stacked::CASES;
use crate::{Activation, Form};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

pub(super) fn random(rows: usize, columns: usize, scale: f64, seed: u64) -> Mat<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    Mat::from_fn(rows, columns, |_, _| {
        scale * (2.0 * rng.random::<f64>() - 1.0)
    })
}

/// Polishes all entries of `w` on samples of inputs that are not padded yet.
fn polish_all(
    (activation, form): (Activation, Form),
    train: (&Mat<f64>, &Mat<f64>),
    validation: (&Mat<f64>, &Mat<f64>),
    w: Mat<f64>,
    options: &Options,
    observe: &mut dyn FnMut(usize, f64, f64) -> bool,
) -> Polished {
    let [xt, xv] = [train.0, validation.0].map(|x| Padded::new(activation, x.as_ref()));
    let support = Support::full(w.nrows(), w.ncols());
    let train = Rows {
        x: xt.as_ref(),
        y: train.1.as_ref(),
        weights: None,
    };
    let validation = Rows {
        x: xv.as_ref(),
        y: validation.1.as_ref(),
        weights: None,
    };
    let projection = Projection::new(activation, form, &train, &support);
    polish(&projection, &validation, w, options, observe)
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
    for form in [Form::Complex, Form::Real] {
        let options = Options {
            steps: 40,
            kappa: 1e-13,
            ..Options::default()
        };
        let mut seen = Vec::new();
        let result = polish_all(
            (Activation::Fourier, form),
            (&x, &y),
            (&xv, &yv),
            random(12, 2, 0.3, 9),
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
        assert_eq!(seen[0].2, result.start_validation);
        assert!(result.validation < 0.1 * result.start_validation);
        assert_eq!(seen.len(), result.steps + 1);
        let best = seen.iter().map(|s| s.2).fold(f64::INFINITY, f64::min);
        assert_eq!(best, result.validation);
        assert_eq!(best, seen[result.best_step].2);
        assert!(seen.windows(2).all(|pair| pair[1].1 < pair[0].1 * 1.01));
    }
}

#[test]
fn the_start_is_kept_where_steps_only_hurt() {
    // Noise only: whatever is learned is wrong, and the start (w = 0, a constant) is best.
    let (x, y) = (random(30, 3, 1.0, 10), random(30, 1, 1.0, 11));
    let (xv, yv) = (random(30, 3, 1.0, 12), Mat::<f64>::zeros(30, 1));
    let w = random(20, 3, 1e-9, 13);
    let options = Options {
        kappa: 1e-4,
        patience: 5,
        ..Options::default()
    };
    let result = polish_all(
        (Activation::Fourier, Form::Complex),
        (&x, &y),
        (&xv, &yv),
        w.clone(),
        &options,
        &mut |_, _, _| true,
    );
    assert!(result.steps >= 5, "it stopped before it could go wrong");
    assert_eq!((result.best_step, result.stopped), (0, Stopped::Patience));
    assert_eq!(result.w, w);
    assert_eq!(result.validation, result.start_validation);
}

#[test]
fn the_observer_can_stop_it() {
    let (x, y) = quadratic(50, 14);
    let result = polish_all(
        (Activation::Tanh, Form::Complex),
        (&x, &y),
        (&x, &y),
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
                let x = Padded::new(activation, x.as_ref());
                let rows = Rows {
                    x: x.as_ref(),
                    y: y.as_ref(),
                    weights: Some(&weights),
                };
                let options = Options {
                    steps: 4,
                    ..Options::default()
                };
                let support = Support::full(n, w.ncols());
                let projection = Projection::new(activation, form, &rows, &support);
                let result = polish(&projection, &rows, w, &options, &mut |_, _, _| true);
                assert!(!result.validation.is_nan() && result.w.is_all_finite());
            }
        }
    }
}

#[test]
fn only_entries_of_the_support_move() {
    let (x, y) = quadratic(60, 23);
    let x = Padded::new(Activation::Fourier, x.as_ref());
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
        ..Options::default()
    };
    let run = |w: Mat<f64>| {
        let support = Support::of(w.as_ref());
        let projection = Projection::new(Activation::Fourier, Form::Real, &rows, &support);
        polish(&projection, &rows, w, &options, &mut |_, _, _| true)
    };
    let result = run(w.clone());
    assert!(result.best_step > 0);
    for l in 0..6 {
        for j in 0..2 {
            assert_eq!(
                result.w[(l, j)] == w[(l, j)],
                w[(l, j)] == 0.0,
                "({l}, {j})"
            );
        }
    }
    let nothing = run(Mat::zeros(6, 2));
    assert_eq!((nothing.steps, nothing.stopped), (0, Stopped::Stalled));
}
