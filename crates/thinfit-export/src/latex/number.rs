//! Numbers and texts in LaTeX.

use thinfit_text::clean;

/// A number with the sign that adds it to what is before.
pub(super) fn signed(value: f64, number: &impl Fn(f64) -> String) -> String {
    let sign = if value < 0.0 { '-' } else { '+' };
    format!("{sign} {}", number(value.abs()))
}

/// `value` with `digits` significant digits, as a decimal if that is short, otherwise with a power of ten.
pub(super) fn number(value: f64, digits: usize) -> String {
    if !value.is_finite() {
        // A product of the numbers of a model may be beyond all numbers.
        let sign = if value < 0.0 { "-" } else { "" };
        return format!("{sign}\\infty");
    }
    let digits = digits.clamp(1, 17);
    let scientific = format!("{value:.*e}", digits - 1);
    let (mantissa, exponent) = scientific
        .split_once('e')
        .expect("scientific notation has an exponent");
    let exponent: i32 = exponent.parse().expect("an exponent is a small integer");
    if value == 0.0 {
        return "0".into();
    }
    if (-3..digits.max(4) as i32).contains(&exponent) {
        let decimals = (digits as i32 - 1 - exponent).max(0) as usize;
        return format!("{value:.decimals$}");
    }
    format!("{mantissa} \\cdot 10^{{{exponent}}}")
}

/// `text` with the special characters of LaTeX escaped and without hidden ones.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in clean(text).chars() {
        match c {
            '\\' => out.push_str("\\textbackslash{}"),
            '~' => out.push_str("\\textasciitilde{}"),
            '^' => out.push_str("\\textasciicircum{}"),
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_given_digits() {
        for (value, digits, expected) in [
            (0.0, 3, "0"),
            (-0.5, 3, "-0.500"),
            (1234.56, 3, "1235"),
            (123456.0, 3, "1.23 \\cdot 10^{5}"),
            (1.5e-7, 2, "1.5 \\cdot 10^{-7}"),
            (0.00123456, 4, "0.001235"),
            (f64::NEG_INFINITY, 4, "-\\infty"),
        ] {
            assert_eq!(number(value, digits), expected);
        }
    }
}
