//! The samples of a fit: drawn from a built-in function, or read from the file that the page passed in.

use crate::answer::Answer;
use crate::locked;
use crate::request::Source;
use serde_json::json;
use std::path::Path;
use std::sync::Mutex;
use thinfit::{Dataset, Mat};
use thinfit_experiments::functions::{add_noise, input_names};
use thinfit_experiments::{Problem, Split};
use thinfit_table::{Options, Reader, Remedy};

/// Maximum memory for the numbers of a table; a browser tab has little.
const MEMORY: u64 = 256 << 20;
/// Maximum number of samples of a function.
const MOST: usize = 20_000;
/// Test points that errors are measured on.
const TEST: usize = 1000;

/// The file.
static FILE: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// Keeps the bytes of a file.
pub fn keep(bytes: Vec<u8>) {
    *locked(&FILE) = bytes;
}

/// What a fit learns from, and what its error is measured on.
pub struct Samples {
    /// The samples.
    pub data: Dataset,
    /// The function, and fresh points of it without noise; none for a table.
    pub truth: Option<(Problem, Dataset)>,
}

impl Samples {
    /// Draws or reads the samples.
    ///
    /// # Errors
    /// A function that does not exist, or a file that is no such table.
    pub fn new(source: &Source, seed: u64) -> Result<Self, String> {
        match source {
            Source::Function {
                name,
                samples,
                noise,
            } => drawn(name, *samples, *noise, seed),
            Source::Table {
                name,
                target,
                inputs,
            } => Ok(Samples {
                data: read(name, target, inputs)?,
                truth: None,
            }),
        }
    }
}

/// Samples of a function, as `thinfit data` draws them.
fn drawn(name: &str, samples: usize, noise: f64, seed: u64) -> Result<Samples, String> {
    if !(10..=MOST).contains(&samples) {
        return Err(format!("samples: expected 10 to {MOST}, found {samples}"));
    }
    if !(noise.is_finite() && noise >= 0.0) {
        return Err(format!(
            "noise: expected a number of at least 0, found {noise}"
        ));
    }
    let problem: Problem = name.parse().map_err(text)?;
    let dim = problem.settings()[0].0;
    let sample = |rows: usize, split: Split, noise: f64| {
        let mut sample = problem.sample(dim, rows, seed, split).map_err(text)?;
        add_noise(sample.y.col_as_slice_mut(0), noise, seed);
        let data = Dataset::new(sample.x, sample.y).map_err(text)?;
        data.with_names(input_names(dim), vec!["y".into()])
            .map_err(text)
    };
    Ok(Samples {
        data: sample(samples, Split::Train, noise)?,
        truth: Some((problem, sample(TEST, Split::Test, 0.0)?)),
    })
}

/// The columns of the file.
pub fn columns(name: &str) -> Answer {
    Ok(json!({ "columns": open(name)?.names() }))
}

/// Opens the file.
fn open(name: &str) -> Result<Reader, String> {
    let options = Options {
        memory: Some(MEMORY),
        ..Options::default()
    };
    Reader::from_bytes(Path::new(name), locked(&FILE).clone(), &options).map_err(in_words)
}

/// Reads these columns.
fn read(name: &str, target: &str, inputs: &[String]) -> Result<Dataset, String> {
    if inputs.is_empty() {
        return Err("no input columns are left; tick some".into());
    }
    if inputs.iter().any(|input| input == target) {
        return Err(format!(
            "`{target}` is the target; it cannot be an input too"
        ));
    }
    let mut reader = open(name)?;
    let wanted = inputs.iter().map(String::as_str).chain([target]);
    let columns = wanted.map(|column| reader.column(column));
    let columns: Vec<usize> = columns.collect::<Result<_, _>>().map_err(in_words)?;
    reader.select(&columns);
    let table = reader.read().map_err(in_words)?;
    let d = inputs.len();
    let part = |from: usize, count: usize| -> Mat<f64> {
        table.x.as_ref().subcols(from, count).to_owned()
    };
    let data = Dataset::new(part(0, d), part(d, 1)).map_err(text)?;
    data.with_names(inputs.to_vec(), vec![target.into()])
        .map_err(text)
}

/// What is wrong with a table, with remedies that the page has.
fn in_words(error: thinfit_table::Error) -> String {
    error.message(|remedy| match remedy {
        Remedy::LeaveOut(column) => format!("remove `{column}` from the inputs"),
        Remedy::FewerColumns => "remove columns from the inputs".into(),
        Remedy::Memory(_) => "use the program, which has no such limit".into(),
        other => other.to_string(),
    })
}

/// The words of an error.
pub fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}
