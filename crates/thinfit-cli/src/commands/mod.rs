//! The commands, one file each: they turn arguments into library calls and results into files and reports.

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

use thinfit_methods::{InputColumn, Predictor};
use thinfit_study::{Ranges, Region};

use crate::failure::Failure;
use crate::memory::Memory;

/// The ranges of a file for the columns of the model, where one was given; otherwise those of the samples.
fn ranges(path: Option<&Path>, model: &Predictor) -> Result<Ranges, Failure> {
    match path {
        None => Ok(Ranges::of(model)),
        Some(path) => Ok(Ranges::within(model, &design::space(path)?)?),
    }
}

/// The region of a search: ranges, fixed columns and constraints.
fn region<'a>(
    model: &'a Predictor,
    path: Option<&Path>,
    fix: &[String],
    within: &[String],
) -> Result<Region<'a>, Failure> {
    let mut region = Region::within(model, ranges(path, model)?);
    for given in fix {
        let flaw = |problem: String| Failure::new(format!("--fix {given}: {problem}"));
        let (column, value) = assigned(region.factors(), given)
            .ok_or_else(|| flaw("expected a column and its value, such as x1=3".into()))?;
        region
            .fix(column, value)
            .map_err(|error| flaw(error.to_string()))?;
    }
    for text in within {
        region.require(text)?;
    }
    Ok(region)
}

/// The column and the value in `x1=3`; names may have the sign in them.
fn assigned<'a>(factors: &[InputColumn], text: &'a str) -> Option<(&'a str, &'a str)> {
    let split = |(at, _)| (text[..at].trim(), text[at + 1..].trim());
    let mut pairs = text.match_indices('=').map(split);
    let known = pairs.find(|(name, _)| factors.iter().any(|factor| factor.name == *name));
    known.or_else(|| {
        text.split_once('=')
            .map(|(name, value)| (name.trim(), value.trim()))
    })
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
