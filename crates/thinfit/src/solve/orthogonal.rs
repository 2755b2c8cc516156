//! The output weights by an orthogonal factorisation: the accurate path.
//!
//! Dimensions: `m` samples, `n` width, `c` outputs, `p` = columns of E, `q` = stacked rows. Forming AᵀA squares the
//! condition number, so the normal equations lose all digits of b once cond(A) passes 1e8; here A itself is factored
//! (`decomposition`), which gives the ridge solution with ε = τ² for any τ. The rows of A are those of `stacked`, real
//! and weighted. This file also owns what one factorisation gives for free: leave-one-out residuals, the choice of τ
//! and the covariance of b. It does not move w.

use super::decomposition::{Decomposition, Influence};
use super::stacked::{Form, roots, stack, stack_outputs};
use super::tsqr::{Parts, TsqrFactor};
use crate::data::rows::Rows;
use crate::math::product::product;
use crate::network::features::fitted;
use crate::network::planes::conjugate;
use crate::{Activation, Error, Result};
use faer::{Mat, MatRef};

/// The factorisation of one design matrix, good for any τ.
pub(crate) struct Orthogonal {
    activation: Activation,
    m: usize,
    /// The right side [√ω y; 0], q × c.
    y: Mat<f64>,
    /// √ω, or none.
    roots: Option<Vec<f64>>,
    /// Planes and outputs of the samples of weight zero, which the factorisation does not see.
    ignored: Vec<(usize, Mat<f64>, Mat<f64>)>,
    /// Of rows factored by TSQR, the triangle of those that carry noise (see [`Orthogonal::of_tsqr`]).
    noisy: Option<Mat<f64>>,
    factor: Decomposition,
}

impl Orthogonal {
    /// Factors the design matrix given by the planes `e` (m × planes) for `y` (m × c).
    ///
    /// Fails with [`Error::Diverged`] where the planes are not finite.
    pub(crate) fn new(
        activation: Activation,
        form: Form,
        e: MatRef<'_, f64>,
        y: MatRef<'_, f64>,
        weights: Option<&[f64]>,
    ) -> Result<Orthogonal> {
        assert!(e.nrows() == y.nrows() && weights.is_none_or(|w| w.len() == y.nrows()));
        let roots = roots(weights);
        let a = stack(activation, form, e, roots.as_deref(), 0);
        require_finite(&a)?;
        let ignored = roots.iter().flatten().enumerate();
        let ignored = ignored.filter(|(_, root)| **root == 0.0).map(|(k, _)| {
            let row = |a: MatRef<'_, f64>| a.subrows(k, 1).to_owned();
            (k, row(e), row(y))
        });
        Ok(Orthogonal {
            activation,
            m: e.nrows(),
            y: stack_outputs(y, roots.as_deref(), a.nrows()),
            ignored: ignored.collect(),
            noisy: None,
            factor: Decomposition::new(a),
            roots,
        })
    }

    /// Goes on from a TSQR of the rows. Single samples are no longer known, so there are no leave-one-out residuals; the noise
    /// of y enters through Re(A b) alone, whose rows have a triangle of their own.
    pub(crate) fn of_tsqr(activation: Activation, rows: TsqrFactor) -> Result<Orthogonal> {
        let Parts { a, y, noisy } = rows.parts();
        require_finite(&a)?;
        require_finite(&y)?;
        Ok(Orthogonal {
            activation,
            m: 0,
            y,
            roots: None,
            ignored: Vec::new(),
            noisy: Some(noisy),
            factor: Decomposition::new(a),
        })
    }

    /// τ = κ · s_max.
    pub(crate) fn tau(&self, kappa: f64) -> f64 {
        kappa * self.factor.largest()
    }

    /// b = V diag(s/(s² + τ²)) Uᵀ \[√ω y; 0\] as planes, p × c. A direction with s = τ = 0 gets no weight.
    pub(crate) fn coefficients(&self, tau: f64) -> Mat<f64> {
        let Influence { hat, map } = self.factor.influence(tau);
        product(
            map.as_ref(),
            product(hat.transpose(), self.y.as_ref()).as_ref(),
        )
    }

    /// y_k − f₍₋ₖ₎(x_k), m × c, where f₍₋ₖ₎ was fitted without sample k at the same w and τ.
    ///
    /// With the hat matrix H = A(AᵀA + τ²I)⁻¹Aᵀ this is r_k/(1 − h_k). In the complex form leaving a sample out
    /// takes two rows, but the 2 × 2 block of H is h_k·I: it stands for one diagonal entry of a Hermitian matrix,
    /// which is real. 1 − h_k is kept above rounding, so that no entry is infinite for data of moderate size.
    pub(crate) fn leave_one_out(&self, tau: f64) -> Mat<f64> {
        let (residual, slack) = self.residual(tau);
        let mut loo = Mat::from_fn(self.m, self.y.ncols(), |k, o| {
            residual[(k, o)] / slack[k] / self.roots.as_ref().map_or(1.0, |r| r[k])
        });
        if !self.ignored.is_empty() {
            let b = self.coefficients(tau);
            for (k, e, y) in &self.ignored {
                let f = fitted(self.activation, e.as_ref(), b.as_ref());
                for o in 0..y.ncols() {
                    loo[(*k, o)] = y[(0, o)] - f[(0, o)];
                }
            }
        }
        loo
    }

    /// M with Var f(x) = s2 · e(x) M e(x)ᵀ for the plane row e(x) as `features` writes it, p × p.
    ///
    /// Sample k has noise of variance s2/ω_k, independent of the others; without weights M = H Hᵀ for the map H
    /// from y to b. A Fourier coefficient enters f as Re b · cos − Im b · sin; the sign is in M, so that e(x)
    /// needs none.
    pub(crate) fn covariance(&self, tau: f64) -> Mat<f64> {
        let Influence { hat, mut map } = self.factor.influence(tau);
        // hat = A · map row by row, up to a rotation of the rows, which the product below does not see.
        let hat = match &self.noisy {
            Some(noisy) => product(noisy.as_ref(), map.as_ref()),
            None => hat.as_ref().subrows(0, self.m).to_owned(),
        };
        conjugate(self.activation, map.as_mut());
        // In weighted rows the noise has variance s2 everywhere, and only the rows of Re(A b) carry any.
        let inner = product(hat.transpose(), hat.as_ref());
        product(
            product(map.as_ref(), inner.as_ref()).as_ref(),
            map.transpose(),
        )
    }

    /// The covariance of b under a prior b ~ N(0, s2/τ² I) and noise of variance s2, over s2: (AᵀA + τ²I)⁻¹ (p × p), with
    /// signs as in [`Orthogonal::covariance`]; and its spread at every sample for a fit without it, h/(1 − h) (m).
    pub(crate) fn posterior(&self, tau: f64) -> (Mat<f64>, Vec<f64>) {
        let (_, slack) = self.residual(tau);
        let mut map = self.factor.influence(tau).map;
        conjugate(self.activation, map.as_mut());
        let mut covariance = product(map.as_ref(), map.transpose());
        if map.ncols() < map.nrows() {
            // Directions that no sample determines keep their prior variance.
            for k in 0..map.ncols() {
                let norm = map.col(k).norm_l2();
                let scale = if norm > 0.0 { 1.0 / norm } else { 0.0 };
                map.col_mut(k).iter_mut().for_each(|v| *v *= scale);
            }
            let seen = product(map.as_ref(), map.transpose());
            for j in 0..seen.ncols() {
                for i in 0..seen.nrows() {
                    let unseen = f64::from(u8::from(i == j)) - seen[(i, j)];
                    covariance[(i, j)] += unseen / (tau * tau);
                }
            }
        }
        let spread = slack.iter().map(|slack| (1.0 - slack).max(0.0) / slack);
        (covariance, spread.collect())
    }

    /// The κ with the least error on other rows (planes `e`), and that error; the first of equals.
    pub(crate) fn choose_by_validation(
        &self,
        kappas: &[f64],
        e: MatRef<'_, f64>,
        rows: &Rows<'_>,
    ) -> Option<(f64, f64)> {
        least(kappas, |kappa| {
            let b = self.coefficients(self.tau(kappa));
            rows.mean_square(fitted(self.activation, e, b.as_ref()).as_ref())
        })
    }

    /// The κ with the least weighted mean square of [`Orthogonal::leave_one_out`], and that value; the first of equals.
    pub(crate) fn choose_by_leave_one_out(&self, kappas: &[f64]) -> Option<(f64, f64)> {
        least(kappas, |kappa| {
            let loo = self.leave_one_out(self.tau(kappa));
            let (mut sum, mut total) = (0.0, 0.0);
            for k in 0..self.m {
                let weight = self.roots.as_ref().map_or(1.0, |r| r[k] * r[k]);
                total += weight;
                sum += weight * (0..loo.ncols()).map(|o| loo[(k, o)].powi(2)).sum::<f64>();
            }
            if total > 0.0 { sum / total } else { 0.0 }
        })
    }

    /// The residuals y − A b on the weighted rows (q × c) and 1 − h for every sample.
    fn residual(&self, tau: f64) -> (Mat<f64>, Vec<f64>) {
        let twice = |a: MatRef<'_, f64>| {
            let inner = product(a.transpose(), self.y.as_ref());
            product(a, inner.as_ref())
        };
        // A sample has one row of A, or two.
        let copies = self.y.nrows().checked_div(self.m).unwrap_or(0);
        let mean_square = |a: &Mat<f64>, k: usize| {
            let square = |k: usize| (0..a.ncols()).map(|i| a[(k, i)].powi(2)).sum::<f64>();
            (0..copies).map(|i| square(k + i * self.m)).sum::<f64>() / copies as f64
        };
        if let Some(rest) = self.factor.complement(tau) {
            let floor = f64::EPSILON * f64::EPSILON;
            let slack = (0..self.m).map(|k| mean_square(&rest, k).max(floor));
            return (twice(rest.as_ref()), slack.collect());
        }
        let Influence { hat, .. } = self.factor.influence(tau);
        let slack = (0..self.m).map(|k| (1.0 - mean_square(&hat, k)).max(f64::EPSILON));
        (&self.y - twice(hat.as_ref()), slack.collect())
    }
}

fn require_finite(a: &Mat<f64>) -> Result<()> {
    if a.is_all_finite() {
        return Ok(());
    }
    Err(Error::Diverged {
        what: "the design matrix",
        step: 0,
        advice: "the hidden weights or the inputs are too large",
    })
}

/// The argument with the least finite score.
pub(super) fn least(kappas: &[f64], mut score: impl FnMut(f64) -> f64) -> Option<(f64, f64)> {
    let scored = kappas.iter().map(|&kappa| (kappa, score(kappa)));
    scored
        .filter(|(_, score)| score.is_finite())
        .min_by(|a, b| a.1.total_cmp(&b.1))
}

#[cfg(test)]
mod tests;
