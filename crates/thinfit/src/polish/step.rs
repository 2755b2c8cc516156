//! The linear least squares problem of one Levenberg-Marquardt step.
//!
//! min over δ of |J δ + r|² + μ|D δ|² with D² = diag JᵀJ + 10⁻³ · mean. J is divided by D and factored once per
//! point: J D⁻¹ = Q R if it has at least as many rows as columns, (J D⁻¹)ᵀ = Q R otherwise, which gives the step of
//! minimal norm. What remains is a small triangle T, factored again for every μ; neither JᵀJ nor JJᵀ is formed.

use crate::math::columns::{column, column_mut};
use crate::solve::damped::Damped;
use crate::solve::householder::Qr;
use faer::Mat;

/// The factored J, ready for any μ.
pub(super) struct Linearised {
    qr: Qr,
    damped: Damped,
    /// D, one entry per parameter.
    scale: Vec<f64>,
    rows: usize,
}

/// The solution for one μ, in the coordinates of the triangle.
pub(super) struct Step {
    z: Mat<f64>,
}

impl Linearised {
    /// Factors J (rows × parameters) for the residual r; none where J is zero or not finite.
    pub(super) fn new(mut jacobian: Mat<f64>, residual: &[f64]) -> Option<Linearised> {
        let (rows, parameters) = (jacobian.nrows(), jacobian.ncols());
        let squares: Vec<f64> = (0..parameters)
            .map(|j| jacobian.col(j).squared_norm_l2())
            .collect();
        let mean = squares.iter().sum::<f64>() / parameters as f64;
        if !(mean > f64::MIN_POSITIVE && mean.is_finite()) {
            return None;
        }
        let scale: Vec<f64> = squares.iter().map(|h| (h + 1e-3 * mean).sqrt()).collect();
        for (j, scale) in scale.iter().enumerate() {
            let inverse = 1.0 / scale;
            column_mut(jacobian.as_mut(), j)
                .iter_mut()
                .for_each(|v| *v *= inverse);
        }
        let qr = if rows >= parameters {
            Qr::new(jacobian)
        } else {
            Qr::new(jacobian.transpose().to_owned())
        };
        let g = to_triangle(&qr, rows, parameters, residual);
        let damped = if rows >= parameters {
            Damped::new(qr.r(), column(g.as_ref(), 0))
        } else {
            // J D⁻¹ = Rᵀ Qᵀ; turned end for end, the lower triangle Rᵀ is an upper one.
            let (r, last) = (qr.r(), rows - 1);
            let turned = Mat::from_fn(rows, rows, |i, j| {
                if i <= j { r[(last - j, last - i)] } else { 0.0 }
            });
            Damped::new(turned.as_ref(), column(g.as_ref(), 0))
        };
        Some(Linearised {
            qr,
            damped,
            scale,
            rows,
        })
    }

    /// Solves for one μ.
    pub(super) fn solve(&mut self, mu: f64) -> Step {
        Step {
            z: self.damped.solve(mu),
        }
    }

    /// δ, one entry per parameter.
    pub(super) fn delta(&self, step: &Step) -> Vec<f64> {
        let (k, parameters) = (step.z.nrows(), self.scale.len());
        let mut full = Mat::zeros(parameters, 1);
        let out = column_mut(full.as_mut(), 0);
        out[..k].copy_from_slice(column(step.z.as_ref(), 0));
        if self.rows < parameters {
            out[..k].reverse();
            self.qr.apply(full.as_mut());
        }
        let full = column(full.as_ref(), 0).iter().zip(&self.scale);
        full.map(|(z, scale)| z / scale).collect()
    }

    /// The first better point among at most `trials`, where `better` evaluates a step: with more damping after each failure, and less
    /// for the next step after a success. None where no damping finds one.
    pub(super) fn descend<P>(
        &mut self,
        mu: &mut f64,
        trials: usize,
        better: impl Fn(&mut Self, &Step) -> Option<P>,
    ) -> Option<P> {
        for _ in 0..trials {
            let step = self.solve(*mu);
            if let Some(point) = better(self, &step) {
                *mu = (*mu / 3.0).max(1e-16);
                return Some(point);
            }
            *mu = (*mu * 4.0).min(1e16);
        }
        None
    }

    /// The second order of the step at the μ of the last [`Linearised::solve`]: −½ (JᵀJ + μD²)⁻¹Jᵀ r″.
    ///
    /// r″, the second derivative of the residual along δ, is the difference quotient (2/h)(`change`/h − J δ) for the
    /// `change` of the residual over h δ.
    pub(super) fn bend(&self, step: &Step, change: &[f64], h: f64) -> Step {
        let mut second = to_triangle(&self.qr, self.rows, self.scale.len(), change);
        let straight = self.damped.multiply(step.z.as_ref());
        let straight = column(straight.as_ref(), 0);
        for (v, straight) in column_mut(second.as_mut(), 0).iter_mut().zip(straight) {
            *v = -(*v / h - straight) / h;
        }
        Step {
            z: self.damped.solve_again(second.as_ref()),
        }
    }
}

/// A vector over the rows of J in the coordinates of the triangle.
fn to_triangle(qr: &Qr, rows: usize, parameters: usize, vector: &[f64]) -> Mat<f64> {
    if rows < parameters {
        return Mat::from_fn(rows, 1, |k, _| vector[rows - 1 - k]);
    }
    let mut g = Mat::from_fn(rows, 1, |k, _| vector[k]);
    qr.transpose_apply(g.as_mut());
    g.truncate(parameters, 1);
    g
}
