//! Tables too long for memory: files that a fit reads block by block, once per pass, in one process or shared between
//! several.

use std::ops::Range;
use std::panic::resume_unwind;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};

use thinfit::pieces::Executor;
use thinfit::{Block, Error, LEAF, Mat, OutOfCoreTable, Visitor};
use thinfit_table::Reader;

use crate::args::Missing;
use crate::commands::predict::block;
use crate::failure::Failure;
use crate::fit_plan::StateFiles;
use crate::interrupt;
use crate::memory::COPIES;
use crate::notes;
use crate::progress::Progress;
use crate::shell::quoted;
use crate::table::roles::{FitColumns, Roles, roles};
use crate::table::{Purpose, TableSource};

/// Rows that one process reads before the next takes its turn.
const TURN: u64 = 64 * LEAF;
/// Rows of each process between two states that are saved: about a second of work.
const STAGE: u64 = 4 * TURN;
/// Number of blocks that are read ahead.
const AHEAD: usize = 2;
/// A table of so many rows, or of so many bytes of text, is read block by block even if it would fit into memory.
const ROWS: u64 = 1 << 20;
const BYTES: u64 = 200_000_000;
/// A file of fewer bytes is not long, unless packed so tightly that it would not fit into memory.
const SMALL: u64 = 20_000_000;
const PACKED: u64 = 20;
/// The shares of the work that the passes are, as `auto` counts them.
const PASSES: [(f64, f64); 2] = [(0.0, 0.2), (0.6, 1.0)];

/// Whether the requested table is a long one.
pub fn is_long(
    table: &TableSource,
    columns: &FitColumns,
    states: &StateFiles,
    executor: &dyn Executor,
) -> bool {
    let progress = Progress::new(true);
    // Errors are reported when it is read.
    columns.weights.is_none()
        && columns.groups.is_none()
        && matches!(
            Files::open(table, columns, states, executor, &progress),
            Ok(Some(_))
        )
}

/// A long table in files.
pub struct Files<'a> {
    table: &'a TableSource,
    columns: &'a FitColumns,
    states: &'a StateFiles,
    progress: &'a Progress,
    inputs: Vec<String>,
    outputs: Vec<String>,
    rows: Option<u64>,
    /// Units of columns, where the files have a row of them.
    units: Vec<(String, String)>,
    /// The number of this process, and how many share the table.
    rank: (u64, u64),
    /// Rows between two pauses.
    stage: u64,
    /// The number of rows, once it is known.
    total: AtomicU64,
    passes: AtomicUsize,
    /// Whether the notes about the files were printed.
    told: AtomicBool,
    /// Why a pass has failed.
    failure: Mutex<Option<Failure>>,
}

impl<'a> Files<'a> {
    /// The table, if it should not be read whole, or if several processes share it.
    pub fn open(
        table: &'a TableSource,
        columns: &'a FitColumns,
        states: &'a StateFiles,
        executor: &dyn Executor,
        progress: &'a Progress,
    ) -> Result<Option<Self>, Failure> {
        // A saved state of a long table may be continued with more memory.
        let resumed = states.resumes_blocks()?;
        let alone = executor.size() == 1 && resumed != Some(true);
        // A stream is read only once, and a small file need not be examined further.
        let memory = table.memory();
        let Some(bytes) = size(table.files()) else {
            return Ok(None);
        };
        let small = bytes < SMALL && bytes.saturating_mul(PACKED) < memory.of_table();
        let means = matches!(table.missing(), Some(Missing::Mean));
        if means || small && alone {
            return Ok(None);
        }
        let mut reader = table.open(Purpose::FitInBlocks)?;
        let rows = reader.rows();
        let Roles {
            inputs, targets, ..
        } = roles(&mut reader, table, columns)?;
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
            table,
            columns,
            states,
            progress,
            rows,
            units: notes::units(&reader.notes()),
            rank: (executor.rank() as u64, executor.size() as u64),
            stage: match states.saved().is_some() {
                true => STAGE * executor.size() as u64,
                false => u64::MAX,
            },
            total: AtomicU64::new(rows.unwrap_or(0)),
            passes: AtomicUsize::new(0),
            told: AtomicBool::new(false),
            failure: Mutex::new(None),
        }))
    }

    /// A fit that is resumed after its first pass begins with the second.
    pub fn skip_first_pass(&self) {
        self.passes.store(1, Ordering::Relaxed);
    }

    /// The number of rows, where the files say it.
    pub fn rows(&self) -> Option<u64> {
        self.rows
    }

    /// The columns with a unit in a row of units, and the unit.
    pub fn units(&self) -> &[(String, String)] {
        &self.units
    }

    /// Why a pass has failed, if one has; otherwise the error as it is.
    pub fn explain(&self, error: Error) -> Failure {
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        failure.take().unwrap_or_else(|| error.into())
    }

    /// What tells the table from others: the bytes of its files.
    pub fn identity(&self) -> String {
        let bytes = |path: &PathBuf| std::fs::metadata(path).map_or(0, |entry| entry.len());
        let bytes = self
            .table
            .files()
            .iter()
            .map(|path| bytes(path).to_string());
        bytes.collect::<Vec<_>>().join(" ")
    }

    /// One pass; a separate thread reads ahead.
    fn read(&self, visitor: &mut dyn Visitor) -> Result<(), Failure> {
        let pass = self.passes.fetch_add(1, Ordering::Relaxed);
        let (from, to) = PASSES[pass.min(PASSES.len() - 1)];
        let (d, c) = (self.inputs.len(), self.outputs.len());
        let turns = Turns {
            rank: self.rank,
            rows: self.total.load(Ordering::Relaxed),
            stage: self.stage,
        };
        let (sender, pieces) = sync_channel(AHEAD);
        let seen = visitor.seen();
        std::thread::scope(|scope| {
            let reading = std::thread::Builder::new()
                .spawn_scoped(scope, || self.read_ahead(seen, &turns, sender))
                .map_err(|error| Failure::new(format!("cannot start a thread: {error}")))?;
            for piece in pieces {
                let rows = match piece {
                    Piece::Rows(first, block) => {
                        visitor.take(Block {
                            first,
                            x: block.as_ref().subcols(0, d),
                            y: block.as_ref().subcols(d, c),
                        })?;
                        first + block.nrows() as u64
                    }
                    Piece::Pause(seen) => {
                        visitor.pause(seen)?;
                        seen
                    }
                };
                if interrupt::asked() {
                    return Err(Failure::new(self.stopped()));
                }
                let done = self.rows.map_or(0.0, |all| rows as f64 / all as f64);
                let text = || format!("auto  {rows} rows read");
                self.progress.step(from + done * (to - from), text);
            }
            let read = reading
                .join()
                .unwrap_or_else(|panic| resume_unwind(panic))?;
            // Every process has been over all rows, its own or not, unless it knew their number.
            self.total.fetch_max(read, Ordering::Relaxed);
            Ok(())
        })
    }

    fn stopped(&self) -> String {
        let advice = self.states.saved().map_or_else(String::new, |state| {
            let state = quoted(&state.to_string_lossy());
            format!("; continue with --resume {state}")
        });
        format!("interrupted before the table was read{advice}")
    }

    /// Reads the rows of this process after the first `seen`, and returns how many it has passed. Ends early if the receiver is gone.
    fn read_ahead(
        &self,
        seen: u64,
        turns: &Turns,
        pieces: SyncSender<Piece>,
    ) -> Result<u64, Failure> {
        let mut reader = self.table.open(Purpose::FitInBlocks)?;
        roles(&mut reader, self.table, self.columns)?;
        let read = self.read_rows(&mut reader, seen, turns, pieces)?;
        // Once, by one of the processes.
        if self.rank.0 == 0 && !self.told.swap(true, Ordering::Relaxed) {
            notes::tell(&reader.notes(), self.progress);
        }
        Ok(read)
    }

    /// Reads the rows of this process from an open table.
    fn read_rows(
        &self,
        reader: &mut Reader,
        seen: u64,
        turns: &Turns,
        pieces: SyncSender<Piece>,
    ) -> Result<u64, Failure> {
        let at_a_time = block(self.inputs.len() + self.outputs.len()) as u64;
        let mut first = reader.skip(seen)?;
        loop {
            let stage = first..turns.end(first);
            for run in turns.runs(stage.clone()) {
                first += reader.skip(run.start - first)?;
                while first < run.end {
                    let rows = at_a_time.min(run.end - first);
                    let Some(block) = reader.next_block(rows as usize)? else {
                        return Ok(first);
                    };
                    let (at, read) = (first, block.nrows() as u64);
                    first += read;
                    if pieces.send(Piece::Rows(at, block)).is_err() || read < rows {
                        return Ok(first);
                    }
                }
            }
            let left = stage.end - first;
            let skipped = reader.skip(left)?;
            first += skipped;
            let is_end = skipped < left || first == turns.rows;
            if is_end || pieces.send(Piece::Pause(first)).is_err() {
                return Ok(first);
            }
        }
    }
}

/// A message of the reading thread.
enum Piece {
    /// Rows, and the number of the first.
    Rows(u64, Mat<f64>),
    /// This many rows were read by some process.
    Pause(u64),
}

/// The rows of a process.
struct Turns {
    /// Its number, and how many share the table.
    rank: (u64, u64),
    /// The number of rows; 0 if it is not known.
    rows: u64,
    /// Rows between two pauses.
    stage: u64,
}

impl Turns {
    /// Where the stage ends that begins after the first `first` rows.
    fn end(&self, first: u64) -> u64 {
        let end = first.saturating_add(self.stage);
        if self.rows > 0 {
            end.min(self.rows)
        } else {
            end
        }
    }

    /// The rows of this process in a stage: one run of a known number of rows, so that it merges all but a few leaves itself; otherwise
    /// the processes take turns.
    fn runs(&self, stage: Range<u64>) -> impl Iterator<Item = Range<u64>> {
        let ((rank, ranks), Range { start, end }) = (self.rank, stage);
        let (first, length) = if self.rows > 0 {
            let leaves = (end - start).div_ceil(LEAF);
            let place = |rank: u64| (start + leaves * rank / ranks * LEAF).min(end);
            (place(rank), place(rank + 1) - place(rank))
        } else {
            (start + rank * TURN, TURN)
        };
        let step = if self.rows > 0 { end } else { ranks * TURN };
        let starts = std::iter::successors(Some(first), move |first| first.checked_add(step));
        starts
            .take_while(move |first| *first < end)
            .map(move |first| first..first.saturating_add(length).min(end))
    }
}

/// Whether the first rows hold only numbers; text is encoded only in memory.
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

impl OutOfCoreTable for Files<'_> {
    fn inputs(&self) -> &[String] {
        &self.inputs
    }

    fn outputs(&self) -> &[String] {
        &self.outputs
    }

    fn pass(&self, visitor: &mut dyn Visitor) -> thinfit::Result<()> {
        self.read(visitor).map_err(|failure| {
            let mut place = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
            *place = Some(failure);
            Error::Data {
                what: "table",
                problem: "its rows could not be read".into(),
                advice: "see above",
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{ColumnArgs, TableArgs};

    /// The numbers of the rows that a process is given, and its pauses.
    #[derive(Default)]
    struct Seen {
        before: u64,
        rows: Vec<u64>,
        pauses: Vec<u64>,
    }

    impl Visitor for Seen {
        fn seen(&self) -> u64 {
            self.before
        }

        fn take(&mut self, block: Block<'_>) -> thinfit::Result<()> {
            for i in 0..block.x.nrows() {
                self.rows.push(block.first + i as u64);
                // The first column has the numbers of the rows.
                assert_eq!(block.x[(i, 0)], self.rows[self.rows.len() - 1] as f64);
            }
            Ok(())
        }

        fn pause(&mut self, seen: u64) -> thinfit::Result<()> {
            assert!(self.rows.iter().all(|row| *row < seen));
            self.pauses.push(seen);
            Ok(())
        }
    }

    #[test]
    fn a_pass_goes_on_from_any_pause_for_any_number_of_processes() {
        let folder = std::env::temp_dir().join(format!("thinfit-pass-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let progress = Progress::new(true);
        for rows in [4 * LEAF, 4 * LEAF + 5, 3] {
            let text: String = (0..rows).map(|i| format!("{i},{}\n", 2 * i)).collect();
            std::fs::write(folder.join("a.csv"), format!("x,y\n{text}")).unwrap();
            let memory = "10kB".parse().unwrap();
            let path = folder.join("a.csv");
            let source = TableSource::find(&path, &[], &TableArgs::default(), memory).unwrap();
            let columns = FitColumns {
                args: ColumnArgs {
                    target: vec!["y".into()],
                    ..ColumnArgs::default()
                },
                ..FitColumns::default()
            };
            let states = StateFiles {
                checkpoint: None,
                resume: None,
            };
            for (known, ranks, stage, before) in [
                (true, 1, 2 * LEAF, 0),
                (true, 2, 2 * LEAF, 0),
                (true, 3, LEAF, LEAF),
                (true, 3, u64::MAX, 2 * LEAF),
                (false, 2, LEAF, 0),
                (false, 1, LEAF, 2 * LEAF),
            ] {
                let before = before.min(rows / LEAF * LEAF);
                let (mut given, mut pauses) = (vec![], vec![]);
                for rank in 0..ranks {
                    let table = Files {
                        table: &source,
                        columns: &columns,
                        states: &states,
                        progress: &progress,
                        inputs: vec!["x".into()],
                        outputs: vec!["y".into()],
                        rows: None,
                        units: vec![],
                        rank: (rank, ranks),
                        stage,
                        total: AtomicU64::new(if known { rows } else { 0 }),
                        passes: AtomicUsize::new(0),
                        told: AtomicBool::new(true),
                        failure: Mutex::new(None),
                    };
                    let mut seen = Seen {
                        before,
                        ..Seen::default()
                    };
                    table.pass(&mut seen).unwrap();
                    assert_eq!(table.total.load(Ordering::Relaxed), rows);
                    given.extend(seen.rows);
                    pauses.push(seen.pauses);
                }
                given.sort_unstable();
                assert_eq!(given, (before..rows).collect::<Vec<u64>>());
                assert!(pauses.iter().all(|other| *other == pauses[0]), "{pauses:?}");
                assert!(pauses[0].iter().all(|pause| pause % LEAF == 0));
                let most = (rows - before).div_ceil(stage) as usize;
                assert!((most.saturating_sub(1)..=most).contains(&pauses[0].len()));
            }
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn every_row_is_taken_once_by_some_process() {
        for (rows, known) in [(10, true), (5 * TURN + 7, true), (5 * TURN + 7, false)] {
            for (ranks, stage) in [
                (1, u64::MAX),
                (2, TURN),
                (3, u64::MAX),
                (3, 2 * TURN),
                (8, TURN),
            ] {
                let mut taken = vec![];
                for rank in 0..ranks {
                    let turns = Turns {
                        rank: (rank, ranks),
                        rows: if known { rows } else { 0 },
                        stage,
                    };
                    let mut first = 0;
                    while first < rows {
                        let end = turns.end(first);
                        for run in turns.runs(first..end).take_while(|run| run.start < rows) {
                            assert_eq!(run.start % LEAF, 0);
                            taken.push((run.start, run.end.min(rows)));
                        }
                        first = end;
                    }
                }
                taken.retain(|(first, end)| first < end);
                taken.sort_unstable();
                let ends = taken.windows(2).all(|pair| pair[0].1 == pair[1].0);
                assert!(ends && taken[0].0 == 0, "{taken:?}");
                assert_eq!(taken.last().map(|last| last.1), Some(rows));
            }
        }
    }
}
