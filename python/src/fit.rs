//! Fits, each on its own thread, watched from the interpreter's thread.

use crate::array::{layout, view};
use crate::compute::{abandon, bug, compute, message, pool, raise};
use crate::model::Model;
use crate::setting::{invalid, refuse};
use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::create_exception;
use pyo3::exceptions::{PyKeyboardInterrupt, PyUserWarning};
use pyo3::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use thinfit::{Config, Control, Dataset, MatRef, Progress, TwoValues};
use thinfit_cuda::Cuda;
use thinfit_methods::{CONTENDERS, Comparison, Device, Method, Placement, Request};

create_exception!(
    thinfit._native,
    InterruptedFit,
    PyUserWarning,
    "A fit was interrupted by Ctrl-C; the model is the best so far."
);
create_exception!(
    thinfit._native,
    TwoValuesWarning,
    PyUserWarning,
    "An output has only two values, such as 0 and 1; predictions are not probabilities."
);

/// How often to check for signals (Ctrl-C) and report progress.
const POLL: Duration = Duration::from_millis(100);

/// Names of the inputs and of the outputs, if any.
pub type Names = (Option<Vec<String>>, Option<Vec<String>>);

/// Fits by any method. `settings` is a JSON object with the method's name in the field `method`, the seed in `seed` and any
/// of its settings, laid over the preset or the defaults; `progress(done, error)` is called about ten times a second with
/// the fraction done and, where the method has one, the validation error. `device` says where it trains, with a function
/// that loads the libraries of a GPU; none is the processor.
#[pyfunction]
#[pyo3(signature = (x, y, weights, groups, names, preset, settings, threads, progress, device=None))]
#[allow(clippy::too_many_arguments, reason = "called from one place")]
pub fn fit<'py>(
    py: Python<'py>,
    x: PyReadonlyArray2<'py, f64>,
    y: PyReadonlyArray2<'py, f64>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    groups: Option<PyReadonlyArray1<'py, u64>>,
    names: Names,
    preset: Option<&str>,
    settings: &str,
    threads: usize,
    progress: Option<Py<PyAny>>,
    device: Option<(String, Py<PyAny>)>,
) -> PyResult<Model> {
    let layer = serde_json::from_str(settings).map_err(invalid)?;
    // The pool has the threads.
    let request = Request::new(preset, [layer]).map_err(refuse)?;
    let weights = match &weights {
        Some(weights) => Some(weights.as_slice().map_err(layout)?),
        None => None,
    };
    let groups = numbers(groups.as_ref())?;
    let (x, y) = (view(&x)?, view(&y)?);
    let data = compute(py, threads, || dataset(x, y, (weights, groups), names))?;
    let warn = py.import("warnings")?.getattr("warn")?;
    for output in TwoValues::of(&data) {
        // The second frame is that of the caller of `fit`.
        warn.call1((output.to_string(), py.get_type::<TwoValuesWarning>(), 2))?;
    }
    let device = match device {
        Some((name, load)) => place(py, &name, &load, &request, &data)?,
        None => Device::processor(),
    };
    let ((model, left), interrupted) = watched(py, threads, progress, true, move |watch| {
        let model = request.fit_on(&device, &data, &|at| watch.step(at))?;
        Ok((model, device.left().map(ToString::to_string)))
    })?;
    if let Some(why) = left {
        let text = format!("the network was trained on the CPU: {why}");
        warn.call1((text,))?;
    }
    if interrupted {
        let text = match model.record().stopped {
            true => "the fit was interrupted; this is the best model so far",
            false => "the fit was interrupted as it ended; the model is complete",
        };
        // The second frame is that of the caller of `fit`.
        warn.call1((text, py.get_type::<InterruptedFit>(), 2))?;
    }
    Ok(Model(model))
}

/// The device of this name for a fit; `load` loads the libraries that a GPU needs.
fn place(
    py: Python<'_>,
    name: &str,
    load: &Py<PyAny>,
    request: &Request,
    data: &Dataset,
) -> PyResult<Device> {
    let placement: Placement = name.parse().map_err(refuse)?;
    let mut loaded = Ok(());
    let device = placement.device(&request.method, data, || {
        loaded = load.call0(py).map(drop);
        let cuda = py.detach(Cuda::open)?;
        Ok(Device::new(cuda.name().to_owned(), cuda))
    });
    loaded?;
    device.map_err(refuse)
}

/// Compares methods, the default ones if there are none, by folds; the result as JSON.
#[pyfunction]
#[allow(clippy::too_many_arguments, reason = "called from one place")]
pub fn compare<'py>(
    py: Python<'py>,
    x: PyReadonlyArray2<'py, f64>,
    y: PyReadonlyArray2<'py, f64>,
    groups: Option<PyReadonlyArray1<'py, u64>>,
    methods: Option<Vec<String>>,
    folds: usize,
    budget: f64,
    seed: u64,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let (x, y) = (view(&x)?, view(&y)?);
    let groups = numbers(groups.as_ref())?;
    let data = compute(py, threads, || dataset(x, y, (None, groups), (None, None)))?;
    let comparison = Comparison {
        methods: methods.unwrap_or_else(|| CONTENDERS.map(String::from).to_vec()),
        folds,
        budget,
        seed,
    };
    let (compared, _) = watched(py, threads, progress, false, move |watch| {
        comparison.run(&data, &|_, done| watch.step(&Progress::fraction(done)))
    })?;
    serde_json::to_string(&compared).map_err(|error| bug(&error.to_string()))
}

/// Runs `work` on a thread of its own, so that this one can respond to Ctrl-C at once.
///
/// Interrupted work ends when it next checks its [`Watch`]. What it gives is returned if it is `kept`, unless a second Ctrl-C comes
/// first; otherwise it is dropped. The flag says whether one came.
pub fn watched<T: Send + 'static>(
    py: Python<'_>,
    threads: usize,
    progress: Option<Py<PyAny>>,
    kept: bool,
    work: impl FnOnce(&Watch) -> thinfit::Result<T> + Send + 'static,
) -> PyResult<(T, bool)> {
    let pool = pool(threads)?;
    let watch = Arc::new(Watch::default());
    let (sender, receiver) = channel();
    let observed = Arc::clone(&watch);
    let work = move || {
        let work = AssertUnwindSafe(|| pool.install(|| work(&observed)));
        // The receiver is gone after Ctrl-C.
        let _ = sender.send(catch_unwind(work));
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
        if let Err(error) = py.check_signals().and_then(|()| watch.tell(py, &progress)) {
            let again = watch.stop.swap(true, Ordering::Relaxed);
            if again || !kept || !error.is_instance_of::<PyKeyboardInterrupt>(py) {
                abandon(threads);
                return Err(error);
            }
            say(
                py,
                "stopping and keeping the best model so far; interrupt again to quit at once",
            )?;
        }
        match state {
            Ok(result) => {
                let result = result.map_err(|cause| bug(&message(&*cause)))?;
                let interrupted = watch.stop.load(Ordering::Relaxed);
                return match result {
                    // There was nothing to keep yet.
                    Err(_) if interrupted => Err(PyKeyboardInterrupt::new_err(())),
                    result => result.map(|made| (made, interrupted)).map_err(refuse),
                };
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Err(bug("the fit was lost")),
        }
    }
}

/// Prints a line where Python prints warnings.
fn say(py: Python<'_>, line: &str) -> PyResult<()> {
    let stderr = py.import("sys")?.getattr("stderr")?;
    stderr.call_method1("write", (format!("{line}\n"),))?;
    stderr.call_method0("flush").map(drop)
}

/// The fields of a preset as JSON.
#[pyfunction]
pub fn preset(name: &str) -> PyResult<String> {
    let config = Config::preset(name).map_err(raise)?;
    serde_json::to_string(&config).map_err(|error| bug(&error.to_string()))
}

/// The default settings of the method of this name as JSON, if there is one.
#[pyfunction]
pub fn defaults(name: &str) -> PyResult<Option<String>> {
    let settings = Method::named(name).map(|method| serde_json::to_string(&method));
    settings.transpose().map_err(invalid)
}

/// State shared by the thread of a fit and the interpreter's thread.
#[derive(Default)]
pub struct Watch {
    stop: AtomicBool,
    /// Fraction done of each run, and the smallest validation error of the run that reported last.
    at: Mutex<(Vec<f64>, Option<f64>)>,
}

impl Watch {
    pub fn step(&self, at: &Progress<'_>) -> Control {
        {
            let mut seen = self.at.lock().unwrap_or_else(PoisonError::into_inner);
            seen.0.resize(at.runs, 0.0);
            seen.0[at.run] = at.done;
            seen.1 = at.validation;
        }
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

/// The groups as the library takes them.
fn numbers<'a>(groups: Option<&'a PyReadonlyArray1<'_, u64>>) -> PyResult<Option<&'a [u64]>> {
    groups
        .map(|groups| groups.as_slice().map_err(layout))
        .transpose()
}

/// Samples with these names; columns without are named as in the library.
pub fn dataset(
    x: MatRef<'_, f64>,
    y: MatRef<'_, f64>,
    (weights, groups): (Option<&[f64]>, Option<&[u64]>),
    (inputs, outputs): Names,
) -> thinfit::Result<Dataset> {
    let mut data = Dataset::new(x.to_owned(), y.to_owned())?;
    if let Some(weights) = weights {
        data = data.with_weights(weights.to_vec())?;
    }
    if let Some(groups) = groups {
        data = data.with_groups(groups.to_vec())?;
    }
    let inputs = inputs.unwrap_or_else(|| data.inputs.clone());
    let outputs = outputs.unwrap_or_else(|| data.outputs.clone());
    data.with_names(inputs, outputs)
}
