//! A column of a user's table: its content, and how it is used.
//!
//! Numbers are used as they are, unless they number the rows: integers without repeats and with few gaps, or with
//! more gaps if the column name suggests it. Text becomes numbers if it has a unit, otherwise ordered or unordered
//! levels; dates and identifiers are ignored. `cell_parser` reads a single cell, `encoding` applies the decisions
//! made here.

use super::cell_parser::{canonical, has_comma, is_moment, number, ordered, quantity};
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};
use thinfit_text::{LONGEST_NAME, resembles_number};

/// Maximum number of levels of a column of text that is used.
const MOST_LEVELS: usize = 30;
/// Minimum number of rows per level, on average, that indicators are learned from.
const ROWS_PER_LEVEL: usize = 4;
/// The share of rows that counts as nearly all.
const NEARLY_ALL: f64 = 0.9;
/// Minimum number of integers that are row numbers under any name if they are unordered or have gaps.
const FEWEST_ROW_NUMBERS: usize = 10;
/// Maximum span of row numbers under any name, relative to their count.
const ROW_NUMBER_STEP: f64 = 1.25;
/// Words in the name of a column whose whole numbers, all different, are identifiers.
const IDENTIFIERS: [&str; 4] = ["id", "rowid", "uuid", "barcode"];
/// Words in the name of a column that numbers the rows, if its numbers run along them.
const ROW_NUMBERS: [&str; 7] = ["idx", "index", "no", "nr", "row", "unnamed", "nummer"];
/// Words that may mean a measured quantity as well: a name of these alone numbers the rows if its numbers have no gaps.
const ROWS: [&str; 5] = ["run", "sample", "obs", "observation", "number"];

/// A column of a table before it is encoded (m cells); a missing cell is NaN.
#[derive(Clone, Copy, Debug)]
pub enum Column<'a> {
    /// Numbers.
    Numbers(&'a [f64]),
    /// Text: cell i holds the level `codes[i]`.
    Text {
        /// Different texts, possibly with some that no cell holds.
        levels: &'a [String],
        /// Whole numbers below the number of levels.
        codes: &'a [f64],
        /// What is known about the levels.
        levels_are: Levels,
    },
    /// Dates or times.
    Dates,
}

/// What is known about the levels of a text column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Levels {
    /// Nothing: they are the texts of the cells.
    Found,
    /// Declared categories, even if they look like numbers or dates.
    Categories,
    /// Declared categories in this order.
    Ordered,
}

/// How a column is used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "as", rename_all = "kebab-case")]
pub enum Code {
    /// An input as it is.
    Number,
    /// Text of numbers with a unit: an input, its numbers.
    Quantity {
        /// The unit of all of them.
        unit: String,
    },
    /// Text with an order: one input, k/(L − 1) for level k of L.
    Ordinal {
        /// Levels from little to much, at least two.
        levels: Vec<String>,
    },
    /// Other text: an indicator, 0 or 1, for each level; of two levels, for the second alone.
    OneHot {
        /// Levels, at least two.
        levels: Vec<String>,
    },
    /// Not an input.
    LeftOut {
        /// The reason, as in "it holds dates".
        why: String,
    },
}

impl Code {
    /// Whether the column is ignored because it numbers the rows.
    pub fn numbers_rows(&self) -> bool {
        matches!(self, Code::LeftOut { why } if why == NUMBERS_ROWS)
    }
}

impl Column<'_> {
    /// Rows with a number or a text; none of dates, which are not read.
    pub(super) fn rows(&self) -> usize {
        match self {
            Column::Numbers(values) | Column::Text { codes: values, .. } => values.len(),
            Column::Dates => 0,
        }
    }

    /// How the column of this name is used; `unnamed` means that the name is generated. If the user has `chosen` it, a
    /// number is an input whatever its name.
    pub(super) fn code(&self, name: &str, unnamed: bool, chosen: bool) -> Code {
        match self {
            Column::Numbers(values) if !values.is_empty() && values.iter().all(|v| v.is_nan()) => {
                left_out("it is empty")
            }
            Column::Numbers(values) if !chosen && numbers_rows(name, unnamed, values) => {
                left_out(NUMBERS_ROWS)
            }
            Column::Numbers(_) => Code::Number,
            Column::Dates => left_out("it holds dates or times"),
            Column::Text {
                levels,
                codes,
                levels_are,
            } => code_of_text(levels, codes, *levels_are),
        }
    }

    /// Whether its whole numbers run along the rows.
    pub(super) fn runs_along_rows(&self) -> bool {
        matches!(self, Column::Numbers(values) if run_along(values, 2.0))
    }

    /// Whether it numbers the rows by what it holds, under a name that does not say so.
    pub(super) fn numbers_rows_by_content(&self, name: &str, unnamed: bool) -> bool {
        match self {
            Column::Numbers(values) => {
                count_rows(values) && !numbers_rows_by_name(name, unnamed, values)
            }
            _ => false,
        }
    }

    /// Whether it numbers the rows in another order than theirs.
    pub(super) fn is_order_of_rows(&self) -> bool {
        match self {
            Column::Numbers(values) => {
                let present = values.iter().filter(|value| !value.is_nan());
                count_rows(values) && !present.is_sorted()
            }
            _ => false,
        }
    }
}

/// Why a column of row numbers is ignored.
const NUMBERS_ROWS: &str = "it numbers the rows";

fn left_out(why: impl Into<String>) -> Code {
    Code::LeftOut { why: why.into() }
}

/// Whether a column numbers the rows: by what it holds, whatever its name, or by its name.
fn numbers_rows(name: &str, unnamed: bool, values: &[f64]) -> bool {
    count_rows(values) || numbers_rows_by_name(name, unnamed, values)
}

/// Whether these are consecutive whole numbers in the order of the rows; or, if there are enough of them and they start at 0
/// or 1, in any order and with some missing. Others, such as 20 to 49, may be settings.
fn count_rows(values: &[f64]) -> bool {
    let present: Vec<f64> = values.iter().copied().filter(|v| !v.is_nan()).collect();
    let [low, high] = super::dataset::range(present.iter());
    run_along(values, 1.0)
        || present.len() >= FEWEST_ROW_NUMBERS
            && whole(&present)
            && (0.0..=1.0).contains(&low)
            && high - low <= ROW_NUMBER_STEP * present.len() as f64
            && all_different(&present)
}

/// Whether a column numbers the rows: different whole numbers under a name that says so.
fn numbers_rows_by_name(name: &str, unnamed: bool, values: &[f64]) -> bool {
    let lower = name.to_lowercase();
    let words: Vec<&str> = lower
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    let has = |known: &[&str]| words.iter().any(|word| known.contains(word));
    let unnamed = unnamed || matches!(name.trim(), "" | "#");
    // A measured quantity may have such a name (NO, ID); only numbers that run along the rows, or that are far too
    // scattered to be one, are sure.
    if unnamed || has(&IDENTIFIERS) || has(&ROW_NUMBERS) {
        return run_along(values, 2.0) || has(&IDENTIFIERS) && scattered(values);
    }
    !words.is_empty() && words.iter().all(|word| ROWS.contains(word)) && run_along(values, 1.0)
}

/// Whether these are at least three whole numbers.
fn whole(values: &[f64]) -> bool {
    let is_whole = |v: &f64| v.fract() == 0.0 && v.abs() < 1e15;
    values.len() > 2 && values.iter().all(is_whole)
}

/// Whether whole numbers ascend, at most `step` on average: with 1, they have no gaps.
fn run_along(values: &[f64], step: f64) -> bool {
    let [low, high] = super::dataset::range(values.iter());
    whole(values)
        && values.windows(2).all(|pair| pair[1] > pair[0])
        && high - low < step * values.len() as f64
}

/// Whether whole numbers are all different and far more widely spread than the rows.
fn scattered(values: &[f64]) -> bool {
    let [low, high] = super::dataset::range(values.iter());
    whole(values) && all_different(values) && high - low > 20.0 * values.len() as f64
}

/// Whether whole numbers are all different.
fn all_different(values: &[f64]) -> bool {
    let distinct: HashSet<i64> = values.iter().map(|v| *v as i64).collect();
    distinct.len() == values.len()
}

/// How a text column is used.
fn code_of_text(levels: &[String], codes: &[f64], levels_are: Levels) -> Code {
    let mut counts: HashMap<String, usize> = HashMap::new();
    for code in codes.iter().filter(|code| !code.is_nan()) {
        *counts
            .entry(canonical(&levels[*code as usize]))
            .or_default() += 1;
    }
    let rows: usize = counts.values().sum();
    let among = |share: f64, is: &dyn Fn(&str) -> bool| {
        let rows_that = counts
            .iter()
            .filter(|(text, _)| is(text))
            .map(|(_, count)| count);
        rows > 0 && rows_that.sum::<usize>() as f64 >= share * rows as f64
    };
    let is_number =
        |text: &str| number(text).is_some() || has_comma(text) || resembles_number(text);
    let mut found: Vec<String> = counts.keys().cloned().collect();
    found.sort();
    if levels_are == Levels::Ordered {
        let mut known = HashSet::new();
        let levels = levels.iter().map(|level| canonical(level));
        let levels: Vec<String> = levels.filter(|l| known.insert(l.clone())).collect();
        if levels.len() > 1 {
            return Code::Ordinal { levels };
        }
    }
    let long = |text: &String| text.chars().nth(LONGEST_NAME).is_some();
    match found.as_slice() {
        [] => return left_out("it is empty"),
        _ if 2 * rows < codes.len() => return left_out("it is empty in most rows"),
        some if some.iter().any(long) => return left_out("it holds long text"),
        [only] if !is_number(only) || levels_are == Levels::Categories => {
            return left_out(format!("it holds `{only}` alone"));
        }
        _ => {}
    }
    let (l, many) = (found.len(), (rows / ROWS_PER_LEVEL).clamp(2, MOST_LEVELS));
    if levels_are == Levels::Found {
        // A typing error must not turn a measured column into categories.
        if among(NEARLY_ALL, &is_number) {
            return Code::Number;
        }
        if among(NEARLY_ALL, &is_moment) {
            return left_out("it holds dates or times");
        }
        if let Some(unit) = common_unit(&found) {
            return Code::Quantity { unit };
        }
    }
    let identifies = l > 2 && l as f64 >= NEARLY_ALL * rows as f64;
    if !identifies
        && l <= MOST_LEVELS
        && let Some(levels) = ordered(&found)
    {
        return Code::Ordinal { levels };
    }
    if l > many && levels_are == Levels::Found && among(0.5, &is_number) {
        return Code::Number;
    }
    // As a typing error must not turn a measured column into an identifier.
    if (identifies || l > many)
        && let Some(unit) = usual_unit(&found)
        && levels_are == Levels::Found
        && among(NEARLY_ALL, &|text| {
            quantity(text).is_some_and(|found| found.1 == unit)
        })
    {
        return Code::Quantity { unit };
    }
    if identifies {
        left_out("it is different in nearly every row, like an identifier")
    } else if l > many {
        left_out(format!(
            "it is text with {l} levels, too many for {rows} rows"
        ))
    } else {
        Code::OneHot { levels: found }
    }
}

/// The unit of all levels, if they are numbers with the same one.
fn common_unit(levels: &[String]) -> Option<String> {
    let unit = |level: &String| quantity(level).map(|(_, unit)| unit.to_owned());
    let first = unit(levels.first()?)?;
    levels
        .iter()
        .all(|level| unit(level).as_ref() == Some(&first))
        .then_some(first)
}

/// The unit of most levels that have one.
fn usual_unit(levels: &[String]) -> Option<String> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for (_, unit) in levels.iter().filter_map(|level| quantity(level)) {
        *counts.entry(unit).or_default() += 1;
    }
    let most = counts
        .into_iter()
        .max_by_key(|(unit, count)| (*count, *unit));
    most.map(|(unit, _)| unit.to_owned())
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Levels and codes of these cells; an empty one is missing.
    pub fn text(cells: &[&str]) -> (Vec<String>, Vec<f64>) {
        let mut levels: Vec<String> = Vec::new();
        let mut code = |cell: &&str| {
            if cell.is_empty() {
                return f64::NAN;
            }
            let known = levels.iter().position(|level| level == cell);
            known.unwrap_or_else(|| {
                levels.push((*cell).to_owned());
                levels.len() - 1
            }) as f64
        };
        let codes = cells.iter().map(&mut code).collect();
        (levels, codes)
    }

    pub fn column((levels, codes): &(Vec<String>, Vec<f64>), levels_are: Levels) -> Column<'_> {
        Column::Text {
            levels,
            codes,
            levels_are,
        }
    }

    /// Why a column of these texts is ignored.
    fn why(cells: &[&str]) -> String {
        match column(&text(cells), Levels::Found).code("c", false, false) {
            Code::LeftOut { why } => why,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn dates_identifiers_constants_and_many_levels_are_left_out() {
        let many: Vec<String> = (0..40).map(|k| format!("k{k}x")).collect();
        let different: Vec<&str> = many.iter().map(String::as_str).collect();
        assert_eq!(
            why(&different),
            "it is different in nearly every row, like an identifier"
        );
        assert_eq!(
            why(&different.repeat(5)),
            "it is text with 40 levels, too many for 200 rows"
        );
        assert_eq!(
            why(&["2024-01-05", "2024-01-06", "", "2024-01-05"]),
            "it holds dates or times"
        );
        assert_eq!(why(&["a", "a", ""]), "it holds `a` alone");
        let remarks = ["a", "b", "a", "", "", "", "", ""];
        assert_eq!(why(&remarks), "it is empty in most rows");
        assert_eq!(why(&["", ""]), "it is empty");
    }

    #[test]
    fn numbers_of_rows_are_told_from_inputs() {
        let rows = [4.0, 5.0, 6.0, 8.0];
        let input = |name: &str, values: &[f64]| {
            Column::Numbers(values).code(name, false, false) == Code::Number
        };
        for name in ["id", "Sample ID", "#", "Row", "Unnamed: 0", "Nr."] {
            assert!(!input(name, &rows), "{name}");
            assert!(input(name, &[4.0, 4.0, 5.0, 6.0]) && input(name, &[1.0, 2.5, 3.0]));
            let identifier = name.to_lowercase().contains("id");
            assert_eq!(input(name, &[1.0, 20.0, 300.0]), !identifier, "{name}");
        }
        assert!(input("width", &rows) && input("nozzle", &rows) && input("c1", &rows));
        let all = [0.0, 1.0, 2.0, 3.0];
        for name in ["run", "Sample", "OBS", "Run number", "", " "] {
            assert!(!input(name, &all), "{name}");
            assert!(input(name, &[0.0, 1.0, 1.0, 2.0]) && input(name, &[3.0, 2.0, 1.0, 0.0]));
        }
        // Numbers with gaps may be an input of this name, and longer names may mean one.
        let gap = [0.0, 1.0, 2.0, 4.0];
        assert!(input("run", &rows) && input("Reynolds number", &gap) && input("runs", &gap));
    }

    #[test]
    fn consecutive_numbers_are_row_numbers_whatever_their_name() {
        let code = |name: &str, from: f64, step: f64, chosen: bool| {
            let values: Vec<f64> = (0..60).map(|i| from + step * f64::from(i)).collect();
            Column::Numbers(&values).code(name, false, chosen)
        };
        for (name, from) in [
            ("Versuch", 1.0),
            ("Exp. no.", 0.0),
            ("n°", 17.0),
            ("x", -3.0),
        ] {
            assert_eq!(
                code(name, from, 1.0, false),
                left_out(NUMBERS_ROWS),
                "{name}"
            );
            assert_eq!(code(name, from, 1.0, true), Code::Number, "{name}");
            assert_eq!(code("x", from, 2.0, false), Code::Number, "{name}");
            assert_eq!(code("x", from, -1.0, false), Code::Number, "{name}");
            assert_eq!(code("x", from + 0.5, 1.0, false), Code::Number, "{name}");
        }
    }

    #[test]
    fn row_numbers_with_gaps_or_in_another_order_are_row_numbers_whatever_their_name() {
        let is_input = |values: Vec<f64>| {
            Column::Numbers(&values).code("Versuch", false, false) == Code::Number
        };
        let rows = || (1..31).map(f64::from);
        let shuffled = |k: u32| f64::from(7 * k % 31);
        assert!(!is_input(rows().filter(|row| *row != 7.0).collect()));
        assert!(!is_input((1..31).map(shuffled).collect()));
        let gappy = |k: u32| {
            if k.is_multiple_of(6) {
                f64::NAN
            } else {
                shuffled(k)
            }
        };
        assert!(!is_input((1..31).map(gappy).collect()));
        assert!(!is_input((1..11).rev().map(f64::from).collect()));
        // Settings from 20 to 49 in random order are an input.
        assert!(is_input((1..31).map(|k| shuffled(k) + 19.0).collect()));
        // Levels repeat, and measured numbers are neither whole nor this close.
        assert!(is_input((1..31).map(|k| shuffled(k).min(29.0)).collect()));
        assert!(is_input(
            rows().map(|row| row + 0.5 * (row % 2.0)).collect()
        ));
        assert!(is_input(
            rows().map(|row| row + (row / 3.0).floor()).collect()
        ));
        assert!(is_input((1..10).rev().map(f64::from).collect()));
        let rarely = |k: u32| if k < 12 { f64::from(9 * k) } else { f64::NAN };
        assert!(is_input((0..300).map(rarely).collect()));
    }

    #[test]
    fn a_column_that_is_nearly_all_numbers_is_no_identifier() {
        let texts = |odd: &str, unit: &str| -> Vec<String> {
            let number = |k: usize| format!("{}.5{unit}", 3 * k);
            let mut texts: Vec<String> = (0..40).map(number).collect();
            texts[17] = odd.into();
            texts
        };
        let code = |texts: &[String]| {
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            column(&text(&texts), Levels::Found).code("c", false, false)
        };
        for odd in ["abc", "0x1f", "$1.2", "1 234"] {
            assert_eq!(code(&texts(odd, "")), Code::Number, "{odd}");
        }
        let all: Vec<String> = (0..40).map(|k| format!("0x{k:x}")).collect();
        assert_eq!(code(&all), Code::Number);
        let unit = Code::Quantity { unit: "mm".into() };
        assert_eq!(code(&texts("?5 mm", " mm")), unit);
    }
}
