//! A term of a kernel: a shape over some of the inputs with one length ℓ_j for each of them, times a weight, and its
//! matrices.
//!
//! With q = Σ_j (x_j − x′_j)²/ℓ_j², r = √(5q) and κ_j = exp(−(x_j − x′_j)²/(2ℓ_j²)), j over the inputs of the term:
//!
//! ```text
//! gaussian   exp(−q/2)
//! matern52   (1 + r + r²/3) e⁻ʳ
//! additive   e_p(κ) = Σ over all sets of p inputs of the product of their κ_j
//! anova      Π_j (1 − c_j + c_j κ_j)
//! ```
//!
//! The share c_j of the last one says how much of the function depends on input j together with all others. With all
//! c_j = 1 it is the Gaussian shape; multiplied out, it is a sum over all sets of inputs, small sets weighing more.
//! `anova-matern52` is the same with κ_j the Matérn function of input j alone.
//!
//! Dimensions: `m` points, `n` rows to evaluate at, `d` inputs of which a term has `s`.

use crate::shape::additive::{self, symmetric, symmetric_slopes};
use crate::shape::distances::{Work, bounded, squares};
use crate::shape::{Kind, Profile, Shape, anova, with_profile};
use faer::{Mat, MatRef};
use serde::{Deserialize, Serialize};
use thinfit::elementary::vectorised;

/// A term of a kernel: weight · k_shape over some of the inputs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KernelTerm {
    /// Factor of the shape, positive.
    pub weight: f64,
    /// The function of the distances.
    pub shape: Shape,
    /// Columns of x that the term depends on (s).
    pub inputs: Vec<usize>,
    /// Lengths ℓ of these inputs (s), positive, in units of the scaled inputs.
    pub lengths: Vec<f64>,
    /// Shares c of these inputs (s), from 0 to 1; empty unless the shape has shares.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shares: Vec<f64>,
}

impl KernelTerm {
    /// The term of weight one over the first inputs, as many as there are lengths.
    pub fn full(shape: Shape, lengths: Vec<f64>) -> Self {
        KernelTerm {
            weight: 1.0,
            shape,
            inputs: (0..lengths.len()).collect(),
            lengths,
            shares: vec![],
        }
    }

    /// A shape with shares, of weight one over the first inputs, as many as there are lengths and shares.
    pub fn with_shares(shape: Shape, lengths: Vec<f64>, shares: Vec<f64>) -> Self {
        KernelTerm {
            shares,
            ..KernelTerm::full(shape, lengths)
        }
    }

    /// Whether the term has weight one and all inputs up to its last, in order.
    pub fn is_full(&self) -> bool {
        self.weight == 1.0
            && self.shares.is_empty()
            && self.inputs.iter().copied().eq(0..self.lengths.len())
    }

    /// Whether the term is one of `d` inputs: inputs in range, lengths and weight positive and finite.
    pub(crate) fn fits(&self, d: usize) -> bool {
        let positive = |v: &f64| v.is_finite() && *v > 1e-300;
        let order = match self.shape {
            Shape::Additive(order) => (1..=self.inputs.len()).contains(&order),
            _ => true,
        };
        let shares = if self.shape.has_shares() {
            self.inputs.len()
        } else {
            0
        };
        positive(&self.weight)
            && !self.inputs.is_empty()
            && self.inputs.iter().all(|input| *input < d)
            && self.lengths.len() == self.inputs.len()
            && self.lengths.iter().all(positive)
            && order
            && self.shares.len() == shares
            && self.shares.iter().all(|share| (0.0..=1.0).contains(share))
    }

    /// The matrix of weight · k(x_i, x_j) for the rows of `x` (m × d): its lower triangle, zero above.
    pub fn gram(&self, x: MatRef<'_, f64>) -> Mat<f64> {
        let x = x.to_owned();
        let mut gram = Mat::zeros(x.nrows(), x.nrows());
        let mut work = self.work();
        for j in 0..x.nrows() {
            let out = &mut gram.col_as_slice_mut(j)[j..];
            self.column(&x, j, x.as_ref(), j, out, &mut work);
        }
        gram
    }

    /// The matrix of weight · k(x_i, p_j) for the rows of `x` (n × d) and of `points` (m × d): n × m.
    pub fn cross(&self, x: MatRef<'_, f64>, points: MatRef<'_, f64>) -> Mat<f64> {
        let x = x.to_owned();
        let mut cross = Mat::zeros(x.nrows(), points.nrows());
        let mut work = self.work();
        for j in 0..points.nrows() {
            self.column(&x, 0, points, j, cross.col_as_slice_mut(j), &mut work);
        }
        cross
    }

    /// weight · k(x, x), the same for every x.
    pub fn diagonal(&self) -> f64 {
        match self.shape.kind() {
            Kind::Additive(order) => additive::diagonal(order, self.lengths.len(), self.weight),
            _ => self.weight,
        }
    }

    /// −2 weight · ∂k/∂q for every pair, the lower triangle; `gram` is the term's matrix of the same points. Radial
    /// shapes only.
    pub(crate) fn slopes(&self, gram: Mat<f64>, x: &Mat<f64>) -> Mat<f64> {
        if with_profile!(self.shape, P => P::IS_ITS_SLOPE) {
            return gram;
        }
        let (mut slopes, mut work) = (gram, self.work());
        for j in 0..x.nrows() {
            let column = &mut slopes.col_as_slice_mut(j)[j..];
            self.slope_column(x, j, x.as_ref(), j, column, &mut work);
        }
        slopes
    }

    /// Adds Σ_p c_p ∂(weight · k(x_i, p))/∂x_ij to `out` (n × d), for the rows of `x` (n × d) and of `points` (m × d),
    /// c (m).
    ///
    /// ```text
    /// radial     ∂k/∂x_j = 2k′(q) Δ_j/ℓ_j²                                Δ = x − p
    /// additive   ∂k/∂x_j = −κ_j Δ_j/ℓ_j² · e_{order−1} of the other κ
    /// ```
    pub(crate) fn add_gradient(
        &self,
        x: &Mat<f64>,
        points: MatRef<'_, f64>,
        c: &[f64],
        out: &mut Mat<f64>,
    ) {
        let mut work = self.work();
        let mut slope = vec![0.0; x.nrows()];
        for (p, &c) in c.iter().enumerate() {
            if let Shape::Additive(order) = self.shape {
                for i in 0..x.nrows() {
                    let slopes = symmetric_slopes(x, i, points, p, order, &work.axes);
                    for (&(k, _), slope) in work.axes.iter().zip(slopes) {
                        out[(i, k)] += self.weight * c * slope;
                    }
                }
                continue;
            }
            if self.shape.has_shares() {
                with_profile!(self.shape, P => anova::slopes::<P>(self, x, points, p, c, out, &work.axes));
                continue;
            }
            self.slope_column(x, 0, points, p, &mut slope, &mut work);
            for &(k, inverse) in &work.axes {
                let (column, point, factor) = (x.col_as_slice(k), points[(p, k)], -c * inverse);
                let out = out.col_as_slice_mut(k);
                vectorised(
                    #[inline(always)]
                    || {
                        for ((out, x), slope) in out.iter_mut().zip(column).zip(&slope) {
                            *out += factor * (slope * bounded((x - point) * inverse));
                        }
                    },
                );
            }
        }
    }

    /// −2 weight · ∂k/∂q of (x_i, p_j) for all i from `start`. Radial shapes only.
    fn slope_column(
        &self,
        x: &Mat<f64>,
        start: usize,
        points: MatRef<'_, f64>,
        j: usize,
        out: &mut [f64],
        work: &mut Work,
    ) {
        assert!(self.shape.kind() == Kind::Radial);
        with_profile!(self.shape, P => {
            squares(x, start, points, j, &work.axes, P::FACTOR, out);
            P::slopes(out, work.row(0, out.len()));
        });
        self.weigh(out);
    }

    /// weight · k(x_i, p_j) for all i from `start`.
    fn column(
        &self,
        x: &Mat<f64>,
        start: usize,
        points: MatRef<'_, f64>,
        j: usize,
        out: &mut [f64],
        work: &mut Work,
    ) {
        match self.shape.kind() {
            Kind::Radial => with_profile!(self.shape, P => {
                squares(x, start, points, j, &work.axes, P::FACTOR, out);
                P::values(out, work.row(0, out.len()));
            }),
            Kind::Additive(order) => {
                symmetric(x, start, points, j, order, work);
                out.copy_from_slice(work.row(order, out.len()));
            }
            Kind::Product => with_profile!(self.shape, P => {
                anova::values::<P>(&self.shares, x, start, points, j, &work.axes, out);
            }),
        }
        self.weigh(out);
    }

    /// weight · k(x_i, p_j) for all i.
    pub(crate) fn column_of(&self, x: &Mat<f64>, points: MatRef<'_, f64>, j: usize) -> Vec<f64> {
        let mut out = vec![0.0; x.nrows()];
        self.column(x, 0, points, j, &mut out, &mut self.work());
        out
    }

    fn work(&self) -> Work {
        Work::new(self.inputs.iter().copied().zip(&self.lengths))
    }

    fn weigh(&self, values: &mut [f64]) {
        if self.weight != 1.0 {
            values.iter_mut().for_each(|v| *v *= self.weight);
        }
    }
}
