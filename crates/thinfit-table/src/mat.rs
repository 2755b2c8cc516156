//! MAT, version 5: what MATLAB saves with `-v6` and `-v7`, and SciPy and Octave, too. A header of 128 bytes, then elements:
//! type, number of bytes, content. An element is a variable, perhaps compressed by zlib; a variable has elements for its
//! flags, shape, name and numbers. Variables that are not real arrays are listed but not read.

use crate::array::{Array, Arrays, Layout, Listed, Number, choose, left_out};
use crate::error::malformed;
use crate::reader::Seekable;
use crate::{Error, Result};
use flate2::read::ZlibDecoder;
use std::io::{Cursor, Read, SeekFrom};
use std::path::Path;

/// Types of elements.
const INT32: u32 = 5;
const UINT32: u32 = 6;
const MATRIX: u32 = 14;
const COMPRESSED: u32 = 15;
/// Maximum number of bytes in the shape or the name of a variable.
const LONGEST: u32 = 1 << 12;

/// A result, or a description of what was found.
type Flawed<T> = std::result::Result<T, String>;

/// Opens a MAT file and lists the variables that make up the table; they are unpacked when they are read.
pub(crate) fn open(
    path: &Path,
    mut input: Box<dyn Seekable>,
    wanted: Option<&str>,
) -> Result<Arrays> {
    let damaged = |why: String| flawed(path, why);
    let (listed, places, big) = variables(&mut input).map_err(damaged)?;
    if listed.is_empty() {
        return Err(damaged("no variables".into()));
    }
    let chosen = choose(path, &listed, wanted)?;
    // Unless variables were selected, damage must not hide one.
    if wanted.is_none() {
        for at in left_out(&listed, &chosen) {
            let (mut rest, _) = variable(&mut input, places[at], big).map_err(damaged)?;
            let read = std::io::copy(&mut rest, &mut std::io::sink());
            read.map_err(|error| damaged(error.to_string()))?;
        }
    }
    let member = |at: &usize| {
        let Listed { name, layout, .. } = &listed[*at];
        let layout = layout.clone().map_err(damaged)?;
        Ok((Array::new(Some(name.clone()), layout), places[*at]))
    };
    let members = chosen.iter().map(member).collect::<Result<Vec<_>>>()?;
    let (arrays, places): (Vec<_>, Vec<_>) = members.into_iter().unzip();
    let file = path.to_owned();
    let unpack =
        move |at: usize| numbers(&mut input, places[at], big).map_err(|why| flawed(&file, why));
    Arrays::new(path, arrays, Some(Box::new(unpack)))
}

/// The error of a file with a flaw.
fn flawed(path: &Path, why: String) -> Error {
    let advice = "copy it again, or save it again with `save(…, '-v7')`";
    malformed(path, "a MAT file of version 5", why, advice)
}

/// The named variables of a file, where their elements begin, and whether its numbers are big endian.
fn variables(input: &mut Box<dyn Seekable>) -> Flawed<(Vec<Listed>, Vec<u64>, bool)> {
    let length = seek(input, SeekFrom::End(0))?;
    seek(input, SeekFrom::Start(0))?;
    let header = bytes(input, 128)?;
    let big = match &header[124..] {
        [0, 1, b'I', b'M'] => false,
        [1, 0, b'M', b'I'] => true,
        _ => return Err("another version".into()),
    };
    let (mut listed, mut places) = (Vec::new(), Vec::new());
    let mut place = 128;
    // What is shorter than a tag, at the end, is padding.
    while place + 8 <= length {
        seek(input, SeekFrom::Start(place))?;
        let Tag { kind, size, .. } = Tag::read(input, big)?;
        let size = u64::from(size);
        // A hole in a file is an endless row of these.
        if kind == 0 && size == 0 {
            return Err("an element without type or content".into());
        }
        if place + 8 + size > length {
            return Err("a truncated file".into());
        }
        let (_, variable) = variable(input, place, big)?;
        if !variable.name.is_empty() {
            listed.push(variable);
            places.push(place);
        }
        place += 8 + size;
    }
    Ok((listed, places, big))
}

/// The bytes of the numbers of the variable at `place`.
fn numbers(input: &mut Box<dyn Seekable>, place: u64, big: bool) -> Flawed<Vec<u8>> {
    let (mut rest, Listed { layout, .. }) = variable(input, place, big)?;
    let (size, mut numbers) = (layout?.size().unwrap_or(u64::MAX), Vec::new());
    // Hardly more than the shape says, whatever the element unpacks to. The checksum is compared at its end, which only a
    // read beyond the last byte reaches.
    let most = size.saturating_add(8);
    let read = rest.by_ref().take(most).read_to_end(&mut numbers);
    read.map_err(|error| error.to_string())?;
    match (numbers.len() as u64).checked_sub(size) {
        // Elements are padded to a multiple of eight bytes.
        Some(0..8) => numbers.truncate(size as usize),
        Some(_) => return Err("more numbers in a variable than its shape allows".into()),
        None => {}
    }
    Ok(numbers)
}

/// The variable at `place` and a stream of its numbers, and of what is left of it.
fn variable(
    input: &mut Box<dyn Seekable>,
    place: u64,
    big: bool,
) -> Flawed<(Box<dyn Read + '_>, Listed)> {
    seek(input, SeekFrom::Start(place))?;
    let outer = Tag::read(input, big)?;
    let content = input.take(outer.size.into());
    let mut content: Box<dyn Read + '_> = match outer.kind {
        MATRIX => Box::new(content),
        COMPRESSED => {
            let mut content = ZlibDecoder::new(content);
            if Tag::read(&mut content, big)?.kind != MATRIX {
                return Err("a damaged variable".into());
            }
            Box::new(content)
        }
        kind => return Err(format!("an element of type {kind}")),
    };
    let word = |bytes: &[u8]| -> u32 {
        let bytes = bytes.iter().take(4);
        let join = |sum, byte: &u8| sum << 8 | u32::from(*byte);
        if big {
            bytes.fold(0, join)
        } else {
            bytes.rev().fold(0, join)
        }
    };
    let flags = element(&mut content, big, Some(UINT32))?;
    if flags.len() != 8 {
        return Err("a damaged variable".into());
    }
    let flags = word(&flags);
    let (class, complex) = (flags & 0xff, flags & 0x800 != 0);
    let other = match class {
        6..=15 => None,
        1 => Some("a cell array"),
        2 => Some("a structure"),
        4 => Some("text"),
        5 => Some("a sparse matrix"),
        _ => Some("an object"),
    };
    // Objects continue differently.
    let (shape, name) = if matches!(class, 1..=15) {
        let shape = element(&mut content, big, Some(INT32))?;
        let shape = shape.chunks_exact(4).map(|size| u64::from(word(size)));
        let shape: Vec<_> = shape.collect();
        let name = element(&mut content, big, None)?;
        (shape, String::from_utf8_lossy(&name).into_owned())
    } else {
        (Vec::new(), "?".to_owned())
    };
    let layout = match other {
        Some(other) => Err(other.to_owned()),
        None if complex => Err("complex numbers".into()),
        None => match Layout::matrix(&shape) {
            None => Err(format!("{} axes", shape.len())),
            Some((rows, columns)) => {
                let tag = Tag::read(&mut content, big)?;
                if let Some(short) = tag.short {
                    content = Box::new(Cursor::new(short).chain(content));
                }
                let layout = number(tag.kind).map(|number| Layout {
                    number,
                    big_endian: big,
                    by_columns: true,
                    rows,
                    columns,
                });
                let size = layout.as_ref().map(Layout::size);
                if size.is_some_and(|size| size != Some(tag.size.into())) {
                    return Err(format!(
                        "a truncated or damaged variable, {} bytes of numbers for a shape of {rows} × {columns}",
                        tag.size
                    ));
                }
                layout.ok_or_else(|| format!("numbers of type {}", tag.kind))
            }
        },
    };
    let listed = Listed {
        name,
        shape,
        layout,
    };
    Ok((content, listed))
}

/// How an element of this type stores numbers. MATLAB stores integer values in fewer bytes than the class of the variable.
fn number(kind: u32) -> Option<Number> {
    match kind {
        1 => Number::new('i', 1),
        2 => Number::new('u', 1),
        3 => Number::new('i', 2),
        4 => Number::new('u', 2),
        5 => Number::new('i', 4),
        6 => Number::new('u', 4),
        7 => Number::new('f', 4),
        9 => Number::new('f', 8),
        12 => Number::new('i', 8),
        13 => Number::new('u', 8),
        _ => None,
    }
}

/// The start of an element.
struct Tag {
    kind: u32,
    size: u32,
    /// The content, if it is short enough to be part of the tag.
    short: Option<[u8; 4]>,
}

impl Tag {
    fn read(input: &mut impl Read, big: bool) -> Flawed<Self> {
        let mut bytes = [[0; 4]; 2];
        let read = input.read_exact(bytes.as_flattened_mut());
        read.map_err(|_| "a truncated or damaged variable".to_owned())?;
        let word = if big {
            u32::from_be_bytes
        } else {
            u32::from_le_bytes
        };
        let [first, second] = bytes;
        Ok(match word(first) {
            packed if packed >> 16 != 0 => Tag {
                kind: packed & 0xffff,
                size: (packed >> 16).min(4),
                short: Some(second),
            },
            kind => Tag {
                kind,
                size: word(second),
                short: None,
            },
        })
    }
}

/// The content of a short element of this type, where it has to be one; it is padded to a multiple of eight bytes.
fn element(input: &mut impl Read, big: bool, kind: Option<u32>) -> Flawed<Vec<u8>> {
    let tag = Tag::read(input, big)?;
    if kind.is_some_and(|kind| kind != tag.kind) {
        return Err("a damaged variable".into());
    }
    if let Some(short) = tag.short {
        return Ok(short[..tag.size as usize].to_vec());
    }
    if tag.size > LONGEST {
        return Err(format!("a shape or name of {} bytes", tag.size));
    }
    let mut content = bytes(input, tag.size.next_multiple_of(8) as usize)?;
    content.truncate(tag.size as usize);
    Ok(content)
}

fn bytes(input: &mut impl Read, count: usize) -> Flawed<Vec<u8>> {
    let mut bytes = vec![0; count];
    let read = input.read_exact(&mut bytes);
    read.map(|()| bytes)
        .map_err(|_| "a truncated or damaged variable".into())
}

fn seek(input: &mut Box<dyn Seekable>, to: SeekFrom) -> Flawed<u64> {
    input.seek(to).map_err(|error| error.to_string())
}
