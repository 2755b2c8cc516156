//! Rounds numbers for reading.

/// The number to six significant digits: enough for a plot or a setting, and short in a file.
pub fn six_digits(value: f64) -> f64 {
    // Text is rounded to the nearest number of so many digits, a quotient only nearly.
    format!("{value:.5e}").parse().unwrap_or(value)
}

/// `value` to four significant digits, with an exponent only if it is very small or very large.
pub fn four_digits(value: f64) -> String {
    let size = value.abs();
    if size == 0.0 {
        return "0".into();
    }
    if !(1e-3..1e6).contains(&size) {
        return format!("{value:.3e}");
    }
    let decimals = 3 - size.log10().floor() as i32;
    format!("{value:.0$}", usize::try_from(decimals).unwrap_or(0))
}

/// An r² to four decimals, and as many more as it takes to show two digits of what is left to 1; at most nine.
pub fn r2_digits(r2: f64) -> String {
    let left = (1.0 - r2).max(1e-9);
    let decimals = (1.0 - left.log10().floor()).clamp(4.0, 9.0);
    format!("{r2:.0$}", decimals as usize)
}

/// An error of a number, to two digits.
pub fn two_digits(error: f64) -> String {
    match error {
        0.0 => "0".into(),
        small if !(1e-3..1e6).contains(&small) => format!("{small:.1e}"),
        large => {
            let decimals = 1 - large.log10().floor() as i32;
            format!("{large:.0$}", usize::try_from(decimals).unwrap_or(0))
        }
    }
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

    #[test]
    fn four_digits_have_an_exponent_only_if_it_helps() {
        let cases = [
            (0.0, "0"),
            (2.18612, "2.186"),
            (-0.00123456, "-0.001235"),
            (151.54, "151.5"),
            (123456.7, "123457"),
            (4.195e-4, "4.195e-4"),
            (1e9, "1.000e9"),
        ];
        for (value, text) in cases {
            assert_eq!(four_digits(value), text);
        }
        for (value, text) in [
            (0.0, "0"),
            (0.01234, "0.012"),
            (34.5, "34"),
            (1e-5, "1.0e-5"),
        ] {
            assert_eq!(two_digits(value), text);
        }
    }
}
