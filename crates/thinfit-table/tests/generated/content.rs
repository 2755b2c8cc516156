//! The content of a generated table, independent of the file format.

use super::random::Random;

/// What a cell holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cell {
    Missing,
    Number(f64),
    Text(&'static str),
}

/// A column of numbers or of text.
#[derive(Clone, Debug)]
pub struct Column {
    pub name: String,
    pub unit: &'static str,
    pub text: bool,
    /// The sign of its prices.
    pub currency: char,
}

/// Texts that a reader could take for something else.
const TEXTS: [&str; 18] = [
    "steel",
    "brass",
    "grün",
    "#1",
    "#2 b",
    "first, of two",
    "1;5 and 2",
    "two\nlines",
    "a remark\n\nof, three; lines",
    "say \"stop\"",
    "5\" pipe",
    "\"quoted\"",
    "tab\tstop",
    "12 mm",
    "mm",
    "7",
    "2024-01-05",
    "low-alloy",
];
/// Units, with brackets and without, and nothing.
const UNITS: [&str; 8] = ["[mm]", "kg", "°C", "(-)", "-", "", "m/s", "bar"];

/// The columns of a table: at least one of numbers.
pub fn columns(random: &mut Random, all_numbers: bool) -> Vec<Column> {
    let width = 1 + random.below(6);
    let numeric = random.below(width);
    let column = |j: usize| Column {
        name: match random.below(4) {
            0 => format!("T{j} [°C]"),
            1 => format!("größe{j}"),
            _ => format!("x{j}"),
        },
        unit: match j == numeric {
            true => "mm",
            false => random.of(&UNITS),
        },
        text: j != numeric && !all_numbers && random.one_in(3),
        currency: random.of(&['$', '€', '£']),
    };
    (0..width).map(column).collect()
}

/// Rows of these columns. The first three are plain, so that the layout is evident, and the last one has no gaps, so that a
/// table of one column does not end in blank lines.
pub fn rows(random: &mut Random, columns: &[Column]) -> Vec<Vec<Cell>> {
    let count = match random.one_in(400) {
        true => 3000,
        false => 4 + random.below(36),
    };
    let mut row = |i: usize| -> Vec<Cell> {
        let plain = i < 3 || i + 1 == count;
        let empty = !plain && random.one_in(20);
        let mut cell = |column: &Column| match (column.text, plain) {
            _ if empty || !plain && random.one_in(8) => Cell::Missing,
            (true, true) => Cell::Text("steel"),
            (true, false) => Cell::Text(random.of(&TEXTS)),
            (false, _) => Cell::Number(number(random)),
        };
        columns.iter().map(&mut cell).collect()
    };
    (0..count).map(&mut row).collect()
}

fn number(random: &mut Random) -> f64 {
    let small = random.below(2001) as f64 - 1000.0;
    match random.below(6) {
        0 => small / 1000.0,
        1 => small * 1234.0,
        2 => random.finite(),
        _ => small,
    }
}

/// A way to write a number, and whether it is an unusual one.
pub fn written(
    random: &mut Random,
    value: f64,
    column: &Column,
    ascii_minus: bool,
) -> (String, bool) {
    let (plain, size) = (format!("{value}"), format!("{}", value.abs()));
    let sign = if value.is_sign_negative() { "-" } else { "" };
    match random.below(16) {
        0 => {
            let exponent = format!("{value:e}").replace('e', "D+").replace("D+-", "D-");
            (exponent, true)
        }
        1 if value < 0.0 && !ascii_minus => (format!("\u{2212}{size}"), true),
        2 if value < 0.0 => (format!("\u{2013}{size}"), true),
        3 => (format!("{sign}{}{size}", column.currency), true),
        4 if value.fract() == 0.0 && (1e3..1e6).contains(&value.abs()) => {
            let (thousands, rest) = size.split_at(size.len() - 3);
            (format!("{sign}{thousands}'{rest}"), true)
        }
        5 => (format!("{value:e}"), false),
        6 if value > 0.0 => (format!("+{plain}"), false),
        _ => (plain, false),
    }
}
