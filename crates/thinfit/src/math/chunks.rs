//! Splits a matrix into chunks for threads to write to.

use faer::MatMut;

/// The rows of a matrix in parts of `size` rows, the last one of what is left.
pub fn row_chunks<T>(mut a: MatMut<'_, T>, size: usize) -> Vec<MatMut<'_, T>> {
    let mut chunks = Vec::with_capacity(a.nrows().div_ceil(size));
    while a.nrows() > size {
        let (chunk, rest) = a.split_at_row_mut(size);
        chunks.push(chunk);
        a = rest;
    }
    if a.nrows() > 0 {
        chunks.push(a);
    }
    chunks
}
