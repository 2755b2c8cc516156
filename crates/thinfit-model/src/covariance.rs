//! The posterior covariance of either kind of model between rows, for adaptive sampling.

use crate::Predictor;
use thinfit::{Mat, MatRef, Result};

/// Rounding errors of a covariance, relative to the prior one; smaller noise would amplify them.
const ROUNDING: f64 = 1e-10;

/// Covariances of f between rows, in a unit of their own.
#[derive(Clone, Debug)]
pub struct Covariance {
    /// Between the rows of one table and those of another.
    pub between: Mat<f64>,
    /// The variance of the noise of an observation.
    pub noise: f64,
    /// The standard deviation of each output (c) that belongs to a variance of one.
    pub scale: Vec<f64>,
}

impl Predictor {
    /// Covariances of f between the rows of `a` and those of `b`, calibrated by held-out errors. All outputs share
    /// them, up to their scale.
    ///
    /// # Errors
    /// As [`Predictor::predict`], or a network without uncertainty.
    pub fn covariance(&self, a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Result<Covariance> {
        let (between, noise, variance, scaler) = match self {
            Predictor::Network(model) => {
                let variance = model.body.posterior(model)?.noise.clone();
                let between = model.covariance(a, b)?;
                (between, 1.0, variance, &model.output_scaler)
            }
            Predictor::Kernel(model) => {
                let variance = model.body.calibrated_signal(model)?;
                let between = model.body.covariance(model, a, b)?;
                let noise = model
                    .record
                    .ridge
                    .max(ROUNDING * model.body.kernel.diagonal());
                (between, noise, variance, &model.output_scaler)
            }
        };
        let scales = variance.iter().zip(&scaler.scale);
        let scale = scales
            .map(|(variance, scale)| variance.sqrt() * scale)
            .collect();
        Ok(Covariance {
            between,
            noise,
            scale,
        })
    }

    /// By what factor the squared held-out errors around each row of `x` exceed their expectation; 1 everywhere for a
    /// network, which does not keep its rows.
    ///
    /// # Errors
    /// As [`Predictor::covariance`].
    pub fn local_error_ratio(&self, x: MatRef<'_, f64>) -> Result<Vec<f64>> {
        match self {
            Predictor::Network(_) => Ok(vec![1.0; x.nrows()]),
            Predictor::Kernel(model) => model.body.local_error_ratio(model, x),
        }
    }

    /// The inputs of the samples (m × d), where the model keeps them.
    pub fn samples(&self) -> Option<Mat<f64>> {
        match self {
            Predictor::Network(_) => None,
            Predictor::Kernel(model) => Some(model.body.samples(model)),
        }
    }
}
