//! Exports of a model to other languages.

use crate::compute::{compute, raise};
use crate::model::Model;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::path::PathBuf;
use thinfit::Precision;
use thinfit::file::write_whole;
use thinfit_export::{Inaccurate, Language, files};

/// The floating-point type of this name.
pub fn precision(name: &str) -> PyResult<Precision> {
    match name {
        "float64" => Ok(Precision::F64),
        "float32" => Ok(Precision::F32),
        _ => Err(PyValueError::new_err(format!(
            "`precision`: expected `float64` or `float32`, found `{name}`"
        ))),
    }
}

/// The error of an export that differs too much from the model.
pub fn refused(error: &Inaccurate) -> PyErr {
    let advice = match error.precision {
        Precision::F32 => "use precision=\"float64\"",
        Precision::F64 => {
            "its terms cancel too far for other programs to reproduce it; fit a network, or a process with a larger `least_noise`"
        }
    };
    PyValueError::new_err(format!("{error}; {advice}"))
}

/// Writes the model to `path`, and for C a header next to it; returns the files.
#[pyfunction]
pub fn export(
    py: Python<'_>,
    model: &Model,
    path: PathBuf,
    language: &str,
    precision: &str,
    digits: usize,
) -> PyResult<Vec<PathBuf>> {
    let language = match language {
        "onnx" => Language::Onnx(self::precision(precision)?),
        "c" => Language::C,
        "python" => Language::Python,
        "javascript" => Language::JavaScript,
        "latex" => Language::Latex(digits),
        _ => {
            return Err(PyValueError::new_err(format!(
                "`language`: expected `onnx`, `c`, `python`, `javascript` or `latex`, found `{language}`"
            )));
        }
    };
    if language.header(&path).as_ref() == Some(&path) {
        return Err(PyValueError::new_err(format!(
            "{}: this would be the name of the header; give the C source a name that ends in .c",
            path.display()
        )));
    }
    let exported = compute(py, 1, || Ok(files(&model.0, language, &path)))?;
    let written = exported.map_err(|error| refused(&error))?.files;
    let write = |(path, content): (PathBuf, Vec<u8>)| {
        write_whole(&path, &content).map_err(raise)?;
        Ok(path)
    };
    written.into_iter().map(write).collect()
}
