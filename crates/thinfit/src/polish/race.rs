//! Successive halving over several starts: every candidate is polished a little, the best two continue, and the
//! validation rows decide.
//!
//! Trained features start near a good basin; random features of very small scale start where the orthogonal
//! factorisations can still tell nearly parallel columns apart, and often go further. Which is better depends on the
//! data, so both run. Ties go to the earlier candidate, and neither threads nor ranks change anything.

use super::{Options, Polished, Projection, polish};
use crate::data::rows::Rows;
use crate::math::row_list;
use crate::network::features::{Padded, PaddedRows};
use crate::network::support::Support;
use crate::ranks::{Ranks, shared};
use crate::train::phases::Check;
use crate::{Activation, Dataset, Form, Result};
use faer::Mat;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Steps of every candidate in the first round.
pub(crate) const HEAT: usize = 10;
/// Number of candidates that continue.
pub(crate) const FINALISTS: usize = 2;

/// The origin of hidden weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Origin {
    /// The training.
    Training,
    /// The random start of this number in the configuration.
    Start(usize),
}

/// Hidden weights in the race.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Candidate {
    /// n × d′.
    #[serde(with = "row_list")]
    pub w: Mat<f64>,
    pub origin: Origin,
    /// τ = κ · s_max.
    pub kappa: f64,
    /// Damping of the next step.
    pub damping: f64,
    /// Steps that led to `w`; 0 if it is the start itself.
    pub steps: usize,
    /// The learning curve so far.
    pub history: Vec<Check>,
    /// Error on the validation rows, in scaled outputs.
    pub validation: f64,
}

/// The rows and the form that all candidates share.
pub(crate) struct Race<'a> {
    pub activation: Activation,
    pub form: Form,
    pub train: &'a Dataset,
    pub validation: &'a Dataset,
    /// Those that share the candidates.
    pub ranks: &'a dyn Ranks,
}

/// Called with the loss and the validation error after every step, from any thread; false ends the race.
pub(crate) type Watch<'a> = dyn Fn(f64, f64) -> bool + Sync + 'a;

impl Race<'_> {
    /// Runs all candidates and returns the winner; the finalists get `steps` more steps each.
    ///
    /// # Errors
    /// A rank that has ended.
    pub fn run(
        &self,
        candidates: Vec<Candidate>,
        steps: usize,
        watch: &Watch<'_>,
    ) -> Result<Option<Candidate>> {
        let [train, validation] =
            [self.train, self.validation].map(|data| Padded::new(self.activation, data.x.as_ref()));
        let train = Rows::of(self.train).with_inputs(train.as_ref());
        let validation = Rows::of(self.validation).with_inputs(validation.as_ref());
        let heat = HEAT.min(steps);
        let heat = Options {
            steps: heat,
            patience: heat,
            ..Options::default()
        };
        let last = Options {
            steps,
            patience: 30,
            stall: 1e-6,
            ..Options::default()
        };
        let lap = |candidates: Vec<Candidate>, options: Options| {
            shared(self.ranks, candidates.len(), |mine| {
                let polished = mine.into_par_iter().map(|place| {
                    let candidate = candidates[place].clone();
                    self.polish(candidate, &train, &validation, options, watch)
                });
                Ok(polished.collect())
            })
        };
        let mut runners = lap(candidates, heat)?;
        runners.sort_by(|a, b| a.validation.total_cmp(&b.validation));
        runners.truncate(FINALISTS);
        let finalists = lap(runners, last)?.into_iter();
        Ok(finalists.reduce(|a, b| if b.validation < a.validation { b } else { a }))
    }

    /// Polishes one candidate with its own κ and damping.
    fn polish(
        &self,
        candidate: Candidate,
        train: &PaddedRows<'_>,
        validation: &PaddedRows<'_>,
        options: Options,
        watch: &Watch<'_>,
    ) -> Candidate {
        let mut history = candidate.history;
        let omega = train.total_weight();
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
        let options = Options {
            kappa: candidate.kappa,
            damping: candidate.damping,
            ..options
        };
        let support = Support::of(candidate.w.as_ref());
        let projection = Projection::new(self.activation, self.form, train, &support);
        let Polished {
            w,
            validation,
            best_step,
            damping,
            ..
        } = polish(&projection, validation, candidate.w, &options, &mut observe);
        Candidate {
            w,
            // A text has no infinity, which is what a start without a value has.
            validation: validation.min(f64::MAX),
            steps: candidate.steps + best_step,
            damping,
            history,
            ..candidate
        }
    }
}
