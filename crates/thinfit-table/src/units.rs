//! Units of measurement in the second row of a table.

/// Units that stand alone or behind a prefix.
const PREFIXED: [&str; 33] = [
    "m", "g", "s", "A", "K", "mol", "cd", "Hz", "N", "Pa", "J", "W", "C", "V", "F", "Ω", "Ω",
    "ohm", "Ohm", "S", "Wb", "T", "H", "lm", "lx", "Bq", "Gy", "Sv", "l", "L", "bar", "eV", "cal",
];
/// Prefixes of SI.
const PREFIXES: [&str; 17] = [
    "Y", "Z", "E", "P", "T", "G", "M", "k", "h", "da", "d", "c", "m", "µ", "μ", "u", "n",
];
/// Units without a prefix.
const OTHERS: [&str; 59] = [
    "%", "‰", "°", "'", "\"", "′", "″", "°C", "°F", "degC", "degF", "deg", "rad", "mrad", "sr",
    "min", "h", "hr", "hrs", "sec", "d", "day", "days", "a", "yr", "t", "in", "inch", "ft", "yd",
    "mi", "lb", "lbs", "lbf", "oz", "psi", "psia", "psig", "rpm", "RPM", "U", "dB", "dBA", "ppm",
    "ppb", "wt%", "vol%", "at%", "mol%", "mph", "kph", "kt", "gal", "Btu", "px", "var", "VA",
    "counts", "€",
];
/// Pairs of brackets around a unit.
const BRACKETS: [(char, char); 3] = [('[', ']'), ('(', ')'), ('<', '>')];
/// Maximum number of characters between brackets.
const LONGEST: usize = 20;

/// Whether a text is a unit: known ones and their products, or a short text in brackets.
pub(crate) fn is_unit(text: &str) -> bool {
    let text = text.trim();
    match without_brackets(text) {
        Some(inner) => inner.chars().nth(LONGEST).is_none(),
        None => is_known(text),
    }
}

/// The unit in a text: what is between its brackets, if it has some.
pub(crate) fn unit(text: &str) -> &str {
    let text = text.trim();
    without_brackets(text).unwrap_or(text).trim()
}

fn without_brackets(text: &str) -> Option<&str> {
    BRACKETS
        .iter()
        .find_map(|(open, close)| text.strip_prefix(*open)?.strip_suffix(*close))
}

/// Whether a text is a known unit, or some joined by `/`, `·`, `*`, `.` or blanks, each perhaps with an exponent.
fn is_known(text: &str) -> bool {
    let joins = |c: char| matches!(c, '/' | '·' | '⋅' | '*' | '.' | ' ' | '\u{a0}' | '(' | ')');
    let mut factors = text.split(joins).filter(|factor| !factor.is_empty());
    let known = |factor: &str| {
        let exponent = |c: char| c.is_ascii_digit() || "^-+⁰¹²³⁴⁵⁶⁷⁸⁹⁻".contains(c);
        let base = factor.trim_end_matches(exponent);
        // One over a unit, as in `1/s`.
        factor == "1" || OTHERS.contains(&base) || is_prefixed(base)
    };
    factors.clone().any(|factor| factor != "1") && factors.all(known)
}

fn is_prefixed(text: &str) -> bool {
    let bare = |text: &str| PREFIXED.contains(&text);
    let prefixed = |prefix: &&str| text.strip_prefix(*prefix).is_some_and(bare);
    bare(text) || PREFIXES.iter().any(prefixed) || text == "kWh"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_told_from_words_and_codes() {
        for text in [
            "mm",
            "kg",
            "°C",
            "m/s",
            "m^2",
            "W/(m K)",
            "kg·m⁻³",
            "N*m",
            "%",
            "1/min",
            "[mm]",
            "(-)",
            "[]",
            "mPa s",
            "l/min",
            "µm",
            "bar",
            "U/min",
            "[arb. units]",
            "kWh",
            "m³/h",
        ] {
            assert!(is_unit(text), "{text}");
        }
        for text in [
            "steel",
            "low",
            "x",
            "",
            "1",
            "12",
            "-",
            "error",
            "n.a.",
            "2024-01-05",
            "A1B",
            "yes",
            "[a text that is too long to be one]",
            "temperature",
        ] {
            assert!(!is_unit(text), "{text}");
        }
        assert_eq!((unit(" [mm] "), unit("kg"), unit("(-)")), ("mm", "kg", "-"));
    }
}
