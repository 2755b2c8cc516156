//! Several starts, one winner: every candidate is polished a little, the best two go on, validation decides.
//!
//! Trained features start near a good basin; random features of very small scale start where the orthogonal
//! factorisations can still tell nearly parallel columns apart, and often go further. Which is better depends on the
//! data, so both run. The order of the candidates decides between equals, and threads change nothing.

use crate::Form;
use crate::data::rows::Rows;
use crate::network::features::pad;
use crate::polish::{self, Polished, polish};
use crate::train::processor::Check;
use crate::{Activation, Dataset};
use faer::Mat;
use rayon::prelude::*;

/// Steps that every candidate gets.
pub(crate) const HEAT: usize = 10;
/// Candidates that go on.
pub(crate) const FINALISTS: usize = 2;

/// Hidden weights to start from and how to treat them.
pub(crate) struct Candidate {
    /// n × d′.
    pub w: Mat<f64>,
    /// Standard deviation of random weights; none for trained ones.
    pub scale: Option<f64>,
    /// τ = κ · s_max.
    pub kappa: f64,
    /// Damping of the first step.
    pub damping: f64,
}

/// A candidate that has run.
pub(crate) struct Runner {
    pub w: Mat<f64>,
    pub scale: Option<f64>,
    /// Steps that led to `w`; 0 if it is the start itself.
    pub steps: usize,
    pub history: Vec<Check>,
    validation: f64,
    kappa: f64,
    damping: f64,
}

/// The rows and the form that all candidates share.
pub(crate) struct Race<'a> {
    pub activation: Activation,
    pub form: Form,
    pub train: &'a Dataset,
    pub validation: &'a Dataset,
}

impl Race<'_> {
    /// Runs all candidates and returns the winner; the finalists get `steps` more steps each.
    ///
    /// `watch(loss, validation error)` hears of every step, from any thread, and ends the race by returning false.
    pub fn run(
        &self,
        candidates: Vec<Candidate>,
        steps: usize,
        watch: &(dyn Fn(f64, f64) -> bool + Sync),
    ) -> Option<Runner> {
        let padded =
            [self.train, self.validation].map(|data| pad(self.activation, data.x.as_ref()));
        let omega = Rows::of(self.train).total_weight();
        let lap = |runner: Runner, options: polish::Options| {
            let mut history = runner.history;
            let mut observe = |step: usize, objective: f64, error: f64| {
                let (loss, error) = (objective / omega, error.min(f64::MAX));
                history.push(Check {
                    leaf: None,
                    step,
                    loss: Some(loss),
                    validation: error,
                });
                watch(loss, error)
            };
            let train = Rows {
                x: padded[0].as_ref(),
                ..Rows::of(self.train)
            };
            let held = Rows {
                x: padded[1].as_ref(),
                ..Rows::of(self.validation)
            };
            let Polished {
                w,
                validation,
                best_step,
                damping,
                ..
            } = polish(
                self.activation,
                self.form,
                &train,
                &held,
                runner.w,
                &options,
                &mut observe,
            );
            Runner {
                w,
                validation,
                steps: runner.steps + best_step,
                damping,
                history,
                ..runner
            }
        };
        let mut runners: Vec<Runner> = candidates
            .into_par_iter()
            .map(
                |Candidate {
                     w,
                     scale,
                     kappa,
                     damping,
                 }| {
                    let runner = Runner {
                        w,
                        scale,
                        steps: 0,
                        history: vec![],
                        validation: f64::MAX,
                        kappa,
                        damping,
                    };
                    let heat = HEAT.min(steps);
                    lap(
                        runner,
                        polish::Options {
                            steps: heat,
                            kappa,
                            damping,
                            patience: heat,
                            ..Default::default()
                        },
                    )
                },
            )
            .collect();
        runners.sort_by(|a, b| a.validation.total_cmp(&b.validation));
        runners.truncate(FINALISTS);
        let finals = runners.into_par_iter().map(|runner| {
            let (kappa, damping) = (runner.kappa, runner.damping);
            lap(
                runner,
                polish::Options {
                    steps,
                    kappa,
                    damping,
                    patience: 30,
                    stall: 1e-6,
                    ..Default::default()
                },
            )
        });
        let finals: Vec<Runner> = finals.collect();
        finals
            .into_iter()
            .reduce(|a, b| if b.validation < a.validation { b } else { a })
    }
}
