//! Numbers packed for another process, as 64-bit words with a checksum.

use crate::math::random::mixed;
use crate::{Error, Result};

/// Packed words.
#[derive(Default)]
pub(crate) struct Writer(Vec<u64>);

impl Writer {
    pub fn words(&mut self, words: &[u64]) {
        self.0.extend_from_slice(words);
    }

    pub fn numbers(&mut self, numbers: &[f64]) {
        self.0.extend(numbers.iter().map(|v| v.to_bits()));
    }

    /// Bytes, with their number before them.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.0.push(bytes.len() as u64);
        self.0.extend(bytes.chunks(8).map(|chunk| {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            u64::from_le_bytes(word)
        }));
    }

    pub fn into_words(self) -> Vec<u64> {
        self.0
    }

    /// The words as a message, followed by their checksum.
    pub fn sealed(mut self) -> Vec<u64> {
        self.0.push(checksum(&self.0));
        self.0
    }
}

/// A message that arrived; reading beyond its end gives none.
pub(crate) struct Reader<'a>(&'a [u64]);

impl<'a> Reader<'a> {
    /// The words of a message.
    ///
    /// # Errors
    /// A checksum that is not theirs.
    pub fn sealed(message: &'a [u64]) -> Result<Self> {
        match message.split_last() {
            Some((sum, words)) if *sum == checksum(words) => Ok(Reader(words)),
            _ => Err(Error::Shape {
                what: "message of another process",
                expected: "a complete message".into(),
                found: format!("{} bytes whose checksum does not match", 8 * message.len()),
            }),
        }
    }

    /// The words of a message.
    pub fn new(words: &'a [u64]) -> Self {
        Reader(words)
    }

    pub fn words<const N: usize>(&mut self) -> Option<[u64; N]> {
        let (first, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*first)
    }

    pub fn numbers(&mut self, count: usize) -> Option<Vec<f64>> {
        let (first, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(first.iter().map(|word| f64::from_bits(*word)).collect())
    }

    pub fn bytes(&mut self) -> Option<Vec<u8>> {
        let [length] = self.words()?.map(|n| n as usize);
        let (words, rest) = self.0.split_at_checked(length.div_ceil(8))?;
        self.0 = rest;
        let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        bytes.truncate(length);
        Some(bytes)
    }

    /// The unread rest.
    pub fn rest(&self) -> &'a [u64] {
        self.0
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// A hash of words and their number; a change of one word always changes it.
pub(crate) fn checksum(words: &[u64]) -> u64 {
    let sum = |sum: u64, word: &u64| mixed(sum ^ word);
    words.iter().fold(mixed(words.len() as u64), sum)
}

/// The error of unexpected words.
pub(crate) fn foreign(expected: &str, words: &[u64]) -> Error {
    Error::Shape {
        what: "message of another process",
        expected: expected.into(),
        found: format!("{} other words", words.len()),
    }
}
