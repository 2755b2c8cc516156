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
pub(crate) mod held_out;

use crate::Kernel;
use crate::cholesky::{all_threads, cholesky, factor, solve, with_ridge};
use faer::linalg::matmul::matmul;
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::{Accum, Mat, MatMut, MatRef, Par};
use serde::{Deserialize, Serialize};
use std::sync::OnceLock;
use thinfit::pieces::product;
use thinfit::{
    Body, Calibration, Dataset, Error, Header, Model, Record, Result, Scaler, TrainingRows,
    row_list,
};

/// Rows predicted at a time; for a thousand points, a block of kernel values fits in the cache.
const BLOCK: usize = 128;
/// Largest number of samples; beyond it the kernel matrix alone exceeds 3 GB.
const MAX_SAMPLES: usize = 20_000;

/// A kernel expansion, the body of a model.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct KernelBody {
    /// The kernel, with lengths in scaled inputs.
    pub kernel: Kernel,
    /// Constant of each output, in scaled outputs (c).
    pub mean: Vec<f64>,
    /// Training points in scaled inputs: m rows of d numbers.
    #[serde(with = "row_list")]
    pub points: Mat<f64>,
    /// α in scaled outputs: m rows of c numbers.
    #[serde(with = "row_list")]
    pub coefficients: Mat<f64>,
    /// Signal variance s² of each output, in scaled outputs; only for a Gaussian process.
    pub signal: Option<Vec<f64>>,
    /// The factor of K + ridge · I, computed when first needed.
    #[serde(skip)]
    factor: OnceLock<Option<Mat<f64>>>,
    /// The calibration by leave-one-out errors, computed when first needed.
    #[serde(skip)]
    left_out: OnceLock<Option<Calibration>>,
}

/// A fitted kernel expansion with its scaling, column names and record.
pub type KernelModel = Model<KernelBody>;

/// The parts of an expansion, in scaled units.
pub struct Expansion {
    /// The kernel.
    pub kernel: Kernel,
    /// Constant of each output (c).
    pub mean: Vec<f64>,
    /// m × d.
    pub points: Mat<f64>,
    /// m × c.
    pub alpha: Mat<f64>,
    /// Signal variance of each output (c); only for a Gaussian process.
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
pub fn check_data(data: &Dataset) -> Result<()> {
    data.check_unweighted()?;
    match data.samples() {
        ..=MAX_SAMPLES => Ok(()),
        m => Err(Error::Data {
            what: "x",
            problem: format!("kernel methods take at most {MAX_SAMPLES} rows, found {m}"),
            advice: "fit a network, or only some of the rows",
        }),
    }
}

/// The model of an expansion.
///
/// # Errors
/// Coefficients beyond the range of `f64`.
pub fn kernel_model(
    data: &Dataset,
    scalers: (Scaler, Scaler),
    expansion: Expansion,
    mut record: Record,
) -> Result<KernelModel> {
    if !expansion.alpha.is_all_finite() {
        return Err(Error::Data {
            what: "y",
            problem: "a coefficient leaves the range of f64".into(),
            advice: "rescale the columns to unit variance",
        });
    }
    // Here the rows are in the order of the points.
    record.rows.get_or_insert_with(|| TrainingRows::new(data));
    let body = KernelBody {
        points: expansion.points,
        coefficients: expansion.alpha,
        kernel: expansion.kernel,
        mean: expansion.mean,
        signal: expansion.signal,
        factor: OnceLock::new(),
        left_out: OnceLock::new(),
    };
    Ok(Model::new(Header::new(data, scalers, record), body))
}

impl Body for KernelBody {
    const FORMAT: &'static str = "thinfit-kernel/1";
    const BLOCK: usize = BLOCK;

    fn flaw(&self, d: usize, c: usize) -> Option<&'static str> {
        let m = self.points.nrows();
        let finite =
            |values: &[f64], count| values.len() == count && values.iter().all(|v| v.is_finite());
        let table =
            |a: &Mat<f64>, columns| a.nrows() == m && a.ncols() == columns && a.is_all_finite();
        let positive = |s: &Vec<f64>| finite(s, c) && s.iter().all(|v| *v >= 0.0);
        let checks = [
            (m > 0, "no points"),
            (self.kernel.fits(d), "a kernel that does not fit the inputs"),
            (table(&self.points, d), "points that do not fit the inputs"),
            (
                table(&self.coefficients, c) && finite(&self.mean, c),
                "coefficients that do not fit the points and the outputs",
            ),
            (
                self.signal.as_ref().is_none_or(positive),
                "variances that do not fit the outputs",
            ),
        ];
        checks.iter().find(|check| !check.0).map(|check| check.1)
    }

    /// Points, coefficients, the numbers of the kernel and means.
    fn parameters(&self) -> usize {
        let (d, c) = (self.points.ncols(), self.coefficients.ncols());
        self.points.nrows() * (d + c) + self.kernel.parameters() + c
    }

    fn values<'a>(
        &'a self,
        header: &'a Header,
    ) -> impl Fn(MatRef<'_, f64>, MatMut<'_, f64>) + Sync + 'a {
        |x, mut out| {
            let k = self.cross(header, x);
            matmul(
                out.as_mut(),
                Accum::Replace,
                k.as_ref(),
                self.coefficients.as_ref(),
                1.0,
                Par::Seq,
            );
            for o in 0..out.ncols() {
                let scaler = &header.output_scaler;
                for i in 0..out.nrows() {
                    out[(i, o)] = scaler.shift[o] + scaler.scale[o] * (self.mean[o] + out[(i, o)]);
                }
            }
        }
    }

    fn slopes(&self, x: MatRef<'_, f64>, o: usize, mut out: MatMut<'_, f64>) {
        let coefficients = self.coefficients.col_as_slice(o);
        let slopes = (self.kernel).gradient(&x.to_owned(), self.points.as_ref(), coefficients);
        out.copy_from(slopes.subcols(0, out.ncols()));
    }

    fn unit_variance(&self, header: &Header) -> Result<(&[f64], f64)> {
        match &self.signal {
            Some(signal) => Ok((signal, header.record.ridge)),
            None => {
                let method = &header.record.method;
                Err(no_deviation(format!(
                    "the method `{method}` has no standard deviations"
                )))
            }
        }
    }

    fn variance(&self, header: &Header, x: MatRef<'_, f64>) -> Result<Mat<f64>> {
        let l = self.factor(header)?;
        let ones = Mat::from_fn(l.nrows(), 1, |_, _| 1.0);
        let pull = solve(l.as_ref(), ones.as_ref());
        let total: f64 = pull.col_as_slice(0).iter().sum();
        header.by_blocks(x, 1, BLOCK, |x, mut out| {
            let k = self.cross(header, x);
            let mean = product(k.as_ref(), pull.as_ref());
            let mut v = k.transpose().to_owned();
            solve_lower_triangular_in_place(l.as_ref(), v.as_mut(), Par::Seq);
            for i in 0..out.nrows() {
                let explained = v.col(i).squared_norm_l2();
                let of_mean = (1.0 - mean[(i, 0)]).powi(2) / total;
                // Rounding can make this negative.
                out[(i, 0)] = (self.kernel.diagonal() - explained).max(0.0) + of_mean;
            }
        })
    }

    fn own_calibration(&self, header: &Header) -> Result<&Calibration> {
        let factor = self.factor(header)?;
        let left_out = self
            .left_out
            .get_or_init(|| self.calibration(header, factor));
        left_out.as_ref().ok_or_else(|| Error::Data {
            what: "interval",
            problem: "the leave-one-out errors are not finite".into(),
            advice: "rescale the columns to unit variance",
        })
    }
}

impl KernelBody {
    /// The kernel between the rows of `x`, in the units of the data, and the points.
    fn cross(&self, header: &Header, x: MatRef<'_, f64>) -> Mat<f64> {
        let x = header.input_scaler.apply(x);
        self.kernel.cross(x.as_ref(), self.points.as_ref())
    }

    /// The factor L of K + ridge · I (m × m).
    fn factor(&self, header: &Header) -> Result<&Mat<f64>> {
        let factor = self.factor.get_or_init(|| {
            let gram = self.kernel.gram(self.points.as_ref());
            cholesky(with_ridge(gram.as_ref(), header.record.ridge), Par::Seq)
        });
        let problem = "the kernel matrix cannot be factorised";
        factor.as_ref().ok_or_else(|| no_deviation(problem.into()))
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
    use crate::Shape;
    use crate::kernel::tests::{plain, random};
    use std::path::Path;
    use thinfit::Scaling;

    /// Kernel ridge regression.
    pub(super) fn model() -> KernelModel {
        let data = Dataset::new(random(40, 3, 3), random(40, 2, 4)).unwrap();
        let scalers = Scaling::Standard.scalers(data.x.as_ref(), data.y.as_ref());
        let scaled = data.scaled(&scalers);
        let record = Record::of("kernel-ridge", serde_json::Value::Null, 0, 40);
        let kernel = Kernel::single(Shape::Gaussian, vec![1.5; 3]);
        let (expansion, record) =
            Expansion::ridge(kernel, scaled.x, scaled.y.as_ref(), 1e-3, record).unwrap();
        kernel_model(&data, scalers, expansion, record).unwrap()
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
                        let point: Vec<f64> = model.body.points.row(j).iter().copied().collect();
                        model.body.coefficients[(j, o)] * plain(&model.body.kernel, &x, &point)
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

    #[test]
    fn a_file_restores_the_model_to_the_last_bit() {
        let (model, fresh) = (model(), random(30, 3, 6));
        let read = KernelModel::from_json(&model.to_json(), Path::new("m.json")).unwrap();
        let (before, after) = (model.predict(fresh.as_ref()), read.predict(fresh.as_ref()));
        assert_eq!(before.unwrap(), after.unwrap());
        assert_eq!(read.to_json(), model.to_json());
    }

    #[test]
    fn bad_files_are_refused_with_the_reason() {
        let text = model().to_json();
        let read = |text: &str| {
            KernelModel::from_json(text, Path::new("m.json"))
                .unwrap_err()
                .to_string()
        };
        assert!(read(&text[..text.len() / 2]).contains("a truncated file"));
        assert!(read("x1,x2").contains("not JSON"));
        assert!(read("{}").contains("JSON without a format"));
        assert!(read(&text.replace("kernel/1", "kernel/2")).contains("update thinfit"));
        assert!(
            read(&text.replace("thinfit-kernel/1", "thinfit/1")).contains("format `thinfit/1`")
        );
        let spoil = |field: &str, value: serde_json::Value| {
            let mut json: serde_json::Value = serde_json::from_str(&text).unwrap();
            *json.pointer_mut(field).unwrap() = value;
            read(&json.to_string())
        };
        assert!(spoil("/body/points/3", serde_json::json!([1.0])).contains("row 3"));
        assert!(
            spoil("/body/points", serde_json::json!([[1.0]])).contains("points that do not fit")
        );
        assert!(spoil("/body/kernel/lengths/0", 0.0.into()).contains("kernel that does not fit"));
        assert!(
            spoil("/body/kernel/shape", serde_json::json!({"additive": 9})).contains("kernel that")
        );
        assert!(
            spoil("/body/mean", serde_json::json!([])).contains("coefficients that do not fit")
        );
        assert!(spoil("/input_scaler/scale/0", 0.0.into()).contains("input scaling"));
        assert!(spoil("/body/points/0/0", serde_json::Value::Null).contains("invalid content"));
    }
}
