//! The dialect of a text file: field separator and number format, detected from the first records unless options set
//! them.

use crate::error::malformed;
use crate::latin::decoded;
use crate::layout::{Field, Layout, titles};
use crate::records::{Fields, Records, unquote};
use crate::stray_quote::RowShape;
use crate::text::number_in;
use crate::{Options, Remedy, Result};
use memchr::memchr_iter;
use std::borrow::Cow;
use std::path::Path;
use std::str::FromStr;

/// Bytes at the start of a text from which to detect the dialect.
pub(crate) const SAMPLE: usize = 1 << 16;
/// Records to look at.
const RECORDS: usize = 100;

/// What separates fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delimiter {
    /// One byte, for instance `,`.
    Byte(u8),
    /// Any number of spaces and tabs.
    Blanks,
}

impl Delimiter {
    /// In order of preference: a tab is hardly ever part of a field, a blank often.
    const ALL: [Delimiter; 4] = [
        Delimiter::Byte(b'\t'),
        Delimiter::Byte(b';'),
        Delimiter::Byte(b','),
        Delimiter::Blanks,
    ];

    /// The two bytes that end a field, or the one byte twice.
    pub(crate) fn bytes(self) -> [u8; 2] {
        match self {
            Delimiter::Byte(byte) => [byte; 2],
            Delimiter::Blanks => *b" \t",
        }
    }

    /// Whether `byte` is mere padding around a field.
    pub(crate) fn pads(self, byte: u8) -> bool {
        matches!(byte, b' ' | b'\t' | b'\r') && self != Delimiter::Byte(byte)
    }
}

impl FromStr for Delimiter {
    type Err = String;

    /// `tab`, `blanks`, or the character itself.
    fn from_str(text: &str) -> std::result::Result<Self, String> {
        match text {
            "tab" | "\\t" | "\t" => Ok(Delimiter::Byte(b'\t')),
            "blanks" | "blank" | "space" | " " => Ok(Delimiter::Blanks),
            _ => match text.as_bytes() {
                // The others are parts of numbers, or quotes and comments.
                [byte] if byte.is_ascii_punctuation() && !b"\"#+-.".contains(byte) => {
                    Ok(Delimiter::Byte(*byte))
                }
                _ => Err("expected one of `,` `;` `tab` `blanks`, or another character that is not part of a number".into()),
            },
        }
    }
}

/// How to read a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Dialect {
    pub delimiter: Delimiter,
    pub decimal_comma: bool,
}

impl Dialect {
    /// The dialect, the layout and the rows of a text that starts with `sample`, which is all of it if it is shorter than
    /// [`SAMPLE`].
    pub fn detect(
        path: &Path,
        sample: &[u8],
        options: &Options,
    ) -> Result<(Self, Layout, RowShape)> {
        let returns = sample.contains(&b'\r') && !sample.contains(&b'\n');
        if returns && sample.iter().filter(|b| **b == b'\r').count() > 1 {
            let advice = "convert them, for instance with `tr '\\r' '\\n'`";
            let found = "carriage returns alone";
            return Err(malformed(
                path,
                "lines that end with a line feed",
                found,
                advice,
            ));
        }
        let comma = Delimiter::Byte(b',');
        if options.decimal_comma && options.delimiter == Some(comma) {
            return Err(malformed(
                path,
                "fields separated by something other than the decimal comma",
                "a comma for both",
                Remedy::DecimalPoint,
            )
            .or(Remedy::Delimiter));
        }
        let mut dialect = Dialect {
            delimiter: comma,
            decimal_comma: options.decimal_comma,
        };
        dialect.delimiter = options.delimiter.unwrap_or_else(|| {
            // Reversed, because `max_by_key` gives ties to the last.
            let agreeing = |&delimiter: &Delimiter| {
                let dialect = Dialect {
                    delimiter,
                    ..dialect
                };
                agreeing(&kinds(path, sample, dialect), options.header.is_none())
            };
            let possible = |d: &&Delimiter| !(options.decimal_comma && **d == comma);
            let candidates = Delimiter::ALL.iter().rev().filter(possible);
            let best = candidates.max_by_key(|d| agreeing(d));
            let otherwise = if options.decimal_comma {
                Delimiter::Byte(b';')
            } else {
                comma
            };
            best.copied()
                .filter(|d| agreeing(d) > 0)
                .unwrap_or(otherwise)
        });
        let records = kinds(path, sample, dialect);
        let cut = sample.len() >= SAMPLE;
        if options.header.is_none() && cut && records.first().is_none_or(Vec::is_empty) {
            let found = format!("no complete field in its first {SAMPLE} bytes");
            return Err(malformed(path, "names or numbers", found, Remedy::Header));
        }
        let layout = Layout::of(path, &records, options.header)?;
        let shape = RowShape::of(layout.rows(&records));
        Ok((dialect, layout, shape))
    }

    /// The number in a field.
    pub fn number(&self, field: &[u8]) -> Option<f64> {
        number_in(field, self.decimal_comma)
    }

    /// The kind of a field.
    pub fn kind(&self, field: &[u8]) -> Field {
        let content = unquote(field);
        let text = decoded(&content);
        let number = self.number(field);
        match self.decimal_comma && number.is_none() {
            true => Field::of(&pointed(&text), None),
            false => Field::of(&text, number),
        }
    }
}

/// A number in an unusual notation with a point for its decimal comma; other text as it is.
pub(crate) fn pointed(text: &str) -> Cow<'_, str> {
    let pointed = text.replace(',', ".");
    match thinfit_text::unusual_number(&pointed) {
        Some(_) => Cow::Owned(pointed),
        None => Cow::Borrowed(text),
    }
}

/// The kinds of the fields in the first records.
fn kinds(path: &Path, sample: &[u8], dialect: Dialect) -> Vec<Vec<Field>> {
    let delimiter = dialect.delimiter;
    let whole = sample.len() < SAMPLE;
    let mut sample = sample.to_vec();
    // A quote that is open where the sample ends must not hide the fields before it.
    if !whole && memchr_iter(b'"', &sample).count() % 2 == 1 {
        sample.push(b'"');
    }
    let mut records = Records::new(path, sample, Box::new(std::io::empty()), 0);
    let mut kinds: Vec<Vec<Field>> = Vec::new();
    while kinds.len() < RECORDS
        && let Ok(Some((_, record))) = records.next(delimiter)
    {
        let fields = Fields::new(record, delimiter);
        kinds.push(fields.map(|field| dialect.kind(field)).collect());
    }
    // The sample may end inside a record, and inside one of its fields.
    if !whole && kinds.len() < RECORDS {
        let last = kinds.pop();
        if let (Some(mut first), true) = (last, kinds.is_empty()) {
            first.pop();
            kinds.push(first);
        }
    }
    kinds
}

/// The share of records, out of 1000, that are of a title, which there `may` be, or have as many fields as the first below
/// it, if that has several. A quote that is not recognised makes more records, so that their number says little. A name with blanks
/// in it looks like several fields, so most records must agree if the first has no number.
fn agreeing(records: &[Vec<Field>], may: bool) -> usize {
    let titles = if may { titles(records) } else { 0 };
    let (all, records) = (records.len(), &records[titles..]);
    let Some(first) = records.first().filter(|first| first.len() > 1) else {
        return 0;
    };
    let count = records.iter().filter(|r| r.len() == first.len()).count();
    if first.contains(&Field::Number) || 2 * count > records.len() {
        (1000 * (titles + count)).div_ceil(all)
    } else {
        0
    }
}
