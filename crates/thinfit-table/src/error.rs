//! Errors as values: what was expected, what was found, where, and the remedy. Remedies are variants, so that a
//! program can name its own options.

use crate::latin::decoded;
use crate::text::number;
use std::fmt;
use std::path::{Path, PathBuf};
use thinfit_text::{brief, list, resembles_number};

/// Result with this crate's [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// What is wrong with a table, and the remedies.
///
/// Displayed, the remedies are worded generally; [`Error::message`] uses the wording of the caller.
#[derive(Debug)]
pub struct Error {
    /// What went wrong, and where.
    pub problem: Problem,
    /// Remedies, any one of which suffices.
    pub remedies: Vec<Remedy>,
}

impl Error {
    /// The problem, then the remedies as worded by `words`.
    pub fn message(&self, words: impl Fn(&Remedy) -> String) -> String {
        self.worded(&words)
    }

    fn worded(&self, words: &dyn Fn(&Remedy) -> String) -> String {
        let (problem, before) = match &self.problem {
            Problem::Several { errors, more } => {
                let lines = errors.iter().map(|error| error.worded(words));
                (several(lines, *more), "\n")
            }
            problem => (problem.to_string(), "; "),
        };
        let remedies: Vec<String> = self.remedies.iter().map(words).collect();
        match remedies.as_slice() {
            [] => problem,
            [only] => format!("{problem}{before}{only}"),
            [some @ .., last] => format!("{problem}{before}{}, or {last}", some.join(", ")),
        }
    }

    /// One error for these and `more` that are not listed; `None` if there are none. A common remedy is given once.
    pub fn all(mut errors: Vec<Error>, more: usize) -> Option<Error> {
        if errors.len() < 2 && more == 0 {
            return errors.pop();
        }
        let mut remedies = Vec::new();
        if errors
            .windows(2)
            .all(|two| two[0].remedies == two[1].remedies)
        {
            for error in &mut errors {
                remedies = std::mem::take(&mut error.remedies);
            }
        }
        Some(Error {
            problem: Problem::Several { errors, more },
            remedies,
        })
    }

    /// The error with one more remedy.
    pub(crate) fn or(mut self, remedy: impl Into<Remedy>) -> Self {
        self.remedies.push(remedy.into());
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message(Remedy::to_string))
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.problem.source()
    }
}

impl From<Problem> for Error {
    fn from(problem: Problem) -> Self {
        Error {
            problem,
            remedies: Vec::new(),
        }
    }
}

/// What went wrong with a file or what is in it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
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
    /// A file is not what it should be.
    #[error("{path}: expected {expected}, found {found}")]
    Format {
        /// The file.
        path: PathBuf,
        /// What should be there.
        expected: String,
        /// What is there.
        found: String,
    },
    /// A row does not fit the others.
    #[error("{place}: expected {expected}, found {found}")]
    Row {
        /// Where.
        place: Place,
        /// What should be there.
        expected: String,
        /// What is there.
        found: String,
    },
    /// A value is not a finite number.
    #[error("{place}: column `{column}` {flaw}")]
    Value {
        /// Where.
        place: Place,
        /// The name of the column.
        column: String,
        /// What is wrong with the value, for instance ``is `abc`, not a number``.
        flaw: String,
    },
    /// There is no column of this name.
    #[error("{path} has no column `{name}`; {hint}")]
    Column {
        /// The file.
        path: PathBuf,
        /// The name asked for.
        name: String,
        /// The name that was probably meant, or those there are.
        hint: String,
    },
    /// The numbers take more memory than [`Options::memory`](crate::Options::memory) allows.
    #[error("{path}: {what} {needed} in memory, above the limit of {} for a table", amount(*limit))]
    Memory {
        /// The file.
        path: PathBuf,
        /// The subject and verb of the message.
        what: String,
        /// Bytes that it takes; at least these if it has not been read to its end.
        needed: Amount,
        /// Bytes that it may take.
        limit: u64,
    },
    /// Several values are missing.
    #[error("{}", gaps(table, place, *gappy, *rows, columns))]
    Gaps {
        /// The table, which may be of several files.
        table: Box<Path>,
        /// Where the first is.
        place: Place,
        /// Rows with a gap.
        gappy: usize,
        /// All rows.
        rows: usize,
        /// The columns with gaps, and how many each has; most first.
        columns: Vec<(String, usize)>,
    },
    /// A column holds text where numbers are needed.
    #[error("{place}: column `{column}` holds text ({examples}), not numbers")]
    Text {
        /// Where the first text is.
        place: Place,
        /// The name of the column.
        column: String,
        /// Some of its texts.
        examples: String,
    },
    /// Several things are wrong.
    #[error("{}", several(errors.iter().map(ToString::to_string), *more))]
    Several {
        /// The first of them.
        errors: Vec<Error>,
        /// How many more there are.
        more: usize,
    },
}

/// Several problems, one in a line.
fn several(lines: impl ExactSizeIterator<Item = String>, more: usize) -> String {
    let count = lines.len() + more;
    let lines: Vec<String> = lines.collect();
    let more = match more {
        0 => String::new(),
        more => format!("\n  and {more} more"),
    };
    format!("{count} problems:\n  {}{more}", lines.join("\n  "))
}

/// How many rows have gaps, and where.
fn gaps(
    table: &Path,
    place: &Place,
    gappy: usize,
    rows: usize,
    columns: &[(String, usize)],
) -> String {
    let columns = columns.iter().map(|(name, gaps)| format!("{name}: {gaps}"));
    let have = if gappy == 1 { "has" } else { "have" };
    let first = match place.path == table {
        true => place.position.to_string(),
        false => place.to_string(),
    };
    format!(
        "{}: {gappy} of {rows} rows {have} missing values ({}), the first in {first}",
        table.display(),
        list(columns),
    )
}

/// An amount of memory in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Amount {
    /// About as many.
    About(u64),
    /// More.
    Above(u64),
}

impl Amount {
    /// The number of bytes.
    pub fn bytes(self) -> u64 {
        match self {
            Amount::About(bytes) | Amount::Above(bytes) => bytes,
        }
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Amount::About(bytes) => write!(f, "about {}", amount(*bytes)),
            Amount::Above(bytes) => write!(f, "more than {}", amount(*bytes)),
        }
    }
}

/// Bytes in the largest unit of which there is at least one.
pub fn amount(bytes: u64) -> String {
    let units = [(1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")];
    let size = bytes as f64;
    match units.iter().find(|(unit, _)| size >= *unit) {
        Some((unit, name)) => format!("{:.1} {name}", size / unit),
        None => format!("{bytes} bytes"),
    }
}

/// A remedy for an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Remedy {
    /// Change or replace the file, in these words.
    File(String),
    /// Give a table: this is a JSON file, perhaps a model.
    NotJson,
    /// Build with the feature `parquet`.
    Parquet,
    /// Set [`Options::delimiter`](crate::Options::delimiter).
    Delimiter,
    /// Set [`Options::header`](crate::Options::header).
    Header,
    /// Set [`Options::decimal_comma`](crate::Options::decimal_comma).
    DecimalComma,
    /// Clear [`Options::decimal_comma`](crate::Options::decimal_comma).
    DecimalPoint,
    /// Clear [`Options::skip_rows`](crate::Options::skip_rows).
    SkipRows,
    /// Set [`Options::array`](crate::Options::array).
    Array,
    /// Set [`Options::sheet`](crate::Options::sheet).
    Sheet,
    /// Read with [`Missing::Drop`](crate::Missing::Drop).
    DropRows,
    /// Read with [`Missing::Keep`](crate::Missing::Keep), and put means in the gaps.
    FillMeans,
    /// Do not classify: learn a column of numbers instead.
    Numbers,
    /// Do not select this column.
    LeaveOut(String),
    /// Select fewer columns.
    FewerColumns,
    /// Raise [`Options::memory`](crate::Options::memory) to this many bytes or more.
    Memory(u64),
}

impl fmt::Display for Remedy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Remedy::File(words) => words,
            Remedy::NotJson => "give a table",
            Remedy::Parquet => "build with the feature `parquet`",
            Remedy::Delimiter => "set the field separator",
            Remedy::Header => "say whether the first line is a header",
            Remedy::DecimalComma => "declare the comma a decimal comma",
            Remedy::DecimalPoint => "turn off decimal commas",
            Remedy::SkipRows => "skip no rows",
            Remedy::Array => "name the arrays that make up the table",
            Remedy::DropRows => "drop rows with missing values",
            Remedy::FillMeans => "replace missing values by column means",
            Remedy::Numbers => "choose a numeric column",
            Remedy::Sheet => "name the sheet",
            Remedy::LeaveOut(_) => "drop the column",
            Remedy::FewerColumns => "drop columns",
            Remedy::Memory(_) => "allow more memory",
        })
    }
}

impl From<&str> for Remedy {
    fn from(words: &str) -> Self {
        Remedy::File(words.into())
    }
}

/// A row of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file.
    pub path: PathBuf,
    /// The row in it.
    pub position: Position,
}

/// The row as a user counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Position {
    /// A line of a text, counted from 1.
    Line(u64),
    /// A row of an array, counted from 1.
    Row(u64),
    /// A cell of a sheet: its row, counted from 1, and its column, counted from 0.
    Cell(u64, u32),
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Position::Line(line) => write!(f, "line {line}"),
            Position::Row(row) => write!(f, "row {row} (counted from 1)"),
            Position::Cell(row, column) => write!(f, "{}{row}", letters(*column)),
        }
    }
}

/// A row as a user counts, in one of the files of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Spot {
    /// The place of the file among those of the table.
    pub file: usize,
    pub position: Position,
}

/// The name of a table in messages, and its files if there are several.
#[derive(Debug, Clone)]
pub(crate) struct Paths {
    pub table: PathBuf,
    pub files: Vec<PathBuf>,
}

impl Paths {
    /// The file at this place.
    pub fn file(&self, file: usize) -> &Path {
        self.files.get(file).unwrap_or(&self.table)
    }

    /// The place that a message names.
    pub fn place(&self, spot: Spot) -> Place {
        Place {
            path: self.file(spot.file).to_owned(),
            position: spot.position,
        }
    }
}

/// The letters of a column of a sheet: A, B, …, Z, AA, …
fn letters(column: u32) -> String {
    let last = char::from(b'A' + (column % 26) as u8);
    match column / 26 {
        0 => last.into(),
        rest => format!("{}{last}", letters(rest - 1)),
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        match self.position {
            Position::Line(line) => write!(f, "{path}:{line}"),
            position @ Position::Row(_) => write!(f, "{path}, {position}"),
            // The path ends in the name of the sheet.
            position @ Position::Cell(..) => write!(f, "{path}!{position}"),
        }
    }
}

/// The error of failing to read `path`.
pub(crate) fn unread(path: &Path, source: std::io::Error) -> Error {
    Error::from(Problem::Io {
        action: "read",
        path: path.into(),
        source,
    })
}

/// The error of a file that is not what it should be.
pub(crate) fn malformed(
    path: &Path,
    expected: impl Into<String>,
    found: impl Into<String>,
    remedy: impl Into<Remedy>,
) -> Error {
    Error::from(Problem::Format {
        path: path.into(),
        expected: expected.into(),
        found: found.into(),
    })
    .or(remedy)
}

/// Refuses numbers that take more memory than they may.
pub(crate) fn check_memory(
    path: &Path,
    what: impl FnOnce() -> String,
    needed: Amount,
    limit: Option<u64>,
) -> Result<()> {
    match limit.filter(|limit| needed.bytes() > *limit) {
        None => Ok(()),
        Some(limit) => Err(Error::from(Problem::Memory {
            path: path.into(),
            what: what(),
            needed,
            limit,
        })
        .or(Remedy::FewerColumns)
        .or(Remedy::Memory(needed.bytes()))),
    }
}

/// The error of a text where a number is expected.
pub(crate) fn not_a_number(place: Place, column: &str, text: &[u8]) -> Error {
    let name = show(column.as_bytes());
    let error = Error::from(Problem::Value {
        place,
        flaw: format!("is `{}`, not a number", show(text)),
        column: name.clone(),
    });
    let digits: Vec<u8> = text.iter().filter(|b| **b != b',').copied().collect();
    if digits.len() < text.len() && number(&digits).is_some() {
        error
            .or(Remedy::DecimalComma)
            .or("write numbers without thousands separators")
    } else if resembles_number(&decoded(text)) {
        error
            .or("write plain decimal numbers")
            .or(Remedy::LeaveOut(name))
    } else {
        error.or("correct it").or(Remedy::LeaveOut(name))
    }
}

/// The error of a value that is missing.
pub(crate) fn missing(place: Place, column: &str) -> Error {
    let name = show(column.as_bytes());
    let error = Error::from(Problem::Value {
        place,
        flaw: "has no value".into(),
        column: name.clone(),
    });
    error
        .or("fill it in")
        .or(Remedy::DropRows)
        .or(Remedy::FillMeans)
        .or(Remedy::LeaveOut(name))
}

/// The error without remedies that do not help if every selected column is required.
pub(crate) fn useful(error: Error, needed: bool) -> Error {
    let useless = |remedy: &Remedy| {
        matches!(
            remedy,
            Remedy::LeaveOut(_) | Remedy::FewerColumns | Remedy::FillMeans
        )
    };
    without(error, &|remedy| needed && useless(remedy))
}

/// The error, and all errors that it is made of, without some remedies.
pub(crate) fn without(mut error: Error, useless: &dyn Fn(&Remedy) -> bool) -> Error {
    error.remedies.retain(|remedy| !useless(remedy));
    if let Problem::Several { errors, .. } = &mut error.problem {
        let inner = std::mem::take(errors).into_iter();
        *errors = inner.map(|error| without(error, useless)).collect();
    }
    error
}

/// Bytes of a file for a message: at most forty characters, hidden ones escaped.
pub(crate) fn show(bytes: &[u8]) -> String {
    // A character has at most four bytes, so these hold at least forty-one characters if there are as many.
    let head = &bytes[..bytes.len().min(168)];
    let whole = match str::from_utf8(head) {
        Err(error) if error.error_len().is_none() && head.len() < bytes.len() => {
            error.valid_up_to()
        }
        _ => head.len(),
    };
    brief(&decoded(&head[..whole]))
}
