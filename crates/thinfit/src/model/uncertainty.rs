//! Standard deviations and intervals: the covariance of the output weights, the noise, and its calibration.
//!
//! Dimensions: `k` = columns of E, `c` outputs. At fixed hidden weights f is linear in the outputs y, so under noise of
//! variance s² on y, Var f(x) = s² e(x) M e(x)ᵀ with the planes e(x) of x. This file does not compute M; `orthogonal`
//! does.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par};
use serde::{Deserialize, Serialize};

/// What intervals are made from: the covariance of the output weights, the noise, and held-out errors.
///
/// Under noise of variance s² on the outputs, Var f(x) = s² e(x) M e(x)ᵀ with the planes e(x) of x.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Uncertainty {
    /// Lower triangle of M, row by row.
    pub covariance: Vec<f64>,
    /// s² per output, in scaled outputs, estimated on the validation rows.
    pub noise: Vec<f64>,
    /// Per output the sorted |y − f|/std of those rows.
    pub scores: Vec<Vec<f64>>,
}

/// e M eᵀ for every row of planes.
pub(crate) fn spread(e: MatRef<'_, f64>, covariance: MatRef<'_, f64>) -> Vec<f64> {
    let e = e.subcols(0, covariance.nrows());
    let mut product = Mat::zeros(e.nrows(), e.ncols());
    // One thread: faer's operators would take all, and their sums depend on how many there are.
    matmul(
        product.as_mut(),
        Accum::Replace,
        e,
        covariance,
        1.0,
        Par::Seq,
    );
    (0..e.nrows())
        .map(|i| {
            (0..e.ncols())
                .map(|j| product[(i, j)] * e[(i, j)])
                .sum::<f64>()
                .max(0.0)
        })
        .collect()
}

/// Noise variance per output and sorted scores |r|/std from held-out residuals (rows × c) and their spreads.
pub(crate) fn calibrate(
    residual: MatRef<'_, f64>,
    spread: &[f64],
    weights: Option<&[f64]>,
) -> (Vec<f64>, Vec<Vec<f64>>) {
    let weight = |i: usize| weights.map_or(1.0, |weights| weights[i]);
    let total: f64 = (0..residual.nrows()).map(weight).sum();
    (0..residual.ncols())
        .map(|o| {
            let square = |i: usize| residual[(i, o)] * residual[(i, o)] / (1.0 + spread[i]);
            let noise = (0..residual.nrows())
                .map(|i| weight(i) * square(i))
                .sum::<f64>()
                / total;
            let score = |i: usize| {
                if noise > 0.0 {
                    (square(i) / noise).sqrt()
                } else {
                    0.0
                }
            };
            let mut scores: Vec<f64> = (0..residual.nrows()).map(score).collect();
            scores.sort_by(f64::total_cmp);
            (noise, scores)
        })
        .unzip()
}

/// The ⌈(s + 1)·level⌉-th smallest of `s` sorted scores, the conformal quantile; beyond the largest, that one is
/// stretched as a normal distribution would be.
pub(crate) fn quantile(scores: &[f64], level: f64) -> f64 {
    let rank = ((scores.len() + 1) as f64 * level).ceil() as usize;
    match (scores.get(rank.saturating_sub(1)), scores.last()) {
        (Some(&score), _) => score,
        (None, Some(&largest)) => {
            let reached = scores.len() as f64 / (scores.len() + 1) as f64;
            largest * normal_quantile(level) / normal_quantile(reached)
        }
        (None, None) => normal_quantile(level),
    }
}

/// z with P(|N(0,1)| ≤ z) = level, by bisection of the error function's series.
fn normal_quantile(level: f64) -> f64 {
    // P(|N| ≤ z) = √(2/π) e^{−z²/2} Σ z^{2k+1}/(1·3·5…(2k+1)).
    let inside = |z: f64| {
        let (mut term, mut sum, mut odd) = (z, z, 1.0);
        while term > 1e-17 * sum {
            odd += 2.0;
            term *= z * z / odd;
            sum += term;
        }
        (2.0 / std::f64::consts::PI).sqrt() * (-0.5 * z * z).exp() * sum
    };
    let (mut low, mut high) = (0.0, 9.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if inside(middle) < level {
            low = middle
        } else {
            high = middle
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normal_quantiles() {
        for (level, z) in [
            (0.6826894921370859, 1.0),
            (0.9, 1.6448536269514722),
            (0.95, 1.959963984540054),
        ] {
            assert!((normal_quantile(level) - z).abs() < 1e-10);
        }
    }

    #[test]
    fn conformal_quantile_takes_the_right_rank() {
        let scores: Vec<f64> = (1..=19).map(f64::from).collect();
        assert_eq!(quantile(&scores, 0.9), 18.0);
        assert_eq!(quantile(&scores, 0.95), 19.0);
        assert!(quantile(&scores, 0.99) > 19.0);
    }
}
