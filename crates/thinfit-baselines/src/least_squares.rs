//! Least squares for real and complex design matrices A (m × n): Gram matrices, ridge and truncated solutions.
//!
//! Parallel work is divided by sizes alone, never by threads, so that no result depends on their number. Iterative
//! solutions are in `lsqr.rs`.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::svd::{ComputeSvdVectors, svd, svd_scratch};
use faer::traits::ComplexField;
use faer::{Col, Mat, MatRef, Par};
use thinfit::pieces::{adjoint_product, lower_product, product};
use thinfit::{Error, Result};
use thinfit_gp::pieces as gp;

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
    let factor = gp::factor(gram, ridge, Par::Seq)?;
    Ok(Solved {
        b: gp::solve(factor.l.as_ref(), b),
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
        let gram = lower_product(a.adjoint(), a);
        solve(gram.as_ref(), shift, adjoint_product(a, y).as_ref())
    } else {
        let gram = lower_product(a, a.adjoint());
        let alpha = solve(gram.as_ref(), shift, y)?;
        Ok(Solved {
            b: adjoint_product(a, alpha.b.as_ref()),
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
    let parts = product(u.transpose(), y);
    Ok(cutoffs.map(|cutoff| {
        let kept = (0..r).take_while(|&i| s[i] > cutoff * s[0]).count();
        let weights = Mat::from_fn(kept, y.ncols(), |i, o| parts[(i, o)] / s[i]);
        product(v.as_ref().subcols(0, kept), weights.as_ref())
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
        let a = Mat::from_fn(3, 2 * 384 + 5, |i, j| ((i * 31 + j * j) as f64).sin());
        let (gram, plain) = (lower_product(a.transpose(), a.as_ref()), a.transpose() * &a);
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
