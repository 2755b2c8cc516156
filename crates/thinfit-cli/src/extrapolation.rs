//! Rows outside the ranges of the training samples, where predictions are unreliable: reported, refused or clipped.

use std::io::Write;

use thinfit_methods::{Extrapolation, Predictor};

use crate::terminal;

/// Warns on standard error if rows were outside, where they were predicted.
pub fn warn(outside: &Extrapolation, model: &Predictor) {
    tell(
        outside,
        model,
        "where the model extrapolates; `thinfit inspect` shows the ranges",
    );
}

/// Warns on standard error if rows were outside and are predicted at the nearest place inside.
pub fn warn_clipped(outside: &Extrapolation, model: &Predictor) {
    tell(outside, model, "predicted at the nearest place inside");
}

fn tell(outside: &Extrapolation, model: &Predictor, what: &str) {
    if let Some(words) = outside.words(model) {
        // A warning that cannot be printed is not an error.
        let _ = writeln!(terminal::stderr(), "warning: {words}, {what}");
    }
}
