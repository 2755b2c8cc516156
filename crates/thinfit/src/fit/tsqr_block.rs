//! Consecutive rows of a long table, condensed.
//!
//! Blocks may begin and end anywhere, but leaves may not: rows of an incomplete leaf are kept as they are until the
//! rest arrives. So the result does not depend on how the table was divided.

use super::out_of_core::{Draft, Leaf, no_rows};
use crate::data::out_of_core::{Block, LEAF};
use crate::data::row_marks::{MARKS, mark};
use crate::data::row_ranges::RowRanges;
use crate::data::shared_pass::Mergeable;
use crate::data::survey::Survey;
use crate::math::wire::{Reader, Writer, foreign};
use crate::solve::tsqr::{TsqrFactor, TsqrTree};
use crate::{Error, Result};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// Consecutive rows: the factor of complete leaves, and the rows of incomplete ones at both ends.
#[derive(Default)]
pub struct TsqrBlock {
    /// All rows, including those held out.
    seen: RowRanges,
    /// Sum of the marks of all rows, including those held out.
    marks: u64,
    /// By their number.
    ends: BTreeMap<u64, Leaf>,
    tree: TsqrTree,
}

impl Draft {
    /// The rows of a block, except those held out.
    pub fn tsqr_block(&self, block: Block<'_>) -> TsqrBlock {
        let (first, end) = (block.first, block.first + block.x.nrows() as u64);
        let start = first.next_multiple_of(LEAF).min(end);
        let stop = (end / LEAF * LEAF).max(start);
        let rows = |from: u64, to: u64| {
            let (skipped, count) = ((from - first) as usize, (to - from) as usize);
            Block {
                first: from,
                x: block.x.subrows(skipped, count),
                y: block.y.subrows(skipped, count),
            }
        };
        let ends = [(first, start), (stop, end)].into_iter();
        let ends = ends.filter(|(from, to)| from < to);
        let leaf =
            |number: u64| self.leaf(&self.gathered(rows(number * LEAF, (number + 1) * LEAF)));
        let counted = (0..block.x.nrows())
            .into_par_iter()
            .with_min_len(LEAF as usize);
        let marks = counted.map(|i| match block.is_complete(i) {
            true => mark(block.values(i)),
            false => 0,
        });
        TsqrBlock {
            seen: RowRanges::of(first, block.x.nrows()),
            marks: marks.reduce(|| 0, |sum, mark| (sum + mark) % MARKS),
            ends: ends
                .map(|(from, to)| (from / LEAF, self.gathered(rows(from, to))))
                .collect(),
            tree: TsqrTree::of(start / LEAF..stop / LEAF, &leaf),
        }
    }
}

impl TsqrBlock {
    /// The rows of both, of which those of `next` follow; `draft` is that of both.
    ///
    /// # Panics
    /// If another one has.
    pub fn followed_by(mut self, next: TsqrBlock, draft: &Draft) -> Self {
        self.seen.join(&next.seen);
        self.marks = (self.marks + next.marks) % MARKS;
        self.tree.take(next.tree);
        for (number, leaf) in next.ends {
            let whole = match self.ends.remove(&number) {
                Some(before) => before.followed_by(leaf),
                None => leaf,
            };
            match whole.rows == LEAF {
                true => self.tree.add(number, draft.leaf(&whole)),
                false => drop(self.ends.insert(number, whole)),
            }
        }
        self
    }

    /// Whether they can be factors of this draft.
    fn fits(&self, draft: &Draft) -> bool {
        let (d, c) = (
            draft.input_scaler.scale.len(),
            draft.output_scaler.scale.len(),
        );
        let columns = draft.activation.columns(draft.hidden.nrows()) + c;
        let mut ends = self.ends.values();
        draft.is_sound((d, c))
            && self.tree.has_columns(columns, c)
            && ends.all(|leaf| leaf.x.len() % d == 0 && leaf.x.len() / d * c == leaf.y.len())
    }

    /// All rows, after the last block.
    ///
    /// # Errors
    /// No rows.
    pub fn finish(mut self, draft: &Draft) -> Result<TsqrFactor> {
        for (number, leaf) in self.ends {
            self.tree.add(number, draft.leaf(&leaf));
        }
        self.tree.finish().ok_or_else(no_rows)
    }

    /// The rows, packed for another process.
    pub fn pack(&self) -> Vec<u64> {
        let mut writer = Writer::default();
        self.seen.pack_into(&mut writer);
        writer.words(&[self.marks, self.ends.len() as u64]);
        for leaf in self.ends.values() {
            let lengths = [leaf.x.len(), leaf.y.len()].map(|n| n as u64);
            writer.words(&[leaf.number, leaf.rows]);
            writer.words(&lengths);
            writer.numbers(&leaf.x);
            writer.numbers(&leaf.y);
        }
        writer.words(&self.tree.pack());
        writer.sealed()
    }

    /// The rows that another process has packed.
    ///
    /// # Errors
    /// Other words.
    pub fn unpack(words: &[u64]) -> Result<Self> {
        let mut reader = Reader::sealed(words)?;
        let mut ends = || -> Option<(RowRanges, u64, BTreeMap<u64, Leaf>)> {
            let seen = RowRanges::unpack_from(&mut reader)?;
            let [marks, count] = reader.words()?;
            let leaf = |_| {
                let [number, rows, of_x, of_y] = reader.words()?;
                (rows <= LEAF).then_some(())?;
                let x = reader.numbers(of_x as usize)?;
                let y = reader.numbers(of_y as usize)?;
                Some((number, Leaf { number, rows, x, y }))
            };
            let ends = (0..count).map(leaf).collect::<Option<_>>()?;
            Some((seen, marks % MARKS, ends))
        };
        let (seen, marks, ends) = ends().ok_or_else(|| foreign("a block of factors", words))?;
        let mut tree = TsqrTree::default();
        tree.unpack(reader.rest())?;
        Ok(TsqrBlock {
            seen,
            marks,
            ends,
            tree,
        })
    }
}

/// The second pass over an out-of-core table: the factor of all rows for the draft of a network.
pub struct TsqrPass<'a> {
    draft: &'a Draft,
    rows: TsqrBlock,
}

impl<'a> TsqrPass<'a> {
    /// No rows yet.
    pub fn new(draft: &'a Draft) -> Self {
        TsqrPass {
            draft,
            rows: TsqrBlock::default(),
        }
    }

    /// All rows of the first pass, after the last block.
    ///
    /// # Errors
    /// No rows, or others.
    pub fn finish(self, survey: &Survey) -> Result<TsqrFactor> {
        if self.rows.marks != survey.marks() {
            return Err(Error::Data {
                what: "table",
                problem: "the second pass found other rows than the first".into(),
                advice: "fit again, and do not change the table meanwhile",
            });
        }
        self.rows.finish(self.draft)
    }
}

impl Mergeable for TsqrPass<'_> {
    fn empty(&self) -> Self {
        TsqrPass::new(self.draft)
    }

    fn add(&mut self, block: Block<'_>) {
        let rows = std::mem::take(&mut self.rows);
        self.rows = rows.followed_by(self.draft.tsqr_block(block), self.draft);
    }

    fn pack(&self) -> Vec<u64> {
        self.rows.pack()
    }

    fn merge(&mut self, words: &[u64]) -> Result<()> {
        let others = TsqrBlock::unpack(words)?;
        if !others.fits(self.draft) {
            return Err(foreign("factors of this network", words));
        }
        self.rows.seen.refuse_repeated(&others.seen)?;
        let rows = std::mem::take(&mut self.rows);
        self.rows = rows.followed_by(others, self.draft);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::out_of_core::tests::{data, draft, factor};
    use super::*;
    use crate::Dataset;

    fn part(all: &Dataset, from: usize, to: usize) -> TsqrBlock {
        let block = draft().tsqr_block(Block {
            first: from as u64,
            x: all.x.subrows(from, to - from),
            y: all.y.subrows(from, to - from),
        });
        TsqrBlock::unpack(&block.pack()).unwrap()
    }

    #[test]
    fn cuts_change_no_bit() {
        let m = 20_000;
        let all = data(m);
        let whole = factor(&draft(), &all);
        for cuts in [
            vec![0, m],
            vec![0, 1, 2, 4096, 4096, 5000, 19_999, m],
            vec![0, 5000, 10_000, 15_000, m],
            (0..=m).step_by(1000).collect(),
            vec![0, 8192, 12_288, m],
        ] {
            let mut parts: Vec<TsqrBlock> = cuts
                .windows(2)
                .map(|cut| part(&all, cut[0], cut[1]))
                .collect();
            // As a tree, whose last branches may be short.
            while parts.len() > 1 {
                let mut rest = parts.into_iter();
                let mut merged = Vec::new();
                while let Some(one) = rest.next() {
                    merged.push(match rest.next() {
                        Some(next) => one.followed_by(next, &draft()),
                        None => one,
                    });
                }
                parts = merged;
            }
            let rows = parts.remove(0).finish(&draft()).unwrap();
            assert!(rows == whole, "{cuts:?}");
        }
    }

    #[test]
    fn damaged_words_and_rows_that_are_merged_twice_are_refused() {
        let (all, draft) = (data(9000), draft());
        let words = part(&all, 100, 9000).pack();
        for some in [&[][..], &[7], &words[..words.len() - 1], &words[1..]] {
            assert!(TsqrBlock::unpack(some).is_err());
        }
        let few = part(&all, 0, 50).pack();
        for place in 0..few.len() {
            for flip in [1, 1 << 63, 0xff << 24, u64::MAX] {
                let mut damaged = few.clone();
                damaged[place] ^= flip;
                assert!(TsqrBlock::unpack(&damaged).is_err(), "{place}");
            }
        }
        let mut rows = TsqrPass::new(&draft);
        rows.merge(&words).unwrap();
        rows.merge(&few).unwrap();
        for again in [&words, &few] {
            let error = rows.merge(again).unwrap_err().to_string();
            assert!(error.contains("counted twice"), "{error}");
        }
        assert!(TsqrBlock::default().finish(&draft).is_err());
    }
}
