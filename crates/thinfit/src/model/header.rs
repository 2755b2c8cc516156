//! What every fitted model has besides its body: columns, scaling, calibration and record.

use crate::data::{Scaler, check_finite};
use crate::math::chunks::row_chunks;
use crate::model::calibration::Calibration;
use crate::model::record::Record;
use crate::{Dataset, Encoding, Error, Result};
use faer::{Mat, MatMut, MatRef};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// The part of a model that does not depend on its [`Body`](crate::Body).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Header {
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
    /// Held-out errors that give intervals their width; none where the body computes them, or has no intervals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calibration: Option<Calibration>,
    /// How the model was made.
    pub record: Record,
    /// How the columns of a table become the inputs, where they are not the inputs themselves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encoding: Option<Encoding>,
}

impl Header {
    /// The header of a model of `data`, scaled by (input, output) scalers.
    pub fn new(
        data: &Dataset,
        (input_scaler, output_scaler): (Scaler, Scaler),
        record: Record,
    ) -> Self {
        Header {
            inputs: data.inputs.clone(),
            outputs: data.outputs.clone(),
            domain: data.domain(),
            input_scaler,
            output_scaler,
            calibration: None,
            record,
            encoding: None,
        }
    }

    /// Number of inputs, d.
    pub fn dim(&self) -> usize {
        self.inputs.len()
    }

    /// Evaluates `write(rows of x, rows of the result)` over blocks of at most `block` rows, on all threads; the result is m ×
    /// `columns`, zero at first.
    ///
    /// # Errors
    /// The wrong number of columns, values that are not finite, or a result that is not.
    pub fn by_blocks(
        &self,
        x: MatRef<'_, f64>,
        columns: usize,
        block: usize,
        write: impl Fn(MatRef<'_, f64>, MatMut<'_, f64>) + Sync,
    ) -> Result<Mat<f64>> {
        if x.ncols() != self.dim() {
            return Err(Error::Shape {
                what: "x",
                expected: format!("{} columns ({})", self.dim(), self.inputs.join(", ")),
                found: format!("{} columns", x.ncols()),
            });
        }
        check_finite("x", x)?;
        let mut out = Mat::zeros(x.nrows(), columns);
        row_chunks(out.as_mut(), block)
            .into_par_iter()
            .zip_eq(0..x.nrows().div_ceil(block))
            .for_each(|(out, k)| write(x.subrows(k * block, out.nrows()), out));
        check_result(out)
    }

    /// # Errors
    /// An output that does not exist.
    pub fn check_output(&self, o: usize) -> Result<()> {
        if o < self.outputs.len() {
            return Ok(());
        }
        Err(Error::Shape {
            what: "output",
            expected: format!("an output below {}", self.outputs.len()),
            found: o.to_string(),
        })
    }

    /// What is wrong with it, if anything.
    pub(crate) fn flaw(&self) -> Option<&'static str> {
        let (d, c) = (self.dim(), self.outputs.len());
        let is_range = |[low, high]: &[f64; 2]| low <= high && low.is_finite() && high.is_finite();
        let checks = [
            (d > 0 && c > 0, "no inputs or outputs"),
            (
                self.domain.len() == d && self.domain.iter().all(is_range),
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
                self.calibration.as_ref().is_none_or(|k| k.is_sound(c)),
                "errors that do not fit the outputs",
            ),
        ];
        let flaw = checks.iter().find(|check| !check.0).map(|check| check.1);
        let columns = (&self.inputs[..], &self.outputs[..]);
        flaw.or_else(|| self.record.flaw(columns, self.encoding.as_ref()))
    }
}

/// Rejects a result that is not finite: products of large inputs and weights may overflow.
///
/// # Errors
/// Such a result.
pub fn check_result(out: Mat<f64>) -> Result<Mat<f64>> {
    let bad = |column: faer::ColRef<'_, f64>| column.iter().position(|v| !v.is_finite());
    match out.col_iter().filter_map(bad).min() {
        None => Ok(out),
        Some(row) => Err(Error::Overflow { what: "x", row }),
    }
}
