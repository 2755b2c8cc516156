//! Numbers in reports: four significant digits, as people write them.

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

/// A count and its noun, in the plural unless it is one.
pub fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

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
    }
}
