//! Studies of a fitted model: arguments in, results as JSON out.

use crate::compute::{bug, compute, raise};
use crate::model::Model;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::Serialize;
use thinfit_methods::Predictor;
use thinfit_study::{Block, Error, Given, Goal, Inputs, Optimum, Region};

/// A minimum with what to think of it.
#[derive(Serialize)]
struct Told {
    #[serde(flatten)]
    optimum: Optimum,
    words: Vec<String>,
}

/// The exception for an error about a parameter.
pub fn refuse(parameter: &str, error: Error) -> PyErr {
    match error {
        Error::Model(error) => raise(error),
        error => PyValueError::new_err(format!("`{parameter}`: {error}")),
    }
}

fn json(answer: impl Serialize) -> PyResult<String> {
    serde_json::to_string(&answer).map_err(|error| bug(&error.to_string()))
}

/// Where to look: `ranges` are names and ranges as JSON, `fix` columns and their values, `within` constraints.
///
/// # Errors
/// ValueError: a column that there is not, a value outside its range, or a constraint that cannot be read.
pub fn region<'a>(
    model: &'a Predictor,
    ranges: Vec<(String, String)>,
    fix: &[(String, String)],
    within: &[String],
) -> PyResult<Region<'a>> {
    let mut region = Region::within(model, crate::design::ranges(model, ranges)?);
    for (column, value) in fix {
        let fixed = region.fix(column, value);
        fixed.map_err(|error| refuse("fix", error))?;
    }
    for text in within {
        let required = region.require(text);
        required.map_err(|error| refuse("within", error))?;
    }
    Ok(region)
}

/// The minimum of one goal (output and whether to maximise it) or the front of several, as JSON. `fix` has columns and their values,
/// `within` constraints, `ranges` names and ranges as JSON.
///
/// # Errors
/// ValueError: a column that there is not, a value outside its range, or a constraint that cannot be read or cannot hold.
#[allow(clippy::too_many_arguments, reason = "as Python calls it")]
#[pyfunction]
pub fn minimise(
    py: Python<'_>,
    model: &Model,
    goals: Vec<(usize, bool)>,
    fix: Vec<(String, String)>,
    within: Vec<String>,
    ranges: Vec<(String, String)>,
    seed: u64,
    threads: usize,
) -> PyResult<String> {
    let region = region(&model.0, ranges, &fix, &within)?;
    let goal = |(output, maximise): &(usize, bool)| Goal {
        output: *output,
        maximise: *maximise,
    };
    let goals: Vec<Goal> = goals.iter().map(goal).collect();
    if let [goal] = goals[..] {
        let found = compute(py, threads, || {
            Ok(thinfit_study::minimise(&region, goal, seed))
        })?;
        let optimum = found.map_err(|error| refuse("within", error))?;
        let words = optimum.words();
        return json(Told { optimum, words });
    }
    let found = compute(py, threads, || {
        Ok(thinfit_study::front(&region, &goals, seed))
    })?;
    json(found.map_err(|error| refuse("within", error))?)
}

/// How the outputs are distributed, as JSON, and the sorted values of each output, of the model and of new observations (empty
/// where it has no intervals). `inputs` are names, and distributions as JSON.
///
/// # Errors
/// ValueError: a column that there is not, or a distribution that it cannot have.
#[allow(clippy::type_complexity, reason = "two lists of columns")]
#[pyfunction]
pub fn propagate(
    py: Python<'_>,
    model: &Model,
    inputs: Vec<(String, String)>,
    rows: usize,
    seed: u64,
    threads: usize,
) -> PyResult<(String, Vec<Vec<f64>>, Vec<Vec<f64>>)> {
    let given = inputs.into_iter().map(|(name, text)| {
        let given: Result<Given, _> = serde_json::from_str(&text);
        let given =
            given.map_err(|error| PyValueError::new_err(format!("`inputs[{name:?}]`: {error}")))?;
        Ok((name, given))
    });
    let given = given.collect::<PyResult<Vec<(String, Given)>>>()?;
    let inputs = Inputs::new(&model.0, &given).map_err(|error| refuse("inputs", error))?;
    let drawn = compute(py, threads, || {
        let watch = |_: Block<'_>| Ok::<(), Error>(());
        Ok(thinfit_study::propagate(
            &model.0, &inputs, rows, seed, watch,
        ))
    })?;
    let mut found = drawn.map_err(|error| refuse("inputs", error))?;
    let answer = json(&found)?;
    let values = found.outputs.iter_mut();
    let (values, observations) = values
        .map(|spread| {
            (
                std::mem::take(&mut spread.values),
                std::mem::take(&mut spread.observations),
            )
        })
        .unzip();
    Ok((answer, values, observations))
}
