//! Parquet: columns of numbers, text and dates in row groups. Uses only the column readers of the `parquet` crate, so
//! that Arrow need not be built.

use crate::durations::durations;
use crate::error::{Spot, malformed, show};
use crate::footer;
use crate::latin::decoded;
use crate::names::{check_columns, distinct};
use crate::note::{Done, Note};
use crate::pages::Pages;
use crate::reader::{Block, Source};
use crate::records::trim;
use crate::text::number;
use crate::text_cells::TextCells;
use crate::{Delimiter, Error, Place, Position, Problem, Remedy, Result};
use bytes::Bytes;
use parquet::basic::{Compression, ConvertedType, LogicalType, Type};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_column_reader};
use parquet::data_type::{ByteArray, ByteArrayType, DataType};
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, RowGroupMetaData};
use parquet::file::reader::{ChunkReader, FileReader, SerializedFileReader};
use parquet::schema::types::ColumnDescriptor;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::path::{Path, PathBuf};
use std::sync::Once;
use thinfit_text::shown;

/// Bytes that the pages of a column may unpack to beyond its size, in case that is a little wrong.
const SPARE: i64 = 1 << 24;
/// Bytes that are read for the header of a page: few at first, and more where it is longer.
const HEADERS: [u64; 2] = [1 << 8, 1 << 20];

/// The longest description of a flaw that is shown as it is; a longer one may be the file's own words.
const LONGEST_FLAW: usize = 60;

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Number,
    Text,
    Date,
    /// An unsupported type: a list, or bytes.
    Other(&'static str),
}

/// How to interpret the values of a column.
#[derive(Debug, Clone, Copy)]
struct Meaning {
    kind: Kind,
    unsigned: bool,
    /// What to divide the numbers by: a power of ten for decimals.
    divisor: f64,
    /// The definition level of a value that is not null.
    present: i16,
}

impl Meaning {
    /// What the column holds other than numbers, or `admitted` text and dates.
    fn other_than_numbers(self, admitted: bool) -> Option<&'static str> {
        match self.kind {
            Kind::Other(what) => Some(what),
            Kind::Text if !admitted => Some("text or bytes"),
            Kind::Date if !admitted => Some("a date or time"),
            _ => None,
        }
    }
}

/// A Parquet file whose columns are known.
pub(crate) struct Parquet {
    path: PathBuf,
    file: Box<dyn FileReader>,
    /// Bytes of the file from a place on, and how many there are.
    bytes: Box<dyn Fn(u64, usize) -> Option<Bytes> + Send>,
    end: u64,
    names: Vec<String>,
    /// How to interpret each column.
    meanings: Vec<Meaning>,
    /// Which columns are durations, read as seconds.
    durations: Vec<bool>,
    /// The next group of rows to open.
    group: usize,
    /// The selected columns of the open group, and the rows left in it.
    open: Vec<ColumnReader>,
    left: usize,
    /// Rows read so far, and before the last block.
    next: u64,
    before: u64,
}

impl Parquet {
    /// Opens a file, of which `again` is another handle.
    pub fn open<R: ChunkReader + 'static>(path: &Path, input: R, again: R) -> Result<Self> {
        let end = input.len();
        let file = match footer::is_sound(&input) {
            true => survive(|| SerializedFileReader::new(input)),
            false => Err(ParquetError::General("a contradictory footer".into())),
        };
        let file = file.map_err(|error| damaged(path, &error))?;
        let schema = file.metadata().file_metadata().schema_descr_ptr();
        check_columns(path, schema.num_columns() as u64)?;
        let columns = schema.columns().iter();
        if columns.len() == 0 {
            return Err(malformed(
                path,
                "columns",
                "none",
                "give a file with columns",
            ));
        }
        let units = durations(file.metadata().file_metadata());
        let unit = |column: &ColumnDescriptor| {
            let plain = column.physical_type() == Type::INT64;
            let unit = units.get(&column.path().string()).copied();
            unit.filter(|_| plain && column.max_rep_level() == 0)
        };
        let durations: Vec<Option<f64>> = columns.clone().map(|c| unit(c)).collect();
        let meanings = columns.clone().zip(&durations);
        let meanings = meanings.map(|(column, duration)| match duration {
            None => meaning(column),
            Some(per_second) => Meaning {
                kind: Kind::Number,
                divisor: *per_second,
                ..meaning(column)
            },
        });
        Ok(Parquet {
            path: path.into(),
            names: distinct(path, columns.clone().map(|c| c.path().string()).collect())?,
            meanings: meanings.collect(),
            durations: durations.iter().map(Option::is_some).collect(),
            file: Box::new(file),
            bytes: Box::new(move |start, length| again.get_bytes(start, length).ok()),
            end,
            group: 0,
            open: Vec::new(),
            left: 0,
            next: 0,
            before: 0,
        })
    }

    /// Checks that the pages of a column unpack to no more than the column does: memory would be taken for them first.
    fn check_sizes(&self, column: &ColumnChunkMetaData) -> std::result::Result<(), ParquetError> {
        let flaw = |words: &str| Err(ParquetError::General(words.into()));
        let begin = column.dictionary_page_offset();
        let begin = begin.unwrap_or_else(|| column.data_page_offset());
        let (Ok(mut place), Ok(length)) = (
            u64::try_from(begin),
            u64::try_from(column.compressed_size()),
        ) else {
            return flaw("a column at a negative offset");
        };
        let mut left = column.uncompressed_size().saturating_add(SPARE);
        let end = place.saturating_add(length).min(self.end);
        while place < end {
            // The crate may still read what we cannot, and allocate memory for it.
            let mut pages = HEADERS.iter().filter_map(|size| {
                let header = (self.bytes)(place, (end - place).min(*size) as usize)?;
                footer::page(&header)
            });
            let Some(page) = pages.next() else {
                return flaw("a page with an invalid header");
            };
            left = left.saturating_sub(page.unpacked.max(0));
            if left < 0 {
                return flaw("pages that are larger than their column");
            }
            place = place.saturating_add(page.size);
        }
        Ok(())
    }

    /// The error of the group that is open or being opened.
    fn damaged(&self, error: &ParquetError) -> Error {
        damaged_group(&self.path, self.group + 1, error)
    }

    /// Opens the next group of rows; false if there is none.
    fn advance(&mut self, columns: &[usize]) -> std::result::Result<bool, ParquetError> {
        if self.group == self.file.num_row_groups() {
            return Ok(false);
        }
        let group = self.file.get_row_group(self.group)?;
        let rows = group.metadata().num_rows();
        self.left = usize::try_from(rows)
            .map_err(|_| ParquetError::General(format!("a group of {rows} rows")))?;
        let schema = self.file.metadata().file_metadata().schema_descr();
        let open = columns.iter().map(|c| {
            check_packing(group.metadata().column(*c))?;
            self.check_sizes(group.metadata().column(*c))?;
            let nullable = self.meanings[*c].present > 0;
            let pages = Pages::new(group.get_column_page_reader(*c)?, nullable);
            Ok(get_column_reader(schema.column(*c), Box::new(pages)))
        });
        self.open = open.collect::<std::result::Result<_, ParquetError>>()?;
        self.group += 1;
        Ok(true)
    }
}

impl Source for Parquet {
    fn names(&self) -> &[String] {
        &self.names
    }

    fn read(&mut self, columns: &[usize], rows: usize, out: &mut Block) -> Result<usize> {
        let mut meanings = Vec::new();
        for (slot, column) in columns.iter().enumerate() {
            let meaning = self.meanings[*column];
            if let Some(what) = meaning.other_than_numbers(out.text_cells[slot].is_some()) {
                let name = show(self.names[*column].as_bytes());
                return Err(Error::from(Problem::Value {
                    place: Place {
                        path: self.path.clone(),
                        position: Position::Row(1),
                    },
                    flaw: format!("is {what}, not a number"),
                    column: name.clone(),
                })
                .or("convert it to numbers")
                .or(Remedy::LeaveOut(name)));
            }
            meanings.push(meaning);
        }
        self.before = self.next;
        let (k, mut read) = (columns.len(), 0);
        while read < rows {
            if self.left == 0 {
                match survive(|| self.advance(columns)) {
                    Ok(true) => continue,
                    Ok(false) => break,
                    Err(error) => return Err(self.damaged(&error)),
                }
            }
            // Few enough that a file that lies about its rows takes no memory.
            let count = self.left.min(rows - read).min(1 << 16);
            let start = out.values.len();
            out.values.resize(start + count * k, 0.0);
            for (j, (column, meaning)) in self.open.iter_mut().zip(&meanings).enumerate() {
                let slots = out.values[start..].iter_mut().skip(j).step_by(k);
                let values = match (column, &mut out.text_cells[j]) {
                    (ColumnReader::ByteArrayColumnReader(column), Some(text_cells)) => {
                        let place = Spot {
                            file: out.file,
                            position: Position::Row(self.next + read as u64 + 1),
                        };
                        let first = (out.first + start / k, place);
                        survive(|| texts(column, meaning.present, count, first, text_cells))
                    }
                    (_, Some(text_cells)) if meaning.kind == Kind::Date => {
                        text_cells.dates = true;
                        continue;
                    }
                    (column, _) => survive(|| values(column, *meaning, count)),
                };
                let (path, group) = (&self.path, self.group);
                let values = values.map_err(|error| damaged_group(path, group, &error))?;
                slots.zip(values).for_each(|(out, value)| *out = value);
            }
            self.left -= count;
            read += count;
        }
        self.next += read as u64;
        Ok(read)
    }

    fn skip(&mut self, columns: &[usize], rows: u64) -> Result<u64> {
        let mut skipped = 0;
        while skipped < rows {
            let here = rows - skipped;
            if self.left == 0 {
                let groups = self.file.metadata().row_groups();
                let next = groups.get(self.group).map(RowGroupMetaData::num_rows);
                match next.and_then(|count| u64::try_from(count).ok()) {
                    None => break,
                    // A group that is passed over as a whole need not be unpacked.
                    Some(count) if count <= here => {
                        self.group += 1;
                        skipped += count;
                    }
                    Some(_) => {
                        survive(|| self.advance(columns)).map_err(|error| self.damaged(&error))?;
                    }
                }
                continue;
            }
            let count = here.min(self.left as u64).min(1 << 16) as usize;
            for (column, c) in self.open.iter_mut().zip(columns) {
                let meaning = self.meanings[*c];
                if matches!(column, ColumnReader::ByteArrayColumnReader(_)) {
                    let mut text_cells = TextCells::default();
                    let of = &mut text_cells;
                    let start = Spot {
                        file: 0,
                        position: Position::Row(1),
                    };
                    if let ColumnReader::ByteArrayColumnReader(column) = column {
                        survive(|| texts(column, meaning.present, count, (0, start), of))
                            .map_err(|error| damaged(&self.path, &error))?;
                    }
                } else if meaning.kind != Kind::Date {
                    survive(|| values(column, meaning, count))
                        .map_err(|error| damaged(&self.path, &error))?;
                }
            }
            self.left -= count;
            skipped += count as u64;
        }
        self.next += skipped;
        Ok(skipped)
    }

    fn notes(&self) -> Vec<Note> {
        let columns = self.names.iter().zip(&self.durations);
        let note = |name: &String| Note {
            path: self.path.clone(),
            done: Done::Durations {
                column: name.clone(),
            },
        };
        columns
            .filter(|(_, is)| **is)
            .map(|(name, _)| note(name))
            .collect()
    }

    fn position(&self, row: usize) -> Position {
        Position::Row(self.before + row as u64 + 1)
    }

    fn rows(&self) -> Option<u64> {
        let groups = self.file.metadata().row_groups().iter();
        let rows = groups.map(|group| u64::try_from(group.num_rows()).unwrap_or(u64::MAX));
        Some(rows.fold(0, u64::saturating_add))
    }

    /// All columns of a group are open at a time, and a column may be a single page.
    fn unpacked(&self, columns: &[usize]) -> u64 {
        let size = |group: &RowGroupMetaData, column: &usize| {
            let chunk = group.columns().get(*column);
            let bytes = chunk.map_or(0, ColumnChunkMetaData::uncompressed_size);
            u64::try_from(bytes).unwrap_or(u64::MAX)
        };
        let groups = self.file.metadata().row_groups().iter();
        let sizes = groups.map(|group| {
            let sizes = columns.iter().map(|column| size(group, column));
            sizes.fold(0, u64::saturating_add)
        });
        sizes.max().unwrap_or(0)
    }
}

/// Refuses codecs that are not built in: some of them unpack to more than a column says.
fn check_packing(column: &ColumnChunkMetaData) -> std::result::Result<(), ParquetError> {
    match column.compression() {
        Compression::UNCOMPRESSED | Compression::SNAPPY | Compression::ZSTD(_) => Ok(()),
        other => {
            let name = format!("{other:?}");
            let name = name.split('(').next().unwrap_or_default();
            Err(ParquetError::General(format!(
                "a column compressed with {name}, which is not supported"
            )))
        }
    }
}

fn damaged(path: &Path, error: &ParquetError) -> Error {
    let found = match error {
        ParquetError::General(words) if words.len() <= LONGEST_FLAW => shown(words).into_owned(),
        _ => show(error.to_string().as_bytes()),
    };
    let advice =
        "copy or save it again, uncompressed or with Snappy or Zstandard, or convert it to CSV";
    malformed(path, "a Parquet file", found, advice)
}

/// The error of a group of rows, counted from 1.
fn damaged_group(path: &Path, group: usize, error: &ParquetError) -> Error {
    let error = damaged(path, error);
    match error.problem {
        Problem::Format {
            path,
            expected,
            found,
        } => Error {
            problem: Problem::Format {
                path,
                expected,
                found: format!("in group {group} of its rows {found}"),
            },
            ..error
        },
        _ => error,
    }
}

thread_local! {
    /// Whether this thread is in [`survive`].
    static SURVIVING: Cell<bool> = const { Cell::new(false) };
}

/// Runs `read`; a panic becomes an error, since the `parquet` crate asserts some of what a damaged file breaks.
fn survive<T>(
    read: impl FnOnce() -> std::result::Result<T, ParquetError>,
) -> std::result::Result<T, ParquetError> {
    // It is not printed.
    static QUIET: Once = Once::new();
    QUIET.call_once(|| {
        let hook = take_hook();
        set_hook(Box::new(move |panic| {
            if !SURVIVING.get() {
                hook(panic);
            }
        }));
    });
    SURVIVING.set(true);
    // What was being read is not used after an error.
    let result = catch_unwind(AssertUnwindSafe(read));
    SURVIVING.set(false);
    result.unwrap_or_else(|_| Err(ParquetError::General("a damaged column".into())))
}

/// How to interpret the values of a column.
fn meaning(column: &ColumnDescriptor) -> Meaning {
    use ConvertedType as C;
    use LogicalType as L;
    let (logical, converted) = (column.logical_type_ref(), column.converted_type());
    let unsigned = matches!(logical, Some(L::Integer(kind)) if !kind.is_signed)
        || matches!(converted, C::UINT_8 | C::UINT_16 | C::UINT_32 | C::UINT_64);
    let decimal = matches!(logical, Some(L::Decimal(_))) || converted == C::DECIMAL;
    let integer = matches!(converted, C::INT_8 | C::INT_16 | C::INT_32 | C::INT_64)
        || matches!(logical, Some(L::Integer(_)));
    let plain = matches!(logical, None | Some(L::Unknown)) && converted == C::NONE;
    let kind = match column.physical_type() {
        _ if column.max_rep_level() > 0 => Kind::Other("a list"),
        Type::INT96 => Kind::Date,
        Type::BYTE_ARRAY if !decimal => Kind::Text,
        Type::BYTE_ARRAY | Type::FIXED_LEN_BYTE_ARRAY => Kind::Other("text or bytes"),
        _ if unsigned || decimal || integer || plain => Kind::Number,
        _ => Kind::Date,
    };
    Meaning {
        kind,
        unsigned,
        divisor: if decimal {
            10f64.powi(column.type_scale())
        } else {
            1.0
        },
        present: column.max_def_level(),
    }
}

/// The next `count` values of a column, with NaN for null.
fn values(
    column: &mut ColumnReader,
    meaning: Meaning,
    count: usize,
) -> std::result::Result<Vec<f64>, ParquetError> {
    let Meaning {
        unsigned, divisor, ..
    } = meaning;
    match column {
        ColumnReader::BoolColumnReader(c) => convert(c, meaning, count, |v| f64::from(u8::from(v))),
        ColumnReader::Int32ColumnReader(c) if unsigned => {
            convert(c, meaning, count, |v| f64::from(v as u32))
        }
        ColumnReader::Int32ColumnReader(c) => {
            convert(c, meaning, count, |v| f64::from(v) / divisor)
        }
        ColumnReader::Int64ColumnReader(c) if unsigned => {
            convert(c, meaning, count, |v| v as u64 as f64)
        }
        ColumnReader::Int64ColumnReader(c) => convert(c, meaning, count, |v| v as f64 / divisor),
        ColumnReader::FloatColumnReader(c) => convert(c, meaning, count, f64::from),
        ColumnReader::DoubleColumnReader(c) => convert(c, meaning, count, |v| v),
        _ => Err(ParquetError::General("a column of another type".into())),
    }
}

fn convert<T: DataType>(
    column: &mut ColumnReaderImpl<T>,
    meaning: Meaning,
    count: usize,
    value: impl Fn(T::T) -> f64,
) -> std::result::Result<Vec<f64>, ParquetError> {
    let cells = cells(column, meaning.present, count)?.into_iter();
    Ok(cells.map(|cell| cell.map_or(f64::NAN, &value)).collect())
}

/// The next `count` values of a column of text, as [`TextCells::value`] gives them; `first` are the first row as the text cells
/// count and as the user does.
fn texts(
    column: &mut ColumnReaderImpl<ByteArrayType>,
    present: i16,
    count: usize,
    first: (usize, Spot),
    text_cells: &mut TextCells,
) -> std::result::Result<Vec<f64>, ParquetError> {
    let cells = cells(column, present, count)?.into_iter().enumerate();
    let value = |(row, cell): (usize, Option<ByteArray>)| match cell {
        None => f64::NAN,
        Some(text) => {
            let content = trim(text.data(), Delimiter::Blanks);
            let at = match first.1.position {
                Position::Row(start) => Position::Row(start + row as u64),
                other => other,
            };
            let spot = Spot {
                position: at,
                ..first.1
            };
            text_cells.value(first.0 + row, &decoded(content), number(content), spot)
        }
    };
    Ok(cells.map(value).collect())
}

/// The next `count` cells of a column; none for null.
fn cells<T: DataType>(
    column: &mut ColumnReaderImpl<T>,
    present: i16,
    count: usize,
) -> std::result::Result<Vec<Option<T::T>>, ParquetError> {
    let (mut levels, mut values) = (Vec::new(), Vec::new());
    let mut rows = 0;
    while rows < count {
        let (read, ..) = column.read_records(count - rows, Some(&mut levels), None, &mut values)?;
        if read == 0 {
            return Err(ParquetError::General("a truncated column".into()));
        }
        rows += read;
    }
    let mut values = values.into_iter();
    if present == 0 {
        return Ok(values.map(Some).collect());
    }
    let present = levels.into_iter().map(|level| level == present);
    Ok(present
        .map(|there| there.then(|| values.next()).flatten())
        .collect())
}
