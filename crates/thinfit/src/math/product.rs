//! Matrix products on the calling thread. The sums of faer's operators depend on the number of threads.

use faer::linalg::matmul::matmul;
use faer::traits::RealField;
use faer::traits::math_utils::one;
use faer::{Accum, Mat, MatMut, MatRef, Par};

/// out ← a b.
pub(crate) fn multiply<T: RealField>(out: MatMut<'_, T>, a: MatRef<'_, T>, b: MatRef<'_, T>) {
    matmul(out, Accum::Replace, a, b, one(), Par::Seq);
}

/// out ← out + a b.
pub(crate) fn multiply_add<T: RealField>(out: MatMut<'_, T>, a: MatRef<'_, T>, b: MatRef<'_, T>) {
    matmul(out, Accum::Add, a, b, one(), Par::Seq);
}

/// a b.
pub(crate) fn product(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Mat<f64> {
    let mut out = Mat::zeros(a.nrows(), b.ncols());
    multiply(out.as_mut(), a, b);
    out
}
