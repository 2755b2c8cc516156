//! A sheet of a workbook as a source of rows: where its table begins, its names, and its cells as numbers and texts.

use crate::dialect::pointed;
use crate::error::{Spot, malformed, not_a_number, show};
use crate::layout::{Field, Layout};
use crate::names::distinct;
use crate::note::{Done, Note, Skipped, Why};
use crate::reader::{Block, Seekable, Source};
use crate::text::number_in;
use crate::text_cells::cell_value;
use crate::units::unit;
use crate::workbook::{Content, Row, Workbook};
use crate::{Error, Options, Place, Position, Problem, Remedy, Result};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Rows from which to detect the layout.
const ROWS: usize = 100;

/// A sheet in memory.
pub(crate) struct Sheet {
    /// The file and the name of the sheet.
    pub path: PathBuf,
    names: Vec<String>,
    /// The column of the sheet that is the first of the table.
    left: u32,
    rows: Vec<Row>,
    /// In a table of one column, the numbers of its rows: a blank row between others is a missing value.
    single: Option<Range<u64>>,
    /// Whether numbers that are text have a decimal comma.
    decimal_comma: bool,
    /// What was done beyond reading cells.
    done: Vec<Done>,
    /// The next row to read, and the first of the last block.
    next: usize,
    first: usize,
}

impl Sheet {
    /// Reads the sheet that the options name.
    pub fn open(path: &Path, input: Box<dyn Seekable>, options: &Options) -> Result<Self> {
        let book = Workbook::open(path, input, options.memory)?;
        let sheet = book.rows(path, options.sheet.as_deref())?;
        let (mut rows, mut done) = (sheet.rows, Vec::new());
        let shown = PathBuf::from(format!(
            "{}, {}",
            path.display(),
            show(sheet.name.as_bytes())
        ));
        if !(sheet.hidden.is_empty() && sheet.others.is_empty()) {
            done.push(Done::Sheet {
                taken: sheet.name,
                hidden: sheet.hidden,
                others: sheet.others,
            });
        }
        let mut skip = |rows: &mut Vec<Row>, why: Why, count: usize| {
            let mut skipped = Skipped::default();
            for row in rows.drain(..count) {
                skipped.count(row.number, 1);
            }
            done.extend(skipped.done(why, Position::Row));
        };
        let asked = rows.partition_point(|row| row.number <= options.skip_rows);
        skip(&mut rows, Why::Asked, asked);
        let mut blanks = blanks(&rows);
        let fields = fields(&rows, bounds(&rows), options.decimal_comma);
        let layout = Layout::of(&shown, &fields, options.header)?;
        skip(&mut rows, Why::Title, layout.titles);
        if rows.is_empty() {
            return Err(malformed(
                &shown,
                "a table",
                "an empty sheet",
                Remedy::Sheet,
            ));
        }
        let (left, right) = bounds(&rows);
        let width = (right - left) as usize + 1;
        let mut begin = rows[0].number;
        let texts = |row: Row| -> Result<Vec<String>> {
            let mut texts = vec![String::new(); width];
            for (column, content) in row.cells {
                texts[(column - left) as usize] = match content {
                    Content::Number(value) => value.to_string(),
                    Content::Text(text) | Content::Error(text) => text,
                    Content::Missing => String::new(),
                    Content::Unsaved => {
                        let position = Position::Cell(row.number, column);
                        return Err(unsaved(&shown, position, None));
                    }
                };
            }
            Ok(texts)
        };
        let mut names = vec![String::new(); width];
        if layout.header {
            let row = rows.remove(0);
            begin = row.number + 1;
            names = texts(row)?;
        }
        let names = distinct(&shown, names)?;
        if layout.units {
            let row = rows.remove(0);
            let position = Position::Row(row.number);
            begin = row.number + 1;
            let units = names.iter().cloned().zip(texts(row)?);
            let units = units.filter(|(_, text)| !text.is_empty());
            done.push(Done::Units {
                position,
                units: units
                    .map(|(name, text)| (name, unit(&text).to_owned()))
                    .collect(),
            });
        }
        let single = (width == 1).then(|| begin..rows.last().map_or(begin, |row| row.number + 1));
        if single.is_some() {
            blanks.retain(|gap| gap.start < begin);
        }
        let mut skipped = Skipped::default();
        for gap in blanks {
            skipped.count(gap.start, gap.end - gap.start);
        }
        done.extend(skipped.done(Why::Blank, Position::Row));
        Ok(Sheet {
            names,
            path: shown,
            left,
            rows,
            single,
            decimal_comma: options.decimal_comma,
            done,
            next: 0,
            first: 0,
        })
    }

    /// The number of rows of the table.
    fn count(&self) -> usize {
        match &self.single {
            Some(numbers) => (numbers.end - numbers.start) as usize,
            None => self.rows.len(),
        }
    }

    /// The number in the sheet of a row of the table, and its cells.
    fn row(&self, place: usize) -> (u64, &[(u32, Content)]) {
        let row = match &self.single {
            None => &self.rows[place],
            Some(numbers) => {
                let number = numbers.start + place as u64;
                match self.rows.binary_search_by_key(&number, |row| row.number) {
                    Ok(at) => &self.rows[at],
                    Err(_) => return (number, &[]),
                }
            }
        };
        (row.number, &row.cells)
    }
}

/// The numbers of blank rows between these.
fn blanks(rows: &[Row]) -> Vec<Range<u64>> {
    let gap = |pair: &[Row]| pair[0].number + 1..pair[1].number;
    let gaps = rows.windows(2).map(gap);
    gaps.filter(|gap| !gap.is_empty()).collect()
}

/// The first and the last column with a cell; the first is larger if there are none.
fn bounds(rows: &[Row]) -> (u32, u32) {
    let cells = rows.iter().flat_map(|row| &row.cells);
    cells.fold((u32::MAX, 0), |(left, right), (column, _)| {
        (left.min(*column), right.max(*column))
    })
}

/// The kinds of the cells of the first rows, between these columns.
fn fields(rows: &[Row], (left, right): (u32, u32), decimal_comma: bool) -> Vec<Vec<Field>> {
    let kind = |content: &Content| match content {
        Content::Text(text) => match number_in(text.as_bytes(), decimal_comma) {
            None if decimal_comma => Field::of(&pointed(text), None),
            found => Field::of(text, found),
        },
        Content::Missing => Field::Missing,
        Content::Number(_) | Content::Error(_) | Content::Unsaved => Field::Number,
    };
    let record = |row: &Row| {
        let mut fields = vec![Field::Missing; (right - left) as usize + 1];
        for (column, content) in &row.cells {
            fields[(column - left) as usize] = kind(content);
        }
        fields
    };
    rows.iter().take(ROWS).map(record).collect()
}

/// The error of a formula whose value was not saved, in a column of this name.
fn unsaved(path: &Path, position: Position, name: Option<&str>) -> Error {
    let place = Place {
        path: path.to_owned(),
        position,
    };
    let found = "a formula without a saved value";
    let problem = match name {
        None => Problem::Row {
            place,
            expected: "a name".into(),
            found: found.into(),
        },
        Some(name) => Problem::Value {
            place,
            column: show(name.as_bytes()),
            flaw: format!("is {found}"),
        },
    };
    Error::from(problem)
        .or("open the file in a spreadsheet program and save it, or write the value into the cell")
}

impl Source for Sheet {
    fn names(&self) -> &[String] {
        &self.names
    }

    fn read(&mut self, columns: &[usize], rows: usize, out: &mut Block) -> Result<usize> {
        self.first = self.next;
        while self.next < self.count() && self.next - self.first < rows {
            let (sheet_row, cells) = self.row(self.next);
            let number = out.first + out.values.len() / columns.len();
            for (slot, j) in columns.iter().enumerate() {
                let column = self.left + *j as u32;
                let cell = cells.binary_search_by_key(&column, |cell| cell.0);
                let position = Position::Cell(sheet_row, column);
                let place = || Place {
                    path: self.path.clone(),
                    position,
                };
                let value = match cell.ok().map(|at| &cells[at].1) {
                    None | Some(Content::Missing) => f64::NAN,
                    Some(Content::Number(value)) => *value,
                    Some(Content::Text(text)) => {
                        let kinds = (&mut out.text_cells[slot], &mut out.unusual[slot]);
                        let found = number_in(text.as_bytes(), self.decimal_comma);
                        let text = match self.decimal_comma && found.is_none() {
                            true => &pointed(text),
                            false => text.as_str(),
                        };
                        let spot = Spot {
                            file: out.file,
                            position,
                        };
                        let value = cell_value(kinds, number, text, found, spot);
                        value.unwrap_or_else(|| {
                            let flaw = not_a_number(place(), &self.names[*j], text.as_bytes());
                            out.errors.add(flaw);
                            0.0
                        })
                    }
                    Some(Content::Unsaved) => {
                        let flaw = unsaved(&self.path, position, Some(&self.names[*j]));
                        out.errors.add(flaw);
                        0.0
                    }
                    Some(Content::Error(error)) => {
                        let flaw = Error::from(Problem::Value {
                            place: place(),
                            column: show(self.names[*j].as_bytes()),
                            flaw: format!("is the error {error}"),
                        });
                        out.errors
                            .add(flaw.or("correct the formula, or clear the cell"));
                        0.0
                    }
                };
                out.values.push(value);
            }
            self.next += 1;
        }
        Ok(self.next - self.first)
    }

    fn notes(&self) -> Vec<Note> {
        let note = |done: &Done| Note {
            path: self.path.clone(),
            done: done.clone(),
        };
        self.done.iter().map(note).collect()
    }

    fn position(&self, row: usize) -> Position {
        Position::Row(self.row(self.first + row).0)
    }

    fn skip(&mut self, _: &[usize], rows: u64) -> Result<u64> {
        let skipped = ((self.count() - self.next) as u64).min(rows);
        self.next += skipped as usize;
        Ok(skipped)
    }

    fn rows(&self) -> Option<u64> {
        Some((self.count() - self.next) as u64)
    }

    fn unpacked(&self, _: &[usize]) -> u64 {
        0
    }
}
