//! The record of a model: the method, its data and settings, and its accuracy.

use crate::config::Config;
use crate::data::integer_columns::{integer_columns, whole_columns};
use crate::data::names::flaw_of_names;
use crate::data::{Dataset, Dependence};
use crate::model::diagnosis::Diagnosis;
use crate::model::texts::{are_plain, is_unit, is_word};
use crate::model::training_rows::TrainingRows;
use crate::solve::linear::{linear_fit, linear_leave_one_out};
use crate::train::phases::Check;
use crate::{Correlation, Encoding, Form};
use faer::MatRef;
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;

/// The groups of the rows, which no split divided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grouping {
    /// The column of the table that they came from, if it has a name; no input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<String>,
    /// Their number.
    pub count: usize,
}

/// The hidden weights that a polish selects, by the smallest error on the held-out rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Winner {
    /// Those of the method, which the polish did not improve.
    Trained,
    /// Those of the method, moved by the polish.
    Polished,
    /// Random ones, moved by the polish, independent of the training.
    PolishedRandom,
}

/// What a polish selected, and the error of the method without it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Selection {
    /// The selected weights.
    pub winner: Winner,
    /// Mean squared error per output, in the units of the data, of the hidden weights before the polish, on the same rows as
    /// [`Record::validation_mse`].
    pub trained_mse: Vec<f64>,
}

/// How a model was made and how well it did.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Name of the method, such as `gft-r` or `shrimp`.
    pub method: String,
    /// The configuration of a fit of this crate; none for other methods.
    pub config: Option<Config>,
    /// The settings of another method.
    pub settings: Option<serde_json::Value>,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Version of the library.
    pub version: String,
    /// Samples given to the fit, validation rows included.
    pub samples: usize,
    /// Mean squared error per output, in the units of the data, on unseen rows: those held out, or all rows, each
    /// predicted without itself. Empty if nothing was held out.
    #[serde(deserialize_with = "null_is_empty")]
    pub validation_mse: Vec<f64>,
    /// Variance of the outputs on those rows: the error of predicting their mean.
    #[serde(default)]
    pub validation_variance: Vec<f64>,
    /// Mean squared error on those rows of a linear fit that did not see them either.
    #[serde(default)]
    pub validation_linear: Vec<f64>,
    /// Number of those rows.
    #[serde(default)]
    pub validation_samples: usize,
    /// λ that the hidden weights were found with; 0 without a regulariser, and after the polish moved them, which has
    /// none.
    #[serde(default)]
    pub lambda: f64,
    /// λ of the training, if the weights were then moved or replaced without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub training_lambda: Option<f64>,
    /// Standard deviation that random hidden weights started from; none if a generator made them.
    pub start_scale: Option<f64>,
    /// Least-squares problem of the output weights.
    #[serde(default)]
    pub form: Form,
    /// Ridge of the output weights, ε = τ²; 0 where there is none.
    pub ridge: f64,
    /// Training steps whose ridge had to be raised because a pivot failed.
    pub raised: usize,
    /// Steps of the polish that were kept, 0 if it changed nothing; none if it did not run, because it was turned off
    /// or its Jacobian would have been too large.
    pub polish_steps: Option<usize>,
    /// What the polish chose; none if it did not run, and in older files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selection: Option<Selection>,
    /// Whether the fit was stopped early.
    pub stopped: bool,
    /// The GPU that trained the model; `None` for the CPU.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// The learning curve of the run that was chosen.
    #[serde(default)]
    pub history: Vec<Check>,
    /// How a kernel method chose its settings: `likelihood`, `leave-one-out` or `folds`; none where a rule did.
    #[serde(
        default,
        deserialize_with = "none_is_none",
        skip_serializing_if = "Option::is_none"
    )]
    pub chosen_by: Option<String>,
    /// Logarithm of the marginal likelihood, in the units of the data, of a Gaussian process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log_likelihood: Option<f64>,
    /// The correlated inputs, the strongest correlation first; none where they are independent, or in files that did not
    /// look.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub correlations: Vec<Correlation>,
    /// The inputs whose samples are whole numbers, and few distinct ones: probably they take no others. None in files that did not
    /// look.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub whole: Vec<usize>,
    /// The groups of rows; none where every row was independent, or in files that did not know groups.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub groups: Option<Grouping>,
    /// Signs that the rows were not independent, where the fit looked for them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dependence: Vec<Dependence>,
    /// The inputs that take no values between integers: counts, and switches that are 0 or 1. None in files that did not look.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub integers: Vec<usize>,
    /// Units of measurement of columns of the table, inputs or outputs, by name; only where the table had a row of units.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub units: BTreeMap<String, String>,
    /// What the default fit found out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diagnosis: Option<Diagnosis>,
    /// The training rows, for recognition; none in older files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<TrainingRows>,
}

/// Older kernel models have null if nothing was held out.
fn null_is_empty<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<f64>, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

/// Older kernel models have the word `none` if nothing was chosen.
fn none_is_none<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let by = Option::<String>::deserialize(deserializer)?;
    Ok(by.filter(|by| by != "none"))
}

/// Whether a model with these inputs and outputs has a column of this name in its table.
fn is_column(
    name: &String,
    (inputs, outputs): (&[String], &[String]),
    encoding: Option<&Encoding>,
) -> bool {
    let used = |encoding: &Encoding| encoding.used().any(|coded| coded.name == *name);
    outputs.contains(name) || encoding.map_or_else(|| inputs.contains(name), used)
}

impl Record {
    /// λ of the training, where the method has a regulariser.
    pub fn regulariser(&self) -> Option<f64> {
        let settings = self.settings.as_ref();
        let known = settings.is_none_or(|settings| settings.get("lambda").is_some());
        known.then_some(self.training_lambda.unwrap_or(self.lambda))
    }

    /// What is wrong with the record and the encoding of a model that was read from a file, and with the names of its
    /// `inputs` and `outputs`, if anything.
    pub fn flaw(
        &self,
        (inputs, outputs): (&[String], &[String]),
        encoding: Option<&Encoding>,
    ) -> Option<&'static str> {
        let sound = |values: &[f64]| values.iter().all(|v| v.is_finite() && *v >= 0.0);
        let errors = |values: &[f64]| sound(values) && [0, outputs.len()].contains(&values.len());
        let known = |column: &String| is_column(column, (inputs, outputs), encoding);
        let checks = [
            (
                is_word(&self.version),
                "a version that is not letters, digits and .+-_ alone",
            ),
            (
                is_word(&self.method),
                "a method that is not letters, digits and .+-_ alone",
            ),
            (
                self.chosen_by.as_deref().is_none_or(is_word),
                "a choice of settings that is not letters, digits and .+-_ alone",
            ),
            (
                are_plain(self),
                "control or invisible characters, or a very long text, in the record",
            ),
            (
                are_plain(&encoding),
                "control or invisible characters, or a very long text, in the encoding",
            ),
            (
                encoding.is_none_or(|e| e.fits(inputs)),
                "an encoding that does not fit the inputs",
            ),
            (
                errors(&self.validation_mse)
                    && errors(&self.validation_variance)
                    && errors(&self.validation_linear)
                    && (self.selection.as_ref())
                        .is_none_or(|selection| errors(&selection.trained_mse))
                    && sound(&[self.ridge, self.lambda]),
                "variances or errors that are negative or do not fit the outputs",
            ),
            (
                self.correlations.iter().all(|c| c.fits(inputs.len())),
                "correlations that do not fit the inputs",
            ),
            (
                self.whole
                    .iter()
                    .chain(&self.integers)
                    .all(|j| *j < inputs.len()),
                "integer-column index out of range",
            ),
            (
                (self.units.iter()).all(|(column, unit)| is_unit(unit) && known(column)),
                "units of unknown columns, or units that are empty or too long",
            ),
            (
                self.diagnosis
                    .as_ref()
                    .is_none_or(|found| found.is_sound(inputs.len(), outputs.len())),
                "a diagnosis that does not fit the columns, or has a negative error",
            ),
            (
                self.rows
                    .as_ref()
                    .is_none_or(|rows| rows.is_sound(self.samples, outputs.len())),
                "row fingerprints that do not match the samples",
            ),
        ];
        let flaw = checks.iter().find(|check| !check.0).map(|check| check.1);
        let names = || flaw_of_names(inputs).or_else(|| flaw_of_names(outputs));
        flaw.or_else(|| names().map(|(flaw, _)| flaw))
    }

    /// Keeps the units of those of these columns that the model has; texts that no file of a model may hold are left out.
    pub fn set_units(
        &mut self,
        units: &[(String, String)],
        (inputs, outputs): (&[String], &[String]),
        encoding: Option<&Encoding>,
    ) {
        let kept = units.iter().filter(|(column, unit)| {
            is_unit(unit) && is_column(column, (inputs, outputs), encoding)
        });
        self.units = kept.cloned().collect();
    }

    /// Records properties of the inputs of the samples (m × d).
    pub fn describe(&mut self, x: MatRef<'_, f64>) {
        self.correlations = Correlation::among(x);
        self.whole = whole_columns(x);
        self.integers = integer_columns(x);
    }

    /// The record of another method, with its settings as in a configuration file.
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
        // A linear fit may overflow on unscaled inputs.
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

    /// The same record with errors of predictions that never saw their own row (leave-one-out, or fold by fold) nor others of its
    /// group: those of the model, of their mean, and of a linear fit. `mse` is per output in scaled outputs, `rows` their number.
    pub fn left_out(self, data: &Dataset, mse: &[f64], scale: &[f64], rows: usize) -> Self {
        let m = data.samples() as f64;
        let variance = |y: faer::ColRef<'_, f64>| {
            let mean = y.iter().sum::<f64>() / m;
            y.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / m
        };
        Record {
            validation_mse: mse.iter().zip(scale).map(|(mse, s)| mse * s * s).collect(),
            validation_variance: data.y.col_iter().map(variance).collect(),
            validation_linear: linear_leave_one_out(data),
            validation_samples: rows,
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_record_of_the_first_form_is_read() {
        let text = r#"{"method":"kernel-ridge","settings":{"lambda":[1e-5]},"seed":1,"version":"0.1.0","samples":40,
            "ridge":1e-5,"raised":0,"chosen_by":"none","validation_mse":null,"validation_samples":0,
            "log_likelihood":null,"stopped":false}"#;
        let record: Record = serde_json::from_str(text).unwrap();
        assert_eq!(record.validation_mse, Vec::<f64>::new());
        assert_eq!((record.chosen_by, record.log_likelihood), (None, None));
        assert_eq!((record.ridge, record.samples), (1e-5, 40));
        let without_seed = text.replace("\"seed\":1,", "");
        assert!(serde_json::from_str::<Record>(&without_seed).is_err());
        let read = |mse: &str| {
            serde_json::from_str::<Record>(&text.replace("_mse\":null", &format!("_mse\":{mse}")))
                .map(|r| r.validation_mse)
        };
        assert_eq!(read("[0.5,2.0]").unwrap(), [0.5, 2.0]);
        assert!(read("0.5").is_err());
    }
}
