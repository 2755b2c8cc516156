//! The commands, one file each: arguments in, library calls, a file or a report out.

pub mod compare;
pub mod data;
pub mod demo;
pub mod design;
pub mod export;
pub mod fit;
pub mod inspect;
pub mod minimise;
pub mod plot;
pub mod predict;
pub mod propagate;
pub mod report;
pub mod reproduce;
pub mod score;
pub mod suggest;

use std::path::Path;

use thinfit_methods::Predictor;
use thinfit_study::Ranges;

use crate::failure::Failure;
use crate::memory::Memory;

/// The ranges of a file for the columns of the model, where one was given; otherwise those of the samples.
fn ranges(path: Option<&Path>, model: &Predictor) -> Result<Ranges, Failure> {
    match path {
        None => Ok(Ranges::of(model)),
        Some(path) => Ok(Ranges::within(model, &design::space(path)?)?),
    }
}

/// The model that a command was given.
fn load(path: &Path, memory: Memory) -> Result<Predictor, Failure> {
    Ok(Predictor::load_within(path, memory.of_model(path)?)?)
}

/// The model that `command` was given before a table.
fn load_before_table(path: &Path, memory: Memory, command: &str) -> Result<Predictor, Failure> {
    Predictor::load_within(path, memory.of_model(path)?).map_err(|error| match error {
        error @ thinfit::Error::Format { .. } => Failure::new(format!(
            "{error}; the model comes before the table, as in `thinfit {command} MODEL DATA`"
        )),
        error => error.into(),
    })
}
