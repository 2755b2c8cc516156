//! Prediction: values, derivatives, standard deviations and intervals at given rows.
//!
//! Dimensions: `m` rows, `d` inputs, `n` width, `c` outputs, `k` = columns of E. Values come from the `evaluator`; the
//! rest from the planes E in blocks of rows, on all threads. Every result is finite or an error.

use super::model::Model;
use super::uncertainty::{Uncertainty, checked_spread};
use crate::data::check_finite;
use crate::math::chunks::row_chunks;
use crate::math::columns::column_mut;
use crate::math::product::{multiply, product};
use crate::network::features::planes;
use crate::network::planes::slopes;
use crate::{Error, Result};
use faer::reborrow::ReborrowMut;
use faer::{Mat, MatMut, MatRef};
use rayon::prelude::*;

/// Rows that are predicted at a time.
const BLOCK: usize = 256;

/// Standard deviations at some points, in the units of the outputs (rows × c each).
#[derive(Clone, Debug)]
pub struct Deviation {
    /// Of f itself: what noise in the training outputs does to the model.
    pub model: Mat<f64>,
    /// Of a new observation: the model's and the noise's together.
    pub observation: Mat<f64>,
}

/// Rejects a result that is not finite: products of large inputs and weights may overflow.
fn check_result(out: Mat<f64>) -> Result<Mat<f64>> {
    let bad = |column: faer::ColRef<'_, f64>| column.iter().position(|v| !v.is_finite());
    match out.col_iter().filter_map(bad).min() {
        None => Ok(out),
        Some(row) => Err(Error::Overflow { what: "x", row }),
    }
}

impl Model {
    /// f at the rows of `x` (m × d): m × c. A row's result does not depend on the rows beside it, to the last bit.
    ///
    /// # Errors
    /// A number of columns other than d, values that are not finite, or values so large that the result is not.
    pub fn predict(&self, x: MatRef<'_, f64>) -> Result<Mat<f64>> {
        self.check_columns(x)?;
        let evaluator = self.evaluator();
        let mut out = Mat::zeros(x.nrows(), self.outputs.len());
        let usable = row_chunks(out.as_mut(), BLOCK)
            .into_par_iter()
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
        self.by_blocks(x, d, |x, e, mut out| {
            let mut slope = Mat::zeros(e.nrows(), n);
            slopes(self.activation, e, self.output.as_ref(), o, slope.as_mut());
            multiply(
                out.rb_mut(),
                slope.as_ref(),
                self.hidden.as_ref().subcols(0, d),
            );
            for j in 0..d {
                let factor = self.output_scaler.scale[o] / self.input_scaler.scale[j];
                for (v, &x) in column_mut(out.rb_mut(), j).iter_mut().zip(x.col(j).iter()) {
                    *v *= factor * self.input_scaler.warp_slope(j, x);
                }
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
    /// standard deviation. Those rows never trained a feature; they did choose between states. Where there are too few
    /// rows for the level, the bounds are infinite.
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
                // A deviation of zero must not make an infinite width NaN.
                match half[o].is_finite() {
                    true => middle[(i, o)] + sign * half[o] * deviation[(i, o)],
                    false => sign * f64::INFINITY,
                }
            })
        };
        match half.iter().all(|half| half.is_finite()) {
            true => Ok((check_result(bound(-1.0))?, check_result(bound(1.0))?)),
            false => Ok((bound(-1.0), bound(1.0))),
        }
    }

    /// What deviations and intervals are made from.
    ///
    /// # Errors
    /// A model without uncertainty (see [`Model::from_network`]).
    pub fn uncertainty(&self) -> Result<&Uncertainty> {
        self.uncertainty.as_ref().ok_or_else(|| Error::Data {
            what: "uncertainty",
            problem: format!("a network made by `{}` has none", self.record.method),
            advice: "fit the data with a method of thinfit itself",
        })
    }

    /// e(a) M e(b)ᵀ for the rows of `a` and `b`: covariances of f, in units of the variance of the noise.
    ///
    /// # Errors
    /// As [`Model::deviation`].
    pub fn covariance(&self, a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Result<Mat<f64>> {
        let k = self.activation.columns(self.width());
        let covariance = self.uncertainty()?.matrix(k);
        let of = |x| self.by_blocks(x, k, |_, e, mut out| out.copy_from(e.subcols(0, k)));
        let (a, b) = (of(a)?, of(b)?);
        let spread = product(b.as_ref(), covariance.as_ref());
        check_result(product(a.as_ref(), spread.transpose()))
    }

    /// e(x) M e(x)ᵀ per row.
    fn variance(&self, x: MatRef<'_, f64>) -> Result<Mat<f64>> {
        let k = self.activation.columns(self.width());
        let covariance = self.uncertainty()?.matrix(k);
        let variance = self.by_blocks(x, 1, |_, e, out| {
            column_mut(out, 0).copy_from_slice(&checked_spread(e, covariance.as_ref()))
        })?;
        match variance.col_as_slice(0).iter().position(|v| *v < 0.0) {
            None => Ok(variance),
            Some(row) => Err(Error::Data {
                what: "uncertainty",
                problem: format!(
                    "the model's covariance is none: row {row} has a negative variance"
                ),
                advice: "fit the model again",
            }),
        }
    }

    /// Evaluates `write(rows of x, planes, rows of the result)` over blocks of rows; the result is m × `columns`, zero at first.
    fn by_blocks(
        &self,
        x: MatRef<'_, f64>,
        columns: usize,
        write: impl Fn(MatRef<'_, f64>, MatRef<'_, f64>, MatMut<'_, f64>) + Sync,
    ) -> Result<Mat<f64>> {
        self.check_columns(x)?;
        check_finite("x", x)?;
        let mut out = Mat::zeros(x.nrows(), columns);
        let blocks = x.nrows().div_ceil(BLOCK);
        row_chunks(out.as_mut(), BLOCK)
            .into_par_iter()
            .zip_eq(0..blocks)
            .for_each(|(out, block)| {
                let x = x.subrows(block * BLOCK, out.nrows());
                let scaled = self.input_scaler.apply(x);
                let e = planes(self.activation, scaled.as_ref(), self.hidden.as_ref());
                write(x, e.as_ref(), out);
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
}
