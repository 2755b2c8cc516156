//! Sums over ranks: the seam for distributing the rows of a fit over several processes.
//!
//! Everything a training step needs from the rows is a sum over groups of rows, and there are three of them:
//! \[EᵀDE | EᵀDy\] before the solve, \[loss | db\] before the adjoint solve, and dw at the end. A [`Ranks`] holds some
//! of the groups and adds up those of all ranks; θ, z, w and Adam are the same on every rank.
//!
//! A fit to a long table needs two things more: what all ranks found in their rows, and what one has worked out for all.
//! Work that is independent, such as the runs of several λ, is spread over the ranks in whole pieces ([`shared`]).

use crate::math::columns::{column, column_mut};
use crate::math::parcel::{Opened, Parcel};
use crate::{Error, Result};
use faer::reborrow::ReborrowMut;
use faer::{MatMut, MatRef};
use serde::Serialize;
use serde::de::DeserializeOwned;

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
        0 => make()?,
        _ => String::new(),
    };
    Ok(texts(ranks, &mine)?.swap_remove(0))
}

/// The texts of all ranks, in their order, to every one of them.
///
/// # Errors
/// A rank that is gone.
pub fn texts(ranks: &dyn Ranks, mine: &str) -> Result<Vec<String>> {
    let bytes = mine.as_bytes().chunks(8);
    let packed = bytes.map(|bytes| {
        let mut word = [0; 8];
        word[..bytes.len()].copy_from_slice(bytes);
        u64::from_le_bytes(word)
    });
    let mut parcel = Parcel::default();
    parcel.words(&[mine.len() as u64]);
    packed.for_each(|word| parcel.words(&[word]));
    let unpacked = |words: Vec<u64>| {
        let words = Opened::sealed(&words)?.rest();
        let (length, words) = words.split_first().unwrap_or((&0, &[]));
        let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        bytes.truncate(usize::try_from(*length).unwrap_or(usize::MAX));
        String::from_utf8(bytes).map_err(|_| foreign(format!("{} other words", words.len())))
    };
    let all = ranks.gather(parcel.sealed())?;
    all.into_iter().map(unpacked).collect()
}

/// The results of `count` independent pieces of work, in their order, to every rank: each does those at its own places, which `work`
/// is given, and gets the others as what they were written as. Alone, it does all of them, and nothing is written.
///
/// All ranks call it, as often and in the same order. One that fails does not come to the meeting; who has started the ranks must end
/// the others.
///
/// # Errors
/// Those of the work, and a rank that is gone.
pub fn shared<T: Serialize + DeserializeOwned>(
    ranks: &dyn Ranks,
    count: usize,
    work: impl FnOnce(Vec<usize>) -> Result<Vec<T>>,
) -> Result<Vec<T>> {
    let size = ranks.size();
    let mine = work((ranks.rank()..count).step_by(size).collect())?;
    if size == 1 {
        return Ok(mine);
    }
    let mine = serde_json::to_string(&mine).map_err(|error| foreign(error.to_string()))?;
    let read = |text: String| serde_json::from_str(&text).map_err(|e| foreign(e.to_string()));
    let of_each: Result<Vec<Vec<T>>> = texts(ranks, &mine)?.into_iter().map(read).collect();
    let mut of_each: Vec<_> = of_each?.into_iter().map(Vec::into_iter).collect();
    let all = (0..count).map(|place| of_each[place % size].next());
    let missing = || foreign("fewer results than pieces of work".into());
    all.collect::<Option<Vec<T>>>().ok_or_else(missing)
}

/// Whether any rank says so, to every one of them.
///
/// # Errors
/// A rank that is gone.
pub fn any(ranks: &dyn Ranks, mine: bool) -> Result<bool> {
    let all = ranks.gather(vec![u64::from(mine)])?;
    Ok(all.iter().flatten().any(|word| *word > 0))
}

/// The error of a message that another build may have written.
fn foreign(found: String) -> Error {
    Error::Shape {
        what: "what another process found",
        expected: "what this build writes".into(),
        found,
    }
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
