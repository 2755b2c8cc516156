//! The elementary symmetric polynomials e_p of one-dimensional Gaussian kernels κ.

use super::distances::{Work, bounded, squares};
use faer::{Mat, MatRef};
use thinfit::elementary::{exp, vectorised};

/// e_order of ones: its value where all points are the same.
pub(crate) fn diagonal(order: usize, inputs: usize, weight: f64) -> f64 {
    (0..order).fold(weight, |c, i| c * (inputs - i) as f64 / (i + 1) as f64)
}

/// The matrices of the additive kernels of orders `from` to `to`, lower triangles, in one pass over the pairs.
pub fn additive_grams(
    lengths: &[f64],
    x: MatRef<'_, f64>,
    from: usize,
    to: usize,
) -> Vec<Mat<f64>> {
    let x = x.to_owned();
    let m = x.nrows();
    let mut grams: Vec<Mat<f64>> = (from..=to).map(|_| Mat::zeros(m, m)).collect();
    let mut work = Work::new(lengths.iter().enumerate());
    for j in 0..m {
        symmetric(&x, j, x.as_ref(), j, to, &mut work);
        for (gram, p) in grams.iter_mut().zip(from..) {
            gram.col_as_slice_mut(j)[j..].copy_from_slice(work.row(p, m - j));
        }
    }
    grams
}

/// e_0 … e_order of the κ_k in rows 0 … order of `work`, by e_p ← e_p + κ_k e_{p−1} for every input k, which does not
/// cancel; row order + 1 is scratch for κ_k.
pub(crate) fn symmetric(
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

/// ∂e_order(κ)/∂x_k of the pair (x_i, p_j) for the inputs k of `axes`, backwards through e_p ← e_p + κ_k e_{p−1}: only
/// products and sums of positive numbers, so nothing cancels.
pub(crate) fn symmetric_slopes(
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
