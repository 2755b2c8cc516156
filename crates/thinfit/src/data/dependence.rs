//! Signs of dependent rows. Held-out errors are then smaller than errors on new rows, unless
//! [groups](crate::Dataset::groups) keep dependent rows together.

use faer::MatRef;
use serde::{Deserialize, Serialize};

/// Minimum number of rows for a test of their order.
const ROWS: usize = 30;
/// Minimum autocorrelation, in units of its deviation 1/√m for independent rows.
const CLEAR: f64 = 3.0;

/// A sign that the rows of a fit are not independent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dependence {
    /// Rows nearly repeat others: see [`near_repeats`](crate::near_repeats).
    NearRepeats {
        /// How many different settings there are.
        groups: usize,
    },
    /// Rows are clumped: see [`clustered`](crate::clustered).
    Clusters {
        /// How many clusters there are.
        clusters: usize,
    },
    /// Held-out residuals of rows that follow each other are alike, as in a time series.
    Order {
        /// Their [`autocorrelation`], the largest of the outputs.
        autocorrelation: f64,
    },
}

impl Dependence {
    /// Whether residuals (m × c) of held-out rows, in the order of the table, are clearly correlated with those of the rows before
    /// them: by more than 3/√m, in at least 30 rows.
    pub fn of_order(residuals: MatRef<'_, f64>) -> Option<Self> {
        let m = residuals.nrows();
        let of = |column: faer::ColRef<'_, f64>| {
            autocorrelation(&column.iter().copied().collect::<Vec<f64>>())
        };
        let largest = residuals.col_iter().map(of).fold(0.0, f64::max);
        let clear = m >= ROWS && largest > CLEAR / (m as f64).sqrt();
        clear.then_some(Dependence::Order {
            autocorrelation: largest,
        })
    }
}

/// The correlation of each residual with the one before it, between −1 and 1; 0 where there are fewer than two, or all are equal.
pub fn autocorrelation(residuals: &[f64]) -> f64 {
    let mean = residuals.iter().sum::<f64>() / residuals.len() as f64;
    let largest = residuals
        .iter()
        .fold(0.0, |a: f64, r| a.max((r - mean).abs()));
    if largest == 0.0 || !largest.is_finite() {
        return 0.0;
    }
    // Scaled, so that no square is too large or too small.
    let scaled: Vec<f64> = residuals.iter().map(|r| (r - mean) / largest).collect();
    let lagged: f64 = scaled.windows(2).map(|pair| pair[0] * pair[1]).sum();
    lagged / scaled.iter().map(|r| r * r).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::random::{Purpose, stream};
    use faer::Mat;
    use rand::RngExt;
    use rand_distr::StandardNormal;

    /// A first-order autoregression.
    fn series(m: usize, memory: f64, seed: u64) -> Vec<f64> {
        let mut rng = stream(seed, Purpose::Points, 0);
        let mut last = 0.0;
        let next = |_| {
            last = memory * last + rng.sample::<f64, _>(StandardNormal);
            last
        };
        (0..m).map(next).collect()
    }

    #[test]
    fn the_autocorrelation_of_an_autoregression_is_its_memory() {
        for memory in [-0.5, 0.0, 0.8] {
            let found = autocorrelation(&series(20_000, memory, 3));
            assert!((found - memory).abs() < 0.03, "{memory} {found}");
        }
        assert_eq!(autocorrelation(&[]), 0.0);
        assert_eq!(autocorrelation(&[4.0]), 0.0);
        assert_eq!(autocorrelation(&[4.0; 50]), 0.0);
        let large = autocorrelation(&[1e300, 1e300, -1e300, -1e300]);
        assert!((large - 0.25).abs() < 1e-12, "{large}");
        assert_eq!(autocorrelation(&[f64::NAN, 1.0]), 0.0);
    }

    #[test]
    fn only_residuals_that_follow_each_other_are_a_sign() {
        let of = |residuals: &[f64]| {
            let column = Mat::from_fn(residuals.len(), 1, |i, _| residuals[i]);
            Dependence::of_order(column.as_ref())
        };
        let found = of(&series(100, 0.7, 1));
        assert!(
            matches!(found, Some(Dependence::Order { autocorrelation }) if autocorrelation > 0.5)
        );
        assert_eq!(of(&series(25, 0.9, 1)), None);
        let false_alarms = (0..200).filter(|seed| of(&series(100, 0.0, *seed)).is_some());
        assert!(false_alarms.count() <= 3);
    }
}
