//! Work without the interpreter lock: thread pools, and errors and panics as exceptions.

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use thinfit::Error;

/// Runs `work` on a pool with the interpreter released; a panic becomes a RuntimeError.
pub fn compute<T: Send>(
    py: Python<'_>,
    threads: usize,
    work: impl FnOnce() -> thinfit::Result<T> + Send,
) -> PyResult<T> {
    let pool = pool(threads)?;
    py.detach(|| catch_unwind(AssertUnwindSafe(|| pool.install(work))))
        .map_err(|cause| bug(&message(&*cause)))?
        .map_err(raise)
}

/// Pools by process and number of threads.
type Pools = Vec<((u32, usize), Arc<rayon::ThreadPool>)>;

fn pools() -> MutexGuard<'static, Pools> {
    static POOLS: Mutex<Pools> = Mutex::new(Vec::new());
    POOLS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Leaves the pool of this many threads to the work it is doing: an interrupted fit ends only at its next check, and the
/// next call should not wait for it.
pub fn abandon(threads: usize) {
    pools().retain(|(key, _)| *key != (std::process::id(), threads));
}

/// This process's pool of this many threads; 0 means all cores.
///
/// Pools are kept, because starting one costs more than a small prediction. Threads do not survive a fork, so a child
/// process makes its own.
pub fn pool(threads: usize) -> PyResult<Arc<rayon::ThreadPool>> {
    let key = (std::process::id(), threads);
    let mut pools = pools();
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

/// The exception for an error of the library, with its message in the words of a Python user.
pub fn raise(mut error: Error) -> PyErr {
    match &mut error {
        Error::Shape { what, .. }
        | Error::NotFinite { what, .. }
        | Error::Overflow { what, .. }
        | Error::Data { what, .. } => {
            *what = match *what {
                "x" => "X",
                "weights" => "sample_weight",
                other => other,
            }
        }
        _ => {}
    }
    match error {
        Error::Config {
            field,
            expected,
            found,
        } => PyValueError::new_err(format!("`{field}`: expected {expected}, found {found}")),
        Error::Io { ref source, .. } => {
            std::io::Error::new(source.kind(), error.to_string()).into()
        }
        _ => PyValueError::new_err(error.to_string()),
    }
}

/// The exception for a bug in thinfit.
pub fn bug(cause: &str) -> PyErr {
    PyRuntimeError::new_err(format!("a bug in thinfit, please report it: {cause}"))
}

/// The text of a panic.
pub fn message(cause: &(dyn std::any::Any + Send)) -> String {
    let text = cause.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| cause.downcast_ref::<&str>().copied())
        .unwrap_or("no message")
        .to_owned()
}
