//! A fitted network as a Python object.

use crate::array::{array, flat, view};
use crate::compute::{bug, compute, raise};
use numpy::{PyArray2, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::path::{Path, PathBuf};
use thinfit::Precision;
use thinfit::file::write_whole;

/// A fitted network.
#[pyclass(frozen, module = "thinfit._native")]
pub struct Model(pub thinfit::Model);

#[pymethods]
impl Model {
    #[new]
    fn new(text: &str) -> PyResult<Self> {
        thinfit::Model::from_json(text, Path::new("model"))
            .map(Model)
            .map_err(raise)
    }

    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        py.detach(|| thinfit::Model::load(path))
            .map(Model)
            .map_err(raise)
    }

    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| self.0.save(path)).map_err(raise)
    }

    fn to_json(&self) -> String {
        self.0.to_json()
    }

    /// What pickle hands to `new`.
    fn __getnewargs__(&self) -> (String,) {
        (self.0.to_json(),)
    }

    #[getter]
    fn activation(&self) -> &'static str {
        self.0.activation().name()
    }

    #[getter]
    fn inputs(&self) -> Vec<String> {
        self.0.inputs.clone()
    }

    #[getter]
    fn outputs(&self) -> Vec<String> {
        self.0.outputs.clone()
    }

    #[getter]
    fn domain(&self) -> Vec<[f64; 2]> {
        self.0.domain.clone()
    }

    /// The record of the fit as JSON.
    #[getter]
    fn record(&self) -> PyResult<String> {
        serde_json::to_string(&self.0.record).map_err(|error| bug(&error.to_string()))
    }

    /// Shift and scale of the inputs, then of the outputs.
    #[getter]
    fn scalers(&self) -> [[Vec<f64>; 2]; 2] {
        [&self.0.input_scaler, &self.0.output_scaler].map(|s| [s.shift.clone(), s.scale.clone()])
    }

    /// Hidden and output weights as they are in the file.
    #[getter]
    fn weights(&self) -> (Vec<Vec<f64>>, Vec<Vec<f64>>) {
        (
            self.0.scaled_hidden().to_vec(),
            self.0.scaled_output().to_vec(),
        )
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
        let interval = || self.0.interval(x, level).map(|(a, b)| (flat(a), flat(b)));
        let (low, high) = compute(py, threads, interval)?;
        Ok((array(py, low)?, array(py, high)?))
    }

    fn sensitivity(&self, py: Python<'_>, output: usize, threads: usize) -> PyResult<Indices> {
        let s = compute(py, threads, || self.0.sensitivity(output))?;
        let rows = s.second.row_iter();
        Ok(Indices {
            second: rows.map(|row| row.iter().copied().collect()).collect(),
            mean: s.mean,
            variance: s.variance,
            first: s.first,
            total: s.total,
            derivative: s.derivative,
            closed_form: s.closed_form,
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

    /// The ONNX graph, also written to `path`.
    fn onnx<'py>(
        &self,
        py: Python<'py>,
        precision: &str,
        path: Option<PathBuf>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let precision = match precision {
            "float64" => Precision::F64,
            "float32" => Precision::F32,
            _ => {
                let text = format!("precision: expected float64 or float32, found {precision}");
                return Err(PyValueError::new_err(text));
            }
        };
        let graph = compute(py, 1, || Ok(thinfit_export::onnx(&self.0, precision)))?;
        if let Some(path) = path {
            write_whole(&path, &graph).map_err(raise)?;
        }
        Ok(PyBytes::new(py, &graph))
    }
}

/// [`thinfit::Sensitivity`] as a dict.
#[derive(IntoPyObject)]
pub struct Indices {
    mean: f64,
    variance: f64,
    first: Vec<f64>,
    total: Vec<f64>,
    second: Vec<Vec<f64>>,
    derivative: Vec<f64>,
    closed_form: bool,
}
