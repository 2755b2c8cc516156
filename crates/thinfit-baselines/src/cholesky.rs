//! Systems with a kernel matrix: Cholesky factors K + ρI = L Lᵀ, with the ridge ρ raised where rounding demands it.
//!
//! Only lower triangles are read and written.

use crate::{Error, Result};
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt;
use faer::{Mat, MatRef, Par};

/// How often a ridge is raised before the matrix is given up.
const ATTEMPTS: u32 = 20;

/// A factor with the ridge it belongs to.
pub(crate) struct Factor {
    /// L in the lower triangle.
    pub l: Mat<f64>,
    /// ρ, larger than asked for if it was raised.
    pub ridge: f64,
    /// How often it was raised.
    pub raised: u32,
}

/// The factor of `gram` + ridge · I; while a pivot is not positive, the ridge is raised tenfold.
pub(crate) fn factor(gram: &Mat<f64>, mut ridge: f64, par: Par) -> Result<Factor> {
    let mut raised = 0;
    let largest = (0..gram.nrows()).fold(0.0, |a: f64, i| a.max(gram[(i, i)]));
    loop {
        match cholesky(with_ridge(gram, ridge), par) {
            Some(l) => return Ok(Factor { l, ridge, raised }),
            None if raised == ATTEMPTS => {
                return Err(Error::Data {
                    what: "x",
                    problem: format!(
                        "the kernel matrix cannot be factorised with a ridge of {ridge:e}"
                    ),
                    advice: "rescale the columns to unit variance",
                });
            }
            // A ridge below the rounding of the factor does nothing, so the first raise goes at least there.
            None => ridge = (10.0 * ridge).max(largest * gram.nrows() as f64 * f64::EPSILON),
        }
        raised += 1;
    }
}

/// `gram` + ridge · I.
pub(crate) fn with_ridge(gram: &Mat<f64>, ridge: f64) -> Mat<f64> {
    let mut a = gram.clone();
    (0..a.nrows()).for_each(|i| a[(i, i)] += ridge);
    a
}

/// L in the lower triangle, none if a pivot is not positive; the upper triangle is kept.
pub(crate) fn cholesky(mut a: Mat<f64>, par: Par) -> Option<Mat<f64>> {
    let scratch = llt::factor::cholesky_in_place_scratch::<f64>(a.nrows(), par, Default::default());
    llt::factor::cholesky_in_place(
        a.as_mut(),
        Default::default(),
        par,
        MemStack::new(&mut MemBuffer::new(scratch)),
        Default::default(),
    )
    .is_ok()
    .then_some(a)
}

/// (L Lᵀ)⁻¹ b.
pub(crate) fn solve(l: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Mat<f64> {
    let mut x = b.to_owned();
    let scratch = llt::solve::solve_in_place_scratch::<f64>(l.nrows(), b.ncols(), Par::Seq);
    let mut memory = MemBuffer::new(scratch);
    llt::solve::solve_in_place(l, x.as_mut(), Par::Seq, MemStack::new(&mut memory));
    x
}

/// The lower triangle of (L Lᵀ)⁻¹.
pub(crate) fn inverse(l: MatRef<'_, f64>, par: Par) -> Mat<f64> {
    let mut out = Mat::zeros(l.nrows(), l.nrows());
    let scratch = llt::inverse::inverse_scratch::<f64>(l.nrows(), par);
    llt::inverse::inverse(
        out.as_mut(),
        l,
        par,
        MemStack::new(&mut MemBuffer::new(scratch)),
    );
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::tests::random;

    #[test]
    fn factors_have_the_same_bits_on_any_number_of_threads() {
        for m in [1, 7, 64, 130, 333, 700] {
            let b = random(m, m, 1);
            let a = with_ridge(&(&b * b.transpose()), 1.0);
            let l = cholesky(a.clone(), Par::Seq).unwrap();
            let inverse = super::inverse(l.as_ref(), Par::Seq);
            for threads in [2, 3] {
                let other = cholesky(a.clone(), Par::rayon(threads)).unwrap();
                let other_inverse = super::inverse(l.as_ref(), Par::rayon(threads));
                for j in 0..m {
                    assert_eq!(l.col_as_slice(j)[j..], other.col_as_slice(j)[j..], "{m}");
                    assert_eq!(
                        inverse.col_as_slice(j)[j..],
                        other_inverse.col_as_slice(j)[j..],
                        "{m}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_singular_matrix_raises_the_ridge_and_says_so() {
        let ones = Mat::from_fn(20, 20, |_, _| 1.0);
        let factor = factor(&ones, 0.0, Par::Seq).unwrap();
        assert!(factor.raised > 0 && factor.ridge > 0.0 && factor.ridge < 1e-10);
        let nan = Mat::from_fn(2, 2, |_, _| f64::NAN);
        assert!(super::factor(&nan, 0.0, Par::Seq).is_err());
    }
}
