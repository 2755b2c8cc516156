//! Waiting and running jobs.
//!
//! Jobs join as soon as they are known: once λ of a cell is chosen, its fits follow while other cells still choose
//! theirs, so that neither workers nor a device wait for the slowest cell.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::job::CHOOSING;
use crate::{Error, Job, Ledger, Row};
use thinfit::Lambda;

/// Maximum number of runs of a batch, one for each λ of each fit, so that all are saved soon after a stop.
const RUNS: usize = 60;

/// Lists all jobs that are known at present, done or not; those that choose λ come first.
pub(crate) type Known<'a> = dyn Fn() -> Vec<Job> + Sync + 'a;

/// Jobs that are done in order: GFT and the GFT-r that starts from it, or one job alone.
pub(crate) type Chain = Vec<Job>;

/// Who takes jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Taker {
    /// One chain at a time, on the processor.
    Worker,
    /// Chains that can be trained together, on a device.
    Lane,
}

/// The jobs of a call.
pub(crate) struct Queue<'a> {
    known: &'a Known<'a>,
    ledger: &'a Ledger,
    /// Whether there are lanes, which train the networks.
    device: bool,
    jobs: Mutex<Jobs>,
    changed: Condvar,
}

#[derive(Default)]
struct Jobs {
    /// Names of all jobs that ever waited.
    seen: HashSet<String>,
    waiting: Vec<Chain>,
    under_way: Vec<Chain>,
}

impl<'a> Queue<'a> {
    /// An empty queue.
    pub fn new(known: &'a Known<'a>, ledger: &'a Ledger, device: bool) -> Self {
        Queue {
            known,
            ledger,
            device,
            jobs: Mutex::default(),
            changed: Condvar::new(),
        }
    }

    /// Puts away chains that were taken, done or not, and lets the jobs join that are known, missing and new; `planned` hears
    /// of these before anyone can take them.
    ///
    /// While a cell's GFT or GFT-r still chooses λ, neither of them goes on: both may choose the same one, and are then one
    /// chain.
    ///
    /// # Errors
    /// A ledger that cannot be read.
    pub fn admit(&self, finished: &[Chain], planned: impl FnOnce(&[Job])) -> Result<(), Error> {
        // One lock for all, or others would see an empty queue in between and leave.
        let mut jobs = self.jobs();
        jobs.under_way.retain(|chain| !finished.contains(chain));
        self.changed.notify_all();
        let mut choosing: Vec<Job> = jobs.unfinished().filter_map(chooses).collect();
        let mut new = Vec::new();
        for job in (self.known)() {
            let name = job.to_string();
            if jobs.seen.contains(&name) || self.ledger.has(&job)? {
                continue;
            }
            match chooses(&job) {
                Some(cell) => choosing.push(cell),
                None if choosing.contains(&cell(&job)) => continue,
                None => {}
            }
            jobs.seen.insert(name);
            new.push(job);
        }
        if !new.is_empty() {
            planned(&new);
        }
        jobs.waiting.extend(chains(&new));
        Ok(())
    }

    /// What is next; none when nothing is left that this taker could ever do, or once `stopped`.
    pub fn take(&self, taker: Taker, stopped: &AtomicBool) -> Option<Vec<Chain>> {
        let mut jobs = self.jobs();
        let mine = |chain: &Chain| self.taker(&chain[0]) == taker;
        loop {
            if stopped.load(Ordering::Relaxed) {
                return None;
            }
            let next = match taker {
                Taker::Worker => jobs.waiting.iter().position(mine),
                Taker::Lane => {
                    let mine = jobs.waiting.iter().enumerate().filter(|(_, c)| mine(c));
                    mine.min_by_key(|(_, chain)| rank(chain)).map(|(i, _)| i)
                }
            };
            if let Some(next) = next {
                let first = jobs.waiting.remove(next);
                let batch = match taker {
                    Taker::Worker => vec![first],
                    Taker::Lane => batch(first, &mut jobs.waiting),
                };
                jobs.under_way.extend(batch.iter().cloned());
                return Some(batch);
            }
            if !jobs.under_way.iter().any(mine) {
                return None;
            }
            let changed = self.changed.wait(jobs);
            jobs = changed.unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn taker(&self, job: &Job) -> Taker {
        match self.device && job.row.is_trained() {
            true => Taker::Lane,
            false => Taker::Worker,
        }
    }

    fn jobs(&self) -> MutexGuard<'_, Jobs> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Jobs {
    fn unfinished(&self) -> impl Iterator<Item = &Job> {
        self.waiting.iter().chain(&self.under_way).flatten()
    }
}

/// The cell of a job, the same for GFT and GFT-r.
fn cell(job: &Job) -> Job {
    Job {
        lambda: None,
        seed: CHOOSING,
        ..job.root()
    }
}

/// The cell whose λ a job helps to choose.
fn chooses(job: &Job) -> Option<Job> {
    (job.seed == CHOOSING).then(|| cell(job))
}

/// Joins each GFT-r to the GFT that it starts from.
fn chains(jobs: &[Job]) -> Vec<Chain> {
    let mut chains: Vec<Chain> = Vec::new();
    for job in jobs {
        let root = job.root();
        let chain = match root == *job {
            true => None,
            false => chains.iter_mut().find(|chain| chain[0] == root),
        };
        match chain {
            Some(chain) => chain.push(job.clone()),
            None => chains.push(vec![job.clone()]),
        }
    }
    chains
}

/// The order of batches: the long ones first, so that none is left alone at the end.
fn rank(chain: &Chain) -> impl Ord + use<> {
    let job = &chain[0];
    let generator = matches!(job.row, Row::Gft | Row::GftR);
    let size = job.width * job.column.samples() * job.column.dim();
    Reverse((generator, chain.len(), size))
}

/// Takes from `waiting` what can be trained together with `first`: chains that differ in seed, λ and rows of one shape alone.
fn batch(first: Chain, waiting: &mut Vec<Chain>) -> Vec<Chain> {
    let runs = |chain: &Chain| match chain[0].lambda {
        Some(Lambda::Auto) => Lambda::GRID.len(),
        _ => 1,
    };
    let shape = |job: &Job| (job.column.dim(), job.column.samples());
    let alike = |(one, other): (&Job, &Job)| {
        let same = Job {
            column: one.column,
            seed: one.seed,
            lambda: one.lambda,
            ..other.clone()
        };
        same == *one && shape(one) == shape(other)
    };
    let mut room = RUNS.saturating_sub(runs(&first));
    let joins = |chain: &mut Chain| {
        let fits = chain.len() == first.len()
            && first.iter().zip(chain.iter()).all(alike)
            && runs(chain) <= room;
        if fits {
            room -= runs(chain);
        }
        fits
    };
    let others: Vec<Chain> = waiting.extract_if(.., joins).collect();
    std::iter::once(first).chain(others).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attempt::blank;
    use crate::job::tests::{jobs, no_ledger};
    use crate::{Choice, Entry, Exhibit, Plan, Settings};

    fn with(column: &str, seed: u64, lambda: Lambda) -> Job {
        Job {
            column: column.parse().unwrap(),
            seed,
            lambda: Some(lambda),
            ..jobs(Row::FOpt).remove(0)
        }
    }

    /// Numbers of chains of the batches that a lane takes.
    fn batches(jobs: &[Job]) -> Vec<usize> {
        let (known, ledger) = (|| jobs.to_vec(), no_ledger());
        let queue = Queue::new(&known, &ledger, true);
        queue.admit(&[], |_| {}).unwrap();
        let next = || {
            let batch = queue.take(Taker::Lane, &AtomicBool::new(false))?;
            queue.admit(&batch, |_| {}).unwrap();
            Some(batch.len())
        };
        std::iter::from_fn(next).collect()
    }

    #[test]
    fn batches_hold_what_has_one_shape_and_no_more_runs_than_they_may() {
        let chains: Vec<Job> = (1..=3)
            .flat_map(|seed| [Row::Gft, Row::GftR].map(|row| (seed, row)))
            .map(|(seed, row)| Job {
                seed,
                ..jobs(row).remove(0)
            })
            .collect();
        assert_eq!(batches(&chains), [3]);
        // f2 and f3 have 500 rows of 5 inputs, f1 has 300.
        let zero = Lambda::Fixed(0.0);
        let mixed = ["f1-5", "f2-5", "f3-5"].map(|column| with(column, 1, zero));
        assert_eq!(batches(&mixed), [2, 1]);
        let many = |lambda: Lambda, seeds: u64| -> Vec<Job> {
            (1..=seeds).map(|seed| with("f1-5", seed, lambda)).collect()
        };
        assert_eq!(batches(&many(zero, 70)), [60, 10]);
        assert_eq!(batches(&many(Lambda::Auto, 11)), [10, 1]);
    }

    #[test]
    fn fits_follow_as_soon_as_their_lambda_is_chosen_and_gft_waits_for_gft_r() {
        let folder = std::env::temp_dir().join(format!("thinfit-queue-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        let (ledger, settings) = (Ledger::open(&folder).unwrap(), Settings::paper());
        let mut cells = Exhibit::Table(1).cells();
        cells.retain(|cell| {
            let rows = [Row::Gft, Row::GftR, Row::FOpt];
            rows.contains(&cell.row) && cell.column.name() == "f1-5"
        });
        cells.retain(|cell| cell.activation == Some(thinfit::Activation::Fourier));
        let plan = Plan {
            cells,
            seeds: vec![1],
            lambda: Choice::Validated,
        };
        let known = || plan.jobs(&settings, &ledger);
        let queue = Queue::new(&known, &ledger, true);
        let go = AtomicBool::new(false);
        let take = || queue.take(Taker::Lane, &go).unwrap();
        let record = |row: Row, batch: &[Chain]| {
            for job in batch.iter().flatten().filter(|job| job.row == row) {
                let entry = Entry {
                    mse: Some(1.0),
                    validation_mse: Some(1.0),
                    ..blank(job, 1.0)
                };
                ledger.add(&entry).unwrap();
            }
        };
        let admit = |finished: &[Chain]| {
            let mut new = Vec::new();
            queue
                .admit(finished, |jobs| new.extend_from_slice(jobs))
                .unwrap();
            new
        };
        assert_eq!(admit(&[]).len(), 18);
        let (generated, direct) = (take(), take());
        assert_eq!((generated.len(), generated[0].len()), (6, 2));
        assert_eq!((direct.len(), direct[0].len()), (6, 1));
        // GFT is done, GFT-r continues.
        record(Row::Gft, &generated);
        assert!(admit(&[]).is_empty());
        record(Row::FOpt, &direct);
        let new = admit(&direct);
        assert_eq!((new.len(), new[0].row), (1, Row::FOpt));
        record(Row::GftR, &generated);
        assert_eq!(admit(&generated).len(), 2);
        assert_eq!(take()[0].len(), 2, "one chain");
        assert!(admit(&[]).is_empty());
        // A stopped worker takes nothing, and has nothing to wait for.
        assert!(queue.take(Taker::Lane, &AtomicBool::new(true)).is_none());
        assert!(queue.take(Taker::Worker, &go).is_none());
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
