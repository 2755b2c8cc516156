//! Ranges of settings, each worded the same in every method.

use thinfit::Result;
use thinfit::pieces::require;

/// A count of at least 1.
pub(crate) fn at_least_one(field: &'static str, count: usize) -> Result<()> {
    require(count > 0, field, "at least 1", count)
}

/// A finite number above 0.
pub(crate) fn positive(field: &'static str, value: f64) -> Result<()> {
    require(is_positive(value), field, "a positive number", value)
}

/// Candidates: at least one, all finite and above 0.
pub(crate) fn positives(field: &'static str, values: &[f64]) -> Result<()> {
    require(
        !values.is_empty() && values.iter().all(|v| is_positive(*v)),
        field,
        "positive numbers, at least one",
        format!("{values:?}"),
    )
}

fn is_positive(value: f64) -> bool {
    value > 0.0 && value.is_finite()
}
