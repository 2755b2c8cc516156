//! Levenberg-Marquardt on the projected problem (variable projection, Kaufman's Jacobian), by orthogonal factorisations.
//!
//! Dimensions: `m` samples, `n` width, `d`′ entries of one hidden weight, `c` outputs, `p` = columns of E, `q` = stacked
//! rows. The output weights are always the exact minimiser of φ(w) = |A b − y|² + τ²|b|², so φ depends on w alone.
//! With Ã = [A; τI] = Q [R; 0] (Q square) and Q₂ the last q columns of Q, the residual in the coordinates Q₂ᵀ is
//! r = −Q₂ᵀ[y; 0] and its Jacobian is J = Q₂ᵀ[G; 0] with G[:, (l,j)] = Φ′(t_l)/n · b_l · x_j: one application of Qᵀ,
//! of which the first p rows are dropped; neither a projector nor a normal matrix is formed. In exact arithmetic
//! JᵀJ = GᵀG − GᵀA(AᵀA + τ²I)⁻¹AᵀG. Several outputs share the factorisation and stack their rows.
//!
//! A step follows the parabola that the residual's second derivative along it asks for (geodesic acceleration), where
//! that correction is small against the step. Which w is returned is decided by validation rows, and the w given is a
//! candidate. This file draws no random numbers and runs on one thread.

pub(crate) mod race;
mod step;

use crate::Activation;
use crate::data::rows::Rows;
use crate::math::columns::{column, column_mut};
use crate::network::features::{features, fitted, real_planes};
use crate::solve::householder::Qr;
use crate::solve::stacked::{self, Form};
use faer::reborrow::ReborrowMut;
use faer::{Mat, MatMut, MatRef};
use std::f64::consts::PI;
use step::Model;

/// How the polish runs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Options {
    /// The most accepted steps.
    pub(crate) steps: usize,
    /// τ = κ · s_max(A). 1e-13 where the samples determine the fit, up to 1e-6 where they do not.
    pub(crate) kappa: f64,
    /// Accepted steps without a better validation error after which it stops.
    pub(crate) patience: usize,
    /// The damping μ of the first step.
    pub(crate) damping: f64,
    /// It stops when φ falls by less than this fraction in each of three steps in a row.
    pub(crate) stall: f64,
    /// Whether entries of w that are exactly zero at the start stay zero.
    pub(crate) keep_zeros: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            steps: 60,
            kappa: 1e-12,
            patience: 25,
            damping: 1e-2,
            stall: 1e-4,
            keep_zeros: false,
        }
    }
}

/// What the polish found.
#[derive(Clone, Debug)]
pub(crate) struct Polished {
    /// The best hidden weights by validation, n × d′.
    pub(crate) w: Mat<f64>,
    /// Their validation error; infinite where nothing could be evaluated.
    pub(crate) validation: f64,
    /// The validation error of the weights given.
    pub(crate) start_validation: f64,
    /// Accepted steps taken.
    pub(crate) steps: usize,
    /// The accepted step whose weights were kept, 0 for the start.
    pub(crate) best_step: usize,
    /// The damping μ at the end, with which it can be continued.
    pub(crate) damping: f64,
    /// Why it ended.
    pub(crate) stopped: Stopped,
}

/// Why a polish ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stopped {
    /// All steps were taken.
    Steps,
    /// No better validation error for `patience` steps.
    Patience,
    /// φ no longer falls.
    Stalled,
    /// The observer asked for it.
    Observer,
    /// The start could not be evaluated in finite numbers.
    NotFinite,
}

/// Failed trials in one step after which no damping will help.
const TRIALS: usize = 14;
/// Steps of the power method for s_max.
const ROUNDS: usize = 12;
/// The part of a step over which its second derivative is taken.
const PROBE: f64 = 0.1;
/// The largest correction of second order, as a part of the step, that is believed.
const BEND: f64 = 0.4;

/// Moves `w` (n × d′) downhill on `train` and returns the best state on `validation`.
///
/// After the start (step 0) and after every accepted step `observe(step, φ, validation error)` is called; the
/// polish goes on while it returns true. Without validation rows the training rows decide.
pub(crate) fn polish(
    activation: Activation,
    form: Form,
    train: &Rows<'_>,
    validation: &Rows<'_>,
    w: Mat<f64>,
    options: &Options,
    observe: &mut dyn FnMut(usize, f64, f64) -> bool,
) -> Polished {
    assert!(train.x.ncols() == w.ncols() && validation.x.ncols() == w.ncols());
    let problem = Problem::new(activation, form, train, w.as_ref(), options.keep_zeros);
    let judge = if validation.len() > 0 {
        validation
    } else {
        train
    };
    let mut result = Polished {
        w: w.clone(),
        validation: f64::INFINITY,
        start_validation: f64::INFINITY,
        steps: 0,
        best_step: 0,
        damping: options.damping,
        stopped: Stopped::NotFinite,
    };
    let start = problem.tau(w.as_ref(), options.kappa);
    let start = start.and_then(|tau| Some((tau, problem.evaluate(w, tau)?)));
    let Some((mut tau, mut point)) = start else {
        return result;
    };
    result.start_validation = problem.error(&point, judge);
    result.validation = result.start_validation;
    if !observe(0, point.objective, result.validation) {
        result.stopped = Stopped::Observer;
        return result;
    }
    let (mut mu, mut slow) = (options.damping, 0);
    result.stopped = loop {
        if result.steps == options.steps {
            break Stopped::Steps;
        }
        let Some(trial) = problem.descend(&point, tau, &mut mu) else {
            break Stopped::Stalled;
        };
        let gain = 1.0 - trial.objective / point.objective;
        slow = if gain < options.stall { slow + 1 } else { 0 };
        point = trial;
        let fresh = options.kappa * point.qr.largest_singular_value(ROUNDS);
        // A drift of less than a tenth is not worth another factorisation.
        if (fresh - tau).abs() > 0.1 * tau
            && let Some(again) = problem.evaluate(point.w.clone(), fresh)
        {
            (point, tau) = (again, fresh);
        }
        let error = problem.error(&point, judge);
        result.steps += 1;
        if error < result.validation {
            result.w.copy_from(&point.w);
            result.validation = error;
            result.best_step = result.steps;
        }
        if !observe(result.steps, point.objective, error) {
            break Stopped::Observer;
        }
        if result.steps - result.best_step >= options.patience {
            break Stopped::Patience;
        }
        if slow >= 3 {
            break Stopped::Stalled;
        }
    };
    result.damping = mu;
    result
}

/// The training rows of one polish.
struct Problem<'a> {
    activation: Activation,
    form: Form,
    rows: &'a Rows<'a>,
    roots: Option<Vec<f64>>,
    /// The entries (l, j) of w that move, in the order of the columns of J.
    free: Vec<(usize, usize)>,
}

/// A state with its factorisation.
struct Point {
    w: Mat<f64>,
    /// The planes at the training rows.
    e: Mat<f64>,
    /// QR of [A; τI].
    qr: Qr,
    /// Qᵀ[y; 0], (q + p) × c.
    y: Mat<f64>,
    /// b, p × c.
    b: Mat<f64>,
    /// φ.
    objective: f64,
}

impl<'a> Problem<'a> {
    fn new(
        activation: Activation,
        form: Form,
        rows: &'a Rows<'a>,
        w: MatRef<'_, f64>,
        keep_zeros: bool,
    ) -> Problem<'a> {
        let entries = (0..w.nrows()).flat_map(|l| (0..w.ncols()).map(move |j| (l, j)));
        Problem {
            activation,
            form,
            rows,
            roots: stacked::roots(rows.weights),
            free: entries
                .filter(|&entry| !keep_zeros || w[entry] != 0.0)
                .collect(),
        }
    }

    /// The planes at padded `x`.
    fn planes(&self, x: MatRef<'_, f64>, w: MatRef<'_, f64>) -> Mat<f64> {
        let mut e = Mat::zeros(x.nrows(), self.activation.planes(w.nrows()));
        features(self.activation, x, w, e.as_mut());
        e
    }

    /// A from planes, with `below` rows of zeros under it.
    fn stack(&self, e: MatRef<'_, f64>, below: usize) -> Mat<f64> {
        stacked::stack(self.activation, self.form, e, self.roots.as_deref(), below)
    }

    /// κ · s_max at `w`, none where it is not finite.
    fn tau(&self, w: MatRef<'_, f64>, kappa: f64) -> Option<f64> {
        let p = self.activation.columns(w.nrows());
        let a = self.stack(self.planes(self.rows.x, w).as_ref(), p);
        let finite = a.is_all_finite();
        let tau = kappa * Qr::new(a).largest_singular_value(ROUNDS);
        (finite && tau.is_finite()).then_some(tau)
    }

    /// b and φ at `w`, none where they are not finite.
    fn evaluate(&self, w: Mat<f64>, tau: f64) -> Option<Point> {
        let p = self.activation.columns(w.nrows());
        let e = self.planes(self.rows.x, w.as_ref());
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
    fn error(&self, point: &Point, rows: &Rows<'_>) -> f64 {
        let e = self.planes(rows.x, point.w.as_ref());
        let f = fitted(self.activation, e.as_ref(), point.b.as_ref());
        let error = rows.mean_square(f.as_ref());
        if error.is_nan() { f64::INFINITY } else { error }
    }

    /// A point with a smaller φ; none where no damping finds one.
    fn descend(&self, point: &Point, tau: f64, mu: &mut f64) -> Option<Point> {
        let mut model = self.linearise(point)?;
        for _ in 0..TRIALS {
            let step = model.solve(*mu);
            let mut delta = model.delta(&step);
            let probe = self.evaluate(self.moved(point, &delta, PROBE), tau);
            if let Some(probe) = probe {
                let bend = model.bend(&step, &self.change(point, &probe), PROBE);
                let bend = model.delta(&bend);
                let length = |v: &[f64]| v.iter().map(|v| v * v).sum::<f64>();
                if length(&bend) < BEND * BEND * length(&delta) {
                    delta.iter_mut().zip(&bend).for_each(|(d, b)| *d += b);
                }
            }
            let trial = self.evaluate(self.moved(point, &delta, 1.0), tau);
            if let Some(trial) = trial
                && trial.objective < point.objective
            {
                *mu = (*mu / 3.0).max(1e-16);
                return Some(trial);
            }
            *mu = (*mu * 4.0).min(1e16);
        }
        None
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
    fn linearise(&self, point: &Point) -> Option<Model> {
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
        Model::new(jacobian, &residual)
    }

    /// Writes G of output `o` into the first q rows of `g`.
    fn slopes(&self, point: &Point, o: usize, mut g: MatMut<'_, f64>) {
        let (m, n, e) = (self.rows.len(), point.w.nrows(), point.e.as_ref());
        let q = stacked::stacked_rows(self.activation, self.form, m);
        let mut slope = vec![0.0; q];
        let mut current = None;
        for (i, &(l, j)) in self.free.iter().enumerate() {
            if current != Some(l) {
                current = Some(l);
                if self.activation == Activation::Fourier {
                    let (re, im) = (point.b[(l, o)], point.b[(n + l, o)]);
                    turn(column(e, l), column(e, n + l), re, im, &mut slope);
                } else {
                    let (phi, sine) = real_planes(self.activation, e, n, l);
                    for (k, (&phi, &sine)) in phi.iter().zip(sine).enumerate() {
                        let first = self.activation.slopes(phi, sine, n as f64).0;
                        slope[k] = first * point.b[(l, o)];
                    }
                }
                for (k, root) in self.roots.iter().flatten().enumerate() {
                    slope[k..].iter_mut().step_by(m).for_each(|s| *s *= root);
                }
            }
            let x = column(self.rows.x, j);
            let out = &mut column_mut(g.rb_mut(), i)[..q];
            for (out, slope) in out.chunks_mut(m.max(1)).zip(slope.chunks(m.max(1))) {
                for ((out, slope), x) in out.iter_mut().zip(slope).zip(x) {
                    *out = slope * x;
                }
            }
        }
    }
}

/// 2πi (cos + i sin)(re + i im): its real part, and below it the imaginary part where `out` has room for both.
fn turn(cos: &[f64], sin: &[f64], re: f64, im: f64, out: &mut [f64]) {
    let (re, im) = (2.0 * PI * re, 2.0 * PI * im);
    let (real, imaginary) = out.split_at_mut(cos.len());
    for ((out, cos), sin) in real.iter_mut().zip(cos).zip(sin) {
        *out = -(cos * im + sin * re);
    }
    for ((out, cos), sin) in imaginary.iter_mut().zip(cos).zip(sin) {
        *out = cos * re - sin * im;
    }
}

#[cfg(test)]
mod tests;
