//! Linear systems with a Gram or kernel matrix G: Cholesky factors G + ρI = L Lᴴ, where the ridge ρ is raised if
//! rounding requires it.
//!
//! Only lower triangles are read and written.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt;
use faer::traits::ComplexField;
use faer::traits::math_utils::{add, from_f64, real};
use faer::{Mat, MatRef, Par};
use thinfit::{Error, Result};

/// How often a ridge is raised before giving up; twenty times tenfold is enough for any finite matrix.
const ATTEMPTS: usize = 20;

/// Factorisation on the threads of the current pool; WebAssembly has one.
pub(crate) fn all_threads() -> Par {
    #[cfg(not(target_arch = "wasm32"))]
    return Par::rayon(0);
    #[cfg(target_arch = "wasm32")]
    Par::Seq
}

/// A factor with the ridge it belongs to.
pub struct Factor<T> {
    /// L in the lower triangle.
    pub l: Mat<T>,
    /// The final ρ.
    pub ridge: f64,
    /// How often it was raised.
    pub raised: usize,
}

/// The factor of `gram` + ridge · I; the ridge is raised tenfold as long as a pivot is not positive.
pub fn factor<T: ComplexField<Real = f64>>(
    gram: MatRef<'_, T>,
    mut ridge: f64,
    par: Par,
) -> Result<Factor<T>> {
    let mut raised = 0;
    let largest = (0..gram.nrows()).fold(0.0, |a: f64, i| a.max(real(&gram[(i, i)])));
    loop {
        match cholesky(with_ridge(gram, ridge), par) {
            Some(l) => return Ok(Factor { l, ridge, raised }),
            None if raised == ATTEMPTS => {
                return Err(Error::Data {
                    what: "x",
                    problem: format!(
                        "the matrix of the equations cannot be factorised with a ridge of {ridge:e}"
                    ),
                    advice: "rescale the columns to unit variance",
                });
            }
            // A ridge below the rounding of the factor has no effect, so the first raise goes at least there.
            None => ridge = (10.0 * ridge).max(largest * gram.nrows() as f64 * f64::EPSILON),
        }
        raised += 1;
    }
}

/// `gram` + ridge · I.
pub fn with_ridge<T: ComplexField<Real = f64>>(gram: MatRef<'_, T>, ridge: f64) -> Mat<T> {
    let mut a = gram.to_owned();
    (0..a.nrows()).for_each(|i| a[(i, i)] = add(&a[(i, i)], &from_f64(ridge)));
    a
}

/// L in the lower triangle, or none if a pivot is not positive; the upper triangle is left as it was.
pub fn cholesky<T: ComplexField<Real = f64>>(mut a: Mat<T>, par: Par) -> Option<Mat<T>> {
    let scratch = llt::factor::cholesky_in_place_scratch::<T>(a.nrows(), par, Default::default());
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

/// (L Lᴴ)⁻¹ b.
pub fn solve<T: ComplexField<Real = f64>>(l: MatRef<'_, T>, b: MatRef<'_, T>) -> Mat<T> {
    let mut x = b.to_owned();
    let scratch = llt::solve::solve_in_place_scratch::<T>(l.nrows(), b.ncols(), Par::Seq);
    let mut memory = MemBuffer::new(scratch);
    llt::solve::solve_in_place(l, x.as_mut(), Par::Seq, MemStack::new(&mut memory));
    x
}

/// The lower triangle of (L Lᵀ)⁻¹.
pub fn inverse(l: MatRef<'_, f64>, par: Par) -> Mat<f64> {
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
            let a = with_ridge((&b * b.transpose()).as_ref(), 1.0);
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
    fn a_singular_matrix_raises_the_ridge_and_reports_it() {
        let ones = Mat::from_fn(20, 20, |_, _| 1.0);
        let factor = factor(ones.as_ref(), 0.0, Par::Seq).unwrap();
        assert!(factor.raised > 0 && factor.ridge > 0.0 && factor.ridge < 1e-10);
        let nan = Mat::from_fn(2, 2, |_, _| f64::NAN);
        assert!(super::factor(nan.as_ref(), 0.0, Par::Seq).is_err());
    }
}
