//! Columns of matrices as slices. The matrices of this crate are column-major with contiguous columns.

use faer::{MatMut, MatRef};

/// Column `j` as a slice.
#[inline(always)]
pub(crate) fn column(a: MatRef<'_, f64>, j: usize) -> &[f64] {
    a.col(j)
        .try_as_col_major()
        .expect("matrices here are column-major")
        .as_slice()
}

/// Column `j` as a mutable slice.
#[inline(always)]
pub(crate) fn column_mut(a: MatMut<'_, f64>, j: usize) -> &mut [f64] {
    a.col_mut(j)
        .try_as_col_major_mut()
        .expect("matrices here are column-major")
        .as_slice_mut()
}
