//! A fitted network: what prediction needs, and a record of how it was found.
//!
//! f(x) = shift + scale · Re Σ_l b_l Φ(⟨w_l, x′⟩)/n with x′ the scaled inputs. The file is JSON with a version in its
//! first field: a thin network is small, and every language reads JSON. `prediction` evaluates it.

use crate::data::Scaler;
use crate::file::{LARGEST, begins_like, parse, read_json, write_whole};
use crate::math::row_list;
use crate::model::record::Record;
use crate::model::uncertainty::Uncertainty;
use crate::network::evaluator::Evaluator;
use crate::network::features::planes;
use crate::network::planes::magnitude;
use crate::solve::orthogonal::Orthogonal;
use crate::{Activation, Dataset, Encoding, Error, Form, Network, Result};
use faer::{Mat, MatRef};
use serde::{Deserialize, Serialize};
use std::path::Path;

pub use super::prediction::Deviation;

/// Name and version of the file format.
const FORMAT: &str = "thinfit/1";

/// A thin two-layer network with its scaling, column names, uncertainty and record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Model {
    format: String,
    pub(super) activation: Activation,
    /// Names of the inputs.
    pub inputs: Vec<String>,
    /// Names of the outputs.
    pub outputs: Vec<String>,
    /// Smallest and largest value of each input among the samples, in the units of the data.
    pub domain: Vec<[f64; 2]>,
    /// Scaling of the inputs.
    pub input_scaler: Scaler,
    /// Scaling of the outputs.
    pub output_scaler: Scaler,
    /// Hidden weights in scaled inputs: n rows of d numbers, d + 1 with biases (the bias last).
    #[serde(with = "row_list")]
    pub(super) hidden: Mat<f64>,
    /// Output weights in scaled outputs, as planes: rows of c numbers. Fourier: n real, then n imaginary parts;
    /// otherwise n weights, then the output bias.
    #[serde(with = "row_list")]
    pub(super) output: Mat<f64>,
    /// None if another method made the network.
    pub(super) uncertainty: Option<Uncertainty>,
    /// How the model was made.
    pub record: Record,
    /// How the columns of a table become the inputs, where they are not the inputs themselves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encoding: Option<Encoding>,
}

impl Model {
    pub(crate) fn new(
        network: Network,
        (inputs, outputs): (Vec<String>, Vec<String>),
        domain: Vec<[f64; 2]>,
        (input_scaler, output_scaler): (Scaler, Scaler),
        uncertainty: Option<Uncertainty>,
        record: Record,
    ) -> Self {
        Model {
            format: FORMAT.into(),
            activation: network.activation,
            inputs,
            outputs,
            domain,
            input_scaler,
            output_scaler,
            hidden: network.hidden,
            output: network.output,
            uncertainty,
            record,
            encoding: None,
        }
    }

    /// The model of a network that another method made for `data`, scaled by (input, output) scalers.
    ///
    /// It predicts, saves and exports like any other, but has no standard deviations or intervals.
    ///
    /// # Errors
    /// Weights or scalers that do not fit each other or the columns of the data, or that are not finite.
    pub fn from_network(
        network: Network,
        data: &Dataset,
        scalers: (Scaler, Scaler),
        record: Record,
    ) -> Result<Self> {
        if !(network.hidden.is_all_finite() && network.output.is_all_finite()) {
            return Err(Error::Data {
                what: "network",
                problem: "a weight left the finite range".into(),
                advice: "lower the learning rate or scale the data",
            });
        }
        let names = (data.inputs.clone(), data.outputs.clone());
        let model = Model::new(network, names, data.domain(), scalers, None, record);
        match model.flaw() {
            None => Ok(model),
            Some(found) => Err(Error::Shape {
                what: "network",
                expected: "finite weights that fit the data".into(),
                found: found.into(),
            }),
        }
    }

    /// The same network with another record, and with intervals calibrated by `residual` (m × c, in the units of the
    /// outputs): errors at the samples `data` of predictions that did not see them.
    ///
    /// # Errors
    /// Samples whose design matrix cannot be factored, or residuals that do not fit them.
    pub fn calibrated(
        self,
        data: &Dataset,
        residual: MatRef<'_, f64>,
        record: Record,
    ) -> Result<Self> {
        let (m, c) = (data.samples(), self.outputs.len());
        if residual.nrows() != m || residual.ncols() != c || data.dim() != self.dim() {
            return Err(Error::Shape {
                what: "residual",
                expected: format!("{m} rows and {c} columns"),
                found: format!("{} and {}", residual.nrows(), residual.ncols()),
            });
        }
        let x = self.input_scaler.apply(data.x.as_ref());
        let e = planes(self.activation, x.as_ref(), self.hidden.as_ref());
        let y = Mat::zeros(m, c);
        let factor = Orthogonal::new(self.activation, Form::Real, e.as_ref(), y.as_ref(), None)?;
        let scaled = Mat::from_fn(m, c, |i, o| residual[(i, o)] / self.output_scaler.scale[o]);
        Ok(Model {
            uncertainty: Some(Uncertainty::posterior(&factor, scaled.as_ref(), data)),
            domain: data.domain(),
            record,
            ..self
        })
    }

    /// Activation Φ.
    pub fn activation(&self) -> Activation {
        self.activation
    }

    /// Number of hidden neurons, n.
    pub fn width(&self) -> usize {
        self.hidden.nrows()
    }

    /// Number of inputs, d.
    pub fn dim(&self) -> usize {
        self.inputs.len()
    }

    /// Number of fitted real numbers: the entries of w and b.
    pub fn parameters(&self) -> usize {
        self.hidden.nrows() * self.hidden.ncols() + self.output.nrows() * self.output.ncols()
    }

    /// Hidden weights as stored: in scaled inputs, n rows of d numbers, d + 1 with biases (the bias last).
    pub fn scaled_hidden(&self) -> MatRef<'_, f64> {
        self.hidden.as_ref()
    }

    /// Output weights as stored: in scaled outputs, rows of c numbers. Fourier: n real, then n imaginary
    /// parts; otherwise n weights, then the output bias.
    pub fn scaled_output(&self) -> MatRef<'_, f64> {
        self.output.as_ref()
    }

    /// Hidden weights w (n × d) in the units of the data: ⟨w_l, x⟩ up to the shift that the biases or phases hold. The
    /// weights of a warped input are per unit of its warped value, [`Scaler::warped`].
    pub fn hidden(&self) -> Mat<f64> {
        Mat::from_fn(self.width(), self.dim(), |l, j| {
            self.hidden[(l, j)] / self.input_scaler.scale[j]
        })
    }

    /// Magnitudes |b_l|/n (n × c) of the output weights, in the units of the outputs.
    pub fn magnitudes(&self) -> Mat<f64> {
        let n = self.width();
        Mat::from_fn(n, self.outputs.len(), |l, o| {
            let magnitude = magnitude(self.activation, self.output.as_ref(), n, l, o);
            magnitude / n as f64 * self.output_scaler.scale[o]
        })
    }

    /// The network in the form in which it is evaluated.
    pub fn evaluator(&self) -> Evaluator {
        Evaluator::new(
            self.activation,
            (self.hidden.as_ref(), self.output.as_ref()),
            (&self.input_scaler, &self.output_scaler),
        )
    }

    /// The model as JSON text.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("a model holds only strings and finite numbers")
    }

    /// Reads a model from JSON text; `name` is its file name in errors.
    ///
    /// # Errors
    /// Text that is not JSON, is cut off, is of a newer version, or whose parts do not fit together.
    pub fn from_json(text: &str, name: &Path) -> Result<Self> {
        parse(text, name, FORMAT, Model::flaw)
    }

    /// What is wrong with a model, if anything.
    fn flaw(&self) -> Option<&'static str> {
        let (n, d, c) = (self.width(), self.dim(), self.outputs.len());
        let k = self.activation.columns(n);
        let table = |a: &Mat<f64>, rows: usize, columns: usize| {
            a.nrows() == rows && a.ncols() == columns && a.is_all_finite()
        };
        let certain = |u: &Uncertainty| u.is_sound(k, c);
        let uncertain = self.uncertainty.as_ref().is_none_or(certain);
        let checks = [
            (n > 0 && d > 0 && c > 0, "no neurons, inputs or outputs"),
            (
                self.domain.len() == d
                    && self
                        .domain
                        .iter()
                        .all(|[low, high]| low <= high && low.is_finite() && high.is_finite()),
                "ranges that do not fit the inputs",
            ),
            (
                self.input_scaler.is_sound(d),
                "an input scaling that does not fit the inputs",
            ),
            (
                self.output_scaler.is_sound(c) && self.output_scaler.warp.is_empty(),
                "an output scaling that does not fit the outputs",
            ),
            (
                table(&self.hidden, n, self.activation.weights(d)),
                "hidden weights that do not fit the inputs",
            ),
            (
                table(&self.output, k, c),
                "output weights that do not fit the width and the outputs",
            ),
            (
                uncertain,
                "a covariance that is none or does not fit the width",
            ),
            (
                [
                    &self.record.validation_mse,
                    &self.record.validation_variance,
                    &self.record.validation_linear,
                ]
                .iter()
                .all(|errors| errors.len() == c),
                "a record that does not fit the outputs",
            ),
        ];
        let flaw = checks.iter().find(|check| !check.0).map(|check| check.1);
        let columns = (&self.inputs[..], &self.outputs[..]);
        flaw.or_else(|| self.record.flaw(columns, self.encoding.as_ref()))
    }

    /// Whether a file begins like one that [`Model::save`] has written, in any version.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn is_in(path: &Path) -> Result<bool> {
        begins_like(path, FORMAT)
    }

    /// Writes the model to a file, under a temporary name first, so that there is never half a file.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        write_whole(path.as_ref(), self.to_json().as_bytes())
    }

    /// Reads a model from a file.
    ///
    /// # Errors
    /// A file that cannot be read, and all errors of [`Model::from_json`].
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let bytes = read_json(path, LARGEST)?;
        Model::from_json(&String::from_utf8_lossy(&bytes), path)
    }
}
