//! A fitted network: all that prediction needs, and nothing of how it was found but a record.
//!
//! f(x) = shift + scale · Re Σ_l b_l Φ(⟨w_l, x′⟩)/n with x′ the scaled inputs. The file format is JSON with a
//! version in its first field; a thin network is small, and every language reads it.

use crate::data::{Scaler, check_finite};
use crate::math::columns::column_mut;
use crate::math::product::multiply;
use crate::math::row_list;
use crate::model::file::{parse, read_whole, write_whole};
use crate::model::record::Record;
use crate::model::uncertainty::{Uncertainty, spread};
use crate::network::evaluator::Evaluator;
use crate::network::features::planes;
use crate::network::planes::{magnitude, slopes};
use crate::{Activation, Dataset, Error, Network, Result};
use faer::reborrow::ReborrowMut;
use faer::{Mat, MatMut, MatRef};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Name and version of the file format.
const FORMAT: &str = "thinfit/1";
/// Rows that are predicted at a time.
const BLOCK: usize = 256;

/// A thin two-layer network with its scaling, column names, uncertainty and the record of its making.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Model {
    format: String,
    activation: Activation,
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
    hidden: Mat<f64>,
    /// Output weights in scaled outputs, as planes: rows of c numbers. Fourier: n real, then n imaginary parts;
    /// otherwise n weights, then the output bias.
    #[serde(with = "row_list")]
    output: Mat<f64>,
    /// None where another method than a fit of this crate made the network.
    uncertainty: Option<Uncertainty>,
    /// How the model was made.
    pub record: Record,
}

/// Standard deviations at some points, in the units of the outputs (rows × c each).
#[derive(Clone, Debug)]
pub struct Deviation {
    /// Of f itself: what noise in the training outputs does to the model.
    pub model: Mat<f64>,
    /// Of a new observation: the model's and the noise's together.
    pub observation: Mat<f64>,
}

/// The result, unless it has a value that is not finite: inputs or weights whose products overflow make such values.
fn check_result(out: Mat<f64>) -> Result<Mat<f64>> {
    let bad = |column: faer::ColRef<'_, f64>| column.iter().position(|v| !v.is_finite());
    match out.col_iter().filter_map(bad).min() {
        None => Ok(out),
        Some(row) => Err(Error::Data {
            what: "x",
            problem: format!("the network overflows at row {row}"),
            advice: "give rows near those that it was fitted to, or fit it again",
        }),
    }
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
        }
    }

    /// The model of a network that another method made for `data`, scaled by (input, output) scalers.
    ///
    /// It predicts, saves and exports as any other; it knows no standard deviations and no intervals.
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

    /// Real numbers that were fitted: the entries of w and b.
    pub fn parameters(&self) -> usize {
        self.hidden.nrows() * self.hidden.ncols() + self.output.nrows() * self.output.ncols()
    }

    /// Hidden weights as they are in the file: in scaled inputs, n rows of d numbers, d + 1 with biases (the bias last).
    pub fn scaled_hidden(&self) -> MatRef<'_, f64> {
        self.hidden.as_ref()
    }

    /// Output weights as they are in the file: in scaled outputs, rows of c numbers. Fourier: n real, then n imaginary
    /// parts; otherwise n weights, then the output bias.
    pub fn scaled_output(&self) -> MatRef<'_, f64> {
        self.output.as_ref()
    }

    /// Hidden weights w (n × d) in the units of the data: ⟨w_l, x⟩ up to the shift that the biases or phases hold.
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

    /// f at the rows of `x` (m × d): m × c. A row's result has the same bits whatever rows are beside it.
    ///
    /// # Errors
    /// A number of columns other than d, values that are not finite, or values so large that the result is not.
    pub fn predict(&self, x: MatRef<'_, f64>) -> Result<Mat<f64>> {
        self.check_columns(x)?;
        let evaluator = self.evaluator();
        let mut out = Mat::zeros(x.nrows(), self.outputs.len());
        let usable = out
            .as_mut()
            .par_row_chunks_mut(BLOCK)
            .zip_eq(0..x.nrows().div_ceil(BLOCK))
            .all(|(out, block)| evaluator.evaluate(x.subrows(block * BLOCK, out.nrows()), out));
        if !usable {
            check_finite("x", x)?;
        }
        check_result(out)
    }

    /// The partial derivatives ∂f_o/∂x_j of output `o` at the rows of `x` (m × d): m × d.
    ///
    /// # Errors
    /// As [`Model::predict`], or an output that does not exist.
    pub fn gradient(&self, x: MatRef<'_, f64>, o: usize) -> Result<Mat<f64>> {
        let (n, d) = (self.width(), self.dim());
        if o >= self.outputs.len() {
            let expected = format!("an output below {}", self.outputs.len());
            return Err(Error::Shape {
                what: "output of the gradient",
                expected,
                found: o.to_string(),
            });
        }
        self.by_blocks(x, d, |e, mut out| {
            let mut slope = Mat::zeros(e.nrows(), n);
            slopes(self.activation, e, self.output.as_ref(), o, slope.as_mut());
            multiply(
                out.rb_mut(),
                slope.as_ref(),
                self.hidden.as_ref().subcols(0, d),
            );
            for j in 0..d {
                let factor = self.output_scaler.scale[o] / self.input_scaler.scale[j];
                column_mut(out.rb_mut(), j)
                    .iter_mut()
                    .for_each(|v| *v *= factor);
            }
        })
    }

    /// Standard deviations of f and of a new observation at the rows of `x` (m × d).
    ///
    /// # Errors
    /// As [`Model::predict`], or a model without uncertainty (see [`Model::from_network`]).
    pub fn deviation(&self, x: MatRef<'_, f64>) -> Result<Deviation> {
        let (uncertainty, variance) = (self.uncertainty()?, self.variance(x)?);
        let of = |added: f64| {
            Mat::from_fn(x.nrows(), self.outputs.len(), |i, o| {
                self.output_scaler.scale[o]
                    * (uncertainty.noise[o] * (variance[(i, 0)] + added)).sqrt()
            })
        };
        Ok(Deviation {
            model: check_result(of(0.0))?,
            observation: check_result(of(1.0))?,
        })
    }

    /// Bounds (m × c each) between which a new observation lies with probability `level`.
    ///
    /// The width is calibrated: it is the quantile of the errors on the validation rows, each divided by its own
    /// standard deviation. Those rows never trained a feature; they did choose between states.
    ///
    /// # Errors
    /// As [`Model::deviation`], or a level outside (0, 1).
    pub fn interval(&self, x: MatRef<'_, f64>, level: f64) -> Result<(Mat<f64>, Mat<f64>)> {
        if !(level > 0.0 && level < 1.0) {
            return Err(Error::Config {
                field: "level",
                expected: "a number between 0 and 1",
                found: level.to_string(),
            });
        }
        let middle = self.predict(x)?;
        let deviation = self.deviation(x)?.observation;
        let uncertainty = self.uncertainty()?;
        let quantile = |o| uncertainty.quantile(o, level);
        let half: Vec<f64> = (0..self.outputs.len()).map(quantile).collect();
        let bound = |sign: f64| {
            Mat::from_fn(x.nrows(), self.outputs.len(), |i, o| {
                middle[(i, o)] + sign * half[o] * deviation[(i, o)]
            })
        };
        Ok((check_result(bound(-1.0))?, check_result(bound(1.0))?))
    }

    fn uncertainty(&self) -> Result<&Uncertainty> {
        self.uncertainty.as_ref().ok_or_else(|| Error::Data {
            what: "uncertainty",
            problem: format!("a network made by `{}` has none", self.record.method),
            advice: "fit the data with a method of thinfit itself",
        })
    }

    /// e(x) M e(x)ᵀ per row.
    fn variance(&self, x: MatRef<'_, f64>) -> Result<Mat<f64>> {
        let k = self.activation.columns(self.width());
        let covariance = self.uncertainty()?.matrix(k);
        self.by_blocks(x, 1, |e, out| {
            column_mut(out, 0).copy_from_slice(&spread(e, covariance.as_ref()))
        })
    }

    /// Evaluates `write(planes, rows of the result)` over blocks of rows; the result is m × `columns`, zero at first.
    fn by_blocks(
        &self,
        x: MatRef<'_, f64>,
        columns: usize,
        write: impl Fn(MatRef<'_, f64>, MatMut<'_, f64>) + Sync,
    ) -> Result<Mat<f64>> {
        self.check_columns(x)?;
        check_finite("x", x)?;
        let mut out = Mat::zeros(x.nrows(), columns);
        let blocks = x.nrows().div_ceil(BLOCK);
        out.as_mut()
            .par_row_chunks_mut(BLOCK)
            .zip_eq(0..blocks)
            .for_each(|(out, block)| {
                let x = x.subrows(block * BLOCK, out.nrows());
                let x = self.input_scaler.apply(x);
                let e = planes(self.activation, x.as_ref(), self.hidden.as_ref());
                write(e.as_ref(), out);
            });
        check_result(out)
    }

    fn check_columns(&self, x: MatRef<'_, f64>) -> Result<()> {
        if x.ncols() == self.dim() {
            return Ok(());
        }
        Err(Error::Shape {
            what: "x",
            expected: format!("{} columns ({})", self.dim(), self.inputs.join(", ")),
            found: format!("{} columns", x.ncols()),
        })
    }

    /// The model as JSON text.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("a model holds only strings and finite numbers")
    }

    /// Reads a model from JSON text; `name` stands for it in errors.
    ///
    /// # Errors
    /// Text that is not JSON, is cut off, is of a newer version, or whose parts do not fit together.
    pub fn from_json(text: &str, name: &Path) -> Result<Self> {
        parse(text, name, FORMAT, Model::flaw)
    }

    /// What is wrong with a model that was read, if anything.
    fn flaw(&self) -> Option<&'static str> {
        let (n, d, c) = (self.width(), self.dim(), self.outputs.len());
        let k = self.activation.columns(n);
        let scaler = |s: &Scaler, columns| {
            s.shift.len() == columns
                && s.scale.len() == columns
                && s.shift.iter().all(|v| v.is_finite())
                && s.scale.iter().all(|v| v.is_normal())
        };
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
                scaler(&self.input_scaler, d),
                "an input scaling that does not fit the inputs",
            ),
            (
                scaler(&self.output_scaler, c),
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
            (uncertain, "a covariance that does not fit the width"),
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
        checks.iter().find(|check| !check.0).map(|check| check.1)
    }

    /// Writes the model to a file: under a temporary name first, so that no half a file is ever left.
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
        let bytes = read_whole(path)?;
        Model::from_json(&String::from_utf8_lossy(&bytes), path)
    }
}
