//! A fit on a thread of its own, watched from the interpreter's thread.

use crate::array::{layout, view};
use crate::compute::{bug, compute, message, pool, raise};
use crate::model::Model;
use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::Value;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use thinfit::{Config, Control, Dataset, MatRef};

/// Time between two looks at signals (Ctrl-C) and two reports of progress.
const POLL: Duration = Duration::from_millis(100);

/// Fits a network. `settings` is a JSON object that is merged over the preset; `progress(done, validation)` is called
/// about ten times a second.
///
/// The fit has a thread of its own, so that this one can answer Ctrl-C at once. An interrupted fit ends by itself at its
/// next step; its model is dropped.
#[pyfunction]
#[allow(
    clippy::too_many_arguments,
    reason = "called from one place, by keyword"
)]
pub fn fit<'py>(
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
pub fn preset(name: &str) -> PyResult<String> {
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
    // An object with a key of its own replaces the other: it is another variant (`absolute` for `relative`), or wrong.
    fn merge(base: &mut Value, over: Value) {
        match (base, over) {
            (Value::Object(base), Value::Object(over))
                if over.keys().all(|key| base.contains_key(key)) =>
            {
                for (key, value) in over {
                    merge(&mut base[&key], value);
                }
            }
            (base, over) => *base = over,
        }
    }
    let wrong = |error: serde_json::Error| PyValueError::new_err(format!("config: {error}"));
    let mut config = serde_json::to_value(Config::preset(preset).map_err(raise)?).map_err(wrong)?;
    // Not written with the others; threads are those of the pool.
    config["threads"] = 0.into();
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
