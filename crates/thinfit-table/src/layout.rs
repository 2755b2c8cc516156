//! The layout of a table: whether its first record holds names, title lines above it, and a row of units below.

use crate::error::malformed;
use crate::units::is_unit;
use crate::{Remedy, Result};
use std::path::Path;
use thinfit_text::unusual_number;

/// The records around the rows of a table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Layout {
    /// Records above the names that are a title.
    pub titles: usize,
    /// Whether there are names.
    pub header: bool,
    /// Whether the record below the names holds units.
    pub units: bool,
}

/// The kind of a field, as far as the layout is concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Field {
    Number,
    Missing,
    /// Text that is a unit.
    Unit,
    /// A dash, which means no unit.
    Dash,
    Text,
}

impl Field {
    /// The kind of this text, whose `number` it is if it is one.
    pub fn of(text: &str, number: Option<f64>) -> Self {
        match number {
            Some(value) if value.is_nan() => Field::Missing,
            Some(_) => Field::Number,
            None if unusual_number(text).is_some() => Field::Number,
            None if matches!(text.trim(), "-" | "–" | "—") => Field::Dash,
            None if is_unit(text) => Field::Unit,
            None => Field::Text,
        }
    }

    /// Whether it is text, a unit among others.
    pub fn is_text(self) -> bool {
        matches!(self, Field::Unit | Field::Dash | Field::Text)
    }
}

impl Layout {
    /// The rows among these records.
    pub fn rows(self, records: &[Vec<Field>]) -> &[Vec<Field>] {
        let above = self.titles + usize::from(self.header) + usize::from(self.units);
        &records[above.min(records.len())..]
    }

    /// The layout of a table that begins with these records. If it is `said` whether the first record is a header, there is
    /// no title.
    pub fn of(path: &Path, records: &[Vec<Field>], said: Option<bool>) -> Result<Self> {
        let titles = match said {
            Some(_) => 0,
            None => titles(records),
        };
        let header = match said {
            Some(said) => said,
            None => titles > 0 || is_header(path, records)?,
        };
        Ok(Layout {
            titles,
            header,
            units: header && has_units(&records[titles.min(records.len())..]),
        })
    }
}

/// The number of records above the names: texts in the first field alone, or in another number of fields than most records
/// have.
pub(crate) fn titles(records: &[Vec<Field>]) -> usize {
    let count = |width: usize| records.iter().filter(|r| r.len() == width).count();
    let widths = records.iter().map(Vec::len);
    let Some(width) = widths.max_by_key(|width| (count(*width), *width)) else {
        return 0;
    };
    let present = |record: &[Field]| record.iter().filter(|f| **f != Field::Missing).count();
    let is_title = |record: &&Vec<Field>| {
        let first = record.iter().find(|field| **field != Field::Missing);
        first.is_none_or(|first| first.is_text() && (record.len() != width || present(record) < 2))
    };
    let titles = records.iter().take_while(is_title).count();
    let are_names = |names: &Vec<Field>| {
        let text = |field: &Field| field.is_text() || *field == Field::Missing;
        names.len() == width && present(names) > 1 && names.iter().all(text)
    };
    // Without names and a row below them it could be anything.
    match records.get(titles..) {
        Some([names, _, ..]) if width > 1 && are_names(names) => titles,
        _ => 0,
    }
}

/// Whether the first of these records is a header: some field is text, or none is a number.
fn is_header(path: &Path, records: &[Vec<Field>]) -> Result<bool> {
    let Some(head) = records.first() else {
        return Ok(false);
    };
    let numbers = head.contains(&Field::Number);
    let texts = head.iter().any(|field| field.is_text());
    if !numbers || !texts {
        return Ok(texts);
    }
    // Numbers and text: a header if some text stands above a number; otherwise it could just as well be the first row.
    let above = |row: &Vec<Field>| {
        let mut pairs = head.iter().zip(row);
        pairs.any(|(head, below)| head.is_text() && *below == Field::Number)
    };
    if records.iter().any(above) {
        return Ok(true);
    }
    Err(malformed(
        path,
        "either names or numbers in the first line",
        "both",
        Remedy::Header,
    ))
}

/// Whether the record below the names holds units: above every column of numbers a unit, a dash or nothing, at least one unit, and
/// no number anywhere.
fn has_units(records: &[Vec<Field>]) -> bool {
    let [names, units, rows @ ..] = records else {
        return false;
    };
    let numeric = |j: usize| {
        let cells = || rows.iter().filter_map(|row| row.get(j));
        let numbers = cells().filter(|field| **field == Field::Number).count();
        let texts = cells().filter(|field| field.is_text()).count();
        numbers > 0 && 10 * texts <= numbers
    };
    let above_numbers: Vec<Field> = (0..units.len())
        .filter(|j| numeric(*j))
        .map(|j| units[j])
        .collect();
    let allowed = |field: &Field| matches!(field, Field::Unit | Field::Dash | Field::Missing);
    names.len() == units.len()
        && !units.contains(&Field::Number)
        && above_numbers.contains(&Field::Unit)
        && above_numbers.iter().all(allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records(text: &str) -> Vec<Vec<Field>> {
        let field = |text: &str| Field::of(text, crate::text::number(text.as_bytes()));
        let record = |line: &str| line.split(',').map(field).collect();
        text.split('/').map(record).collect()
    }

    fn layout(text: &str) -> (usize, bool, bool) {
        let layout = Layout::of("a".as_ref(), &records(text.trim()), None).unwrap();
        (layout.titles, layout.header, layout.units)
    }

    #[test]
    fn titles_and_units_are_told_from_names_and_rows() {
        for (text, expected) in [
            ("x,y/1,2/3,4", (0, true, false)),
            ("1,2/3,4", (0, false, false)),
            ("x,y/[mm],kg/1,2/3,4", (0, true, true)),
            ("x,y/mm,-/1,2/3,4", (0, true, true)),
            ("x,m,y/mm,name,kg/1,steel,2/3,brass,4", (0, true, true)),
            // Levels that could be units, and rows without numbers, are rows.
            ("size,y/m,1/l,2", (0, true, false)),
            ("size,y/m,/l,2/s,3", (0, true, false)),
            ("x,y/-,-/1,2", (0, true, false)),
            ("x,y/oops,2/1,2", (0, true, false)),
            ("x,y/oops,error/1,2", (0, true, false)),
            ("x,y/1,kg/1,2", (0, true, false)),
            ("Series 12/x,y/1,2", (1, true, false)),
            ("Series 12,/,/x,y/mm,kg/1,2", (2, true, true)),
            ("Series 12/1,2/3,4", (0, true, false)),
            (",y/0,1/1,2", (0, true, false)),
            ("y/1/2", (0, true, false)),
        ] {
            assert_eq!(layout(text), expected, "{text}");
        }
    }
}
