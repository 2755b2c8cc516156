//! Matrix products on the calling thread. The sums of faer's operators depend on the number of threads.

use super::chunks::row_chunks;
use faer::linalg::matmul::{matmul, triangular};
use faer::traits::math_utils::one;
use faer::traits::{ComplexField, Conjugate, RealField};
use faer::{Accum, Mat, MatMut, MatRef, Par};
use rayon::prelude::*;

/// Rows and columns of a block of a Gram matrix.
const BLOCK: usize = 384;
/// Terms summed at a time, so that their operands stay in the cache.
const DEPTH: usize = 256;
/// Columns of a long matrix per parallel task.
const CHUNK: usize = 512;

/// out ← a b.
pub(crate) fn multiply<T: RealField>(out: MatMut<'_, T>, a: MatRef<'_, T>, b: MatRef<'_, T>) {
    matmul(out, Accum::Replace, a, b, one(), Par::Seq);
}

/// out ← out + a b.
pub(crate) fn multiply_add<T: RealField>(out: MatMut<'_, T>, a: MatRef<'_, T>, b: MatRef<'_, T>) {
    matmul(out, Accum::Add, a, b, one(), Par::Seq);
}

/// lhs · rhs.
pub fn product<T: ComplexField<Real = f64>>(
    lhs: MatRef<'_, impl Conjugate<Canonical = T>>,
    rhs: MatRef<'_, impl Conjugate<Canonical = T>>,
) -> Mat<T> {
    let mut out = Mat::zeros(lhs.nrows(), rhs.ncols());
    matmul(out.as_mut(), Accum::Replace, lhs, rhs, one(), Par::Seq);
    out
}

/// Aᴴ · b, in parallel over columns of A.
pub fn adjoint_product<T: ComplexField<Real = f64>>(a: MatRef<'_, T>, b: MatRef<'_, T>) -> Mat<T> {
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
pub fn lower_product<T: ComplexField<Real = f64>>(
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
