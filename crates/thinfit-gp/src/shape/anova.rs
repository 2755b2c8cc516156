//! Π_j (1 − c_j + c_j κ_j) over the inputs, with the function κ_j of input j alone.

use super::distances::{bounded, squares};
use super::{Profile, with_profile};
use crate::KernelTerm;
use faer::{Mat, MatRef};
use rayon::prelude::*;

/// The values at the pairs (x_i, p_j) for all i from `start`.
pub(crate) fn values<P: Profile>(
    shares: &[f64],
    x: &Mat<f64>,
    start: usize,
    points: MatRef<'_, f64>,
    j: usize,
    axes: &[(usize, f64)],
    out: &mut [f64],
) {
    out.fill(1.0);
    let mut scratch = [vec![0.0; out.len()], vec![0.0; out.len()]];
    for (share, &axis) in shares.iter().zip(axes) {
        one_input::<P>(x, start, points, j, axis, &mut scratch);
        for (out, kappa) in out.iter_mut().zip(&scratch[0]) {
            *out *= (1.0 - share) + share * kappa;
        }
    }
}

/// Adds factor · weight · ∂k(x_i, p_j)/∂x_ik to `out` for a shape with shares: k c_k ∂κ_k/∂x_k over 1 − c_k + c_k κ_k.
pub(crate) fn slopes<P: Profile>(
    term: &KernelTerm,
    x: &Mat<f64>,
    points: MatRef<'_, f64>,
    j: usize,
    factor: f64,
    out: &mut Mat<f64>,
    axes: &[(usize, f64)],
) {
    let k = term.column_of(x, points, j);
    let mut scratch = [vec![0.0; x.nrows()], vec![0.0; x.nrows()]];
    for (share, &axis) in term.shares.iter().zip(axes) {
        one_input::<P>(x, 0, points, j, axis, &mut scratch);
        let [kappa, decay] = &scratch;
        for i in 0..x.nrows() {
            let t = bounded((x[(i, axis.0)] - points[(j, axis.0)]) * axis.1);
            let slope = P::slope(t, kappa[i], decay[i]);
            let whole = ((1.0 - share) + share * kappa[i]).max(f64::MIN_POSITIVE);
            out[(i, axis.0)] -= factor * k[i] * share * slope * axis.1 / whole;
        }
    }
}

/// ½ Σ_ab V_ab ∂k_ab for the logarithms of the lengths, then for the logits of the shares. With φ_k = 1 − c_k + c_k κ_k,
///
/// ```text
/// ∂k/∂ ln ℓ_k = k c_k κ_k′/φ_k        ∂k/∂ logit c_k = k c_k (1 − c_k) (κ_k − 1)/φ_k
/// ```
///
/// where κ′ = ∂κ/∂ ln ℓ is κ Δ²/ℓ² for the Gaussian and r²(1 + r)e⁻ʳ/3 for the Matérn function.
pub(crate) fn gradient(term: &KernelTerm, gram: Mat<f64>, x: &Mat<f64>, v: Mat<f64>) -> Vec<f64> {
    with_profile!(term.shape, P => gradient_of::<P>(term, gram, x, v))
}

fn gradient_of<P: Profile>(
    term: &KernelTerm,
    gram: Mat<f64>,
    x: &Mat<f64>,
    v: Mat<f64>,
) -> Vec<f64> {
    let (m, d) = (x.nrows(), x.ncols());
    let columns: Vec<Vec<f64>> = (0..m)
        .into_par_iter()
        .map(|j| {
            let (v, k) = (&v.col_as_slice(j)[j + 1..], &gram.col_as_slice(j)[j + 1..]);
            let mut scratch = [vec![0.0; m - j - 1], vec![0.0; m - j - 1]];
            let mut sums = vec![0.0; 2 * d];
            for (at, (length, share)) in term.lengths.iter().zip(&term.shares).enumerate() {
                let (point, inverse) = (x[(j, at)], 1.0 / length);
                one_input::<P>(x, j + 1, x.as_ref(), j, (at, inverse), &mut scratch);
                let [kappa, decay] = &scratch;
                let x_k = &x.col_as_slice(at)[j + 1..];
                let (mut of_length, mut of_share) = (0.0, 0.0);
                for ((((v, k), kappa), decay), x) in v.iter().zip(k).zip(kappa).zip(decay).zip(x_k)
                {
                    let weight = v * k / ((1.0 - share) + share * kappa).max(f64::MIN_POSITIVE);
                    let t2 = ((x - point) * inverse).powi(2);
                    of_length += weight * P::length_slope(t2, *kappa, *decay);
                    of_share += weight * (kappa - 1.0);
                }
                sums[at] = share * of_length;
                sums[d + at] = share * (1.0 - share) * of_share;
            }
            sums
        })
        .collect();
    // In the order of the columns, whatever the threads did.
    let mut gradient = vec![0.0; 2 * d];
    for column in columns {
        gradient.iter_mut().zip(column).for_each(|(g, v)| *g += v);
    }
    gradient
}

/// κ_k(x_i, p_j) for all i from `start` for the axis (k, 1/ℓ_k), and what its derivatives need.
fn one_input<P: Profile>(
    x: &Mat<f64>,
    start: usize,
    points: MatRef<'_, f64>,
    j: usize,
    axis: (usize, f64),
    [kappa, decay]: &mut [Vec<f64>; 2],
) {
    squares(x, start, points, j, &[axis], P::FACTOR, kappa);
    P::values(kappa, decay);
}
