//! A fitted kernel expansion: what kernel ridge regression, SALSA and the Gaussian process predict with.
//!
//! f_o(x) = shift_o + scale_o · (mean_o + Σ_i α_io k(x′, x′_i)) with x′ the scaled inputs, i = 1 … m the training
//! points and o = 1 … c the outputs, which share the kernel. Choosing kernel and ridge is up to the methods.
//!
//! Only a Gaussian process has standard deviations. With C = K + gI, per output with signal variance s²,
//!
//! ```text
//! var f(x) = s² (k(x, x) − kᵀC⁻¹k + (1 − 1ᵀC⁻¹k)² / 1ᵀC⁻¹1)        k = (k(x′, x′_i))_i
//! ```
//!
//! whose last term is the uncertainty of the constant mean; a new observation adds s² g. The factor of C is computed
//! when first needed: stored in the file, it would be m times as large as the rest. Intervals are the matter of
//! `calibration`.

pub(crate) mod calibration;
mod covariance;
pub(crate) mod edges;
pub(crate) mod file;
pub(crate) mod held_out;
mod importance;
mod integrals;

use crate::kernels::cholesky::{all_threads, cholesky, factor, solve, with_ridge};
use crate::networks::least_squares::times;
use crate::prepared::check_unweighted;
use crate::{Error, Kernel, Result};
use calibration::Calibration;
use faer::linalg::matmul::matmul;
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::{Accum, Mat, MatMut, MatRef, Par};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::sync::OnceLock;
use thinfit::pieces::row_chunks;
use thinfit::{Dataset, Deviation, Encoding, Record, Scaler, TrainingRows, check_finite, row_list};

/// Rows predicted at a time; for a thousand points, a block of kernel values fits in the cache.
const BLOCK: usize = 128;
/// Largest number of samples; beyond it the kernel matrix alone exceeds 3 GB.
const MAX_SAMPLES: usize = 20_000;

/// A fitted kernel expansion with its scaling, column names and record.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct KernelModel {
    format: String,
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
    kernel: Kernel,
    /// Constant of each output, in scaled outputs.
    mean: Vec<f64>,
    /// Training points in scaled inputs: m rows of d numbers.
    #[serde(with = "row_list")]
    points: Mat<f64>,
    /// α in scaled outputs: m rows of c numbers.
    #[serde(with = "row_list")]
    coefficients: Mat<f64>,
    /// Signal variance s² of each output, in scaled outputs; only for a Gaussian process.
    signal: Option<Vec<f64>>,
    /// Where the widths of intervals come from; leave-one-out errors where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    calibration: Option<Calibration>,
    /// How the model was made.
    pub record: Record,
    /// How the columns of a table become the inputs, where they are not the inputs themselves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encoding: Option<Encoding>,
    /// The factor of K + ridge · I, computed when first needed.
    #[serde(skip)]
    factor: OnceLock<Option<Mat<f64>>>,
    /// The calibration by leave-one-out errors, computed when first needed.
    #[serde(skip)]
    left_out: OnceLock<Option<Calibration>>,
}

/// The parts of an expansion, in scaled units.
pub(crate) struct Expansion {
    pub kernel: Kernel,
    pub mean: Vec<f64>,
    /// m × d.
    pub points: Mat<f64>,
    /// m × c.
    pub alpha: Mat<f64>,
    pub signal: Option<Vec<f64>>,
}

impl Expansion {
    /// Solves (K + λI)α = y for `points` (m × d) and `y` (m × c). If rounding makes the matrix indefinite, λ is raised;
    /// the record gets the final λ and how often it was raised.
    pub fn ridge(
        kernel: Kernel,
        points: Mat<f64>,
        y: MatRef<'_, f64>,
        lambda: f64,
        record: Record,
    ) -> Result<(Self, Record)> {
        let gram = kernel.gram(points.as_ref());
        let factor = factor(gram.as_ref(), lambda, all_threads())?;
        let expansion = Expansion {
            kernel,
            mean: vec![0.0; y.ncols()],
            points,
            alpha: solve(factor.l.as_ref(), y),
            signal: None,
        };
        let record = Record {
            ridge: factor.ridge,
            raised: factor.raised,
            ..record
        };
        Ok((expansion, record))
    }
}

/// Refuses data that kernel methods cannot use.
pub(crate) fn check_data(data: &Dataset) -> Result<()> {
    check_unweighted(data)?;
    match data.samples() {
        ..=MAX_SAMPLES => Ok(()),
        m => Err(Error::Data {
            what: "x",
            problem: format!("kernel methods take at most {MAX_SAMPLES} rows, found {m}"),
            advice: "fit a network, or only some of the rows",
        }),
    }
}

impl KernelModel {
    /// # Errors
    /// Coefficients beyond the range of `f64`.
    pub(crate) fn new(
        data: &Dataset,
        (input_scaler, output_scaler): (Scaler, Scaler),
        expansion: Expansion,
        mut record: Record,
    ) -> Result<Self> {
        if !expansion.alpha.is_all_finite() {
            return Err(Error::Data {
                what: "y",
                problem: "a coefficient leaves the range of f64".into(),
                advice: "rescale the columns to unit variance",
            });
        }
        // Here the rows are in the order of the points.
        record.rows.get_or_insert_with(|| TrainingRows::new(data));
        Ok(KernelModel {
            format: file::FORMAT.into(),
            inputs: data.inputs.clone(),
            outputs: data.outputs.clone(),
            domain: data.domain(),
            input_scaler,
            output_scaler,
            points: expansion.points,
            coefficients: expansion.alpha,
            kernel: expansion.kernel,
            mean: expansion.mean,
            signal: expansion.signal,
            calibration: None,
            record,
            encoding: None,
            factor: OnceLock::new(),
            left_out: OnceLock::new(),
        })
    }

    /// Number of inputs, d.
    pub fn dim(&self) -> usize {
        self.inputs.len()
    }

    /// The kernel, with lengths in scaled inputs.
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// The points (m × d), in scaled inputs.
    pub fn points(&self) -> MatRef<'_, f64> {
        self.points.as_ref()
    }

    /// The constants of the outputs (c), in scaled outputs.
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// The coefficients α (m × c), in scaled outputs.
    pub fn coefficients(&self) -> MatRef<'_, f64> {
        self.coefficients.as_ref()
    }

    /// The signal variance s² of each output (c), in scaled outputs; none without deviations.
    pub fn signal(&self) -> Option<&[f64]> {
        self.signal.as_deref()
    }

    /// How many real numbers prediction needs: points, coefficients, the numbers of the kernel and means.
    pub fn parameters(&self) -> usize {
        let (d, c) = (self.dim(), self.outputs.len());
        self.points.nrows() * (d + c) + self.kernel.parameters() + c
    }

    /// f at the rows of `x` (n × d): n × c.
    ///
    /// # Errors
    /// The wrong number of columns, or values that are not finite.
    pub fn predict(&self, x: MatRef<'_, f64>) -> Result<Mat<f64>> {
        let c = self.outputs.len();
        self.by_blocks(x, c, |x, mut out| {
            let k = self.kernel.cross(x.as_ref(), self.points.as_ref());
            matmul(
                out.as_mut(),
                Accum::Replace,
                k.as_ref(),
                self.coefficients.as_ref(),
                1.0,
                Par::Seq,
            );
            for o in 0..c {
                let (shift, scale) = (self.output_scaler.shift[o], self.output_scaler.scale[o]);
                for i in 0..out.nrows() {
                    out[(i, o)] = shift + scale * (self.mean[o] + out[(i, o)]);
                }
            }
        })
    }

    /// The partial derivatives ∂f_o/∂x_j of output `o` at the rows of `x` (n × d): n × d.
    ///
    /// # Errors
    /// As [`KernelModel::predict`], or an output that does not exist.
    pub fn gradient(&self, x: MatRef<'_, f64>, o: usize) -> Result<Mat<f64>> {
        self.check_output(o)?;
        let coefficients = self.coefficients.col_as_slice(o);
        let mut gradient = self.by_blocks(x, self.dim(), |x, mut out| {
            let slopes = self.kernel.gradient(&x, self.points.as_ref(), coefficients);
            for j in 0..out.ncols() {
                let factor = self.output_scaler.scale[o] / self.input_scaler.scale[j];
                for i in 0..out.nrows() {
                    out[(i, j)] = factor * slopes[(i, j)];
                }
            }
        })?;
        for j in (0..self.dim()).filter(|&j| self.input_scaler.warp_of(j).is_some()) {
            for i in 0..x.nrows() {
                gradient[(i, j)] *= self.input_scaler.warp_slope(j, x[(i, j)]);
            }
        }
        finite(gradient)
    }

    /// Standard deviations of f and of a new observation at the rows of `x` (n × d).
    ///
    /// # Errors
    /// As [`KernelModel::predict`], or a method without deviations.
    pub fn deviation(&self, x: MatRef<'_, f64>) -> Result<Deviation> {
        let Some(signal) = &self.signal else {
            return Err(self.without_deviations());
        };
        let l = self.factor()?;
        let ones = Mat::from_fn(l.nrows(), 1, |_, _| 1.0);
        let pull = solve(l.as_ref(), ones.as_ref());
        let total: f64 = pull.col_as_slice(0).iter().sum();
        let variance = self.by_blocks(x, 1, |x, mut out| {
            let k = self.kernel.cross(x.as_ref(), self.points.as_ref());
            let mean = times(k.as_ref(), pull.as_ref());
            let mut v = k.transpose().to_owned();
            solve_lower_triangular_in_place(l.as_ref(), v.as_mut(), Par::Seq);
            for i in 0..out.nrows() {
                let explained = v.col(i).squared_norm_l2();
                let of_mean = (1.0 - mean[(i, 0)]).powi(2) / total;
                // Rounding can make this negative.
                out[(i, 0)] = (self.kernel.diagonal() - explained).max(0.0) + of_mean;
            }
        })?;
        let of = |added: f64| {
            Mat::from_fn(x.nrows(), self.outputs.len(), |i, o| {
                self.output_scaler.scale[o] * (signal[o] * (variance[(i, 0)] + added)).sqrt()
            })
        };
        Ok(Deviation {
            model: finite(of(0.0))?,
            observation: finite(of(self.record.ridge))?,
        })
    }

    fn without_deviations(&self) -> Error {
        let method = &self.record.method;
        no_deviation(format!("the method `{method}` has no standard deviations"))
    }

    /// The factor L of K + ridge · I (m × m).
    fn factor(&self) -> Result<&Mat<f64>> {
        let factor = self.factor.get_or_init(|| {
            let gram = self.kernel.gram(self.points.as_ref());
            cholesky(with_ridge(gram.as_ref(), self.record.ridge), Par::Seq)
        });
        let problem = "the kernel matrix cannot be factorised";
        factor.as_ref().ok_or_else(|| no_deviation(problem.into()))
    }

    fn check_output(&self, o: usize) -> Result<()> {
        if o < self.outputs.len() {
            return Ok(());
        }
        Err(Error::Shape {
            what: "output",
            expected: format!("an output below {}", self.outputs.len()),
            found: o.to_string(),
        })
    }

    /// Evaluates `write(scaled rows, rows of the result)` over blocks of rows; the result is n × `columns` and finite.
    fn by_blocks(
        &self,
        x: MatRef<'_, f64>,
        columns: usize,
        write: impl Fn(Mat<f64>, MatMut<'_, f64>) + Sync,
    ) -> Result<Mat<f64>> {
        if x.ncols() != self.dim() {
            let expected = format!("{} columns ({})", self.dim(), self.inputs.join(", "));
            return Err(Error::Shape {
                what: "x",
                expected,
                found: format!("{} columns", x.ncols()),
            });
        }
        check_finite("x", x)?;
        let mut out = Mat::zeros(x.nrows(), columns);
        let blocks = x.nrows().div_ceil(BLOCK);
        row_chunks(out.as_mut(), BLOCK)
            .into_par_iter()
            .zip_eq(0..blocks)
            .for_each(|(out, block)| {
                let x = self
                    .input_scaler
                    .apply(x.subrows(block * BLOCK, out.nrows()));
                write(x, out);
            });
        finite(out)
    }
}

/// Rejects a result that is not finite: products of large numbers overflow.
fn finite(out: Mat<f64>) -> Result<Mat<f64>> {
    match out.is_all_finite() {
        true => Ok(out),
        false => Err(Error::Data {
            what: "y",
            problem: "a predicted value leaves the range of f64".into(),
            advice: "rescale the columns to unit variance",
        }),
    }
}

fn no_deviation(problem: String) -> Error {
    Error::Data {
        what: "deviation",
        problem,
        advice: "fit a Gaussian process or a thin network",
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::KernelRidge;
    use crate::kernels::kernel::tests::{plain, random};
    use thinfit::Control;

    pub(super) fn model() -> KernelModel {
        let data = Dataset::new(random(40, 3, 3), random(40, 2, 4)).unwrap();
        let settings = KernelRidge {
            scaling: thinfit::Scaling::Standard,
            ..KernelRidge::default()
        };
        settings.fit(&data, 0, &|_| Control::Continue).unwrap()
    }

    #[test]
    fn predictions_are_the_kernel_times_the_coefficients_across_blocks() {
        let (model, fresh) = (model(), random(2 * BLOCK + 5, 3, 5));
        let values = model.predict(fresh.as_ref()).unwrap();
        let scaled = model.input_scaler.apply(fresh.as_ref());
        for i in 0..fresh.nrows() {
            let x: Vec<f64> = scaled.row(i).iter().copied().collect();
            for o in 0..2 {
                let sum: f64 = (0..40)
                    .map(|j| {
                        let point: Vec<f64> = model.points.row(j).iter().copied().collect();
                        model.coefficients[(j, o)] * plain(&model.kernel, &x, &point)
                    })
                    .sum();
                let expected = model.output_scaler.shift[o] + model.output_scaler.scale[o] * sum;
                assert!((values[(i, o)] - expected).abs() < 1e-9 * (1.0 + expected.abs()));
            }
        }
        assert_eq!(model.predict(Mat::zeros(0, 3).as_ref()).unwrap().nrows(), 0);
    }

    #[test]
    fn gradients_agree_with_central_differences() {
        let (model, x, step) = (model(), random(BLOCK + 3, 3, 5), 1e-5);
        for (o, j) in (0..6).map(|k| (k / 3, k % 3)) {
            let moved = |h: f64| {
                let mut x = x.clone();
                x.col_as_slice_mut(j).iter_mut().for_each(|v| *v += h);
                model.predict(x.as_ref()).unwrap()
            };
            let (up, down) = (moved(step), moved(-step));
            let gradient = model.gradient(x.as_ref(), o).unwrap();
            let size = gradient.norm_max();
            for i in 0..x.nrows() {
                let expected = (up[(i, o)] - down[(i, o)]) / (2.0 * step);
                assert!((gradient[(i, j)] - expected).abs() < 1e-7 * size);
            }
        }
        let error = model.gradient(x.as_ref(), 2).unwrap_err().to_string();
        assert!(error.contains("below 2"), "{error}");
    }

    #[test]
    fn wrong_columns_and_missing_deviations_are_errors() {
        let model = model();
        let error = model
            .predict(random(3, 5, 0).as_ref())
            .unwrap_err()
            .to_string();
        assert_eq!(error, "x: expected 3 columns (x1, x2, x3), found 5 columns");
        let mut spoiled = random(3, 3, 0);
        spoiled[(2, 1)] = f64::NAN;
        assert!(
            model
                .predict(spoiled.as_ref())
                .unwrap_err()
                .to_string()
                .contains("row 2, column 1")
        );
        let error = model
            .deviation(random(3, 3, 0).as_ref())
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("`kernel-ridge` has no standard deviations"),
            "{error}"
        );
    }
}
