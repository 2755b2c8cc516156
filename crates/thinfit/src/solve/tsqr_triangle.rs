//! A triangle updated by rows: R ← the triangle of the QR of \[R; B\].
//!
//! A reflector of \[R; B\] is v = e_j + b with all of b below the triangle, so R and B need not lie in one matrix, and a
//! few rows at a time stay in the cache. Reflectors are grouped into blocks Q = I − V T⁻¹ Vᵀ, as in `householder`: T has |v|²/2
//! on its diagonal and the products of reflectors above it. A column is never dropped, and one thread does it all.
//!
//! Dimensions: R is k × k, B is rows × k; 2 k² operations a row.

use super::householder::norm;
use crate::math::columns::column_mut;
use crate::math::dot::dot_in_lanes;
use crate::math::fma::Fma;
use crate::math::product::multiply;
use faer::linalg::matmul::matmul;
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::reborrow::{Reborrow, ReborrowMut};
use faer::{Accum, Mat, MatMut, MatRef, Par};

/// Reflectors per block, and per strip of a block, in which they are applied one by one.
const BLOCK: usize = 16;
const STRIP: usize = 4;

/// The rows themselves while they are fewer than their columns, then the triangle of their QR.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Triangle(Mat<f64>);

impl Triangle {
    /// No rows yet, of `k` columns.
    pub fn new(k: usize) -> Self {
        Triangle(Mat::zeros(0, k))
    }

    /// A matrix that [`Triangle::as_ref`] has given.
    pub fn from_matrix(rows: Mat<f64>) -> Self {
        Triangle(rows)
    }

    /// R (k × k), or fewer rows as they came.
    pub fn as_ref(&self) -> MatRef<'_, f64> {
        self.0.as_ref()
    }

    pub fn into_matrix(self) -> Mat<f64> {
        self.0
    }

    fn is_complete(&self) -> bool {
        self.0.nrows() == self.0.ncols()
    }

    /// Adds rows, overwriting their storage.
    pub fn take(&mut self, rows: MatMut<'_, f64>) {
        let (have, k) = (self.0.nrows(), self.0.ncols());
        if self.is_complete() {
            return eliminate(self.0.as_mut(), rows, |rows, _| rows);
        }
        if have + rows.nrows() < k {
            self.0
                .resize_with(have + rows.nrows(), k, |i, j| rows[(i - have, j)]);
            return;
        }
        let mut first = std::mem::replace(&mut self.0, Mat::zeros(k, k));
        eliminate(self.0.as_mut(), first.as_mut(), |rows, _| rows);
        eliminate(self.0.as_mut(), rows, |rows, _| rows);
    }

    /// The rows of both, of which `next` has the later ones.
    pub fn followed_by(mut self, mut next: Triangle) -> Self {
        match self.is_complete() && next.is_complete() {
            // Left of a column, the second triangle has no more rows than the first, and so it stays.
            true => eliminate(self.0.as_mut(), next.0.as_mut(), |_, end| end),
            false => self.take(next.0.as_mut()),
        }
        self
    }
}

/// \[R; B\] ← its triangle over reflectors, for R of k rows and k columns or more, of which the first k are reflected. `filled` tells
/// how many of the rows of B may differ from zero left of a column.
pub(super) fn eliminate(
    mut r: MatMut<'_, f64>,
    mut b: MatMut<'_, f64>,
    filled: impl Fn(usize, usize) -> usize,
) {
    let (k, columns, rows) = (r.nrows(), r.ncols(), b.nrows());
    let (mut t, mut x) = (Mat::zeros(BLOCK, BLOCK), Mat::zeros(BLOCK, columns));
    for start in (0..k).step_by(BLOCK) {
        let width = BLOCK.min(k - start);
        let count = filled(rows, start + width);
        let right = b.rb_mut().submatrix_mut(0, start, count, columns - start);
        let (mut panel, rest) = right.split_at_col_mut(width);
        let (mut own, above) = r
            .rb_mut()
            .submatrix_mut(start, start, width, columns - start)
            .split_at_col_mut(width);
        let mut t = t.as_mut().submatrix_mut(0, 0, width, width);
        factor(own.rb_mut(), panel.rb_mut(), t.rb_mut(), x.as_mut());
        reflect(panel.rb(), t.rb(), above, rest, x.as_mut());
    }
}

/// The QR of \[R; B\] for one block of columns, which leaves the reflectors in B and writes T.
fn factor(
    mut r: MatMut<'_, f64>,
    mut b: MatMut<'_, f64>,
    mut t: MatMut<'_, f64>,
    mut x: MatMut<'_, f64>,
) {
    let width = b.ncols();
    for start in (0..width).step_by(STRIP) {
        let count = STRIP.min(width - start);
        let end = start + count;
        let (mut done, rest) = b.rb_mut().split_at_col_mut(end);
        let (mut own, above) = r
            .rb_mut()
            .submatrix_mut(start, start, count, width - start)
            .split_at_col_mut(count);
        let views = (own.rb_mut(), done.rb_mut().subcols_mut(start, count));
        // See `householder` on closures that consume their captures.
        pulp::Arch::new().dispatch(
            #[inline(always)]
            move || factor_strip(views.0, views.1),
        );
        let strip = done.rb().subcols(start, count);
        let mut t = t.rb_mut().submatrix_mut(0, start, end, count);
        multiply(t.rb_mut(), done.rb().transpose(), strip);
        let mut t = t.subrows_mut(start, count);
        (0..count).for_each(|j| t[(j, j)] = 0.5 * (1.0 + t[(j, j)]));
        reflect(strip, t.rb(), above, rest, x.rb_mut());
    }
}

/// \[above; rest\] ← (I − V T⁻¹ Vᵀ)ᵀ \[above; rest\] for V = \[I; b\]; `x` is scratch.
fn reflect(
    b: MatRef<'_, f64>,
    t: MatRef<'_, f64>,
    mut above: MatMut<'_, f64>,
    rest: MatMut<'_, f64>,
    x: MatMut<'_, f64>,
) {
    if rest.ncols() == 0 {
        return;
    }
    let mut x = x.submatrix_mut(0, 0, above.nrows(), above.ncols());
    x.copy_from(&above);
    matmul(
        x.rb_mut(),
        Accum::Add,
        b.transpose(),
        rest.rb(),
        1.0,
        Par::Seq,
    );
    solve_lower_triangular_in_place(t.transpose(), x.rb_mut(), Par::Seq);
    above -= &x;
    matmul(rest, Accum::Add, b, x.rb(), -1.0, Par::Seq);
}

/// Reflects the columns of a strip one by one.
#[inline(always)]
fn factor_strip(mut r: MatMut<'_, f64>, mut b: MatMut<'_, f64>) {
    for j in 0..b.ncols() {
        let (left, mut right) = b.rb_mut().split_at_col_mut(j + 1);
        let v = column_mut(left, j);
        let (head, length) = (r[(j, j)], norm(v));
        let beta = -head.hypot(length).copysign(head);
        // A column of subnormal numbers counts as zero: its reciprocal is not finite.
        let difference = head - beta;
        let scale = if difference.abs() < 1e-290 {
            0.0
        } else {
            1.0 / difference
        };
        v.iter_mut().for_each(|v| *v *= scale);
        r[(j, j)] = beta;
        let half = 0.5 * (1.0 + (length * scale) * (length * scale));
        for c in 0..right.ncols() {
            let x = column_mut(right.rb_mut(), c);
            let factor = -(r[(j, j + 1 + c)] + dot_in_lanes::<16>(v, x)) / half;
            r[(j, j + 1 + c)] += factor;
            for (x, &v) in x.iter_mut().zip(&*v) {
                *x = v.fma(factor, *x);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solve::householder::Qr;

    /// Columns whose norms span ten powers, and two that are nearly alike.
    fn rows(m: usize, k: usize) -> Mat<f64> {
        Mat::from_fn(m, k, |i, j| {
            let value = ((31 * i + 7 * j * j) as f64).sin() * 10f64.powi(-((j % 11) as i32));
            match j + 1 == k {
                true => ((31 * i) as f64).sin() + 1e-9 * value,
                false => value,
            }
        })
    }

    /// R with a positive diagonal, which is unique.
    fn signed(r: MatRef<'_, f64>) -> Mat<f64> {
        Mat::from_fn(r.nrows(), r.ncols(), |i, j| match i <= j {
            true => r[(i, j)] * r[(i, i)].signum(),
            false => 0.0,
        })
    }

    #[test]
    fn it_is_the_triangle_of_a_qr_of_all_rows() {
        for (m, k, some) in [(40, 7, 9), (300, 70, 31), (500, 33, 500), (90, 40, 1)] {
            let all = rows(m, k);
            let mut triangle = Triangle::new(k);
            for start in (0..m).step_by(some) {
                let mut few = all.as_ref().subrows(start, some.min(m - start)).to_owned();
                triangle.take(few.as_mut());
            }
            let expected = signed(Qr::new(all).r());
            let difference = signed(triangle.as_ref()) - &expected;
            for j in 0..k {
                let (size, error) = (expected.col(j).norm_l2(), difference.col(j).norm_l2());
                assert!(error < 1e-13 * size * k as f64, "{m} {k} {j}: {error}");
            }
            let below = |i: usize, j: usize| i > j && triangle.as_ref()[(i, j)] != 0.0;
            assert!((0..k).all(|j| (0..k).all(|i| !below(i, j))));
        }
    }

    #[test]
    fn triangles_follow_each_other_as_rows_do() {
        let (m, k) = (200, 70);
        let all = rows(m, k);
        let part = |from: usize, to: usize| {
            let mut triangle = Triangle::new(k);
            triangle.take(all.as_ref().subrows(from, to - from).to_owned().as_mut());
            triangle
        };
        let expected = signed(Qr::new(all.clone()).r());
        for cut in [0, 1, 69, 70, 100, 150, 199] {
            let both = part(0, cut).followed_by(part(cut, m));
            let difference = signed(both.as_ref()) - &expected;
            assert!(difference.norm_max() < 1e-11, "{cut}");
        }
    }

    #[test]
    fn the_size_of_the_numbers_does_not_matter() {
        let of = |size: f64| {
            let mut triangle = Triangle::new(5);
            let entry = |i: usize, j: usize| size * ((3 * i + j * j) as f64).cos();
            (0..4).for_each(|_| triangle.take(Mat::from_fn(6, 5, entry).as_mut()));
            signed(triangle.as_ref())
        };
        let one = of(1.0);
        for size in [1e-160, 1e150] {
            let difference = of(size) * faer::Scale(1.0 / size) - &one;
            assert!(difference.norm_max() < 1e-13, "{size}");
        }
        for size in [0.0, 1e-310] {
            assert!(of(size).is_all_finite(), "{size}");
        }
    }
}
