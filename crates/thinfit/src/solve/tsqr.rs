//! Condensed rows of a least squares problem: the triangular factor of any number of rows, in constant memory (TSQR).
//!
//! With the QR of \[A | y\] and its triangle \[R, z; 0, ρ\] the problem |A b − y|² is |R b − z|² + |ρ|²: p rows
//! instead of q. Triangles of several sets of rows are condensed again. Rows are reduced in leaves of
//! [`LEAF`](crate::LEAF) samples, and leaves are merged in a binary tree that depends on their number alone, so that
//! the bits depend on neither threads nor processes. Nothing is squared: R has the singular values of A.

use super::stacked::{Form, roots, stack_both};
use super::tsqr_triangle::Triangle;
use crate::data::out_of_core::LEAF;
use crate::data::rows::Rows;
use crate::math::columns::column;
use crate::math::wire::{Reader, Writer, foreign};
use crate::{Activation, Result};
use faer::Mat;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ops::Range;

/// Samples whose rows are computed and reduced together: so many fit into the cache.
const SOME: usize = 512;

/// Columns that rows of another process may have, and levels of its tree: 2⁵⁰ leaves.
const COLUMNS: usize = 1 << 20;
const LEVELS: u64 = 50;

/// Some rows, condensed.
#[derive(Clone, Debug, PartialEq)]
pub struct TsqrFactor {
    /// The triangle of \[A | y\].
    all: Triangle,
    /// The same of those rows of A that carry the noise of y, Re(A b), where they are not all.
    noisy: Option<Triangle>,
    /// Columns of y.
    outputs: usize,
}

impl TsqrFactor {
    /// Factors samples leaf by leaf, on all threads; `planes` makes E of some of them. None without samples.
    pub(crate) fn new(
        activation: Activation,
        form: Form,
        rows: &Rows<'_>,
        planes: impl Fn(&Rows<'_>) -> Mat<f64> + Sync,
    ) -> Option<Self> {
        let leaf = |k: u64| {
            let start = (k * LEAF) as usize;
            let leaf = rows.slice(start, (LEAF as usize).min(rows.len() - start));
            TsqrFactor::leaf(activation, form, &leaf, &planes)
        };
        TsqrTree::of(0..(rows.len() as u64).div_ceil(LEAF), &leaf).finish()
    }

    /// Factors the samples of one leaf.
    pub(crate) fn leaf(
        activation: Activation,
        form: Form,
        rows: &Rows<'_>,
        planes: impl Fn(&Rows<'_>) -> Mat<f64>,
    ) -> Self {
        let (outputs, mut noisy) = (rows.y.ncols(), None::<Triangle>);
        let all = taken_in(rows, |some| {
            let (e, roots) = (planes(some), roots(some.weights));
            let both = stack_both(activation, form, e.as_ref(), some.y, roots.as_deref());
            let (m, p) = (some.len(), both.ncols() - outputs);
            // The rows of Re(A b) come first.
            if activation.is_complex() && form == Form::Complex {
                let noisy = noisy.get_or_insert_with(|| Triangle::new(p));
                noisy.take(both.submatrix(0, 0, m, p).to_owned().as_mut());
            }
            both
        });
        TsqrFactor {
            all,
            noisy,
            outputs,
        }
    }

    /// Factors what `of` makes of some samples at a time, without outputs.
    pub(crate) fn rows(rows: &Rows<'_>, of: impl Fn(&Rows<'_>) -> Mat<f64>) -> Self {
        TsqrFactor {
            all: taken_in(rows, of),
            noisy: None,
            outputs: 0,
        }
    }

    /// The triangle, or the rows as long as they are fewer than its columns.
    pub(crate) fn into_matrix(self) -> Mat<f64> {
        self.all.into_matrix()
    }

    /// Whether both are rows of one problem.
    fn is_like(&self, other: &TsqrFactor) -> bool {
        let shape = |rows: &TsqrFactor| {
            (
                rows.all.as_ref().ncols(),
                rows.outputs,
                rows.noisy.is_some(),
            )
        };
        shape(self) == shape(other)
    }

    /// The rows of both.
    fn followed_by(self, next: TsqrFactor) -> Self {
        let both = self.noisy.zip(next.noisy);
        TsqrFactor {
            all: self.all.followed_by(next.all),
            noisy: both.map(|(noisy, next)| noisy.followed_by(next)),
            outputs: self.outputs,
        }
    }

    fn pack_into(&self, writer: &mut Writer) {
        let matrix = |writer: &mut Writer, triangle: &Triangle| {
            let a = triangle.as_ref();
            writer.words(&[a.nrows() as u64, a.ncols() as u64]);
            (0..a.ncols()).for_each(|j| writer.numbers(column(a, j)));
        };
        writer.words(&[self.outputs as u64, u64::from(self.noisy.is_some())]);
        matrix(writer, &self.all);
        self.noisy.iter().for_each(|noisy| matrix(writer, noisy));
    }

    fn unpack_from(reader: &mut Reader<'_>) -> Option<Self> {
        let [outputs, noisy] = reader.words()?;
        let mut matrix = || {
            let [rows, columns] = reader.words()?.map(|n| n as usize);
            // Without rows, nothing says how many columns are too many.
            let numbers = reader.numbers(rows.checked_mul(columns)?)?;
            (columns <= COLUMNS).then_some(())?;
            let matrix = Mat::from_fn(rows, columns, |i, j| numbers[j * rows + i]);
            (rows <= columns).then(|| Triangle::from_matrix(matrix))
        };
        let all: Triangle = matrix()?;
        let noisy = if noisy == 1 { Some(matrix()?) } else { None };
        let outputs = usize::try_from(outputs).ok()?;
        let features = all.as_ref().ncols().checked_sub(outputs)?;
        let alike = |noisy: &Triangle| noisy.as_ref().ncols() == features;
        noisy.as_ref().is_none_or(alike).then_some(TsqrFactor {
            all,
            noisy,
            outputs,
        })
    }

    /// R and z, and the triangle of the rows that carry noise; rows of their own where there are too few.
    pub(super) fn parts(self) -> Parts {
        let all = self.all.as_ref();
        let p = all.ncols() - self.outputs;
        let is_triangle = all.nrows() == all.ncols();
        let rows = if is_triangle { p } else { all.nrows() };
        let a = all.submatrix(0, 0, rows, p).to_owned();
        Parts {
            y: all.submatrix(0, p, rows, self.outputs).to_owned(),
            noisy: self.noisy.map_or_else(|| a.clone(), Triangle::into_matrix),
            a,
        }
    }
}

/// The triangle of the rows that `of` makes of some samples at a time.
fn taken_in(rows: &Rows<'_>, mut of: impl FnMut(&Rows<'_>) -> Mat<f64>) -> Triangle {
    let mut make = |start: usize| of(&rows.slice(start, SOME.min(rows.len() - start)));
    let mut first = make(0);
    let mut triangle = Triangle::new(first.ncols());
    triangle.take(first.as_mut());
    for start in (SOME..rows.len()).step_by(SOME) {
        triangle.take(make(start).as_mut());
    }
    triangle
}

/// A problem of few rows with the solution and the covariance of many.
pub(super) struct Parts {
    /// R (rows × p).
    pub a: Mat<f64>,
    /// z (rows × c).
    pub y: Mat<f64>,
    /// RᵀR of the rows that carry noise.
    pub noisy: Mat<f64>,
}

/// Pending leaves: nodes of a binary tree over the leaves, each with 2^level of them, merged as soon as both halves are there.
#[derive(Default)]
pub(crate) struct TsqrTree {
    /// By the number of the first leaf.
    nodes: BTreeMap<u64, (u32, TsqrFactor)>,
}

impl TsqrTree {
    /// The tree of these leaves, made on all threads. Merges wait for no other leaf than their own, and few are in memory at a time.
    pub fn of(leaves: Range<u64>, leaf: &(impl Fn(u64) -> TsqrFactor + Sync)) -> Self {
        let mut tree = TsqrTree::default();
        match leaves.end.saturating_sub(leaves.start) {
            0 => {}
            1 => tree.add(leaves.start, leaf(leaves.start)),
            count => {
                // Where the tree has its highest node.
                let half = (count - 1).ilog2();
                let cut = (leaves.start + 1).next_multiple_of(1 << half);
                let cut = if cut < leaves.end {
                    cut
                } else {
                    leaves.start + count / 2
                };
                let (before, after) = rayon::join(
                    || TsqrTree::of(leaves.start..cut, leaf),
                    || TsqrTree::of(cut..leaves.end, leaf),
                );
                tree.take(before);
                tree.take(after);
            }
        }
        tree
    }

    /// Adds leaf number `leaf`; they may come in any order.
    pub fn add(&mut self, leaf: u64, rows: TsqrFactor) {
        self.insert(leaf, 0, rows);
    }

    fn insert(&mut self, mut first: u64, mut level: u32, mut rows: TsqrFactor) {
        loop {
            let other = first ^ (1 << level);
            match self.nodes.entry(other) {
                Entry::Occupied(node) if node.get().0 == level => {
                    let (_, node) = node.remove();
                    rows = match other < first {
                        true => node.followed_by(rows),
                        false => rows.followed_by(node),
                    };
                    (first, level) = (first.min(other), level + 1);
                }
                _ => break,
            }
        }
        self.nodes.insert(first, (level, rows));
    }

    /// Adds the leaves of another tree.
    pub fn take(&mut self, other: TsqrTree) {
        for (first, (level, rows)) in other.nodes {
            self.insert(first, level, rows);
        }
    }

    /// Whether all rows have so many columns, of which the last are outputs.
    pub fn has_columns(&self, columns: usize, outputs: usize) -> bool {
        let mut nodes = self.nodes.values().map(|(_, rows)| rows);
        nodes.all(|rows| (rows.all.as_ref().ncols(), rows.outputs) == (columns, outputs))
    }

    /// All rows; none without leaves.
    pub fn finish(self) -> Option<TsqrFactor> {
        let nodes = self.nodes.into_values().rev().map(|(_, rows)| rows);
        nodes.reduce(|later, before| before.followed_by(later))
    }

    /// The tree, packed for another process.
    pub fn pack(&self) -> Vec<u64> {
        let mut writer = Writer::default();
        for (first, (level, rows)) in &self.nodes {
            writer.words(&[*first, u64::from(*level)]);
            rows.pack_into(&mut writer);
        }
        writer.into_words()
    }

    /// Adds the tree that another process has packed.
    pub fn unpack(&mut self, words: &[u64]) -> Result<()> {
        let mut reader = Reader::new(words);
        while !reader.is_empty() {
            let node = reader.words().zip(TsqrFactor::unpack_from(&mut reader));
            let node = node.filter(|([first, level], rows)| {
                // A node of 2^level leaves starts at a multiple of it, and all have the same columns.
                *level < LEVELS
                    && first.is_multiple_of(1 << level)
                    && first >> LEVELS == 0
                    && !self.nodes.contains_key(first)
                    && self.nodes.values().all(|(_, other)| other.is_like(rows))
            });
            let ([first, level], rows) =
                node.ok_or_else(|| foreign("triangular factors", words))?;
            self.insert(first, level as u32, rows);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `count` leaves of `rows` rows of a real activation (3 columns, 2 outputs).
    fn parts(count: usize, rows: usize, threads: usize) -> Parts {
        let y = Mat::from_fn(count * rows, 2, |i, o| ((i + o) as f64).cos());
        let x = Mat::from_fn(count * rows, 3, |i, j| ((31 * i + 7 * j) as f64).sin());
        let all = Rows {
            x: x.as_ref(),
            y: y.as_ref(),
            weights: None,
        };
        let leaf = |k: u64| {
            let leaf = all.slice(k as usize * rows, rows);
            TsqrFactor::leaf(Activation::Tanh, Form::Real, &leaf, |some| {
                some.x.to_owned()
            })
        };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        let of = || TsqrTree::of(0..count as u64, &leaf).finish();
        pool.build().unwrap().install(of).unwrap().parts()
    }

    #[test]
    fn threads_change_no_bit() {
        for count in [1, 5, 16, 37] {
            let [one, two] = [1, 2].map(|threads| parts(count, 50, threads));
            assert!(one.a == two.a && one.y == two.y && one.noisy == two.noisy);
        }
    }

    #[test]
    fn trees_are_alike_however_their_leaves_come() {
        let leaf = |k: u64| {
            let rows = Mat::from_fn(3, 2, |i, j| ((7 * k as usize + 3 * i + 2 * j) as f64).sin());
            let none = Mat::zeros(3, 0);
            let rows = Rows {
                x: rows.as_ref(),
                y: none.as_ref(),
                weights: None,
            };
            TsqrFactor::rows(&rows, |some| some.x.to_owned())
        };
        for (from, to) in [(0, 1), (0, 7), (0, 32), (5, 23), (12, 17), (31, 33)] {
            let mut one_by_one = TsqrTree::default();
            (from..to).rev().for_each(|k| one_by_one.add(k, leaf(k)));
            let at_once = TsqrTree::of(from..to, &leaf);
            assert!(one_by_one.finish() == at_once.finish(), "{from} {to}");
        }
    }

    #[test]
    fn few_rows_are_all_kept() {
        // Four rows: more than columns, fewer than columns and outputs.
        let few = parts(2, 2, 1);
        assert_eq!((few.a.nrows(), few.y.nrows()), (4, 4));
        assert_eq!(parts(3, 2, 1).a.nrows(), 3);
        assert!(TsqrTree::of(0..0, &|_| unreachable!()).finish().is_none());
    }
}
