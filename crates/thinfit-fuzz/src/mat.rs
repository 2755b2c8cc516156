//! MAT files taken apart: unpacks the elements after the header, and packs them with correct lengths and checksums.

use crate::bytes;
use crate::corpus::Source;
use crate::random::Random;
use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use std::io::{Read, Write};

/// Bytes before the first element.
const HEADER: usize = 128;
/// The types of an element that is an array, and of one that is compressed.
const MATRIX: u32 = 14;
const COMPRESSED: u32 = 15;
/// Maximum number of bytes that an element is unpacked to here.
const MOST: u64 = 1 << 20;

/// Type and content of an element.
type Element = (u32, Vec<u8>);

fn elements(file: &[u8], word: impl Fn([u8; 4]) -> u32) -> Option<Vec<Element>> {
    let mut rest = file.get(HEADER..)?;
    let mut elements = Vec::new();
    while let Some((tag, after)) = rest.split_first_chunk::<8>() {
        let [a, b, c, d, e, f, g, h] = *tag;
        let (kind, size) = (word([a, b, c, d]), word([e, f, g, h]) as usize);
        elements.push((kind, after.get(..size)?.to_vec()));
        rest = &after[size..];
    }
    Some(elements)
}

fn unpacked(content: &[u8]) -> Vec<u8> {
    let mut unpacked = Vec::new();
    // What is damaged is changed as far as it can be read.
    let _ = ZlibDecoder::new(content)
        .take(MOST)
        .read_to_end(&mut unpacked);
    unpacked
}

fn packed(content: &[u8]) -> Vec<u8> {
    let mut zlib = ZlibEncoder::new(Vec::new(), Compression::fast());
    let packed = zlib.write_all(content).and_then(|()| zlib.finish());
    packed.expect("memory takes all that is written")
}

/// Mutates an element or the number of elements; the bytes, if this is not a MAT file.
pub fn change(file: &mut Vec<u8>, source: &Source<'_>, random: &mut Random) {
    let big = file.get(126) == Some(&b'M');
    let read = if big {
        u32::from_be_bytes
    } else {
        u32::from_le_bytes
    };
    let write = if big {
        u32::to_be_bytes
    } else {
        u32::to_le_bytes
    };
    let found = elements(file, read).filter(|elements| !elements.is_empty());
    let Some(mut elements) = found else {
        return bytes::change(file, source, random);
    };
    let at = random.below(elements.len());
    match random.below(10) {
        0 => drop(elements.remove(at)),
        1 => {
            let copy = elements[at].clone();
            elements.push(copy);
        }
        2 => elements[at].0 = random.below(20) as u32,
        how => {
            let (kind, content) = &mut elements[at];
            if *kind == COMPRESSED {
                *content = unpacked(content);
            }
            match how {
                // The same content, but not packed.
                3 if *kind == COMPRESSED && content.len() >= 8 => {
                    *kind = MATRIX;
                    content.drain(..8);
                }
                3..7 => (0..random.few()).for_each(|_| bytes::integer(content, random)),
                _ => (0..random.few()).for_each(|_| bytes::change(content, source, random)),
            }
            if *kind == COMPRESSED {
                *content = packed(content);
            }
        }
    }
    file.truncate(HEADER);
    for (kind, content) in elements {
        file.extend(write(kind));
        file.extend(write(content.len() as u32));
        file.extend(content);
    }
}
