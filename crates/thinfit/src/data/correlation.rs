//! Correlated inputs.
//!
//! Sobol indices over a box assume independent inputs. If the samples contradict this, parts of the box are far from
//! all samples, and the indices need a warning.

use faer::MatRef;
use serde::{Deserialize, Serialize};

/// Weakest correlation that is kept.
const WEAKEST: f64 = 0.3;
/// Standard errors of independent samples that a correlation must exceed.
const ERRORS: f64 = 4.0;
/// Maximum number of correlations that are kept.
const MOST: usize = 100;
/// Maximum number of rows, and of products of two ranks: about a second.
const ROWS: usize = 5000;
const PRODUCTS: usize = 1 << 30;

/// Two inputs and the correlation of their ranks (Spearman).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Correlation {
    /// The inputs, by number, the smaller first.
    pub inputs: [usize; 2],
    /// From −1 to 1.
    pub rank: f64,
}

impl Correlation {
    /// The strongest correlations among the columns of `x` (m × d), in falling order: those of at least 0.3 that chance does not explain.
    /// Of many rows some are taken at even distances.
    pub fn among(x: MatRef<'_, f64>) -> Vec<Self> {
        let d = x.ncols();
        let most = ROWS.min(PRODUCTS / (d * d).max(1)).max(100);
        let step = x.nrows().div_ceil(most).max(1);
        let rows: Vec<usize> = (0..x.nrows()).step_by(step).collect();
        let standard: Vec<Vec<f64>> = (0..d)
            .map(|j| standard_ranks(&rows.iter().map(|&i| x[(i, j)]).collect::<Vec<f64>>()))
            .collect();
        let least = WEAKEST.max(ERRORS / (rows.len().max(2) as f64 - 1.0).sqrt());
        let mut found = Vec::new();
        for j in 0..d {
            for i in 0..j {
                let products = standard[i].iter().zip(&standard[j]).map(|(a, b)| a * b);
                let rank = products.sum::<f64>().clamp(-1.0, 1.0);
                if rank.abs() >= least {
                    found.push(Correlation {
                        inputs: [i, j],
                        rank,
                    });
                }
            }
        }
        found.sort_by(|a, b| b.rank.abs().total_cmp(&a.rank.abs()));
        found.truncate(MOST);
        found
    }

    /// Whether these are two of `d` inputs, with a correlation that can be one.
    pub(crate) fn fits(&self, d: usize) -> bool {
        let [i, j] = self.inputs;
        i < j && j < d && (-1.0..=1.0).contains(&self.rank)
    }
}

/// The ranks of the values, equal ones sharing theirs, with mean 0 and sum of squares 1; zeros for a constant.
fn standard_ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let middle = 0.5 * (values.len() as f64 - 1.0);
    let mut ranks = vec![0.0; values.len()];
    let mut from = 0;
    for equal in order.chunk_by(|&a, &b| values[a] == values[b]) {
        let rank = from as f64 + 0.5 * (equal.len() as f64 - 1.0) - middle;
        equal.iter().for_each(|&i| ranks[i] = rank);
        from += equal.len();
    }
    let size = ranks.iter().map(|rank| rank * rank).sum::<f64>().sqrt();
    if size > 0.0 {
        ranks.iter_mut().for_each(|rank| *rank /= size);
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;
    use faer::Mat;

    #[test]
    fn columns_that_go_together_are_found_and_others_are_not() {
        let wave = |i: usize, k: usize| ((i * k) % 101) as f64;
        // The third column is a steep function of the first, the fourth falls with the second and is noisy.
        let x = Mat::from_fn(101, 5, |i, j| match j {
            0 => wave(i, 7),
            1 => wave(i, 39),
            2 => (0.1 * wave(i, 7)).exp(),
            3 => wave(i, 61) - wave(i, 39),
            _ => 3.0,
        });
        let found = Correlation::among(x.as_ref());
        assert_eq!(found[0].inputs, [0, 2]);
        assert!((found[0].rank - 1.0).abs() < 1e-12);
        assert_eq!(found[1].inputs, [1, 3]);
        assert!((-0.9..-0.5).contains(&found[1].rank), "{found:?}");
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found.iter().all(|c| c.fits(5) && !c.fits(2)));
    }

    #[test]
    fn equal_values_share_their_rank() {
        let ranks = standard_ranks(&[5.0, 1.0, 5.0, 9.0]);
        assert!(ranks[0] == ranks[2] && ranks[1] < ranks[0] && ranks[0] < ranks[3]);
        assert_eq!(standard_ranks(&[2.0, 2.0]), [0.0, 0.0]);
    }
}
