//! Formats numbers for reports.

pub use thinfit_methods::{four_digits, r2_digits, two_digits};

/// A count and its noun, in the plural unless it is one.
pub fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// `value` to six significant digits, as short as they can be written.
pub fn six_digits(value: f64) -> String {
    all_digits(thinfit::six_digits(value))
}

/// `value` with as many digits as distinguish it from every other number.
pub fn all_digits(value: f64) -> String {
    let text = format!("{value:?}");
    text.strip_suffix(".0").unwrap_or(&text).to_owned()
}

/// The width of a column that holds these texts, with a gap behind it, and at least `least` wide.
pub fn column_width<'a>(texts: impl IntoIterator<Item = &'a str>, least: usize) -> usize {
    let widest = texts.into_iter().map(|text| text.chars().count()).max();
    (widest.unwrap_or(0) + 2).max(least)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn six_digits_are_rounded_and_short() {
        for (value, text) in [
            (1.23456789, "1.23457"),
            (-2.0, "-2"),
            (1234567.0, "1234570"),
            (1.23456789e-20, "1.23457e-20"),
            (0.5, "0.5"),
        ] {
            assert_eq!(six_digits(value), text);
        }
    }
}
