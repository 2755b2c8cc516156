//! NPY files taken apart: the header, whose length is repaired, and the numbers.

use crate::bytes;
use crate::corpus::Source;
use crate::random::Random;

/// Mutates the header or the numbers; the bytes, if this is not an NPY file.
pub fn change(file: &mut Vec<u8>, source: &Source<'_>, random: &mut Random) {
    let length = |bytes: &[u8]| {
        let low = |size: usize| {
            bytes
                .iter()
                .take(size)
                .rev()
                .fold(0, |sum, b| sum << 8 | usize::from(*b))
        };
        low(bytes.len())
    };
    let size = match file.get(6) {
        Some(1) => 2,
        _ => 4,
    };
    let start = 8 + size;
    let end = file
        .get(8..start)
        .map(|bytes| start.saturating_add(length(bytes)));
    let Some(end) = end.filter(|end| *end <= file.len()) else {
        return bytes::change(file, source, random);
    };
    let (mut header, mut numbers) = (file[start..end].to_vec(), file[end..].to_vec());
    match random.below(3) {
        0 => bytes::change(&mut numbers, source, random),
        _ => bytes::change(&mut header, source, random),
    }
    file.truncate(8);
    file.extend(&header.len().to_le_bytes()[..size]);
    file.extend(header);
    file.extend(numbers);
}
