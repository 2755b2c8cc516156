//! The marginal likelihood of a Gaussian process and its derivatives, with formulas as in the head of
//! `gaussian_process`.

use crate::kernels::cholesky::{cholesky, inverse, solve, with_ridge};
use crate::{Kernel, Part, Shape};
use faer::{Mat, Par};
use std::f64::consts::PI;
use thinfit::elementary::vectorised;

/// The likelihood at given lengths and noise, with everything computed along the way.
pub(crate) struct Evidence {
    /// −ln p, in scaled outputs.
    pub value: f64,
    /// Its derivatives in ln ℓ_1 … ln ℓ_d, ln g.
    pub gradient: Vec<f64>,
    pub mean: Vec<f64>,
    pub signal: Vec<f64>,
    /// m × c.
    pub alpha: Mat<f64>,
    /// Mean squares of the leave-one-out errors α_i/(C⁻¹)_ii, with the mean held fixed.
    pub leave_one_out: Vec<f64>,
    pub kernel: Kernel,
    pub ridge: f64,
}

/// The likelihood at `log` = (ln ℓ, ln g); `None` if C cannot be factorised.
pub(crate) fn evidence(
    shape: Shape,
    x: &Mat<f64>,
    y: &Mat<f64>,
    log: &[f64],
    par: Par,
) -> Option<Evidence> {
    let (m, d, c) = (x.nrows(), x.ncols(), y.ncols());
    let part = Part::full(shape, log[..d].iter().map(|v| v.exp()).collect());
    let noise = log[d].exp();
    // The jitter is about what rounding does to the eigenvalues of K.
    let ridge = noise + m as f64 * f64::EPSILON;
    let gram = part.gram(x.as_ref());
    let l = cholesky(with_ridge(gram.as_ref(), ridge), par)?;

    let ones = Mat::from_fn(m, 1, |_, _| 1.0);
    let pull = solve(l.as_ref(), ones.as_ref());
    let total: f64 = pull.col_as_slice(0).iter().sum();
    let mean: Vec<f64> = (0..c)
        .map(|o| {
            let terms = pull.col_as_slice(0).iter().zip(y.col_as_slice(o));
            terms.map(|(p, y)| p * y).sum::<f64>() / total
        })
        .collect();
    let centred = Mat::from_fn(m, c, |i, o| y[(i, o)] - mean[o]);
    let alpha = solve(l.as_ref(), centred.as_ref());
    // A constant output has variance zero, which has no logarithm.
    let signal: Vec<f64> = (0..c)
        .map(|o| {
            ((0..m).map(|i| centred[(i, o)] * alpha[(i, o)]).sum::<f64>() / m as f64).max(1e-200)
        })
        .collect();
    let determinant = 2.0 * (0..m).map(|i| l[(i, i)].ln()).sum::<f64>();
    let value = signal
        .iter()
        .map(|s| 0.5 * (m as f64 * ((2.0 * PI * s).ln() + 1.0) + determinant))
        .sum::<f64>();
    if !value.is_finite() {
        return None;
    }

    // C⁻¹ is overwritten by V, then by V · (−2k′) below the diagonal.
    let mut v = inverse(l.as_ref(), par);
    let slopes = part.slopes(gram, x);
    let (mut leave_one_out, mut trace) = (vec![0.0; c], 0.0);
    let mut gradient = vec![0.0; d + 1];
    for j in 0..m {
        let column = &mut v.col_as_slice_mut(j)[j..];
        let diagonal = column[0];
        for (o, error) in leave_one_out.iter_mut().enumerate() {
            *error += (alpha[(j, o)] / diagonal).powi(2) / m as f64;
        }
        column.iter_mut().for_each(|v| *v *= c as f64);
        for (o, signal) in signal.iter().enumerate() {
            let factor = alpha[(j, o)] / signal;
            let alpha = &alpha.col_as_slice(o)[j..];
            column
                .iter_mut()
                .zip(alpha)
                .for_each(|(v, a)| *v -= factor * a);
        }
        trace += column[0];
        let below = &mut column[1..];
        let slopes = &slopes.col_as_slice(j)[j + 1..];
        below
            .iter_mut()
            .zip(slopes)
            .for_each(|(v, slope)| *v *= slope);
        for (k, length) in part.lengths.iter().enumerate() {
            let x_k = x.col_as_slice(k);
            gradient[k] += weighted_squares(below, &x_k[j + 1..], x_k[j], 1.0 / length);
        }
    }
    gradient[d] = 0.5 * noise * trace;
    Some(Evidence {
        value,
        gradient,
        mean,
        signal,
        alpha,
        leave_one_out,
        kernel: part.into(),
        ridge,
    })
}

/// Σ_i w_i ((x_i − point) · inverse)², in eight lanes.
fn weighted_squares(w: &[f64], x: &[f64], point: f64, inverse: f64) -> f64 {
    let mut lanes = [0.0f64; 8];
    vectorised(
        #[inline(always)]
        || {
            let (w8, w) = w.as_chunks::<8>();
            let (x8, x) = x.as_chunks::<8>();
            let mut sums = [0.0f64; 8];
            for (w, x) in w8.iter().zip(x8) {
                for ((sum, w), x) in sums.iter_mut().zip(w).zip(x) {
                    let t = (x - point) * inverse;
                    *sum = (w * t).mul_add(t, *sum);
                }
            }
            for ((sum, w), x) in sums.iter_mut().zip(w).zip(x) {
                let t = (x - point) * inverse;
                *sum = (w * t).mul_add(t, *sum);
            }
            lanes = sums;
        },
    );
    lanes.iter().sum()
}
