//! Why the program stops early: a message for the user, or a closed pipe.

use std::borrow::Cow;
use std::fmt;
use std::io;

use thinfit_table::{Problem, Remedy};

use crate::memory::{COPIES, rounded};
use crate::shell::quoted;

/// Maximum length of a message in characters.
const LONGEST: usize = 3000;
/// Maximum length of a word in a message, in characters; enough for paths.
const LONGEST_WORD: usize = 1000;

/// The reason to stop early.
#[derive(Debug)]
pub enum Failure {
    /// Something went wrong; the message says what was expected, what was found, where, and what to do next.
    Message(String),
    /// The reader of standard output has closed it, as in `thinfit demo | head -1`, which is not an error.
    ReaderGone,
}

/// A word with the space behind it, cut where it is too long.
fn cut(word: &str) -> Cow<'_, str> {
    match word.char_indices().nth(LONGEST_WORD) {
        Some((end, _)) => format!("{}… ", &word[..end]).into(),
        None => word.into(),
    }
}

impl Failure {
    /// A failure with a message. Of what it quotes, long words are cut; and of a message that is still long, the middle.
    pub fn new(message: impl Into<String>) -> Self {
        let message: String = message.into();
        let words = message.split_inclusive(char::is_whitespace);
        let mut message: String = words.map(cut).collect();
        let count = message.chars().count();
        if count > LONGEST {
            let place = |at: usize| message.char_indices().nth(at).map_or(0, |(place, _)| place);
            let middle = place(LONGEST / 2)..place(count - LONGEST / 2);
            message.replace_range(middle, " … ");
        }
        Failure::Message(message)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Message(message) => out.write_str(message),
            Failure::ReaderGone => out.write_str("standard output was closed"),
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Failure::ReaderGone;
        }
        Failure::new(format!(
            "cannot write to standard output: {error}; redirect it to a disk with free space"
        ))
    }
}

impl From<thinfit::Error> for Failure {
    fn from(error: thinfit::Error) -> Self {
        Failure::new(error.to_string())
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Self {
        Failure::from(io::Error::from(error))
    }
}

impl From<thinfit_table::Error> for Failure {
    fn from(error: thinfit_table::Error) -> Self {
        match &error.problem {
            // Results go to standard output, which its reader may close at any time.
            Problem::Io { source, .. } if source.kind() == io::ErrorKind::BrokenPipe => {
                Failure::ReaderGone
            }
            _ => Failure::new(error.message(in_options)),
        }
    }
}

/// A remedy in terms of the options of the program.
fn in_options(remedy: &Remedy) -> String {
    match remedy {
        Remedy::File(words) => words.clone(),
        Remedy::NotJson => {
            "give a table; the model comes before it, as in `thinfit predict MODEL DATA`".into()
        }
        Remedy::Parquet => {
            "build the program with its default features, or use a released binary".into()
        }
        Remedy::Delimiter => "set the field separator with --delimiter".into(),
        Remedy::Header => {
            "pass --header if it is a header, --no-header if it is the first row".into()
        }
        Remedy::DecimalComma => "pass --decimal-comma if the comma is a decimal comma".into(),
        Remedy::DecimalPoint => "remove --decimal-comma".into(),
        Remedy::SkipRows => "remove --skip-rows".into(),
        Remedy::Array => "name the arrays that make up the table, for instance --array X,y".into(),
        Remedy::Numbers => {
            "thinfit does not classify: choose a numeric column, or encode two classes as 0 and 1"
                .into()
        }
        Remedy::Sheet => "name one with --sheet".into(),
        Remedy::DropRows => "pass --missing drop".into(),
        Remedy::FillMeans => "pass --missing mean".into(),
        Remedy::LeaveOut(column) => {
            format!("drop the column with --drop {}", quoted(column))
        }
        Remedy::FewerColumns => "drop columns with --drop".into(),
        Remedy::Memory(bytes) => format!(
            "pass --memory {} if the machine has that much",
            rounded(bytes.saturating_mul(COPIES))
        ),
    }
}

impl From<thinfit_experiments::functions::UnknownProblem> for Failure {
    fn from(error: thinfit_experiments::functions::UnknownProblem) -> Self {
        Failure::new(error.to_string())
    }
}

impl From<thinfit_experiments::Error> for Failure {
    fn from(error: thinfit_experiments::Error) -> Self {
        Failure::new(error.to_string())
    }
}

impl From<thinfit_experiments::TooFewInputs> for Failure {
    fn from(error: thinfit_experiments::TooFewInputs) -> Self {
        Failure::new(error.to_string())
    }
}

impl From<thinfit_study::Error> for Failure {
    fn from(error: thinfit_study::Error) -> Self {
        match error {
            error @ thinfit_study::Error::Constraint { .. } => {
                Failure::new(format!("--within {error}"))
            }
            error => Failure::new(error.to_string()),
        }
    }
}
