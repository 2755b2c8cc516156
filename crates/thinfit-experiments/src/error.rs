//! Why an experiment could not run.

use std::path::PathBuf;

use crate::{TooFewInputs, UciError};

/// An error of data, fits or files.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Measured data are missing or have the wrong contents.
    #[error(transparent)]
    Data(#[from] UciError),
    /// A function reads more inputs than it was given.
    #[error(transparent)]
    Inputs(#[from] TooFewInputs),
    /// A fit failed.
    #[error(transparent)]
    Fit(#[from] thinfit::Error),
    /// A setting does not exist, or cannot have its value.
    #[error("settings: {problem}")]
    Settings {
        /// What is wrong.
        problem: String,
    },
    /// A bug; the panic message says where.
    #[error("the fit panicked, which is a bug in thinfit; please report the message above")]
    Panic,
    /// What another rank could not do.
    #[error("rank {rank}: {problem}")]
    Elsewhere {
        /// The rank.
        rank: usize,
        /// What it says.
        problem: String,
    },
    /// A file or folder next to the ledger could not be read or written.
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
    /// An error of reading or writing a file.
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
