//! Records: the lines of a text that hold fields, and the fields in them. A record with a quoted field may span
//! several lines. Lines that start with `#` are comments above the names or the first row, and records below.

use crate::error::unread;
use crate::note::{Skipped, Why};
use crate::{Delimiter, Error, Place, Position, Problem, Result};
use memchr::{memchr, memchr_iter, memchr3};
use std::borrow::Cow;
use std::io::Read;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Bytes to read at a time.
const CHUNK: usize = 1 << 18;
/// Maximum number of bytes a record may have, so that a file that is not a table does not fill the memory, and the most between two.
const LONGEST: usize = 1 << 26;

/// A stream of records.
pub(crate) struct Records {
    pub path: PathBuf,
    input: Box<dyn Read + Send>,
    /// Bytes `start..end` have been read but not returned.
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    ended: bool,
    /// Lines returned or skipped so far.
    lines: u64,
    /// Bytes of blank lines and comments since the last record: a stream of them may have no end.
    skipped: usize,
    /// Whether no record with several fields has come yet, so that lines that start with `#` are comments.
    above: bool,
    /// Whether the table has one column, so that a blank line is a missing value.
    single: bool,
    comments: Skipped,
    blanks: Skipped,
    /// Blank lines of a table of one column: those since the last record, and those that are rows since one more has come.
    pending: Range<u64>,
    owed: Range<u64>,
}

impl Records {
    /// Records of `head`, followed by what is left in `input`; `lines` lines come before it.
    pub fn new(path: &Path, head: Vec<u8>, input: Box<dyn Read + Send>, lines: u64) -> Self {
        let start = if head.starts_with(b"\xef\xbb\xbf") {
            3
        } else {
            0
        };
        Records {
            path: path.into(),
            input,
            start,
            end: head.len(),
            buffer: head,
            ended: false,
            lines,
            skipped: 0,
            above: true,
            single: false,
            comments: Skipped::default(),
            blanks: Skipped::default(),
            pending: 0..0,
            owed: 0..0,
        }
    }

    /// Says that the table has begun, and whether it has one column.
    pub fn begin(&mut self, single: bool) {
        (self.above, self.single) = (false, single);
    }

    /// Lines that held no record so far, and why.
    pub fn passed_over(&self) -> [(Why, Skipped); 3] {
        let mut end = Skipped::default();
        if !self.pending.is_empty() {
            end.count(self.pending.start, self.pending.end - self.pending.start);
        }
        [
            (Why::Comment, self.comments),
            (Why::Blank, self.blanks),
            (Why::End, end),
        ]
    }

    /// The next record without its line end, and the number of its first line.
    pub fn next(&mut self, delimiter: Delimiter) -> Result<Option<(u64, &[u8])>> {
        loop {
            if let Some(line) = self.owed.next() {
                return Ok(Some((line, &[])));
            }
            let pending = &self.buffer[self.start..self.end];
            let Some(length) = record_length(pending, delimiter, self.above) else {
                if self.ended && pending.is_empty() {
                    return Ok(None);
                }
                self.refill()?;
                continue;
            };
            let (record, line) = (self.start..self.start + length, self.lines + 1);
            let content = trim(&self.buffer[record.clone()], delimiter);
            let (blank, comment) = (content.is_empty(), self.above && is_comment(content));
            if !blank && !comment {
                let blanks = std::mem::take(&mut self.pending);
                if self.single && !blanks.is_empty() {
                    // The record is found again behind them.
                    self.owed = blanks;
                    continue;
                }
                if !blanks.is_empty() {
                    self.blanks.count(blanks.start, blanks.end - blanks.start);
                }
            }
            self.start += length + 1;
            self.lines += 1 + memchr_iter(b'\n', &self.buffer[record.clone()]).count() as u64;
            if comment {
                self.comments.count(line, 1);
            } else if blank && self.above {
                self.blanks.count(line, 1);
            } else if blank {
                let first = match self.pending.is_empty() {
                    true => line,
                    false => self.pending.start,
                };
                self.pending = first..line + 1;
            } else {
                self.skipped = 0;
                if self.above {
                    let fields = Fields::new(&self.buffer[record.clone()], delimiter);
                    self.above = fields.filter(|field| !field.is_empty()).nth(1).is_none();
                }
                return Ok(Some((line, &self.buffer[record])));
            }
            self.skipped += length + 1;
            if self.skipped > LONGEST {
                return Err(self.no_row(
                    "more than 64 MiB of blank lines and comments",
                    "give a table without them",
                ));
            }
        }
    }

    /// Reads at least as many bytes as are pending, so that a long record is not scanned over and over.
    fn refill(&mut self) -> Result<()> {
        let pending = self.end - self.start;
        if self.ended || pending > LONGEST {
            let quoted = memchr(b'"', &self.buffer[self.start..self.end]).is_some();
            let (found, advice) = if quoted {
                ("a quote that is not closed", "close or remove the quote")
            } else {
                (
                    "a line of more than 64 MiB",
                    "give a table with a line for each row",
                )
            };
            return Err(self.no_row(found, advice));
        }
        self.buffer.copy_within(self.start..self.end, 0);
        (self.start, self.end) = (0, pending);
        self.buffer.resize(CHUNK.max(2 * pending + 2), 0);
        while self.end <= 2 * pending {
            match self.input.read(&mut self.buffer[self.end..]) {
                Ok(0) => {
                    self.ended = true;
                    // The last line may lack its line feed; add it, so that every line has one.
                    if self.end > 0 && self.buffer[self.end - 1] != b'\n' {
                        self.buffer[self.end] = b'\n';
                        self.end += 1;
                    }
                    break;
                }
                Ok(count) => self.end += count,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(unread(&self.path, error)),
            }
        }
        Ok(())
    }

    /// The error of something else in the place of the next row.
    fn no_row(&self, found: &str, advice: &str) -> Error {
        let place = Place {
            path: self.path.clone(),
            position: Position::Line(self.lines + 1),
        };
        Error::from(Problem::Row {
            place,
            expected: "a row".into(),
            found: found.into(),
        })
        .or(advice)
    }
}

/// The length of the first record of `bytes`, without its line end; none if it does not end in them. A quote in a comment
/// `above` the table opens no field.
fn record_length(bytes: &[u8], delimiter: Delimiter, above: bool) -> Option<usize> {
    let line = memchr(b'\n', bytes)?;
    let comment = || above && is_comment(trim(&bytes[..line], delimiter));
    if memchr(b'"', &bytes[..line]).is_none() || comment() {
        return Some(line);
    }
    let mut at = 0;
    loop {
        at += field_length(&bytes[at..], delimiter)?;
        if bytes[at] == b'\n' {
            return Some(at);
        }
        at += 1;
    }
}

/// The length of the first field of `bytes`, up to its delimiter or line end; none if it does not end in them.
fn field_length(bytes: &[u8], delimiter: Delimiter) -> Option<usize> {
    let mut at = bytes.iter().position(|b| !delimiter.pads(*b))?;
    if bytes[at] == b'"' {
        at += 1;
        loop {
            at += memchr(b'"', &bytes[at..])? + 1;
            // A doubled quote stands for one quote.
            if *bytes.get(at)? != b'"' {
                break;
            }
            at += 1;
        }
    }
    let [one, other] = delimiter.bytes();
    Some(at + memchr3(one, other, b'\n', &bytes[at..])?)
}

/// Whether a trimmed line is a comment, as far as comments go. A leading `#N/A` is a missing value.
fn is_comment(line: &[u8]) -> bool {
    line.starts_with(b"#") && !line.starts_with(b"#N/A")
}

/// `bytes` without the blanks around them.
pub(crate) fn trim(mut bytes: &[u8], delimiter: Delimiter) -> &[u8] {
    while let [first, rest @ ..] = bytes
        && delimiter.pads(*first)
    {
        bytes = rest;
    }
    while let [rest @ .., last] = bytes
        && delimiter.pads(*last)
    {
        bytes = rest;
    }
    bytes
}

/// The fields of a record, trimmed, with their quotes.
pub(crate) struct Fields<'a> {
    rest: Option<&'a [u8]>,
    delimiter: Delimiter,
}

impl<'a> Fields<'a> {
    pub fn new(record: &'a [u8], delimiter: Delimiter) -> Self {
        let record = match delimiter {
            Delimiter::Blanks => trim(record, delimiter),
            Delimiter::Byte(_) => record,
        };
        Fields {
            rest: Some(record),
            delimiter,
        }
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let bytes = self.rest.take()?;
        let [one, other] = self.delimiter.bytes();
        let plain = bytes
            .iter()
            .position(|b| *b == one || *b == other || *b == b'"');
        let end = match plain {
            Some(at) if bytes[at] == b'"' => field_length(bytes, self.delimiter),
            plain => plain,
        };
        let Some(end) = end else {
            return Some(trim(bytes, self.delimiter));
        };
        let mut rest = &bytes[end + 1..];
        if self.delimiter == Delimiter::Blanks {
            rest = trim(rest, self.delimiter);
        }
        self.rest = Some(rest);
        Some(trim(&bytes[..end], self.delimiter))
    }
}

/// The content of a field without the quotes around it, including anything after the closing quote.
pub(crate) fn unquote(field: &[u8]) -> Cow<'_, [u8]> {
    match field {
        [b'"', inner @ .., b'"'] if memchr(b'"', inner).is_none() => Cow::Borrowed(inner),
        [b'"', inner @ .., b'"'] => {
            let mut content = Vec::with_capacity(inner.len());
            let mut after_quote = false;
            for byte in inner {
                after_quote = *byte == b'"' && !after_quote;
                if !after_quote {
                    content.push(*byte);
                }
            }
            Cow::Owned(content)
        }
        field => Cow::Borrowed(field),
    }
}
