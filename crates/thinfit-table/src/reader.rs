//! Reading a table: which columns, in what blocks, and what becomes of missing values. Where the rows come from is the
//! business of a [`Source`].

use crate::dialect::SAMPLE;
use crate::error::{malformed, show, unread};
use crate::kind::{Kind, kind};
use crate::names::suggest;
#[cfg(feature = "parquet")]
use crate::parquet::Parquet;
use crate::text::Text;
use crate::{Delimiter, Error, Place, Position, Problem, Remedy, Result, mat, npy, npz};
#[cfg(feature = "parquet")]
use bytes::Bytes;
use faer::Mat;
use std::collections::HashSet;
use std::fs::File;
use std::io::{Cursor, Read, Seek};
use std::path::{Path, PathBuf};

/// Numbers in a block when a table is read whole.
const BLOCK: usize = 1 << 17;

/// What becomes of missing values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Missing {
    /// They are an error.
    #[default]
    Refuse,
    /// Rows in which a selected column is missing are left out.
    Drop,
    /// They become the mean of the other values in the column; not possible while reading in blocks.
    Mean,
}

/// How to read a table.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// What separates the fields of a text; if none, it is detected (tab, `;`, `,` or blanks).
    pub delimiter: Option<Delimiter>,
    /// Whether the first line of a text holds names; if none, it is detected.
    pub header: Option<bool>,
    /// What becomes of missing values.
    pub missing: Missing,
    /// Whether numbers in a text have a decimal comma.
    pub decimal_comma: bool,
    /// Whether every selected column is needed, as by a model: errors then do not advise leaving one out or filling it
    /// with its mean.
    pub needed: bool,
    /// The arrays of an NPZ file or variables of a MAT file, separated by commas; if none, all of them.
    pub array: Option<String>,
}

/// A table read whole: m rows of k columns.
#[derive(Debug, Clone)]
pub struct Table {
    /// Names of the selected columns (k).
    pub names: Vec<String>,
    /// Values (m × k), all finite.
    pub x: Mat<f64>,
    /// Rows left out because of missing values.
    pub dropped: usize,
    /// Missing values replaced by means.
    pub filled: usize,
}

/// Rows of a file, whatever its kind.
pub(crate) trait Source: Send {
    /// Names of all columns, distinct, at least one.
    fn names(&self) -> &[String];
    /// Appends at most `rows` rows of these columns, row by row, with NaN for a missing value. Returns the number of rows;
    /// fewer than asked for means that the file has ended.
    fn read(&mut self, columns: &[usize], rows: usize, out: &mut Vec<f64>) -> Result<usize>;
    /// Where row `row` of the last block is in the file.
    fn position(&self, row: usize) -> Position;
}

/// Bytes that can be read from anywhere.
pub(crate) trait Seekable: Read + Seek + Send {}
impl<T: Read + Seek + Send> Seekable for T {}

/// What follows the first bytes of a table.
enum Rest {
    Nothing,
    /// The file, of which a seek gives all bytes again.
    File(File),
    Stream(Box<dyn Read + Send>),
}

impl Rest {
    /// The rest alone, read in order.
    fn stream(self) -> Box<dyn Read + Send> {
        match self {
            Rest::Nothing => Box::new(std::io::empty()),
            Rest::File(file) => Box::new(file),
            Rest::Stream(stream) => stream,
        }
    }

    /// All bytes, `head` and the rest, read from anywhere.
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

/// An open table: its column names are known, its rows not yet read.
pub struct Reader {
    path: PathBuf,
    source: Box<dyn Source>,
    missing: Missing,
    needed: bool,
    columns: Vec<usize>,
    /// Complete rows of the current block.
    values: Vec<f64>,
    /// Rows read so far, including those dropped.
    rows: usize,
    dropped: usize,
}

impl Reader {
    /// Opens a table and reads its column names, and the arrays of NPZ and MAT files. `-` is text from standard input.
    ///
    /// # Errors
    /// The file cannot be read, is not a table, or has ambiguous column names.
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

    /// Opens a table in memory; errors call it `name`, whose extension counts.
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
                    Remedy::Parquet,
                )
                .or("convert it to CSV"));
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

    /// The index of the column `name` in [`Reader::names`].
    ///
    /// # Errors
    /// There is no such column.
    pub fn column(&self, name: &str) -> Result<usize> {
        let names = self.names();
        let place = names.iter().position(|known| known == name);
        place.ok_or_else(|| {
            Error::from(Problem::Column {
                path: self.path.clone(),
                name: show(name.as_bytes()),
                hint: suggest(names, name),
            })
        })
    }

    /// Reads only these columns, in this order. The others are ignored and may hold text.
    ///
    /// # Panics
    /// There are no columns, or one is repeated or does not exist.
    pub fn select(&mut self, columns: &[usize]) {
        let distinct: HashSet<_> = columns.iter().collect();
        assert!(!columns.is_empty() && distinct.len() == columns.len());
        assert!(columns.iter().all(|c| *c < self.names().len()));
        self.columns = columns.to_vec();
    }

    /// The selected columns, in this order, as indices into [`Reader::names`]; at first all of them.
    pub fn selected(&self) -> &[usize] {
        &self.columns
    }

    /// Rows left out so far because of missing values.
    pub fn dropped(&self) -> usize {
        self.dropped
    }

    /// Reads all remaining rows.
    ///
    /// # Errors
    /// A value is not a finite number, or is missing and [`Missing::Refuse`] is set, rows differ in length, or there are no
    /// rows.
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
            return Err(self.no_rows());
        }
        let mut x = Mat::zeros(m, k);
        let mut first = 0;
        // Each block is freed once copied, so that the table is in memory about once.
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

    /// The next `rows` rows (rows × selected columns), fewer at the end, then none. Memory does not grow with the length of
    /// the file. With [`Missing::Drop`] a block still has `rows` rows.
    ///
    /// # Errors
    /// As [`Reader::read`], or [`Missing::Mean`] is set.
    pub fn next_block(&mut self, rows: usize) -> Result<Option<Mat<f64>>> {
        if self.missing == Missing::Mean {
            let path = self.path.clone();
            let error = Error::from(Problem::Blockwise { path });
            return Err(error.or("give complete rows").or(Remedy::DropRows));
        }
        let (rows, k) = (self.block(rows.max(1))?, self.columns.len());
        if rows == 0 && self.rows == 0 {
            return Err(self.no_rows());
        }
        let block = || Mat::from_fn(rows, k, |i, j| self.values[i * k + j]);
        Ok((rows > 0).then(block))
    }

    /// Reads the next rows into `values`, except those to drop; returns their number, less than `rows` only at the end.
    fn block(&mut self, rows: usize) -> Result<usize> {
        let k = self.columns.len();
        self.values.clear();
        let mut kept = 0;
        while kept < rows {
            let wanted = rows - kept;
            let read = self.source.read(&self.columns, wanted, &mut self.values);
            let read = read.map_err(|error| self.useful(error))?;
            self.rows += read;
            let start = kept;
            for row in 0..read {
                let at = (start + row) * k;
                let values = &self.values[at..at + k];
                if let Some(odd) = values.iter().position(|v| !v.is_finite()) {
                    if let Some(infinite) = values.iter().position(|v| v.is_infinite()) {
                        return Err(self.flaw(row, infinite, "is infinite", ["correct it".into()]));
                    }
                    match self.missing {
                        Missing::Refuse => {
                            let remedies =
                                ["fill it in".into(), Remedy::DropRows, Remedy::FillMeans];
                            return Err(self.flaw(row, odd, "is missing", remedies));
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

    /// Replaces NaN by the mean of its column; returns the number of NaNs.
    fn fill(&self, x: &mut Mat<f64>, names: &[String]) -> Result<usize> {
        let mut filled = 0;
        for (j, name) in names.iter().enumerate() {
            let column = x.col_as_slice_mut(j);
            let missing = column.iter().filter(|v| v.is_nan()).count();
            let present = column.len() - missing;
            if present == 0 {
                let name = show(name.as_bytes());
                let expected = format!("values in column `{name}`");
                let error = malformed(&self.path, expected, "none", "fill it in");
                return Err(self.useful(error.or(Remedy::LeaveOut(name))));
            }
            // Divide first: a sum of large numbers may overflow.
            let values = column.iter().filter(|v| !v.is_nan());
            let mean: f64 = values.map(|v| v / present as f64).sum();
            column
                .iter_mut()
                .filter(|v| v.is_nan())
                .for_each(|v| *v = mean);
            filled += missing;
        }
        Ok(filled)
    }

    /// The error of a value in the last block; one of `remedies` mends it, or leaving the column out.
    fn flaw<const N: usize>(
        &self,
        row: usize,
        column: usize,
        flaw: &str,
        remedies: [Remedy; N],
    ) -> Error {
        let column = show(self.names()[self.columns[column]].as_bytes());
        let leave_out = Remedy::LeaveOut(column.clone());
        self.useful(Error {
            problem: Problem::Value {
                place: Place {
                    path: self.path.clone(),
                    position: self.source.position(row),
                },
                column,
                flaw: flaw.into(),
            },
            remedies: remedies.into_iter().chain([leave_out]).collect(),
        })
    }

    /// The error without remedies that are no use when every selected column is needed.
    fn useful(&self, mut error: Error) -> Error {
        let useless = |remedy: &Remedy| {
            matches!(
                remedy,
                Remedy::LeaveOut(_) | Remedy::FewerColumns | Remedy::FillMeans
            )
        };
        error
            .remedies
            .retain(|remedy| !(self.needed && useless(remedy)));
        error
    }

    /// The error of a table without rows.
    fn no_rows(&self) -> Error {
        if self.dropped == 0 {
            let remedy = "give a file with rows below the header";
            return malformed(&self.path, "rows", "none", remedy);
        }
        let found = format!("a missing value in each of {}", self.dropped);
        let error = malformed(&self.path, "rows", found, "give complete rows");
        self.useful(error.or(Remedy::FewerColumns).or(Remedy::FillMeans))
    }
}

/// The first bytes of a table.
fn head(path: &Path, input: &mut impl Read) -> Result<Vec<u8>> {
    let mut head = Vec::new();
    let read = input.take(SAMPLE as u64).read_to_end(&mut head);
    read.map_err(|error| unread(path, error))?;
    Ok(head)
}
