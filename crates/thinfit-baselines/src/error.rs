//! What can be wrong with the data or the settings of a baseline.

/// Shorthand for results of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a baseline could not be fitted or evaluated.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Two sizes that must agree do not, or one that must be positive is zero.
    #[error("{what}: expected {expected}, got {got}")]
    Shape {
        /// What was counted.
        what: &'static str,
        /// What is required.
        expected: String,
        /// What was found.
        got: usize,
    },
    /// A value is NaN or infinite; rows and columns are counted from zero.
    #[error(
        "{what} has the value {value} in row {row}, column {column}; drop or fill such rows first"
    )]
    NotFinite {
        /// Which matrix.
        what: &'static str,
        /// Its row.
        row: usize,
        /// Its column.
        column: usize,
        /// The value found.
        value: f64,
    },
    /// A setting is outside its range.
    #[error("{what} must be {expected}, got {value}")]
    Setting {
        /// Which setting.
        what: &'static str,
        /// Its range.
        expected: &'static str,
        /// The value found.
        value: f64,
    },
    /// All points coincide, so that distances say nothing about a bandwidth.
    #[error(
        "the {samples} training points are all equal, so the median rule has no distance to use; give a bandwidth"
    )]
    NoScale {
        /// The number of points.
        samples: usize,
    },
    /// Numbers left the range of `f64` on the way.
    #[error("{what} leaves the range of f64; rescale the columns to unit variance")]
    Overflow {
        /// What left the range.
        what: &'static str,
    },
    /// The kernel matrix could not be factorised, however large the ridge.
    #[error(
        "the kernel matrix is not positive definite even with a ridge of {lambda:e} (pivot {pivot})"
    )]
    NotPositiveDefinite {
        /// The last ridge that was tried.
        lambda: f64,
        /// The pivot at which it failed.
        pivot: usize,
    },
}
