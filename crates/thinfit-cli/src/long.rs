//! Tables longer than one wants in memory, as a fit sees them: files that are read again for every pass, block by block, by one process or
//! by several in turn.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use thinfit::pieces::Ranks;
use thinfit::{Block, Error, LEAF, LongTable};
use thinfit_table::Reader;

use crate::args::{FitArgs, Missing};
use crate::columns::{Roles, open_long, roles};
use crate::commands::predict::block;
use crate::failure::Failure;
use crate::interrupt;
use crate::memory::{COPIES, Memory};
use crate::progress::Progress;

/// Rows that one process reads before the next takes its turn.
const TURN: u64 = 64 * LEAF;
/// A table of so many rows, or of so many bytes of text, is read block by block even if it would fit into memory.
const ROWS: u64 = 1 << 20;
const BYTES: u64 = 200_000_000;
/// A file of fewer bytes is not long, unless packed so tightly that it would not fit into memory.
const SMALL: u64 = 20_000_000;
const PACKED: u64 = 20;
/// The shares of the work that the passes are, as `auto` counts them.
const PASSES: [(f64, f64); 2] = [(0.0, 0.2), (0.6, 1.0)];

/// A long table in files.
pub struct Files<'a> {
    args: &'a FitArgs,
    paths: &'a [PathBuf],
    memory: Memory,
    progress: &'a Progress,
    inputs: Vec<String>,
    outputs: Vec<String>,
    rows: Option<u64>,
    /// The number of this process, and how many share the table.
    rank: (u64, u64),
    /// The number of rows, once it is known.
    total: AtomicU64,
    passes: AtomicUsize,
    /// Why a pass has failed.
    failure: Mutex<Option<Failure>>,
}

impl<'a> Files<'a> {
    /// The table, if it should not be read whole, or if several processes share it.
    pub fn open(
        args: &'a FitArgs,
        paths: &'a [PathBuf],
        memory: Memory,
        ranks: &dyn Ranks,
        progress: &'a Progress,
    ) -> Result<Option<Self>, Failure> {
        let alone = ranks.size() == 1;
        // What cannot be read twice is read once, and of a small file one need not know more.
        let Some(bytes) = size(paths) else {
            return Ok(None);
        };
        let small = bytes < SMALL && bytes.saturating_mul(PACKED) < memory.of_table();
        let means = matches!(args.table.missing, Some(Missing::Mean));
        if means || small && alone {
            return Ok(None);
        }
        let mut reader = open_long(paths, &args.table, memory)?;
        let rows = reader.rows();
        let Roles {
            inputs, targets, ..
        } = roles(&mut reader, &paths[0], &args.columns, None)?;
        let needed = |rows: u64| rows.saturating_mul(8 * COPIES * reader.selected().len() as u64);
        // A number of a text takes some four bytes and more.
        let (many, fits) = match rows {
            Some(rows) => (rows >= ROWS, needed(rows) <= COPIES * memory.of_table()),
            None => (bytes >= BYTES, bytes.saturating_mul(4) <= memory.of_table()),
        };
        if alone && fits && !(many && is_of_numbers(&mut reader)) {
            return Ok(None);
        }
        let names = |columns: &[usize]| -> Vec<String> {
            columns.iter().map(|j| reader.names()[*j].clone()).collect()
        };
        Ok(Some(Files {
            inputs: names(&inputs),
            outputs: names(&targets),
            args,
            paths,
            memory,
            progress,
            rows,
            rank: (ranks.rank() as u64, ranks.size() as u64),
            total: AtomicU64::new(rows.unwrap_or(0)),
            passes: AtomicUsize::new(0),
            failure: Mutex::new(None),
        }))
    }

    /// The number of rows, where the files say it.
    pub fn rows(&self) -> Option<u64> {
        self.rows
    }

    /// Why a pass has failed, if one has; otherwise the error as it is.
    pub fn explain(&self, error: Error) -> Failure {
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        failure.take().unwrap_or_else(|| error.into())
    }

    fn read(&self, visit: &mut dyn FnMut(Block<'_>) -> thinfit::Result<()>) -> Result<(), Failure> {
        let pass = self.passes.fetch_add(1, Ordering::Relaxed);
        let (from, to) = PASSES[pass.min(PASSES.len() - 1)];
        let mut reader: Reader = open_long(self.paths, &self.args.table, self.memory)?;
        roles(&mut reader, &self.paths[0], &self.args.columns, None)?;
        let (d, c) = (self.inputs.len(), self.outputs.len());
        let at_a_time = block(d + c);
        let mut turns = Turns {
            rank: self.rank,
            rows: self.total.load(Ordering::Relaxed),
        };
        let (mut first, mut left) = (0, 0);
        loop {
            if left == 0 {
                let (skip, take) = turns.next(first);
                let skipped = reader.skip(skip)?;
                first += skipped;
                if skipped < skip || take == 0 {
                    break;
                }
                left = take;
            }
            let rows = left.min(at_a_time as u64) as usize;
            let Some(block) = reader.next_block(rows)? else {
                break;
            };
            let read = block.nrows() as u64;
            visit(Block {
                first,
                x: block.as_ref().subcols(0, d),
                y: block.as_ref().subcols(d, c),
            })?;
            (first, left) = (first + read, left - read);
            if interrupt::asked() {
                return Err(Failure::new("it was stopped before it had read the table"));
            }
            let done = self.rows.map_or(0.0, |rows| first as f64 / rows as f64);
            let text = || format!("auto  {first} rows read");
            self.progress.step(from + done * (to - from), text);
            if (read as usize) < rows {
                break;
            }
        }
        // Every process has been over all rows, its own or not, unless it knew their number.
        self.total.fetch_max(first, Ordering::Relaxed);
        Ok(())
    }
}

/// Which rows are those of a process.
struct Turns {
    /// Its number, and how many share the table.
    rank: (u64, u64),
    /// The number of rows; 0 if it is not known.
    rows: u64,
}

impl Turns {
    /// How many rows to pass over after the first `first`, and how many to take then; none when all are taken.
    ///
    /// Of a known number of rows, each process has one run, so that it merges all but a few leaves itself; otherwise they take turns.
    fn next(&mut self, first: u64) -> (u64, u64) {
        let (rank, ranks) = self.rank;
        if self.rows > 0 {
            let leaves = self.rows.div_ceil(LEAF);
            let start = |rank: u64| (leaves * rank / ranks * LEAF).min(self.rows);
            let (from, to) = (start(rank), start(rank + 1));
            return match first < to {
                true => (from.saturating_sub(first), to - from.max(first)),
                false => (self.rows - first, 0),
            };
        }
        let others = (rank + ranks - first / TURN % ranks) % ranks;
        (others * TURN, TURN)
    }
}

/// Whether the first rows hold numbers alone; text is encoded in memory only.
fn is_of_numbers(reader: &mut Reader) -> bool {
    reader.next_block(1000).is_ok()
}

/// Bytes of all files; none if there is a pipe or a device among them.
fn size(paths: &[PathBuf]) -> Option<u64> {
    let size = |path: &PathBuf| {
        let entry = std::fs::metadata(path).ok()?;
        entry.is_file().then_some(entry.len())
    };
    paths.iter().map(size).sum()
}

impl LongTable for Files<'_> {
    fn inputs(&self) -> &[String] {
        &self.inputs
    }

    fn outputs(&self) -> &[String] {
        &self.outputs
    }

    fn pass(&self, visit: &mut dyn FnMut(Block<'_>) -> thinfit::Result<()>) -> thinfit::Result<()> {
        self.read(visit).map_err(|failure| {
            let mut place = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
            *place = Some(failure);
            Error::Data {
                what: "table",
                problem: "a pass over its rows has failed".into(),
                advice: "see above",
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_taken_once_by_some_process() {
        for (rows, known) in [(10, true), (5 * TURN + 7, true), (5 * TURN + 7, false)] {
            for ranks in [1, 2, 3, 8] {
                let mut taken = vec![];
                for rank in 0..ranks {
                    let known = if known { rows } else { 0 };
                    let mut turns = Turns {
                        rank: (rank, ranks),
                        rows: known,
                    };
                    let mut first = 0;
                    loop {
                        let (skip, take) = turns.next(first);
                        first += skip;
                        if first >= rows || take == 0 {
                            break;
                        }
                        assert_eq!(first % LEAF, 0);
                        taken.push((first, (first + take).min(rows)));
                        first += take;
                    }
                }
                taken.sort_unstable();
                let ends = taken.windows(2).all(|pair| pair[0].1 == pair[1].0);
                assert!(ends && taken[0].0 == 0, "{taken:?}");
                assert_eq!(taken.last().map(|last| last.1), Some(rows));
            }
        }
    }
}
