//! Levenberg-Marquardt on the projected problem (variable projection, Kaufman's Jacobian), by orthogonal factorisations.
//!
//! Dimensions: `m` samples, `n` width, `d`′ entries of one hidden weight, `c` outputs, `p` = columns of E, `q` = stacked
//! rows. The output weights are always the exact minimiser of φ(w) = |A b − y|² + τ²|b|², so φ depends on w alone.
//! With Ã = [A; τI] = Q [R; 0] (Q square) the projected residual is Q₂ᵀ[−y; 0], where Q₂ are the last q columns of
//! Q, and Kaufman's Jacobian is J = Q₂ᵀ[G; 0] with G[:, (l,j)] = Φ′(t_l)/n · b_l · x_j: one application of Qᵀ, of
//! which the first p rows are dropped, and neither a projector nor a normal matrix is formed. In exact arithmetic
//! JᵀJ = GᵀG − GᵀA(AᵀA + τ²I)⁻¹AᵀG. Several outputs share the factorisation and stack their rows.
//!
//! The step minimises |J δ + r|² + μ|D δ|², D² = diag JᵀJ + 10⁻³ · mean, from a QR of J D⁻¹ or, where there are more
//! parameters than rows, of its transpose; only a small triangle is factored again when μ changes. Which w is
//! returned is decided by validation rows, and the w given is a candidate. This file draws no random numbers.

use crate::Activation;
use crate::features::{column, column_mut, features, real_planes};
use crate::householder::{Damped, Qr};
use crate::orthogonal::{self, Form, Rows};
use faer::reborrow::ReborrowMut;
use faer::{Mat, MatMut, MatRef};
use std::f64::consts::PI;

/// How the polish runs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Options {
    /// The most accepted steps.
    pub(crate) steps: usize,
    /// τ = κ · s_max(A), usually 1e-14 to 1e-8.
    pub(crate) kappa: f64,
    /// Accepted steps without a better validation error after which it stops.
    pub(crate) patience: usize,
    /// The damping of the first step.
    pub(crate) mu: f64,
    /// It stops when φ falls by less than this fraction in each of three steps in a row.
    pub(crate) stall: f64,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            steps: 60,
            kappa: 1e-12,
            patience: 15,
            mu: 1e-2,
            stall: 1e-4,
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
    let problem = Problem::new(activation, form, train);
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
        stopped: Stopped::NotFinite,
    };
    let Some(mut tau) = problem.tau(w.as_ref(), options.kappa) else {
        return result;
    };
    let Some(mut point) = problem.evaluate(w, tau) else {
        return result;
    };
    result.start_validation = problem.error(&point, judge);
    result.validation = result.start_validation;
    if !observe(0, point.objective, result.validation) {
        result.stopped = Stopped::Observer;
        return result;
    }
    result.stopped = Stopped::Steps;
    let (mut mu, mut slow) = (options.mu, 0);
    for step in 1..=options.steps {
        let Some(mut model) = problem.linearise(&point) else {
            result.stopped = Stopped::Stalled;
            return result;
        };
        let accepted = (0..TRIALS).find_map(|_| {
            let w = &point.w + model.step(mu);
            let trial = problem.evaluate(w, tau);
            let trial = trial.filter(|trial| trial.objective < point.objective);
            mu = (if trial.is_some() { mu / 3.0 } else { mu * 4.0 }).clamp(1e-16, 1e16);
            trial
        });
        let Some(trial) = accepted else {
            result.stopped = Stopped::Stalled;
            return result;
        };
        let gain = 1.0 - trial.objective / point.objective;
        slow = if gain < options.stall { slow + 1 } else { 0 };
        point = trial;
        let fresh = options.kappa * point.qr.largest_singular_value(ROUNDS);
        // Below a drift of a tenth a second factorisation is not worth its time.
        if (fresh - tau).abs() > 0.1 * tau
            && let Some(again) = problem.evaluate(point.w.clone(), fresh)
        {
            (point, tau) = (again, fresh);
        }
        let error = problem.error(&point, judge);
        result.steps = step;
        if error < result.validation {
            result.w.copy_from(&point.w);
            result.validation = error;
            result.best_step = step;
        }
        if !observe(step, point.objective, error) {
            result.stopped = Stopped::Observer;
            return result;
        }
        if step - result.best_step >= options.patience {
            result.stopped = Stopped::Patience;
            return result;
        }
        if slow >= 3 {
            result.stopped = Stopped::Stalled;
            return result;
        }
    }
    result
}

/// Steps of the power method for s_max.
const ROUNDS: usize = 12;

/// The training rows of one polish.
struct Problem<'a> {
    activation: Activation,
    form: Form,
    rows: &'a Rows<'a>,
    roots: Option<Vec<f64>>,
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
    fn new(activation: Activation, form: Form, rows: &'a Rows<'a>) -> Problem<'a> {
        Problem {
            activation,
            form,
            rows,
            roots: orthogonal::roots(rows.weights),
        }
    }

    /// The planes at padded `x`.
    fn planes(&self, x: MatRef<'_, f64>, w: MatRef<'_, f64>) -> Mat<f64> {
        let mut e = Mat::zeros(x.nrows(), self.activation.planes(w.nrows()));
        features(self.activation, x, w, e.as_mut());
        e
    }

    /// [A; below] from planes.
    fn stack(&self, e: MatRef<'_, f64>, below: usize) -> Mat<f64> {
        orthogonal::stack(self.activation, self.form, e, self.roots.as_deref(), below)
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
        let mut y = orthogonal::stack_outputs(self.rows.y, self.roots.as_deref(), q + p);
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
        let f = orthogonal::fitted(self.activation, e.as_ref(), point.b.as_ref());
        let error = rows.mean_square(f.as_ref());
        if error.is_nan() { f64::INFINITY } else { error }
    }

    /// The Jacobian at a point, factored; none where nothing depends on w or it is not finite.
    fn linearise(&self, point: &Point) -> Option<Model> {
        let (n, inputs) = (point.w.nrows(), point.w.ncols());
        let (p, c) = (point.b.nrows(), point.b.ncols());
        let q = point.y.nrows() - p;
        let mut jacobian = Mat::zeros(c * q, n * inputs);
        let mut residual = Vec::with_capacity(c * q);
        let mut g = Mat::zeros(q + p, n * inputs);
        for o in 0..c {
            if o > 0 {
                g.fill(0.0);
            }
            self.slopes(point, o, g.as_mut());
            point.qr.transpose_apply(g.as_mut());
            let mut block = jacobian.as_mut().subrows_mut(o * q, q);
            block.copy_from(g.as_ref().subrows(p, q));
            residual.extend(column(point.y.as_ref(), o)[p..].iter().map(|y| -y));
        }
        Model::new(jacobian, residual, n, inputs)
    }

    /// Writes G of output `o` into the first q rows of `g`, column j·n + l for entry (l, j) of w.
    fn slopes(&self, point: &Point, o: usize, mut g: MatMut<'_, f64>) {
        let (n, inputs) = (point.w.nrows(), point.w.ncols());
        let (m, e) = (self.rows.len(), point.e.as_ref());
        let halves = orthogonal::stacked_rows(self.activation, self.form, 1);
        let mut slope = vec![0.0; halves * m];
        for l in 0..n {
            if self.activation == Activation::Fourier {
                let (re, im) = (2.0 * PI * point.b[(l, o)], 2.0 * PI * point.b[(n + l, o)]);
                let (cos, sin) = (column(e, l), column(e, n + l));
                for (k, (cos, sin)) in cos.iter().zip(sin).enumerate() {
                    slope[k] = -(cos * im + sin * re);
                }
                if self.form == Form::Complex {
                    for (k, (cos, sin)) in cos.iter().zip(sin).enumerate() {
                        slope[m + k] = cos * re - sin * im;
                    }
                }
            } else {
                let (phi, sine) = real_planes(self.activation, e, n, l);
                for (k, (&phi, &sine)) in phi.iter().zip(sine).enumerate() {
                    slope[k] = self.activation.slopes(phi, sine, n as f64).0 * point.b[(l, o)];
                }
            }
            if let Some(roots) = &self.roots {
                for half in slope.chunks_exact_mut(m.max(1)) {
                    half.iter_mut().zip(roots).for_each(|(s, r)| *s *= r);
                }
            }
            for j in 0..inputs {
                let x = column(self.rows.x, j);
                let out = column_mut(g.rb_mut(), j * n + l);
                for half in 0..halves {
                    let range = half * m..(half + 1) * m;
                    let slope = &slope[range.clone()];
                    for ((out, slope), x) in out[range].iter_mut().zip(slope).zip(x) {
                        *out = slope * x;
                    }
                }
            }
        }
    }
}

/// The linear least squares problem of one step, ready for any μ.
struct Model {
    damped: Damped,
    /// D, one entry per parameter.
    scale: Vec<f64>,
    /// QR of the transpose, where there are more parameters than rows.
    dual: Option<Qr>,
    n: usize,
    inputs: usize,
}

impl Model {
    fn new(mut jacobian: Mat<f64>, residual: Vec<f64>, n: usize, inputs: usize) -> Option<Model> {
        let (rows, parameters) = (jacobian.nrows(), jacobian.ncols());
        let squares: Vec<f64> = (0..parameters)
            .map(|j| jacobian.col(j).squared_norm_l2())
            .collect();
        let mean = squares.iter().sum::<f64>() / parameters as f64;
        if !(mean > 0.0 && mean.is_finite()) {
            return None;
        }
        let scale: Vec<f64> = squares.iter().map(|h| (h + 1e-3 * mean).sqrt()).collect();
        for (j, scale) in scale.iter().enumerate() {
            let inverse = 1.0 / scale;
            column_mut(jacobian.as_mut(), j)
                .iter_mut()
                .for_each(|v| *v *= inverse);
        }
        let (damped, dual) = if rows >= parameters {
            let qr = Qr::new(jacobian);
            let mut g = Mat::from_fn(rows, 1, |k, _| residual[k]);
            qr.transpose_apply(g.as_mut());
            let g = &column(g.as_ref(), 0)[..parameters];
            (Damped::new(qr.r(), g), None)
        } else {
            // J D⁻¹ = Rᵀ Qᵀ; turned end for end, the lower triangle Rᵀ is an upper one.
            let qr = Qr::new(jacobian.transpose().to_owned());
            let r = qr.r();
            let last = rows - 1;
            let flipped = Mat::from_fn(rows, rows, |i, j| {
                if i <= j { r[(last - j, last - i)] } else { 0.0 }
            });
            let g: Vec<f64> = residual.iter().rev().copied().collect();
            (Damped::new(flipped.as_ref(), &g), Some(qr))
        };
        Some(Model {
            damped,
            scale,
            dual,
            n,
            inputs,
        })
    }

    /// δ for one μ, shaped like w.
    fn step(&mut self, mu: f64) -> Mat<f64> {
        let mut z = self.damped.solve(mu);
        if let Some(qr) = &self.dual {
            let k = z.nrows();
            let mut full = Mat::zeros(self.scale.len(), 1);
            for i in 0..k {
                full[(i, 0)] = z[(k - 1 - i, 0)];
            }
            qr.apply(full.as_mut());
            z = full;
        }
        Mat::from_fn(self.n, self.inputs, |l, j| {
            let i = j * self.n + l;
            z[(i, 0)] / self.scale[i]
        })
    }
}

#[cfg(test)]
mod tests;
