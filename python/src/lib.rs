//! `thinfit._native`: views NumPy arrays, releases the interpreter lock, calls the library and maps its errors.
//!
//! Nothing is computed here. Users see the Python code in `lib/thinfit/`, which passes contiguous float64 arrays, and
//! settings as the JSON of a [`thinfit::Config`].

mod array;
mod compute;
mod design;
mod encoding;
mod export;
mod fit;
mod long;
mod model;
mod program;
mod setting;
mod study;

use pyo3::prelude::*;

/// The native part of the Python package.
#[pymodule]
mod _native {
    #[pymodule_export]
    use super::design::design;
    #[pymodule_export]
    use super::encoding::Encoding;
    #[pymodule_export]
    use super::export::export;
    #[pymodule_export]
    use super::fit::{InterruptedFit, TwoValuesWarning, compare, defaults, fit, preset};
    #[pymodule_export]
    use super::long::{
        conclude, condense, learn, long_names, merge_condensed, merge_surveys, survey,
    };
    #[pymodule_export]
    use super::model::Model;
    #[pymodule_export]
    use super::program::program;
    #[pymodule_export]
    use super::setting::SettingError;
    #[pymodule_export]
    use super::study::{minimise, propagate};
}
