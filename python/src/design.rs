//! Designs of experiments: ranges as JSON in, columns out.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use thinfit_design::{Input, Range, Scheme, Space, Value, plan};
use thinfit_methods::Predictor;
use thinfit_study::Ranges;

use crate::compute::raise;

/// A value of an input.
#[derive(FromPyObject)]
pub enum Given {
    Number(f64),
    Level(String),
}

/// The values of an input, row by row.
#[derive(IntoPyObject)]
pub enum Column {
    Numbers(Vec<f64>),
    Levels(Vec<String>),
}

fn refuse(error: thinfit_design::Error) -> PyErr {
    PyValueError::new_err(format!("`ranges`: {error}"))
}

/// The space of names and ranges as JSON.
///
/// # Errors
/// ValueError: an invalid range.
fn space(ranges: Vec<(String, String)>) -> PyResult<Space> {
    let inputs = ranges.into_iter().map(|(name, text)| {
        let range: Result<Range, _> = serde_json::from_str(&text);
        range
            .map(|range| Input {
                name: name.clone(),
                range,
            })
            .map_err(|error| PyValueError::new_err(format!("`ranges[{name:?}]`: {error}")))
    });
    Space::new(inputs.collect::<PyResult<_>>()?).map_err(refuse)
}

/// Ranges of the columns of a model, by name and as JSON; by default those of the samples.
///
/// # Errors
/// ValueError: an invalid range, or one that does not fit the column.
pub fn ranges(model: &Predictor, given: Vec<(String, String)>) -> PyResult<Ranges> {
    match given.is_empty() {
        true => Ok(Ranges::of(model)),
        false => Ranges::within(model, &space(given)?).map_err(raise),
    }
}

/// `rows` new rows by the scheme of this name, as a column for each input. `ranges` are names, and ranges as JSON; `taken` has a
/// column for each input of the rows that exist.
///
/// # Errors
/// ValueError: an invalid range, an unknown scheme, or a level that the range does not have.
#[pyfunction]
pub fn design(
    py: Python<'_>,
    ranges: Vec<(String, String)>,
    rows: usize,
    scheme: &str,
    taken: Vec<Vec<Given>>,
    seed: u64,
) -> PyResult<Vec<Column>> {
    let scheme = match scheme {
        "maximin" => Scheme::Maximin,
        "latin" => Scheme::Latin,
        "sobol" => Scheme::Sobol,
        "halton" => Scheme::Halton,
        other => {
            let problem =
                format!("`scheme`: expected maximin, latin, sobol or halton, found {other:?}");
            return Err(PyValueError::new_err(problem));
        }
    };
    let space = space(ranges)?;
    let count = taken.first().map_or(0, Vec::len);
    let place = |i: usize, (input, column): (&Input, &Vec<Given>)| {
        let value = match &column[i] {
            Given::Number(number) => Value::Number(*number),
            Given::Level(name) => Value::Level(name),
        };
        input.range.place(value).ok_or_else(|| {
            PyValueError::new_err(format!(
                "`add_to[{:?}]`: expected values in the range, found {value:?} in row {i}",
                input.name
            ))
        })
    };
    let row = |i| {
        let columns = space.inputs().iter().zip(&taken);
        columns.map(|pair| place(i, pair)).collect()
    };
    let taken = (0..count).map(row).collect::<PyResult<Vec<Vec<f64>>>>()?;
    let rows = py
        .detach(|| plan(&space, scheme, rows, &taken, seed))
        .map_err(refuse)?;
    let column = |(j, input): (usize, &Input)| {
        let values = rows.iter().map(|row| input.range.at(row[j]));
        match input.range {
            Range::Levels(_) => Column::Levels(
                values
                    .map(|value| match value {
                        Value::Level(name) => name.to_owned(),
                        Value::Number(number) => number.to_string(),
                    })
                    .collect(),
            ),
            _ => Column::Numbers(
                values
                    .map(|value| match value {
                        Value::Number(number) => input.range.rounded(number),
                        Value::Level(_) => f64::NAN,
                    })
                    .collect(),
            ),
        }
    };
    Ok(space.inputs().iter().enumerate().map(column).collect())
}
