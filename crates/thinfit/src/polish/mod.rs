//! Levenberg-Marquardt on the projected problem (variable projection, Kaufman's Jacobian), by orthogonal
//! factorisations.
//!
//! Dimensions: `m` samples, `n` width, `d`′ entries of one hidden weight, `c` outputs, `p` = columns of E and
//! `q` = stacked rows. The output weights are always the exact minimiser of φ(w) = |A b − y|² + τ²|b|², so φ depends on w
//! alone. With Ã = [A; τI] = Q [R; 0] (Q square) and Q₂ the last q columns of Q, the residual in the coordinates Q₂ᵀ is
//! r = −Q₂ᵀ[y; 0] and its Jacobian is J = Q₂ᵀ[G; 0] with G[:, (l,j)] = Φ′(t_l)/n · b_l · x_j: one application of Qᵀ, of
//! which the first p rows are dropped; neither a projector nor a normal matrix is formed. In exact arithmetic
//! JᵀJ = GᵀG − GᵀA(AᵀA + τ²I)⁻¹AᵀG. Several outputs share the factorisation and stack their rows.
//!
//! A step includes the residual's second derivative along it (geodesic acceleration) if that correction is small
//! compared with the step. Validation rows decide which w is returned; the given one is among them. This file draws
//! no random numbers and runs on one thread.

pub(crate) mod many;
mod projection;
pub(crate) mod race;
mod step;

pub(crate) use projection::Projection;

use crate::network::features::PaddedRows;
use faer::Mat;

/// Settings of the polish.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Options {
    /// Maximum number of accepted steps.
    pub(crate) steps: usize,
    /// τ = κ · s_max(A). 1e-13 where the samples determine the fit, up to 1e-6 where they do not.
    pub(crate) kappa: f64,
    /// It stops after this many accepted steps without a better validation error.
    pub(crate) patience: usize,
    /// The damping μ of the first step.
    pub(crate) damping: f64,
    /// It stops when φ falls by less than this fraction in each of three steps in a row.
    pub(crate) stall: f64,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            steps: 60,
            kappa: 1e-12,
            patience: 25,
            damping: 1e-2,
            stall: 1e-4,
        }
    }
}

/// The result of a polish.
#[derive(Clone, Debug)]
pub(crate) struct Polished {
    /// The best hidden weights by validation, n × d′.
    pub(crate) w: Mat<f64>,
    /// Their validation error; infinite where nothing could be evaluated.
    pub(crate) validation: f64,
    /// The validation error of the given weights.
    pub(crate) start_validation: f64,
    /// Accepted steps taken.
    pub(crate) steps: usize,
    /// The accepted step whose weights were kept, 0 for the start.
    pub(crate) best_step: usize,
    /// The damping μ at the end, to continue with.
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
    /// The observer asked to stop.
    Observer,
    /// The start is not finite.
    NotFinite,
}

/// Moves `w` (n × d′) downhill on the rows of `projection` and returns the best state on `validation`.
///
/// After the start (step 0) and after every accepted step `observe(step, φ, validation error)` is called; the
/// polish continues while it returns true. Without validation rows the training rows decide.
pub(crate) fn polish(
    projection: &Projection<'_>,
    validation: &PaddedRows<'_>,
    w: Mat<f64>,
    options: &Options,
    observe: &mut dyn FnMut(usize, f64, f64) -> bool,
) -> Polished {
    let judge = if validation.len() > 0 {
        validation
    } else {
        projection.rows()
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
    let start = projection.tau(w.as_ref(), options.kappa);
    let start = start.and_then(|tau| Some((tau, projection.evaluate(w, tau)?)));
    let Some((mut tau, mut point)) = start else {
        return result;
    };
    result.start_validation = projection.error(&point, judge);
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
        let Some(trial) = projection.descend(&point, tau, &mut mu) else {
            break Stopped::Stalled;
        };
        let gain = 1.0 - trial.objective / point.objective;
        slow = if gain < options.stall { slow + 1 } else { 0 };
        point = trial;
        let fresh = options.kappa * point.largest_singular_value();
        // A drift of less than a tenth is not worth another factorisation.
        if (fresh - tau).abs() > 0.1 * tau
            && let Some(again) = projection.evaluate(point.w.clone(), fresh)
        {
            (point, tau) = (again, fresh);
        }
        let error = projection.error(&point, judge);
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

#[cfg(test)]
mod tests;
