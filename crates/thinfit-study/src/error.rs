//! Why a study has no result.

use thinfit_text::{brief, shown};

/// Why a study has no result.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A column that the model does not use.
    #[error("expected a column of the model, found `{}`; {hint}", brief(name))]
    Unknown {
        /// The name given.
        name: String,
        /// What may have been meant.
        hint: String,
    },
    /// A column that cannot have the requested value or range.
    #[error("`{}`: expected {expected}, found {found}; {advice}", shown(column))]
    Column {
        /// The column.
        column: String,
        /// What it can be.
        expected: String,
        /// What was given.
        found: String,
        /// What to do.
        advice: String,
    },
    /// A constraint that is invalid or cannot hold.
    #[error("`{}`: {problem}", shown(text))]
    Constraint {
        /// The constraint as given.
        text: String,
        /// What is wrong with it, and what to do.
        problem: String,
    },
    /// An error of the model.
    #[error(transparent)]
    Model(#[from] thinfit::Error),
}

impl Error {
    /// The error of a name that is not among `names`.
    pub(crate) fn unknown(names: &[impl AsRef<str>], name: &str) -> Self {
        Error::Unknown {
            name: name.into(),
            hint: thinfit_text::suggest(names, name),
        }
    }
}
