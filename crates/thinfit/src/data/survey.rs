//! The first pass over a long table: counts the rows, finds their ranges and draws a random sample.
//!
//! Every row has a key, a hash of its number and the seed, and the sample consists of the rows with the smallest
//! keys. So it does not depend on blocks, order or processes, and its first rows in the order of the keys are a
//! random sample as well.

use super::Dataset;
use super::dataset::LARGEST;
use super::out_of_core::Block;
use super::row_marks::{MARKS, mark};
use super::row_ranges::RowRanges;
use super::shared_pass::Mergeable;
use crate::math::random::mixed;
use crate::math::wire::{Reader, Writer, foreign};
use crate::{Error, Result};
use faer::Mat;
use std::collections::BinaryHeap;

/// A row of the sample; the largest key is the first to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    key: u64,
    /// The number of the row.
    number: u64,
    /// Where its values lie.
    slot: usize,
}

/// The result of the first pass over some rows of a table.
#[derive(Clone, Debug)]
pub struct Survey {
    seed: u64,
    /// Rows of the sample at most.
    capacity: usize,
    /// Inputs and outputs.
    shape: (usize, usize),
    /// The rows that were seen.
    seen: RowRanges,
    /// Rows without gaps.
    rows: u64,
    /// Rows with gaps.
    dropped: u64,
    /// Smallest and largest value of each input.
    domain: Vec<[f64; 2]>,
    /// Sum of the marks of all rows.
    marks: u64,
    /// The first row with a value too large to square, the column of it, and its bits.
    large: Option<[u64; 3]>,
    /// Rows from this key and number on are not in the sample, since others are known that come before.
    last: Option<(u64, u64)>,
    sample: BinaryHeap<Entry>,
    /// The values of the sample, row by row.
    values: Vec<f64>,
}

impl Survey {
    /// No rows yet, of `shape` inputs and outputs; the sample will have at most `capacity` rows.
    pub fn new(shape: (usize, usize), capacity: usize, seed: u64) -> Self {
        Survey {
            seed,
            capacity,
            shape,
            seen: RowRanges::default(),
            rows: 0,
            dropped: 0,
            domain: vec![[f64::INFINITY, f64::NEG_INFINITY]; shape.0],
            marks: 0,
            large: None,
            last: None,
            sample: BinaryHeap::new(),
            values: Vec::new(),
        }
    }

    /// Takes what another pass found in other rows of the table.
    ///
    /// # Errors
    /// A survey of another table, or rows that are in both.
    pub fn take(&mut self, other: &Survey) -> Result<()> {
        let kind = |survey: &Survey| (survey.shape, survey.capacity, survey.seed);
        if kind(self) != kind(other) {
            return Err(foreign("a survey of the same table", &other.pack()));
        }
        self.seen.refuse_repeated(&other.seen)?;
        self.seen.join(&other.seen);
        self.rows = self.rows.saturating_add(other.rows);
        self.dropped = self.dropped.saturating_add(other.dropped);
        for (range, [low, high]) in self.domain.iter_mut().zip(&other.domain) {
            *range = [range[0].min(*low), range[1].max(*high)];
        }
        self.marks = (self.marks + other.marks) % MARKS;
        self.large = self.large.into_iter().chain(other.large).min();
        let width = other.width();
        for entry in &other.sample {
            self.offer(
                entry.number,
                other.values[entry.slot * width..][..width].iter(),
            );
        }
        Ok(())
    }
}

impl Mergeable for Survey {
    fn empty(&self) -> Self {
        let full = self.sample.len() == self.capacity;
        let last = self.sample.peek().filter(|_| full);
        Survey {
            last: last.map(|last| (last.key, last.number)).or(self.last),
            ..Survey::new(self.shape, self.capacity, self.seed)
        }
    }

    fn add(&mut self, block: Block<'_>) {
        self.seen.join(&RowRanges::of(block.first, block.x.nrows()));
        for i in 0..block.x.nrows() {
            if !block.is_complete(i) {
                self.dropped += 1;
                continue;
            }
            let number = block.first + i as u64;
            if let Some(j) = block.values(i).position(|v| v.abs() > LARGEST) {
                let found = [
                    number,
                    j as u64,
                    block.values(i).nth(j).map_or(0, |v| v.to_bits()),
                ];
                self.large = self.large.into_iter().chain([found]).min();
            }
            self.rows += 1;
            for (range, v) in self.domain.iter_mut().zip(block.x.row(i).iter()) {
                *range = [range[0].min(*v), range[1].max(*v)];
            }
            self.marks = (self.marks + mark(block.values(i))) % MARKS;
            self.offer(number, block.values(i));
        }
    }

    fn pack(&self) -> Vec<u64> {
        let mut writer = Writer::default();
        let (d, c) = self.shape;
        let counts = [d, c, self.capacity, self.sample.len()].map(|n| n as u64);
        writer.words(&counts);
        writer.words(&[self.seed, self.rows, self.dropped, self.marks]);
        writer.words(&[u64::from(self.large.is_some())]);
        writer.words(&self.large.unwrap_or_default());
        self.seen.pack_into(&mut writer);
        writer.numbers(self.domain.as_flattened());
        let width = self.width();
        for entry in &self.sample {
            writer.words(&[entry.number]);
            writer.numbers(&self.values[entry.slot * width..][..width]);
        }
        writer.sealed()
    }

    fn merge(&mut self, words: &[u64]) -> Result<()> {
        self.take(&Survey::unpack(words)?)
    }
}

impl Survey {
    /// Keeps the row if its key is among the smallest.
    fn offer<'a>(&mut self, number: u64, values: impl Iterator<Item = &'a f64>) {
        let key = mixed(mixed(self.seed) ^ number);
        if self.last.is_some_and(|last| (key, number) >= last) {
            return;
        }
        let (width, count) = (self.width(), self.sample.len());
        let slot = match self.sample.peek() {
            _ if count < self.capacity => {
                self.values.resize((count + 1) * width, 0.0);
                count
            }
            Some(last) if (key, number) < (last.key, last.number) => last.slot,
            _ => return,
        };
        if count == self.capacity {
            self.sample.pop();
        }
        self.sample.push(Entry { key, number, slot });
        let place = &mut self.values[slot * width..][..width];
        place.iter_mut().zip(values).for_each(|(to, v)| *to = *v);
    }

    fn width(&self) -> usize {
        self.shape.0 + self.shape.1
    }

    /// Rows without gaps.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Number of rows with gaps, which are ignored.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Smallest and largest value of each input.
    pub fn domain(&self) -> &[[f64; 2]] {
        &self.domain
    }

    /// Sum of the marks of all rows.
    pub(crate) fn marks(&self) -> u64 {
        self.marks
    }

    /// The sample in the order of its keys, as a data set with these names of inputs and outputs, and the numbers of its rows.
    ///
    /// # Errors
    /// Values too large to square, or names that do not fit.
    pub fn sample(&self, (inputs, outputs): (&[String], &[String])) -> Result<(Dataset, Vec<u64>)> {
        if let Some([row, column, bits]) = self.large {
            let column = column as usize;
            let (what, column) = match column.checked_sub(self.shape.0) {
                None => ("x", column),
                Some(output) => ("y", output),
            };
            return Err(Error::NotFinite {
                what,
                row: usize::try_from(row).unwrap_or(usize::MAX),
                column,
                value: f64::from_bits(bits),
            });
        }
        let mut entries = self.sample.clone().into_vec();
        entries.sort_unstable();
        let ((d, c), width) = (self.shape, self.width());
        let value = |i: usize, j: usize| self.values[entries[i].slot * width + j];
        let x = Mat::from_fn(entries.len(), d, value);
        let y = Mat::from_fn(entries.len(), c, |i, o| value(i, d + o));
        let data = Dataset::new(x, y)?.with_names(inputs.to_vec(), outputs.to_vec())?;
        Ok((data, entries.iter().map(|entry| entry.number).collect()))
    }

    /// The survey that another process has packed.
    ///
    /// # Errors
    /// Other words.
    pub fn unpack(words: &[u64]) -> Result<Self> {
        let mut reader = Reader::sealed(words)?;
        let mut read = || -> Option<Survey> {
            let [d, c, capacity, count] = reader.words()?;
            let [seed, rows, dropped, marks] = reader.words()?;
            let ([is_large], large) = (reader.words()?, reader.words()?);
            let shape = (usize::try_from(d).ok()?, usize::try_from(c).ok()?);
            shape.0.checked_add(shape.1)?;
            let seen = RowRanges::unpack_from(&mut reader)?;
            let domain = reader.numbers(shape.0.checked_mul(2)?)?;
            let mut survey = Survey::new(shape, capacity as usize, seed);
            for _ in 0..count {
                let [number] = reader.words()?;
                let values = reader.numbers(survey.width())?;
                survey.offer(number, values.iter());
            }
            (survey.rows, survey.dropped, survey.marks) = (rows, dropped, marks % MARKS);
            survey.seen = seen;
            survey.large = (is_large == 1).then_some(large);
            survey.domain = domain.as_chunks().0.to_vec();
            reader.is_empty().then_some(survey)
        };
        read().ok_or_else(|| foreign("a survey of rows", words))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(x: &Mat<f64>, y: &Mat<f64>, first: usize, count: usize, survey: &mut Survey) {
        survey.add(Block {
            first: first as u64,
            x: x.subrows(first, count),
            y: y.subrows(first, count),
        });
    }

    fn names() -> (Vec<String>, Vec<String>) {
        (vec!["a".into(), "b".into()], vec!["y".into()])
    }

    #[test]
    fn the_sample_is_the_same_in_any_order_and_from_any_processes() {
        let x = Mat::from_fn(5000, 2, |i, j| (i + 7 * j) as f64);
        let y = Mat::from_fn(5000, 1, |i, _| -(i as f64));
        let mut whole = Survey::new((2, 1), 300, 9);
        block(&x, &y, 0, 5000, &mut whole);
        let mut parts = [(); 2].map(|()| Survey::new((2, 1), 300, 9));
        block(&x, &y, 2100, 2900, &mut parts[0]);
        block(&x, &y, 50, 2050, &mut parts[1]);
        block(&x, &y, 0, 50, &mut parts[1]);
        let mut merged = Survey::new((2, 1), 300, 9);
        for part in &parts {
            merged.merge(&part.pack()).unwrap();
        }
        let (inputs, outputs) = names();
        let sample = |survey: &Survey| survey.sample((&inputs, &outputs)).unwrap();
        let ((ours, numbers), (theirs, same)) = (sample(&whole), sample(&merged));
        assert_eq!(numbers, same);
        assert!(ours.x == theirs.x && ours.y == theirs.y);
        assert_eq!(merged.rows(), 5000);
        assert_eq!(merged.marks(), whole.marks());
        assert_eq!(merged.domain(), [[0.0, 4999.0], [7.0, 5006.0]]);
        for (i, number) in numbers.iter().enumerate() {
            assert_eq!(ours.x[(i, 0)], *number as f64);
        }
        // A random sample: its mean lies within four standard errors, and so does that of its first half.
        for count in [300, 150] {
            let mean = numbers[..count].iter().sum::<u64>() as f64 / count as f64;
            let error = 5000.0 / (12.0 * count as f64).sqrt();
            assert!((mean - 2500.0).abs() < 4.0 * error, "{mean}");
        }
    }

    #[test]
    fn damaged_surveys_and_rows_that_are_merged_twice_are_refused() {
        let (x, y) = (Mat::from_fn(40, 2, |i, _| i as f64), Mat::zeros(40, 1));
        let mut survey = Survey::new((2, 1), 30, 1);
        block(&x, &y, 0, 40, &mut survey);
        let words = survey.pack();
        assert_eq!(Survey::unpack(&words).unwrap().pack().len(), words.len());
        for place in 0..words.len() {
            for flip in [1, 1 << 63, 0xff << 24, u64::MAX] {
                let mut damaged = words.clone();
                damaged[place] ^= flip;
                let error = Survey::unpack(&damaged).unwrap_err().to_string();
                assert!(
                    error.contains("checksum does not match"),
                    "{place}: {error}"
                );
            }
            assert!(Survey::unpack(&words[..place]).is_err(), "{place}");
            assert!(Survey::unpack(&words[words.len() - place..]).is_err());
        }
        let mut merged = Survey::new((2, 1), 30, 1);
        merged.merge(&words).unwrap();
        let error = merged.merge(&words).unwrap_err().to_string();
        assert!(error.contains("rows 0 to 39 are counted twice"), "{error}");
        assert_eq!(merged.rows(), 40);
    }

    #[test]
    fn a_value_too_large_to_square_is_named_though_it_is_not_in_the_sample() {
        let x = Mat::from_fn(
            5000,
            2,
            |i, j| if (i, j) == (4321, 1) { 1e200 } else { i as f64 },
        );
        let y = Mat::from_fn(5000, 1, |i, _| if i == 4400 { -1e160 } else { 0.0 });
        let [mut one, mut other] = [(); 2].map(|()| Survey::new((2, 1), 10, 9));
        block(&x, &y, 4350, 650, &mut one);
        block(&x, &y, 0, 4350, &mut other);
        one.merge(&other.pack()).unwrap();
        let (inputs, outputs) = names();
        let message = one.sample((&inputs, &outputs)).unwrap_err().to_string();
        assert!(
            message.contains("4321") && message.contains("1e200"),
            "{message}"
        );
    }

    #[test]
    fn few_rows_are_all_in_the_sample() {
        let (x, y) = (Mat::from_fn(8, 2, |i, _| i as f64), Mat::zeros(8, 1));
        let mut survey = Survey::new((2, 1), 300, 1);
        block(&x, &y, 0, 8, &mut survey);
        let (inputs, outputs) = names();
        let (_, mut numbers) = survey.sample((&inputs, &outputs)).unwrap();
        numbers.sort_unstable();
        assert_eq!(numbers, (0..8).collect::<Vec<u64>>());
    }
}
