//! The program `thinfit`, for the command that the package installs.

use pyo3::prelude::*;
use std::ffi::OsString;

/// Runs the program with these arguments, its own name first, and returns its exit code.
#[pyfunction]
pub fn program(py: Python<'_>, words: Vec<OsString>) -> u8 {
    py.detach(|| thinfit_cli::run(words))
}
