//! The marginal likelihood of a Gaussian process and its derivatives; the formulas are in the header of
//! `gaussian_process`.

use crate::cholesky::{cholesky, inverse, solve, with_ridge};
use crate::kernel_model::Expansion;
use crate::shape::anova;
use crate::{Kernel, KernelTerm, Shape};
use faer::{Mat, MatRef, Par};
use std::f64::consts::PI;
use thinfit::elementary::vectorised;

/// The likelihood at given lengths and noise, with all intermediate results.
#[derive(Clone)]
pub struct Evidence {
    /// −ln p, in scaled outputs.
    pub value: f64,
    /// Its derivatives in the parameters of the search.
    pub gradient: Vec<f64>,
    /// Constant of each output (c).
    pub mean: Vec<f64>,
    /// Signal variance of each output (c).
    pub signal: Vec<f64>,
    /// m × c.
    pub alpha: Mat<f64>,
    /// Leave-one-out errors y_i − f₍₋ᵢ₎(x_i) = α_i/(C⁻¹)_ii, with the mean held fixed (m × c).
    pub left_out: Mat<f64>,
    /// The kernel at these parameters.
    pub kernel: Kernel,
    /// The variance of the noise, in units of the signal.
    pub ridge: f64,
}

impl Evidence {
    /// Standard deviation of the noise of output `o`, in scaled outputs; 0 where it cannot be told from rounding.
    pub fn noise(&self, o: usize) -> f64 {
        // Less than this is the rounding of the factorisation.
        let rounding = 1e2 * self.alpha.nrows() as f64 * f64::EPSILON;
        let signal = self.signal[o];
        // The signal of a constant output is only a lower bound.
        match self.ridge > rounding && signal >= 1e-100 {
            true => (signal * self.ridge).sqrt(),
            false => 0.0,
        }
    }

    /// Mean squares of the leave-one-out errors (c).
    pub fn leave_one_out(&self) -> Vec<f64> {
        let m = self.left_out.nrows() as f64;
        let columns = self.left_out.col_iter();
        columns
            .map(|column| column.iter().map(|error| error.powi(2) / m).sum())
            .collect()
    }

    /// The expansion over the points `x` (m × d) of this evidence.
    pub fn expansion(&self, x: Mat<f64>) -> Expansion {
        Expansion {
            kernel: self.kernel.clone(),
            mean: self.mean.clone(),
            points: x,
            alpha: self.alpha.clone(),
            signal: Some(self.signal.clone()),
        }
    }
}

/// How many parameters the search has for `d` inputs: the lengths, the shares if there are any, the noise.
pub(crate) fn parameters(shape: Shape, d: usize) -> usize {
    if shape.has_shares() { 2 * d + 1 } else { d + 1 }
}

/// The kernel at `log` = (ln ℓ, ln c/(1 − c) where there are shares, ln g).
fn kernel(shape: Shape, log: &[f64], d: usize) -> KernelTerm {
    let lengths = log[..d].iter().map(|v| v.exp()).collect();
    if shape.has_shares() {
        let shares = log[d..2 * d].iter().map(|v| 1.0 / (1.0 + (-v).exp()));
        KernelTerm::with_shares(shape, lengths, shares.collect())
    } else {
        KernelTerm::full(shape, lengths)
    }
}

/// The likelihood at `log`; `None` if C cannot be factorised.
pub(crate) fn evidence(
    shape: Shape,
    x: &Mat<f64>,
    y: &Mat<f64>,
    log: &[f64],
    par: Par,
) -> Option<Evidence> {
    let term = kernel(shape, log, x.ncols());
    let gram = term.gram(x.as_ref());
    let noise = log[log.len() - 1].exp();
    let (mut evidence, v) = likelihood(gram.as_ref(), y, noise, par)?;
    let mut gradient = if shape.has_shares() {
        anova::gradient(&term, gram, x, v)
    } else {
        radial_gradient(&term, gram, x, v)
    };
    evidence.gradient.splice(..0, gradient.drain(..));
    evidence.kernel = term.into();
    Some(evidence)
}

/// The likelihood of a sum of terms: Σ_t w_t K_t with w the softmax of the first parameters, one for each term; the last
/// parameter is ln g. Between them may stand the logarithms of the lengths of all terms, which must then be radial;
/// otherwise the lengths are those of `terms`, whose matrices of weight one may then be known.
///
/// ```text
/// −∂ ln p/∂v_t = ½ w_t Σ_ab V_ab (K_t − K)_ab
/// ```
pub fn evidence_of_sum(
    (terms, known): (&[KernelTerm], Option<&[Mat<f64>]>),
    x: &Mat<f64>,
    y: &Mat<f64>,
    log: &[f64],
    par: Par,
) -> Option<Evidence> {
    let (m, count) = (y.nrows(), terms.len());
    let largest = log[..count].iter().fold(f64::MIN, |a, v| a.max(*v));
    let weights: Vec<f64> = log[..count].iter().map(|v| (v - largest).exp()).collect();
    let total: f64 = weights.iter().sum();
    let weights: Vec<f64> = weights.iter().map(|w| (w / total).max(1e-200)).collect();
    let mut lengths = log[count..log.len() - 1].iter().map(|v| v.exp());
    let searched = log.len() > count + 1;
    let terms: Vec<KernelTerm> = (terms.iter())
        .map(|term| KernelTerm {
            weight: 1.0,
            lengths: match searched {
                true => lengths.by_ref().take(term.lengths.len()).collect(),
                false => term.lengths.clone(),
            },
            ..term.clone()
        })
        .collect();
    let own: Vec<Mat<f64>> = match known {
        Some(_) => vec![],
        None => terms.iter().map(|term| term.gram(x.as_ref())).collect(),
    };
    let grams = known.unwrap_or(&own);
    let mut gram = Mat::zeros(m, m);
    for (term, weight) in grams.iter().zip(&weights) {
        gram += term * faer::Scale(*weight);
    }
    let (mut evidence, v) = likelihood(gram.as_ref(), y, log[log.len() - 1].exp(), par)?;
    let inner = |k: &Mat<f64>| -> f64 {
        let column = |j: usize| {
            let pairs = v.col_as_slice(j)[j..].iter().zip(&k.col_as_slice(j)[j..]);
            // The diagonal counts once, everything below it twice.
            pairs.map(|(v, k)| v * k).sum::<f64>() - 0.5 * v[(j, j)] * k[(j, j)]
        };
        (0..m).map(column).sum()
    };
    let whole = inner(&gram);
    let mut slopes: Vec<f64> = (grams.iter().zip(&weights))
        .map(|(k, w)| w * (inner(k) - whole))
        .collect();
    if searched {
        for ((term, gram), weight) in terms.iter().zip(grams).zip(&weights) {
            let gradient = radial_gradient(term, gram.clone(), x, v.clone());
            slopes.extend(gradient.iter().map(|slope| weight * slope));
        }
    }
    evidence.gradient.splice(..0, slopes);
    evidence.kernel.terms = (terms.into_iter().zip(weights))
        .map(|(term, weight)| KernelTerm { weight, ..term })
        .collect();
    Some(evidence)
}

/// The likelihood for the matrix K (its lower triangle) and g = `noise`, with its derivative in ln g alone and an
/// empty kernel, and V below and on the diagonal.
fn likelihood(
    gram: MatRef<'_, f64>,
    y: &Mat<f64>,
    noise: f64,
    par: Par,
) -> Option<(Evidence, Mat<f64>)> {
    let (m, c) = (y.nrows(), y.ncols());
    // The jitter is about what rounding does to the eigenvalues of K.
    let ridge = noise + m as f64 * f64::EPSILON;
    let l = cholesky(with_ridge(gram, ridge), par)?;

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
    if !value.is_finite() || mean.iter().any(|mean| !mean.is_finite()) {
        return None;
    }

    // C⁻¹ is overwritten by V.
    let mut v = inverse(l.as_ref(), par);
    let left_out = Mat::from_fn(m, c, |i, o| alpha[(i, o)] / v[(i, i)]);
    let mut trace = 0.0;
    for j in 0..m {
        let column = &mut v.col_as_slice_mut(j)[j..];
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
    }
    let evidence = Evidence {
        value,
        gradient: vec![0.5 * noise * trace],
        mean,
        signal,
        alpha,
        left_out,
        kernel: Vec::new().into(),
        ridge,
    };
    Some((evidence, v))
}

/// ½ Σ_ab V_ab ∂k_ab/∂ ln ℓ_k for a radial shape.
fn radial_gradient(term: &KernelTerm, gram: Mat<f64>, x: &Mat<f64>, mut v: Mat<f64>) -> Vec<f64> {
    let slopes = term.slopes(gram, x);
    let mut gradient = vec![0.0; term.lengths.len()];
    for j in 0..x.nrows() {
        let below = &mut v.col_as_slice_mut(j)[j + 1..];
        let slopes = &slopes.col_as_slice(j)[j + 1..];
        below
            .iter_mut()
            .zip(slopes)
            .for_each(|(v, slope)| *v *= slope);
        for (gradient, (&k, length)) in gradient
            .iter_mut()
            .zip(term.inputs.iter().zip(&term.lengths))
        {
            let x_k = x.col_as_slice(k);
            *gradient += weighted_squares(below, &x_k[j + 1..], x_k[j], 1.0 / length);
        }
    }
    gradient
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
