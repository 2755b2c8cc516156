//! Householder QR without rank decisions.
//!
//! The least squares problems of this crate depend on singular values far below the threshold at which a general
//! library treats a column as dependent and drops it (faer's own QR does so near 16·rows·eps of the column's norm).
//! Here every column is reflected, however small its remainder, so R keeps the information in the data down to
//! rounding. Reflectors are grouped into blocks Q = I − V T⁻¹ Vᵀ in faer's storage, so that they are applied by
//! matrix products.
//!
//! Dimensions: `rows` × `k`, rows ≥ k unless said otherwise. All of it is sequential and therefore the same for any
//! number of threads.

use crate::math::columns::{column, column_mut};
use crate::math::dot::dot_in_lanes;
use crate::math::fma::Fma;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::householder as block;
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::linalg::triangular_solve::solve_upper_triangular_in_place;
use faer::reborrow::{Reborrow, ReborrowMut};
use faer::{Accum, Conj, Mat, MatMut, MatRef, Par};

/// Reflectors per block.
const BLOCK: usize = 32;
/// Reflectors that are applied one by one inside a block.
const STRIP: usize = 8;

/// A = Q R with Q kept as reflectors.
pub(crate) struct Qr {
    /// R on and above the diagonal, the reflectors below it.
    a: Mat<f64>,
    /// The triangular factors T of the blocks, side by side.
    t: Mat<f64>,
}

impl Qr {
    /// Factors `a` (rows × k with rows ≥ k).
    pub(crate) fn new(mut a: Mat<f64>) -> Qr {
        let (rows, k) = (a.nrows(), a.ncols());
        assert!(rows >= k, "a QR of {rows} rows and {k} columns");
        let mut t = Mat::zeros(BLOCK.min(k.max(1)), k);
        let mut memory = memory(k);
        for start in (0..k).step_by(BLOCK) {
            let width = BLOCK.min(k - start);
            let (mut panel, rest) = a
                .as_mut()
                .submatrix_mut(start, start, rows - start, k - start)
                .split_at_col_mut(width);
            let mut t = t.as_mut().submatrix_mut(0, start, width, width);
            factor_block(panel.rb_mut(), t.rb_mut(), &mut memory);
            reflect_transpose(panel.rb(), t.rb(), rest, &mut memory);
        }
        Qr { a, t }
    }

    /// R (k × k); below its diagonal lie reflectors, not zeros.
    pub(crate) fn r(&self) -> MatRef<'_, f64> {
        self.a.as_ref().subrows(0, self.a.ncols())
    }

    /// R with zeros below its diagonal (k × k).
    pub(crate) fn triangle(&self) -> Mat<f64> {
        let (r, k) = (self.r(), self.a.ncols());
        Mat::from_fn(k, k, |i, j| if i <= j { r[(i, j)] } else { 0.0 })
    }

    /// rhs ← Qᵀ rhs with the full square Q.
    pub(crate) fn transpose_apply(&self, rhs: MatMut<'_, f64>) {
        let mut memory = memory(rhs.ncols());
        block::apply_block_householder_sequence_transpose_on_the_left_in_place_with_conj(
            self.a.as_ref(),
            self.t.as_ref(),
            Conj::No,
            rhs,
            Par::Seq,
            MemStack::new(&mut memory),
        );
    }

    /// rhs ← Q rhs with the full square Q.
    pub(crate) fn apply(&self, rhs: MatMut<'_, f64>) {
        let mut memory = memory(rhs.ncols());
        block::apply_block_householder_sequence_on_the_left_in_place_with_conj(
            self.a.as_ref(),
            self.t.as_ref(),
            Conj::No,
            rhs,
            Par::Seq,
            MemStack::new(&mut memory),
        );
    }

    /// rhs ← R⁻¹ rhs (k rows).
    pub(crate) fn solve(&self, rhs: MatMut<'_, f64>) {
        solve_upper_triangular_in_place(self.r(), rhs, Par::Seq);
    }

    /// The largest singular value of R, from below, by `rounds` steps of the power method.
    pub(crate) fn largest_singular_value(&self, rounds: usize) -> f64 {
        let k = self.a.ncols();
        let mut v = Mat::from_fn(k, 1, |_, _| 1.0);
        let mut value = 0.0;
        for _ in 0..rounds {
            let length = norm(column(v.as_ref(), 0));
            if !(length > 0.0 && length.is_finite()) {
                return value;
            }
            column_mut(v.as_mut(), 0)
                .iter_mut()
                .for_each(|v| *v /= length);
            let u = triangle_product(self.r(), false, v.as_ref());
            value = norm(column(u.as_ref(), 0));
            v = triangle_product(self.r(), true, u.as_ref());
        }
        value
    }
}

/// R v, or Rᵀv, for the upper triangle of `r`.
pub(super) fn triangle_product(
    r: MatRef<'_, f64>,
    transposed: bool,
    v: MatRef<'_, f64>,
) -> Mat<f64> {
    let (r, structure) = if transposed {
        (r.transpose(), BlockStructure::TriangularLower)
    } else {
        (r, BlockStructure::TriangularUpper)
    };
    let mut product = Mat::zeros(v.nrows(), v.ncols());
    triangular::matmul(
        product.as_mut(),
        BlockStructure::Rectangular,
        Accum::Replace,
        r,
        structure,
        v,
        BlockStructure::Rectangular,
        1.0,
        Par::Seq,
    );
    product
}

/// Scratch for applying a block of reflectors to `columns` columns.
fn memory(columns: usize) -> MemBuffer {
    MemBuffer::new(
        block::apply_block_householder_on_the_left_in_place_scratch::<f64>(0, BLOCK, columns),
    )
}

/// rest ← (I − V T⁻¹ Vᵀ)ᵀ rest.
fn reflect_transpose(
    v: MatRef<'_, f64>,
    t: MatRef<'_, f64>,
    rest: MatMut<'_, f64>,
    memory: &mut MemBuffer,
) {
    if rest.ncols() > 0 {
        block::apply_block_householder_transpose_on_the_left_in_place_with_conj(
            v,
            t,
            Conj::No,
            rest,
            Par::Seq,
            MemStack::new(memory),
        );
    }
}

/// QR of one block of columns in place; writes its factor T (width × width, upper triangle).
fn factor_block(mut a: MatMut<'_, f64>, mut t: MatMut<'_, f64>, memory: &mut MemBuffer) {
    let (rows, width) = (a.nrows(), a.ncols());
    for start in (0..width).step_by(STRIP) {
        let end = width.min(start + STRIP);
        let (mut strip, rest) = a
            .rb_mut()
            .submatrix_mut(start, start, rows - start, width - start)
            .split_at_col_mut(end - start);
        let views = (strip.rb_mut(), t.rb_mut());
        // A closure that consumes its captures is called directly; any other goes through a shim that is compiled
        // without the vector instructions.
        pulp::Arch::new().dispatch(
            #[inline(always)]
            move || {
                let (strip, t) = views;
                factor_strip(strip, t, start)
            },
        );
        if end < width {
            let mut t = t
                .rb_mut()
                .submatrix_mut(start, start, end - start, end - start);
            gram(strip.rb(), t.rb_mut());
            reflect_transpose(strip.rb(), t.rb(), rest, memory);
        }
    }
    gram(a.rb(), t);
}

/// The part of T above its diagonal: VᵀV for the unit lower trapezoidal V below the diagonal of `a`.
fn gram(a: MatRef<'_, f64>, mut t: MatMut<'_, f64>) {
    let width = a.ncols();
    let (top, bottom) = a.split_at_row(width);
    let above = BlockStructure::UnitTriangularUpper;
    triangular::matmul(
        t.rb_mut(),
        above,
        Accum::Replace,
        top.transpose(),
        above,
        top,
        BlockStructure::UnitTriangularLower,
        1.0,
        Par::Seq,
    );
    triangular::matmul(
        t,
        above,
        Accum::Add,
        bottom.transpose(),
        BlockStructure::Rectangular,
        bottom,
        BlockStructure::Rectangular,
        1.0,
        Par::Seq,
    );
}

/// Reflects the columns of a narrow strip one by one; |v|²/2 goes to the diagonal of T from `offset` on.
///
/// A column of zeros is reflected too, by I − 2e eᵀ.
#[inline(always)]
fn factor_strip(mut a: MatMut<'_, f64>, mut t: MatMut<'_, f64>, offset: usize) {
    for j in 0..a.ncols() {
        let (mut left, mut right) = a.rb_mut().split_at_col_mut(j + 1);
        let v = &mut column_mut(left.rb_mut(), j)[j..];
        let (head, tail) = v
            .split_first_mut()
            .expect("a strip has at least as many rows as columns");
        if tail.is_empty() {
            // The last row of a square matrix is left alone; applying a block counts on that.
            t[(offset + j, offset + j)] = f64::INFINITY;
            continue;
        }
        let rest = norm(tail);
        let beta = -head.hypot(rest).copysign(*head);
        // A column of subnormal numbers counts as zero: its reciprocal is not finite.
        let difference = *head - beta;
        let scale = if difference.abs() < 1e-290 {
            0.0
        } else {
            1.0 / difference
        };
        tail.iter_mut().for_each(|v| *v *= scale);
        *head = beta;
        let half = 0.5 * (1.0 + (rest * scale) * (rest * scale));
        t[(offset + j, offset + j)] = half;
        for c in 0..right.ncols() {
            let x = &mut column_mut(right.rb_mut(), c)[j..];
            let (first, others) = x
                .split_first_mut()
                .expect("columns of one matrix have equal lengths");
            let factor = -(*first + dot_in_lanes::<16>(tail, others)) / half;
            *first += factor;
            for (x, &v) in others.iter_mut().zip(&*tail) {
                *x = v.fma(factor, *x);
            }
        }
    }
}

/// The Euclidean norm, safe where squares overflow or vanish.
#[inline(always)]
pub(super) fn norm(v: &[f64]) -> f64 {
    let square = dot_in_lanes::<16>(v, v);
    if square > 1e-200 && square < 1e200 {
        return square.sqrt();
    }
    let largest = v.iter().fold(0.0, |a: f64, v| a.max(v.abs()));
    if largest == 0.0 || !largest.is_finite() {
        return largest;
    }
    let sum: f64 = v.iter().map(|v| (v / largest) * (v / largest)).sum();
    largest * sum.sqrt()
}

#[cfg(test)]
mod tests;
