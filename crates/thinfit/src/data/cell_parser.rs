//! The meaning of a text cell: a number, a number with a unit, a range, an ordinal word, or a date. It knows cells,
//! not columns.

use std::borrow::Cow;
use thinfit_text::clean;

/// Words in order from little to much; those separated by `/` mean the same.
const SCALES: [&[&str]; 11] = [
    &[
        "lowest/very low",
        "low/lo",
        "medium/mid/middle/normal/med/moderate",
        "high/hi",
        "highest/very high",
    ],
    &[
        "tiny/very small",
        "small",
        "medium/mid/middle/normal",
        "large/big",
        "huge/very large",
    ],
    &["xxs", "xs", "s", "m", "l", "xl", "xxl", "xxxl"],
    &["cold", "cool", "lukewarm/ambient", "warm", "hot"],
    &[
        "none/no/absent",
        "trace",
        "weak/mild/light/slight",
        "moderate/medium",
        "strong/severe/heavy",
    ],
    &[
        "bad/very poor",
        "poor",
        "fair/average/ok",
        "good",
        "very good",
        "excellent",
    ],
    &[
        "very slow",
        "slow",
        "medium/normal/moderate",
        "fast",
        "very fast",
    ],
    &["short", "medium/normal", "long"],
    &["thin", "medium/normal", "thick"],
    &["soft", "medium/normal", "hard"],
    &["never", "rarely/seldom", "sometimes", "often", "always"],
];

/// Names of months and days; they may be abbreviated to three letters.
const CALENDAR: [&str; 19] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
];

/// The finite number in a text, 1 and 0 for `true` and `false`; `None` if it is not a number.
pub(super) fn number(text: &str) -> Option<f64> {
    let text = text.trim();
    let parsed: Option<f64> = text.parse().ok().filter(|v: &f64| v.is_finite());
    parsed.or_else(|| {
        let is = |word: &str| text.eq_ignore_ascii_case(word);
        is("true").then_some(1.0).or(is("false").then_some(0.0))
    })
}

/// Whether a text is a number once its commas are removed, and thus probably one with a decimal comma.
pub(super) fn has_comma(text: &str) -> bool {
    text.contains(',') && number(&text.replace(',', "")).is_some()
}

/// The text without hidden characters and blanks around it, a number in its shortest form: `3` for ` 3.0`.
pub(super) fn canonical(text: &str) -> String {
    let text = clean(text);
    match number(&text) {
        Some(value) => value.to_string(),
        None => text.trim().to_owned(),
    }
}

/// The number that a text begins with, and what follows it.
fn leading(text: &str) -> Option<(f64, &str)> {
    let mut end = 0;
    let (mut exponent, mut last) = (false, ' ');
    for (at, c) in text.char_indices() {
        let sign = matches!(c, '-' | '+') && (at == 0 || last == 'e');
        let power = c.eq_ignore_ascii_case(&'e') && last.is_ascii_digit() && !exponent;
        if !(c.is_ascii_digit() || c == '.' || sign || power) {
            break;
        }
        exponent |= power;
        last = c.to_ascii_lowercase();
        end = at + c.len_utf8();
    }
    // `5e` is a five with the unit e, `5e-` nothing.
    while end > 0 {
        if let Some(value) = number(&text[..end]) {
            return Some((value, &text[end..]));
        }
        end -= 1;
    }
    None
}

/// The number and the unit of a text such as `12.5 mm`, `12,5 mm` or `20°C`.
pub(super) fn quantity(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let pointed = decimal_point(text);
    let (value, rest) = leading(&pointed)?;
    let unit = text[text.len() - rest.len()..].trim_start();
    let first = unit.chars().next()?;
    let is_unit = first.is_alphabetic() || "°%‰'\"$€£".contains(first);
    (is_unit && !unit.contains(char::is_whitespace)).then_some((value, unit))
}

/// The text with ASCII signs for those of typography, and a point for its first comma, if that can only be a decimal comma:
/// three digits may be thousands.
fn decimal_point(text: &str) -> Cow<'_, str> {
    if text.contains('\u{2212}') {
        let ascii = text.replace('\u{2212}', "-");
        return Cow::Owned(decimal_point(&ascii).into_owned());
    }
    let Some((whole, rest)) = text.split_once(',') else {
        return Cow::Borrowed(text);
    };
    let decimals = rest.bytes().take_while(u8::is_ascii_digit).count();
    let is_whole = !whole.contains('.') && number(whole).is_some();
    if is_whole && !matches!(decimals, 0 | 3) {
        Cow::Owned(format!("{whole}.{rest}"))
    } else {
        Cow::Borrowed(text)
    }
}

/// The ends of a range such as `10-20`, `10 to 20 mm`, `<10` or `20+`; one end may be infinite.
pub(super) fn range(text: &str) -> Option<[f64; 2]> {
    let text = text.trim();
    let end = |text: &str| number(text).or_else(|| quantity(text).map(|(value, _)| value));
    for sign in ["<=", "≤", "<", "up to ", "under ", "below "] {
        if let Some(rest) = text.strip_prefix(sign) {
            return end(rest).map(|high| [f64::NEG_INFINITY, high]);
        }
    }
    for sign in [">=", "≥", ">", "over ", "above "] {
        if let Some(rest) = text.strip_prefix(sign) {
            return end(rest).map(|low| [low, f64::INFINITY]);
        }
    }
    if let Some(low) = text.strip_suffix('+').and_then(end) {
        return Some([low, f64::INFINITY]);
    }
    let (low, rest) = leading(text)?;
    let rest = rest.trim_start();
    let between = ["-", "–", "—", "to ", "..", "…"];
    let high = between.iter().find_map(|sign| rest.strip_prefix(sign))?;
    let high = end(high)?;
    (low < high).then_some([low, high])
}

/// The levels from little to much, if they are words of one scale at different ranks, or ranges.
pub(super) fn ordered(levels: &[String]) -> Option<Vec<String>> {
    let by = |keys: Option<Vec<f64>>| -> Option<Vec<String>> {
        let keys = keys?;
        let mut order: Vec<usize> = (0..levels.len()).collect();
        order.sort_by(|&a, &b| keys[a].total_cmp(&keys[b]));
        let distinct = order.windows(2).all(|w| keys[w[0]] < keys[w[1]]);
        distinct.then(|| order.into_iter().map(|k| levels[k].clone()).collect())
    };
    let rank = |scale: &[&str], level: &String| {
        let is = |word: &str| level.replace(['_', '-'], " ").to_lowercase() == word;
        let rank = scale.iter().position(|words| words.split('/').any(is));
        rank.map(|rank| rank as f64)
    };
    let words = SCALES
        .iter()
        .find_map(|scale| by(levels.iter().map(|level| rank(scale, level)).collect()));
    let low = |level: &String| range(level).map(|[low, _]| low);
    words.or_else(|| by(levels.iter().map(low).collect()))
}

/// Whether a text is a date, a time, or both.
pub(super) fn is_moment(text: &str) -> bool {
    let text = text.trim();
    // The T of ISO 8601 separates like a blank.
    let bytes = text.as_bytes();
    let separates = |(at, c): (usize, char)| {
        let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
        c.is_whitespace() || c == ',' || (c == 'T' && at > 0 && digit(at - 1) && digit(at + 1))
    };
    let mut words = vec![String::new()];
    for (at, c) in text.char_indices() {
        match (separates((at, c)), words.last_mut()) {
            (false, Some(word)) => word.push(c),
            _ => words.push(String::new()),
        }
    }
    words.retain(|word| !word.is_empty());
    let month = words.iter().any(|word| is_calendar(word));
    let whole = words.iter().any(|word| is_date(word) || is_time(word));
    let number = |word: &str| {
        let digits = word.trim_end_matches(['.', 's', 't', 'h', 'n', 'd', 'r']);
        (1..=4).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit())
    };
    let dated = whole || (month && words.iter().any(|word| number(word)));
    let zone = |word: &str| {
        let word = word.to_ascii_lowercase();
        ["am", "pm", "z", "utc", "gmt", "cet", "cest"].contains(&word.as_str())
            || (word.starts_with(['+', '-'])
                && word[1..].bytes().all(|b| b":0123456789".contains(&b)))
    };
    dated
        && words.iter().all(|word| {
            is_date(word)
                || is_time(word)
                || is_calendar(word)
                || zone(word)
                || (month && number(word))
        })
}

/// Whether a word names a month or a day.
fn is_calendar(word: &str) -> bool {
    let word = word.to_lowercase();
    let name = word.trim_end_matches('.');
    let is = |known: &&str| name == *known || name == &known[..3];
    CALENDAR.iter().any(is) || name == "sept"
}

/// Whether a word is a date: `2024-01-05`, `5.1.2024`, `1/5/24`, `05-Jan-2024`, `2024-01`.
fn is_date(word: &str) -> bool {
    let Some(sign) = word.chars().find(|c| "-/.".contains(*c)) else {
        return false;
    };
    let parts: Vec<&str> = word.split(sign).collect();
    let within = |part: &str, most: u32| {
        part.len() <= 2 && part.parse::<u32>().is_ok_and(|n| (1..=most).contains(&n))
    };
    let digits =
        |part: &str, count: usize| part.len() == count && part.bytes().all(|b| b.is_ascii_digit());
    let year = |part: &str| digits(part, 4) && (part.starts_with('1') || part.starts_with('2'));
    match parts[..] {
        [y, m, d] if year(y) => (within(m, 12) || is_calendar(m)) && within(d, 31),
        [a, b, y] if year(y) || digits(y, 2) => {
            (within(a, 31) && (within(b, 12) || is_calendar(b))) || (within(a, 12) && within(b, 31))
        }
        [y, m] if sign != '.' => (year(y) && within(m, 12)) || (within(y, 12) && year(m)),
        _ => false,
    }
}

/// Whether a word is a time of the day, `14:05`, `9:30:15.2`, `14:05Z`; `1:10` may be a ratio.
fn is_time(word: &str) -> bool {
    let lower = word.to_ascii_lowercase();
    let time = lower.trim_end_matches('z');
    let time = time
        .strip_suffix("am")
        .or(time.strip_suffix("pm"))
        .unwrap_or(time);
    // What follows a sign is a time zone.
    let time = time.split(['+', '-']).next().unwrap_or(time);
    let parts: Vec<&str> = time.split(':').collect();
    let part = |part: &str, most: f64| {
        part.starts_with(|c: char| c.is_ascii_digit())
            && part.parse::<f64>().is_ok_and(|n| n < most)
    };
    let two = |text: &str| text.len() == 2;
    match parts[..] {
        [h, m] => part(h, 25.0) && part(m, 60.0) && two(m) && (two(h) || time.len() < lower.len()),
        [h, m, s] => part(h, 1e4) && part(m, 60.0) && part(s, 61.0) && two(m),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_and_times_are_told_from_numbers_ranges_and_codes() {
        for text in [
            "2024-01-05",
            "2024-01-05T12:30:00Z",
            "2024-01-05 12:30:00.123456+02:00",
            "05.01.2024",
            "5.1.24",
            "12/31/2023 11:59 PM",
            "5 Jan 2024",
            "January 5th, 2024",
            "05-Jan-2024",
            "Mon, 5 Feb 2024",
            "2024/01",
            "14:05",
            "9:30:15",
            "9:30pm",
        ] {
            assert!(is_moment(text), "{text}");
        }
        for text in [
            "",
            "steel",
            "10-20",
            "1.2.3",
            "3.5",
            "1:2",
            "1:10",
            "A-12-3",
            "may be",
            "12",
            "-5",
            "1900-2000",
            "2024-45-77",
            "é",
            "T",
            "10:75",
        ] {
            assert!(!is_moment(text), "{text}");
        }
    }

    #[test]
    fn quantities_and_ranges_are_read() {
        assert_eq!(quantity("12.5 mm"), Some((12.5, "mm")));
        assert_eq!(quantity(" -20°C"), Some((-20.0, "°C")));
        assert_eq!(quantity("1e3Pa"), Some((1000.0, "Pa")));
        assert_eq!(quantity("5e"), Some((5.0, "e")));
        assert_eq!(quantity("10%"), Some((10.0, "%")));
        assert_eq!(quantity("12,5 mm"), Some((12.5, "mm")));
        assert_eq!(quantity("\u{2212}12,5 mm"), Some((-12.5, "mm")));
        for text in [
            "1,500 mm", "1,2-x", "12", "mm", "M6", "", "3 of 4", "10-20", "°C",
        ] {
            assert_eq!(quantity(text), None, "{text}");
        }
        assert_eq!(range("10-20"), Some([10.0, 20.0]));
        assert_eq!(range("-5 – 0.5 mm"), Some([-5.0, 0.5]));
        assert_eq!(range("1 to 2"), Some([1.0, 2.0]));
        assert_eq!(range("<10"), Some([f64::NEG_INFINITY, 10.0]));
        assert_eq!(range("20+"), Some([20.0, f64::INFINITY]));
        for text in ["20-10", "a-b", "10", "", "-", "<", "10-", "é-1"] {
            assert_eq!(range(text), None, "{text}");
        }
    }

    #[test]
    fn levels_are_ordered_where_the_order_is_evident() {
        let order = |levels: &[&str]| {
            let levels: Vec<String> = levels.iter().map(|l| (*l).to_owned()).collect();
            ordered(&levels).map(|levels| levels.join(" "))
        };
        assert_eq!(
            order(&["high", "Low", "medium"]).unwrap(),
            "Low medium high"
        );
        assert_eq!(order(&["very_high", "low"]).unwrap(), "low very_high");
        assert_eq!(order(&["m", "xl", "s"]).unwrap(), "s m xl");
        assert_eq!(order(&["10-20", ">20", "<10"]).unwrap(), "<10 10-20 >20");
        assert_eq!(order(&["steel", "brass"]), None);
        // The same rank twice has no order.
        assert_eq!(order(&["low", "lo", "high"]), None);
        assert_eq!(order(&["low", "green"]), None);
    }

    #[test]
    fn numbers_have_one_form() {
        assert_eq!(canonical(" 3.0"), "3");
        assert_eq!(canonical(" a b "), "a b");
        assert_eq!(
            (number("TRUE"), number("inf"), number("x")),
            (Some(1.0), None, None)
        );
        assert!(has_comma("1,5") && !has_comma("a,b") && !has_comma("1.5"));
    }
}
