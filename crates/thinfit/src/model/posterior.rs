//! The posterior of the output weights of a network: their covariance and the noise.
//!
//! Dimensions: `k` = columns of E, `c` outputs. At fixed hidden weights f is linear in the outputs y, so under noise of
//! variance s² on y, Var f(x) = s² e(x) M e(x)ᵀ with the planes e(x) of x. M itself comes from `solve::orthogonal`.

use crate::Dataset;
use crate::math::product::product;
use crate::model::calibration::Calibration;
use crate::solve::orthogonal::Orthogonal;
use faer::{Mat, MatRef};
use serde::{Deserialize, Serialize};

/// Ridges κ = τ/s_max that the posterior covariance is chosen from.
const RIDGES: [f64; 7] = [1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0];

/// Rounding errors of M, as a share of its largest entry.
const ROUNDING: f64 = 1e-6;

/// The covariance of the output weights, and the noise.
///
/// Under noise of variance s² on the outputs, Var f(x) = s² e(x) M e(x)ᵀ with the planes e(x) of x.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Posterior {
    /// Lower triangle of M, row by row.
    pub covariance: Vec<f64>,
    /// s² per output, in scaled outputs, estimated on the validation rows.
    pub noise: Vec<f64>,
}

impl Posterior {
    /// From M (k × k) and from the residuals of the rows of `data`, which were held out (rows × c), with their spreads; and the
    /// calibration that follows from them.
    pub(crate) fn new(
        covariance: MatRef<'_, f64>,
        residual: MatRef<'_, f64>,
        spread: &[f64],
        data: &Dataset,
    ) -> (Self, Calibration) {
        let lower = (0..covariance.nrows())
            .flat_map(|i| (0..=i).map(move |j| (i, j)))
            .map(|at| covariance[at])
            .collect();
        let weights = data.weights.as_deref();
        let scored = (0..residual.ncols()).map(|o| {
            let residual: Vec<f64> = residual.col(o).iter().copied().collect();
            score(&residual, spread, weights)
        });
        let (noise, scores): (Vec<f64>, Vec<Vec<f64>>) = scored.unzip();
        let posterior = Posterior {
            covariance: lower,
            noise,
        };
        (posterior, Calibration::of_rows(&scores, data))
    }

    /// From held-out residuals of all samples, however computed (rows × c, in scaled outputs): `factor` is
    /// of the design matrix of the samples.
    ///
    /// M is the posterior covariance of the output weights, for the ridge under which the residuals are most likely,
    /// r_i ~ N(0, s²(1 + spread_i)) with s² at its best: spreads that tell where the residuals are large.
    pub(crate) fn most_likely(
        factor: &Orthogonal,
        residual: MatRef<'_, f64>,
        data: &Dataset,
    ) -> (Self, Calibration) {
        let likelihood = |spread: &[f64]| -> f64 {
            let (m, c) = (residual.nrows() as f64, residual.ncols());
            let logs: f64 = spread.iter().map(|spread| (1.0 + spread).ln()).sum();
            let noise = |o: usize| {
                let squares = residual.col(o).iter().zip(spread);
                squares.map(|(r, s)| r * r / (1.0 + s)).sum::<f64>() / m
            };
            (0..c).map(|o| m * noise(o).max(1e-300).ln() + logs).sum()
        };
        let ridges = RIDGES.iter().map(|&kappa| {
            let (covariance, spread) = factor.posterior(factor.tau(kappa));
            (likelihood(&spread), covariance, spread)
        });
        let finite = ridges.filter(|(value, ..)| value.is_finite());
        let best = finite.min_by(|a, b| a.0.total_cmp(&b.0));
        let (covariance, spread) = match best {
            Some((_, covariance, spread)) => (covariance, spread),
            None => factor.posterior(factor.tau(1.0)),
        };
        Posterior::new(covariance.as_ref(), residual, &spread, data)
    }

    /// M, k × k.
    pub(crate) fn matrix(&self, k: usize) -> Mat<f64> {
        let entry = |i: usize, j: usize| self.covariance[i * (i + 1) / 2 + j];
        Mat::from_fn(k, k, |i, j| if i >= j { entry(i, j) } else { entry(j, i) })
    }

    /// Whether no variance is negative and no covariance above what two variances allow, up to rounding: what can be told
    /// of M (k × k) at the cost of reading it.
    fn may_be_covariance(&self, k: usize) -> bool {
        let entry = |i: usize, j: usize| self.covariance[i * (i + 1) / 2 + j];
        let largest = (0..k).fold(0.0, |most: f64, i| most.max(entry(i, i)));
        let deviations: Vec<f64> = (0..k).map(|i| entry(i, i).max(0.0).sqrt()).collect();
        (0..k).all(|i| {
            let bound = |j: usize| deviations[i] * deviations[j] + ROUNDING * largest;
            entry(i, i) >= -ROUNDING * largest && (0..i).all(|j| entry(i, j).abs() <= bound(j))
        })
    }

    /// Whether everything fits `k` columns and `c` outputs, and is finite.
    pub(crate) fn is_sound(&self, k: usize, c: usize) -> bool {
        self.covariance.len() == k * (k + 1) / 2
            && self.covariance.iter().all(|v| v.is_finite())
            && self.may_be_covariance(k)
            && self.noise.len() == c
            && self.noise.iter().all(|v| v.is_finite() && *v >= 0.0)
    }
}

/// e M eᵀ for every row of planes.
pub(crate) fn spread(e: MatRef<'_, f64>, covariance: MatRef<'_, f64>) -> Vec<f64> {
    let spread = quadratic(e, covariance).into_iter();
    spread.map(|spread| spread.max(0.0)).collect()
}

/// The same for an M from a file: negative if M is not a covariance, even allowing for rounding.
pub(crate) fn checked_spread(e: MatRef<'_, f64>, covariance: MatRef<'_, f64>) -> Vec<f64> {
    let trace: f64 = (0..covariance.nrows()).map(|i| covariance[(i, i)]).sum();
    let rounding = |i: usize| ROUNDING * trace * e.row(i).squared_norm_l2();
    let spread = quadratic(e, covariance).into_iter().enumerate();
    let checked = |(i, spread): (usize, f64)| match spread < 0.0 && -spread > rounding(i) {
        true => spread,
        false => spread.max(0.0),
    };
    spread.map(checked).collect()
}

/// e M eᵀ as it is computed, which rounding may make negative.
fn quadratic(e: MatRef<'_, f64>, covariance: MatRef<'_, f64>) -> Vec<f64> {
    let e = e.subcols(0, covariance.nrows());
    let product = product(e, covariance);
    (0..e.nrows())
        .map(|i| {
            (0..e.ncols())
                .map(|j| product[(i, j)] * e[(i, j)])
                .sum::<f64>()
        })
        .collect()
}

/// Noise variance of one output, and the score |r|/std of every row, from held-out residuals.
fn score(residual: &[f64], spread: &[f64], weights: Option<&[f64]>) -> (f64, Vec<f64>) {
    let weight = |i: usize| weights.map_or(1.0, |weights| weights[i]);
    let rows = 0..residual.len();
    let total: f64 = rows.clone().map(weight).sum();
    let square = |i: usize| residual[i] * residual[i] / (1.0 + spread[i]);
    let noise = rows.clone().map(|i| weight(i) * square(i)).sum::<f64>() / total;
    let score = |i: usize| {
        if noise > 0.0 {
            (square(i) / noise).sqrt()
        } else {
            0.0
        }
    };
    (noise, rows.map(score).collect())
}
