//! Other functions that the samples allow: draws from the posterior of a Gaussian process.
//!
//! Dimensions: `m` points, `p` further places Z. With C = K + gI and v(x) = C⁻¹k(x), the covariance of f(x) and f(x′) is s² c(x, x′),
//!
//! ```text
//! c(x, x′) = k(x, x′) − k(x)ᵀ v(x′) + u(x) u(x′)/1ᵀC⁻¹1        u(x) = 1 − 1ᵀ v(x)
//! ```
//!
//! A draw is the mean plus s c(x, Z) L⁻ᵀ ξ with LLᵀ = c(Z, Z) and ξ standard normal: right in distribution at Z, and the best guess from
//! there elsewhere. It is a sum of kernels at the points and at Z.

use super::{KernelModel, no_deviation};
use crate::kernels::cholesky::{all_threads, factor, solve};
use crate::{Factor, Result};
use faer::linalg::triangular_solve::solve_upper_triangular_in_place;
use faer::{Mat, Par};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use std::sync::OnceLock;
use thinfit::Scaler;

/// Places at which draws are right in distribution.
const PLACES: usize = 256;
/// Added to the diagonal of c(Z, Z), as a share of its largest entry.
const JITTER: f64 = 1e-7;

impl KernelModel {
    /// The model whose outputs are `count` draws of output `o` from the posterior of the process, right at random settings of `factors`.
    /// It has no deviations itself.
    ///
    /// # Errors
    /// A method without deviations, or matrices that cannot be factorised.
    pub(crate) fn draws(
        &self,
        o: usize,
        count: usize,
        factors: &[Factor],
        seed: u64,
    ) -> Result<Self> {
        let Some(signal) = &self.signal else {
            return Err(self.without_deviations());
        };
        let (m, d) = (self.points.nrows(), self.dim());
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let (mut z, mut row) = (Mat::zeros(PLACES, d), vec![0.0; d]);
        for i in 0..PLACES {
            for factor in factors {
                factor.set(rng.random(), &mut row);
            }
            (0..d).for_each(|j| z[(i, j)] = row[j]);
        }
        let z = self.input_scaler.apply(z.as_ref());
        let l = self.factor()?;
        let ones = Mat::full(m, 1, 1.0);
        let pull = solve(l.as_ref(), ones.as_ref());
        let total: f64 = pull.col_as_slice(0).iter().sum();
        // k(X, Z), v(Z) and u(Z).
        let k = self.kernel.cross(self.points.as_ref(), z.as_ref());
        let v = solve(l.as_ref(), k.as_ref());
        let u = Mat::from_fn(PLACES, 1, |i, _| 1.0 - v.col(i).iter().sum::<f64>());
        let mut c = self.kernel.cross(z.as_ref(), z.as_ref()) - k.transpose() * &v;
        c += &u * u.transpose() * faer::Scale(1.0 / total);
        let largest = (0..PLACES).fold(0.0, |most: f64, i| most.max(c[(i, i)]));
        // Rounding errors of k(X, Z) may be larger than what is left of it; the ridge is raised then.
        let jitter = JITTER * largest.max(f64::EPSILON * self.kernel.diagonal());
        let l = factor(c.as_ref(), jitter, all_threads())?.l;
        let mut w = Mat::from_fn(PLACES, count, |_, _| {
            Distribution::<f64>::sample(&StandardNormal, &mut rng) * signal[o].sqrt()
        });
        solve_upper_triangular_in_place(l.transpose(), w.as_mut(), Par::Seq);
        let of_mean = u.transpose() * &w * faer::Scale(1.0 / total);
        let at_points = &v * &w + &pull * &of_mean;
        let coefficients = Mat::from_fn(m + PLACES, count, |i, draw| match i < m {
            true => self.coefficients[(i, o)] - at_points[(i, draw)],
            false => w[(i - m, draw)],
        });
        if !coefficients.is_all_finite() {
            let problem = "the posterior covariance cannot be factorised";
            return Err(no_deviation(problem.into()));
        }
        let repeated = |values: &[f64]| vec![values[o]; count];
        let points = Mat::from_fn(m + PLACES, d, |i, j| match i < m {
            true => self.points[(i, j)],
            false => z[(i - m, j)],
        });
        Ok(KernelModel {
            outputs: (1..=count).map(|k| format!("draw {k}")).collect(),
            output_scaler: Scaler {
                shift: repeated(&self.output_scaler.shift),
                scale: repeated(&self.output_scaler.scale),
                warp: vec![],
            },
            mean: (0..count)
                .map(|draw| self.mean[o] + of_mean[(0, draw)])
                .collect(),
            points,
            coefficients,
            signal: None,
            calibration: None,
            factor: OnceLock::new(),
            left_out: OnceLock::new(),
            ..self.clone()
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::kernels::kernel::tests::random;
    use crate::{Factor, GaussianProcess, Predictor};
    use thinfit::{Control, Dataset, Mat};

    #[test]
    fn draws_spread_as_the_deviation_of_the_process_says() {
        let (x, noise) = (random(30, 2, 1), random(30, 1, 2));
        let y = Mat::from_fn(30, 1, |i, _| {
            10.0 * (4.0 * x[(i, 0)]).sin() + x[(i, 1)] + 3.0 * noise[(i, 0)]
        });
        let data = Dataset::new(x, y).unwrap();
        let fitted = GaussianProcess::default().fit(&data, 0, &|_| Control::Continue);
        let model = fitted.unwrap();
        let factors = Factor::all(&Predictor::Kernel(model.clone()));
        let at = Mat::from_fn(4, 2, |i, j| 0.2 + 0.2 * ((i + 2 * j) % 4) as f64);
        let values = model.draws(0, 2000, &factors, 3).unwrap();
        let values = values.predict(at.as_ref()).unwrap();
        let mean = model.predict(at.as_ref()).unwrap();
        let expected = model.deviation(at.as_ref()).unwrap().model;
        for i in 0..4 {
            let squares = values.row(i).iter().map(|v| (v - mean[(i, 0)]).powi(2));
            let found = (squares.sum::<f64>() / 2000.0).sqrt();
            let ratio = found / expected[(i, 0)];
            assert!((ratio - 1.0).abs() < 0.08, "{ratio}");
        }
    }
}
