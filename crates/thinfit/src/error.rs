//! Errors as values: each says what was expected, what was found, where, and what to do next.

use std::path::PathBuf;
use thinfit_text::shown;

/// Result with this crate's [`enum@Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// An error in data, settings or files. A bug is a panic instead.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Two shapes that should agree do not.
    #[error("{what}: expected {expected}, found {found}")]
    Shape {
        /// What was being matched.
        what: &'static str,
        /// The shape that was needed.
        expected: String,
        /// The shape that was given.
        found: String,
    },
    /// A value that is NaN or infinite, or whose square would be.
    #[error("{what} has the value {value:?} at row {row}, column {column}; {}", unusable(*value))]
    NotFinite {
        /// Which table: `x`, `y` or `weights`.
        what: &'static str,
        /// Row, counted from 0.
        row: usize,
        /// Column, counted from 0.
        column: usize,
        /// The value found.
        value: f64,
    },
    /// A row at which a model has no finite value: products of large inputs and weights may overflow.
    #[error(
        "{what}: the prediction overflows at row {row}; give rows near the training data, or fit the model again"
    )]
    Overflow {
        /// Which table.
        what: &'static str,
        /// Row, counted from 0.
        row: usize,
    },
    /// A cell of another kind than those of its column in the samples.
    #[error(
        "column `{column}`, row {row}: expected {expected}, found {}; {}",
        shown(found),
        mended(found)
    )]
    Cell {
        /// Name of the column.
        column: String,
        /// Row, counted from 0.
        row: usize,
        /// What should be there.
        expected: String,
        /// The text there, as in the table; none where the cell is empty, or the column holds no text.
        text: Option<String>,
        /// What is there, as messages show it.
        found: String,
    },
    /// Too few samples, inputs or outputs.
    #[error("expected at least {needed} {what}, found {found}; {advice}")]
    TooFew {
        /// What is missing.
        what: &'static str,
        /// The minimum number.
        needed: usize,
        /// The number found.
        found: usize,
        /// What to do.
        advice: &'static str,
    },
    /// Data that cannot be fitted, such as a negative weight or numbers whose squares overflow.
    #[error("{what}: {problem}; {advice}")]
    Data {
        /// Which table.
        what: &'static str,
        /// What is wrong with it.
        problem: String,
        /// What to do.
        advice: &'static str,
    },
    /// A setting that is out of range.
    #[error("config field `{field}`: expected {expected}, found {found}")]
    Config {
        /// The field's name as written in a configuration file.
        field: &'static str,
        /// Its allowed values.
        expected: &'static str,
        /// The value found.
        found: String,
    },
    /// A setting in a file or a request that cannot be read.
    #[error("`{field}`: {problem}")]
    Setting {
        /// The setting's name, qualified by its tables.
        field: String,
        /// What is wrong with it.
        problem: String,
    },
    /// Numbers overflowed or became NaN, and no step could recover.
    #[error("{what} is not finite at step {step}; {advice}")]
    Diverged {
        /// Which quantity.
        what: &'static str,
        /// The step at which it happened.
        step: usize,
        /// What to do.
        advice: &'static str,
    },
    /// A device that cannot be used.
    #[error("{device}: {problem}; {advice}")]
    Device {
        /// Its name.
        device: String,
        /// What was found.
        problem: String,
        /// What to do.
        advice: &'static str,
    },
    /// A file that is larger than the caller reads.
    #[error("{path}: expected a file of at most {} MB, found {}; {advice}", most / 1_000_000, larger(found))]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Maximum number of bytes.
        most: u64,
        /// Its bytes, unless it is a stream.
        found: Option<u64>,
        /// What to do.
        advice: &'static str,
    },
    /// A file could not be read or written.
    #[error("cannot {action} {path}: {source}")]
    Io {
        /// `read` or `write`.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// A file in the wrong format.
    #[error("{path}: expected {expected}, found {found}; {advice}")]
    Format {
        /// The file, or `model` if there is none.
        path: PathBuf,
        /// What should be there.
        expected: String,
        /// What is there.
        found: String,
        /// What to do.
        advice: &'static str,
    },
}

/// What is wrong with a value of [`Error::NotFinite`].
fn unusable(value: f64) -> &'static str {
    match value.is_finite() {
        true => "it is beyond 1e150, so use other units",
        false => "expected finite numbers, so drop or correct this row",
    }
}

/// What to do with a cell of another kind than those of its column in the samples.
fn mended(found: &str) -> &'static str {
    match found {
        "nothing" => "fill it in, or drop the row",
        _ => "correct it, or fit the model to such rows",
    }
}

/// The size of a file as text.
fn larger(found: &Option<u64>) -> String {
    match found {
        Some(bytes) => format!("{} MB", bytes / 1_000_000),
        None => "a stream of more".into(),
    }
}

/// Rejects a setting that is out of range.
///
/// # Errors
/// [`Error::Config`], unless it holds.
pub fn require(
    holds: bool,
    field: &'static str,
    expected: &'static str,
    found: impl ToString,
) -> Result<()> {
    match holds {
        true => Ok(()),
        false => Err(Error::Config {
            field,
            expected,
            found: found.to_string(),
        }),
    }
}
