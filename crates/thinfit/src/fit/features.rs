//! A fit from given hidden weights: only the polish and the final solve, no training.

use super::solution::Solution;
use super::{Fit, Job};
use crate::data::Scaler;
use crate::polish::many::Many;
use crate::polish::race::{Candidate, Origin};
use crate::train::progress::{Control, Observer, Progress};
use crate::{Activation, Config, Dataset, Error, Model, Network, Result};
use faer::Mat;
use std::sync::atomic::Ordering;

/// Hidden weights to start from.
#[derive(Clone, Debug)]
pub struct Features {
    /// n × d′, in scaled inputs; entries that are zero stay zero.
    pub w: Mat<f64>,
    /// Ridge of the polish relative to the largest singular value of A.
    pub kappa: f64,
}

/// Polishes `starts` in a race, as [`crate::fit`] does with random starts, and solves for the output weights.
///
/// `scalers` map inputs and outputs to the units in which the weights are given. Of the configuration, only what comes
/// after the training counts.
///
/// # Errors
/// As [`crate::fit`], or starts that do not fit the data.
pub fn fit_features(
    data: &Dataset,
    scalers: (Scaler, Scaler),
    config: &Config,
    starts: Vec<Features>,
    observe: &Observer<'_>,
) -> Result<Model> {
    data.check()?;
    config.check()?;
    let columns = config.activation.weights(data.dim());
    let fits = |start: &Features| start.w.ncols() == columns && start.w.nrows() > 0;
    if starts.is_empty() || !starts.iter().all(fits) {
        return Err(Error::Shape {
            what: "starts",
            expected: format!("at least one, of {columns} columns"),
            found: format!("{} starts", starts.len()),
        });
    }
    Fit::scaled(Job::new(data, config, observe), scalers)?.race(starts)
}

/// Polishes one start on many rows, in scaled units, by passes over them on all threads. The network solves the real problem
/// (`Form::Real`). There are no validation rows; the caller judges the result.
///
/// # Errors
/// Data that cannot be fitted, a start that does not fit them, or numbers that are no longer finite.
pub fn polish_many(
    data: &Dataset,
    activation: Activation,
    start: Features,
    steps: usize,
    observe: &Observer<'_>,
) -> Result<Network> {
    data.check()?;
    let columns = activation.weights(data.dim());
    if start.w.ncols() != columns || start.w.nrows() == 0 {
        return Err(Error::Shape {
            what: "the start",
            expected: format!("weights of {columns} columns"),
            found: format!("{} × {}", start.w.nrows(), start.w.ncols()),
        });
    }
    let many = Many {
        activation,
        data,
        kappa: start.kappa,
    };
    let go_on = || observe(&Progress::fraction(0.5)) == Control::Continue;
    many.run(start.w, steps, &go_on).ok_or(Error::Diverged {
        what: "the start",
        step: 0,
        advice: "check the scale of the data",
    })
}

impl Fit<'_> {
    /// The model of the start that does best after the polish.
    fn race(self, starts: Vec<Features>) -> Result<Model> {
        let steps = if self.polish_is_affordable() {
            self.config.polish.steps
        } else {
            0
        };
        let candidates = starts.into_iter().map(|start| Candidate {
            w: start.w,
            origin: Origin::Training,
            kappa: start.kappa,
            damping: 1e-2,
            steps: 0,
            history: vec![],
            validation: f64::MAX,
        });
        let watch = |_: f64, _: f64| self.tell(&Progress::fraction(0.5));
        let winner = self.race_of(candidates.collect(), steps, &watch)?;
        let winner = winner.ok_or(Error::Diverged {
            what: "every start",
            step: 0,
            advice: "check the scale of the data",
        })?;
        let chosen = Solution {
            solved: self.solve(&winner.w, self.config.polish.form)?,
            w: winner.w,
            origin: winner.origin,
            lambda: 0.0,
            polish_steps: Some(winner.steps),
            unpolished: None,
            stopped: self.stop.load(Ordering::Relaxed),
            raised: 0,
            history: winner.history,
        };
        self.finish(chosen)
    }
}
