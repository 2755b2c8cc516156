//! Texts: the cells of a column that are not numbers. They are stored apart from the numbers, so that a numeric
//! column costs nothing, and become codes, indices of distinct texts, once the column is known not to be numeric.

use crate::error::Spot;
use crate::note::Unusual;
use std::collections::HashMap;
use thinfit_text::unusual_number;

/// A missing value in a numeric column, but ordinary text in a text column.
const NONE: &str = "none";

/// The text in a column that may hold some.
#[derive(Debug, Clone, Default)]
pub(crate) struct TextCells {
    /// Different texts.
    pub levels: Vec<String>,
    /// Where each of them is first, if it was found as text.
    places: Vec<Option<Spot>>,
    index: HashMap<String, usize>,
    /// Row and level of each cell that is text and has no code yet, in the order of rows.
    cells: Vec<(usize, usize)>,
    /// Bytes in all different texts.
    length: usize,
    /// Whether the cells are dates or times.
    pub dates: bool,
}

/// The value of a cell of `row` that is this text, whose `number` it may be, in a column that may hold text; none if it is not
/// a number where one is needed, in an `unusual` notation either.
pub(crate) fn cell_value(
    (text_cells, unusual): (&mut Option<TextCells>, &mut Unusual),
    row: usize,
    content: &str,
    number: Option<f64>,
    spot: Spot,
) -> Option<f64> {
    match (number, text_cells) {
        (Some(value), text_cells) if text_cells.is_none() || !value.is_nan() => Some(value),
        (number, Some(text_cells)) => Some(text_cells.value(row, content, number, spot)),
        (_, None) => unusual.number(content, spot),
    }
}

impl TextCells {
    /// What stands for the cell of `row` among numbers: its `number`, if it is one, NaN if it is missing, and 0 for a text,
    /// which is remembered.
    pub fn value(&mut self, row: usize, content: &str, number: Option<f64>, spot: Spot) -> f64 {
        match number {
            Some(value) if !(value.is_nan() && content == NONE) => value,
            _ => {
                let level = self.level(content, Some(spot));
                self.cells.push((row, level));
                0.0
            }
        }
    }

    /// About the memory that they take, in bytes: every text is kept twice, with a place in a list and in an index.
    pub fn bytes(&self) -> u64 {
        let texts = self.levels.len() * 128 + 2 * self.length;
        (texts + self.cells.len() * size_of::<(usize, usize)>()) as u64
    }

    /// The index of a text.
    fn level(&mut self, text: &str, place: Option<Spot>) -> usize {
        if let Some(level) = self.index.get(text) {
            return *level;
        }
        self.index.insert(text.to_owned(), self.levels.len());
        self.levels.push(text.to_owned());
        self.places.push(place);
        self.length += text.len();
        self.levels.len() - 1
    }

    /// Turns the `values` of the rows from `first` on into codes, numbers among them as well; NaN stays. `position` says
    /// where one of these rows is, counted from 0, if that is known.
    pub fn encode<'a>(
        &mut self,
        first: usize,
        values: impl Iterator<Item = &'a mut f64>,
        position: impl Fn(usize) -> Option<Spot>,
    ) {
        let mut cells = std::mem::take(&mut self.cells).into_iter().peekable();
        for (row, value) in (first..).zip(values) {
            if let Some((_, level)) = cells.next_if(|cell| cell.0 == row) {
                *value = level as f64;
            } else if !value.is_nan() {
                *value = self.level(&value.to_string(), position(row - first)) as f64;
            }
        }
    }

    /// Turns the texts into numbers if all of them are some: in an unusual notation, or `none`, which is a missing value among
    /// numbers. Returns the first row that is missing then.
    pub fn turn_into_numbers(
        &mut self,
        values: &mut [f64],
        unusual: &mut Unusual,
    ) -> Option<(usize, Spot)> {
        let mut counts = vec![0; self.levels.len()];
        self.cells.iter().for_each(|cell| counts[cell.1] += 1);
        let mut found = unusual.clone();
        let number = |((text, place), cells): ((&String, &Option<Spot>), u64)| {
            if text == NONE {
                return Some(f64::NAN);
            }
            let (value, notations) = unusual_number(text)?;
            found
                .add(&notations, cells, text, (*place)?)
                .then_some(value)
        };
        let levels = self.levels.iter().zip(&self.places).zip(counts);
        let numbers: Vec<f64> = levels.map(number).collect::<Option<_>>()?;
        *unusual = found;
        let text_cells = std::mem::take(self);
        let mut missing = None;
        for (row, level) in text_cells.cells {
            values[row] = numbers[level];
            if numbers[level].is_nan() {
                missing = missing.or(text_cells.places[level].map(|place| (row, place)));
            }
        }
        self.dates = text_cells.dates;
        missing
    }

    /// Where a text is first.
    pub fn place(&self, text: &str) -> Option<Spot> {
        self.index.get(text).and_then(|level| self.places[*level])
    }

    /// The texts that are not numbers, and where each is first.
    pub fn texts(&self) -> impl Iterator<Item = (&str, Spot)> {
        let levels = self.levels.iter().zip(&self.places);
        levels.filter_map(|(text, place)| place.map(|place| (text.as_str(), place)))
    }

    /// Whether the text of this code is not a number.
    pub fn is_text(&self, code: usize) -> bool {
        self.places[code].is_some()
    }
}
