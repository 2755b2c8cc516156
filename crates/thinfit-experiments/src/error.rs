//! Why an experiment could not be run.

use std::path::PathBuf;

use crate::{TooFewInputs, UciError};

/// An error of data, fits or files.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Measured data are not there, or are not what they should be.
    #[error(transparent)]
    Data(#[from] UciError),
    /// A function of more inputs than asked for.
    #[error(transparent)]
    Inputs(#[from] TooFewInputs),
    /// A fit failed.
    #[error(transparent)]
    Fit(#[from] thinfit::Error),
    /// A setting that no method has, or with a value that it cannot have.
    #[error("settings: {problem}")]
    Settings {
        /// What is wrong.
        problem: String,
    },
    /// An error of the program; what it printed says where.
    #[error("the fit panicked, which is a bug of thinfit")]
    Panic,
    /// A file of records could not be read or written.
    #[error("cannot {action} {path}: {source}")]
    Io {
        /// `read` or `write`.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
}

impl Error {
    /// Why a file could not be read or written.
    pub(crate) fn io(
        action: &'static str,
        path: impl Into<PathBuf>,
        source: std::io::Error,
    ) -> Self {
        Error::Io {
            action,
            path: path.into(),
            source,
        }
    }
}
