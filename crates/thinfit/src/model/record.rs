//! The record that a model carries: which method made it, from what, and how good it was then.

use crate::Form;
use crate::config::Config;
use crate::data::Dataset;
use crate::solve::linear::linear_fit;
use crate::train::processor::Check;
use faer::MatRef;
use serde::{Deserialize, Serialize};

/// How a model was made and how good it was then.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Name of the method, such as `gft-r` or `shrimp`.
    pub method: String,
    /// The configuration of the fit; none where another method than a fit of this crate made the network.
    pub config: Option<Config>,
    /// The settings of that other method.
    pub settings: Option<serde_json::Value>,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Version of the library.
    pub version: String,
    /// Samples given to the fit, validation rows included.
    pub samples: usize,
    /// Mean squared error on the validation rows per output, in the units of the data.
    pub validation_mse: Vec<f64>,
    /// Variance of the outputs on the validation rows: the error of predicting their mean.
    pub validation_variance: Vec<f64>,
    /// Mean squared error on the validation rows of a linear fit to the training rows.
    pub validation_linear: Vec<f64>,
    /// Number of validation rows.
    pub validation_samples: usize,
    /// λ in use, 0 where there is none.
    pub lambda: f64,
    /// Standard deviation that random hidden weights started from; none if a generator made them.
    pub start_scale: Option<f64>,
    /// Least squares problem of the output weights.
    pub form: Form,
    /// Ridge of the output weights, ε = τ²; 0 where there is none.
    pub ridge: f64,
    /// Training steps whose ridge had to be raised because a pivot failed.
    pub raised: usize,
    /// Steps of the polish whose result was kept, 0 if it changed nothing; none if it did not run, because it was
    /// not asked for or because its Jacobian would have been too large.
    pub polish_steps: Option<usize>,
    /// Whether the fit was stopped before its end.
    pub stopped: bool,
    /// The learning curve of the run that was chosen.
    pub history: Vec<Check>,
}

impl Record {
    /// λ, where the method has a regulariser.
    pub fn regulariser(&self) -> Option<f64> {
        let settings = self.settings.as_ref();
        let known = settings.is_none_or(|settings| settings.get("lambda").is_some());
        known.then_some(self.lambda)
    }

    /// The record of a method from elsewhere, with its settings as they would stand in a file.
    pub fn of(method: &str, settings: serde_json::Value, seed: u64, samples: usize) -> Self {
        Record {
            method: method.into(),
            settings: Some(settings),
            seed,
            version: env!("CARGO_PKG_VERSION").into(),
            samples,
            ..Record::default()
        }
    }

    /// The same record with the errors on the validation rows: of the values `predicted` there (rows × c), of their
    /// mean, and of a linear fit to the training rows. `scale` (c) turns the outputs into the units of the data.
    pub fn validated(
        self,
        train: &Dataset,
        validation: &Dataset,
        predicted: MatRef<'_, f64>,
        scale: &[f64],
    ) -> Self {
        let y = validation.y.as_ref();
        let mean = |value: &dyn Fn(usize) -> f64| {
            let (mut sum, mut total) = (0.0, 0.0);
            for i in 0..y.nrows() {
                let weight = validation
                    .weights
                    .as_ref()
                    .map_or(1.0, |weights| weights[i]);
                sum += weight * value(i);
                total += weight;
            }
            sum / total
        };
        // A linear fit may overflow where inputs are used as they are.
        let squares = |error: &dyn Fn(usize, usize) -> f64| -> Vec<f64> {
            let unit = scale.iter().map(|scale| scale * scale).enumerate();
            unit.map(|(o, unit)| (mean(&|i| error(i, o).powi(2)) * unit).min(f64::MAX))
                .collect()
        };
        let averages: Vec<f64> = (0..y.ncols()).map(|o| mean(&|i| y[(i, o)])).collect();
        let linear = linear_fit(train, validation.x.as_ref());
        Record {
            validation_mse: squares(&|i, o| y[(i, o)] - predicted[(i, o)]),
            validation_variance: squares(&|i, o| y[(i, o)] - averages[o]),
            validation_linear: squares(&|i, o| y[(i, o)] - linear[(i, o)]),
            validation_samples: y.nrows(),
            ..self
        }
    }
}
