//! A pass over an out-of-core table that several processes may share, and that can go on where it was interrupted.

use super::out_of_core::{Block, OutOfCoreTable, Visitor};
use crate::Result;
use crate::executor::Executor;

/// A summary of rows: the summaries of two sets of rows merge into that of both.
pub trait Mergeable {
    /// The summary of no rows.
    fn empty(&self) -> Self
    where
        Self: Sized;

    /// Takes more rows.
    fn add(&mut self, block: Block<'_>);

    /// The summary as a message for another process.
    fn pack(&self) -> Vec<u64>;

    /// Adds the summary in the message of another process.
    ///
    /// # Errors
    /// A message that is not such a summary.
    fn merge(&mut self, message: &[u64]) -> Result<()>;
}

/// The summary of all rows of a table, of which every process reads a share; every process gets it.
///
/// `all` is the summary of the first `seen` rows. Where the table pauses, the first process hands the summary so far and the number of
/// rows seen to `keep`.
///
/// # Errors
/// Rows that cannot be read, a process that is gone, and those of `keep`.
pub fn shared_pass<F: Mergeable>(
    table: &dyn OutOfCoreTable,
    executor: &dyn Executor,
    (all, seen): (F, u64),
    keep: &mut dyn FnMut(&F, u64) -> Result<()>,
) -> Result<F> {
    let mut shared = Shared {
        own: all.empty(),
        all,
        seen,
        executor,
        keep,
    };
    table.pass(&mut shared)?;
    shared.share()?;
    Ok(shared.all)
}

/// A pass under way.
struct Shared<'a, F> {
    /// The rows of this process since the last pause.
    own: F,
    /// The rows of all processes before it.
    all: F,
    seen: u64,
    executor: &'a dyn Executor,
    keep: &'a mut dyn FnMut(&F, u64) -> Result<()>,
}

impl<F: Mergeable> Shared<'_, F> {
    /// Merges the summaries of all processes.
    fn share(&mut self) -> Result<()> {
        let merged = self.executor.merge(self.own.pack(), &|some, others| {
            let mut both = self.all.empty();
            both.merge(some)?;
            both.merge(others)?;
            Ok(both.pack())
        })?;
        self.all.merge(&merged)?;
        self.own = self.all.empty();
        Ok(())
    }
}

impl<F: Mergeable> Visitor for Shared<'_, F> {
    fn seen(&self) -> u64 {
        self.seen
    }

    fn take(&mut self, block: Block<'_>) -> Result<()> {
        self.own.add(block);
        Ok(())
    }

    fn pause(&mut self, seen: u64) -> Result<()> {
        self.share()?;
        match self.executor.rank() {
            0 => (self.keep)(&self.all, seen),
            _ => Ok(()),
        }
    }
}
