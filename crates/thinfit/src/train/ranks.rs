//! Sums over ranks: the seam for distributing the rows of a fit over several processes.
//!
//! Everything a training step needs from the rows is a sum over groups of rows, and there are three of them:
//! \[EᵀDE | EᵀDy\] before the solve, \[loss | db\] before the adjoint solve, and dw at the end. A [`Ranks`] holds some
//! of the groups and adds up those of all ranks; θ, z, w and Adam are the same on every rank.
//!
//! A fit to a long table needs two things more, each once: what every rank found in its rows, and what one has worked out for all.

use crate::math::columns::{column, column_mut};
use crate::{Error, Result};
use faer::reborrow::ReborrowMut;
use faer::{MatMut, MatRef};

/// Which entries of a matrix are summed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entries {
    /// All of them.
    All,
    /// Those on and below the diagonal.
    Lower,
}

/// A sum over the groups of rows of all ranks.
pub trait Ranks: Send + Sync {
    /// total += factor · part for every part of every rank, in the order of the groups.
    ///
    /// `parts` are those of this rank, one per group of rows (one in all for the sum of the weights) and all of the shape
    /// of `total`. The order is part of the contract: where all ranks together cut the rows into the groups that a single
    /// one would, the result is the same to the last bit.
    fn add<'a>(
        &self,
        parts: &mut dyn Iterator<Item = MatRef<'a, f64>>,
        entries: Entries,
        factor: f64,
        total: MatMut<'_, f64>,
    );

    /// The number of this rank, from 0.
    fn rank(&self) -> usize {
        0
    }

    /// How many ranks there are.
    fn size(&self) -> usize {
        1
    }

    /// The words of all ranks, in their order, to every one of them. All ranks call it, as often and in the same order.
    ///
    /// # Errors
    /// A rank that is gone.
    fn gather(&self, mine: Vec<u64>) -> Result<Vec<Vec<u64>>> {
        Ok(vec![mine])
    }

    /// The words of all ranks, merged, to every one of them; in what order must not matter. All ranks call it, as with
    /// [`Ranks::gather`].
    ///
    /// # Errors
    /// Those of `merge`, and a rank that is gone.
    fn merged(&self, mine: Vec<u64>, merge: &Merge<'_>) -> Result<Vec<u64>> {
        let mut all = self.gather(mine)?.into_iter();
        let first = all.next().unwrap_or_default();
        all.try_fold(first, |merged, words| merge(&merged, &words))
    }
}

/// Makes one of the words of two ranks.
pub type Merge<'a> = dyn Fn(&[u64], &[u64]) -> Result<Vec<u64>> + 'a;

/// The text that the first rank makes, to all of them.
///
/// # Errors
/// Those of making it, and a rank that is gone.
pub fn agreed(ranks: &dyn Ranks, make: impl FnOnce() -> Result<String>) -> Result<String> {
    let mine = match ranks.rank() {
        0 => make()?.into_bytes().iter().map(|b| u64::from(*b)).collect(),
        _ => Vec::new(),
    };
    let first = ranks.gather(mine)?.into_iter().next().unwrap_or_default();
    let bytes = first.iter().map(|word| *word as u8).collect();
    String::from_utf8(bytes).map_err(|_| Error::Shape {
        what: "what another process found",
        expected: "a text".into(),
        found: format!("{} other words", first.len()),
    })
}

/// One rank that holds all rows.
#[derive(Clone, Copy, Debug, Default)]
pub struct Solo;

impl Ranks for Solo {
    fn add<'a>(
        &self,
        parts: &mut dyn Iterator<Item = MatRef<'a, f64>>,
        entries: Entries,
        factor: f64,
        mut total: MatMut<'_, f64>,
    ) {
        for part in parts {
            add_scaled(total.rb_mut(), entries, factor, part);
        }
    }
}

/// total += factor · part, without the temporary that faer's operators would make.
pub(crate) fn add_scaled(
    mut total: MatMut<'_, f64>,
    entries: Entries,
    factor: f64,
    part: MatRef<'_, f64>,
) {
    for j in 0..total.ncols() {
        let first = if entries == Entries::Lower { j } else { 0 };
        let total = &mut column_mut(total.rb_mut(), j)[first..];
        for (total, &part) in total.iter_mut().zip(&column(part, j)[first..]) {
            *total += factor * part;
        }
    }
}

/// The sum of numbers, one per group of rows, over all ranks.
pub(crate) fn sum<'a>(ranks: &dyn Ranks, parts: impl Iterator<Item = &'a f64>) -> f64 {
    let number = |v: &'a f64| MatRef::from_column_major_slice(std::slice::from_ref(v), 1, 1);
    let mut total = [0.0];
    ranks.add(
        &mut parts.map(number),
        Entries::All,
        1.0,
        MatMut::from_column_major_slice_mut(&mut total, 1, 1),
    );
    total[0]
}
