//! What the program does with rows outside the ranges of the training samples, where predictions mean little.

use std::io::Write;

use thinfit_methods::{Outside, Predictor};

use crate::terminal;

/// Warns on standard error if rows were outside.
pub fn warn(outside: &Outside, model: &Predictor) {
    if let Some(words) = outside.words(model) {
        // A warning that no one reads is no reason to fail.
        let _ = writeln!(
            terminal::stderr(),
            "warning: {words}, where the model extrapolates; `thinfit inspect` shows the ranges"
        );
    }
}
