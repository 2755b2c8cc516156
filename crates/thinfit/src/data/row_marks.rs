//! Fingerprints of rows, computed from their values, by which they are recognised in another table.

use crate::math::random::mixed;

/// Marks are below this, so that every reader of JSON keeps them exactly.
pub(crate) const MARKS: u64 = 1 << 53;

/// The mark of a row of these values, inputs first.
pub(crate) fn mark<'a>(values: impl Iterator<Item = &'a f64>) -> u64 {
    // Adding zero makes −0 equal to 0.
    let mix = |mark: u64, value: &f64| mixed(mark ^ (value + 0.0).to_bits());
    values.fold(0, mix) % MARKS
}
