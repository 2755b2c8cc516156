//! Reads a table: selects columns, forms blocks of rows and handles missing values. The rows come from a [`Source`].

use crate::dialect::SAMPLE;
use crate::error::{Amount, Paths, Spot, check_memory, malformed, show, unread, useful};
use crate::file_format::{FileFormat, file_format};
use crate::files::{Files, TableFiles};
use crate::note::{Done, Note, Unusual};
#[cfg(feature = "parquet")]
use crate::parquet::Parquet;
use crate::table::{Cells, RawTable, Table};
use crate::table_errors::{Gaps, TableErrors};
use crate::text::Text;
use crate::text_cells::TextCells;
use crate::{Delimiter, Error, Place, Position, Problem, Remedy, Result, mat, npy};
#[cfg(feature = "parquet")]
use bytes::Bytes;
use faer::Mat;
use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{Cursor, ErrorKind, Read, Seek};
use std::path::{Path, PathBuf};
use thinfit_text::suggest;

/// Numbers in a block when a table is read whole.
const BLOCK: usize = 1 << 17;

/// How missing values are treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Missing {
    /// They are an error.
    #[default]
    Refuse,
    /// Rows in which a selected column is missing are left out.
    Drop,
    /// They stay, as NaN.
    Keep,
}

/// How to read a table.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The field separator of a text; `None` detects it (tab, `;`, `,` or blanks).
    pub delimiter: Option<Delimiter>,
    /// Whether the first line of a text holds names; `None` detects it.
    pub header: Option<bool>,
    /// How missing values are treated.
    pub missing: Missing,
    /// Whether numbers in a text have a decimal comma.
    pub decimal_comma: bool,
    /// Whether every selected column is required, as by a model: errors then do not advise dropping one or filling it
    /// with its mean.
    pub needed: bool,
    /// The sheet of a workbook; `None` means the first.
    pub sheet: Option<String>,
    /// The arrays of an NPZ file or variables of a MAT file, separated by commas; `None` means all.
    pub array: Option<String>,
    /// Maximum number of bytes that the numbers of a table may take when it is read whole or unpacked; `None` means no limit.
    pub memory: Option<u64>,
    /// Lines of a text, or rows of a sheet, to skip before anything is read.
    pub skip_rows: u64,
}

/// Rows read from a file.
#[derive(Default)]
pub(crate) struct Block {
    /// Row by row; NaN is a missing value.
    pub values: Vec<f64>,
    /// The text of the columns that may hold some, by the place of the column in a row.
    pub text_cells: Vec<Option<TextCells>>,
    /// Cells in an unusual notation, by the place of the column in a row; they add up over blocks.
    pub unusual: Vec<Unusual>,
    /// The place of the file that is read among those of the table.
    pub file: usize,
    /// The number of the first row, as the text cells count.
    pub first: usize,
    /// Invalid cells, whose values are meaningless.
    pub errors: TableErrors,
}

/// Rows of a file of any format.
pub(crate) trait Source: Send {
    /// Names of all columns, distinct, at least one.
    fn names(&self) -> &[String];
    /// Appends at most `rows` rows of these columns, row by row, with NaN for a missing value. Returns the number of rows;
    /// fewer than asked for means that the file has ended. A flaw of a single cell or row goes to the block.
    fn read(&mut self, columns: &[usize], rows: usize, out: &mut Block) -> Result<usize>;
    /// Where row `row` of the last block is in its file.
    fn position(&self, row: usize) -> Position;
    /// The same, with the place of the file among those of the table.
    fn spot(&self, row: usize) -> Spot {
        Spot {
            file: 0,
            position: self.position(row),
        }
    }
    /// What was done so far beyond reading cells.
    fn notes(&self) -> Vec<Note> {
        Vec::new()
    }
    /// Passes over at most `rows` rows; returns their number, fewer only where the file has ended.
    fn skip(&mut self, columns: &[usize], rows: u64) -> Result<u64>;
    /// The number of rows, where the file says it.
    fn rows(&self) -> Option<u64>;
    /// Bytes that these columns take before they become numbers, where they are unpacked in large pieces.
    fn unpacked(&self, columns: &[usize]) -> u64;
}

/// Bytes that can be read from anywhere.
pub(crate) trait Seekable: Read + Seek + Send {}
impl<T: Read + Seek + Send> Seekable for T {}

/// The rest of a table after its first bytes.
enum Rest {
    Nothing,
    /// The file, of which a seek gives all bytes again, and how many it has.
    File(File, u64),
    Stream(Box<dyn Read + Send>),
}

impl Rest {
    /// What follows the `head` first bytes, read in order.
    fn stream(self, head: usize) -> Box<dyn Read + Send> {
        match self {
            Rest::Nothing => Box::new(std::io::empty()),
            Rest::File(file, size) => Box::new(Whole {
                file,
                left: size.saturating_sub(head as u64),
            }),
            Rest::Stream(stream) => stream,
        }
    }

    /// All bytes, `head` and the rest, read from anywhere.
    fn seekable(self, path: &Path, head: Vec<u8>) -> Result<Box<dyn Seekable>> {
        match self {
            Rest::Nothing => Ok(Box::new(Cursor::new(head))),
            Rest::File(file, _) => Ok(Box::new(file)),
            Rest::Stream(_) => Err(streamed(path)),
        }
    }
}

/// A file that is read to the end given by its size, because a truncated text would look like a shorter one.
struct Whole {
    file: File,
    left: u64,
}

impl Read for Whole {
    fn read(&mut self, bytes: &mut [u8]) -> std::io::Result<usize> {
        let count = self.file.read(bytes)?;
        if count == 0 && self.left > 0 && !bytes.is_empty() {
            let flaw = format!("{} bytes are missing at its end", self.left);
            return Err(std::io::Error::new(ErrorKind::UnexpectedEof, flaw));
        }
        // It may grow meanwhile.
        self.left = self.left.saturating_sub(count as u64);
        Ok(count)
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
    paths: Paths,
    source: Box<dyn Source>,
    missing: Missing,
    needed: bool,
    columns: Vec<usize>,
    /// The column of each name.
    places: HashMap<String, usize>,
    /// Columns that may hold text.
    admitted: HashSet<usize>,
    /// Columns whose gaps stay, independently of the others.
    gappy: HashSet<usize>,
    /// Rows of the current block.
    block: Block,
    /// Rows read so far, including those dropped.
    rows: usize,
    dropped: usize,
    /// Maximum number of bytes of the numbers.
    memory: Option<u64>,
    /// What was skipped in folders.
    notes: Vec<Note>,
}

impl Reader {
    /// Opens a table and reads its column names. `-` is text from standard input.
    ///
    /// # Errors
    /// The file cannot be read, is not a table, or has ambiguous column names.
    pub fn open(path: &Path, options: &Options) -> Result<Self> {
        Reader::open_all(&[path], options)
    }

    /// Opens several tables as one: their rows one after the other, their columns by the names of the first. A folder stands for the
    /// tables in it, by name.
    ///
    /// # Errors
    /// As [`Reader::open`], or files with other columns.
    ///
    /// # Panics
    /// There are no paths.
    pub fn open_all(paths: &[impl AsRef<Path>], options: &Options) -> Result<Self> {
        Reader::open_files(&TableFiles::find(paths)?, options)
    }

    /// [`Reader::open_all`] of files that were found before.
    ///
    /// # Errors
    /// As [`Reader::open_all`].
    pub fn open_files(table: &TableFiles, options: &Options) -> Result<Self> {
        let reader = match table.paths() {
            [path] => Reader::of_file(open_file(path, options)?, options),
            files => {
                let source = Files::open(files.to_vec(), options)?;
                let paths = Paths {
                    table: table.name.clone(),
                    files: source.shown().to_vec(),
                };
                Reader::new(Box::new(source), paths, options)
            }
        };
        Ok(Reader {
            notes: table.notes.clone(),
            ..reader
        })
    }

    /// Opens a table in memory; errors call it `name`, whose extension counts.
    ///
    /// # Errors
    /// As [`Reader::open`].
    pub fn from_bytes(name: &Path, bytes: Vec<u8>, options: &Options) -> Result<Self> {
        let opened = source(name, bytes, Rest::Nothing, options)?;
        Ok(Reader::of_file(opened, options))
    }

    /// A reader of a single file.
    fn of_file((source, table): (Box<dyn Source>, PathBuf), options: &Options) -> Self {
        let files = Vec::new();
        Reader::new(source, Paths { table, files }, options)
    }

    /// A reader of a source.
    fn new(source: Box<dyn Source>, paths: Paths, options: &Options) -> Self {
        Reader {
            paths,
            columns: (0..source.names().len()).collect(),
            places: source.names().iter().cloned().zip(0..).collect(),
            source,
            missing: options.missing,
            needed: options.needed,
            admitted: HashSet::new(),
            gappy: HashSet::new(),
            block: Block::default(),
            rows: 0,
            dropped: 0,
            memory: options.memory,
            notes: Vec::new(),
        }
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
        self.places.get(name).copied().ok_or_else(|| {
            Error::from(Problem::Column {
                path: self.paths.table.clone(),
                name: show(name.as_bytes()),
                hint: suggest(self.names(), name),
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
        self.block.unusual.clear();
    }

    /// The selected columns, in this order, as indices into [`Reader::names`]; at first all of them.
    pub fn selected(&self) -> &[usize] {
        &self.columns
    }

    /// Lets these columns hold text. Where one does, its values are codes: indices of its different texts. Read in blocks,
    /// a number there is text, too; read whole, a column without text is one of numbers.
    pub fn admit_text(&mut self, columns: &[usize]) {
        self.admitted = columns.iter().copied().collect();
    }

    /// The columns that may hold text.
    pub fn admitted(&self) -> Vec<usize> {
        self.admitted.iter().copied().collect()
    }

    /// Lets these columns have gaps while reading in blocks, independently of the others.
    pub fn admit_gaps(&mut self, columns: &[usize]) {
        self.gappy = columns.iter().copied().collect();
    }

    /// The cells of the selected column `j` in `block`, the last one read.
    pub fn cells<'a>(&'a self, block: &'a Mat<f64>, j: usize) -> Cells<'a> {
        Cells::new(block.col_as_slice(j), self.block.text_cells[j].as_ref())
    }

    /// Where the selected column `j` first holds `text` in the last block.
    pub fn place(&self, j: usize, text: &str) -> Option<Place> {
        let spot = self.block.text_cells[j].as_ref()?.place(text)?;
        Some(self.paths.place(spot))
    }

    /// What was skipped or interpreted in the rows read so far, and above them.
    pub fn notes(&self) -> Vec<Note> {
        let mut notes = [&self.notes[..], &self.source.notes()].concat();
        let used = |name: &String| self.columns.iter().any(|c| self.names()[*c] == *name);
        notes.retain(|note| !matches!(&note.done, Done::Durations { column } if !used(column)));
        let columns = self.block.unusual.iter().enumerate();
        notes.extend(columns.filter_map(|(j, unusual)| {
            let (spot, done) = unusual.done(self.name(j))?;
            let path = self.paths.file(spot.file).to_owned();
            Some(Note { path, done })
        }));
        notes
    }

    /// Rows left out so far because of missing values.
    pub fn dropped(&self) -> usize {
        self.dropped
    }

    /// Reads all remaining rows.
    ///
    /// # Errors
    /// Values are not finite numbers, or are missing and [`Missing::Refuse`] is set, rows differ in length, or there are no
    /// rows.
    pub fn read(&mut self) -> Result<Table> {
        let all: Vec<usize> = (0..self.columns.len()).collect();
        self.read_raw()?.complete(&all)
    }

    /// Reads all remaining rows as they are, with their gaps.
    ///
    /// # Errors
    /// The file cannot be read, or there are no rows. Of cells that cannot be used, [`RawTable::complete`] tells.
    pub fn read_raw(&mut self) -> Result<RawTable> {
        let k = self.columns.len();
        let bytes = |rows: u64| rows.saturating_mul(8 * k as u64);
        if let Some(rows) = self.source.rows() {
            self.check_memory(rows, Amount::About(bytes(rows)))?;
        }
        self.check_unpacked()?;
        let (mut blocks, mut m, mut gaps) = (Vec::new(), 0, vec![None; k]);
        self.start_block();
        loop {
            self.block.values.clear();
            self.block.first = m;
            let rows = self.append((BLOCK / k).max(1))?;
            if rows == 0 {
                break;
            }
            let values = self.block.values.iter().enumerate();
            for (at, _) in values.filter(|(_, value)| value.is_nan()) {
                let (row, j) = (at / k, at % k);
                gaps[j] = gaps[j].or_else(|| Some((m + row, self.source.spot(row))));
            }
            m += rows;
            let text_cells = self.block.text_cells.iter().flatten().map(TextCells::bytes);
            let taken = bytes(m as u64).saturating_add(text_cells.sum());
            self.check_memory(m as u64, Amount::Above(taken))?;
            // A copy has no spare capacity.
            blocks.push(self.block.values.as_slice().to_vec());
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
        let mut text_cells = std::mem::take(&mut self.block.text_cells);
        for (j, text_cells) in text_cells.iter_mut().enumerate() {
            let column = x.col_as_slice_mut(j);
            if let Some(text_cells) = text_cells {
                let none = text_cells.turn_into_numbers(column, &mut self.block.unusual[j]);
                gaps[j] = gaps[j].into_iter().chain(none).min_by_key(|(row, _)| *row);
                if !text_cells.levels.is_empty() {
                    text_cells.encode(0, column.iter_mut(), |_| None);
                }
            }
        }
        let names = self.columns.iter().map(|c| self.names()[*c].clone());
        Ok(RawTable {
            paths: self.paths.clone(),
            names: names.collect(),
            x,
            text_cells,
            gaps,
            missing: self.missing,
            needed: self.needed,
            measured: Vec::new(),
            errors: std::mem::take(&mut self.block.errors),
        })
    }

    /// The number of rows, where the file says it.
    pub fn rows(&self) -> Option<u64> {
        self.source.rows()
    }

    /// Passes over at most `rows` rows, whatever is in them; returns their number, fewer only at the end.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn skip(&mut self, rows: u64) -> Result<u64> {
        let skipped = self.source.skip(&self.columns, rows)?;
        self.rows += skipped as usize;
        Ok(skipped)
    }

    /// The next `rows` rows (rows × selected columns), fewer at the end, then none. Memory does not grow with the length of
    /// the file. With [`Missing::Drop`] a block still has `rows` rows.
    ///
    /// # Errors
    /// As [`Reader::read`]; the rest of the file is looked through for more of what is wrong first.
    pub fn next_block(&mut self, rows: usize) -> Result<Option<Mat<f64>>> {
        self.check_unpacked()?;
        let (rows, k) = (self.complete(rows.max(1))?, self.columns.len());
        if rows == 0 && self.rows == 0 {
            return Err(self.no_rows());
        }
        let values = &self.block.values;
        let block = || Mat::from_fn(rows, k, |i, j| values[i * k + j]);
        Ok((rows > 0).then(block))
    }

    /// Refuses a table of so many rows that takes too much memory.
    fn check_memory(&self, rows: u64, needed: Amount) -> Result<()> {
        let what = || format!("{rows} rows of {} columns take", self.columns.len());
        check_memory(&self.paths.table, what, needed, self.memory)
            .map_err(|error| useful(error, self.needed))
    }

    /// Refuses columns that take too much memory when they are unpacked.
    fn check_unpacked(&self) -> Result<()> {
        let needed = Amount::About(self.source.unpacked(&self.columns));
        let what = || "unpacking its columns takes".to_owned();
        check_memory(&self.paths.table, what, needed, self.memory)
            .map_err(|error| useful(error, self.needed))
    }

    /// Makes room for a block.
    fn start_block(&mut self) {
        let text_cells = |c: &usize| self.admitted.contains(c).then(TextCells::default);
        self.block.text_cells = self.columns.iter().map(text_cells).collect();
        let columns = self.columns.len();
        self.block.unusual.resize_with(columns, Unusual::default);
        self.block.values.clear();
        self.block.first = 0;
    }

    /// Appends at most `rows` rows to the block, as they are; returns their number, less than `rows` only at the end.
    fn append(&mut self, rows: usize) -> Result<usize> {
        let (k, start) = (self.columns.len(), self.block.values.len());
        let read = self.source.read(&self.columns, rows, &mut self.block);
        let read = read.map_err(|error| useful(error, self.needed))?;
        self.rows += read;
        for at in start..self.block.values.len() {
            if self.block.values[at].is_infinite() {
                let flaw = self.infinite((at - start) / k, (at - start) % k);
                self.block.errors.add(flaw);
                self.block.values[at] = 0.0;
            }
        }
        Ok(read)
    }

    /// The error of the rows read last, where `start` is the place of the first among the values: their flaws and gaps, and
    /// those of all rows to come. None if they have none.
    fn survey(&mut self, start: usize) -> Result<Option<Error>> {
        let k = self.columns.len();
        let gappy: Vec<bool> = self
            .columns
            .iter()
            .map(|c| self.gappy.contains(c))
            .collect();
        let refuse = self.missing == Missing::Refuse;
        let gap = |j: usize, value: f64| refuse && value.is_nan() && !gappy[j];
        let values = self.block.values[start..].iter().enumerate();
        let sound = !values.into_iter().any(|(at, value)| gap(at % k, *value));
        if sound && self.block.errors.is_empty() {
            return Ok(None);
        }
        let mut gaps = Gaps::of(k);
        let mut values = self.block.values.split_off(start);
        loop {
            for (row, values) in values.chunks(k).enumerate() {
                let columns = (0..k).filter(|j| gap(*j, values[*j]));
                gaps.count(columns, || self.source.spot(row));
            }
            // Texts are of no use any more.
            self.start_block();
            if self.append((BLOCK / k).max(1))? == 0 {
                break;
            }
            values = std::mem::take(&mut self.block.values);
        }
        let mut flaws = std::mem::take(&mut self.block.errors);
        let name = |j: usize| self.name(j);
        let error = gaps.into_error(&self.paths, self.rows, name);
        error.into_iter().for_each(|error| flaws.add(error));
        let error = flaws.into_error();
        Ok(error.map(|error| useful(error, self.needed)))
    }

    /// Reads the next rows into the block, except those to drop; returns their number, less than `rows` only at the end.
    fn complete(&mut self, rows: usize) -> Result<usize> {
        let k = self.columns.len();
        self.start_block();
        let mut kept = 0;
        while kept < rows {
            let wanted = rows - kept;
            let read = self.append(wanted)?;
            let Block {
                values, text_cells, ..
            } = &mut self.block;
            for (j, text_cells) in text_cells.iter_mut().enumerate() {
                if let Some(text_cells) = text_cells {
                    let column = values[kept * k..].iter_mut().skip(j).step_by(k);
                    text_cells.encode(kept, column, |row| Some(self.source.spot(row)));
                }
            }
            if let Some(error) = self.survey(kept * k)? {
                return Err(error);
            }
            let (start, values) = (kept, &mut self.block.values);
            for row in 0..read {
                let at = (start + row) * k;
                let gap = |(c, v): (&usize, &f64)| v.is_nan() && !self.gappy.contains(c);
                let mut cells = self.columns.iter().zip(&values[at..at + k]);
                if self.missing == Missing::Drop && cells.any(gap) {
                    self.dropped += 1;
                    continue;
                }
                values.copy_within(at..at + k, kept * k);
                kept += 1;
            }
            self.block.values.truncate(kept * k);
            if read < wanted {
                break;
            }
        }
        Ok(kept)
    }

    /// The name of the selected column `j`.
    fn name(&self, j: usize) -> &str {
        &self.names()[self.columns[j]]
    }

    /// Where row `row` of the rows read last is; of a block from which no rows were dropped.
    pub fn place_of(&self, row: usize) -> Place {
        self.paths.place(self.source.spot(row))
    }

    /// The error of an infinite value in the rows read last.
    fn infinite(&self, row: usize, column: usize) -> Error {
        let column = show(self.name(column).as_bytes());
        let error = Error::from(Problem::Value {
            place: self.place_of(row),
            column: column.clone(),
            flaw: "is infinite".into(),
        });
        error.or("correct it").or(Remedy::LeaveOut(column))
    }

    /// The error of a table without rows.
    fn no_rows(&self) -> Error {
        let remedy = "give a file with rows below the header";
        malformed(&self.paths.table, "rows", "none", remedy)
    }
}

/// Opens a file: its rows, and how it is shown. `-` is text from standard input.
pub(crate) fn open_file(path: &Path, options: &Options) -> Result<(Box<dyn Source>, PathBuf)> {
    if path == Path::new("-") {
        let path = Path::new("standard input");
        let head = head(path, &mut std::io::stdin())?;
        let rest = Rest::Stream(Box::new(std::io::stdin()));
        return source(path, head, rest, options);
    }
    let metadata = std::fs::metadata(path).map_err(|error| unread(path, error))?;
    let mut file = File::open(path).map_err(|error| unread(path, error))?;
    let head = head(path, &mut file)?;
    let rest = if metadata.is_file() {
        Rest::File(file, metadata.len())
    } else {
        Rest::Stream(Box::new(file))
    };
    source(path, head, rest, options)
}

/// The rows of a file that begins with `head`, and how it is shown.
fn source(
    path: &Path,
    head: Vec<u8>,
    rest: Rest,
    options: &Options,
) -> Result<(Box<dyn Source>, PathBuf)> {
    let array = options.array.as_deref();
    let format = file_format(path, &head)?;
    if options.skip_rows > 0 && !matches!(format, FileFormat::Text | FileFormat::Xlsx) {
        return Err(malformed(
            path,
            "a text file or a sheet, where rows can be skipped",
            "another kind of file",
            Remedy::SkipRows,
        ));
    }
    #[cfg_attr(
        any(not(feature = "excel"), target_arch = "wasm32"),
        expect(unused_mut)
    )]
    let mut shown = path.to_owned();
    let source: Box<dyn Source> = match format {
        FileFormat::Text => {
            let rest = rest.stream(head.len());
            Box::new(Text::open(path, head, rest, options)?)
        }
        FileFormat::Npy => Box::new(npy::open(path, rest.seekable(path, head)?)?),
        #[cfg(not(target_arch = "wasm32"))]
        FileFormat::Npz => Box::new(crate::npz::open(path, rest.seekable(path, head)?, array)?),
        #[cfg(target_arch = "wasm32")]
        FileFormat::Npz => {
            let found = "NPZ, which this build cannot read";
            return Err(malformed(
                path,
                "another kind of file",
                found,
                "save it as CSV or NPY",
            ));
        }
        #[cfg(all(feature = "excel", not(target_arch = "wasm32")))]
        FileFormat::Xlsx => {
            let input = rest.seekable(path, head)?;
            let sheet = crate::sheet::Sheet::open(path, input, options)?;
            shown = sheet.path.clone();
            Box::new(sheet)
        }
        #[cfg(any(not(feature = "excel"), target_arch = "wasm32"))]
        FileFormat::Xlsx => {
            let found = "an Excel file, which this build cannot read";
            return Err(malformed(
                path,
                "another kind of file",
                found,
                "save the sheet as CSV",
            ));
        }
        FileFormat::Mat => Box::new(mat::open(path, rest.seekable(path, head)?, array)?),
        #[cfg(feature = "parquet")]
        FileFormat::Parquet => Box::new(match rest {
            Rest::Nothing => {
                let bytes = Bytes::from(head);
                Parquet::open(path, bytes.clone(), bytes)?
            }
            Rest::File(file, _) => {
                let again = file.try_clone().map_err(|error| unread(path, error))?;
                Parquet::open(path, file, again)?
            }
            Rest::Stream(_) => return Err(streamed(path)),
        }),
        #[cfg(not(feature = "parquet"))]
        FileFormat::Parquet => {
            return Err(malformed(
                path,
                "another kind of file",
                "Parquet, which this build cannot read",
                Remedy::Parquet,
            )
            .or("convert it to CSV"));
        }
    };
    Ok((source, shown))
}

/// The first bytes of a table.
fn head(path: &Path, input: &mut impl Read) -> Result<Vec<u8>> {
    let mut head = Vec::new();
    let read = input.take(SAMPLE as u64).read_to_end(&mut head);
    read.map_err(|error| unread(path, error))?;
    Ok(head)
}
