//! The output weights by an orthogonal factorisation: the accurate path.
//!
//! Dimensions: `m` samples, `n` width, `c` outputs, `p` = columns of E, `q` = stacked rows. Forming AᵀA squares the
//! condition number, so the normal equations lose all digits of b once cond(A) passes 1e8; here
//! A = U diag(s) Vᵀ is factored itself and b = V diag(s/(s² + τ²)) Uᵀy for any τ, which is the ridge solution with
//! ε = τ². The rows of A are those of `stacked`, real and weighted. This file also owns what one factorisation gives for
//! nothing: leave-one-out residuals, the choice of τ and the covariance of b. It does not move w.

use super::stacked::{Form, roots, stack, stack_outputs};
use crate::data::rows::Rows;
use crate::math::columns::column_mut;
use crate::math::product::product;
use crate::network::features::fitted;
use crate::solve::householder::Qr;
use crate::{Activation, Error, Result};
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::svd::{ComputeSvdVectors, svd, svd_scratch};
use faer::reborrow::ReborrowMut;
use faer::{Mat, MatMut, MatRef, Par};

/// The factorisation of one design matrix, good for any τ.
pub(crate) struct Orthogonal {
    activation: Activation,
    m: usize,
    /// The right side [√ω y; 0], q × c.
    y: Mat<f64>,
    /// √ω, or none.
    roots: Option<Vec<f64>>,
    /// Planes and outputs of the samples of weight zero, which the factorisation cannot know.
    ignored: Vec<(usize, Mat<f64>, Mat<f64>)>,
    /// Of condensed rows, the triangle of those that carry noise (see [`Orthogonal::condensed`]).
    noisy: Option<Mat<f64>>,
    factor: Factor,
}

enum Factor {
    /// U (q × r), s, V (p × r) with r = min(q, p).
    Svd {
        u: Mat<f64>,
        s: Vec<f64>,
        v: Mat<f64>,
    },
    /// Where the singular value iteration failed: the stacked matrix (q × p) and its largest singular value.
    Stacked { a: Mat<f64>, largest: f64 },
}

/// What one τ makes of a factorisation: b = map · hatᵀ · y and fitted values hat · hatᵀ · y (q × r and p × r).
struct Influence {
    hat: Mat<f64>,
    map: Mat<f64>,
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
        if !a.is_all_finite() {
            return Err(Error::Diverged {
                what: "the design matrix",
                step: 0,
                advice: "the hidden weights or the inputs are too large",
            });
        }
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
            factor: match decompose(&a) {
                Some((u, s, v)) => Factor::Svd { u, s, v },
                None => undecomposed(a),
            },
            roots,
        })
    }

    /// Factors rows that come in blocks (planes, outputs, weights), in memory that does not grow with their number.
    ///
    /// The QR of \[A | y\] is updated block by block: with its triangle \[R, z; 0, ρ\] the problem |A b − y|² is
    /// |R b − z|² + |ρ|², p rows instead of q. Single samples are no longer known, so there are no leave-one-out
    /// residuals; the noise of y enters through Re(A b) alone, whose rows have a triangle of their own.
    pub(crate) fn condensed<'a>(
        activation: Activation,
        form: Form,
        blocks: impl Iterator<Item = (Mat<f64>, MatRef<'a, f64>, Option<&'a [f64]>)>,
    ) -> Result<Orthogonal> {
        let (mut all, mut noisy) = (Mat::zeros(0, 0), Mat::zeros(0, 0));
        let (mut p, mut c) = (0, 0);
        for (e, y, weights) in blocks {
            let roots = roots(weights);
            let a = stack(activation, form, e.as_ref(), roots.as_deref(), 0);
            let z = stack_outputs(y, roots.as_deref(), a.nrows());
            (p, c) = (a.ncols(), z.ncols());
            let both = Mat::from_fn(a.nrows(), p + c, |i, j| {
                if j < p { a[(i, j)] } else { z[(i, j - p)] }
            });
            all = triangle_below(all, both.as_ref());
            noisy = triangle_below(noisy, a.as_ref().subrows(0, y.nrows()));
        }
        if !all.is_all_finite() {
            let advice = "the hidden weights or the inputs are too large";
            return Err(Error::Diverged {
                what: "the design matrix",
                step: 0,
                advice,
            });
        }
        let rows = p.min(all.nrows());
        let a = all.as_ref().submatrix(0, 0, rows, p).to_owned();
        Ok(Orthogonal {
            activation,
            m: 0,
            y: all.as_ref().submatrix(0, p, rows, c).to_owned(),
            roots: None,
            ignored: Vec::new(),
            noisy: Some(noisy),
            factor: match decompose(&a) {
                Some((u, s, v)) => Factor::Svd { u, s, v },
                None => undecomposed(a),
            },
        })
    }

    /// τ = κ · s_max.
    pub(crate) fn tau(&self, kappa: f64) -> f64 {
        let largest = match &self.factor {
            Factor::Svd { s, .. } => s.first().copied().unwrap_or(0.0),
            Factor::Stacked { largest, .. } => *largest,
        };
        kappa * largest
    }

    /// b = V diag(s/(s² + τ²)) Uᵀ \[√ω y; 0\] as planes, p × c. A direction with s = τ = 0 gets no weight.
    pub(crate) fn coefficients(&self, tau: f64) -> Mat<f64> {
        let Influence { hat, map } = self.influence(tau);
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
    /// from y to b. A Fourier coefficient enters f as Re b · cos − Im b · sin; the sign is in M, so that e(x) is
    /// used as it is.
    pub(crate) fn covariance(&self, tau: f64) -> Mat<f64> {
        let Influence { hat, mut map } = self.influence(tau);
        // hat = A · map row by row, up to a rotation of the rows, which the product below does not see.
        let hat = match &self.noisy {
            Some(noisy) => product(noisy.as_ref(), map.as_ref()),
            None => hat.as_ref().subrows(0, self.m).to_owned(),
        };
        crate::network::planes::conjugate(self.activation, map.as_mut());
        // In weighted rows the noise has variance s2 everywhere, and only the rows of Re(A b) carry any.
        let inner = product(hat.transpose(), hat.as_ref());
        product(
            product(map.as_ref(), inner.as_ref()).as_ref(),
            map.transpose(),
        )
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

    fn influence(&self, tau: f64) -> Influence {
        match &self.factor {
            Factor::Svd { u, s, v } => {
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
            Factor::Stacked { a, largest } => {
                let (q, p) = (a.nrows(), a.ncols());
                let tau = tau.max(f64::EPSILON * largest).max(TINY.sqrt());
                let mut augmented = Mat::zeros(q + p, p);
                augmented.as_mut().subrows_mut(0, q).copy_from(a);
                augmented
                    .as_mut()
                    .subrows_mut(q, p)
                    .diagonal_mut()
                    .fill(tau);
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

    /// The residuals y − A b on the weighted rows (q × c) and 1 − h for every sample.
    fn residual(&self, tau: f64) -> (Mat<f64>, Vec<f64>) {
        let Influence { hat, .. } = self.influence(tau);
        let (q, r) = (hat.nrows(), hat.ncols());
        let copies = q.checked_div(self.m).unwrap_or(0);
        let mean = |row: &dyn Fn(usize) -> f64, k: usize| {
            (0..copies).map(|i| row(k + i * self.m)).sum::<f64>() / copies as f64
        };
        let square = |a: &Mat<f64>, k: usize| (0..r).map(|i| a[(k, i)].powi(2)).sum::<f64>();
        // Where U is square nothing is left outside its span and 1 − h is a sum of positive terms, exact however small.
        if let Factor::Svd { u, s, .. } = &self.factor
            && q == r
        {
            let mut rest = u.clone();
            for (i, &s) in s.iter().enumerate() {
                let length = s.hypot(tau);
                scale(
                    rest.as_mut(),
                    i,
                    if length < TINY { 1.0 } else { tau / length },
                );
            }
            let residual = product(
                rest.as_ref(),
                product(rest.transpose(), self.y.as_ref()).as_ref(),
            );
            let floor = f64::EPSILON * f64::EPSILON;
            let slack = (0..self.m).map(|k| mean(&|k| square(&rest, k), k).max(floor));
            return (residual, slack.collect());
        }
        let residual = &self.y
            - product(
                hat.as_ref(),
                product(hat.transpose(), self.y.as_ref()).as_ref(),
            );
        let slack = (0..self.m).map(|k| (1.0 - mean(&|k| square(&hat, k), k)).max(f64::EPSILON));
        (residual, slack.collect())
    }
}

/// The triangle of the QR of `above` with `below` under it; as long as there are too few rows, the rows themselves.
fn triangle_below(above: Mat<f64>, below: MatRef<'_, f64>) -> Mat<f64> {
    let (old, columns) = (above.nrows(), below.ncols());
    let joined = Mat::from_fn(old + below.nrows(), columns, |i, j| {
        if i < old {
            above[(i, j)]
        } else {
            below[(i - old, j)]
        }
    });
    if joined.nrows() < columns {
        return joined;
    }
    let qr = Qr::new(joined);
    Mat::from_fn(
        columns,
        columns,
        |i, j| if i <= j { qr.r()[(i, j)] } else { 0.0 },
    )
}

/// Below this a singular value counts as zero: its reciprocal would overflow.
const TINY: f64 = 1e-290;

/// The argument with the least finite score.
fn least(kappas: &[f64], mut score: impl FnMut(f64) -> f64) -> Option<(f64, f64)> {
    let scored = kappas.iter().map(|&kappa| (kappa, score(kappa)));
    scored
        .filter(|(_, score)| score.is_finite())
        .min_by(|a, b| a.1.total_cmp(&b.1))
}

fn scale(mut a: MatMut<'_, f64>, j: usize, factor: f64) {
    column_mut(a.rb_mut(), j)
        .iter_mut()
        .for_each(|v| *v *= factor);
}

/// U, s, V of a q × p matrix: QR of the tall side first, then the singular values of the triangle.
fn decompose(a: &Mat<f64>) -> Option<(Mat<f64>, Vec<f64>, Mat<f64>)> {
    let tall = a.nrows() >= a.ncols();
    let long = if tall {
        a.clone()
    } else {
        a.transpose().to_owned()
    };
    let (rows, r) = (long.nrows(), long.ncols());
    let qr = Qr::new(long);
    let triangle = Mat::from_fn(r, r, |i, j| if i <= j { qr.r()[(i, j)] } else { 0.0 });
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
        triangle.as_ref(),
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

/// The factor that stands in for the singular values where they did not converge.
fn undecomposed(a: Mat<f64>) -> Factor {
    let (q, p) = (a.nrows(), a.ncols());
    let mut padded = Mat::zeros(q + p, p);
    padded.as_mut().subrows_mut(0, q).copy_from(&a);
    let largest = Qr::new(padded).largest_singular_value(100);
    Factor::Stacked { a, largest }
}

#[cfg(test)]
mod tests;
