//! Distances between points, in units of the lengths.
//!
//! They are sums of squared differences, not |x|² + |x′|² − 2⟨x, x′⟩ by a matrix product. The product form cancels: its error is of
//! order eps |x|² however close the points are, so near neighbours can get a negative distance. Nor is it needed for speed: the
//! differences cost 3s operations per pair of points with s inputs, factorising the matrix m/3.

use faer::{Mat, MatRef};
use thinfit::elementary::vectorised;

/// Workspace reused from column to column: (j, 1/ℓ_j) of the inputs, and scratch rows.
pub(crate) struct Work {
    pub axes: Vec<(usize, f64)>,
    pub rows: Vec<Vec<f64>>,
}

impl Work {
    /// For inputs with their lengths.
    pub fn new<'a>(inputs: impl Iterator<Item = (usize, &'a f64)>) -> Self {
        Work {
            axes: inputs.map(|(j, length)| (j, 1.0 / length)).collect(),
            rows: Vec::new(),
        }
    }

    /// Scratch of a length; its content is whatever was there.
    pub fn row(&mut self, index: usize, length: usize) -> &mut [f64] {
        while self.rows.len() <= index {
            self.rows.push(Vec::new());
        }
        let row = &mut self.rows[index];
        if row.len() < length {
            row.resize(length, 0.0);
        }
        &mut row[..length]
    }
}

/// out_i ← factor · Σ ((x_ik − p_jk) · inverse)² over the `axes` (k, inverse), for i from `start`; subtracting first, so that an offset of the
/// inputs costs no digits.
pub fn squares(
    x: &Mat<f64>,
    start: usize,
    points: MatRef<'_, f64>,
    j: usize,
    axes: &[(usize, f64)],
    factor: f64,
    out: &mut [f64],
) {
    vectorised(
        #[inline(always)]
        || {
            out.fill(0.0);
            for &(k, inverse) in axes {
                let (column, point) = (&x.col_as_slice(k)[start..], points[(j, k)]);
                for (out, x) in out.iter_mut().zip(column) {
                    let t = (x - point) * inverse;
                    *out = t.mul_add(t, *out);
                }
            }
            for out in out.iter_mut() {
                *out *= factor;
            }
        },
    );
}

/// A difference in units of the length, kept where its product with a kernel that has vanished is zero.
#[inline(always)]
pub(crate) fn bounded(t: f64) -> f64 {
    t.clamp(-1e150, 1e150)
}
