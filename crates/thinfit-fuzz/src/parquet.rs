//! Parquet files taken apart: page headers and footer, which are structures of Thrift's compact protocol, and pages,
//! whose checksums are repaired.

use crate::bytes;
use crate::corpus::Source;
use crate::random::Random;
use flate2::Crc;
use std::ops::Range;

/// Bytes at the end of a file: the length of the description and `PAR1`.
const TAIL: usize = 8;
/// Fields of the header of a page.
const SIZE: u64 = 3;
const CHECKSUM: u64 = 4;

/// A structure whose place in a file is known.
#[derive(Default)]
struct Structure {
    end: usize,
    /// Where the whole numbers and lengths in it are.
    numbers: Vec<Range<usize>>,
    /// Its own whole numbers, by field.
    fields: Vec<(u64, Range<usize>)>,
}

/// A number of seven bits a byte, and where it is.
fn varint(file: &[u8], at: usize) -> Option<(u64, Range<usize>)> {
    let mut value = 0;
    for (k, byte) in file.get(at..)?.iter().take(10).enumerate() {
        value |= u64::from(byte & 0x7f).checked_shl(7 * k as u32)?;
        if byte & 0x80 == 0 {
            return Some((value, at..at + k + 1));
        }
    }
    None
}

/// The same in as many bytes as there are; none if they are too few.
fn put(file: &mut [u8], place: Range<usize>, mut value: u64) -> Option<()> {
    let last = place.end.checked_sub(1)?;
    for at in place {
        file[at] = (value & 0x7f) as u8 | if at == last { 0 } else { 0x80 };
        value >>= 7;
    }
    (value == 0).then_some(())
}

fn zigzag(value: i64) -> u64 {
    (value << 1 ^ value >> 63) as u64
}

/// The structure that begins at `at`.
fn structure(file: &[u8], mut at: usize, depth: usize) -> Option<Structure> {
    let (mut found, mut field) = (Structure::default(), 0u64);
    loop {
        let byte = *file.get(at)?;
        at += 1;
        if byte == 0 {
            found.end = at;
            return Some(found);
        }
        match byte >> 4 {
            0 => {
                let (id, place) = varint(file, at)?;
                (field, at) = (id >> 1, place.end);
            }
            step => field += u64::from(step),
        }
        let first = found.numbers.len();
        at = value(file, at, byte & 15, false, depth, &mut found.numbers)?;
        if matches!(byte & 15, 4..=6) {
            found.fields.push((field, found.numbers[first].clone()));
        }
    }
}

/// The end of a value of this type; adds the numbers in it.
fn value(
    file: &[u8],
    at: usize,
    kind: u8,
    listed: bool,
    depth: usize,
    numbers: &mut Vec<Range<usize>>,
) -> Option<usize> {
    // A list may say that it has any number of values, so that an end beyond the file must end it.
    let within = |end: usize| (end <= file.len()).then_some(end);
    match kind {
        1 | 2 => within(at + usize::from(listed)),
        3 => within(at + 1),
        4..=6 => {
            let (_, place) = varint(file, at)?;
            numbers.push(place.clone());
            Some(place.end)
        }
        7 => within(at + 8),
        8 => {
            let (length, place) = varint(file, at)?;
            numbers.push(place.clone());
            within(place.end.checked_add(usize::try_from(length).ok()?)?)
        }
        9 | 10 if depth < 20 => {
            let head = *file.get(at)?;
            let (count, mut at) = match head >> 4 {
                15 => varint(file, at + 1).map(|(count, place)| (count, place.end))?,
                count => (u64::from(count), at + 1),
            };
            for _ in 0..count {
                at = value(file, at, head & 15, true, depth + 1, numbers)?;
            }
            Some(at)
        }
        12 if depth < 20 => {
            let inner = structure(file, at, depth + 1)?;
            numbers.extend(inner.numbers);
            Some(inner.end)
        }
        _ => None,
    }
}

/// The pages from the start of a file: header and content.
fn pages(file: &[u8]) -> Vec<(Structure, Range<usize>)> {
    let (mut pages, mut at) = (Vec::new(), 4);
    let end = description(file).unwrap_or(file.len());
    while let Some(header) = structure(file, at, 0).filter(|header| header.end < end) {
        let of = |field| header.fields.iter().find(|(id, _)| *id == field);
        let size = of(SIZE).and_then(|(_, place)| varint(file, place.start));
        let Some(size) = size.and_then(|(size, _)| usize::try_from(size >> 1).ok()) else {
            break;
        };
        let content = header.end..header.end.saturating_add(size);
        if size == 0 || content.end > file.len() {
            break;
        }
        at = content.end;
        pages.push((header, content));
    }
    pages
}

/// Mutates a page, its header or the footer; the bytes, if this is not a Parquet file.
pub fn change(file: &mut Vec<u8>, source: &Source<'_>, random: &mut Random) {
    let (pages, description) = (pages(file), description(file));
    match random.below(6) {
        0..3 if !pages.is_empty() => {
            let (header, content) = random.of(&pages);
            let mut page = file[content.clone()].to_vec();
            (0..random.few()).for_each(|_| bytes::integer(&mut page, random));
            file[content.clone()].copy_from_slice(&page);
            let checksum = header.fields.iter().find(|(id, _)| *id == CHECKSUM);
            if let Some((_, place)) = checksum {
                let mut crc = Crc::new();
                crc.update(&page);
                // One in many does not fit the bytes there are, and stays wrong.
                let _ = put(file, place.clone(), zigzag(i64::from(crc.sum() as i32)));
            }
        }
        3 if !pages.is_empty() => {
            let (header, _) = random.of(&pages);
            number(file, &header.numbers, random);
        }
        4 | 5 if description.is_some() => {
            let start = description.unwrap_or_default();
            let mut end = file.split_off(start);
            end.truncate(end.len() - TAIL);
            match structure(&end, 0, 0) {
                Some(found) if !random.one_in(4) => number(&mut end, &found.numbers, random),
                _ => bytes::change(&mut end, source, random),
            }
            let length = end.len() as u32;
            file.extend(end);
            file.extend(length.to_le_bytes());
            file.extend(b"PAR1");
        }
        _ => bytes::change(file, source, random),
    }
}

/// Where the description begins.
fn description(file: &[u8]) -> Option<usize> {
    let tail = file.len().checked_sub(TAIL)?;
    let length: [u8; 4] = file[tail..tail + 4].try_into().ok()?;
    tail.checked_sub(u32::from_le_bytes(length) as usize)
}

/// Puts another value in the place of one of these numbers.
fn number(file: &mut Vec<u8>, places: &[Range<usize>], random: &mut Random) {
    if places.is_empty() {
        return;
    }
    let place = random.of(places).clone();
    let old = varint(file, place.start).map_or(0, |(value, _)| value);
    let new = match random.below(4) {
        0 => old.wrapping_add(1 + random.below(4) as u64),
        1 => old.wrapping_sub(1 + random.below(4) as u64),
        2 => random.below(64) as u64,
        _ => zigzag(random.extreme() as i64),
    };
    // With as many bytes nothing else moves; a larger number makes room for itself.
    if put(file, place.clone(), new).is_none() {
        let mut wide = [0; 10];
        let length = (64 - new.leading_zeros()).div_ceil(7).max(1) as usize;
        let _ = put(&mut wide, 0..length, new);
        file.splice(place, wide[..length].to_vec());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_found_and_their_checksums_put_right() {
        let path = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/corpus/parquet/checksums.parquet"
        );
        let file = std::fs::read(path).unwrap();
        let found = pages(&file);
        assert_eq!(found.len(), 4);
        for (header, content) in &found {
            let (_, place) = header
                .fields
                .iter()
                .find(|(id, _)| *id == CHECKSUM)
                .unwrap();
            let mut crc = Crc::new();
            crc.update(&file[content.clone()]);
            let mut written = file.clone();
            put(
                &mut written,
                place.clone(),
                zigzag(i64::from(crc.sum() as i32)),
            )
            .unwrap();
            assert_eq!(written, file);
        }
        assert!(structure(&file, description(&file).unwrap(), 0).is_some());
    }
}
