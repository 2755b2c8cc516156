//! `thinfit._native`: numpy arrays to views, the interpreter released, the library called, errors mapped.
//!
//! Nothing is computed here. What users see is the Python code in `thinfit/`; it hands over arrays of float64 that
//! are contiguous, and settings as JSON, which is the form in which a [`Config`] is read everywhere.

use numpy::{
    PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods,
};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::Value;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use thinfit::file::write_whole;
use thinfit::{Config, Control, Dataset, Error, Mat, MatRef, Precision};

/// Time between two looks at signals (Ctrl-C) and two reports of progress.
const POLL: Duration = Duration::from_millis(100);

/// A fitted network.
#[pyclass(frozen, module = "thinfit._native")]
struct Model(thinfit::Model);

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
struct Indices {
    mean: f64,
    variance: f64,
    first: Vec<f64>,
    total: Vec<f64>,
    second: Vec<Vec<f64>>,
    derivative: Vec<f64>,
    closed_form: bool,
}

/// Fits a network. `settings` is a JSON object that is merged over the preset; `progress(done, validation)` is called
/// about ten times a second.
///
/// The fit has a thread of its own, so that this one can answer Ctrl-C at once. An interrupted fit ends by itself at its
/// next step; its model is dropped.
#[pyfunction]
#[allow(clippy::too_many_arguments, reason = "called from one place, by keyword")]
fn fit<'py>(
    py: Python<'py>,
    x: PyReadonlyArray2<'py, f64>,
    y: PyReadonlyArray2<'py, f64>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    names: (Option<Vec<String>>, Option<Vec<String>>),
    preset: &str,
    settings: &str,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<Model> {
    let config = configure(preset, settings)?;
    let weights = match &weights {
        Some(weights) => Some(weights.as_slice().map_err(layout)?),
        None => None,
    };
    let (x, y) = (view(&x)?, view(&y)?);
    let data = compute(py, threads, || dataset(x, y, weights, names))?;
    let pool = pool(threads)?;
    let watch = Arc::new(Watch::default());
    let (sender, receiver) = channel();
    let observed = Arc::clone(&watch);
    let work = move || {
        let observe = |at: &thinfit::Progress<'_>| observed.step(at);
        let fit = || pool.install(|| thinfit::fit(&data, &config, &observe));
        // The receiver is gone after Ctrl-C.
        let _ = sender.send(catch_unwind(AssertUnwindSafe(fit)));
    };
    let thread = std::thread::Builder::new().name("thinfit".into());
    thread.spawn(work).map_err(PyErr::from)?;
    // std's receiver is not Sync; a Mutex is.
    let receiver = Mutex::new(receiver);
    loop {
        let wait = || {
            let receiver = receiver.lock().unwrap_or_else(PoisonError::into_inner);
            receiver.recv_timeout(POLL)
        };
        let state = py.detach(wait);
        let heard = py.check_signals().and_then(|()| watch.tell(py, &progress));
        match state {
            Ok(result) => {
                heard?;
                return result
                    .map_err(|cause| bug(&message(&*cause)))?
                    .map(Model)
                    .map_err(raise);
            }
            Err(RecvTimeoutError::Disconnected) => return Err(bug("the fit was lost")),
            Err(RecvTimeoutError::Timeout) => {
                if heard.is_err() {
                    watch.stop.store(true, Ordering::Relaxed);
                }
                heard?;
            }
        }
    }
}

/// The fields of a preset as JSON.
#[pyfunction]
fn preset(name: &str) -> PyResult<String> {
    let config = Config::preset(name).map_err(raise)?;
    serde_json::to_string(&config).map_err(|error| bug(&error.to_string()))
}

/// What the thread of a fit and the interpreter's thread tell each other.
#[derive(Default)]
struct Watch {
    stop: AtomicBool,
    /// Fraction done of every run, and the smallest validation error of the last to report.
    at: Mutex<(Vec<f64>, f64)>,
}

impl Watch {
    fn step(&self, progress: &thinfit::Progress<'_>) -> Control {
        let mut at = self.at.lock().unwrap_or_else(PoisonError::into_inner);
        at.0.resize(progress.runs, 0.0);
        at.0[progress.run] = progress.done;
        at.1 = progress.validation;
        match self.stop.load(Ordering::Relaxed) {
            true => Control::Stop,
            false => Control::Continue,
        }
    }

    fn tell(&self, py: Python<'_>, progress: &Option<Py<PyAny>>) -> PyResult<()> {
        let Some(progress) = progress else {
            return Ok(());
        };
        let (done, validation) = {
            let at = self.at.lock().unwrap_or_else(PoisonError::into_inner);
            (at.0.iter().sum::<f64>() / at.0.len().max(1) as f64, at.1)
        };
        progress.call1(py, (done, validation)).map(drop)
    }
}

/// The preset with the settings merged into it, object by object.
fn configure(preset: &str, settings: &str) -> PyResult<Config> {
    fn merge(base: &mut Value, over: Value) {
        match (base, over) {
            (Value::Object(base), Value::Object(over)) => {
                for (key, value) in over {
                    merge(base.entry(key).or_insert(Value::Null), value);
                }
            }
            (base, over) => *base = over,
        }
    }
    let wrong = |error: serde_json::Error| PyValueError::new_err(format!("config: {error}"));
    let mut config =
        serde_json::to_value(Config::preset(preset).map_err(raise)?).map_err(wrong)?;
    merge(&mut config, serde_json::from_str(settings).map_err(wrong)?);
    let config: Config = serde_json::from_value(config).map_err(wrong)?;
    config.check().map_err(raise)?;
    Ok(config)
}

fn dataset(
    x: MatRef<'_, f64>,
    y: MatRef<'_, f64>,
    weights: Option<&[f64]>,
    (inputs, outputs): (Option<Vec<String>>, Option<Vec<String>>),
) -> thinfit::Result<Dataset> {
    let mut data = Dataset::new(x.to_owned(), y.to_owned())?;
    if let Some(weights) = weights {
        data = data.with_weights(weights.to_vec())?;
    }
    let inputs = inputs.unwrap_or_else(|| data.inputs.clone());
    let outputs = outputs.unwrap_or_else(|| data.outputs.clone());
    data.with_names(inputs, outputs)
}

/// Runs `work` on a pool with the interpreter released; a panic becomes a RuntimeError.
fn compute<T: Send>(
    py: Python<'_>,
    threads: usize,
    work: impl FnOnce() -> thinfit::Result<T> + Send,
) -> PyResult<T> {
    let pool = pool(threads)?;
    py.detach(|| catch_unwind(AssertUnwindSafe(|| pool.install(work))))
        .map_err(|cause| bug(&message(&*cause)))?
        .map_err(raise)
}

/// The pool of so many threads of this process; 0 takes all cores.
///
/// Pools are kept, because starting one costs more than a small prediction. The threads of a pool do not survive a fork,
/// so a child process makes its own.
fn pool(threads: usize) -> PyResult<Arc<rayon::ThreadPool>> {
    type Pools = Vec<((u32, usize), Arc<rayon::ThreadPool>)>;
    static POOLS: Mutex<Pools> = Mutex::new(Vec::new());
    let key = (std::process::id(), threads);
    let mut pools = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, pool)) = pools.iter().find(|(other, _)| *other == key) {
        return Ok(Arc::clone(pool));
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(|error| {
        PyValueError::new_err(format!("cannot start {threads} threads: {error}"))
    })?;
    let pool = Arc::new(pool);
    pools.push((key, Arc::clone(&pool)));
    Ok(pool)
}

/// The array as a matrix, without a copy.
fn view<'a>(x: &'a PyReadonlyArray2<'_, f64>) -> PyResult<MatRef<'a, f64>> {
    let [rows, columns] = x.dims();
    let values = x.as_slice().map_err(layout)?;
    Ok(if x.is_c_contiguous() {
        MatRef::from_row_major_slice(values, rows, columns)
    } else {
        MatRef::from_column_major_slice(values, rows, columns)
    })
}

/// The numbers of a matrix column by column, without the padding of its columns, and its shape.
fn flat(a: Mat<f64>) -> (Vec<f64>, [usize; 2]) {
    let mut values = Vec::with_capacity(a.nrows() * a.ncols());
    (0..a.ncols()).for_each(|j| values.extend_from_slice(a.col_as_slice(j)));
    (values, [a.nrows(), a.ncols()])
}

/// Hands numbers to numpy without a copy.
fn array(
    py: Python<'_>,
    (values, shape): (Vec<f64>, [usize; 2]),
) -> PyResult<Bound<'_, PyArray2<f64>>> {
    let order = numpy::npyffi::NPY_ORDER::NPY_FORTRANORDER;
    PyArray1::from_vec(py, values).reshape_with_order(shape, order)
}

fn layout(error: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(format!("expected a contiguous array of float64: {error}"))
}

/// The exception for an error of the library, with its message.
fn raise(error: Error) -> PyErr {
    let text = error.to_string();
    match error {
        Error::Io { source, .. } => std::io::Error::new(source.kind(), text).into(),
        _ => PyValueError::new_err(text),
    }
}

/// The exception for a fault of the program.
fn bug(cause: &str) -> PyErr {
    PyRuntimeError::new_err(format!("a bug in thinfit, please report it: {cause}"))
}

/// The text of a panic.
fn message(cause: &(dyn std::any::Any + Send)) -> String {
    let text = cause.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| cause.downcast_ref::<&str>().copied())
        .unwrap_or("no message")
        .to_owned()
}

/// The native part of the Python package.
#[pymodule]
mod _native {
    #[pymodule_export]
    use super::{Model, fit, preset};
}
