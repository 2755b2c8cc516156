//! The processes of an MPI job as a [`thinfit::pieces::Executor`]. MPI only transports the data; all decisions are made
//! elsewhere.
//!
//! Built with the feature `mpi` only.

#![cfg(feature = "mpi")]

use mpi::Threading;
use mpi::datatype::PartitionMut;
use mpi::environment::Universe;
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator, CommunicatorCollectives, Destination, Root, Source};
use thinfit::pieces::{Executor, Merge};
use thinfit::{Error, Result};

/// An MPI job, which ends when this is dropped.
pub struct Job {
    _universe: Universe,
    world: World,
}

impl Job {
    /// Joins the job that this process was started in; alone, it is a job of one rank. None if it was joined before.
    pub fn join() -> Option<Self> {
        // One thread at a time calls MPI, but not always the same one.
        let (universe, _) = mpi::initialize_with_threading(Threading::Serialized)?;
        let world = SimpleCommunicator::world();
        Some(Job {
            _universe: universe,
            world: World {
                rank: world.rank() as usize,
                size: world.size() as usize,
            },
        })
    }

    /// All ranks of the job.
    pub fn world(&self) -> &World {
        &self.world
    }
}

/// All ranks of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct World {
    rank: usize,
    size: usize,
}

impl World {
    /// Ends all ranks with this exit code, for a rank that cannot continue while the others would wait for it.
    pub fn abort(&self, code: i32) -> ! {
        SimpleCommunicator::world().abort(code)
    }
}

impl Executor for World {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn gather(&self, message: Vec<u64>) -> Result<Vec<Vec<u64>>> {
        gathered(message)
    }

    /// In pairs, then pairs of pairs, and back from the first rank to all: no rank holds the messages of more than two.
    fn merge(&self, message: Vec<u64>, merge: &Merge<'_>) -> Result<Vec<u64>> {
        let world = SimpleCommunicator::world();
        let mut words = message;
        for step in (0..).map(|k| 1 << k).take_while(|step| *step < self.size) {
            let process = |rank: usize| world.process_at_rank(rank as i32);
            if self.rank % (2 * step) == step {
                process(self.rank - step).send(&words[..]);
                break;
            }
            if self.rank + step < self.size {
                let (others, _) = process(self.rank + step).receive_vec();
                words = merge(&words, &others)?;
            }
        }
        let first = world.process_at_rank(0);
        let mut length = words.len() as u64;
        first.broadcast_into(&mut length);
        words.resize(length as usize, 0);
        first.broadcast_into(&mut words[..]);
        Ok(words)
    }
}

/// The words of all ranks, in their order.
fn gathered(mine: Vec<u64>) -> Result<Vec<Vec<u64>>> {
    let world = SimpleCommunicator::world();
    let mut counts = vec![0u64; world.size() as usize];
    world.all_gather_into(&(mine.len() as u64), &mut counts[..]);
    // MPI counts in 32 bits.
    let total: u64 = counts.iter().sum();
    if total > i32::MAX as u64 {
        return Err(Error::Data {
            what: "ranks",
            problem: format!("{total} numbers exceed the 2³¹ − 1 that MPI can gather"),
            advice: "use fewer ranks, or fewer inputs",
        });
    }
    let lengths: Vec<i32> = counts.iter().map(|count| *count as i32).collect();
    let starts = lengths.iter().scan(0, |next, length| {
        let start = *next;
        *next += length;
        Some(start)
    });
    let starts: Vec<i32> = starts.collect();
    let mut all = vec![0u64; total as usize];
    let mut parts = PartitionMut::new(&mut all[..], &lengths[..], &starts[..]);
    world.all_gather_varcount_into(&mine[..], &mut parts);
    let mut rest = &all[..];
    let mut take = |count: &u64| {
        let (words, others) = rest.split_at(*count as usize);
        rest = others;
        words.to_vec()
    };
    Ok(counts.iter().map(&mut take).collect())
}
