//! Settings from Python: read from JSON, and what is wrong with one as an exception that carries its path.
//!
//! The paths are the library's. Which parameter of an estimator a path belongs to is known in Python (`thinfit/base.py`).

use crate::compute::raise;
use pyo3::create_exception;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::de::DeserializeOwned;
use serde_json::{Error as Invalid, Map, Value};
use serde_path_to_error::Segment;
use thinfit::Error;
use thinfit_methods::Method;

create_exception!(
    thinfit._native,
    SettingError,
    PyValueError,
    "A wrong setting, as (path, problem); the path has a str for each key and an int for each place in a list."
);

/// One step of the path to a setting.
#[derive(IntoPyObject)]
enum Step {
    Key(String),
    Place(usize),
}

impl Step {
    fn of(segment: &Segment) -> Option<Step> {
        match segment {
            Segment::Seq { index } => Some(Step::Place(*index)),
            Segment::Map { key } | Segment::Enum { variant: key } => Some(Step::Key(key.clone())),
            Segment::Unknown => None,
        }
    }
}

/// Reads settings.
pub fn read<T: DeserializeOwned>(settings: Value) -> PyResult<T> {
    serde_path_to_error::deserialize(settings).map_err(|error| {
        let path: Vec<Step> = error.path().iter().filter_map(Step::of).collect();
        SettingError::new_err((path, problem(error.inner())))
    })
}

/// Reads a method and its settings, one by one: serde loses the path inside a tagged enum.
pub fn method(settings: Map<String, Value>) -> PyResult<Method> {
    let method = || ("method".to_owned(), settings["method"].clone());
    for (name, value) in &settings {
        let alone = Map::from_iter([method(), (name.clone(), value.clone())]);
        serde_json::from_value::<Method>(alone.into())
            .map_err(|error| SettingError::new_err((vec![name.clone()], problem(&error))))?;
    }
    read(settings.into())
}

/// The exception for an error of a fit, whose settings may be out of range.
pub fn refuse(error: Error) -> PyErr {
    let Error::Config {
        field,
        expected,
        found,
    } = error
    else {
        return raise(error);
    };
    let path: Vec<Step> = field.split('.').map(|key| Step::Key(key.into())).collect();
    SettingError::new_err((path, format!("expected {expected}, found {found}")))
}

/// The exception for settings that are not JSON.
pub fn invalid(error: Invalid) -> PyErr {
    PyValueError::new_err(format!("settings: {error}"))
}

/// What serde says, with Python's names of types and in our order.
fn problem(error: &Invalid) -> String {
    let text = error.to_string();
    let Some((found, expected)) = text.rsplit_once(", expected ") else {
        return match text.contains("untagged enum") {
            true => "expected another kind of value; see the documentation of the parameter".into(),
            false => text,
        };
    };
    let kinds = ["invalid type: ", "invalid value: ", "invalid "];
    let kinds = kinds.iter().chain(&["unknown variant ", "unknown field "]);
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
