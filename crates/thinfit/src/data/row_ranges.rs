//! The rows included in a summary, as ranges of row numbers, so that no row is counted twice.

use crate::math::wire::{Reader, Writer};
use crate::{Error, Result};
use std::collections::BTreeMap;
use std::ops::Range;

/// Ranges of row numbers, apart from each other: where each starts, and where it ends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RowRanges(BTreeMap<u64, u64>);

impl RowRanges {
    /// This many rows, starting at this number.
    pub fn of(first: u64, count: usize) -> Self {
        let mut ranges = RowRanges::default();
        ranges.add(first..first.saturating_add(count as u64));
        ranges
    }

    /// Adds rows; they join those that they touch.
    pub fn add(&mut self, rows: Range<u64>) {
        if rows.is_empty() {
            return;
        }
        let (mut start, mut end) = (rows.start, rows.end);
        while let Some((&first, &last)) = self.0.range(..=end).next_back() {
            if last < start {
                break;
            }
            self.0.remove(&first);
            (start, end) = (start.min(first), end.max(last));
        }
        self.0.insert(start, end);
    }

    /// Adds the rows of another summary.
    pub fn join(&mut self, other: &RowRanges) {
        for (&first, &end) in &other.0 {
            self.add(first..end);
        }
    }

    /// Refuses rows of which some are here already.
    ///
    /// # Errors
    /// They are.
    pub fn refuse_repeated(&self, other: &RowRanges) -> Result<()> {
        let both = other.0.iter().find_map(|(&first, &end)| {
            let (&from, &to) = self.0.range(..end).next_back()?;
            (to > first).then(|| from.max(first)..to.min(end))
        });
        match both {
            None => Ok(()),
            Some(rows) => Err(Error::Data {
                what: "table",
                problem: format!("rows {} to {} are counted twice", rows.start, rows.end - 1),
                advice: "merge the summary of each part of the table once",
            }),
        }
    }

    /// Writes them into words.
    pub fn pack_into(&self, writer: &mut Writer) {
        writer.words(&[self.0.len() as u64]);
        for (&first, &end) in &self.0 {
            writer.words(&[first, end]);
        }
    }

    /// Reads them; none of other words.
    pub fn unpack_from(reader: &mut Reader<'_>) -> Option<Self> {
        let [count] = reader.words()?;
        let mut ranges = RowRanges::default();
        let mut least = 0;
        for _ in 0..count {
            let [first, end] = reader.words()?;
            (least <= first && first < end).then_some(())?;
            least = end;
            ranges.add(first..end);
        }
        Some(ranges)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_join_those_that_they_touch_and_none_count_twice() {
        let mut ranges = RowRanges::of(10, 10);
        ranges.add(30..40);
        ranges.add(50..50);
        ranges.add(0..5);
        for (first, count) in [(5, 5), (20, 10), (40, 100)] {
            ranges
                .refuse_repeated(&RowRanges::of(first, count))
                .unwrap();
        }
        for (first, count) in [(4, 1), (0, 100), (19, 5), (25, 6), (39, 1)] {
            let error = ranges.refuse_repeated(&RowRanges::of(first, count));
            assert!(error.unwrap_err().to_string().contains("counted twice"));
        }
        ranges.add(20..30);
        ranges.join(&RowRanges::of(5, 5));
        assert_eq!(ranges, RowRanges::of(0, 40));
    }
}
