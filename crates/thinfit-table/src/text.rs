//! Text as a source of rows: parses fields as numbers, and reports other fields as errors with their line.

use crate::dialect::{Dialect, SAMPLE, pointed};
use crate::error::{Spot, malformed, not_a_number, unread};
use crate::latin::decoded;
use crate::names::distinct;
use crate::note::{Done, Note, Skipped, Why};
use crate::reader::{Block, Source};
use crate::records::{Fields, Records, trim, unquote};
use crate::stray_quote::RowShape;
use crate::text_cells::cell_value;
use crate::units::unit;
use crate::{Delimiter, Error, Options, Place, Position, Problem, Remedy, Result};
use memchr::memchr;
use std::borrow::Cow;
use std::io::Read;
use std::path::Path;

/// What stands for a missing value, besides an empty field and NaN.
const MISSING: [&[u8]; 6] = [b"na", b"n/a", b"#n/a", b"null", b"none", b"?"];

/// A text whose header has been read.
pub(crate) struct Text {
    records: Records,
    dialect: Dialect,
    shape: RowShape,
    names: Vec<String>,
    /// The line that sets the number of fields.
    first_line: u64,
    /// The first row, read ahead to count the fields.
    pending: Option<(u64, Vec<u8>)>,
    /// Lines of the rows of the last block.
    lines: Vec<u64>,
    /// Lines skipped since the options say so, and those of a title.
    asked: Skipped,
    titles: Skipped,
    /// The line of the units, and the unit of each column.
    units: Option<(u64, Vec<String>)>,
    /// The first line with text that is not UTF-8.
    latin: Option<u64>,
    /// Cells over several lines.
    broken: Skipped,
}

impl Text {
    /// The text `head` followed by the rest of `input`.
    pub fn open(
        path: &Path,
        head: Vec<u8>,
        mut input: Box<dyn Read + Send>,
        options: &Options,
    ) -> Result<Self> {
        let mut asked = Skipped::default();
        let head = match options.skip_rows {
            0 => head,
            lines => {
                asked.count(1, lines);
                below(path, head, &mut input, lines)?
            }
        };
        let sample = &head[..head.len().min(SAMPLE)];
        let (dialect, layout, shape) = Dialect::detect(path, sample, options)?;
        let delimiter = dialect.delimiter;
        let mut records = Records::new(path, head, input, options.skip_rows);
        let (mut titles, mut latin) = (Skipped::default(), None);
        for _ in 0..layout.titles {
            if let Some((line, _)) = records.next(delimiter)? {
                titles.count(line, 1);
            }
        }
        let Some((first, record)) = records.next(delimiter)? else {
            return Err(malformed(
                path,
                "a table",
                "only blank lines and comments",
                "give a file with rows",
            ));
        };
        let fields: Vec<&[u8]> = Fields::new(record, delimiter).collect();
        let width = fields.len();
        let mut broken = Skipped::default();
        let (names, pending) = if layout.header {
            let kind = |field: &[u8]| dialect.kind(field);
            if let Some(opened) = shape.stray_quote(record, delimiter, (width, true), kind) {
                let place = Place {
                    path: path.to_owned(),
                    position: Position::Line(first + opened),
                };
                return Err(stray(place));
            }
            broken.count(first, over_lines(&fields));
            let names = texts(&fields);
            latin = (!is_utf8(record)).then_some(first);
            let names = names.into_iter().map(Cow::into_owned).collect();
            (distinct(path, names)?, None)
        } else {
            let names = vec![String::new(); width];
            (distinct(path, names)?, Some((first, record.to_vec())))
        };
        let mut units = None;
        if layout.units
            && let Some((line, record)) = records.next(delimiter)?
        {
            let fields: Vec<&[u8]> = Fields::new(record, delimiter).collect();
            let of_columns = texts(&fields)
                .into_iter()
                .map(|text| unit(&text).to_owned());
            units = Some((line, of_columns.collect()));
            latin = latin.or((!is_utf8(record)).then_some(line));
        }
        // A blank line between names and units is not a row.
        records.begin(width == 1);
        Ok(Text {
            records,
            dialect,
            shape,
            names,
            first_line: first,
            pending,
            lines: Vec::new(),
            asked,
            titles,
            units,
            latin,
            broken,
        })
    }
}

/// What follows the first `lines` lines of `head` and `input`: enough to detect the dialect from, the rest of which is left in `input`.
fn below(
    path: &Path,
    mut head: Vec<u8>,
    input: &mut Box<dyn Read + Send>,
    lines: u64,
) -> Result<Vec<u8>> {
    let mut more = |head: &mut Vec<u8>, count: usize| {
        let read = input.take(count as u64).read_to_end(head);
        read.map_err(|error| unread(path, error))
    };
    for skipped in 0..lines {
        while memchr(b'\n', &head).is_none() {
            // Of a long line nothing need be kept.
            head.clear();
            if more(&mut head, SAMPLE)? == 0 {
                let expected = format!("more than the {lines} lines to skip");
                let advice = "skip fewer lines";
                return Err(malformed(path, expected, skipped.to_string(), advice));
            }
        }
        let line = memchr(b'\n', &head).map_or(head.len(), |end| end + 1);
        head.drain(..line);
    }
    let missing = SAMPLE.saturating_sub(head.len());
    more(&mut head, missing)?;
    Ok(head)
}

/// The texts of fields without their quotes.
fn texts<'a>(fields: &[&'a [u8]]) -> Vec<Cow<'a, str>> {
    let text = |field: &&'a [u8]| match unquote(field) {
        Cow::Borrowed(content) => decoded(content),
        Cow::Owned(content) => Cow::Owned(decoded(&content).into_owned()),
    };
    fields.iter().map(text).collect()
}

/// How many of these fields have line ends in them.
fn over_lines(fields: &[&[u8]]) -> u64 {
    let broken = fields.iter().filter(|field| memchr(b'\n', field).is_some());
    broken.count() as u64
}

fn is_utf8(record: &[u8]) -> bool {
    str::from_utf8(record).is_ok()
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
            let start = out.values.len();
            out.values.resize(start + columns.len(), 0.0);
            let row = Row {
                number: out.first + start / columns.len(),
                line,
                start,
            };
            let (mut flaws, latin) = parse(record, &self.dialect, &slots, row, out);
            if latin {
                self.latin = self.latin.or(Some(line));
            }
            if memchr(b'"', record).is_some() {
                let (delimiter, width) = (self.dialect.delimiter, self.names.len());
                let kind = |field: &[u8]| self.dialect.kind(field);
                match self
                    .shape
                    .stray_quote(record, delimiter, (width, false), kind)
                {
                    Some(line) => flaws = vec![Flaw::StrayQuote { line }],
                    None => {
                        let fields: Vec<&[u8]> = Fields::new(record, delimiter).collect();
                        self.broken.count(line, over_lines(&fields));
                    }
                }
            }
            for flaw in flaws {
                out.errors.add(flaw.explain(
                    &self.records.path,
                    line,
                    &self.names,
                    self.first_line,
                ));
            }
            self.lines.push(line);
        }
        Ok(self.lines.len())
    }

    fn notes(&self) -> Vec<Note> {
        let mut done = Vec::new();
        let mut skipped = vec![(Why::Asked, self.asked), (Why::Title, self.titles)];
        skipped.extend(self.records.passed_over());
        for (why, lines) in skipped {
            done.extend(lines.done(why, Position::Line));
        }
        if let Some((line, units)) = &self.units {
            let units = self.names.iter().zip(units);
            let units = units.filter(|(_, unit)| !unit.is_empty());
            done.push(Done::Units {
                position: Position::Line(*line),
                units: units
                    .map(|(name, unit)| (name.clone(), unit.clone()))
                    .collect(),
            });
        }
        done.extend(self.broken.counted().map(|(cells, line)| Done::LineBreaks {
            cells,
            first: Position::Line(line),
        }));
        done.extend(self.latin.map(|line| Done::Windows1252 {
            first: Position::Line(line),
        }));
        let path = &self.records.path;
        let note = |done| Note {
            path: path.clone(),
            done,
        };
        done.into_iter().map(note).collect()
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

/// A record among the rows of a block.
struct Row {
    /// The number of the row, as words count.
    number: usize,
    /// Its first line.
    line: u64,
    /// Where its values begin.
    start: usize,
}

/// Writes the fields of a record to their slots; fields without one are ignored. Returns what is wrong with them, and whether there is
/// text that is not UTF-8.
fn parse(
    record: &[u8],
    dialect: &Dialect,
    slots: &[Option<usize>],
    row: Row,
    out: &mut Block,
) -> (Vec<Flaw>, bool) {
    let (mut count, mut flaws, mut latin) = (0, Vec::new(), false);
    let spot = Spot {
        file: out.file,
        position: Position::Line(row.line),
    };
    for field in Fields::new(record, dialect.delimiter) {
        if let Some(Some(slot)) = slots.get(count) {
            let number = dialect.number(field);
            let plain = number.filter(|value| !value.is_nan());
            out.values[row.start + slot] = plain.unwrap_or_else(|| {
                let content = unquote(field);
                let text = decoded(trim(&content, Delimiter::Blanks));
                latin |= !is_utf8(&content);
                let text = match dialect.decimal_comma && number.is_none() {
                    true => pointed(&text),
                    false => text,
                };
                let kinds = (&mut out.text_cells[*slot], &mut out.unusual[*slot]);
                let value = cell_value(kinds, row.number, &text, number, spot);
                value.unwrap_or_else(|| {
                    flaws.push(Flaw::NotANumber {
                        column: count,
                        text: unquote(field).into(),
                    });
                    0.0
                })
            });
        }
        count += 1;
    }
    // Fields of another number may be in the wrong columns.
    match count == slots.len() {
        true => (flaws, latin),
        false => {
            let comment = record.starts_with(b"#");
            (
                vec![Flaw::Ragged {
                    fields: count,
                    comment,
                }],
                latin,
            )
        }
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
    Ragged { fields: usize, comment: bool },
    StrayQuote { line: u64 },
}

impl Flaw {
    /// The error of a record that begins in `line`.
    fn explain(self, path: &Path, line: u64, names: &[String], first_line: u64) -> Error {
        let place = |line: u64| Place {
            path: path.to_owned(),
            position: Position::Line(line),
        };
        match self {
            Flaw::Ragged { fields, comment } => {
                let error = Error::from(Problem::Row {
                    place: place(line),
                    expected: format!("{} fields as in line {first_line}", names.len()),
                    found: fields.to_string(),
                });
                match comment {
                    true => error.or("remove the comment: below the names, # is data"),
                    false => error
                        .or("complete or remove the line")
                        .or(Remedy::Delimiter),
                }
            }
            Flaw::NotANumber { column, text } => not_a_number(place(line), &names[column], &text),
            Flaw::StrayQuote { line: opened } => stray(place(line + opened)),
        }
    }
}

/// The error of a quote that opens at `place` and swallows rows.
fn stray(place: Place) -> Error {
    Error::from(Problem::Row {
        place,
        expected: "a quoted field that ends in its row".into(),
        found: "a stray quote that includes the cells or rows after it".into(),
    })
    .or("close or remove the quote")
}
