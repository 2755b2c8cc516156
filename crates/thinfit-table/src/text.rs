//! Text as a source of rows: turns fields into numbers, and what is not a number into an error with its line.

use crate::dialect::{Dialect, SAMPLE};
use crate::error::{malformed, not_a_number};
use crate::names::distinct;
use crate::reader::{Block, Source};
use crate::records::{Fields, Records, trim, unquote, utf8};
use crate::words::{Words, cell_value};
use crate::{Delimiter, Error, Options, Place, Position, Problem, Remedy, Result};
use std::io::Read;
use std::path::Path;

/// What stands for a missing value, besides an empty field and NaN.
const MISSING: [&[u8]; 6] = [b"na", b"n/a", b"#n/a", b"null", b"none", b"?"];

/// A text whose header has been read.
pub(crate) struct Text {
    records: Records,
    dialect: Dialect,
    names: Vec<String>,
    /// The line that sets the number of fields.
    first_line: u64,
    /// The first row, read ahead to count the fields.
    pending: Option<(u64, Vec<u8>)>,
    /// Lines of the rows of the last block.
    lines: Vec<u64>,
}

impl Text {
    /// The text `head` followed by the rest of `input`.
    pub fn open(
        path: &Path,
        head: Vec<u8>,
        input: Box<dyn Read + Send>,
        options: &Options,
    ) -> Result<Self> {
        let dialect = Dialect::detect(path, &head[..head.len().min(SAMPLE)], options)?;
        let mut records = Records::new(path, head, input);
        let Some((first, record)) = records.next(dialect.delimiter)? else {
            return Err(malformed(
                path,
                "a table",
                "only blank lines and comments",
                "give a file with rows",
            ));
        };
        let fields = Fields::new(record, dialect.delimiter);
        let (names, pending) = if dialect.header {
            let names: Result<Vec<_>> = fields.map(|field| utf8(path, field)).collect();
            (distinct(path, names?)?, None)
        } else {
            let names = fields.map(|_| String::new()).collect();
            (distinct(path, names)?, Some((first, record.to_vec())))
        };
        Ok(Text {
            records,
            dialect,
            names,
            first_line: first,
            pending,
            lines: Vec::new(),
        })
    }
}

impl Source for Text {
    fn names(&self) -> &[String] {
        &self.names
    }

    fn read(&mut self, columns: &[usize], rows: usize, out: &mut Block) -> Result<usize> {
        let mut slots = vec![None; self.names.len()];
        for (slot, column) in columns.iter().enumerate() {
            slots[*column] = Some(slot);
        }
        self.lines.clear();
        while self.lines.len() < rows {
            let pending = self.pending.take();
            let (line, record) = match &pending {
                Some((line, record)) => (*line, &record[..]),
                None => match self.records.next(self.dialect.delimiter)? {
                    Some(next) => next,
                    None => break,
                },
            };
            let (start, position) = (out.values.len(), Position::Line(line));
            out.values.resize(start + columns.len(), 0.0);
            let row = Row {
                number: out.first + start / columns.len(),
                position,
                values: &mut out.values[start..],
                words: &mut out.words,
            };
            for flaw in parse(record, &self.dialect, &slots, row) {
                let path = self.records.path.clone();
                let place = Place { path, position };
                out.flaws
                    .add(flaw.explain(place, &self.names, self.first_line));
            }
            self.lines.push(line);
        }
        Ok(self.lines.len())
    }

    fn position(&self, row: usize) -> Position {
        Position::Line(self.lines[row])
    }

    fn skip(&mut self, _: &[usize], rows: u64) -> Result<u64> {
        let mut skipped = 0;
        while skipped < rows {
            if self.pending.take().is_none() && self.records.next(self.dialect.delimiter)?.is_none()
            {
                break;
            }
            skipped += 1;
        }
        Ok(skipped)
    }

    fn rows(&self) -> Option<u64> {
        None
    }

    fn unpacked(&self, _: &[usize]) -> u64 {
        0
    }
}

/// Where the fields of a record go.
struct Row<'a> {
    number: usize,
    position: Position,
    values: &'a mut [f64],
    words: &'a mut [Option<Words>],
}

/// Writes the fields of a record to their slots; fields without one are ignored. Returns what is wrong with them.
fn parse(record: &[u8], dialect: &Dialect, slots: &[Option<usize>], row: Row<'_>) -> Vec<Flaw> {
    let (mut count, mut flaws) = (0, Vec::new());
    for field in Fields::new(record, dialect.delimiter) {
        if let Some(Some(slot)) = slots.get(count) {
            let number = dialect.number(field);
            let content = unquote(field);
            let content = trim(&content, Delimiter::Blanks);
            let words = &mut row.words[*slot];
            let value = cell_value(words, row.number, content, number, row.position);
            row.values[*slot] = value.unwrap_or_else(|| {
                flaws.push(Flaw::NotANumber {
                    column: count,
                    text: unquote(field).into(),
                });
                0.0
            });
        }
        count += 1;
    }
    // Fields of another number may be in the wrong columns.
    match count == slots.len() {
        true => flaws,
        false => vec![Flaw::Ragged { fields: count }],
    }
}

/// The number of a field, correctly rounded; 1 and 0 for `true` and `false`, NaN if it is missing, none if it is text.
pub(crate) fn number(field: &[u8]) -> Option<f64> {
    let parse = |field: &[u8]| str::from_utf8(field).ok()?.parse().ok();
    parse(field).or_else(|| {
        let content = unquote(field);
        let content = trim(&content, Delimiter::Blanks);
        let is = |text: &[u8]| content.eq_ignore_ascii_case(text);
        if content.is_empty() || MISSING.iter().any(|text| is(text)) {
            return Some(f64::NAN);
        }
        match (is(b"true"), is(b"false")) {
            (true, _) => Some(1.0),
            (_, true) => Some(0.0),
            _ => parse(content),
        }
    })
}

/// The number of a field, as [`number`] reads it; with a decimal comma, if so.
pub(crate) fn number_in(field: &[u8], decimal_comma: bool) -> Option<f64> {
    if !decimal_comma {
        return number(field);
    }
    let pointed = |byte: &u8| if *byte == b',' { b'.' } else { *byte };
    number(&field.iter().map(pointed).collect::<Vec<_>>())
}

/// What is wrong with a record.
enum Flaw {
    NotANumber { column: usize, text: Vec<u8> },
    Ragged { fields: usize },
}

impl Flaw {
    fn explain(self, place: Place, names: &[String], first_line: u64) -> Error {
        match self {
            Flaw::Ragged { fields } => Error::from(Problem::Row {
                place,
                expected: format!("{} fields as in line {first_line}", names.len()),
                found: fields.to_string(),
            })
            .or("complete or remove the line")
            .or(Remedy::Delimiter),
            Flaw::NotANumber { column, text } => not_a_number(place, &names[column], &text),
        }
    }
}
