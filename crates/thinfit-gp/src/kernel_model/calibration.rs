//! Intervals of a kernel model: f(x) ± q σ(x) with a quantile q of standardised errors at rows left out.
//!
//! σ is the standard deviation of an observation for a Gaussian process, and one for models without deviations. With
//! C = K + gI, α = C⁻¹(y − μ) and, for the process, whose constant is estimated without the row as well,
//! P = C⁻¹ − C⁻¹11ᵀC⁻¹/1ᵀC⁻¹1 (otherwise P = C⁻¹), a model of the other rows errs at row i by
//!
//! ```text
//! r_i = α_i/P_ii      σ_i² = s²/P_ii      |r_i|/σ_i = |α_i|/(s √P_ii)
//! ```
//!
//! at the same kernel and g. A method with better errors, from folds that chose the kernel anew, stores those.

use super::{KernelBody, KernelModel};
use crate::cholesky::{all_threads, inverse, solve};
use faer::Mat;
use thinfit::{Calibration, Header, Result, check_result};

/// Measured minus predicted at every point by the model without it, in the units of the outputs (m × c): in closed form, with
/// the settings of all points.
///
/// # Errors
/// A kernel matrix that cannot be factorised.
pub fn leave_one_out(model: &KernelModel) -> Result<Mat<f64>> {
    let p = model.body.precisions(model.body.factor(model)?);
    Ok(Mat::from_fn(p.len(), model.outputs.len(), |i, o| {
        model.output_scaler.scale[o] * model.body.coefficients[(i, o)] / p[i]
    }))
}

impl KernelBody {
    /// The diagonal of P (m), from the factor of C.
    fn precisions(&self, factor: &Mat<f64>) -> Vec<f64> {
        let m = factor.nrows();
        let inverse = inverse(factor.as_ref(), all_threads());
        let mut p: Vec<f64> = (0..m).map(|i| inverse[(i, i)]).collect();
        if self.signal.is_some() {
            let pull = solve(factor.as_ref(), Mat::from_fn(m, 1, |_, _| 1.0).as_ref());
            let total: f64 = pull.col_as_slice(0).iter().sum();
            // Rounding can make this negative.
            for (p, pull) in p.iter_mut().zip(pull.col_as_slice(0)) {
                *p = (*p - pull * pull / total).max(*p * f64::EPSILON);
            }
        }
        p
    }

    /// α_io²/P_ii (m × c): the squared errors at rows left out, each by the variance expected there in units of the signal.
    pub(super) fn surprises(&self, header: &Header) -> Result<Mat<f64>> {
        let p = self.precisions(self.factor(header)?);
        let square = |i: usize, o: usize| self.coefficients[(i, o)].powi(2) / p[i];
        check_result(Mat::from_fn(p.len(), header.outputs.len(), square))
    }

    /// The leave-one-out errors in closed form, from the factor of C.
    pub(super) fn calibration(&self, header: &Header, factor: &Mat<f64>) -> Option<Calibration> {
        let p = self.precisions(factor);
        let score = |o: usize, i: usize| {
            let alpha = self.coefficients[(i, o)].abs();
            match &self.signal {
                Some(signal) if alpha > 0.0 => alpha / (signal[o] * p[i]).sqrt(),
                Some(_) => 0.0,
                None => header.output_scaler.scale[o].abs() * alpha / p[i],
            }
        };
        let c = header.outputs.len();
        let scores = (0..c).map(|o| (0..p.len()).map(|i| score(o, i)).collect());
        let calibration = Calibration::new(scores.collect());
        calibration.is_sound(c).then_some(calibration)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cholesky::{cholesky, with_ridge};
    use crate::kernel::tests::random;
    use crate::kernel_model::tests::model;
    use crate::{GaussianProcess, Shape};
    use faer::{MatRef, Par};
    use std::path::Path;
    use thinfit::{Body, Control, Dataset};

    fn process(m: usize, seed: u64) -> (KernelModel, Mat<f64>) {
        let (x, noise) = (random(m, 2, seed), random(m, 2, seed + 1));
        let y = Mat::from_fn(m, 2, |i, o| {
            (4.0 * x[(i, o)]).sin() + x[(i, 1)] + 0.3 * noise[(i, o)]
        });
        let data = Dataset::new(x, y.clone()).unwrap();
        let settings = GaussianProcess {
            kernel: Shape::Matern52,
            ..GaussianProcess::default()
        };
        let model = settings.fit(&data, 0, &|_| Control::Continue).unwrap();
        (model, y)
    }

    /// The scores of models of all rows but one, by elimination.
    fn plain_scores(model: &KernelModel, y: &Mat<f64>) -> Vec<Vec<f64>> {
        let (m, y) = (y.nrows(), model.output_scaler.apply(y.as_ref()));
        let score = |o: usize, i: usize| {
            let rest = |a: MatRef<'_, f64>| {
                Mat::from_fn(m - 1, a.ncols(), |k, j| a[(k + usize::from(k >= i), j)])
            };
            let (points, y_rest) = (rest(model.body.points.as_ref()), rest(y.as_ref()));
            let gram = model.body.kernel.gram(points.as_ref());
            let l = cholesky(with_ridge(gram.as_ref(), model.record.ridge), Par::Seq).unwrap();
            let k = model
                .body
                .kernel
                .cross(points.as_ref(), model.body.points.as_ref().subrows(i, 1));
            let (ones, column) = (Mat::full(m - 1, 1, 1.0), y_rest.subcols(o, 1));
            let dot = |a: MatRef<'_, f64>, b: &Mat<f64>| (a.transpose() * b)[(0, 0)];
            let pull = solve(l.as_ref(), ones.as_ref());
            let total = dot(ones.as_ref(), &pull);
            let Some(signal) = &model.body.signal else {
                let alpha = solve(l.as_ref(), column);
                let error = y[(i, o)] - dot(k.as_ref(), &alpha);
                return error.abs() * model.output_scaler.scale[o];
            };
            let mean = dot(column, &pull) / total;
            let centred = Mat::from_fn(m - 1, 1, |i, _| column[(i, 0)] - mean);
            let alpha = solve(l.as_ref(), centred.as_ref());
            let error = y[(i, o)] - mean - dot(k.as_ref(), &alpha);
            let explained = dot(k.as_ref(), &solve(l.as_ref(), k.as_ref()));
            let of_mean = (1.0 - dot(k.as_ref(), &pull)).powi(2) / total;
            let variance = model.body.kernel.diagonal() - explained + of_mean + model.record.ridge;
            error.abs() / (signal[o] * variance).sqrt()
        };
        let of = |o| {
            let mut scores: Vec<f64> = (0..m).map(|i| score(o, i)).collect();
            scores.sort_by(f64::total_cmp);
            scores
        };
        (0..y.ncols()).map(of).collect()
    }

    #[test]
    fn scores_are_the_errors_of_models_without_the_row() {
        let ridge = (model(), random(40, 2, 4));
        for (model, y) in [process(25, 1), ridge] {
            let expected = plain_scores(&model, &y);
            let found = model.body.own_calibration(&model).unwrap();
            for (found, expected) in found.scores().iter().zip(&expected) {
                assert_eq!(found.len(), y.nrows());
                for (found, expected) in found.iter().zip(expected) {
                    assert!(
                        (found - expected).abs() < 1e-6 * (1.0 + expected),
                        "{found} {expected}"
                    );
                }
            }
        }
    }

    #[test]
    fn intervals_take_the_right_rank_and_are_infinite_beyond_the_last() {
        let scores = |from: u32| (1..=19).map(|i| f64::from(i + from)).rev().collect();
        let x = random(3, 3, 9);
        let model = model()
            .with_calibration(vec![scores(0), scores(100)])
            .unwrap();
        let f = model.predict(x.as_ref()).unwrap();
        for (level, rank) in [(0.9, 18.0), (0.95, 19.0), (0.01, 1.0)] {
            let interval = model.interval(x.as_ref(), level).unwrap();
            assert!(interval.is_finite() && interval.rows == 19);
            for (i, o) in (0..6).map(|k| (k / 2, k % 2)) {
                let half = rank + 100.0 * o as f64;
                assert_eq!(interval.low[(i, o)], f[(i, o)] - half);
                assert_eq!(interval.high[(i, o)], f[(i, o)] + half);
            }
        }
        let interval = model.interval(x.as_ref(), 0.96).unwrap();
        assert!(!interval.is_finite());
        assert_eq!(interval.low, Mat::full(3, 2, f64::NEG_INFINITY));
        assert_eq!(interval.high, Mat::full(3, 2, f64::INFINITY));
        for level in [0.0, 1.0, f64::NAN] {
            let error = model.interval(x.as_ref(), level).unwrap_err().to_string();
            assert!(error.contains("between 0 and 1"), "{error}");
        }
    }

    #[test]
    fn a_calibration_is_kept_in_the_file_and_checked() {
        let scores = || vec![vec![0.5, 0.1], vec![2.0, 0.3]];
        let plain = model();
        assert!(!plain.to_json().contains("calibration"));
        let calibrated = plain.with_calibration(scores()).unwrap();
        let text = calibrated.to_json();
        let read = |text: &str| KernelModel::from_json(text, Path::new("m.json"));
        let again = read(&text).unwrap();
        assert_eq!(again.calibration, calibrated.calibration);
        assert_eq!(again.to_json(), text);
        assert!(text.contains("[[0.1,0.5],[0.3,2.0]]"));
        for bad in [
            "[[0.5,0.1],[0.3,2.0]]",
            "[[0.1,0.5]]",
            "[[-0.1,0.5],[0.3,2.0]]",
        ] {
            let error = read(&text.replace("[[0.1,0.5],[0.3,2.0]]", bad)).unwrap_err();
            assert!(
                error.to_string().contains("errors that do not fit"),
                "{error}"
            );
        }
        for bad in [vec![vec![1.0]], vec![vec![1.0], vec![f64::NAN]]] {
            assert!(again.clone().with_calibration(bad).is_err());
        }
    }

    #[test]
    fn intervals_of_a_process_cover_new_observations() {
        let (mut inside, mut rows) = (0, 0);
        for seed in 0..4 {
            let (model, _) = process(60, 10 * seed);
            let (x, noise) = (random(200, 2, 10 * seed + 5), random(200, 2, 10 * seed + 6));
            let bounds = model.interval(x.as_ref(), 0.9).unwrap();
            for (i, o) in (0..400).map(|k| (k / 2, k % 2)) {
                let y = (4.0 * x[(i, o)]).sin() + x[(i, 1)] + 0.3 * noise[(i, o)];
                inside += usize::from(bounds.low[(i, o)] <= y && y <= bounds.high[(i, o)]);
                rows += 1;
            }
        }
        let share = inside as f64 / rows as f64;
        assert!((0.85..0.95).contains(&share), "{share}");
    }
}
