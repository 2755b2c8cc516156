//! Pruning by magnitude: solve a least squares problem, drop the columns with small coefficients, repeat.
//!
//! Dimensions: `m` training rows, `p` columns left, `c` outputs. There are two solvers. [`Gram`] approximates minimal
//! norm by a small ridge. While p ≥ m it solves with AAᵀ, from which a pruning subtracts the dropped columns, and then
//! with AᵀA, of which it keeps the rows and columns that stay; so a Gram matrix is formed twice and not once per size.
//! [`Krylov`] takes steps of LSQR. What the columns are is up to the caller.

use crate::least_squares::solve;
use crate::lsqr::lsqr;
use faer::perm::swap_cols_idx;
use faer::traits::ComplexField;
use faer::{Mat, MatRef, c64};
use thinfit::Result;
use thinfit::pieces::{adjoint_product, lower_product, product, quantile};

/// A least squares problem that can drop columns.
pub(crate) trait System<T> {
    /// Coefficients of the remaining columns, p × c.
    fn coefficients(&mut self) -> Result<Mat<T>>;
    /// Swaps pairs of columns, then keeps the first `count`.
    fn keep(&mut self, swaps: &[(usize, usize)], count: usize);
}

/// Fits and prunes in turn; returns the smallest error on the held-out rows and the columns it was reached with.
pub(crate) fn prune<T: ComplexField<Real = f64>>(
    system: &mut impl System<T>,
    mut held: Mat<T>,
    y: MatRef<'_, T>,
    rate: f64,
    steps: usize,
) -> Result<(f64, Vec<usize>)> {
    let mut columns: Vec<usize> = (0..held.ncols()).collect();
    let mut best = (f64::INFINITY, columns.clone());
    for step in 0.. {
        let coefficients = system.coefficients()?;
        let residual = product(held.as_ref(), coefficients.as_ref()) - y;
        let error = residual.squared_norm_l2() / y.nrows() as f64;
        if error < best.0 {
            best = (error, columns.clone());
        }
        if step == steps || columns.len() == 1 {
            break;
        }
        let magnitudes: Vec<f64> = (0..columns.len())
            .map(|j| coefficients.row(j).norm_l2())
            .collect();
        let threshold = quantile(magnitudes.clone(), rate);
        let stays = |&j: &usize| magnitudes[j] > threshold;
        let count = (0..columns.len()).filter(stays).count();
        // If all magnitudes are equal, none is above the threshold.
        if count == 0 {
            break;
        }
        // Move as few columns as possible to the front: a copy would take longer than much of the algebra.
        let gaps = (0..count).filter(|j| !stays(j));
        let swaps: Vec<(usize, usize)> = gaps.zip((count..columns.len()).filter(stays)).collect();
        system.keep(&swaps, count);
        cut(&mut held, &swaps, count);
        swaps.iter().for_each(|&(i, j)| columns.swap(i, j));
        columns.truncate(count);
    }
    Ok(best)
}

/// Minimal norm by a ridge l·m and the smaller Gram matrix.
pub(crate) struct Gram<'a> {
    a: Mat<f64>,
    y: MatRef<'a, f64>,
    l: f64,
    /// Lower triangle of AAᵀ while p ≥ m, of AᵀA afterwards.
    gram: Mat<f64>,
    /// How often the ridge was raised so far.
    pub raised: usize,
}

impl<'a> Gram<'a> {
    pub fn new(a: Mat<f64>, y: MatRef<'a, f64>, l: f64) -> Self {
        let gram = smaller(&a);
        Gram {
            a,
            y,
            l,
            gram,
            raised: 0,
        }
    }
}

/// The lower triangle of AᵀA or AAᵀ, whichever is smaller.
fn smaller(a: &Mat<f64>) -> Mat<f64> {
    if a.ncols() < a.nrows() {
        lower_product(a.transpose(), a.as_ref())
    } else {
        lower_product(a.as_ref(), a.transpose())
    }
}

impl System<f64> for Gram<'_> {
    fn coefficients(&mut self) -> Result<Mat<f64>> {
        let (a, m, p) = (self.a.as_ref(), self.a.nrows(), self.a.ncols());
        let shift = self.l * m as f64;
        let solve = |b: MatRef<'_, f64>| solve(self.gram.as_ref(), shift, b);
        let (b, raised) = if p < m {
            let solved = solve(adjoint_product(a, self.y).as_ref())?;
            (solved.b, solved.raised)
        } else {
            let alpha = solve(self.y)?;
            (adjoint_product(a, alpha.b.as_ref()), alpha.raised)
        };
        self.raised += raised;
        Ok(b)
    }

    fn keep(&mut self, swaps: &[(usize, usize)], count: usize) {
        let (m, p) = (self.a.nrows(), self.a.ncols());
        if p < m {
            let mut order: Vec<usize> = (0..p).collect();
            swaps.iter().for_each(|&(i, j)| order.swap(i, j));
            self.gram = Mat::from_fn(count, count, |i, j| {
                self.gram[(order[i].max(order[j]), order[i].min(order[j]))]
            });
            return cut(&mut self.a, swaps, count);
        }
        cut(&mut self.a, swaps, p);
        let dropped = self.a.as_ref().subcols(count, p - count);
        if count >= m && 2 * count >= p {
            self.gram -= lower_product(dropped, dropped.transpose());
            self.a.truncate(m, count);
        } else {
            self.a.truncate(m, count);
            self.gram = smaller(&self.a);
        }
    }
}

/// The least-squares solution by a hundred steps of LSQR.
pub(crate) struct Krylov(pub Mat<c64>, pub Mat<c64>);

impl Krylov {
    pub fn coefficients(&self) -> Mat<c64> {
        lsqr(self.0.as_ref(), self.1.as_ref(), 100)
    }
}

impl System<c64> for Krylov {
    fn coefficients(&mut self) -> Result<Mat<c64>> {
        Ok(Krylov::coefficients(self))
    }

    fn keep(&mut self, swaps: &[(usize, usize)], count: usize) {
        cut(&mut self.0, swaps, count);
    }
}

/// Swaps pairs of columns, then keeps the first `count`.
fn cut<T: Clone>(a: &mut Mat<T>, swaps: &[(usize, usize)], count: usize) {
    for &(i, j) in swaps {
        swap_cols_idx(a.as_mut(), i, j);
    }
    a.truncate(a.nrows(), count);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::least_squares::ridge;

    #[test]
    fn a_pruned_gram_matrix_is_that_of_the_remaining_columns() {
        let a = Mat::from_fn(20, 60, |i, j| ((i * i + 3 * i * j + j) as f64).sin());
        let y = Mat::from_fn(20, 1, |i, _| i as f64);
        let mut system = Gram::new(a.clone(), y.as_ref(), 1e-6);
        let mut columns: Vec<usize> = (0..60).collect();
        for count in [45, 30, 12, 5] {
            // Every other column that stays comes from the back.
            let swaps: Vec<(usize, usize)> =
                (0..count).step_by(2).zip(count..columns.len()).collect();
            system.keep(&swaps, count);
            swaps.iter().for_each(|&(i, j)| columns.swap(i, j));
            columns.truncate(count);
            let left = Mat::from_fn(20, count, |i, j| a[(i, columns[j])]);
            let direct = ridge(left.as_ref(), y.as_ref(), 1e-6).unwrap().b;
            let error = system.coefficients().unwrap() - direct;
            assert!(error.norm_max() < 1e-8, "{count}: {}", error.norm_max());
        }
    }
}
