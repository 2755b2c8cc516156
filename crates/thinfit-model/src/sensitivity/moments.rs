//! The parts of a variance, and the indices computed from them.

use super::Sensitivity;
use faer::Mat;
use thinfit::{Error, Result};

/// Second moments of f, not divided by the variance.
#[derive(Clone, Debug)]
pub struct Moments {
    /// E f.
    pub mean: f64,
    /// Var f.
    pub variance: f64,
    /// Var E\[f | x_j\], d.
    pub first: Vec<f64>,
    /// E Var(f | all inputs but x_j), d.
    pub total: Vec<f64>,
    /// The part of the variance due to x_i and x_j together: row i, column j < i; no rows where pairs were left out.
    pub second: Vec<Vec<f64>>,
    /// The standard error of what is in `second`; 0 where nothing was sampled.
    pub second_error: f64,
    /// E (∂f/∂x_j)², d.
    pub derivative: Vec<f64>,
}

impl Moments {
    /// Shares of the variance; all zero where the variance is at most `noise`. `closed_form` says whether the moments are exact up to
    /// rounding.
    ///
    /// # Errors
    /// Moments that are not finite.
    pub fn indices(self, noise: f64, closed_form: bool) -> Result<Sensitivity> {
        // The pairs were left out where there are no rows.
        let d = self.second.len();
        let constant = self.variance <= noise;
        let share = |v: f64| {
            if constant {
                0.0
            } else {
                (v / self.variance).max(0.0)
            }
        };
        let shares = |v: &[f64]| v.iter().copied().map(share).collect::<Vec<f64>>();
        let all = [&self.first, &self.total, &self.derivative];
        let mut numbers = all.into_iter().chain(&self.second).flatten();
        let rest = [self.mean, self.variance, self.second_error];
        if !(numbers.all(|v| v.is_finite()) && rest.iter().all(|v| v.is_finite())) {
            return Err(Error::Data {
                what: "sensitivity",
                problem: "the moments of the model leave the finite range".into(),
                advice: "use a smaller domain or other units",
            });
        }
        Ok(Sensitivity {
            mean: self.mean,
            variance: if constant { 0.0 } else { self.variance },
            first: shares(&self.first),
            total: shares(&self.total),
            second: Mat::from_fn(d, d, |i, j| match i.cmp(&j) {
                std::cmp::Ordering::Equal => 0.0,
                _ => share(self.second[i.max(j)][i.min(j)]),
            }),
            second_error: share(self.second_error),
            derivative: self.derivative.iter().map(|v| v.max(0.0)).collect(),
            closed_form,
        })
    }
}
