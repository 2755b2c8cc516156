//! Rows of a least squares problem, condensed: what is left of any number of them, in memory that does not grow.
//!
//! With the QR of \[A | y\] and its triangle \[R, z; 0, ρ\] the problem |A b − y|² is |R b − z|² + |ρ|²: p rows instead of q.
//! Triangles of several sets of rows are condensed again. Rows are taken in leaves of [`LEAF`](crate::LEAF) samples, and leaves are merged in a
//! binary tree that depends on their number alone, so that neither threads nor processes change a bit. Nothing is
//! squared: R has the singular values of A.

use super::stacked::{Form, roots, stack, stack_outputs};
use crate::math::parcel::{Opened, Parcel};
use crate::solve::householder::Qr;
use crate::{Activation, Error, Result};
use faer::{Mat, MatRef};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// Leaves that wait for threads at once.
pub(crate) const GROUP: usize = 16;

/// Samples of a leaf: planes, outputs, weights.
pub(crate) type Leaf<'a> = (Mat<f64>, MatRef<'a, f64>, Option<&'a [f64]>);

/// What is left of some rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Condensed {
    /// The triangle of \[A | y\], or its rows as long as they are fewer than its columns.
    all: Mat<f64>,
    /// The same of those rows of A that carry the noise of y, Re(A b), where they are not all.
    noisy: Option<Mat<f64>>,
    /// Columns of y.
    outputs: usize,
}

impl Condensed {
    /// Condenses samples that come in leaves, in any number; none if there are no leaves.
    pub(crate) fn new<'a>(
        activation: Activation,
        form: Form,
        leaves: impl Iterator<Item = Leaf<'a>>,
    ) -> Option<Self> {
        let (mut tree, mut leaves) = (Tree::default(), leaves.zip(0..).peekable());
        while leaves.peek().is_some() {
            let group: Vec<(Leaf<'_>, u64)> = leaves.by_ref().take(GROUP).collect();
            let leaf = |(leaf, k): &(Leaf<'_>, u64)| (*k, Condensed::leaf(activation, form, leaf));
            let condensed: Vec<(u64, Condensed)> = group.par_iter().map(leaf).collect();
            condensed
                .into_iter()
                .for_each(|(k, leaf)| tree.add(k, leaf));
        }
        tree.finish()
    }

    /// Condenses the samples of one leaf.
    pub(crate) fn leaf(activation: Activation, form: Form, (e, y, weights): &Leaf<'_>) -> Self {
        let roots = roots(*weights);
        let a = stack(activation, form, e.as_ref(), roots.as_deref(), 0);
        let z = stack_outputs(*y, roots.as_deref(), a.nrows());
        let (p, c) = (a.ncols(), z.ncols());
        let mut both = Mat::zeros(a.nrows(), p + c);
        both.as_mut().subcols_mut(0, p).copy_from(&a);
        both.as_mut().subcols_mut(p, c).copy_from(&z);
        let noisy = (a.nrows() > y.nrows()).then(|| a.subrows(0, y.nrows()).to_owned());
        Condensed {
            all: triangle(both),
            noisy: noisy.map(triangle),
            outputs: c,
        }
    }

    /// Condenses rows as they are, without outputs.
    pub(crate) fn rows(rows: Mat<f64>) -> Self {
        Condensed {
            all: triangle(rows),
            noisy: None,
            outputs: 0,
        }
    }

    /// The triangle, or the rows as long as they are fewer than its columns.
    pub(crate) fn into_matrix(self) -> Mat<f64> {
        self.all
    }

    /// The rows of both.
    fn merged(self, other: Condensed) -> Self {
        let both = self.noisy.zip(other.noisy);
        Condensed {
            all: triangle(stacked(&self.all, &other.all)),
            noisy: both.map(|(above, below)| triangle(stacked(&above, &below))),
            outputs: self.outputs,
        }
    }

    fn pack_into(&self, parcel: &mut Parcel) {
        let matrix = |parcel: &mut Parcel, a: &Mat<f64>| {
            parcel.words(&[a.nrows() as u64, a.ncols() as u64]);
            (0..a.ncols()).for_each(|j| parcel.numbers(a.col_as_slice(j)));
        };
        parcel.words(&[self.outputs as u64, u64::from(self.noisy.is_some())]);
        matrix(parcel, &self.all);
        self.noisy.iter().for_each(|noisy| matrix(parcel, noisy));
    }

    fn unpack_from(parcel: &mut Opened<'_>) -> Option<Self> {
        let [outputs, noisy] = parcel.words()?;
        let mut matrix = || {
            let [rows, columns] = parcel.words()?.map(|n| n as usize);
            let numbers = parcel.numbers(rows.checked_mul(columns)?)?;
            Some(Mat::from_fn(rows, columns, |i, j| numbers[j * rows + i]))
        };
        Some(Condensed {
            all: matrix()?,
            noisy: if noisy == 1 { Some(matrix()?) } else { None },
            outputs: outputs as usize,
        })
    }

    /// R and z, and the triangle of the rows that carry noise; rows of their own where there are too few.
    pub(super) fn parts(self) -> Parts {
        let p = self.all.ncols() - self.outputs;
        let is_triangle = self.all.nrows() == self.all.ncols();
        let rows = if is_triangle { p } else { self.all.nrows() };
        let r = self.all.as_ref().submatrix(0, 0, rows, p).to_owned();
        Parts {
            y: self
                .all
                .as_ref()
                .submatrix(0, p, rows, self.outputs)
                .to_owned(),
            noisy: self.noisy.unwrap_or_else(|| r.clone()),
            a: r,
        }
    }
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

/// Leaves on their way: nodes of a binary tree over the leaves, each of 2^level of them, merged as soon as both halves are there.
#[derive(Default)]
pub(crate) struct Tree {
    /// By the number of the first leaf.
    nodes: BTreeMap<u64, (u32, Condensed)>,
}

impl Tree {
    /// Adds leaf number `leaf`; they may come in any order.
    pub fn add(&mut self, leaf: u64, rows: Condensed) {
        self.insert(leaf, 0, rows);
    }

    fn insert(&mut self, mut first: u64, mut level: u32, mut rows: Condensed) {
        loop {
            let other = first ^ (1 << level);
            match self.nodes.entry(other) {
                Entry::Occupied(node) if node.get().0 == level => {
                    let (_, node) = node.remove();
                    rows = match other < first {
                        true => node.merged(rows),
                        false => rows.merged(node),
                    };
                    (first, level) = (first.min(other), level + 1);
                }
                _ => break,
            }
        }
        self.nodes.insert(first, (level, rows));
    }

    /// Adds the leaves of another tree.
    pub fn take(&mut self, other: Tree) {
        for (first, (level, rows)) in other.nodes {
            self.insert(first, level, rows);
        }
    }

    /// All rows; none without leaves.
    pub fn finish(self) -> Option<Condensed> {
        let nodes = self.nodes.into_values().rev().map(|(_, rows)| rows);
        nodes.reduce(|later, before| before.merged(later))
    }

    /// The tree as words, for another process.
    pub fn pack(&self) -> Vec<u64> {
        let mut parcel = Parcel::default();
        for (first, (level, rows)) in &self.nodes {
            parcel.words(&[*first, u64::from(*level)]);
            rows.pack_into(&mut parcel);
        }
        parcel.into_words()
    }

    /// Adds the tree that another process has packed.
    pub fn unpack(&mut self, words: &[u64]) -> Result<()> {
        let mut parcel = Opened::new(words);
        while !parcel.is_empty() {
            let node = parcel.words().zip(Condensed::unpack_from(&mut parcel));
            let ([first, level], rows) = node.ok_or_else(|| Error::Shape {
                what: "what another process found",
                expected: "condensed rows".into(),
                found: format!("{} other words", words.len()),
            })?;
            self.insert(first, level.min(63) as u32, rows);
        }
        Ok(())
    }
}

/// The triangle of the QR of `a`, or `a` itself where it has fewer rows than columns.
fn triangle(a: Mat<f64>) -> Mat<f64> {
    match a.nrows() < a.ncols() {
        true => a,
        false => Qr::new(a).triangle(),
    }
}

fn stacked(above: &Mat<f64>, below: &Mat<f64>) -> Mat<f64> {
    let mut both = Mat::zeros(above.nrows() + below.nrows(), above.ncols());
    both.as_mut().subrows_mut(0, above.nrows()).copy_from(above);
    both.as_mut()
        .subrows_mut(above.nrows(), below.nrows())
        .copy_from(below);
    both
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `count` leaves of `rows` rows of a real activation (3 columns, 2 outputs).
    fn leaves(y: &[Mat<f64>], rows: usize) -> impl Iterator<Item = Leaf<'_>> {
        y.iter().enumerate().map(move |(k, y)| {
            let entry = |i: usize, j: usize| ((31 * (k * rows + i) + 7 * j) as f64).sin();
            (Mat::from_fn(rows, 3, entry), y.as_ref(), None)
        })
    }

    fn outputs(count: usize, rows: usize) -> Vec<Mat<f64>> {
        let of = |k: usize| Mat::from_fn(rows, 2, |i, o| ((k * rows + i + o) as f64).cos());
        (0..count).map(of).collect()
    }

    fn condensed(count: usize, rows: usize, threads: usize) -> Parts {
        let (y, pool) = (outputs(count, rows), rayon::ThreadPoolBuilder::new());
        let pool = pool.num_threads(threads).build().unwrap();
        let of = || Condensed::new(Activation::Tanh, Form::Real, leaves(&y, rows));
        pool.install(of).unwrap().parts()
    }

    #[test]
    fn threads_change_no_bit() {
        for count in [1, 5, 16, 37] {
            let [one, two] = [1, 2].map(|threads| condensed(count, 50, threads));
            assert!(one.a == two.a && one.y == two.y && one.noisy == two.noisy);
        }
    }

    #[test]
    fn few_rows_are_all_kept() {
        // Four rows: more than columns, fewer than columns and outputs.
        let few = condensed(2, 2, 1);
        assert_eq!((few.a.nrows(), few.y.nrows()), (4, 4));
        assert_eq!(condensed(3, 2, 1).a.nrows(), 3);
        let none = Condensed::new(Activation::Tanh, Form::Real, leaves(&[], 1));
        assert!(none.is_none());
    }
}
