//! The projected problem φ(w) = min over b of |A b − y|² + τ²|b|²: its value, its Jacobian and one descent step.
//!
//! Dimensions and formulas are in the head of `polish`, which takes the steps and decides when to stop.

use super::step::Linearised;
use crate::math::columns::{column, column_mut};
use crate::network::features::PaddedRows;
use crate::network::features::{fitted, planes_at};
use crate::network::planes::slope;
use crate::network::support::Support;
use crate::solve::householder::Qr;
use crate::solve::stacked;
use crate::{Activation, Form};
use faer::reborrow::ReborrowMut;
use faer::{Mat, MatMut, MatRef};

/// Trials in one step before it gives up.
const TRIALS: usize = 14;
/// Steps of the power method for s_max.
const ROUNDS: usize = 12;
/// Fraction of a step over which its second derivative is taken.
const PROBE: f64 = 0.1;
/// Largest second-order correction that is trusted, as a fraction of the step.
const BEND: f64 = 0.4;

/// The problem of one polish: its rows and the entries of w that move.
pub(crate) struct Projection<'a> {
    activation: Activation,
    form: Form,
    rows: &'a PaddedRows<'a>,
    roots: Option<Vec<f64>>,
    /// The entries (l, j) of w that move, in the order of the columns of J.
    free: &'a [(usize, usize)],
}

/// A state with its factorisation.
pub(crate) struct Point {
    pub w: Mat<f64>,
    /// The planes at the training rows.
    e: Mat<f64>,
    /// QR of [A; τI].
    qr: Qr,
    /// Qᵀ[y; 0], (q + p) × c.
    y: Mat<f64>,
    /// b, p × c.
    b: Mat<f64>,
    /// φ.
    pub objective: f64,
}

impl<'a> Projection<'a> {
    /// The problem of `rows` in which the entries of `support` move.
    pub fn new(
        activation: Activation,
        form: Form,
        rows: &'a PaddedRows<'a>,
        support: &'a Support,
    ) -> Self {
        Projection {
            activation,
            form,
            rows,
            roots: stacked::roots(rows.weights),
            free: support.entries(),
        }
    }

    /// The rows of φ.
    pub fn rows(&self) -> &'a PaddedRows<'a> {
        self.rows
    }

    /// A from planes, with `below` rows of zeros under it.
    fn stack(&self, e: MatRef<'_, f64>, below: usize) -> Mat<f64> {
        stacked::stack(self.activation, self.form, e, self.roots.as_deref(), below)
    }

    /// κ · s_max at `w`, none where it is not finite.
    pub fn tau(&self, w: MatRef<'_, f64>, kappa: f64) -> Option<f64> {
        let p = self.activation.columns(w.nrows());
        let a = self.stack(planes_at(self.activation, self.rows.x, w).as_ref(), p);
        let finite = a.is_all_finite();
        let tau = kappa * Qr::new(a).largest_singular_value(ROUNDS);
        (finite && tau.is_finite()).then_some(tau)
    }

    /// b and φ at `w`, none where they are not finite.
    pub fn evaluate(&self, w: Mat<f64>, tau: f64) -> Option<Point> {
        let p = self.activation.columns(w.nrows());
        let e = planes_at(self.activation, self.rows.x, w.as_ref());
        let mut a = self.stack(e.as_ref(), p);
        let q = a.nrows() - p;
        // A matrix of zeros has τ = 0; any positive number then gives b = 0.
        let tau = if tau > 0.0 { tau } else { 1.0 };
        a.as_mut().subrows_mut(q, p).diagonal_mut().fill(tau);
        let qr = Qr::new(a);
        let mut y = stacked::stack_outputs(self.rows.y, self.roots.as_deref(), q + p);
        qr.transpose_apply(y.as_mut());
        let mut b = y.as_ref().subrows(0, p).to_owned();
        qr.solve(b.as_mut());
        let objective = y.as_ref().subrows(p, q).squared_norm_l2();
        (objective.is_finite() && b.is_all_finite()).then_some(Point {
            w,
            e,
            qr,
            y,
            b,
            objective,
        })
    }

    /// The mean square error at other rows, infinite where it is not a number.
    pub fn error(&self, point: &Point, rows: &PaddedRows<'_>) -> f64 {
        let e = planes_at(self.activation, rows.x, point.w.as_ref());
        let f = fitted(self.activation, e.as_ref(), point.b.as_ref());
        let error = rows.mean_square(f.as_ref());
        if error.is_nan() { f64::INFINITY } else { error }
    }

    /// A point with a smaller φ; none where no damping finds one.
    pub fn descend(&self, point: &Point, tau: f64, mu: &mut f64) -> Option<Point> {
        let mut linearised = self.linearise(point)?;
        linearised.descend(mu, TRIALS, |linearised, step| {
            let mut delta = linearised.delta(step);
            let probe = self.evaluate(self.moved(point, &delta, PROBE), tau);
            if let Some(probe) = probe {
                let bend = linearised.bend(step, &self.change(point, &probe), PROBE);
                let bend = linearised.delta(&bend);
                let length = |v: &[f64]| v.iter().map(|v| v * v).sum::<f64>();
                if length(&bend) < BEND * BEND * length(&delta) {
                    delta.iter_mut().zip(&bend).for_each(|(d, b)| *d += b);
                }
            }
            let trial = self.evaluate(self.moved(point, &delta, 1.0), tau);
            trial.filter(|trial| trial.objective < point.objective)
        })
    }

    /// w + factor · δ.
    fn moved(&self, point: &Point, delta: &[f64], factor: f64) -> Mat<f64> {
        let mut w = point.w.clone();
        for (&entry, delta) in self.free.iter().zip(delta) {
            w[entry] += factor * delta;
        }
        w
    }

    /// Q₂ᵀ(r̃′ − r̃) for the residuals r̃ = Ã b − [y; 0] of a point and another one, Q₂ being of the first.
    fn change(&self, from: &Point, to: &Point) -> Vec<f64> {
        let p = from.b.nrows();
        let mut r = to.y.clone();
        r.as_mut().subrows_mut(0, p).fill(0.0);
        to.qr.apply(r.as_mut());
        from.qr.transpose_apply(r.as_mut());
        let pairs = (0..r.ncols()).flat_map(|o| (p..r.nrows()).map(move |k| (k, o)));
        pairs.map(|at| from.y[at] - r[at]).collect()
    }

    /// The Jacobian at a point, factored; none where nothing depends on w or it is not finite.
    pub(super) fn linearise(&self, point: &Point) -> Option<Linearised> {
        let (p, c) = (point.b.nrows(), point.b.ncols());
        let q = point.y.nrows() - p;
        let mut jacobian = Mat::zeros(c * q, self.free.len());
        let mut residual = Vec::with_capacity(c * q);
        let mut g = Mat::zeros(q + p, self.free.len());
        for o in 0..c {
            self.slopes(point, o, g.as_mut());
            g.as_mut().subrows_mut(q, p).fill(0.0);
            point.qr.transpose_apply(g.as_mut());
            let mut block = jacobian.as_mut().subrows_mut(o * q, q);
            block.copy_from(g.as_ref().subrows(p, q));
            residual.extend(column(point.y.as_ref(), o)[p..].iter().map(|y| -y));
        }
        Linearised::new(jacobian, &residual)
    }

    /// Writes G of output `o` into the first q rows of `g`.
    fn slopes(&self, point: &Point, o: usize, mut g: MatMut<'_, f64>) {
        let m = self.rows.len();
        let q = stacked::stacked_rows(self.activation, self.form, m);
        let mut slopes = vec![0.0; q];
        let mut current = None;
        for (i, &(l, j)) in self.free.iter().enumerate() {
            if current != Some(l) {
                current = Some(l);
                let (e, b) = (point.e.as_ref(), point.b.as_ref());
                slope(self.activation, e, b, (l, o), &mut slopes);
                for (k, root) in self.roots.iter().flatten().enumerate() {
                    slopes[k..].iter_mut().step_by(m).for_each(|s| *s *= root);
                }
            }
            let x = self.rows.x.coordinate(j);
            let out = &mut column_mut(g.rb_mut(), i)[..q];
            for (out, slopes) in out.chunks_mut(m.max(1)).zip(slopes.chunks(m.max(1))) {
                for ((out, slope), x) in out.iter_mut().zip(slopes).zip(x) {
                    *out = slope * x;
                }
            }
        }
    }
}

impl Point {
    /// The largest singular value of [A; τI], from below.
    pub fn largest_singular_value(&self) -> f64 {
        self.qr.largest_singular_value(ROUNDS)
    }
}

#[cfg(test)]
mod tests;
