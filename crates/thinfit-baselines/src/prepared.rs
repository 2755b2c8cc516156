//! Samples prepared for a network method, scaled and split, and the conversion of a scaled network into a model.
//!
//! Kernel methods keep all rows and do not use this; GFT has its own preparation.

use serde::Serialize;
use thinfit::{Dataset, Error, Model, Network, Record, Result, Scaler, Scaling};

/// Fraction of the rows held out to choose between candidates, as in the papers.
const VALIDATION: f64 = 0.1;

/// Samples in scaled units.
pub(crate) struct Prepared<'a> {
    data: &'a Dataset,
    scalers: (Scaler, Scaler),
    /// All rows.
    pub all: Dataset,
    /// The training rows.
    pub train: Dataset,
    /// The held-out rows.
    pub validation: Dataset,
}

impl<'a> Prepared<'a> {
    /// Scales and splits `data`.
    pub fn new(data: &'a Dataset, scaling: Scaling, seed: u64) -> Result<Self> {
        data.check_unweighted()?;
        let scalers = scaling.scalers(data.x.as_ref(), data.y.as_ref());
        let all = data.scaled(&scalers);
        let (train, validation) = all.split(VALIDATION, seed)?;
        Ok(Prepared {
            data,
            scalers,
            all,
            train,
            validation,
        })
    }

    /// A new record for a fit of this method.
    pub fn record(&self, name: &str, settings: &impl Serialize, seed: u64) -> Record {
        let settings = serde_json::to_value(settings).expect("settings are numbers and names");
        Record::of(name, settings, seed, self.data.samples())
    }

    /// Mean squared error of a network on the validation rows, in scaled outputs; infinite where it would be NaN.
    pub fn validate(&self, network: &Network) -> f64 {
        let error = network.values(self.validation.x.as_ref()) - &self.validation.y;
        let square = error.squared_norm_l2() / self.validation.samples() as f64;
        if square.is_nan() {
            f64::INFINITY
        } else {
            square
        }
    }

    /// The model of `network`, with the validation error of `held_out`, which was fitted without the validation rows.
    pub fn model(self, network: Network, held_out: &Network, record: Record) -> Result<Model> {
        let predicted = held_out.values(self.validation.x.as_ref());
        let scale = &self.scalers.1.scale;
        let record = record.validated(&self.train, &self.validation, predicted.as_ref(), scale);
        Model::from_network(network, self.data, self.scalers, record)
    }
}

/// Entries of the largest matrix that a method may form, 4 GiB.
const LARGEST: usize = 1 << 29;

/// Refuses a matrix too large for memory, which would abort the program and not just the fit.
pub(crate) fn check_size(rows: usize, columns: usize, advice: &'static str) -> Result<()> {
    match rows.checked_mul(columns) {
        Some(numbers) if numbers <= LARGEST => Ok(()),
        _ => Err(Error::Data {
            what: "x",
            problem: format!("{rows} rows and {columns} features do not fit into memory"),
            advice,
        }),
    }
}
