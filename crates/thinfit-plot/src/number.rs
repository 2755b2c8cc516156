//! Formats numbers.

/// Three significant digits, or two with a power of ten for very large and very small numbers: `18.5`, `0.0464`, `1.2·10⁵`.
pub fn short(value: f64) -> String {
    let size = value.abs();
    if size == 0.0 {
        "0".into()
    } else if (1e-3..1e4).contains(&size) {
        let digits = (2 - size.log10().floor() as i32).max(0) as usize;
        format!("{value:.digits$}").replace('-', "−")
    } else {
        scientific(value, 1)
    }
}

/// Scientific notation with `digits` decimals: `2.5·10⁻⁴`.
pub fn scientific(value: f64, digits: usize) -> String {
    if value == 0.0 {
        return "0".into();
    }
    let text = format!("{value:.digits$e}");
    match text.split_once('e') {
        Some((digits, power)) => {
            let power = power.parse().map_or(String::new(), superscript);
            format!("{}·10{power}", digits.replace('-', "−"))
        }
        None if value.is_nan() => "undefined".into(),
        None => if value > 0.0 { "∞" } else { "−∞" }.into(),
    }
}

/// A power of ten: `10⁻⁴`.
pub fn power_of_ten(power: i32) -> String {
    format!("10{}", superscript(power))
}

/// A whole number with commas between thousands.
pub fn count(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn superscript(power: i32) -> String {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    power
        .to_string()
        .chars()
        .map(|character| {
            character
                .to_digit(10)
                .map_or('⁻', |digit| DIGITS[digit as usize])
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_numbers_keep_three_digits() {
        assert_eq!(
            [296.4, 18.53, 0.0464, -0.0, -0.25].map(short),
            ["296", "18.5", "0.0464", "0", "−0.250"]
        );
        assert_eq!(short(123456.0), "1.2·10⁵");
        assert_eq!(short(f64::INFINITY), "∞");
        assert_eq!(scientific(f64::NAN, 1), "undefined");
    }

    #[test]
    fn thousands_are_separated() {
        assert_eq!(
            [0, 999, 1000, 1234567].map(count),
            ["0", "999", "1,000", "1,234,567"]
        );
    }
}
