//! Least squares for real and complex design matrices A (m × n): Gram matrices, ridge and truncated solutions.
//!
//! Parallel work is divided by sizes alone, never by threads, so that no result depends on their number. Iterative
//! solutions are in `lsqr.rs`.

use crate::kernels::cholesky;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::matmul::{matmul, triangular};
use faer::linalg::svd::{ComputeSvdVectors, svd, svd_scratch};
use faer::traits::math_utils::one;
use faer::traits::{ComplexField, Conjugate};
use faer::{Accum, Col, Mat, MatRef, Par};
use rayon::prelude::*;
use thinfit::pieces::row_chunks;
use thinfit::{Error, Result};

/// Rows and columns of a block of a Gram matrix.
const BLOCK: usize = 384;
/// Terms summed at a time, so that their operands stay in the cache.
const DEPTH: usize = 256;
/// Columns of a long matrix per parallel task.
const CHUNK: usize = 512;

/// `lhs` · `rhs` on one thread; faer's operators use all threads, and their rounding depends on how many there are.
pub(crate) fn times<T: ComplexField<Real = f64>>(
    lhs: MatRef<'_, impl Conjugate<Canonical = T>>,
    rhs: MatRef<'_, impl Conjugate<Canonical = T>>,
) -> Mat<T> {
    let mut out = Mat::zeros(lhs.nrows(), rhs.ncols());
    matmul(out.as_mut(), Accum::Replace, lhs, rhs, one(), Par::Seq);
    out
}

/// Aᴴ · b, in parallel over columns of A.
pub(crate) fn adjoint_times<T: ComplexField<Real = f64>>(
    a: MatRef<'_, T>,
    b: MatRef<'_, T>,
) -> Mat<T> {
    let mut out = Mat::zeros(a.ncols(), b.ncols());
    row_chunks(out.as_mut(), CHUNK)
        .into_par_iter()
        .zip_eq(0..a.ncols().div_ceil(CHUNK))
        .for_each(|(out, chunk)| {
            let a = a.subcols(chunk * CHUNK, out.nrows());
            matmul(out, Accum::Replace, a.adjoint(), b, one(), Par::Seq);
        });
    out
}

/// The lower triangle of the Hermitian product `lhs` · `rhs`, AᴴA or AAᴴ.
pub(crate) fn lower<T: ComplexField<Real = f64>>(
    lhs: MatRef<'_, impl Conjugate<Canonical = T>>,
    rhs: MatRef<'_, impl Conjugate<Canonical = T>>,
) -> Mat<T> {
    use triangular::BlockStructure::{Rectangular, TriangularLower};
    let size = lhs.nrows();
    let blocks = size.div_ceil(BLOCK).max(1);
    let range = |i: usize| {
        (
            i * size / blocks,
            (i + 1) * size / blocks - i * size / blocks,
        )
    };
    let pairs: Vec<_> = (0..blocks)
        .flat_map(|i| (0..=i).map(move |j| (i, j)))
        .collect();
    let product = |&(i, j): &(usize, usize)| {
        let ((row, rows), (column, columns)) = (range(i), range(j));
        let (lhs, rhs) = (lhs.subrows(row, rows), rhs.subcols(column, columns));
        let mut out = Mat::zeros(rows, columns);
        let shape = if i == j { TriangularLower } else { Rectangular };
        for start in (0..lhs.ncols()).step_by(DEPTH) {
            let depth = DEPTH.min(lhs.ncols() - start);
            triangular::matmul(
                out.as_mut(),
                shape,
                Accum::Add,
                lhs.subcols(start, depth),
                Rectangular,
                rhs.subrows(start, depth),
                Rectangular,
                one(),
                Par::Seq,
            );
        }
        out
    };
    let products: Vec<Mat<T>> = pairs.par_iter().map(product).collect();
    let mut gram = Mat::zeros(size, size);
    for (&(i, j), product) in pairs.iter().zip(&products) {
        let ((row, rows), (column, columns)) = (range(i), range(j));
        gram.as_mut()
            .submatrix_mut(row, column, rows, columns)
            .copy_from(product);
    }
    gram
}

/// A solution, and how often its ridge was raised.
pub(crate) struct Solved<T> {
    /// n × c.
    pub b: Mat<T>,
    /// Tenfold each time.
    pub raised: usize,
}

/// (G + ρI)⁻¹ b for the lower triangle of a Gram matrix G; ρ is raised tenfold as long as rounding makes a pivot fail.
pub(crate) fn solve<T: ComplexField<Real = f64>>(
    gram: MatRef<'_, T>,
    ridge: f64,
    b: MatRef<'_, T>,
) -> Result<Solved<T>> {
    let factor = cholesky::factor(gram, ridge, Par::Seq)?;
    Ok(Solved {
        b: cholesky::solve(factor.l.as_ref(), b),
        raised: factor.raised,
    })
}

/// b = argmin |A b − y|² + m·ρ |b|², by the smaller of the systems (AᴴA + mρI) b = Aᴴy and b = Aᴴ(AAᴴ + mρI)⁻¹y.
pub(crate) fn ridge<T: ComplexField<Real = f64>>(
    a: MatRef<'_, T>,
    y: MatRef<'_, T>,
    ridge: f64,
) -> Result<Solved<T>> {
    let shift = a.nrows() as f64 * ridge;
    if a.ncols() < a.nrows() {
        let gram = lower(a.adjoint(), a);
        solve(gram.as_ref(), shift, adjoint_times(a, y).as_ref())
    } else {
        let gram = lower(a, a.adjoint());
        let alpha = solve(gram.as_ref(), shift, y)?;
        Ok(Solved {
            b: adjoint_times(a, alpha.b.as_ref()),
            ..alpha
        })
    }
}

/// Least-squares solutions of minimal norm, one per cutoff, with singular values below the cutoff times the largest
/// treated as zero.
pub(crate) fn truncated<const N: usize>(
    a: MatRef<'_, f64>,
    y: MatRef<'_, f64>,
    cutoffs: [f64; N],
) -> Result<[Mat<f64>; N]> {
    let (m, n) = (a.nrows(), a.ncols());
    let r = m.min(n);
    let (mut u, mut v) = (Mat::zeros(m, r), Mat::zeros(n, r));
    let mut s = Col::<f64>::zeros(r);
    let thin = ComputeSvdVectors::Thin;
    let scratch = svd_scratch::<f64>(m, n, thin, thin, Par::Seq, Default::default());
    svd(
        a,
        s.as_mut().as_diagonal_mut(),
        Some(u.as_mut()),
        Some(v.as_mut()),
        Par::Seq,
        MemStack::new(&mut MemBuffer::new(scratch)),
        Default::default(),
    )
    .map_err(|_| Error::Diverged {
        what: "the singular values of the design matrix",
        step: 0,
        advice: "scale the columns of the data",
    })?;
    let parts = times(u.transpose(), y);
    Ok(cutoffs.map(|cutoff| {
        let kept = (0..r).take_while(|&i| s[i] > cutoff * s[0]).count();
        let weights = Mat::from_fn(kept, y.ncols(), |i, o| parts[(i, o)] / s[i]);
        times(v.as_ref().subcols(0, kept), weights.as_ref())
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use faer::c64;

    fn matrix(m: usize, n: usize) -> Mat<c64> {
        Mat::from_fn(m, n, |i, j| {
            let t = (1 + i * i + 7 * i * j + 3 * j) as f64;
            c64::new(t.sin(), (0.7 * t).cos())
        })
    }

    #[test]
    fn ridge_solutions_satisfy_their_normal_equations_on_both_sides() {
        for (m, n) in [(30, 7), (7, 30), (12, 12)] {
            let (a, y) = (matrix(m, n), matrix(m, 2));
            let b = ridge(a.as_ref(), y.as_ref(), 1e-3).unwrap().b;
            let residual = &y - &a * &b;
            let gradient =
                a.adjoint() * residual - &b * faer::Scale(c64::new(1e-3 * m as f64, 0.0));
            assert!(gradient.norm_max() < 1e-11, "{m} {n}");
        }
    }

    #[test]
    fn blocks_of_a_gram_matrix_fit_together() {
        let a = Mat::from_fn(3, 2 * BLOCK + 5, |i, j| ((i * 31 + j * j) as f64).sin());
        let (gram, plain) = (lower(a.transpose(), a.as_ref()), a.transpose() * &a);
        for j in 0..a.ncols() {
            for i in j..a.ncols() {
                assert!((gram[(i, j)] - plain[(i, j)]).abs() < 1e-14);
            }
        }
    }

    #[test]
    fn a_repeated_column_shares_its_weight_in_the_truncated_solution() {
        let a = Mat::from_fn(9, 3, |i, j| ((i * (1 + j.min(1))) as f64).sin());
        let y = Mat::from_fn(9, 1, |i, _| 2.0 * a[(i, 0)] + 3.0 * a[(i, 1)]);
        let [b] = truncated(a.as_ref(), y.as_ref(), [1e-8]).unwrap();
        for (i, expected) in [2.0, 1.5, 1.5].into_iter().enumerate() {
            assert!((b[(i, 0)] - expected).abs() < 1e-12);
        }
    }
}
