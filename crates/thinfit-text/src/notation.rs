//! Number formats that float parsers reject: Fortran exponents, typographic minus signs, thousands separators,
//! currency signs.

/// How a number differs from the usual notation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Notation {
    /// A Fortran exponent, as in `1D-3`.
    FortranExponent,
    /// A minus sign or en dash of typography, U+2212 or U+2013, instead of the ASCII hyphen.
    TypographicMinus,
    /// Apostrophes between thousands, as in `1'234`.
    Apostrophes,
    /// A currency sign before the number, as in `$1.2`.
    Currency(char),
}

/// Currency signs that may stand before a number.
const CURRENCIES: [char; 4] = ['$', '€', '£', '¥'];
/// Apostrophes that separate thousands.
const APOSTROPHES: [char; 2] = ['\'', '’'];
/// Thousands separators that are ambiguous or rare, so that such numbers are recognised but not read.
const SEPARATORS: [char; 6] = [' ', '\u{a0}', '\u{202f}', ',', '.', '_'];

/// The finite number that a text is in one of the unusual notations, and the notations in use (at least one); none for a
/// plain number and for anything else.
///
/// ```
/// use thinfit_text::{Notation, unusual_number};
/// assert_eq!(unusual_number("1D-3"), Some((1e-3, vec![Notation::FortranExponent])));
/// assert_eq!(unusual_number("-$1'234.5").map(|found| found.0), Some(-1234.5));
/// assert_eq!(unusual_number("12.5"), None);
/// ```
pub fn unusual_number(text: &str) -> Option<(f64, Vec<Notation>)> {
    let (negative, body, mut notations) = unsigned(text)?;
    let mut digits = body.to_owned();
    if let Some(sign) = APOSTROPHES.into_iter().find(|sign| body.contains(*sign)) {
        let end = body.find(|c: char| !(c.is_ascii_digit() || c == sign));
        let (whole, rest) = body.split_at(end.unwrap_or(body.len()));
        if !in_thousands(whole, sign) {
            return None;
        }
        digits = whole.replace(sign, "") + rest;
        notations.push(Notation::Apostrophes);
    }
    if let Some((mantissa, exponent)) = digits.split_once(['d', 'D']) {
        // `1D3` may be a code: a point or a sign makes it a number.
        let signed = exponent.starts_with(['+', '-']);
        if !signed && !mantissa.contains('.') {
            return None;
        }
        digits = format!("{mantissa}e{exponent}");
        notations.push(Notation::FortranExponent);
    }
    // Neither `inf` nor a second sign.
    let plain = digits.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    let value: f64 = digits
        .parse()
        .ok()
        .filter(|v: &f64| plain && v.is_finite())?;
    let value = if negative { -value } else { value };
    (!notations.is_empty()).then_some((value, notations))
}

/// Whether a text is evidently a number, though one that cannot be read with certainty: hexadecimal, or with thousands
/// separators that could be decimal ones; or one that [`unusual_number`] reads.
pub fn resembles_number(text: &str) -> bool {
    if unusual_number(text).is_some() {
        return true;
    }
    let Some((_, body, _)) = unsigned(text) else {
        return false;
    };
    if let Some(digits) = body.strip_prefix("0x").or(body.strip_prefix("0X")) {
        return !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_hexdigit());
    }
    SEPARATORS.iter().any(|separator| {
        let end = body.find(|c: char| !(c.is_ascii_digit() || c == *separator));
        let (whole, rest) = body.split_at(end.unwrap_or(body.len()));
        let fraction = rest.strip_prefix(['.', ',']).unwrap_or(rest);
        in_thousands(whole, *separator) && fraction.bytes().all(|b| b.is_ascii_digit())
    })
}

/// Whether these are digits in groups of three, at least two of them.
fn in_thousands(whole: &str, separator: char) -> bool {
    let mut groups = whole.split(separator);
    let first = groups.next().unwrap_or_default();
    let digits = |group: &str| group.bytes().all(|b| b.is_ascii_digit());
    whole.contains(separator)
        && (1..=3).contains(&first.len())
        && digits(first)
        && groups.all(|group| group.len() == 3 && digits(group))
}

/// Whether a text has a minus sign, what follows the sign and the currency, and the notations seen so far; none if it does
/// not go on with a digit or point.
fn unsigned(text: &str) -> Option<(bool, String, Vec<Notation>)> {
    let mut notations = Vec::new();
    let trimmed = text.trim();
    let mut body = trimmed.replace('\u{2212}', "-");
    if let Some(rest) = body.strip_prefix('\u{2013}') {
        body = format!("-{rest}");
    }
    if body != trimmed {
        notations.push(Notation::TypographicMinus);
    }
    let mut rest = body.as_str();
    let mut sign = None;
    // The sign stands before the currency or behind it.
    for _ in 0..2 {
        if let (None, Some(first @ ('-' | '+'))) = (sign, rest.chars().next()) {
            sign = Some(first);
            rest = rest[1..].trim_start();
        }
        if let Some(currency) = rest.chars().next().filter(|c| CURRENCIES.contains(c)) {
            if notations.iter().any(|n| matches!(n, Notation::Currency(_))) {
                return None;
            }
            notations.push(Notation::Currency(currency));
            rest = rest[currency.len_utf8()..].trim_start();
        }
    }
    rest.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        .then(|| (sign == Some('-'), rest.to_owned(), notations))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_unusual_notations_are_read() {
        for (text, value) in [
            ("1D-3", 1e-3),
            ("1.5d+02", 150.0),
            ("-2.0D3", -2000.0),
            ("\u{2212}4.5", -4.5),
            ("\u{2013}4", -4.0),
            ("1e\u{2212}3", 1e-3),
            ("1'234", 1234.0),
            ("12’345’678.25", 12_345_678.25),
            ("$1.2", 1.2),
            ("-$1.2", -1.2),
            ("€ -3", -3.0),
            ("£1'000", 1000.0),
        ] {
            assert_eq!(
                unusual_number(text).map(|found| found.0),
                Some(value),
                "{text}"
            );
            assert!(resembles_number(text), "{text}");
        }
    }

    #[test]
    fn plain_numbers_codes_and_text_are_not() {
        for text in [
            "12.5",
            "-3",
            "1e-3",
            "1D3",
            "2D",
            "D-3",
            "1'23",
            "12'34'567",
            "5'",
            "$",
            "$$1",
            "€$1",
            "$inf",
            "- -1",
            "",
            "abc",
            "1.2.3",
            "10-20",
            "0x1f",
            "1D-",
            "1'234'",
            "$1,234",
        ] {
            assert_eq!(unusual_number(text), None, "{text}");
        }
    }

    #[test]
    fn numbers_that_cannot_be_read_with_certainty_are_recognised() {
        for text in [
            "0x1f",
            "0XFF",
            "1,234",
            "1 234,5",
            "1.234.567",
            "$1,234.50",
            "1\u{a0}000",
            "1_000",
        ] {
            assert!(resembles_number(text), "{text}");
        }
        for text in [
            "0x",
            "0xfg",
            "1.2.3",
            "10-20",
            "12 34",
            "A1",
            "192.168.1.1",
            "",
            "steel",
        ] {
            assert!(!resembles_number(text), "{text}");
        }
    }
}
