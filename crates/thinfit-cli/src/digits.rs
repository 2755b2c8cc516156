//! Numbers in reports, as people write them.

pub use thinfit_methods::{four_digits, two_digits};

/// A count and its noun, in the plural unless it is one.
pub fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}
