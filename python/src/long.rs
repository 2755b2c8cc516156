//! The steps of the default fit for distributed tables. Python transports the bytes and texts between them.

use crate::array::view;
use crate::compute::{bug, compute};
use crate::fit::{Names, dataset, watched};
use crate::model::Model;
use crate::setting::{invalid, refuse};
use numpy::PyReadonlyArray2;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use serde::de::DeserializeOwned;
use thinfit::file::fnv1a;
use thinfit::{Block, Draft, Error, Mat, MatRef, Mergeable, Survey, TsqrPass};
use thinfit_methods::{Auto, Learned, Method, Request};

/// Checks settings and names before any row is read. The names of all columns, which are those of an array where none are given.
#[pyfunction]
pub fn long_names(
    settings: &str,
    names: Names,
    shape: (usize, usize),
) -> PyResult<(Vec<String>, Vec<String>)> {
    auto(settings)?;
    // A row of zeros is named as any table is.
    let (x, y) = (Mat::zeros(1, shape.0), Mat::zeros(1, shape.1));
    let row = dataset(x.as_ref(), y.as_ref(), (None, None), names).map_err(refuse)?;
    Ok((row.inputs, row.outputs))
}

/// What a first look at some rows of a table finds, of which the first has this number.
#[pyfunction]
pub fn survey<'py>(
    py: Python<'py>,
    x: PyReadonlyArray2<'py, f64>,
    y: PyReadonlyArray2<'py, f64>,
    first: u64,
    settings: &str,
    threads: usize,
) -> PyResult<Bound<'py, PyBytes>> {
    let (_, seed) = auto(settings)?;
    let (x, y) = (view(&x)?, view(&y)?);
    let words = compute(py, threads, || {
        let shape = (x.ncols(), y.ncols());
        let mut survey = Survey::new(shape, Auto::sample_rows(shape.0, shape.1), seed);
        survey.add(block(x, y, first)?);
        Ok(survey.pack())
    })?;
    Ok(bytes(py, &words))
}

/// The survey of the rows of both.
#[pyfunction]
pub fn merge_surveys(
    py: Python<'_>,
    one: PyBackedBytes,
    other: PyBackedBytes,
) -> PyResult<Bound<'_, PyBytes>> {
    let words = compute(py, 1, || {
        let mut survey = Survey::unpack(&words(&one))?;
        survey.merge(&words(&other))?;
        Ok(survey.pack())
    })?;
    Ok(bytes(py, &words))
}

/// What the survey of all rows tells, and the network whose output weights all rows are to give; none where a part is enough.
/// Both are JSON
/// with a checksum.
#[pyfunction]
pub fn learn(
    py: Python<'_>,
    survey: PyBackedBytes,
    names: (Vec<String>, Vec<String>),
    settings: &str,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<(String, Option<String>)> {
    let (auto, seed) = auto(settings)?;
    let (learned, _) = watched(py, threads, progress, false, move |watch| {
        let survey = Survey::unpack(&words(&survey))?;
        let names = (names.0.as_slice(), names.1.as_slice());
        auto.learn(&survey, names, seed, &|at| watch.step(at))
    })?;
    let json = |error: serde_json::Error| bug(&error.to_string());
    let draft = learned.draft().map(serde_json::to_string);
    let draft = draft.transpose().map_err(json)?;
    let learned = serde_json::to_string(&learned).map_err(json)?;
    Ok((sealed(&learned), draft.as_deref().map(sealed)))
}

/// What the draft of a network needs of some rows, of which the first has this number.
#[pyfunction]
pub fn condense<'py>(
    py: Python<'py>,
    draft: &str,
    x: PyReadonlyArray2<'py, f64>,
    y: PyReadonlyArray2<'py, f64>,
    first: u64,
    threads: usize,
) -> PyResult<Bound<'py, PyBytes>> {
    let draft: Draft = opened(draft)?;
    let (x, y) = (view(&x)?, view(&y)?);
    let words = compute(py, threads, || {
        let expected = (
            draft.input_scaler.scale.len(),
            draft.output_scaler.scale.len(),
        );
        if expected != (x.ncols(), y.ncols()) {
            return Err(Error::Shape {
                what: "X and y",
                expected: format!("{} and {} columns", expected.0, expected.1),
                found: format!("{} and {}", x.ncols(), y.ncols()),
            });
        }
        Ok(draft.tsqr_block(block(x, y, first)?).pack())
    })?;
    Ok(bytes(py, &words))
}

/// The condensed rows of both, of which those of `next` follow.
#[pyfunction]
pub fn merge_condensed<'py>(
    py: Python<'py>,
    draft: &str,
    one: PyBackedBytes,
    next: PyBackedBytes,
) -> PyResult<Bound<'py, PyBytes>> {
    let draft: Draft = opened(draft)?;
    let words = compute(py, 1, || {
        let mut rows = TsqrPass::new(&draft);
        rows.merge(&words(&one))?;
        rows.merge(&words(&next))?;
        Ok(rows.pack())
    })?;
    Ok(bytes(py, &words))
}

/// The model, from what was learned and the condensed rows of the whole table, if there is a network that needs them.
#[pyfunction]
pub fn conclude(
    py: Python<'_>,
    survey: PyBackedBytes,
    names: (Vec<String>, Vec<String>),
    learned: &str,
    condensed: Option<PyBackedBytes>,
    settings: &str,
    threads: usize,
) -> PyResult<Model> {
    let (auto, seed) = auto(settings)?;
    let learned: Learned = opened(learned)?;
    let model = compute(py, threads, || {
        let survey = Survey::unpack(&words(&survey))?;
        let condensed = match (condensed, learned.draft()) {
            (Some(rows), Some(draft)) => {
                let mut all = TsqrPass::new(draft);
                all.merge(&words(&rows))?;
                Some(all.finish(&survey)?)
            }
            _ => None,
        };
        let names = (names.0.as_slice(), names.1.as_slice());
        auto.conclude_long(&survey, names, learned, condensed, seed)
    })?;
    Ok(Model(model))
}

/// A text with its checksum before it.
fn sealed(text: &str) -> String {
    format!("{:016x} {text}", fnv1a(text.bytes()))
}

/// What such a text says.
fn opened<T: DeserializeOwned>(message: &str) -> PyResult<T> {
    match message.split_once(' ') {
        Some((_, text)) if sealed(text) == message => serde_json::from_str(text).map_err(invalid),
        _ => Err(refuse(Error::Shape {
            what: "message of another process",
            expected: "a text with its checksum".into(),
            found: "one that was damaged on its way".into(),
        })),
    }
}

/// The settings of the default fit, and its seed.
fn auto(settings: &str) -> PyResult<(Auto, u64)> {
    let layer = serde_json::from_str(settings).map_err(invalid)?;
    let request = Request::new(None, [layer]).map_err(refuse)?;
    match request.method {
        Method::Auto(auto) => Ok((auto, request.seed)),
        other => Err(refuse(Error::Setting {
            field: "method".into(),
            problem: format!("expected auto, found {}", other.name()),
        })),
    }
}

fn block<'a>(x: MatRef<'a, f64>, y: MatRef<'a, f64>, first: u64) -> thinfit::Result<Block<'a>> {
    match x.nrows() == y.nrows() {
        true => Ok(Block { first, x, y }),
        false => Err(Error::Shape {
            what: "y",
            expected: format!("{} rows, as in X", x.nrows()),
            found: format!("{} rows", y.nrows()),
        }),
    }
}

/// Words as bytes that any machine reads.
fn bytes<'py>(py: Python<'py>, words: &[u64]) -> Bound<'py, PyBytes> {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    PyBytes::new(py, &bytes)
}

/// The words of such bytes; what is left over is a word of its own, so that too many of them are noticed.
fn words(bytes: &[u8]) -> Vec<u64> {
    let (words, rest) = bytes.as_chunks();
    let words = words.iter().map(|word| u64::from_le_bytes(*word));
    words
        .chain(rest.iter().map(|byte| u64::from(*byte)))
        .collect()
}
