//! A sheet of a workbook as a source of rows: where its table begins, its names, and its cells as numbers and words.

use crate::error::{malformed, not_a_number, show};
use crate::names::distinct;
use crate::reader::{Block, Seekable, Source};
use crate::text::number_in;
use crate::words::cell_value;
use crate::workbook::{Content, Row, Workbook};
use crate::{Error, Options, Place, Position, Problem, Remedy, Result};
use std::path::{Path, PathBuf};

/// A sheet in memory.
pub(crate) struct Sheet {
    /// The file and the name of the sheet.
    pub path: PathBuf,
    names: Vec<String>,
    /// The column of the sheet that is the first of the table.
    left: u32,
    rows: Vec<Row>,
    /// Whether numbers that are text have a decimal comma.
    decimal_comma: bool,
    /// The next row to read, and the first of the last block.
    next: usize,
    first: usize,
}

impl Sheet {
    /// Reads the sheet that the options name.
    pub fn open(path: &Path, input: Box<dyn Seekable>, options: &Options) -> Result<Self> {
        let book = Workbook::open(path, input, options.memory)?;
        let (name, mut rows) = book.rows(path, options.sheet.as_deref())?;
        let shown = PathBuf::from(format!("{}, {}", path.display(), show(name.as_bytes())));
        let columns = rows.iter().flat_map(|row| &row.cells);
        let (left, right) = columns.fold((u32::MAX, 0), |(left, right), (column, _)| {
            (left.min(*column), right.max(*column))
        });
        if rows.is_empty() {
            return Err(malformed(
                &shown,
                "a table",
                "an empty sheet",
                Remedy::Sheet,
            ));
        }
        let width = (right - left) as usize + 1;
        let mut names = vec![String::new(); width];
        if has_names(&shown, &rows, options)? {
            for (column, content) in rows.remove(0).cells {
                names[(column - left) as usize] = match content {
                    Content::Number(value) => value.to_string(),
                    Content::Text(text) | Content::Error(text) => text,
                };
            }
        }
        Ok(Sheet {
            names: distinct(&shown, names)?,
            path: shown,
            left,
            rows,
            decimal_comma: options.decimal_comma,
            next: 0,
            first: 0,
        })
    }
}

/// Whether the first row holds names: if it is said so, or if it holds texts alone, or one above a number.
fn has_names(path: &Path, rows: &[Row], options: &Options) -> Result<bool> {
    if let Some(said) = options.header {
        return Ok(said);
    }
    let is_text = |content: &Content| match content {
        Content::Text(text) => number_in(text.as_bytes(), options.decimal_comma).is_none(),
        _ => false,
    };
    let texts = rows[0].cells.iter().filter(|(_, content)| is_text(content));
    let texts: Vec<u32> = texts.map(|(column, _)| *column).collect();
    let above_number = |column: &u32| {
        let next = rows.get(1).map(|row| &row.cells);
        let below = next.into_iter().flatten().find(|(at, _)| at == column);
        below.is_some_and(|(_, content)| !is_text(content))
    };
    match texts.len() {
        0 => Ok(false),
        count if count == rows[0].cells.len() || texts.iter().any(above_number) => Ok(true),
        _ => Err(malformed(
            path,
            "names or numbers in the first row",
            "both",
            Remedy::Header,
        )),
    }
}

impl Source for Sheet {
    fn names(&self) -> &[String] {
        &self.names
    }

    fn read(&mut self, columns: &[usize], rows: usize, out: &mut Block) -> Result<usize> {
        self.first = self.next;
        while self.next < self.rows.len() && self.next - self.first < rows {
            let row = &self.rows[self.next];
            let number = out.first + out.values.len() / columns.len();
            for (slot, j) in columns.iter().enumerate() {
                let column = self.left + *j as u32;
                let cell = row.cells.binary_search_by_key(&column, |cell| cell.0);
                let position = Position::Cell(row.number, column);
                let place = || Place {
                    path: self.path.clone(),
                    position,
                };
                let value = match cell.ok().map(|at| &row.cells[at].1) {
                    None => f64::NAN,
                    Some(Content::Number(value)) => *value,
                    Some(Content::Text(text)) => {
                        let (content, words) = (text.as_bytes(), &mut out.words[slot]);
                        let found = number_in(content, self.decimal_comma);
                        let value = cell_value(words, number, content, found, position);
                        value.unwrap_or_else(|| {
                            let flaw = not_a_number(place(), &self.names[*j], content);
                            out.flaws.add(flaw);
                            0.0
                        })
                    }
                    Some(Content::Error(error)) => {
                        let flaw = Error::from(Problem::Value {
                            place: place(),
                            column: show(self.names[*j].as_bytes()),
                            flaw: format!("is the error {error}"),
                        });
                        out.flaws
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

    fn position(&self, row: usize) -> Position {
        Position::Row(self.rows[self.first + row].number)
    }

    fn skip(&mut self, _: &[usize], rows: u64) -> Result<u64> {
        let skipped = ((self.rows.len() - self.next) as u64).min(rows);
        self.next += skipped as usize;
        Ok(skipped)
    }

    fn rows(&self) -> Option<u64> {
        Some((self.rows.len() - self.next) as u64)
    }

    fn unpacked(&self, _: &[usize]) -> u64 {
        0
    }
}
