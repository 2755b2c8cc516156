//! One term of a kernel: a weight times a shape over some of the inputs, with one length scale ℓ_j for each of them,
//! and its matrices.
//!
//! With q = Σ_j (x_j − x′_j)²/ℓ_j², r = √(5q) and κ_j = exp(−(x_j − x′_j)²/(2ℓ_j²)), j over the inputs of the part:
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
//! Dimensions: `m` points, `n` rows to evaluate at, `d` inputs of which a part has `s`.
//!
//! Distances are sums of squared differences, not |x|² + |x′|² − 2⟨x, x′⟩ by a matrix product. The product form
//! cancels: its error is of order eps |x|² however close the points are, so near neighbours can get a negative
//! distance. Nor is it needed for speed: the differences cost 3s operations per pair, factorising the matrix m/3.

use faer::{Mat, MatRef};
use serde::{Deserialize, Deserializer, Serialize};
use thinfit::elementary::{exp, vectorised};

/// The function of the distances.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shape {
    /// exp(−q/2), for smooth functions.
    #[default]
    Gaussian,
    /// (1 + r + r²/3) e⁻ʳ, for twice differentiable functions.
    Matern52,
    /// The elementary symmetric polynomial of this order of one-dimensional Gaussian kernels.
    Additive(usize),
    /// Π_j (1 − c_j + c_j κ_j), for functions that are nearly sums of functions of few inputs.
    Anova,
    /// The same with κ_j the Matérn 5/2 function of one input.
    AnovaMatern52,
}

impl Shape {
    /// Whether it is a product over inputs with shares.
    pub(crate) fn has_shares(self) -> bool {
        matches!(self, Shape::Anova | Shape::AnovaMatern52)
    }
}

/// Reads a shape that a Gaussian process can have; a model's file may also have the additive one.
pub(crate) fn of_process<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Shape, D::Error> {
    #[derive(Deserialize)]
    #[serde(rename_all = "kebab-case")]
    enum OfProcess {
        Gaussian,
        Matern52,
        Anova,
        AnovaMatern52,
    }
    Ok(match OfProcess::deserialize(deserializer)? {
        OfProcess::Gaussian => Shape::Gaussian,
        OfProcess::Matern52 => Shape::Matern52,
        OfProcess::Anova => Shape::Anova,
        OfProcess::AnovaMatern52 => Shape::AnovaMatern52,
    })
}

/// A part of a kernel: weight · k_shape over some of the inputs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Part {
    /// Factor of the shape, positive.
    pub weight: f64,
    /// The function of the distances.
    pub shape: Shape,
    /// Columns of x that the part depends on (s).
    pub inputs: Vec<usize>,
    /// Lengths ℓ of these inputs (s), positive, in units of the scaled inputs.
    pub lengths: Vec<f64>,
    /// Shares c of these inputs (s), from 0 to 1; empty unless the shape has shares.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shares: Vec<f64>,
}

impl Part {
    /// The part of weight one over the first inputs, as many as there are lengths.
    pub fn full(shape: Shape, lengths: Vec<f64>) -> Self {
        Part {
            weight: 1.0,
            shape,
            inputs: (0..lengths.len()).collect(),
            lengths,
            shares: vec![],
        }
    }

    /// A shape with shares, of weight one over the first inputs, as many as there are lengths and shares.
    pub fn with_shares(shape: Shape, lengths: Vec<f64>, shares: Vec<f64>) -> Self {
        Part {
            shares,
            ..Part::full(shape, lengths)
        }
    }

    /// Whether the part has weight one and all inputs up to its last, in order.
    pub(crate) fn is_full(&self) -> bool {
        self.weight == 1.0
            && self.shares.is_empty()
            && self.inputs.iter().copied().eq(0..self.lengths.len())
    }

    /// Whether the part is one of `d` inputs: inputs in range, lengths and weight positive and finite.
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
    pub(crate) fn gram(&self, x: MatRef<'_, f64>) -> Mat<f64> {
        let x = x.to_owned();
        let mut gram = Mat::zeros(x.nrows(), x.nrows());
        let mut work = Work::new(self);
        for j in 0..x.nrows() {
            let out = &mut gram.col_as_slice_mut(j)[j..];
            self.column(&x, j, x.as_ref(), j, out, &mut work);
        }
        gram
    }

    /// The matrix of weight · k(x_i, p_j) for the rows of `x` (n × d) and of `points` (m × d): n × m.
    pub(crate) fn cross(&self, x: MatRef<'_, f64>, points: MatRef<'_, f64>) -> Mat<f64> {
        let x = x.to_owned();
        let mut cross = Mat::zeros(x.nrows(), points.nrows());
        let mut work = Work::new(self);
        for j in 0..points.nrows() {
            self.column(&x, 0, points, j, cross.col_as_slice_mut(j), &mut work);
        }
        cross
    }

    /// weight · k(x, x), the same for every x.
    pub(crate) fn diagonal(&self) -> f64 {
        match self.shape {
            Shape::Additive(order) => (0..order).fold(self.weight, |c, i| {
                c * (self.lengths.len() - i) as f64 / (i + 1) as f64
            }),
            _ => self.weight,
        }
    }

    /// −2 weight · ∂k/∂q for every pair, the lower triangle; `gram` is the part's matrix of the same points. Radial
    /// shapes only.
    pub(crate) fn slopes(&self, gram: Mat<f64>, x: &Mat<f64>) -> Mat<f64> {
        if self.shape == Shape::Gaussian {
            return gram;
        }
        let (mut slopes, mut work) = (gram, Work::new(self));
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
        let mut work = Work::new(self);
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
                self.product_slopes(x, points, p, c, out, &work.axes);
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

    /// Adds factor · weight · ∂k(x_i, p_j)/∂x_ik to `out` for a shape with shares: k c_k ∂κ_k/∂x_k over 1 − c_k + c_k κ_k.
    fn product_slopes(
        &self,
        x: &Mat<f64>,
        points: MatRef<'_, f64>,
        j: usize,
        factor: f64,
        out: &mut Mat<f64>,
        axes: &[(usize, f64)],
    ) {
        let mut k = vec![0.0; x.nrows()];
        self.column(x, 0, points, j, &mut k, &mut Work::new(self));
        let mut scratch = [vec![0.0; x.nrows()], vec![0.0; x.nrows()]];
        for (share, &axis) in self.shares.iter().zip(axes) {
            self.one_input(x, 0, points, j, axis, &mut scratch);
            let [kappa, decay] = &scratch;
            for i in 0..x.nrows() {
                let t = bounded((x[(i, axis.0)] - points[(j, axis.0)]) * axis.1);
                let slope = match self.shape {
                    Shape::AnovaMatern52 => {
                        5.0 / 3.0 * t * (1.0 + 5f64.sqrt() * t.abs()) * decay[i]
                    }
                    _ => t * kappa[i],
                };
                let whole = ((1.0 - share) + share * kappa[i]).max(f64::MIN_POSITIVE);
                out[(i, axis.0)] -= factor * k[i] * share * slope * axis.1 / whole;
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
        match self.shape {
            Shape::Gaussian => self.column(x, start, points, j, out, work),
            Shape::Matern52 => {
                squares(x, start, points, j, &work.axes, 5.0, out);
                matern(out, work.row(0, out.len()), [5.0 / 3.0, 5.0 / 3.0, 0.0]);
                self.weigh(out);
            }
            _ => panic!("the shape is not radial"),
        }
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
        match self.shape {
            Shape::Gaussian => {
                squares(x, start, points, j, &work.axes, -0.5, out);
                exp(out);
            }
            Shape::Matern52 => {
                squares(x, start, points, j, &work.axes, 5.0, out);
                matern(out, work.row(0, out.len()), [1.0, 1.0, 1.0 / 3.0]);
            }
            Shape::Additive(order) => {
                symmetric(x, start, points, j, order, work);
                out.copy_from_slice(work.row(order, out.len()));
            }
            Shape::Anova | Shape::AnovaMatern52 => {
                out.fill(1.0);
                let mut scratch = [vec![0.0; out.len()], vec![0.0; out.len()]];
                for (share, &axis) in self.shares.iter().zip(&work.axes) {
                    self.one_input(x, start, points, j, axis, &mut scratch);
                    for (out, kappa) in out.iter_mut().zip(&scratch[0]) {
                        *out *= (1.0 - share) + share * kappa;
                    }
                }
            }
        }
        self.weigh(out);
    }

    /// κ_k(x_i, p_j) for all i from `start` in the first row of `scratch`, for the axis (k, 1/ℓ_k).
    pub(crate) fn one_input(
        &self,
        x: &Mat<f64>,
        start: usize,
        points: MatRef<'_, f64>,
        j: usize,
        axis: (usize, f64),
        [kappa, decay]: &mut [Vec<f64>; 2],
    ) {
        if self.shape == Shape::AnovaMatern52 {
            squares(x, start, points, j, &[axis], 5.0, kappa);
            matern(kappa, decay, [1.0, 1.0, 1.0 / 3.0]);
        } else {
            squares(x, start, points, j, &[axis], -0.5, kappa);
            exp(kappa);
        }
    }

    fn weigh(&self, values: &mut [f64]) {
        if self.weight != 1.0 {
            values.iter_mut().for_each(|v| *v *= self.weight);
        }
    }

    /// The matrices of the additive kernels of orders `from` to `to`, lower triangles, in one pass over the pairs.
    pub(crate) fn additive_grams(
        lengths: &[f64],
        x: MatRef<'_, f64>,
        from: usize,
        to: usize,
    ) -> Vec<Mat<f64>> {
        let x = x.to_owned();
        let m = x.nrows();
        let mut grams: Vec<Mat<f64>> = (from..=to).map(|_| Mat::zeros(m, m)).collect();
        let mut work = Work::new(&Part::full(Shape::Additive(to), lengths.to_vec()));
        for j in 0..m {
            symmetric(&x, j, x.as_ref(), j, to, &mut work);
            for (gram, p) in grams.iter_mut().zip(from..) {
                gram.col_as_slice_mut(j)[j..].copy_from_slice(work.row(p, m - j));
            }
        }
        grams
    }
}

/// Workspace reused from column to column: (j, 1/ℓ_j) of the inputs, and scratch rows.
struct Work {
    axes: Vec<(usize, f64)>,
    rows: Vec<Vec<f64>>,
}

impl Work {
    fn new(part: &Part) -> Self {
        let inverse = part.lengths.iter().map(|length| 1.0 / length);
        Work {
            axes: part.inputs.iter().copied().zip(inverse).collect(),
            rows: Vec::new(),
        }
    }

    fn row(&mut self, index: usize, length: usize) -> &mut [f64] {
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
pub(crate) fn squares(
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

/// r² ← (c_0 + c_1 r + c_2 r²) e⁻ʳ; r is capped at 1000, where the kernel is zero, to avoid infinity times zero.
fn matern(r2: &mut [f64], decay: &mut [f64], c: [f64; 3]) {
    vectorised(
        #[inline(always)]
        || {
            for (r2, decay) in r2.iter_mut().zip(decay.iter_mut()) {
                *r2 = r2.min(1e6);
                *decay = -r2.sqrt();
            }
        },
    );
    exp(decay);
    vectorised(
        #[inline(always)]
        || {
            for (r2, decay) in r2.iter_mut().zip(decay.iter()) {
                *r2 = (c[0] + c[1] * r2.sqrt() + c[2] * *r2) * decay;
            }
        },
    );
}

/// e_0 … e_order of the κ_k in rows 0 … order of `work`, by e_p ← e_p + κ_k e_{p−1} for every input k, which does not
/// cancel; row order + 1 is scratch for κ_k.
fn symmetric(
    x: &Mat<f64>,
    start: usize,
    points: MatRef<'_, f64>,
    j: usize,
    order: usize,
    work: &mut Work,
) {
    let n = x.nrows() - start;
    for p in 0..=order {
        work.row(p, n).fill(if p == 0 { 1.0 } else { 0.0 });
    }
    for count in 0..work.axes.len() {
        let (k, inverse) = work.axes[count];
        let base = work.row(order + 1, n);
        squares(x, start, points, j, &[(k, inverse)], -0.5, base);
        exp(base);
        // After `count` inputs only the e_p up to p = `count` are non-zero.
        for p in (1..=order.min(count + 1)).rev() {
            let (lower, upper) = work.rows.split_at_mut(p);
            let (upper, base) = upper.split_at_mut(order + 1 - p);
            let (sum, factor, base) = (&mut upper[0][..n], &lower[p - 1][..n], &base[0][..n]);
            vectorised(
                #[inline(always)]
                || {
                    for ((sum, factor), base) in sum.iter_mut().zip(factor).zip(base) {
                        *sum = factor.mul_add(*base, *sum);
                    }
                },
            );
        }
    }
}

/// A difference in units of the length, kept where its product with a kernel that has vanished is zero.
#[inline(always)]
fn bounded(t: f64) -> f64 {
    t.clamp(-1e150, 1e150)
}

/// ∂e_order(κ)/∂x_k of the pair (x_i, p_j) for the inputs k of `axes`, backwards through e_p ← e_p + κ_k e_{p−1}: only
/// products and sums of positive numbers, so nothing cancels.
fn symmetric_slopes(
    x: &Mat<f64>,
    i: usize,
    points: MatRef<'_, f64>,
    j: usize,
    order: usize,
    axes: &[(usize, f64)],
) -> Vec<f64> {
    let far: Vec<f64> = (axes.iter())
        .map(|&(k, inverse)| bounded((x[(i, k)] - points[(j, k)]) * inverse))
        .collect();
    let mut kappa: Vec<f64> = far.iter().map(|t| -0.5 * (t * t)).collect();
    exp(&mut kappa);
    // before[k] holds e_0 … e_order of the first k inputs.
    let mut before = vec![vec![0.0; order + 1]; axes.len() + 1];
    before[0][0] = 1.0;
    for (k, kappa) in kappa.iter().enumerate() {
        before[k + 1][0] = 1.0;
        for p in 1..=order {
            before[k + 1][p] = before[k][p] + kappa * before[k][p - 1];
        }
    }
    let (mut adjoint, mut slopes) = (vec![0.0; order + 1], vec![0.0; axes.len()]);
    adjoint[order] = 1.0;
    for k in (0..axes.len()).rev() {
        let others: f64 = (1..=order).map(|p| adjoint[p] * before[k][p - 1]).sum();
        slopes[k] = -(kappa[k] * far[k]) * axes[k].1 * others;
        for p in 1..=order {
            adjoint[p - 1] += kappa[k] * adjoint[p];
        }
    }
    slopes
}
