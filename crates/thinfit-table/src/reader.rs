//! A table that is read: which columns, in what blocks, and what becomes of missing values. Where rows come from is the
//! business of a [`Source`].

use crate::dialect::SAMPLE;
use crate::error::{leave_out, malformed, show, unread};
use crate::kind::{Kind, kind};
use crate::names::suggest;
#[cfg(feature = "parquet")]
use crate::parquet::Parquet;
use crate::text::Text;
use crate::{Delimiter, Error, Place, Position, Result, mat, npy, npz};
#[cfg(feature = "parquet")]
use bytes::Bytes;
use faer::Mat;
use std::collections::HashSet;
use std::fs::File;
use std::io::{Cursor, Read, Seek};
use std::path::{Path, PathBuf};

/// Numbers in a block while a table is read whole.
const BLOCK: usize = 1 << 17;

/// What becomes of missing values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Missing {
    /// They are an error.
    #[default]
    Refuse,
    /// Rows in which a selected column is missing are left out.
    Drop,
    /// They become the mean of the other values of the column; not while reading in blocks.
    Mean,
}

/// How a table is to be read.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// What separates the fields of a text; detected (tab, `;`, `,` or blanks) if none.
    pub delimiter: Option<Delimiter>,
    /// Whether the first line of a text holds names; detected if none.
    pub header: Option<bool>,
    /// What becomes of missing values.
    pub missing: Missing,
    /// Whether a comma stands before the decimals of a number in a text.
    pub decimal_comma: bool,
    /// Whether all columns that are selected are needed, so that errors do not advise to leave one out.
    pub needed: bool,
    /// The array of an NPZ file or variable of a MAT file, or several with commas between them; all if none.
    pub array: Option<String>,
}

/// A table read whole: m rows of k columns.
#[derive(Debug, Clone)]
pub struct Table {
    /// Names of the selected columns (k).
    pub names: Vec<String>,
    /// Values (m × k), all finite.
    pub x: Mat<f64>,
    /// Rows that were left out for missing values.
    pub dropped: usize,
    /// Missing values that were replaced by means.
    pub filled: usize,
}

/// Rows of a file of some kind.
pub(crate) trait Source: Send {
    /// Names of all columns, distinct, at least one.
    fn names(&self) -> &[String];
    /// Appends at most `rows` rows of these columns, row by row, NaN where a value is missing. Returns the number of
    /// rows; fewer than asked for are the last.
    fn read(&mut self, columns: &[usize], rows: usize, out: &mut Vec<f64>) -> Result<usize>;
    /// Where in the file row `row` of the last block is.
    fn position(&self, row: usize) -> Position;
}

/// What can be read from any place.
pub(crate) trait Seekable: Read + Seek + Send {}
impl<T: Read + Seek + Send> Seekable for T {}

/// What follows the first bytes of a table.
enum Rest {
    Nothing,
    /// The file, whole again after a seek.
    File(File),
    Stream(Box<dyn Read + Send>),
}

impl Rest {
    /// The rest alone, to be read in order.
    fn stream(self) -> Box<dyn Read + Send> {
        match self {
            Rest::Nothing => Box::new(std::io::empty()),
            Rest::File(file) => Box::new(file),
            Rest::Stream(stream) => stream,
        }
    }

    /// All bytes, `head` and the rest, to be read from any place.
    fn seekable(self, path: &Path, head: Vec<u8>) -> Result<Box<dyn Seekable>> {
        match self {
            Rest::Nothing => Ok(Box::new(Cursor::new(head))),
            Rest::File(file) => Ok(Box::new(file)),
            Rest::Stream(_) => Err(streamed(path)),
        }
    }
}

/// The error of a stream that is not text.
fn streamed(path: &Path) -> Error {
    malformed(
        path,
        "text from a stream",
        "another kind of file",
        "write it to a file first",
    )
}

/// A table whose names are known and whose rows are to be read.
pub struct Reader {
    path: PathBuf,
    source: Box<dyn Source>,
    missing: Missing,
    needed: bool,
    columns: Vec<usize>,
    /// Complete rows of the current block.
    values: Vec<f64>,
    /// Rows read so far, with those dropped.
    rows: usize,
    dropped: usize,
}

impl Reader {
    /// Opens a table; `-` is text from standard input. Reads the names, and the arrays of NPZ and MAT files.
    ///
    /// # Errors
    /// A file that cannot be read, that is not a table, or whose columns cannot be named.
    pub fn open(path: &Path, options: &Options) -> Result<Self> {
        if path == Path::new("-") {
            let path = Path::new("standard input");
            let head = head(path, &mut std::io::stdin())?;
            return Reader::new(
                path,
                head,
                Rest::Stream(Box::new(std::io::stdin())),
                options,
            );
        }
        let metadata = std::fs::metadata(path).map_err(|error| unread(path, error))?;
        if metadata.is_dir() {
            return Err(malformed(path, "a file", "a folder", "give a file in it"));
        }
        let mut file = File::open(path).map_err(|error| unread(path, error))?;
        let head = head(path, &mut file)?;
        let rest = if metadata.is_file() {
            Rest::File(file)
        } else {
            Rest::Stream(Box::new(file))
        };
        Reader::new(path, head, rest, options)
    }

    /// Opens a table that is in memory; `name` stands for it in errors, and its extension counts.
    ///
    /// # Errors
    /// As [`Reader::open`].
    pub fn from_bytes(name: &Path, bytes: Vec<u8>, options: &Options) -> Result<Self> {
        Reader::new(name, bytes, Rest::Nothing, options)
    }

    fn new(path: &Path, head: Vec<u8>, rest: Rest, options: &Options) -> Result<Self> {
        let array = options.array.as_deref();
        let source: Box<dyn Source> = match kind(path, &head)? {
            Kind::Text => Box::new(Text::open(path, head, rest.stream(), options)?),
            Kind::Npy => Box::new(npy::open(path, rest.seekable(path, head)?)?),
            Kind::Npz => Box::new(npz::open(path, rest.seekable(path, head)?, array)?),
            Kind::Mat => Box::new(mat::open(path, rest.seekable(path, head)?, array)?),
            #[cfg(feature = "parquet")]
            Kind::Parquet => Box::new(match rest {
                Rest::Nothing => Parquet::open(path, Bytes::from(head))?,
                Rest::File(file) => Parquet::open(path, file)?,
                Rest::Stream(_) => return Err(streamed(path)),
            }),
            #[cfg(not(feature = "parquet"))]
            Kind::Parquet => {
                return Err(malformed(
                    path,
                    "another kind of file",
                    "Parquet, which this build cannot read",
                    "install with `cargo install thinfit-cli --features parquet`, use a released binary, or convert to CSV",
                ));
            }
        };
        Ok(Reader {
            path: path.into(),
            columns: (0..source.names().len()).collect(),
            source,
            missing: options.missing,
            needed: options.needed,
            values: Vec::new(),
            rows: 0,
            dropped: 0,
        })
    }

    /// Names of all columns of the file, selected or not.
    pub fn names(&self) -> &[String] {
        self.source.names()
    }

    /// The place of the column `name` among [`Reader::names`].
    ///
    /// # Errors
    /// No such column.
    pub fn column(&self, name: &str) -> Result<usize> {
        let names = self.names();
        let place = names.iter().position(|known| known == name);
        place.ok_or_else(|| Error::Column {
            path: self.path.clone(),
            name: show(name.as_bytes()),
            advice: suggest(names, name),
        })
    }

    /// Reads these columns only, in this order. The others are not looked at and may be text.
    ///
    /// # Panics
    /// No columns, one that does not exist, or one twice.
    pub fn select(&mut self, columns: &[usize]) {
        let distinct: HashSet<_> = columns.iter().collect();
        assert!(!columns.is_empty() && distinct.len() == columns.len());
        assert!(columns.iter().all(|c| *c < self.names().len()));
        self.columns = columns.to_vec();
    }

    /// The columns that are read, in this order, as places among [`Reader::names`]; all at first.
    pub fn selected(&self) -> &[usize] {
        &self.columns
    }

    /// Rows left out so far for missing values. Whoever writes a row for each row of the file should refuse them.
    pub fn dropped(&self) -> usize {
        self.dropped
    }

    /// All rows that are left.
    ///
    /// # Errors
    /// Values that are not finite numbers, missing values if they are refused, ragged rows, or no rows at all.
    pub fn read(&mut self) -> Result<Table> {
        let k = self.columns.len();
        let mut blocks = Vec::new();
        let mut m = 0;
        loop {
            let rows = self.block((BLOCK / k).max(1))?;
            if rows == 0 {
                break;
            }
            m += rows;
            // A copy has no spare capacity.
            blocks.push(self.values.as_slice().to_vec());
        }
        if m == 0 {
            return Err(self.none());
        }
        let mut x = Mat::zeros(m, k);
        let mut first = 0;
        // A block is freed once it is copied, so that the table is in memory about once.
        for block in blocks {
            for j in 0..k {
                let column = &mut x.col_as_slice_mut(j)[first..];
                let values = block.iter().skip(j).step_by(k);
                column.iter_mut().zip(values).for_each(|(to, v)| *to = *v);
            }
            first += block.len() / k;
        }
        let names: Vec<_> = self
            .columns
            .iter()
            .map(|c| self.names()[*c].clone())
            .collect();
        let filled = match self.missing {
            Missing::Mean => self.fill(&mut x, &names)?,
            Missing::Refuse | Missing::Drop => 0,
        };
        Ok(Table {
            names,
            x,
            dropped: self.dropped,
            filled,
        })
    }

    /// The next `rows` rows (rows × selected columns), fewer at the end, then none. The memory in use does not depend on
    /// the length of the file. With [`Missing::Drop`] a block has `rows` rows after dropping.
    ///
    /// # Errors
    /// As [`Reader::read`], and [`Missing::Mean`].
    pub fn next_block(&mut self, rows: usize) -> Result<Option<Mat<f64>>> {
        if self.missing == Missing::Mean {
            return Err(Error::Blockwise {
                path: self.path.clone(),
            });
        }
        let (rows, k) = (self.block(rows.max(1))?, self.columns.len());
        if rows == 0 && self.rows == 0 {
            return Err(self.none());
        }
        let block = || Mat::from_fn(rows, k, |i, j| self.values[i * k + j]);
        Ok((rows > 0).then(block))
    }

    /// Reads the next rows to `values`, without those to drop; returns their number, less than `rows` only at the end.
    fn block(&mut self, rows: usize) -> Result<usize> {
        let k = self.columns.len();
        self.values.clear();
        let mut kept = 0;
        while kept < rows {
            let wanted = rows - kept;
            let read = self.source.read(&self.columns, wanted, &mut self.values);
            let read = read.map_err(|error| self.advise(error))?;
            self.rows += read;
            let start = kept;
            for row in 0..read {
                let at = (start + row) * k;
                let values = &self.values[at..at + k];
                if let Some(odd) = values.iter().position(|v| !v.is_finite()) {
                    if let Some(infinite) = values.iter().position(|v| v.is_infinite()) {
                        return Err(self.flaw(row, infinite, "is infinite", &["correct it"]));
                    }
                    match self.missing {
                        Missing::Refuse => {
                            let ways = match self.needed {
                                true => ["fill it in", "pass --missing drop"],
                                false => ["fill it in", "pass --missing drop or --missing mean"],
                            };
                            return Err(self.flaw(row, odd, "is missing", &ways));
                        }
                        Missing::Drop => {
                            self.dropped += 1;
                            continue;
                        }
                        Missing::Mean => {}
                    }
                }
                self.values.copy_within(at..at + k, kept * k);
                kept += 1;
            }
            self.values.truncate(kept * k);
            if read < wanted {
                break;
            }
        }
        Ok(kept)
    }

    /// Replaces NaN by the means of the columns; returns how many there were.
    fn fill(&self, x: &mut Mat<f64>, names: &[String]) -> Result<usize> {
        let mut filled = 0;
        for (j, name) in names.iter().enumerate() {
            let column = x.col_as_slice_mut(j);
            let missing = column.iter().filter(|v| v.is_nan()).count();
            let present = column.len() - missing;
            if present == 0 {
                let name = show(name.as_bytes());
                let advice = match self.needed {
                    true => "fill it in".into(),
                    false => leave_out(&name),
                };
                let expected = format!("values in column `{name}`");
                return Err(malformed(&self.path, expected, "none", advice));
            }
            // Divided first: a sum of large numbers may overflow.
            let mean = column.iter().filter(|v| !v.is_nan());
            let mean: f64 = mean.map(|v| v / present as f64).sum();
            column
                .iter_mut()
                .filter(|v| v.is_nan())
                .for_each(|v| *v = mean);
            filled += missing;
        }
        Ok(filled)
    }

    /// The error of a value in the last block.
    fn flaw(&self, row: usize, column: usize, problem: &str, ways: &[&str]) -> Error {
        let column = show(self.names()[self.columns[column]].as_bytes());
        let ways = ways.iter().map(|way| String::from(*way));
        self.advise(Error::Value {
            place: Place {
                path: self.path.clone(),
                position: self.source.position(row),
            },
            problem: problem.into(),
            advice: ways.chain([leave_out(&column)]).collect(),
            column,
        })
    }

    /// The error without the advice to leave out a column that is needed.
    fn advise(&self, mut error: Error) -> Error {
        if let (true, Error::Value { column, advice, .. }) = (self.needed, &mut error) {
            advice.retain(|way| *way != leave_out(column));
            if advice.is_empty() {
                advice.push("the model needs numbers there".into());
            }
        }
        error
    }

    /// The error of a table without rows.
    fn none(&self) -> Error {
        let (found, advice) = if self.dropped > 0 {
            (
                format!("a missing value in each of {}", self.dropped),
                match self.needed {
                    true => "give complete rows",
                    false => "leave columns out with --drop, or pass --missing mean",
                },
            )
        } else {
            ("none".into(), "give a file with rows below the header")
        };
        malformed(&self.path, "rows", found, advice)
    }
}

/// The first bytes of a table.
fn head(path: &Path, input: &mut impl Read) -> Result<Vec<u8>> {
    let mut head = Vec::new();
    let read = input.take(SAMPLE as u64).read_to_end(&mut head);
    read.map_err(|error| unread(path, error))?;
    Ok(head)
}
