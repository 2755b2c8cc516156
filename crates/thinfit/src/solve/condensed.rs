//! Rows of a least squares problem, condensed: what is left of any number of them, in memory that does not grow.
//!
//! With the QR of \[A | y\] and its triangle \[R, z; 0, ρ\] the problem |A b − y|² is |R b − z|² + |ρ|²: p rows instead of q.
//! Triangles of several sets of rows are condensed again. Rows are taken in leaves of [`LEAF`] samples, and leaves are merged in a
//! binary tree that depends on their number alone, so that neither threads nor processes change a bit. Nothing is
//! squared: R has the singular values of A.

use super::stacked::{Form, roots, stack, stack_outputs};
use crate::Activation;
use crate::solve::householder::Qr;
use faer::{Mat, MatRef};
use rayon::prelude::*;

/// Samples of a leaf.
pub(crate) const LEAF: usize = 4096;
/// Leaves that wait for threads at once.
const GROUP: usize = 16;

/// Samples of a leaf: planes, outputs, weights.
pub(crate) type Leaf<'a> = (Mat<f64>, MatRef<'a, f64>, Option<&'a [f64]>);

/// What is left of some rows.
pub(crate) struct Condensed {
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
        let (mut tree, mut leaves) = (Tree::default(), leaves.peekable());
        while leaves.peek().is_some() {
            let group: Vec<Leaf<'_>> = leaves.by_ref().take(GROUP).collect();
            let leaf = |leaf: &Leaf<'_>| Condensed::leaf(activation, form, leaf);
            let condensed: Vec<Condensed> = group.par_iter().map(leaf).collect();
            condensed.into_iter().for_each(|leaf| tree.push(leaf));
        }
        tree.finish()
    }

    fn leaf(activation: Activation, form: Form, (e, y, weights): &Leaf<'_>) -> Self {
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

    /// The rows of both.
    fn merged(self, other: Condensed) -> Self {
        let both = self.noisy.zip(other.noisy);
        Condensed {
            all: triangle(stacked(&self.all, &other.all)),
            noisy: both.map(|(above, below)| triangle(stacked(&above, &below))),
            outputs: self.outputs,
        }
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

/// Leaves on their way: place k holds 2^k of them, as the digits of a binary counter.
#[derive(Default)]
struct Tree {
    places: Vec<Option<Condensed>>,
}

impl Tree {
    fn push(&mut self, leaf: Condensed) {
        let mut carried = leaf;
        for place in &mut self.places {
            match place.take() {
                Some(before) => carried = before.merged(carried),
                None => {
                    *place = Some(carried);
                    return;
                }
            }
        }
        self.places.push(Some(carried));
    }

    fn finish(self) -> Option<Condensed> {
        let places = self.places.into_iter().flatten();
        places.reduce(|later, before| before.merged(later))
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
