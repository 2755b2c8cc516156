//! Tables of any length: rows that come in blocks, can be read repeatedly, and are never in memory all at once.

use super::Dataset;
use crate::{Error, Result};
use faer::MatRef;

/// Some rows of an out-of-core table.
#[derive(Clone, Copy, Debug)]
pub struct Block<'a> {
    /// The number of the first row among all rows of the table, from 0.
    pub first: u64,
    /// Inputs (rows × d).
    pub x: MatRef<'a, f64>,
    /// Outputs (rows × c).
    pub y: MatRef<'a, f64>,
}

impl<'a> Block<'a> {
    /// The values of row `i`, inputs first.
    pub(crate) fn values(&self, i: usize) -> impl Iterator<Item = &'a f64> + use<'a> {
        self.x.row(i).iter().chain(self.y.row(i).iter())
    }

    /// Whether row `i` counts: one with a gap, a number that is not finite, does not.
    pub(crate) fn is_complete(&self, i: usize) -> bool {
        self.values(i).all(|v| v.is_finite())
    }
}

/// A table whose rows come in blocks.
pub trait OutOfCoreTable {
    /// Names of the inputs (d).
    fn inputs(&self) -> &[String];

    /// Names of the outputs (c).
    fn outputs(&self) -> &[String];

    /// Gives the rows to a visitor in blocks of any length, in their order, and stops at its first error.
    ///
    /// Of a table that several processes share, each gives rows of its own, in runs that start at a multiple of [`LEAF`] and end
    /// before one, or with the table. Visitors skip rows with gaps, which keep their numbers.
    ///
    /// # Errors
    /// Rows that cannot be read, and the errors of the visitor.
    fn pass(&self, visitor: &mut dyn Visitor) -> Result<()>;
}

/// Receives the rows of a table in a pass.
pub trait Visitor {
    /// How many rows at the beginning of the table were processed before: a multiple of [`LEAF`]. The pass starts after them.
    fn seen(&self) -> u64 {
        0
    }

    /// Takes some rows.
    ///
    /// # Errors
    /// Any reason to stop the pass.
    fn take(&mut self, block: Block<'_>) -> Result<()>;

    /// The first `seen` rows, a multiple of [`LEAF`], have been given to some process: a point to synchronise and to save the state.
    /// If a table pauses, it does so for all processes alike.
    ///
    /// # Errors
    /// As of [`Visitor::take`].
    fn pause(&mut self, _seen: u64) -> Result<()> {
        Ok(())
    }
}

/// Rows that are factored together, and that no two processes share: 2¹².
pub const LEAF: u64 = 1 << 12;

impl OutOfCoreTable for Dataset {
    fn inputs(&self) -> &[String] {
        &self.inputs
    }

    fn outputs(&self) -> &[String] {
        &self.outputs
    }

    fn pass(&self, visitor: &mut dyn Visitor) -> Result<()> {
        if self.groups.is_some() {
            return Err(Error::Data {
                what: "groups",
                problem: format!(
                    "{} rows are too many for a search that divides no group: they are read in blocks, one row at a time",
                    self.samples()
                ),
                advice: "fit some of the groups, allow a larger budget, or fit a network, such as gft-r",
            });
        }
        let first = visitor.seen();
        let from = usize::try_from(first).map_or(self.samples(), |seen| seen.min(self.samples()));
        visitor.take(Block {
            first,
            x: self.x.as_ref().subrows(from, self.samples() - from),
            y: self.y.as_ref().subrows(from, self.samples() - from),
        })
    }
}
