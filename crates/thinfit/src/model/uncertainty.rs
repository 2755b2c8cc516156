//! Standard deviations and intervals: the covariance of the output weights, the noise, and its calibration.
//!
//! Dimensions: `k` = columns of E, `c` outputs. At fixed hidden weights f is linear in the outputs y, so under noise of
//! variance s² on y, Var f(x) = s² e(x) M e(x)ᵀ with the planes e(x) of x. M itself comes from `solve::orthogonal`.

use crate::Dataset;
use crate::math::product::product;
use crate::solve::orthogonal::Orthogonal;
use faer::{Mat, MatRef};
use serde::{Deserialize, Serialize};

/// Ridges κ = τ/s_max that the posterior covariance is chosen from.
const RIDGES: [f64; 7] = [1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0];

/// Rounding errors of M, as a share of its largest entry.
const ROUNDING: f64 = 1e-6;

/// What intervals are made from: the covariance of the output weights, the noise, and held-out errors.
///
/// Under noise of variance s² on the outputs, Var f(x) = s² e(x) M e(x)ᵀ with the planes e(x) of x.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Uncertainty {
    /// Lower triangle of M, row by row.
    pub covariance: Vec<f64>,
    /// s² per output, in scaled outputs, estimated on the validation rows.
    pub noise: Vec<f64>,
    /// Per output the sorted |y − f|/std of those rows.
    pub(crate) scores: Vec<Vec<f64>>,
    /// Per output the weights of the rows that the scores belong to; none where every row counts once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) score_weights: Option<Vec<Vec<f64>>>,
}

impl Uncertainty {
    /// From M (k × k) and from the residuals of the rows of `data`, which were held out (rows × c), with their spreads.
    pub(crate) fn new(
        covariance: MatRef<'_, f64>,
        residual: MatRef<'_, f64>,
        spread: &[f64],
        data: &Dataset,
    ) -> Self {
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
        let (scores, score_weights) = match weights {
            None => {
                let of = |scores: &Vec<f64>| data.scores_of_groups(scores);
                (scores.iter().map(of).collect(), None)
            }
            Some(weights) => {
                let sorted = scores.iter().map(|scores| {
                    let mut pairs: Vec<(f64, f64)> = scores
                        .iter()
                        .copied()
                        .zip(weights.iter().copied())
                        .collect();
                    pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
                    pairs.into_iter().unzip()
                });
                let (scores, weights) = sorted.unzip();
                (scores, Some(weights))
            }
        };
        Uncertainty {
            covariance: lower,
            noise,
            scores,
            score_weights,
        }
    }

    /// From residuals of all samples that are honest already, by whatever means (rows × c, in scaled outputs): `factor` is
    /// of the design matrix of the samples.
    ///
    /// M is the posterior covariance of the output weights, for the ridge under which the residuals are most likely,
    /// r_i ~ N(0, s²(1 + spread_i)) with s² at its best: spreads that tell where the residuals are large.
    pub(crate) fn posterior(
        factor: &Orthogonal,
        residual: MatRef<'_, f64>,
        data: &Dataset,
    ) -> Self {
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
        Uncertainty::new(covariance.as_ref(), residual, &spread, data)
    }

    /// M, k × k.
    pub(crate) fn matrix(&self, k: usize) -> Mat<f64> {
        let entry = |i: usize, j: usize| self.covariance[i * (i + 1) / 2 + j];
        Mat::from_fn(k, k, |i, j| if i >= j { entry(i, j) } else { entry(j, i) })
    }

    /// The quantile of the scores of output `o`: half the width, in standard deviations, of an interval at probability
    /// `level`.
    pub fn quantile(&self, o: usize, level: f64) -> f64 {
        let weights = self.score_weights.as_ref().map(|weights| &weights[o][..]);
        conformal_quantile(&self.scores[o], weights, level)
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

    /// Whether everything fits `k` columns and `c` outputs, is finite and sorted.
    pub(crate) fn is_sound(&self, k: usize, c: usize) -> bool {
        let finite = |values: &[f64]| values.iter().all(|v| v.is_finite());
        let positive = |values: &[f64]| finite(values) && values.iter().all(|v| *v >= 0.0);
        let weighted = self.score_weights.as_ref().is_none_or(|weights| {
            let pairs = || weights.iter().zip(&self.scores);
            weights.len() == c
                && pairs().all(|(w, s)| w.len() == s.len() && positive(w))
                && weights
                    .iter()
                    .all(|w| w.is_empty() || w.iter().sum::<f64>() > 0.0)
        });
        self.covariance.len() == k * (k + 1) / 2
            && finite(&self.covariance)
            && self.may_be_covariance(k)
            && self.noise.len() == c
            && positive(&self.noise)
            && self.scores.len() == c
            && self.scores.iter().all(|s| s.is_sorted() && positive(s))
            && weighted
    }
}

/// e M eᵀ for every row of planes.
pub(crate) fn spread(e: MatRef<'_, f64>, covariance: MatRef<'_, f64>) -> Vec<f64> {
    let spread = quadratic(e, covariance).into_iter();
    spread.map(|spread| spread.max(0.0)).collect()
}

/// The same for an M from a file: negative where M is no covariance, whatever the rounding.
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

/// The conformal quantile of sorted scores: the (s + 1)·level-th smallest of s, interpolated between its neighbours, so
/// that few rows cover the level and not the next one that they can count; infinite where there are not enough. A score
/// of weight 2 counts as two of them.
pub fn conformal_quantile(scores: &[f64], weights: Option<&[f64]>, level: f64) -> f64 {
    let weight = |i: usize| weights.map_or(1.0, |weights| weights[i]);
    let total: f64 = (0..scores.len()).map(weight).sum();
    // Weights count rows, but weights below one are shares and do not make the rows fewer.
    let count = total.max(scores.len() as f64);
    // 0.9 · 10 may round up.
    let rank = (count + 1.0) * level * (total / count) * (1.0 - 1e-12);
    let (mut reached, mut before) = (0.0, None);
    for (i, &score) in scores.iter().enumerate() {
        let weight = weight(i);
        if reached + weight >= rank {
            let way = (rank - reached) / weight.min(1.0);
            return match before {
                // A whole rank is that score to the last digit.
                Some(before) if way < 1.0 - 1e-9 => before + way * (score - before),
                _ => score,
            };
        }
        (reached, before) = (reached + weight, Some(score));
    }
    f64::INFINITY
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conformal_quantile_takes_the_right_rank() {
        let scores: Vec<f64> = (1..=19).map(f64::from).collect();
        let at = |level| conformal_quantile(&scores, None, level);
        for (level, score) in [(0.9, 18.0), (0.925, 18.5), (0.95, 19.0), (0.01, 1.0)] {
            assert!((at(level) - score).abs() < 1e-9, "{level}: {}", at(level));
        }
        assert_eq!(at(0.99), f64::INFINITY);
    }

    #[test]
    fn a_row_of_weight_two_calibrates_as_two_rows() {
        let residual: Vec<f64> = (0..20).map(|i| ((7 * i) % 20) as f64 - 9.3).collect();
        let weights: Vec<f64> = (0..20).map(|i| f64::from(1 + i % 3)).collect();
        let twice = |values: &[f64]| -> Vec<f64> {
            let pairs = values.iter().zip(&weights);
            pairs
                .flat_map(|(v, w)| std::iter::repeat_n(*v, *w as usize))
                .collect()
        };
        let spread: Vec<f64> = (0..20).map(|i| 0.1 * f64::from(i % 5)).collect();
        let mat = |v: &[f64]| Mat::from_fn(v.len(), 1, |i, _| v[i]);
        let none = Mat::zeros(0, 0);
        let rows = |count: usize, weights: Option<&[f64]>| {
            let x = Mat::from_fn(count, 1, |i, _| i as f64);
            let data = Dataset::new(x.clone(), x).expect("finite numbers");
            Dataset {
                weights: weights.map(<[f64]>::to_vec),
                ..data
            }
        };
        let weighted = Uncertainty::new(
            none.as_ref(),
            mat(&residual).as_ref(),
            &spread,
            &rows(20, Some(&weights)),
        );
        let repeated = Uncertainty::new(
            none.as_ref(),
            mat(&twice(&residual)).as_ref(),
            &twice(&spread),
            &rows(twice(&spread).len(), None),
        );
        assert!((weighted.noise[0] - repeated.noise[0]).abs() < 1e-12);
        for level in [0.01, 0.3, 0.5, 0.8, 0.9, 0.95, 0.97, 0.999] {
            let (a, b) = (weighted.quantile(0, level), repeated.quantile(0, level));
            assert!(a == b || (a - b).abs() < 1e-12, "{level}: {a} {b}");
        }
        for scale in [1e-3, 0.05] {
            let shares = vec![scale; 20];
            let of = |weights: Option<&[f64]>| {
                let data = rows(20, weights);
                Uncertainty::new(none.as_ref(), mat(&residual).as_ref(), &spread, &data)
            };
            for level in [0.3, 0.9, 0.99] {
                let (a, b) = (
                    of(Some(&shares)).quantile(0, level),
                    of(None).quantile(0, level),
                );
                assert!(
                    a == b || (a - b).abs() < 1e-12 * b,
                    "{scale} {level}: {a} {b}"
                );
            }
        }
        let data = rows(20, None);
        let unweighted = Uncertainty::new(none.as_ref(), mat(&residual).as_ref(), &spread, &data);
        assert_ne!(weighted.quantile(0, 0.5), unweighted.quantile(0, 0.5));
    }
}
