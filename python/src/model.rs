//! A fitted model as a Python object.

use crate::array::{array, flat, view};
use crate::compute::{bug, compute, raise};
use crate::design::{Column, ranges};
use crate::encoding::Encoding;
use crate::export::refused;
use numpy::{PyArray2, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::path::{Path, PathBuf};
use thinfit::MatRef;
use thinfit::file::write_whole;
use thinfit_methods::{Extrapolation, InputColumn, Predictor, Setting};
use thinfit_report::Rows;
use thinfit_study::{Aim, Shapley, suggest};

/// A fitted network, or a fitted sum of kernels.
#[pyclass(frozen, module = "thinfit._native")]
pub struct Model(pub Predictor);

#[pymethods]
impl Model {
    #[new]
    fn new(text: &str) -> PyResult<Self> {
        let read = Predictor::from_json(text, Path::new("model"));
        read.map(Model).map_err(raise)
    }

    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let read = py.detach(|| Predictor::load(path));
        read.map(Model).map_err(raise)
    }

    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| self.0.save(path)).map_err(raise)
    }

    fn to_json(&self) -> String {
        self.0.to_json()
    }

    /// What pickle passes to `new`.
    fn __getnewargs__(&self) -> (String,) {
        (self.0.to_json(),)
    }

    /// Name of the method.
    #[getter]
    fn method(&self) -> &str {
        &self.0.record().method
    }

    #[getter]
    fn inputs(&self) -> &[String] {
        self.0.inputs()
    }

    #[getter]
    fn outputs(&self) -> &[String] {
        self.0.outputs()
    }

    #[getter]
    fn encoding(&self) -> Option<Encoding> {
        self.0.encoding().cloned().map(Encoding)
    }

    /// The model with the encoding that made its inputs.
    fn encoded(&self, encoding: &Encoding) -> Self {
        let mut model = self.0.clone();
        model.set_encoding(encoding.0.clone());
        Model(model)
    }

    #[getter]
    fn domain(&self) -> Vec<[f64; 2]> {
        self.0.domain().to_vec()
    }

    /// `network` or `kernel`.
    #[getter]
    fn kind(&self) -> &'static str {
        match self.0 {
            Predictor::Network(_) => "network",
            Predictor::Kernel(_) => "kernel",
        }
    }

    /// What the fit found, as text.
    fn report(&self) -> String {
        self.0.report()
    }

    /// Writes the page of the model, with the rows (x, y) if there are some.
    fn page<'py>(
        &self,
        py: Python<'py>,
        path: PathBuf,
        rows: Option<(PyReadonlyArray2<'py, f64>, PyReadonlyArray2<'py, f64>)>,
        threads: usize,
    ) -> PyResult<()> {
        let rows = match &rows {
            None => None,
            Some((x, y)) => Some(Rows {
                x: view(x)?.to_owned(),
                y: view(y)?.to_owned(),
                numbers: None,
            }),
        };
        let made = || thinfit_report::page(&self.0, rows.as_ref(), &|_| ());
        let page = compute(py, threads, made)?;
        write_whole(&path, page.as_bytes()).map_err(raise)
    }

    /// What to compare `y` with at the rows `x`, where rows of the fit are predicted by models that had not seen them, and which rows
    /// these are: a line for a picture, and whether errors may be smaller than on new rows.
    fn held_out<'py>(
        &self,
        py: Python<'py>,
        x: PyReadonlyArray2<'py, f64>,
        y: PyReadonlyArray2<'py, f64>,
        threads: usize,
    ) -> PyResult<(Bound<'py, PyArray2<f64>>, String, bool)> {
        let (x, y) = (view(&x)?, view(&y)?);
        let compare = || {
            let held_out = self.0.held_out(x, y)?;
            Ok((flat(held_out.predicted), held_out.seen))
        };
        let (predicted, seen) = compute(py, threads, compare)?;
        let caption = seen.caption(y.nrows());
        Ok((array(py, predicted)?, caption, seen.flatters()))
    }

    /// The record of the fit as JSON.
    #[getter]
    fn record(&self) -> PyResult<String> {
        let record = serde_json::to_string(self.0.record());
        record.map_err(|error| bug(&error.to_string()))
    }

    #[getter]
    fn activation(&self) -> PyResult<&'static str> {
        Ok(self.network()?.activation().name())
    }

    /// Shift and scale of the inputs, then of the outputs.
    #[getter]
    fn scalers(&self) -> PyResult<[[Vec<f64>; 2]; 2]> {
        let model = self.network()?;
        Ok([&model.input_scaler, &model.output_scaler].map(|s| [s.shift.clone(), s.scale.clone()]))
    }

    /// Centre and width of the warp of each input, None where it has none.
    #[getter]
    fn warps(&self) -> Vec<Option<(f64, f64)>> {
        let of = |j| self.0.input_scaler().warp_of(j);
        (0..self.0.inputs().len())
            .map(|j| of(j).map(|warp| (warp.centre, warp.width)))
            .collect()
    }

    /// The name of the phase of each check of the learning curve.
    #[getter]
    fn phases(&self) -> Vec<&'static str> {
        let history = self.0.record().history.iter();
        history.map(|check| check.phase().name()).collect()
    }

    /// Hidden and output weights as stored in the file.
    #[getter]
    fn weights(&self) -> PyResult<[Vec<Vec<f64>>; 2]> {
        let model = self.network()?;
        Ok([model.scaled_hidden(), model.scaled_output()].map(rows))
    }

    fn predict<'py>(
        &self,
        py: Python<'py>,
        x: PyReadonlyArray2<'py, f64>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let x = view(&x)?;
        array(py, compute(py, threads, || self.0.predict(x).map(flat))?)
    }

    /// A description of the rows outside the ranges of the samples, if there are any.
    fn outside(&self, x: PyReadonlyArray2<'_, f64>) -> PyResult<Option<String>> {
        let mut outside = Extrapolation::of(&self.0);
        outside.count(&self.0, view(&x)?);
        Ok(outside.words(&self.0))
    }

    fn gradient<'py>(
        &self,
        py: Python<'py>,
        x: PyReadonlyArray2<'py, f64>,
        output: usize,
        threads: usize,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let x = view(&x)?;
        let gradient = || self.0.gradient(x, output).map(flat);
        array(py, compute(py, threads, gradient)?)
    }

    /// Standard deviations of new observations.
    fn deviation<'py>(
        &self,
        py: Python<'py>,
        x: PyReadonlyArray2<'py, f64>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let x = view(&x)?;
        let deviation = || self.0.deviation(x).map(|d| flat(d.observation));
        array(py, compute(py, threads, deviation)?)
    }

    #[allow(clippy::type_complexity, reason = "a pair of arrays")]
    fn interval<'py>(
        &self,
        py: Python<'py>,
        x: PyReadonlyArray2<'py, f64>,
        level: f64,
        threads: usize,
    ) -> PyResult<(Bound<'py, PyArray2<f64>>, Bound<'py, PyArray2<f64>>)> {
        let x = view(&x)?;
        let interval = || {
            let bounds = self.0.interval(x, level)?;
            Ok((flat(bounds.low), flat(bounds.high)))
        };
        let (low, high) = compute(py, threads, interval)?;
        Ok((array(py, low)?, array(py, high)?))
    }

    /// Names, levels, ranges and first inputs of the factors.
    #[getter]
    fn factors(&self) -> Vec<(String, Vec<String>, [f64; 2], usize)> {
        let factors = InputColumn::all(&self.0).into_iter();
        let levels = |factor: &InputColumn| factor.levels.iter().map(|l| l.name.clone()).collect();
        factors
            .map(|factor| {
                (
                    factor.name.clone(),
                    levels(&factor),
                    factor.range,
                    factor.first,
                )
            })
            .collect()
    }

    /// A sentence on factors that depend on each other.
    #[getter]
    fn warning(&self) -> Option<String> {
        self.0.warning()
    }

    /// For each factor, whether the fit found no effect of it.
    #[getter]
    fn undetected(&self) -> Vec<bool> {
        self.0.undetected()
    }

    /// Indices over ranges, as names and ranges as JSON, and, where they are asked for, standard errors of the first-order and total
    /// ones.
    fn sensitivity(
        &self,
        py: Python<'_>,
        output: usize,
        given: Vec<(String, String)>,
        errors: bool,
        threads: usize,
    ) -> PyResult<Indices> {
        let ranges = ranges(&self.0, given)?;
        let (s, errors) = compute(py, threads, || {
            let factors = ranges.factors();
            let found = self.0.sensitivity_over(output, factors, &|_| ())?;
            let errors = errors.then(|| self.0.index_errors(output, factors, &found));
            Ok((found, errors.and_then(Result::ok)))
        })?;
        Ok(Indices {
            errors: errors.map(|errors| [errors.first, errors.total]),
            second: rows(s.second.as_ref()),
            mean: s.mean,
            variance: s.variance,
            first: s.first,
            total: s.total,
            derivative: s.derivative,
            closed_form: s.closed_form,
        })
    }

    /// Shapley effects on rows, their standard errors, and the variance.
    fn shapley<'py>(
        &self,
        py: Python<'py>,
        x: PyReadonlyArray2<'py, f64>,
        output: usize,
        threads: usize,
    ) -> PyResult<Effects> {
        let x = view(&x)?;
        let found = compute(py, threads, || Shapley::of(&self.0, x, output, &|_| ()))?;
        Ok(Effects {
            effects: found.effects,
            standard_error: found.standard_error,
            variance: found.variance,
        })
    }

    fn effect(
        &self,
        py: Python<'_>,
        output: usize,
        input: usize,
        at: Vec<f64>,
        threads: usize,
    ) -> PyResult<Vec<f64>> {
        compute(py, threads, || self.0.effect(output, input, &at))
    }

    /// `rows` new rows for a goal of this name and an output, as a name and values for each column of the user's table. `given` are
    /// names, and ranges as JSON; `kept` columns and the values that they are fixed at, and constraints; `taken` are inputs of rows that count as sampled.
    #[allow(clippy::too_many_arguments, reason = "as Python calls it")]
    fn suggest(
        &self,
        py: Python<'_>,
        rows: usize,
        goal: &str,
        output: usize,
        given: Vec<(String, String)>,
        kept: (Vec<(String, String)>, Vec<String>),
        taken: PyReadonlyArray2<'_, f64>,
        seed: u64,
        threads: usize,
    ) -> PyResult<Vec<(String, Column)>> {
        let goal = match goal {
            "uncertainty" => Aim::Uncertainty,
            "minimum" => Aim::Minimum(output),
            "maximum" => Aim::Maximum(output),
            other => {
                let text =
                    format!("`goal`: expected uncertainty, minimum or maximum, found {other:?}");
                return Err(PyValueError::new_err(text));
            }
        };
        let region = crate::study::region(&self.0, given, &kept.0, &kept.1)?;
        let taken = view(&taken)?;
        let found = || Ok(suggest(&region, goal, rows, taken, seed));
        let found = compute(py, threads, found)?;
        let found = found.map_err(|error| crate::study::refuse("within", error))?;
        let column = |factor: &InputColumn| {
            let rows = (0..found.nrows())
                .map(|i| found.row(i).iter().copied().collect())
                .collect::<Vec<Vec<f64>>>();
            let values = rows.iter().map(|row| factor.setting(row));
            let column = match (&factor.unit, factor.levels.is_empty()) {
                (None, true) => Column::Numbers(rows.iter().map(|row| row[factor.first]).collect()),
                (unit, _) => Column::Levels(
                    values
                        .map(|value| match value {
                            Setting::Level(name) => name.to_owned(),
                            // A column of quantities is read with its unit.
                            Setting::Number(number) => {
                                format!("{number} {}", unit.as_deref().unwrap_or_default())
                            }
                        })
                        .collect(),
                ),
            };
            (factor.name.clone(), column)
        };
        Ok(region.factors().iter().map(column).collect())
    }

    /// The largest difference of exports of this precision from the predictions, in standard deviations of an output.
    fn export_difference(&self, py: Python<'_>, precision: &str) -> PyResult<f64> {
        let precision = crate::export::precision(precision)?;
        let of = || Ok(thinfit_export::difference(&self.0, precision).largest);
        compute(py, 1, of)
    }

    /// The ONNX graph, written to `path` if there is one.
    fn onnx<'py>(
        &self,
        py: Python<'py>,
        precision: &str,
        path: Option<PathBuf>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let precision = crate::export::precision(precision)?;
        let graph = compute(py, 1, || Ok(thinfit_export::onnx(&self.0, precision)))?;
        let graph = graph.map_err(|error| refused(&error))?.bytes;
        if let Some(path) = path {
            write_whole(&path, &graph).map_err(raise)?;
        }
        Ok(PyBytes::new(py, &graph))
    }
}

impl Model {
    fn network(&self) -> PyResult<&thinfit::Model> {
        self.0.network().map_err(raise)
    }
}

/// The rows of a matrix as lists.
fn rows(a: MatRef<'_, f64>) -> Vec<Vec<f64>> {
    let row = |i| a.row(i).iter().copied().collect();
    (0..a.nrows()).map(row).collect()
}

/// [`thinfit_methods::Sensitivity`] as a dict.
#[derive(IntoPyObject)]
pub struct Indices {
    mean: f64,
    variance: f64,
    first: Vec<f64>,
    total: Vec<f64>,
    second: Vec<Vec<f64>>,
    derivative: Vec<f64>,
    closed_form: bool,
    /// Of first-order and total indices; none where the model cannot tell, or where they were not asked for.
    errors: Option<[Vec<f64>; 2]>,
}

/// [`Shapley`] as a dict.
#[derive(IntoPyObject)]
pub struct Effects {
    effects: Vec<f64>,
    standard_error: Vec<f64>,
    variance: f64,
}
