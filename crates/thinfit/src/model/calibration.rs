//! Calibration of intervals: held-out errors in standard deviations, and their conformal quantiles.

use crate::Dataset;
use serde::{Deserialize, Serialize};

/// Standardised errors |y − f|/σ of held-out rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// The errors of each output, sorted.
    scores: Vec<Vec<f64>>,
    /// For each output the weights of the rows that the scores belong to; none where every row counts once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    weights: Option<Vec<Vec<f64>>>,
}

impl Calibration {
    /// From the scores of each output, in any order.
    pub fn new(mut scores: Vec<Vec<f64>>) -> Self {
        scores.iter_mut().for_each(|s| s.sort_by(f64::total_cmp));
        Calibration {
            scores,
            weights: None,
        }
    }

    /// From the scores of the rows of `data`, which count with their weights, or one for each group.
    pub(crate) fn of_rows(scores: &[Vec<f64>], data: &Dataset) -> Self {
        let Some(weights) = data.weights.as_deref() else {
            let of = |scores: &Vec<f64>| data.scores_of_groups(scores);
            return Calibration::new(scores.iter().map(of).collect());
        };
        let sorted = scores.iter().map(|scores| {
            let pairs = scores.iter().copied().zip(weights.iter().copied());
            let mut pairs: Vec<(f64, f64)> = pairs.collect();
            pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
            pairs.into_iter().unzip()
        });
        let (scores, weights) = sorted.unzip();
        Calibration {
            scores,
            weights: Some(weights),
        }
    }

    /// The quantile of the scores of output `o`: half the width, in standard deviations, of an interval at probability `level`;
    /// infinite where there are too few.
    pub fn quantile(&self, o: usize, level: f64) -> f64 {
        let weights = self.weights.as_ref().map(|weights| &weights[o][..]);
        conformal_quantile(&self.scores[o], weights, level)
    }

    /// How many rows calibrate the output that has the fewest.
    pub fn rows(&self) -> usize {
        self.scores.iter().map(Vec::len).min().unwrap_or(0)
    }

    /// The scores of each output, sorted.
    pub fn scores(&self) -> &[Vec<f64>] {
        &self.scores
    }

    /// Whether everything fits `c` outputs, is finite and sorted.
    pub fn is_sound(&self, c: usize) -> bool {
        let sound = |values: &[f64]| values.iter().all(|v| v.is_finite() && *v >= 0.0);
        let weighted = self.weights.as_ref().is_none_or(|weights| {
            let fits = |(w, s): (&Vec<f64>, &Vec<f64>)| w.len() == s.len() && sound(w);
            let counts = |w: &Vec<f64>| w.is_empty() || w.iter().sum::<f64>() > 0.0;
            weights.len() == c
                && weights.iter().zip(&self.scores).all(fits)
                && weights.iter().all(counts)
        });
        self.scores.len() == c && self.scores.iter().all(|s| s.is_sorted() && sound(s)) && weighted
    }
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
    use crate::model::posterior::Posterior;
    use faer::Mat;

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
        let of = |residual: &[f64], spread: &[f64], weights: Option<&[f64]>| {
            let data = rows(residual.len(), weights);
            let (posterior, calibration) =
                Posterior::new(none.as_ref(), mat(residual).as_ref(), spread, &data);
            (posterior.noise[0], calibration)
        };
        let (noise, weighted) = of(&residual, &spread, Some(&weights));
        let (expected, repeated) = of(&twice(&residual), &twice(&spread), None);
        assert!((noise - expected).abs() < 1e-12);
        for level in [0.01, 0.3, 0.5, 0.8, 0.9, 0.95, 0.97, 0.999] {
            let (a, b) = (weighted.quantile(0, level), repeated.quantile(0, level));
            assert!(a == b || (a - b).abs() < 1e-12, "{level}: {a} {b}");
        }
        for scale in [1e-3, 0.05] {
            let shares = vec![scale; 20];
            for level in [0.3, 0.9, 0.99] {
                let at = |weights| of(&residual, &spread, weights).1.quantile(0, level);
                let (a, b) = (at(Some(&shares)), at(None));
                assert!(
                    a == b || (a - b).abs() < 1e-12 * b,
                    "{scale} {level}: {a} {b}"
                );
            }
        }
        let (_, unweighted) = of(&residual, &spread, None);
        assert_ne!(weighted.quantile(0, 0.5), unweighted.quantile(0, 0.5));
    }
}
