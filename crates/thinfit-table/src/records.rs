//! Records: the lines of a text that hold fields, and the fields in them. A record spans several lines where a quoted
//! field does. Nothing here knows about numbers.

use crate::error::{malformed, unread};
use crate::{Delimiter, Error, Place, Position, Problem, Result};
use memchr::{memchr, memchr_iter, memchr3};
use std::borrow::Cow;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Bytes to read at a time.
const CHUNK: usize = 1 << 18;
/// The most bytes a record may have, so that a file that is not a table does not fill the memory, and the most between two.
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
}

impl Records {
    /// Records of `head`, followed by what is left in `input`.
    pub fn new(path: &Path, head: Vec<u8>, input: Box<dyn Read + Send>) -> Self {
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
            lines: 0,
            skipped: 0,
        }
    }

    /// The next record without its line end, and the number of its first line.
    pub fn next(&mut self, delimiter: Delimiter) -> Result<Option<(u64, &[u8])>> {
        loop {
            let pending = &self.buffer[self.start..self.end];
            let Some(length) = record_length(pending, delimiter) else {
                if self.ended && pending.is_empty() {
                    return Ok(None);
                }
                self.refill()?;
                continue;
            };
            let (record, line) = (self.start..self.start + length, self.lines + 1);
            self.start += length + 1;
            self.lines += 1 + memchr_iter(b'\n', &self.buffer[record.clone()]).count() as u64;
            if holds_fields(&self.buffer[record.clone()], delimiter) {
                self.skipped = 0;
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

/// The length of the first record of `bytes`, without its line end; none if it does not end in them.
fn record_length(bytes: &[u8], delimiter: Delimiter) -> Option<usize> {
    let line = memchr(b'\n', bytes)?;
    if memchr(b'"', &bytes[..line]).is_none() || !holds_fields(&bytes[..line], delimiter) {
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

/// Whether a line is neither blank nor a comment. A leading `#N/A` is a missing value.
fn holds_fields(line: &[u8], delimiter: Delimiter) -> bool {
    let line = trim(line, delimiter);
    !line.is_empty() && (line[0] != b'#' || line.starts_with(b"#N/A"))
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

/// The content of a field, without the quotes around it. What follows a closing quote is content, too.
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

/// The content of a field as text.
pub(crate) fn utf8(path: &Path, field: &[u8]) -> Result<String> {
    String::from_utf8(unquote(field).into_owned()).map_err(|_| {
        malformed(
            path,
            "text in UTF-8",
            format!("the name `{}`", crate::error::show(field)),
            "save it as UTF-8, for instance with `iconv -f latin1 -t utf-8`",
        )
    })
}
