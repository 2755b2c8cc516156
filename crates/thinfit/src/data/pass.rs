//! A pass over a long table, which several processes can share and which can be interrupted and continued.

use super::long::{Block, LongTable, Visitor};
use crate::Result;
use crate::ranks::Ranks;

/// The result of a pass over rows; results of disjoint rows can be merged.
pub trait Finding {
    /// The same of no rows.
    fn empty(&self) -> Self
    where
        Self: Sized;

    /// Takes more rows.
    fn add(&mut self, block: Block<'_>);

    /// The result, packed for another process.
    fn pack(&self) -> Vec<u64>;

    /// Reads what another process has packed.
    ///
    /// # Errors
    /// Other words.
    fn merge(&mut self, words: &[u64]) -> Result<()>;
}

/// The merged result of all ranks, each passing over its own rows; every rank gets it.
///
/// `all` is what was found in the first `seen` rows before. Where the table pauses, the first rank hands what is found so far and the
/// number of rows seen to `keep`.
///
/// # Errors
/// Rows that cannot be read, a rank that fails, and those of `keep`.
pub fn shared_pass<F: Finding>(
    table: &dyn LongTable,
    ranks: &dyn Ranks,
    (all, seen): (F, u64),
    keep: &mut dyn FnMut(&F, u64) -> Result<()>,
) -> Result<F> {
    let mut shared = Shared {
        mine: all.empty(),
        all,
        seen,
        ranks,
        keep,
    };
    table.pass(&mut shared)?;
    shared.share()?;
    Ok(shared.all)
}

/// A pass under way.
struct Shared<'a, F> {
    /// The result of this rank since the last pause, and of all ranks before.
    mine: F,
    all: F,
    seen: u64,
    ranks: &'a dyn Ranks,
    keep: &'a mut dyn FnMut(&F, u64) -> Result<()>,
}

impl<F: Finding> Shared<'_, F> {
    /// Merges the results of all ranks.
    fn share(&mut self) -> Result<()> {
        let words = self.ranks.merged(self.mine.pack(), &|some, others| {
            let mut both = self.all.empty();
            both.merge(some)?;
            both.merge(others)?;
            Ok(both.pack())
        })?;
        self.all.merge(&words)?;
        self.mine = self.all.empty();
        Ok(())
    }
}

impl<F: Finding> Visitor for Shared<'_, F> {
    fn seen(&self) -> u64 {
        self.seen
    }

    fn take(&mut self, block: Block<'_>) -> Result<()> {
        self.mine.add(block);
        Ok(())
    }

    fn pause(&mut self, seen: u64) -> Result<()> {
        self.share()?;
        match self.ranks.rank() {
            0 => (self.keep)(&self.all, seen),
            _ => Ok(()),
        }
    }
}
