//! Arrays: numbers of one type, evenly spaced in a file or in memory, and several arrays side by side as a source of
//! rows. NPY, NPZ and MAT files differ only in how they describe an array.

use crate::error::{malformed, show, unread};
use crate::names::{check_columns, distinct};
use crate::reader::{Block, Seekable, Source};
use crate::{Position, Remedy, Result};
use std::collections::HashSet;
use std::io::{Cursor, SeekFrom};
use std::path::{Path, PathBuf};
use thinfit_text::list;

/// Bytes to read at a time.
const CHUNK: usize = 1 << 20;

/// How a number is stored.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Number {
    /// Size in bytes.
    pub size: usize,
    /// The value of that many bytes, big endian if true.
    decode: fn(&[u8], bool) -> f64,
}

/// How numbers of a type are stored.
macro_rules! number {
    ($type:ty) => {
        Number {
            size: size_of::<$type>(),
            decode: |bytes, big| {
                let mut ordered = [0; size_of::<$type>()];
                ordered.copy_from_slice(bytes);
                if big {
                    ordered.reverse();
                }
                <$type>::from_le_bytes(ordered) as f64
            },
        }
    };
}

impl Number {
    /// The type of NumPy's letter (`f`, `i`, `u`, or `b` for bool) and size; none if it is not a real number.
    pub fn new(letter: char, size: usize) -> Option<Self> {
        Some(match (letter, size) {
            ('f', 8) => number!(f64),
            ('f', 4) => number!(f32),
            ('i', 8) => number!(i64),
            ('i', 4) => number!(i32),
            ('i', 2) => number!(i16),
            ('i', 1) => number!(i8),
            ('u', 8) => number!(u64),
            ('u', 4) => number!(u32),
            ('u', 2) => number!(u16),
            ('u' | 'b', 1) => number!(u8),
            _ => return None,
        })
    }
}

/// How an array lies in a stream of bytes: m rows of k columns.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    pub number: Number,
    pub big_endian: bool,
    /// Whether columns are contiguous rather than rows.
    pub by_columns: bool,
    pub rows: u64,
    pub columns: u64,
}

impl Layout {
    /// The size of all numbers in bytes; none if it overflows.
    pub fn size(&self) -> Option<u64> {
        let numbers = self.rows.checked_mul(self.columns)?;
        numbers.checked_mul(self.number.size as u64)
    }

    /// Rows and columns of a shape, one dimension being one column; none unless there are one or two dimensions.
    pub fn matrix(shape: &[u64]) -> Option<(u64, u64)> {
        match *shape {
            [rows] => Some((rows, 1)),
            [rows, columns] => Some((rows, columns)),
            _ => None,
        }
    }
}

/// An array whose numbers can be read.
pub(crate) struct Array {
    /// None in a file of one array.
    name: Option<String>,
    layout: Layout,
    /// None until its numbers are unpacked.
    numbers: Option<Numbers>,
}

/// The numbers of an array, from byte `start` of `input` on.
struct Numbers {
    start: u64,
    input: Box<dyn Seekable>,
}

impl Array {
    /// An array whose numbers are not there yet.
    pub fn new(name: Option<String>, layout: Layout) -> Self {
        Array {
            name,
            layout,
            numbers: None,
        }
    }

    /// Takes the numbers that begin at `start` in `input`.
    pub fn take(&mut self, path: &Path, start: u64, mut input: Box<dyn Seekable>) -> Result<()> {
        let Layout { rows, columns, .. } = self.layout;
        let length = input.seek(SeekFrom::End(0));
        let available = length.map_err(|error| unread(path, error))? - start;
        // More bytes than numbers are a damaged shape.
        if self.layout.size() != Some(available) {
            return Err(malformed(
                path,
                format!("an array of {rows} × {columns} numbers"),
                format!("{available} bytes of numbers"),
                "the file is truncated or damaged; copy or save it again",
            ));
        }
        self.numbers = Some(Numbers { start, input });
        Ok(())
    }

    /// The number of columns, checked to be small.
    fn width(&self) -> usize {
        self.layout.columns as usize
    }

    /// Reads numbers `first..first + bytes.len() / size`, in storage order.
    fn load(&mut self, first: u64, bytes: &mut [u8]) -> std::io::Result<()> {
        let offset = first * self.layout.number.size as u64;
        let numbers = self.numbers.as_mut().expect("they are unpacked before");
        let place = SeekFrom::Start(numbers.start + offset);
        numbers.input.seek(place)?;
        numbers.input.read_exact(bytes)
    }

    /// Copies `rows` rows from row `first` on to `out`, whose rows have `width` numbers; `columns` are pairs (column here,
    /// column of `out`).
    fn read(
        &mut self,
        first: u64,
        rows: usize,
        columns: &[(usize, usize)],
        out: &mut [f64],
        width: usize,
    ) -> std::io::Result<()> {
        let Number { size, decode } = self.layout.number;
        let big = self.layout.big_endian;
        // The unit of reading: a row, or one number of a column.
        let unit = if self.layout.by_columns {
            size
        } else {
            size * self.width()
        };
        let step = (CHUNK / unit).clamp(1, rows.max(1));
        let mut bytes = vec![0; step * unit];
        for row in (0..rows).step_by(step) {
            let count = step.min(rows - row);
            let bytes = &mut bytes[..count * unit];
            let out = &mut out[row * width..];
            if self.layout.by_columns {
                for (from, to) in columns {
                    let place = *from as u64 * self.layout.rows + first + row as u64;
                    self.load(place, bytes)?;
                    let values = bytes.chunks_exact(size).map(|b| decode(b, big));
                    let out = out.iter_mut().skip(*to).step_by(width);
                    out.zip(values).for_each(|(out, v)| *out = v);
                }
            } else {
                self.load((first + row as u64) * self.layout.columns, bytes)?;
                for (values, out) in bytes.chunks_exact(unit).zip(out.chunks_exact_mut(width)) {
                    for (from, to) in columns {
                        out[*to] = decode(&values[from * size..][..size], big);
                    }
                }
            }
        }
        Ok(())
    }
}

/// Unpacks the bytes of an array, by its place among the arrays of a table.
pub(crate) type Unpack = Box<dyn FnMut(usize) -> Result<Vec<u8>> + Send>;

/// Arrays with the same number of rows, side by side.
pub(crate) struct Arrays {
    path: PathBuf,
    arrays: Vec<Array>,
    /// None where nothing is packed. Arrays are unpacked once one of their columns is read.
    unpack: Option<Unpack>,
    names: Vec<String>,
    /// The array of each column, and its column there.
    owners: Vec<(usize, usize)>,
    rows: u64,
    /// Rows read so far, and before the last block.
    next: u64,
    before: u64,
}

impl Arrays {
    /// The columns of `arrays`: at least one array, all with the same number of rows.
    pub fn new(path: &Path, arrays: Vec<Array>, unpack: Option<Unpack>) -> Result<Self> {
        for Array { layout, .. } in &arrays {
            check_columns(path, layout.columns)?;
            if layout.rows == 0 || layout.columns == 0 {
                let found = format!("an array of {} × {}", layout.rows, layout.columns);
                return Err(malformed(path, "rows", found, "give a file with rows"));
            }
        }
        check_columns(path, arrays.iter().map(|a| a.layout.columns).sum())?;
        let mut names = Vec::new();
        for array in &arrays {
            names.extend((1..=array.width()).map(|j| match &array.name {
                None => String::new(),
                Some(name) if array.width() == 1 => name.clone(),
                Some(name) => format!("{name}{j}"),
            }));
        }
        let owners = arrays.iter().enumerate();
        let owners = owners.flat_map(|(at, array)| (0..array.width()).map(move |j| (at, j)));
        Ok(Arrays {
            path: path.into(),
            owners: owners.collect(),
            names: distinct(path, names)?,
            rows: arrays[0].layout.rows,
            arrays,
            unpack,
            next: 0,
            before: 0,
        })
    }
}

impl Arrays {
    /// Of each array, the columns that are among `columns`: pairs (column there, place among them).
    fn chosen(&self, columns: &[usize]) -> Vec<Vec<(usize, usize)>> {
        let mut chosen = vec![Vec::new(); self.arrays.len()];
        for (slot, column) in columns.iter().enumerate() {
            let (array, column) = self.owners[*column];
            chosen[array].push((column, slot));
        }
        chosen
    }
}

impl Source for Arrays {
    fn names(&self) -> &[String] {
        &self.names
    }

    fn read(&mut self, columns: &[usize], rows: usize, out: &mut Block) -> Result<usize> {
        let out = &mut out.values;
        let rows = (self.rows - self.next).min(rows as u64) as usize;
        let (start, width) = (out.len(), columns.len());
        out.resize(start + rows * width, 0.0);
        for (at, chosen) in self.chosen(columns).into_iter().enumerate() {
            let array = &mut self.arrays[at];
            if chosen.is_empty() {
                continue;
            }
            if let (None, Some(unpack)) = (&array.numbers, &mut self.unpack) {
                array.take(&self.path, 0, Box::new(Cursor::new(unpack(at)?)))?;
            }
            array
                .read(self.next, rows, &chosen, &mut out[start..], width)
                .map_err(|error| unread(&self.path, error))?;
        }
        self.before = self.next;
        self.next += rows as u64;
        Ok(rows)
    }

    fn position(&self, row: usize) -> Position {
        Position::Row(self.before + row as u64 + 1)
    }

    fn skip(&mut self, _: &[usize], rows: u64) -> Result<u64> {
        let skipped = (self.rows - self.next).min(rows);
        self.next += skipped;
        Ok(skipped)
    }

    fn rows(&self) -> Option<u64> {
        Some(self.rows)
    }

    fn unpacked(&self, columns: &[usize]) -> u64 {
        if self.unpack.is_none() {
            return 0;
        }
        let chosen = self.chosen(columns).into_iter().zip(&self.arrays);
        let chosen = chosen.filter(|(chosen, _)| !chosen.is_empty());
        let sizes = chosen.map(|(_, array)| array.layout.size().unwrap_or(u64::MAX));
        sizes.fold(0, u64::saturating_add)
    }
}

/// One of several arrays in a file, before its numbers are read.
pub(crate) struct Listed {
    pub name: String,
    pub shape: Vec<u64>,
    /// How its numbers are stored, or why they cannot be used.
    pub layout: std::result::Result<Layout, String>,
}

impl Listed {
    fn describe(&self) -> String {
        let shape: Vec<_> = self.shape.iter().map(u64::to_string).collect();
        let name = show(self.name.as_bytes());
        match &self.layout {
            Ok(_) => format!("{name} ({})", shape.join(" × ")),
            Err(why) => format!("{name} ({why})"),
        }
    }
}

/// Indices of the other arrays.
pub(crate) fn left_out(listed: &[Listed], chosen: &[usize]) -> Vec<usize> {
    let chosen: HashSet<usize> = chosen.iter().copied().collect();
    let others = (0..listed.len()).filter(|at| !chosen.contains(at));
    others.collect()
}

/// Indices of the arrays that make up the table: those in `wanted` (names separated by commas), or all that are more than
/// a single number. They must have the same number of rows.
pub(crate) fn choose(path: &Path, listed: &[Listed], wanted: Option<&str>) -> Result<Vec<usize>> {
    let other = |expected: &str| {
        let found = list(listed.iter().map(Listed::describe));
        malformed(path, expected, found, Remedy::Array)
    };
    let shape = |at: &usize| match &listed[*at].layout {
        Ok(layout) => Some((layout.rows, layout.columns)),
        Err(_) => None,
    };
    let chosen = if let Some(wanted) = wanted {
        let find = |name: &str| {
            let named = (0..listed.len()).find(|at| listed[*at].name == name);
            let numeric = named.filter(|at| shape(at).is_some());
            numeric
                .ok_or_else(|| other(&format!("an array `{}` of numbers", show(name.as_bytes()))))
        };
        wanted.split(',').map(find).collect::<Result<Vec<_>>>()?
    } else {
        let numeric = (0..listed.len()).filter(|at| shape(at).is_some());
        let (single, several): (Vec<_>, Vec<_>) = numeric.partition(|at| shape(at) == Some((1, 1)));
        if several.is_empty() { single } else { several }
    };
    let mut rows = chosen.iter().map(|at| shape(at).map(|shape| shape.0));
    let first = rows.next();
    if first.is_none() || rows.any(|rows| Some(rows) != first) {
        return Err(other("arrays of numbers with the same number of rows"));
    }
    Ok(chosen)
}
