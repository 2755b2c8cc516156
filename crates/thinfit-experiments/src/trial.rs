//! A trial of a method: rows to fit, and test points with true and noisy outputs.

use crate::functions::{Sample, noise};
use crate::uci::moments;
use faer::Mat;
use thinfit::{Dataset, Result};

/// Rows to fit and fresh points to judge the fit by.
#[derive(Clone, Debug)]
pub struct Trial {
    /// Rows to fit, noise included.
    pub train: Dataset,
    /// Fresh points with f there, without noise.
    pub test: Dataset,
    /// f at the fresh points with the same noise as the rows (points × 1).
    pub observed: Mat<f64>,
}

impl Trial {
    /// Adds normal noise to the values of a function: `level` is its deviation over that of f at the test points.
    ///
    /// # Errors
    /// Samples that cannot be fitted.
    pub fn noisy(train: Sample, test: Sample, level: f64, seed: u64) -> Result<Self> {
        let scale = level * deviation(&test.y);
        let noise = noise(train.y.nrows() + test.y.nrows(), seed);
        let (own, fresh) = noise.split_at(train.y.nrows());
        let added = |y: &Mat<f64>, noise: &[f64]| {
            Mat::from_fn(y.nrows(), 1, |i, _| y[(i, 0)] + scale * noise[i])
        };
        let observed = added(&test.y, fresh);
        let y = added(&train.y, own);
        Ok(Trial {
            train: Dataset::new(train.x, y)?,
            test: Dataset::new(test.x, test.y)?,
            observed,
        })
    }

    /// Measured rows: the outputs at the fresh points are taken for f.
    ///
    /// # Errors
    /// Samples that cannot be fitted.
    pub fn new(train: Sample, test: Sample) -> Result<Self> {
        Ok(Trial {
            train: Dataset::new(train.x, train.y)?,
            observed: test.y.clone(),
            test: Dataset::new(test.x, test.y)?,
        })
    }

    /// Standard deviation of f over the fresh points.
    pub fn deviation(&self) -> f64 {
        deviation(&self.test.y)
    }
}

/// Population standard deviation of values (rows × 1).
pub(crate) fn deviation(values: &Mat<f64>) -> f64 {
    moments(values.col_as_slice(0).iter().copied()).1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Problem, Split};

    #[test]
    fn rows_and_fresh_points_have_independent_noise_of_the_level_asked_for() {
        let sample = |split| Problem::F3.sample(5, 2000, 1, split).unwrap();
        let (train, test) = (sample(Split::Train), sample(Split::Test));
        let trial = |level| Trial::noisy(train.clone(), test.clone(), level, 7).unwrap();
        let clean = trial(0.0);
        assert_eq!((&clean.train.y, &clean.observed), (&train.y, &test.y));
        let noisy = trial(0.5);
        assert_eq!((&noisy.train.x, &noisy.test.y), (&train.x, &test.y));
        let own = &noisy.train.y - &train.y;
        let fresh = &noisy.observed - &test.y;
        for noise in [&own, &fresh] {
            let ratio = deviation(noise) / noisy.deviation();
            assert!((ratio - 0.5).abs() < 0.03, "{ratio}");
        }
        let pairs = own.col_as_slice(0).iter().zip(fresh.col_as_slice(0));
        let product = pairs.map(|(a, b)| a * b).sum::<f64>() / 2000.0;
        assert!(product.abs() < 0.1 * 0.25 * noisy.deviation().powi(2));
    }
}
