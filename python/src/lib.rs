//! `thinfit._native`: numpy arrays to views, the interpreter released, the library called, errors mapped.
//!
//! Nothing is computed here. What users see is the Python code in `thinfit/`; it hands over arrays of float64 that
//! are contiguous, and settings as JSON, which is the form in which a [`thinfit::Config`] is read everywhere.

mod array;
mod compute;
mod fit;
mod model;

use pyo3::prelude::*;

/// The native part of the Python package.
#[pymodule]
mod _native {
    #[pymodule_export]
    use super::fit::{baseline, fit_baseline, fit_network, preset};
    #[pymodule_export]
    use super::model::Model;
}
