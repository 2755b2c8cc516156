//! Kernels k(x, x′) with one length ℓ_j per input, and their matrices.
//!
//! With q = Σ_j (x_j − x′_j)²/ℓ_j², r = √(5q) and κ_j = exp(−(x_j − x′_j)²/(2ℓ_j²)):
//!
//! ```text
//! gaussian   exp(−q/2)
//! matern52   (1 + r + r²/3) e⁻ʳ
//! additive   e_p(κ_1, …, κ_d) = Σ over all sets of p inputs of the product of their κ_j
//! ```
//!
//! Dimensions: `m` points, `n` rows to evaluate at, `d` inputs.
//!
//! Distances are sums of squared differences, not |x|² + |x′|² − 2⟨x, x′⟩ by a matrix product. The product form
//! cancels: its error is of order eps |x|² however close the points are, so near neighbours can get a negative
//! distance. Nor is it needed for speed: the differences cost 3d operations per pair, factorising the matrix m/3.
//!
//! What lengths to take, and what to solve with the matrices, is up to the methods.

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
}

/// Reads a shape that depends on the distance alone; a model's file may also have the additive one.
pub(crate) fn radial<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Shape, D::Error> {
    #[derive(Deserialize)]
    #[serde(rename_all = "kebab-case")]
    enum Radial {
        Gaussian,
        Matern52,
    }
    Ok(match Radial::deserialize(deserializer)? {
        Radial::Gaussian => Shape::Gaussian,
        Radial::Matern52 => Shape::Matern52,
    })
}

/// A kernel: its shape and a length per input.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Kernel {
    /// The function of the distances.
    pub shape: Shape,
    /// Lengths ℓ (d), positive, in units of the scaled inputs.
    pub lengths: Vec<f64>,
}

impl Kernel {
    /// The matrix of k(x_i, x_j) for the rows of `x` (m × d): its lower triangle, zero above.
    pub fn gram(&self, x: MatRef<'_, f64>) -> Mat<f64> {
        let x = x.to_owned();
        let mut gram = Mat::zeros(x.nrows(), x.nrows());
        let mut work = Work::new(self);
        for j in 0..x.nrows() {
            let out = &mut gram.col_as_slice_mut(j)[j..];
            self.column(&x, j, x.as_ref(), j, out, &mut work);
        }
        gram
    }

    /// The matrix of k(x_i, p_j) for the rows of `x` (n × d) and of `points` (m × d): n × m.
    pub fn cross(&self, x: MatRef<'_, f64>, points: MatRef<'_, f64>) -> Mat<f64> {
        let x = x.to_owned();
        let mut cross = Mat::zeros(x.nrows(), points.nrows());
        let mut work = Work::new(self);
        for j in 0..points.nrows() {
            self.column(&x, 0, points, j, cross.col_as_slice_mut(j), &mut work);
        }
        cross
    }

    /// k(x, x), the same for every x.
    pub fn diagonal(&self) -> f64 {
        match self.shape {
            Shape::Gaussian | Shape::Matern52 => 1.0,
            Shape::Additive(order) => (0..order).fold(1.0, |c, i| {
                c * (self.lengths.len() - i) as f64 / (i + 1) as f64
            }),
        }
    }

    /// −2 ∂k/∂q for every pair, the lower triangle; `gram` is the matrix of the same points. Radial kernels only.
    pub(crate) fn slopes(&self, gram: Mat<f64>, x: &Mat<f64>) -> Mat<f64> {
        if self.shape == Shape::Gaussian {
            return gram;
        }
        assert_eq!(
            self.shape,
            Shape::Matern52,
            "an additive kernel is not radial"
        );
        let (mut slopes, mut work) = (gram, Work::new(self));
        for j in 0..x.nrows() {
            let column = &mut slopes.col_as_slice_mut(j)[j..];
            squares(x, j, x.as_ref(), j, &work.inverse, 5.0, column);
            matern(
                column,
                work.row(0, x.nrows() - j),
                [5.0 / 3.0, 5.0 / 3.0, 0.0],
            );
        }
        slopes
    }

    /// k(x_i, p_j) for all i from `start`.
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
                squares(x, start, points, j, &work.inverse, -0.5, out);
                exp(out);
            }
            Shape::Matern52 => {
                squares(x, start, points, j, &work.inverse, 5.0, out);
                matern(out, work.row(0, out.len()), [1.0, 1.0, 1.0 / 3.0]);
            }
            Shape::Additive(order) => {
                symmetric(x, start, points, j, order, work);
                out.copy_from_slice(work.row(order, out.len()));
            }
        }
    }

    /// The matrices of the additive kernels of orders `from` to `to`, lower triangles, in one pass over the pairs.
    pub(crate) fn additive_grams(
        lengths: &[f64],
        x: MatRef<'_, f64>,
        from: usize,
        to: usize,
    ) -> Vec<Mat<f64>> {
        let kernel = Kernel {
            shape: Shape::Additive(to),
            lengths: lengths.to_vec(),
        };
        let x = x.to_owned();
        let m = x.nrows();
        let mut grams: Vec<Mat<f64>> = (from..=to).map(|_| Mat::zeros(m, m)).collect();
        let mut work = Work::new(&kernel);
        for j in 0..m {
            symmetric(&x, j, x.as_ref(), j, to, &mut work);
            for (gram, p) in grams.iter_mut().zip(from..) {
                gram.col_as_slice_mut(j)[j..].copy_from_slice(work.row(p, m - j));
            }
        }
        grams
    }
}

/// Workspace reused from column to column: 1/ℓ and scratch rows.
struct Work {
    inverse: Vec<f64>,
    rows: Vec<Vec<f64>>,
}

impl Work {
    fn new(kernel: &Kernel) -> Self {
        Work {
            inverse: kernel.lengths.iter().map(|length| 1.0 / length).collect(),
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

/// out_i ← factor · Σ_k ((x_ik − p_jk) · inverse_k)² for i from `start`; subtracting first, so that an offset of the
/// inputs costs no digits.
pub(crate) fn squares(
    x: &Mat<f64>,
    start: usize,
    points: MatRef<'_, f64>,
    j: usize,
    inverse: &[f64],
    factor: f64,
    out: &mut [f64],
) {
    vectorised(
        #[inline(always)]
        || {
            out.fill(0.0);
            for (k, &inverse) in inverse.iter().enumerate() {
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
    for k in 0..x.ncols() {
        let (column, point, inverse) =
            (&x.col_as_slice(k)[start..], points[(j, k)], work.inverse[k]);
        let base = work.row(order + 1, n);
        vectorised(
            #[inline(always)]
            || {
                for (base, x) in base.iter_mut().zip(column) {
                    let t = (x - point) * inverse;
                    *base = -0.5 * (t * t);
                }
            },
        );
        exp(base);
        // After k inputs only e_0 … e_k are non-zero.
        for p in (1..=order.min(k + 1)).rev() {
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

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    pub(crate) fn random(rows: usize, columns: usize, seed: u64) -> Mat<f64> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        Mat::from_fn(rows, columns, |_, _| rng.random())
    }

    /// k(a, b) straight from its definition.
    pub(crate) fn plain(kernel: &Kernel, a: &[f64], b: &[f64]) -> f64 {
        let squares: Vec<f64> = (0..a.len())
            .map(|j| ((a[j] - b[j]) / kernel.lengths[j]).powi(2))
            .collect();
        let q: f64 = squares.iter().sum();
        match kernel.shape {
            Shape::Gaussian => (-0.5 * q).exp(),
            Shape::Matern52 => {
                let r = (5.0 * q).sqrt();
                (1.0 + r + r * r / 3.0) * (-r).exp()
            }
            Shape::Additive(order) => (0u32..1 << a.len())
                .filter(|set| set.count_ones() as usize == order)
                .map(|set| {
                    let q: f64 = (0..a.len())
                        .filter(|j| set >> j & 1 == 1)
                        .map(|j| squares[j])
                        .sum();
                    (-0.5 * q).exp()
                })
                .sum(),
        }
    }

    #[test]
    fn matrices_are_the_kernel_of_every_pair() {
        let (x, points) = (random(19, 4, 1), random(23, 4, 2));
        let row = |a: &Mat<f64>, i: usize| a.row(i).iter().copied().collect::<Vec<_>>();
        for shape in [
            Shape::Gaussian,
            Shape::Matern52,
            Shape::Additive(1),
            Shape::Additive(3),
            Shape::Additive(4),
        ] {
            let lengths = vec![0.3, 1.0, 2.0, 0.7];
            let kernel = Kernel { shape, lengths };
            let (gram, cross) = (
                kernel.gram(x.as_ref()),
                kernel.cross(x.as_ref(), points.as_ref()),
            );
            for i in 0..19 {
                for j in 0..23 {
                    let expected = plain(&kernel, &row(&x, i), &row(&points, j));
                    assert!((cross[(i, j)] / expected - 1.0).abs() < 1e-14, "{shape:?}");
                }
                for j in 0..19 {
                    let expected = plain(&kernel, &row(&x, i), &row(&x, j));
                    let expected = if i >= j { expected } else { 0.0 };
                    assert!(
                        (gram[(i, j)] - expected).abs() <= 1e-14 * expected,
                        "{shape:?}"
                    );
                }
                assert_eq!(gram[(i, i)], kernel.diagonal());
            }
        }
        let grams = Kernel::additive_grams(&[0.3, 1.0, 2.0, 0.7], x.as_ref(), 2, 4);
        for (gram, order) in grams.iter().zip(2..) {
            let kernel = Kernel {
                shape: Shape::Additive(order),
                lengths: vec![0.3, 1.0, 2.0, 0.7],
            };
            assert_eq!(*gram, kernel.gram(x.as_ref()));
        }
    }

    #[test]
    fn far_points_have_the_kernel_zero() {
        let x = Mat::from_fn(2, 1, |i, _| 1e150 * i as f64);
        for shape in [Shape::Gaussian, Shape::Matern52, Shape::Additive(1)] {
            let lengths = vec![1e-160];
            let gram = Kernel { shape, lengths }.gram(x.as_ref());
            assert_eq!((gram[(1, 1)], gram[(1, 0)]), (1.0, 0.0));
        }
    }
}
