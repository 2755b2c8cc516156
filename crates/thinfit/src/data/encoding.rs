//! The encoding of a user's table: which of its columns are inputs, and how text becomes numbers.
//!
//! Ordered text becomes one input (level k of L ↦ k/(L − 1)), other text one indicator per level, named
//! `column=level`; two levels need only one. `column` decides the role of each column, `cell_parser` reads a single
//! cell.

use super::cell_parser::{canonical, number, quantity};
use super::column::{Code, Column};
use crate::{Error, Result};
use faer::Mat;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};
use thinfit_text::{LONGEST_NAME, clean, nearest};

/// Maximum number of levels in a message.
const MOST_SHOWN: usize = 8;

/// A column of the table and its use.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Coded {
    /// Name of the column.
    pub name: String,
    /// Its use.
    #[serde(flatten)]
    pub code: Code,
    /// The replacement of a missing cell, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<Filling>,
}

/// The replacement of a missing cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Filling {
    /// The mean of numbers.
    Number(f64),
    /// The most frequent level of text.
    Level(String),
}

/// How the columns of a table become the inputs of a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Encoding {
    columns: Vec<Coded>,
}

impl Encoding {
    /// The encoding of these columns, found from their cells. If the user has `chosen` them, a number is an input whatever
    /// its name.
    ///
    /// # Panics
    /// There are not as many names as columns, or a code has no level.
    pub fn learn(names: &[String], columns: &[Column<'_>], chosen: bool) -> Self {
        assert_eq!(names.len(), columns.len());
        // Programs write the number of the row in a first column without a name.
        let unnamed = |j: usize| {
            let mut numbered = names.iter().zip(1..);
            j == 0 && names[0] == "c1" && numbered.any(|(name, j)| *name != format!("c{j}"))
        };
        let coded = names
            .iter()
            .zip(columns)
            .enumerate()
            .map(|(j, (name, column))| {
                let code = column.code(name, unnamed(j), chosen);
                let name = match code {
                    // No name of a model is checked for it, but it is in the file.
                    Code::LeftOut { .. } => clean(name).chars().take(LONGEST_NAME).collect(),
                    _ => name.clone(),
                };
                Coded {
                    name,
                    code,
                    missing: None,
                }
            });
        let mut encoding = Encoding {
            columns: coded.collect(),
        };
        // One column is enough to number the rows; in another order it may as well be the levels of a Latin hypercube.
        if several_row_numbers(&encoding.columns, columns) && !chosen {
            for (coded, column) in encoding.columns.iter_mut().zip(columns) {
                if column.is_order_of_rows() {
                    coded.code = Code::Number;
                }
            }
        }
        // What numbers the rows is the input of a series that has no other; of one that has no other number, if its name does not
        // say that it numbers them.
        let numeric = |coded: &Coded| matches!(coded.code, Code::Number | Code::Quantity { .. });
        let by_content = |j: &usize| columns[*j].numbers_rows_by_content(&names[*j], unnamed(*j));
        let kept = if encoding.used().next().is_none() {
            let last = (0..columns.len()).rev().find(by_content);
            last.or_else(|| columns.iter().rposition(Column::runs_along_rows))
        } else if !encoding.used().any(numeric) {
            (0..columns.len()).rev().find(by_content)
        } else {
            None
        };
        if let Some(j) = kept {
            encoding.columns[j].code = Code::Number;
        }
        encoding
    }

    /// The input that could number the rows, but is the only one of numbers in these `columns`, which the encoding was learned
    /// from; none if the user has chosen the inputs.
    pub fn kept_row_number(&self, columns: &[Column<'_>], chosen: bool) -> Option<&str> {
        let several = several_row_numbers(&self.columns, columns);
        let consecutive = |(coded, column): &(&Coded, &Column<'_>)| {
            coded.code == Code::Number
                && !(several && column.is_order_of_rows())
                && column.code(&coded.name, false, false).numbers_rows()
        };
        let mut columns = self.columns.iter().zip(columns);
        let kept = columns.find(consecutive).filter(|_| !chosen);
        kept.map(|(coded, _)| coded.name.as_str())
    }

    /// All columns, in the order of the table.
    pub fn columns(&self) -> &[Coded] {
        &self.columns
    }

    /// The columns that are not left out, in the order in which [`Encoding::apply`] takes them.
    pub fn used(&self) -> impl Iterator<Item = &Coded> {
        let used = |coded: &&Coded| !matches!(coded.code, Code::LeftOut { .. });
        self.columns.iter().filter(used)
    }

    /// Whether every column is an input as it is, so that no encoding is needed.
    pub fn is_plain(&self) -> bool {
        let plain = |coded: &Coded| coded.code == Code::Number && coded.missing.is_none();
        self.columns.iter().all(plain)
    }

    /// The encoding with means, or the most frequent levels, for missing cells: those of all `columns`, which it was learned
    /// from.
    ///
    /// # Panics
    /// There are not as many columns as names.
    pub fn filled_from(mut self, columns: &[Column<'_>]) -> Self {
        assert_eq!(self.columns.len(), columns.len());
        for (coded, column) in self.columns.iter_mut().zip(columns) {
            coded.missing = coded.filling(column);
        }
        self
    }

    /// Whether it has replacements for missing cells.
    pub fn fills(&self) -> bool {
        self.used().all(|coded| coded.missing.is_some())
    }

    /// Names of the inputs (d).
    pub fn inputs(&self) -> Vec<String> {
        self.used().flat_map(Coded::inputs).collect()
    }

    /// The inputs of every column that makes one of `inputs`, in order: those that tell the levels of one text from each other belong
    /// together.
    pub fn inputs_of_same_columns(&self, inputs: &[usize]) -> Vec<usize> {
        let mut first = 0;
        let own = self.used().map(|coded| {
            let own = first..first + coded.inputs().len();
            first = own.end;
            own
        });
        own.filter(|own| inputs.iter().any(|j| own.contains(j)))
            .flatten()
            .collect()
    }

    /// The inputs (m × d) from the columns that are [used](Encoding::used), in this order.
    ///
    /// Missing cells get their [replacement](Encoding::filled_from); without one, a missing number stays NaN.
    ///
    /// # Errors
    /// A text that is not what the column held when the encoding was found, or that is missing.
    ///
    /// # Panics
    /// A code has no level.
    pub fn apply(&self, columns: &[Column<'_>]) -> Result<Mat<f64>> {
        self.apply_or_tell(columns)
            .map_err(|mut errors| errors.swap_remove(0))
    }

    /// [`Encoding::apply`], whose error is all that is wrong: the first of each text that is unknown.
    ///
    /// # Errors
    /// As [`Encoding::apply`]; at least one.
    ///
    /// # Panics
    /// As [`Encoding::apply`].
    pub fn apply_or_tell(
        &self,
        columns: &[Column<'_>],
    ) -> std::result::Result<Mat<f64>, Vec<Error>> {
        let rows = columns.first().map_or(0, Column::rows);
        let (mut x, mut errors) = (Mat::zeros(rows, self.inputs().len()), Vec::new());
        let mut place = 0..x.ncols();
        for (coded, column) in self.used().zip(columns) {
            match coded.apply(column) {
                Ok(_) if !errors.is_empty() => {}
                Ok(inputs) => {
                    for (values, j) in inputs.iter().zip(&mut place) {
                        x.col_as_slice_mut(j).copy_from_slice(values);
                    }
                }
                Err(problems) => errors.extend(problems),
            }
        }
        match errors.is_empty() {
            true => Ok(x),
            false => Err(errors),
        }
    }

    /// How the non-numeric columns are used: one line each.
    pub fn notes(&self) -> Vec<String> {
        self.columns.iter().filter_map(Coded::note).collect()
    }

    /// Whether the encoding gives exactly these inputs, from levels that can be told apart.
    pub fn fits(&self, inputs: &[String]) -> bool {
        let sound = |coded: &Coded| match &coded.code {
            Code::Ordinal { levels } | Code::OneHot { levels } => {
                let distinct: HashSet<_> = levels.iter().collect();
                levels.len() > 1 && distinct.len() == levels.len()
            }
            _ => true,
        };
        let filled = |coded: &Coded| match (&coded.missing, &coded.code) {
            (None, _) => true,
            (Some(Filling::Number(value)), Code::Number | Code::Quantity { .. }) => {
                value.is_finite()
            }
            (Some(Filling::Level(level)), Code::Ordinal { levels } | Code::OneHot { levels }) => {
                levels.contains(level)
            }
            _ => false,
        };
        let sound = |coded: &Coded| sound(coded) && filled(coded);
        self.columns.iter().all(sound) && self.inputs() == inputs
    }
}

/// Whether several columns number the rows, by what they hold or by name.
fn several_row_numbers(coded: &[Coded], columns: &[Column<'_>]) -> bool {
    let numbering = coded.iter().zip(columns).filter(|(coded, column)| {
        let code = column.code(&coded.name, false, false);
        code.numbers_rows()
    });
    numbering.count() > 1
}

impl Coded {
    /// How the column is used; `None` if it is an input as it is.
    pub fn note(&self) -> Option<String> {
        let what = match &self.code {
            Code::Number => return None,
            Code::Quantity { unit } => format!("text, read as numbers in {unit}"),
            Code::Ordinal { levels } => format!(
                "text with {} levels in order ({}), one input from 0 to 1",
                levels.len(),
                shown(levels, " < ")
            ),
            Code::OneHot { levels } if levels.len() == 2 => format!(
                "text with 2 levels ({}), one input that is 1 for {}",
                shown(levels, ", "),
                levels[1]
            ),
            Code::OneHot { levels } => format!(
                "text with {} levels ({}), one input each",
                levels.len(),
                shown(levels, ", ")
            ),
            Code::LeftOut { why } => format!("ignored, {why}"),
        };
        let name = match self.name.trim() {
            "" => "an unnamed column",
            name => name,
        };
        Some(format!("{name}: {what}"))
    }

    /// Names of the inputs that the column becomes.
    fn inputs(&self) -> Vec<String> {
        let name = |level: &String| format!("{}={level}", self.name);
        match &self.code {
            Code::LeftOut { .. } => Vec::new(),
            Code::OneHot { levels } => indicators(levels).iter().map(name).collect(),
            _ => vec![self.name.clone()],
        }
    }

    /// What takes the place of a missing cell of `column`: the mean of its numbers, or the most frequent of its levels, the
    /// first of them in a tie. None if it has neither.
    fn filling(&self, column: &Column<'_>) -> Option<Filling> {
        let mean = |values: Vec<f64>| {
            // Divide first: a sum of large numbers may overflow.
            let count = values.len() as f64;
            (count > 0.0).then(|| Filling::Number(values.iter().map(|v| v / count).sum()))
        };
        let (levels, codes) = match (column, &self.code) {
            (_, Code::LeftOut { .. }) | (Column::Dates, _) => return None,
            (Column::Numbers(values), Code::Number | Code::Quantity { .. }) => {
                return mean(values.iter().copied().filter(|v| !v.is_nan()).collect());
            }
            (Column::Numbers(_), _) => return None,
            (Column::Text { levels, codes, .. }, _) => (levels, codes),
        };
        let present = codes.iter().filter(|code| !code.is_nan());
        let present: Vec<&str> = present
            .map(|code| levels[*code as usize].as_str())
            .collect();
        let levels = match &self.code {
            Code::Ordinal { levels } | Code::OneHot { levels } => levels,
            Code::Quantity { .. } => {
                return mean(
                    present
                        .into_iter()
                        .filter_map(|t| quantity(t).map(|q| q.0))
                        .collect(),
                );
            }
            _ => return mean(present.into_iter().filter_map(number).collect()),
        };
        let mut counts: HashMap<String, usize> = HashMap::new();
        for text in present {
            *counts.entry(canonical(text)).or_default() += 1;
        }
        let count = |level: &&String| counts.get(&canonical(level)).copied().unwrap_or(0);
        let most = levels.iter().map(|level| count(&level)).max()?;
        let level = levels.iter().find(|level| count(level) == most)?;
        Some(Filling::Level(level.clone()))
    }

    /// Values of the inputs that the column becomes.
    fn apply(&self, column: &Column<'_>) -> Applied<Vec<Vec<f64>>> {
        let place = |levels: &[String]| -> HashMap<String, f64> {
            let places = levels.iter().map(|level| canonical(level));
            places.zip((0..).map(f64::from)).collect()
        };
        match &self.code {
            Code::LeftOut { .. } => Ok(Vec::new()),
            Code::Number => {
                if let Column::Numbers(values) = column {
                    let filling = match self.missing {
                        Some(Filling::Number(mean)) => mean,
                        _ => f64::NAN,
                    };
                    let filled = |v: &f64| if v.is_nan() { filling } else { *v };
                    return Ok(vec![values.iter().map(filled).collect()]);
                }
                let values = self.values(column, "a number", number);
                values.map(|values| vec![values])
            }
            Code::Quantity { unit } => {
                let expected = format!("a number with the unit {unit}");
                // A bare number is taken to be in the unit, as of a plan or a minimum.
                let read = |text: &str| {
                    let with_unit = quantity(text).filter(|q| q.1 == unit).map(|q| q.0);
                    with_unit.or_else(|| number(text))
                };
                Ok(vec![self.values(column, &expected, read)?])
            }
            Code::Ordinal { levels } => {
                let (places, most) = (place(levels), (levels.len() - 1) as f64);
                let rank = |text: &str| places.get(&canonical(text)).map(|k| k / most);
                Ok(vec![self.values(column, &one_of(levels), rank)?])
            }
            Code::OneHot { levels } => {
                let places = place(levels);
                let at = |text: &str| places.get(&canonical(text)).copied();
                let codes = self.values(column, &one_of(levels), at)?;
                let first = levels.len() - indicators(levels).len();
                let indicator = |k: usize| {
                    let is = |code: &f64| f64::from(u8::from(*code == k as f64));
                    codes.iter().map(is).collect()
                };
                Ok((first..levels.len()).map(indicator).collect())
            }
        }
    }

    /// The value of each cell, which `read` finds from its text.
    fn values(
        &self,
        column: &Column<'_>,
        expected: &str,
        read: impl Fn(&str) -> Option<f64>,
    ) -> Applied<Vec<f64>> {
        let filling = match &self.missing {
            None => None,
            Some(Filling::Number(value)) => Some(*value),
            Some(Filling::Level(level)) => read(level),
        };
        let (mut values, mut errors) = (Vec::new(), Vec::new());
        let mut told = HashSet::new();
        let mut cell = |row: usize, text: Option<&str>, value: Option<f64>| {
            if let Some(value) = text.map_or(filling, |_| value) {
                values.push(value);
            } else if told.insert(text.map(str::to_owned)) {
                errors.push(Error::Cell {
                    column: self.name.clone(),
                    row,
                    expected: expected.into(),
                    text: text.map(str::to_owned),
                    found: text.map_or("nothing".into(), |text| self.found(text)),
                });
            }
        };
        match column {
            Column::Numbers(numbers) => {
                for (row, value) in numbers.iter().enumerate() {
                    let text = (!value.is_nan()).then(|| value.to_string());
                    cell(row, text.as_deref(), text.as_deref().and_then(&read));
                }
            }
            Column::Text { levels, codes, .. } => {
                let values: Vec<Option<f64>> =
                    levels.iter().map(|level| read(&clean(level))).collect();
                for (row, code) in codes.iter().enumerate() {
                    let level = (!code.is_nan()).then_some(*code as usize);
                    let text = level.map(|level| levels[level].as_str());
                    cell(row, text, level.and_then(|level| values[level]));
                }
            }
            Column::Dates => {
                errors.push(Error::Cell {
                    column: self.name.clone(),
                    row: 0,
                    expected: expected.into(),
                    text: None,
                    found: "dates or times".into(),
                });
            }
        }
        match errors.is_empty() {
            true => Ok(values),
            false => Err(errors),
        }
    }

    /// A text that is unknown, and the level that was probably meant.
    fn found(&self, text: &str) -> String {
        let (Code::Ordinal { levels } | Code::OneHot { levels }) = &self.code else {
            return format!("`{text}`");
        };
        match nearest(levels, text) {
            Some(level) => format!("`{text}` (did you mean `{level}`?)"),
            None => format!("`{text}`"),
        }
    }
}

/// A result whose error is all that is wrong.
type Applied<T> = std::result::Result<T, Vec<Error>>;

/// The levels that have an indicator of their own.
fn indicators(levels: &[String]) -> &[String] {
    if levels.len() == 2 {
        &levels[1..]
    } else {
        levels
    }
}

fn one_of(levels: &[String]) -> String {
    format!("one of {}", shown(levels, ", "))
}

/// The first few levels.
fn shown(levels: &[String], between: &str) -> String {
    match levels.len().checked_sub(MOST_SHOWN + 1) {
        None => levels.join(between),
        Some(more) => format!(
            "{}{between}and {} more",
            levels[..MOST_SHOWN].join(between),
            more + 1
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::super::column::tests::{column, text};
    use super::*;
    use crate::Levels;
    /// The encoding of one column of text.
    fn learn(cells: &[&str]) -> Encoding {
        let cells = text(cells);
        Encoding::learn(&["c".into()], &[column(&cells, Levels::Found)], false)
    }

    fn apply(encoding: &Encoding, cells: &[&str]) -> Result<Mat<f64>> {
        encoding.apply(&[column(&text(cells), Levels::Found)])
    }

    fn note(cells: &[&str]) -> String {
        learn(cells).notes().join("\n")
    }

    #[test]
    fn levels_without_an_order_become_indicators() {
        let cells = ["steel", "brass", "steel", "alu"].repeat(3);
        let encoding = learn(&cells);
        assert_eq!(encoding.inputs(), ["c=alu", "c=brass", "c=steel"]);
        assert_eq!(encoding.inputs_of_same_columns(&[1]), [0, 1, 2]);
        assert_eq!(
            encoding.notes(),
            ["c: text with 3 levels (alu, brass, steel), one input each"]
        );
        let x = apply(&encoding, &["brass", " steel "]).unwrap();
        assert_eq!((x[(0, 0)], x[(0, 1)], x[(0, 2)]), (0.0, 1.0, 0.0));
        assert_eq!((x[(1, 0)], x[(1, 1)], x[(1, 2)]), (0.0, 0.0, 1.0));
        let error = apply(&encoding, &["alu", "wood"]).unwrap_err().to_string();
        assert!(
            error.contains("column `c`, row 1: expected one of alu, brass, steel, found `wood`"),
            "{error}"
        );
        let error = apply(&encoding, &["alu", ""]).unwrap_err().to_string();
        assert!(
            error.contains("row 1") && error.contains("found nothing"),
            "{error}"
        );
    }

    #[test]
    fn missing_cells_become_the_mean_or_the_most_frequent_level() {
        let (metal, length) = (
            text(&["steel", "brass", "", "steel"]),
            text(&["2 mm", "", "5 mm", "5 mm"]),
        );
        let numbers = [1e308, f64::NAN, 1.5e308, 0.5e308];
        let columns = [
            column(&metal, Levels::Categories),
            column(&length, Levels::Found),
            Column::Numbers(&numbers),
        ];
        let names = ["metal", "length", "x"].map(String::from);
        let encoding = Encoding::learn(&names, &columns, false);
        assert!(!encoding.fills());
        let encoding = encoding.filled_from(&columns);
        assert!(encoding.fills() && !encoding.is_plain());
        let x = encoding.apply(&columns).unwrap();
        assert_eq!((x[(2, 0)], x[(1, 1)]), (1.0, 4.0));
        assert!((x[(1, 2)] / 1e308 - 1.0).abs() < 1e-12);
        // A file keeps it, and is checked.
        let written = serde_json::to_string(&encoding).unwrap();
        let read: Encoding = serde_json::from_str(&written).unwrap();
        assert_eq!(read, encoding);
        assert!(read.fits(&encoding.inputs()));
        let foreign = written.replace(r#""missing":"steel""#, r#""missing":"wood""#);
        let read: Encoding = serde_json::from_str(&foreign).unwrap();
        assert!(foreign != written && !read.fits(&encoding.inputs()));
    }

    #[test]
    fn all_unknown_levels_are_told_and_the_one_that_was_meant() {
        let encoding = learn(&["steel", "brass", "steel", "alu"].repeat(3));
        let cells = text(&["wood", "Steel", "wood", "alu"]);
        let errors = encoding.apply_or_tell(&[column(&cells, Levels::Found)]);
        let errors: Vec<String> = errors.unwrap_err().iter().map(Error::to_string).collect();
        assert_eq!(errors.len(), 2, "{errors:?}");
        assert!(errors[0].contains("found `wood`"), "{errors:?}");
        assert!(
            errors[1].contains("found `Steel` (did you mean `steel`?)"),
            "{errors:?}"
        );
    }

    #[test]
    fn two_levels_need_one_indicator() {
        let encoding = learn(&["yes", "no", "no", "yes"]);
        assert_eq!(encoding.inputs(), ["c=yes"]);
        let x = apply(&encoding, &["no", "yes"]).unwrap();
        assert_eq!((x.ncols(), x[(0, 0)], x[(1, 0)]), (1, 0.0, 1.0));
    }

    #[test]
    fn ordered_words_ranges_and_units_become_one_input() {
        let encoding = learn(&["low", "high", "medium"].repeat(4));
        assert_eq!(encoding.inputs(), ["c"]);
        let x = apply(&encoding, &["high", "medium", "low"]).unwrap();
        assert_eq!((x[(0, 0)], x[(1, 0)], x[(2, 0)]), (1.0, 0.5, 0.0));
        let encoding = learn(&["5 mm", "12.5 mm", "-1 mm", "7 mm"]);
        let x = apply(&encoding, &["3.25mm"]).unwrap();
        assert_eq!(x[(0, 0)], 3.25);
        let error = apply(&encoding, &["3 cm"]).unwrap_err().to_string();
        assert!(
            error.contains("expected a number with the unit mm, found `3 cm`"),
            "{error}"
        );
        assert_eq!(
            note(&["10-20", "<10", ">20"].repeat(4)),
            "c: text with 3 levels in order (<10 < 10-20 < >20), one input from 0 to 1"
        );
    }
    #[test]
    fn a_first_column_without_a_name_numbers_the_rows() {
        let rows = [4.0, 5.0, 6.0, 8.0];
        let names = ["c1".to_owned(), "x".to_owned()];
        let columns = [Column::Numbers(&rows), Column::Numbers(&rows)];
        assert_eq!(Encoding::learn(&names, &columns, false).inputs(), ["x"]);
        assert!(Encoding::learn(&names, &columns, true).is_plain());
    }

    #[test]
    fn consecutive_numbers_stay_where_they_are_the_only_numbers() {
        let rows: Vec<f64> = (1..=40).map(f64::from).collect();
        let squares: Vec<f64> = rows.iter().map(|x| x * x % 17.0).collect();
        let metal = text(&["steel", "brass"].repeat(20));
        let (rows, squares) = (Column::Numbers(&rows), Column::Numbers(&squares));
        let metal = column(&metal, Levels::Found);
        let learn = |names: &[&str], columns: &[Column<'_>]| {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            let encoding = Encoding::learn(&names, columns, false);
            let kept = encoding.kept_row_number(columns, false).map(str::to_owned);
            (encoding.inputs(), kept)
        };
        let some = |name: &str| Some(name.to_owned());
        let names = |names: &[&str]| names.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>();
        assert_eq!(
            learn(&["Versuch", "x"], &[rows, squares]),
            (names(&["x"]), None)
        );
        assert_eq!(learn(&["x"], &[rows]), (names(&["x"]), some("x")));
        let expected = (names(&["t", "m=steel"]), some("t"));
        assert_eq!(learn(&["t", "m"], &[rows, metal]), expected);
        // A name that says so is believed beside text.
        assert_eq!(
            learn(&["Nr", "m"], &[rows, metal]),
            (names(&["m=steel"]), None)
        );
        assert_eq!(
            learn(&["Nr", "t"], &[rows, rows]),
            (names(&["t"]), some("t"))
        );
    }

    #[test]
    fn whole_numbers_of_a_latin_hypercube_are_no_row_numbers() {
        let shuffled =
            |factor: u32| -> Vec<f64> { (1..31).map(|k| f64::from(factor * k % 31)).collect() };
        let (one, other) = (shuffled(7), shuffled(11));
        let rows: Vec<f64> = (1..31).map(f64::from).collect();
        let half: Vec<f64> = one.iter().map(|x| x / 2.0).collect();
        let columns = [&one, &other, &half, &rows];
        let [one, other, half, rows] = columns.map(|values| Column::Numbers(values));
        let learn = |columns: &[Column<'_>]| {
            let names: Vec<String> = ["a", "b", "c"].map(str::to_owned).into();
            let encoding = Encoding::learn(&names[..columns.len()], columns, false);
            let kept = encoding.kept_row_number(columns, false).map(str::to_owned);
            (encoding.inputs().concat(), kept)
        };
        assert_eq!(learn(&[one, other, half]), ("abc".into(), None));
        assert_eq!(learn(&[one, half]), ("b".into(), None));
        // Another column numbers them.
        assert_eq!(learn(&[rows, one, half]), ("bc".into(), None));
        assert_eq!(learn(&[one]), ("a".into(), Some("a".into())));
    }

    #[test]
    fn what_numbers_the_rows_is_an_input_if_there_is_no_other() {
        let (rows, names) = (
            [0.0, 1.0, 2.0, 3.0],
            ["", "run", "day"].map(|name| name.to_owned()),
        );
        let columns = [
            Column::Numbers(&rows),
            Column::Numbers(&rows),
            Column::Dates,
        ];
        let encoding = Encoding::learn(&names, &columns, false);
        assert_eq!(encoding.inputs(), ["run"]);
        assert_eq!(
            encoding.notes()[0],
            "an unnamed column: ignored, it numbers the rows"
        );
        let scattered = [7.0, 100_000.0, 2_000.0, 31_000.0];
        let columns = [Column::Numbers(&scattered)];
        assert!(
            Encoding::learn(&["id".into()], &columns, false)
                .inputs()
                .is_empty()
        );
    }

    #[test]
    fn a_typing_error_or_a_decimal_comma_does_not_make_categories() {
        let mut cells = vec!["1.5"; 30];
        cells[7] = "abc";
        let encoding = learn(&cells);
        assert!(encoding.is_plain());
        let error = apply(&encoding, &cells).unwrap_err().to_string();
        assert!(
            error.contains("row 7: expected a number, found `abc`"),
            "{error}"
        );
        assert!(learn(&["1,5", "2,5", "3,5"]).is_plain());
        // Detection limits: measured, but for some rows.
        let cells: Vec<String> = (0..40).map(|k| format!("{}", k as f64 / 8.0)).collect();
        let mut cells: Vec<&str> = cells.iter().map(String::as_str).collect();
        cells.extend(["<0.1"; 10]);
        assert!(learn(&cells).is_plain());
        // A few numbers among codes are codes, however they are written.
        let encoding = learn(&["1", "2", "2A", "2B"].repeat(4));
        assert_eq!(encoding.inputs().len(), 4);
        let x = encoding.apply(&[Column::Numbers(&[2.0])]).unwrap();
        assert_eq!((x[(0, 0)], x[(0, 1)]), (0.0, 1.0));
        assert_eq!(apply(&encoding, &["2.0"]).unwrap()[(0, 1)], 1.0);
        let x = apply(&learn(&["true", "False"]), &["TRUE", "false"]).unwrap();
        assert_eq!((x[(0, 0)], x[(1, 0)]), (1.0, 0.0));
    }

    #[test]
    fn categories_that_are_named_as_such_may_look_like_numbers() {
        let cells = text(&["1", "2", "3"].repeat(4));
        let learn =
            |levels_are| Encoding::learn(&["c".into()], &[column(&cells, levels_are)], false);
        assert_eq!(learn(Levels::Categories).inputs().len(), 3);
        let ordered = learn(Levels::Ordered);
        assert_eq!(ordered.inputs(), ["c"]);
        let x = ordered.apply(&[Column::Numbers(&[3.0])]).unwrap();
        assert_eq!(x[(0, 0)], 1.0);
        let error = ordered
            .apply(&[Column::Numbers(&[4.0])])
            .unwrap_err()
            .to_string();
        assert!(error.contains("found `4`"), "{error}");
    }

    #[test]
    fn it_survives_a_file_and_is_checked_against_the_inputs() {
        let (a, b) = (
            text(&["x", "y", "z"].repeat(4)),
            text(&["1 s", "2 s"].repeat(6)),
        );
        let values: Vec<f64> = (0..12).map(|i| f64::from(i * i)).collect();
        let columns = [
            column(&a, Levels::Found),
            Column::Numbers(&values),
            Column::Dates,
            column(&b, Levels::Found),
        ];
        let names = ["a", "v", "day", "t"].map(str::to_owned);
        let encoding = Encoding::learn(&names, &columns, false);
        let json = serde_json::to_string(&encoding).unwrap();
        assert!(
            json.starts_with(
                r#"[{"name":"a","as":"one-hot","levels":["x","y","z"]},{"name":"v","as":"number"}"#
            ),
            "{json}"
        );
        assert_eq!(serde_json::from_str::<Encoding>(&json).unwrap(), encoding);
        let inputs = encoding.inputs();
        assert_eq!(inputs, ["a=x", "a=y", "a=z", "v", "t"]);
        assert!(encoding.fits(&inputs) && !encoding.fits(&inputs[1..]));
        let spoilt = json.replace(r#"["x","y","z"]"#, r#"["x","x"]"#);
        assert!(!serde_json::from_str::<Encoding>(&spoilt).unwrap().fits(&[
            "a=x".into(),
            "v".into(),
            "t".into()
        ]));
    }
}
