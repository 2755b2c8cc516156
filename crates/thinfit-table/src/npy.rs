//! NPY: NumPy's file of one array. A header gives type, memory order and shape, for instance
//! `{'descr': '<f8', 'fortran_order': False, 'shape': (500, 6), }`; the numbers follow.

use crate::Result;
use crate::array::{Array, Arrays, Layout, Number};
use crate::error::{malformed, show};
use crate::reader::Seekable;
use std::io::{Read, Seek};
use std::path::Path;

/// Maximum number of bytes in a header; NumPy writes about a hundred.
const LONGEST: usize = 1 << 16;

/// The header of an NPY file.
pub(crate) struct Header {
    // Used only by NPZ, which WebAssembly lacks.
    #[cfg_attr(target_arch = "wasm32", expect(dead_code))]
    pub shape: Vec<u64>,
    /// How the numbers are stored, or why they cannot be used.
    pub layout: std::result::Result<Layout, String>,
}

/// Opens an NPY file.
pub(crate) fn open(path: &Path, mut input: Box<dyn Seekable>) -> Result<Arrays> {
    let damaged = |why: String| {
        let advice = "copy the file again, or save it again with `numpy.save`";
        malformed(path, "an NPY file", why, advice)
    };
    let header = input
        .rewind()
        .map_err(|error| error.to_string())
        .and_then(|()| Header::read(&mut input))
        .map_err(damaged)?;
    let layout = header.layout.map_err(|why| {
        let advice = "save `array.astype(float)` with one row per sample";
        malformed(
            path,
            "an array of numbers with one or two axes",
            why,
            advice,
        )
    })?;
    let start = input.stream_position();
    let start = start.map_err(|error| damaged(error.to_string()))?;
    let mut array = Array::new(None, layout);
    array.take(path, start, input)?;
    Arrays::new(path, vec![array], None)
}

impl Header {
    /// Reads a header, up to the numbers. The error says what is wrong with it.
    pub fn read(input: &mut impl Read) -> std::result::Result<Self, String> {
        let mut take = |count: usize| {
            let mut bytes = vec![0; count];
            let read = input.read_exact(&mut bytes);
            read.map(|()| bytes)
                .map_err(|_| "a file that ends inside its header".to_owned())
        };
        let magic = take(8)?;
        let length = match magic.strip_prefix(b"\x93NUMPY") {
            Some([1, _]) => take(2)?,
            Some([2 | 3, _]) => take(4)?,
            Some([version, _]) => return Err(format!("version {version} of the format")),
            _ => return Err("other content".into()),
        };
        let length = length
            .iter()
            .rev()
            .fold(0, |sum, byte| sum << 8 | usize::from(*byte));
        if length > LONGEST {
            return Err(format!("a header of {length} bytes"));
        }
        let text = take(length)?;
        parse(&text).ok_or_else(|| format!("the header `{}`", show(&text)))
    }
}

/// The header in the text of a Python dictionary with three keys; none if it is something else.
fn parse(text: &[u8]) -> Option<Header> {
    let text = str::from_utf8(text).ok()?.trim();
    let mut rest = text.strip_prefix('{')?.trim_start();
    let (mut descr, mut fortran, mut shape) = (None, None, None);
    while rest != "}" {
        let (key, value) = quoted(rest)?;
        let value = value.trim_start().strip_prefix(':')?.trim_start();
        rest = match key {
            "descr" if value.starts_with('[') => {
                // A list of record fields, whose content does not matter here.
                let end = value.find("'fortran_order'").or(value.rfind(']'));
                descr = Some("[]");
                value[..end?].rfind(']').map(|at| &value[at + 1..])?
            }
            "descr" => {
                let (text, rest) = quoted(value)?;
                descr = Some(text);
                rest
            }
            "fortran_order" => {
                let (flag, rest) = match value.strip_prefix("True") {
                    Some(rest) => (true, rest),
                    None => (false, value.strip_prefix("False")?),
                };
                fortran = Some(flag);
                rest
            }
            "shape" => {
                let (inner, rest) = value.strip_prefix('(')?.split_once(')')?;
                let sizes = inner.split(',').map(str::trim).filter(|s| !s.is_empty());
                shape = Some(
                    sizes
                        .map(|s| s.parse().ok())
                        .collect::<Option<Vec<u64>>>()?,
                );
                rest
            }
            _ => return None,
        };
        rest = rest.trim_start();
        rest = rest.strip_prefix(',').unwrap_or(rest).trim_start();
    }
    let (descr, by_columns, shape) = (descr?, fortran?, shape?);
    let layout = layout(descr, by_columns, &shape);
    Some(Header { shape, layout })
}

/// A quoted text without escapes, and what follows.
fn quoted(text: &str) -> Option<(&str, &str)> {
    let quote = text.chars().next().filter(|c| "'\"".contains(*c))?;
    text[1..].split_once(quote)
}

/// How numbers of type `descr` are stored, for instance `<f8`: byte order, a letter, the number of bytes.
fn layout(descr: &str, by_columns: bool, shape: &[u64]) -> std::result::Result<Layout, String> {
    let kind = descr.trim_start_matches(['<', '>', '|', '=']);
    let number = match (kind.chars().next(), kind.get(1..).map(str::parse)) {
        (Some(letter), Some(Ok(size))) => Number::new(letter, size),
        _ => None,
    };
    let number = number.ok_or_else(|| match kind.chars().next() {
        Some('O') => "pickled objects".to_owned(),
        Some('[') => "records".to_owned(),
        Some('c') => "complex numbers".to_owned(),
        Some('U' | 'S') => "text".to_owned(),
        _ => format!("numbers of type `{}`", show(descr.as_bytes())),
    })?;
    let (rows, columns) = Layout::matrix(shape).ok_or_else(|| format!("{} axes", shape.len()))?;
    Ok(Layout {
        number,
        big_endian: descr.starts_with('>'),
        by_columns,
        rows,
        columns,
    })
}
