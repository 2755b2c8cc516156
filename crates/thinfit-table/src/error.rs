//! What can go wrong with a table, as values: what was expected, what was found, where, and what to do next.

use std::fmt;
use std::path::{Path, PathBuf};

/// Result with this crate's [`enum@Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// An error of a file or of what is in it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
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
    /// A file that is not what it should be.
    #[error("{path}: expected {expected}, found {found}; {advice}")]
    Format {
        /// The file.
        path: PathBuf,
        /// What should be there.
        expected: String,
        /// What is there.
        found: String,
        /// What to do.
        advice: String,
    },
    /// A row that does not fit the others.
    #[error("{place}: expected {expected}, found {found}; {advice}")]
    Row {
        /// Where.
        place: Place,
        /// What should be there.
        expected: String,
        /// What is there.
        found: String,
        /// What to do.
        advice: &'static str,
    },
    /// A value that no fit can use.
    #[error("{place}: column `{column}` {problem}; {}", either(advice))]
    Value {
        /// Where.
        place: Place,
        /// The name of the column.
        column: String,
        /// What is wrong with the value, for instance ``is `abc`, not a number``.
        problem: String,
        /// What to do: one of these.
        advice: Vec<String>,
    },
    /// A column that is asked for and is not there.
    #[error("{path} has no column `{name}`; {advice}")]
    Column {
        /// The file.
        path: PathBuf,
        /// The name asked for.
        name: String,
        /// The names there are, or the one that was meant.
        advice: String,
    },
    /// Means of columns asked for while reading block by block.
    #[error(
        "{path}: missing values cannot be replaced by means while rows are read in blocks; give complete rows or pass --missing drop"
    )]
    Blockwise {
        /// The file.
        path: PathBuf,
    },
}

/// A row of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file.
    pub path: PathBuf,
    /// The row in it.
    pub position: Position,
}

/// A row, as the user finds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Position {
    /// A line of a text, counted from 1.
    Line(u64),
    /// A row of an array, counted from 1.
    Row(u64),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        match self.position {
            Position::Line(line) => write!(f, "{path}:{line}"),
            Position::Row(row) => write!(f, "{path}, row {row} (counted from 1)"),
        }
    }
}

/// The error of reading `path`.
pub(crate) fn unread(path: &Path, source: std::io::Error) -> Error {
    Error::Io {
        action: "read",
        path: path.into(),
        source,
    }
}

/// The error of a file that is not what it should be.
pub(crate) fn malformed(
    path: &Path,
    expected: impl Into<String>,
    found: impl Into<String>,
    advice: impl Into<String>,
) -> Error {
    Error::Format {
        path: path.into(),
        expected: expected.into(),
        found: found.into(),
        advice: advice.into(),
    }
}

/// Ways out as one phrase: `a, b, or c`.
fn either(ways: &[String]) -> String {
    match ways {
        [] => String::new(),
        [way] => way.clone(),
        [ways @ .., last] => format!("{}, or {last}", ways.join(", ")),
    }
}

/// How to do without a column.
pub(crate) fn leave_out(column: &str) -> String {
    format!(
        "leave the column out of the fit with --drop {}",
        quoted(column)
    )
}

/// A word as a shell takes it.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_-+./:=@%,".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.into(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

/// Bytes of a file as part of a message: at most forty characters, those that do not print escaped.
pub(crate) fn show(bytes: &[u8]) -> String {
    const MOST: usize = 40;
    // A character has at most four bytes, so one more than forty characters are in these.
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(4 * (MOST + 1))]);
    let mut shown: String = text.chars().take(MOST).flat_map(escape).collect();
    if text.chars().nth(MOST).is_some() {
        shown.push('…');
    }
    shown
}

/// The character, or its escape where it would not be seen.
fn escape(c: char) -> impl Iterator<Item = char> {
    let visible = !c.is_control();
    visible
        .then_some(c)
        .into_iter()
        .chain((!visible).then(|| c.escape_default()).into_iter().flatten())
}
