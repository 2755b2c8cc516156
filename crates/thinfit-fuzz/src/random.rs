//! The random number generator of a batch.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::ops::Range;

/// Random numbers that depend on the seed of a run, the target and the batch alone.
pub struct Random(ChaCha8Rng);

impl Random {
    pub fn new(seed: u64, stream: u64) -> Self {
        let mut generator = ChaCha8Rng::seed_from_u64(seed);
        generator.set_stream(stream);
        Random(generator)
    }

    /// A number below `end`, which is not zero.
    pub fn below(&mut self, end: usize) -> usize {
        self.0.random_range(0..end)
    }

    /// True in one of `n` cases.
    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    pub fn byte(&mut self) -> u8 {
        self.0.random()
    }

    pub fn word(&mut self) -> u64 {
        self.0.random()
    }

    /// One of `choices`, which are some.
    pub fn of<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[self.below(choices.len())]
    }

    /// A range in `0..length`, short more often than long, perhaps empty.
    pub fn range(&mut self, length: usize) -> Range<usize> {
        let from = self.below(length + 1);
        let most = 1 << self.below(9);
        from..(from + self.below(most + 1)).min(length)
    }

    /// One, or with ever smaller chances more, up to eight.
    pub fn few(&mut self) -> usize {
        1 + (0..7).take_while(|_| self.one_in(2)).count()
    }

    /// A whole number near the edge of some type, or anything.
    pub fn extreme(&mut self) -> u64 {
        let edge = 1u64 << self.of(&[0, 7, 8, 15, 16, 20, 31, 32, 33, 62, 63]);
        let near = [
            0,
            1,
            edge,
            edge - 1,
            edge.wrapping_add(1),
            edge.wrapping_neg(),
        ];
        match self.below(8) {
            6 => self.word(),
            7 => u64::MAX,
            choice => near[choice],
        }
    }

    /// A number as text: at the edge of some type, beyond all, not a number, or of no size.
    pub fn number(&mut self) -> String {
        let odd = "1e308 -1e308 1e999 1e-320 5e-324 -0.0 0.5 nan inf 1e16 3.5e-9 1_000 0x10 1e 007 1048576 1048577";
        let odd: Vec<&str> = odd.split(' ').collect();
        match self.below(4) {
            0 => (self.extreme() as i64).to_string(),
            1 => self.extreme().to_string(),
            2 => self.below(20).to_string(),
            _ => (*self.of(&odd)).to_owned(),
        }
    }
}
