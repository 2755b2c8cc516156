//! A thin two-layer network as the body of a model.
//!
//! f(x) = shift + scale · Re Σ_l b_l Φ(⟨w_l, x′⟩)/n with x′ the scaled inputs. Dimensions: `n` width, `k` = columns of E. Values
//! come from the `evaluator`, everything else from the planes E.

use super::body::Body;
use super::calibration::Calibration;
use super::header::{Header, check_result};
use super::model::Model;
use super::posterior::{Posterior, checked_spread};
use crate::data::Scaler;
use crate::file::{LARGEST, read_json};
use crate::math::columns::column_mut;
use crate::math::product::{multiply, product};
use crate::math::row_list;
use crate::model::record::Record;
use crate::network::evaluator::Evaluator;
use crate::network::features::planes;
use crate::network::planes::{magnitude, slopes};
use crate::solve::orthogonal::Orthogonal;
use crate::{Activation, Dataset, Error, Form, Network, Result};
use faer::{Mat, MatMut, MatRef};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// A thin two-layer network with the posterior of its output weights.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NetworkBody {
    activation: Activation,
    /// Hidden weights in scaled inputs: n rows of d numbers, d + 1 with biases (the bias last).
    #[serde(with = "row_list")]
    hidden: Mat<f64>,
    /// Output weights in scaled outputs, as planes: rows of c numbers. Fourier: n real, then n imaginary parts;
    /// otherwise n weights, then the output bias.
    #[serde(with = "row_list")]
    output: Mat<f64>,
    /// None if another method made the network.
    posterior: Option<Posterior>,
}

impl NetworkBody {
    pub(crate) fn new(network: Network, posterior: Option<Posterior>) -> Self {
        NetworkBody {
            activation: network.activation,
            hidden: network.hidden,
            output: network.output,
            posterior,
        }
    }

    /// The posterior of the output weights.
    ///
    /// # Errors
    /// A network that another method made (see [`Model::from_network`]).
    pub fn posterior(&self, header: &Header) -> Result<&Posterior> {
        self.posterior.as_ref().ok_or_else(|| Error::Data {
            what: "uncertainty",
            problem: format!("networks made by `{}` have none", header.record.method),
            advice: "fit the data with gft-r or auto",
        })
    }

    /// The planes of the rows of `x` in the units of the data.
    fn planes(&self, header: &Header, x: MatRef<'_, f64>) -> Mat<f64> {
        let scaled = header.input_scaler.apply(x);
        planes(self.activation, scaled.as_ref(), self.hidden.as_ref())
    }
}

impl Body for NetworkBody {
    const FORMAT: &'static str = "thinfit/1";
    const BLOCK: usize = 256;

    fn flaw(&self, d: usize, c: usize) -> Option<&'static str> {
        let n = self.hidden.nrows();
        let k = self.activation.columns(n);
        let table = |a: &Mat<f64>, rows: usize, columns: usize| {
            a.nrows() == rows && a.ncols() == columns && a.is_all_finite()
        };
        let checks = [
            (n > 0, "no neurons"),
            (
                table(&self.hidden, n, self.activation.weights(d)),
                "hidden weights that do not fit the inputs",
            ),
            (
                table(&self.output, k, c),
                "output weights that do not fit the width and the outputs",
            ),
            (
                self.posterior.as_ref().is_none_or(|p| p.is_sound(k, c)),
                "a covariance that is invalid or does not fit the width",
            ),
        ];
        checks.iter().find(|check| !check.0).map(|check| check.1)
    }

    fn parameters(&self) -> usize {
        self.hidden.nrows() * self.hidden.ncols() + self.output.nrows() * self.output.ncols()
    }

    fn values<'a>(
        &'a self,
        header: &'a Header,
    ) -> impl Fn(MatRef<'_, f64>, MatMut<'_, f64>) + Sync + 'a {
        let evaluator = Evaluator::new(
            self.activation,
            (self.hidden.as_ref(), self.output.as_ref()),
            (&header.input_scaler, &header.output_scaler),
        );
        move |x, out| {
            // Inputs that are too large give results that are not finite.
            let _ = evaluator.evaluate(x, out);
        }
    }

    fn slopes(&self, x: MatRef<'_, f64>, o: usize, out: MatMut<'_, f64>) {
        let e = planes(self.activation, x, self.hidden.as_ref());
        let mut slope = Mat::zeros(x.nrows(), self.hidden.nrows());
        slopes(
            self.activation,
            e.as_ref(),
            self.output.as_ref(),
            o,
            slope.as_mut(),
        );
        multiply(
            out,
            slope.as_ref(),
            self.hidden.as_ref().subcols(0, x.ncols()),
        );
    }

    fn unit_variance(&self, header: &Header) -> Result<(&[f64], f64)> {
        Ok((&self.posterior(header)?.noise, 1.0))
    }

    /// e(x) M e(x)ᵀ per row.
    fn variance(&self, header: &Header, x: MatRef<'_, f64>) -> Result<Mat<f64>> {
        let k = self.activation.columns(self.hidden.nrows());
        let covariance = self.posterior(header)?.matrix(k);
        let variance = header.by_blocks(x, 1, Self::BLOCK, |x, out| {
            let e = self.planes(header, x);
            column_mut(out, 0).copy_from_slice(&checked_spread(e.as_ref(), covariance.as_ref()));
        })?;
        match variance.col_as_slice(0).iter().position(|v| *v < 0.0) {
            None => Ok(variance),
            Some(row) => Err(Error::Data {
                what: "uncertainty",
                problem: format!(
                    "the model's covariance matrix is not positive semidefinite: row {row} has a negative variance"
                ),
                advice: "fit the model again",
            }),
        }
    }

    fn own_calibration(&self, header: &Header) -> Result<&Calibration> {
        let missing = |_: &Posterior| {
            Err(Error::Data {
                what: "interval",
                problem: "the model has no held-out errors".into(),
                advice: "fit the model again",
            })
        };
        self.posterior(header).and_then(missing)
    }
}

impl Model {
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
        let header = Header::new(data, scalers, record);
        let model = Model::new(header, NetworkBody::new(network, None));
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
        mut self,
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
        let e = self.body.planes(&self, data.x.as_ref());
        let y = Mat::zeros(m, c);
        let factor = Orthogonal::new(self.activation(), Form::Real, e.as_ref(), y.as_ref(), None)?;
        let scaled = Mat::from_fn(m, c, |i, o| residual[(i, o)] / self.output_scaler.scale[o]);
        let (posterior, calibration) = Posterior::most_likely(&factor, scaled.as_ref(), data);
        self.body.posterior = Some(posterior);
        self.calibration = Some(calibration);
        self.domain = data.domain();
        self.record = record;
        Ok(self)
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

    /// Activation Φ.
    pub fn activation(&self) -> Activation {
        self.body.activation
    }

    /// Number of hidden neurons, n.
    pub fn width(&self) -> usize {
        self.body.hidden.nrows()
    }

    /// Hidden weights as stored: in scaled inputs, n rows of d numbers, d + 1 with biases (the bias last).
    pub fn scaled_hidden(&self) -> MatRef<'_, f64> {
        self.body.hidden.as_ref()
    }

    /// Output weights as stored: in scaled outputs, rows of c numbers. Fourier: n real, then n imaginary
    /// parts; otherwise n weights, then the output bias.
    pub fn scaled_output(&self) -> MatRef<'_, f64> {
        self.body.output.as_ref()
    }

    /// Hidden weights w (n × d) in the units of the data: ⟨w_l, x⟩ up to the shift that the biases or phases hold. The
    /// weights of a warped input are per unit of its warped value, [`Scaler::warped`].
    pub fn hidden(&self) -> Mat<f64> {
        Mat::from_fn(self.width(), self.dim(), |l, j| {
            self.body.hidden[(l, j)] / self.input_scaler.scale[j]
        })
    }

    /// Magnitudes |b_l|/n (n × c) of the output weights, in the units of the outputs.
    pub fn magnitudes(&self) -> Mat<f64> {
        let n = self.width();
        Mat::from_fn(n, self.outputs.len(), |l, o| {
            let magnitude = magnitude(self.activation(), self.scaled_output(), n, l, o);
            magnitude / n as f64 * self.output_scaler.scale[o]
        })
    }

    /// The network in the form in which it is evaluated.
    pub fn evaluator(&self) -> Evaluator {
        Evaluator::new(
            self.activation(),
            (self.scaled_hidden(), self.scaled_output()),
            (&self.input_scaler, &self.output_scaler),
        )
    }

    /// e(a) M e(b)ᵀ for the rows of `a` and `b`: covariances of f, in units of the variance of the noise.
    ///
    /// # Errors
    /// As [`Model::deviation`].
    pub fn covariance(&self, a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Result<Mat<f64>> {
        let k = self.activation().columns(self.width());
        let covariance = self.body.posterior(self)?.matrix(k);
        let of = |x| {
            self.by_blocks(x, k, NetworkBody::BLOCK, |x, mut out| {
                out.copy_from(self.body.planes(self, x).subcols(0, k));
            })
        };
        let (a, b) = (of(a)?, of(b)?);
        let spread = product(b.as_ref(), covariance.as_ref());
        check_result(product(a.as_ref(), spread.transpose()))
    }
}
