//! Invalid settings as an exception with the path of the setting.
//!
//! Paths are those of the library. Python (`thinfit/base.py`) knows which parameter of an estimator a path belongs
//! to.

use crate::compute::raise;
use pyo3::create_exception;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use thinfit::Error;

create_exception!(
    thinfit._native,
    SettingError,
    PyValueError,
    "An invalid setting, as (path, problem); the path has a str for each key and an int for each index of a list."
);

/// One step of the path to a setting.
#[derive(IntoPyObject)]
enum Step {
    Key(String),
    Place(usize),
}

/// The steps of a path such as `polish.starts[1].kappa`.
fn steps(path: &str) -> Vec<Step> {
    let step = |part: &str| match part.strip_suffix(']').map(str::parse) {
        Some(Ok(place)) => Step::Place(place),
        _ => Step::Key(part.into()),
    };
    let parts = path.split(['.', '[']).filter(|part| !part.is_empty());
    parts.map(step).collect()
}

/// The exception for an error of a fit, whose settings may be unreadable or out of range.
pub fn refuse(error: Error) -> PyErr {
    match error {
        Error::Setting { field, problem } => {
            SettingError::new_err((steps(&field), in_python(&problem)))
        }
        Error::Config {
            field,
            expected,
            found,
        } => SettingError::new_err((steps(field), format!("expected {expected}, found {found}"))),
        error => raise(error),
    }
}

/// The exception for settings that are not JSON.
pub fn invalid(error: serde_json::Error) -> PyErr {
    PyValueError::new_err(format!("settings: {error}"))
}

/// What serde says, with Python's names of types and in our order.
fn in_python(text: &str) -> String {
    let Some((found, expected)) = text.rsplit_once(", expected ") else {
        return text.into();
    };
    let kinds = ["invalid type: ", "invalid value: ", "invalid "];
    let kinds = kinds
        .iter()
        .chain(&["unknown variant ", "unknown field ", "found "]);
    let found = kinds
        .filter_map(|kind| found.strip_prefix(kind))
        .next()
        .unwrap_or(found);
    let expected = match expected {
        "f64" => "a number",
        "usize" | "u64" => "a whole number of at least 0",
        "string or map" => "a string or a dict",
        _ if expected.starts_with("struct ") => "a dict",
        _ => expected,
    };
    let found = match found {
        "null" => "None",
        "boolean `true`" => "True",
        "boolean `false`" => "False",
        "map" => "a dict",
        "sequence" => "a list",
        _ => found,
    };
    format!("expected {expected}, found {found}")
}
