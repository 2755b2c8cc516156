//! Writes a table as CSV or TSV, each number in the shortest form that reads back to the same bits.

use crate::{Error, Problem, Result};
use faer::MatRef;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use thinfit_text::{clean, place};

/// Bytes buffered before a write.
const CHUNK: usize = 1 << 16;

/// A cell to write.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cell<'a> {
    /// A number.
    Number(f64),
    /// A text.
    Text(&'a str),
    /// Nothing.
    Missing,
}

/// Writes CSV, or TSV to a file whose name says so, to a file or anything else that takes bytes. A file keeps a temporary name until [`Writer::finish`]; if that
/// is never called, no file is left.
pub struct Writer<'a> {
    /// What errors call the output.
    path: PathBuf,
    output: Output<'a>,
    buffer: Vec<u8>,
    /// What separates cells.
    delimiter: u8,
}

/// Where bytes go.
enum Output<'a> {
    /// A file, and its temporary name.
    File(File, PathBuf),
    Other(Box<dyn Write + 'a>),
}

impl Writer<'static> {
    /// Writes to the file `path`.
    ///
    /// # Errors
    /// The temporary file cannot be created next to it.
    pub fn create(path: &Path) -> Result<Self> {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        // A link is kept and its target replaced; a pipe or device is written to directly.
        let path = &*place(path);
        if std::fs::metadata(path).is_ok_and(|file| !file.is_file() && !file.is_dir()) {
            let file = File::create(path).map_err(|source| unwritten(path, source))?;
            return Ok(Writer::new(&path.to_string_lossy(), file));
        }
        let mut partial = path.as_os_str().to_owned();
        // Several threads may write one file at a time; the last to rename wins.
        partial.push(format!(
            ".{}-{}.partial",
            std::process::id(),
            COUNT.fetch_add(1, Ordering::Relaxed)
        ));
        let file = File::create(&partial).map_err(|source| unwritten(path, source))?;
        Ok(Writer {
            path: path.into(),
            output: Output::File(file, partial.into()),
            buffer: Vec::with_capacity(2 * CHUNK),
            delimiter: match path.extension() {
                Some(extension) if extension.eq_ignore_ascii_case("tsv") => b'\t',
                _ => b',',
            },
        })
    }
}

impl<'a> Writer<'a> {
    /// Writes to `output`, named `name` in errors, for instance `standard output`.
    pub fn new(name: &str, output: impl Write + 'a) -> Self {
        Writer {
            path: name.into(),
            output: Output::Other(Box::new(output)),
            buffer: Vec::with_capacity(2 * CHUNK),
            delimiter: b',',
        }
    }

    /// Writes a line of names.
    ///
    /// # Errors
    /// The write fails.
    pub fn names(&mut self, names: &[impl AsRef<str>]) -> Result<()> {
        self.cells(names.iter().map(|name| Cell::Text(name.as_ref())))
    }

    /// Writes a line of cells, text without hidden characters and quoted where needed.
    ///
    /// # Errors
    /// The write fails.
    pub fn cells<'b>(&mut self, cells: impl IntoIterator<Item = Cell<'b>>) -> Result<()> {
        let (mut digits, start) = (zmij::Buffer::new(), self.buffer.len());
        for (j, cell) in cells.into_iter().enumerate() {
            if j > 0 {
                self.buffer.push(self.delimiter);
            }
            match cell {
                Cell::Number(value) => self.number(value, &mut digits),
                Cell::Text(text) => self.text(&clean(text)),
                Cell::Missing => {}
            }
        }
        // Readers skip a line without a character.
        if self.buffer.len() == start {
            self.text("");
        }
        self.buffer.push(b'\n');
        self.flush(CHUNK)
    }

    fn text(&mut self, text: &str) {
        let special = |c: char| ",;\"#".contains(c) || c.is_ascii_whitespace();
        if text.is_empty() || text.contains(special) {
            self.buffer.push(b'"');
            self.buffer
                .extend_from_slice(text.replace('"', "\"\"").as_bytes());
            self.buffer.push(b'"');
        } else {
            self.buffer.extend_from_slice(text.as_bytes());
        }
    }

    fn number(&mut self, value: f64, digits: &mut zmij::Buffer) {
        let text = digits.format(value);
        let text = text.strip_suffix(".0").unwrap_or(text);
        self.buffer.extend_from_slice(text.as_bytes());
    }

    /// Writes the rows of `x` (m × k).
    ///
    /// # Errors
    /// The write fails.
    pub fn rows(&mut self, x: MatRef<'_, f64>) -> Result<()> {
        let mut digits = zmij::Buffer::new();
        for row in x.row_iter() {
            for (j, value) in row.iter().enumerate() {
                if j > 0 {
                    self.buffer.push(self.delimiter);
                }
                self.number(*value, &mut digits);
            }
            self.buffer.push(b'\n');
            self.flush(CHUNK)?;
        }
        Ok(())
    }

    /// The file that is written until it gets its name.
    pub fn partial(&self) -> Option<&Path> {
        match &self.output {
            Output::File(_, partial) => Some(partial),
            Output::Other(_) => None,
        }
    }

    /// Writes what is buffered and gives the file its name.
    ///
    /// # Errors
    /// The write fails; no file is left then.
    pub fn finish(mut self) -> Result<()> {
        self.flush(0)?;
        let finished = match &mut self.output {
            Output::File(file, partial) => file
                .sync_all()
                .and_then(|()| std::fs::rename(partial, &self.path)),
            Output::Other(output) => output.flush(),
        };
        finished.map_err(|source| unwritten(&self.path, source))
    }

    /// Writes the buffer out if it holds more than `least` bytes.
    fn flush(&mut self, least: usize) -> Result<()> {
        if self.buffer.len() > least {
            let written = match &mut self.output {
                Output::File(file, _) => file.write_all(&self.buffer),
                Output::Other(output) => output.write_all(&self.buffer),
            };
            written.map_err(|source| unwritten(&self.path, source))?;
            self.buffer.clear();
        }
        Ok(())
    }
}

impl Drop for Writer<'_> {
    fn drop(&mut self) {
        if let Output::File(_, partial) = &self.output {
            // After `finish` it is gone, which is fine.
            let _ = std::fs::remove_file(partial);
        }
    }
}

/// The error of failing to write `path`.
fn unwritten(path: &Path, source: std::io::Error) -> Error {
    Error::from(Problem::Io {
        action: "write",
        path: path.into(),
        source,
    })
}
