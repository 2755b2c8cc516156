//! Tables longer than one wants in memory, as a fit sees them: files that are read again for every pass, block by block, by one process or
//! by several in turn.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
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
    paths: &'a [&'a Path],
    memory: Memory,
    progress: &'a Progress,
    inputs: Vec<String>,
    outputs: Vec<String>,
    rows: Option<u64>,
    /// The number of this process, and how many share the table.
    rank: (u64, u64),
    passes: AtomicUsize,
    /// Rows of this process with gaps, as the first pass has found them.
    dropped: AtomicUsize,
    /// Why a pass has failed.
    failure: Mutex<Option<Failure>>,
}

impl<'a> Files<'a> {
    /// The table, if it should not be read whole, or if several processes share it.
    pub fn open(
        args: &'a FitArgs,
        paths: &'a [&'a Path],
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
        } = roles(&mut reader, paths[0], &args.columns, None)?;
        let needed = |rows: u64| rows.saturating_mul(8 * COPIES * reader.selected().len() as u64);
        let long = match rows {
            Some(rows) => rows >= ROWS || needed(rows) > COPIES * memory.of_table(),
            None => bytes >= BYTES,
        };
        if !long && alone {
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
            passes: AtomicUsize::new(0),
            dropped: AtomicUsize::new(0),
            failure: Mutex::new(None),
        }))
    }

    /// The number of rows, where the files say it.
    pub fn rows(&self) -> Option<u64> {
        self.rows
    }

    /// Rows of this process that were left out because of missing values.
    pub fn dropped(&self) -> usize {
        self.dropped.load(Ordering::Relaxed)
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
        roles(&mut reader, self.paths[0], &self.args.columns, None)?;
        let (d, c) = (self.inputs.len(), self.outputs.len());
        let (rank, ranks) = self.rank;
        let at_a_time = block(d + c);
        let (mut first, mut left) = (0, 0);
        loop {
            if left == 0 {
                let turn = first / TURN;
                // The turns of the others.
                let others = (rank + ranks - turn % ranks) % ranks;
                let skipped = reader.skip(others * TURN)?;
                first += skipped;
                if skipped < others * TURN {
                    return Ok(());
                }
                left = TURN;
            }
            let rows = left.min(at_a_time as u64) as usize;
            let Some(block) = reader.next_block(rows)? else {
                return Ok(());
            };
            let read = block.nrows() as u64;
            if pass == 0 && self.args.table.missing.is_some() {
                let gappy = |i: &usize| block.row(*i).iter().any(|v| v.is_nan());
                let gaps = (0..block.nrows()).filter(gappy).count();
                self.dropped.fetch_add(gaps, Ordering::Relaxed);
            }
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
                return Ok(());
            }
        }
    }
}

/// Bytes of all files, those in folders too; none if there is a pipe or a device among them.
fn size(paths: &[&Path]) -> Option<u64> {
    let mut bytes = 0;
    for path in paths {
        let entry = std::fs::metadata(path).ok()?;
        bytes += match () {
            () if entry.is_file() => entry.len(),
            () if entry.is_dir() => {
                let files = std::fs::read_dir(path).ok()?.flatten();
                files
                    .filter_map(|file| Some(file.metadata().ok()?.len()))
                    .sum()
            }
            () => return None,
        };
    }
    Some(bytes)
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
