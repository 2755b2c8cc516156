//! Mutations of the bytes of any file.

use crate::corpus::Source;
use crate::random::Random;
use std::ops::Range;

/// Maximum number of bytes of an input.
pub const MOST: usize = 1_000_000;

/// Changes `bytes` once.
pub fn change(bytes: &mut Vec<u8>, source: &Source<'_>, random: &mut Random) {
    let range = random.range(bytes.len());
    let here = || range.clone();
    match random.below(24) {
        _ if bytes.is_empty() => bytes.extend(source.word(random)),
        0 => {
            let at = random.below(bytes.len());
            bytes[at] ^= 1 << random.below(8);
        }
        1 => {
            let at = random.below(bytes.len());
            bytes[at] = random.byte();
        }
        2 | 3 => integer(bytes, random),
        4 => drop(bytes.drain(here())),
        5 => {
            let piece = bytes[here()].to_vec();
            let at = random.below(bytes.len());
            bytes.splice(at..at, piece);
        }
        6 => {
            let piece = bytes[here()].to_vec();
            let at = random.below(bytes.len());
            bytes
                .iter_mut()
                .skip(at)
                .zip(piece)
                .for_each(|(old, new)| *old = new);
        }
        7 => {
            let piece = source.other[random.range(source.other.len())].to_vec();
            bytes.splice(here(), piece);
        }
        8 | 9 => {
            let word = source.word(random).to_vec();
            let at = random.below(bytes.len());
            bytes.splice(at..at, word);
        }
        10 | 11 => {
            let word = source.word(random).to_vec();
            let end = range.start + random.below(word.len() + 1);
            bytes.splice(range.start..end.min(bytes.len()), word);
        }
        12 | 13 => {
            if let Some(digits) = digits(bytes, range.start) {
                bytes.splice(digits, random.number().into_bytes());
            }
        }
        14 if random.one_in(4) => repeat(bytes, here(), random),
        15 if random.one_in(4) => bytes.truncate(range.start),
        16 | 17 => {
            let at = random.below(bytes.len());
            bytes[at] ^= 1 << random.below(3);
        }
        _ => {
            let digit = bytes[range.start..].iter().position(u8::is_ascii_digit);
            if let Some(at) = digit {
                bytes[range.start + at] = b'0' + random.below(10) as u8;
            }
        }
    }
    bytes.truncate(MOST);
}

/// The first run of digits from `from` on.
fn digits(bytes: &[u8], from: usize) -> Option<Range<usize>> {
    let start = from + bytes[from..].iter().position(u8::is_ascii_digit)?;
    let length = bytes[start..]
        .iter()
        .take_while(|byte| byte.is_ascii_digit());
    Some(start..start + length.count())
}

/// Puts a number where there may be a length, an offset or a type, or adds to one there is.
pub fn integer(bytes: &mut [u8], random: &mut Random) {
    let size = 1usize << random.below(4);
    let Some(last) = bytes.len().checked_sub(size) else {
        return;
    };
    // Most formats align theirs.
    let mut at = random.below(last + 1);
    if random.one_in(2) {
        at -= at % size;
    }
    let place = &mut bytes[at..at + size];
    let big = random.one_in(4);
    if big {
        place.reverse();
    }
    let mut whole = [0; 8];
    whole[..size].copy_from_slice(place);
    let old = u64::from_le_bytes(whole);
    let new = match random.below(3) {
        0 => old.wrapping_add(1 + random.below(16) as u64),
        1 => old.wrapping_sub(1 + random.below(16) as u64),
        _ => random.extreme(),
    };
    place.copy_from_slice(&new.to_le_bytes()[..size]);
    if big {
        place.reverse();
    }
}

/// Repeats a piece many times; seldom up to the size of the largest input.
fn repeat(bytes: &mut Vec<u8>, piece: Range<usize>, random: &mut Random) {
    let most = match random.below(200) {
        0 => MOST,
        1..20 => 1 << 15,
        _ => 1 << 10,
    };
    let piece = bytes[piece].to_vec();
    if let Some(times) = (most.saturating_sub(bytes.len())).checked_div(piece.len()) {
        let at = random.below(bytes.len());
        bytes.splice(at..at, piece.repeat(times));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_depend_on_the_random_numbers_alone_and_stay_below_the_limit() {
        let words = [b"word".to_vec()];
        let source = Source {
            other: b"another file",
            words: &words,
        };
        let changed = || {
            let (mut random, mut bytes) = (Random::new(1, 2), b"a,b\n1,2\n".to_vec());
            for _ in 0..3000 {
                change(&mut bytes, &source, &mut random);
                assert!(bytes.len() <= MOST);
            }
            bytes
        };
        assert_eq!(changed(), changed());
    }
}
