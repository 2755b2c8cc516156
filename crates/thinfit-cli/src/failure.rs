//! Why the program stops: one paragraph for the user, or that no one reads its output any more.

use std::fmt;
use std::io;

/// The reason to stop early.
#[derive(Debug)]
pub enum Failure {
    /// Something went wrong; the text says what was expected, what was found, where, and what to do.
    Message(String),
    /// The reader of standard output is gone, as in `thinfit demo | head -1`; that is no error.
    ReaderGone,
}

impl Failure {
    /// A failure with a message.
    pub fn new(message: impl Into<String>) -> Self {
        Failure::Message(message.into())
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
            "standard output cannot be written: {error}; redirect it to a place with room"
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
        match error {
            // Results go to standard output, whose reader may have seen enough.
            thinfit_table::Error::Io { source, .. }
                if source.kind() == io::ErrorKind::BrokenPipe =>
            {
                Failure::ReaderGone
            }
            error => Failure::new(error.to_string()),
        }
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
