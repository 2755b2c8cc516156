//! Numbers packed for another process, as words of 64 bits, which any means of transport carries without a change.

use crate::Error;

/// Words on their way.
#[derive(Default)]
pub(crate) struct Parcel(Vec<u64>);

impl Parcel {
    pub fn words(&mut self, words: &[u64]) {
        self.0.extend_from_slice(words);
    }

    pub fn numbers(&mut self, numbers: &[f64]) {
        self.0.extend(numbers.iter().map(|v| v.to_bits()));
    }

    pub fn into_words(self) -> Vec<u64> {
        self.0
    }
}

/// Words that arrived; what is asked for beyond their end is none.
pub(crate) struct Opened<'a>(&'a [u64]);

impl<'a> Opened<'a> {
    pub fn new(words: &'a [u64]) -> Self {
        Opened(words)
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

    /// What was not read yet.
    pub fn rest(&self) -> &'a [u64] {
        self.0
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Words that are not what was expected.
pub(crate) fn foreign(expected: &str, words: &[u64]) -> Error {
    Error::Shape {
        what: "what another process found",
        expected: expected.into(),
        found: format!("{} other words", words.len()),
    }
}
