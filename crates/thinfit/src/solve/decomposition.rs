//! A = U diag(s) Vᵀ: the QR of the tall side, then the singular values of the triangle.
//!
//! Dimensions: A is q × p, r = min(q, p). The ridge solution for any τ is b = V diag(s/(s² + τ²)) Uᵀy. The iteration for
//! the singular values may fail; then A itself is kept and every τ costs a QR of \[A; τI\]. This file knows matrices, not
//! samples; `orthogonal` asks the questions.

use crate::math::columns::column_mut;
use crate::solve::householder::Qr;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::svd::{ComputeSvdVectors, svd, svd_scratch};
use faer::{Mat, MatMut, Par};

/// Below this a singular value counts as zero: its reciprocal would overflow.
const TINY: f64 = 1e-290;

/// A factored matrix, good for any τ.
pub(super) enum Decomposition {
    /// U (q × r), s, V (p × r).
    Singular {
        u: Mat<f64>,
        s: Vec<f64>,
        v: Mat<f64>,
    },
    /// A (q × p) and its largest singular value, where the iteration failed.
    Whole { a: Mat<f64>, largest: f64 },
}

/// The solution for one τ: b = map · hatᵀ · y, fitted values hat · hatᵀ · y (hat q × r, map p × r).
pub(super) struct Influence {
    pub hat: Mat<f64>,
    pub map: Mat<f64>,
}

impl Decomposition {
    /// Factors `a` (q × p).
    pub fn new(a: Mat<f64>) -> Self {
        match singular_values(&a) {
            Some((u, s, v)) => Decomposition::Singular { u, s, v },
            None => Decomposition::whole(a),
        }
    }

    /// The factor that stands in for the singular values where they did not converge.
    pub fn whole(a: Mat<f64>) -> Self {
        let (q, p) = (a.nrows(), a.ncols());
        let mut padded = Mat::zeros(q + p, p);
        padded.as_mut().subrows_mut(0, q).copy_from(&a);
        let largest = Qr::new(padded).largest_singular_value(100);
        Decomposition::Whole { a, largest }
    }

    /// s_max.
    pub fn largest(&self) -> f64 {
        match self {
            Decomposition::Singular { s, .. } => s.first().copied().unwrap_or(0.0),
            Decomposition::Whole { largest, .. } => *largest,
        }
    }

    /// hat and map for one τ. A direction with s = τ = 0 gets no weight.
    pub fn influence(&self, tau: f64) -> Influence {
        match self {
            Decomposition::Singular { u, s, v } => {
                let (mut hat, mut map) = (u.clone(), v.clone());
                for (i, &s) in s.iter().enumerate() {
                    let length = s.hypot(tau);
                    let (of_hat, of_map) = if length < TINY {
                        (0.0, 0.0)
                    } else {
                        (s / length, 1.0 / length)
                    };
                    scale(hat.as_mut(), i, of_hat);
                    scale(map.as_mut(), i, of_map);
                }
                Influence { hat, map }
            }
            Decomposition::Whole { a, largest } => {
                let (q, p) = (a.nrows(), a.ncols());
                let tau = tau.max(f64::EPSILON * largest).max(TINY.sqrt());
                let mut augmented = Mat::zeros(q + p, p);
                augmented.as_mut().subrows_mut(0, q).copy_from(a);
                let below = augmented.as_mut().subrows_mut(q, p);
                below.diagonal_mut().fill(tau);
                let qr = Qr::new(augmented);
                let mut hat = Mat::identity(q + p, p);
                qr.apply(hat.as_mut());
                hat.truncate(q, p);
                let mut map = Mat::identity(p, p);
                qr.solve(map.as_mut());
                Influence { hat, map }
            }
        }
    }

    /// C = U diag(τ/√(s² + τ²)) with C Cᵀ = I − hat hatᵀ (q × q), where U is square.
    ///
    /// Nothing is left outside its span then, and the diagonal of C Cᵀ is a sum of squares, exact however small.
    pub fn complement(&self, tau: f64) -> Option<Mat<f64>> {
        match self {
            Decomposition::Singular { u, s, .. } if u.nrows() == u.ncols() => {
                let mut rest = u.clone();
                for (i, &s) in s.iter().enumerate() {
                    let length = s.hypot(tau);
                    let factor = if length < TINY { 1.0 } else { tau / length };
                    scale(rest.as_mut(), i, factor);
                }
                Some(rest)
            }
            _ => None,
        }
    }
}

fn scale(a: MatMut<'_, f64>, j: usize, factor: f64) {
    column_mut(a, j).iter_mut().for_each(|v| *v *= factor);
}

/// U, s and V; none where the iteration failed.
fn singular_values(a: &Mat<f64>) -> Option<(Mat<f64>, Vec<f64>, Mat<f64>)> {
    let tall = a.nrows() >= a.ncols();
    let long = if tall {
        a.clone()
    } else {
        a.transpose().to_owned()
    };
    let (rows, r) = (long.nrows(), long.ncols());
    let qr = Qr::new(long);
    let (mut left, mut right) = (Mat::zeros(rows, r), Mat::zeros(r, r));
    let mut s = faer::Col::<f64>::zeros(r);
    let thin = ComputeSvdVectors::Thin;
    let mut memory = MemBuffer::new(svd_scratch::<f64>(
        r,
        r,
        thin,
        thin,
        Par::Seq,
        Default::default(),
    ));
    svd(
        qr.triangle().as_ref(),
        s.as_mut().as_diagonal_mut(),
        Some(left.as_mut().subrows_mut(0, r)),
        Some(right.as_mut()),
        Par::Seq,
        MemStack::new(&mut memory),
        Default::default(),
    )
    .ok()?;
    qr.apply(left.as_mut());
    let s: Vec<f64> = s.iter().map(|s| s.abs()).collect();
    let finite = s.iter().all(|s| s.is_finite()) && left.is_all_finite() && right.is_all_finite();
    let (u, v) = if tall { (left, right) } else { (right, left) };
    finite.then_some((u, s, v))
}
