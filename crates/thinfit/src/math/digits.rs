//! Rounds numbers for reading.

/// The number to six significant digits: enough for a plot or a setting, and short in a file.
pub fn six_digits(value: f64) -> f64 {
    // Text is rounded to the nearest number of so many digits, a quotient only nearly.
    format!("{value:.5e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn six_digits_are_the_nearest() {
        for (value, rounded) in [
            (1.23456789, 1.23457),
            (-1234567.0, -1234570.0),
            (1.23456789e-20, 1.23457e-20),
            (0.0, 0.0),
        ] {
            assert_eq!(six_digits(value), rounded);
        }
        assert!(six_digits(f64::NAN).is_nan());
    }
}
