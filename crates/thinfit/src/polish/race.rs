//! Successive halving over several starts: every candidate is polished a little, the best two continue, and the
//! validation rows decide.
//!
//! Trained features start near a good basin; random features of very small scale start where the orthogonal
//! factorisations can still tell nearly parallel columns apart, and often go further. Which is better depends on the
//! data, so both run. Ties go to the earlier candidate. The candidates of a lap are independent of each other.

use super::{Options, Polished, Projection, polish};
use crate::data::rows::Rows;
use crate::network::features::Padded;
use crate::network::support::Support;
use crate::train::phases::Check;
use crate::{Activation, Dataset, Form};
use faer::Mat;

/// Steps of every candidate in the first round.
pub(crate) const HEAT: usize = 10;
/// Number of candidates that continue.
pub(crate) const FINALISTS: usize = 2;

/// The origin of hidden weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The training.
    Training,
    /// The random start of this number in the configuration.
    Start(usize),
}

/// Hidden weights in the race.
#[derive(Clone)]
pub(crate) struct Candidate {
    /// n × d′.
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
    activation: Activation,
    form: Form,
    train: (&'a Dataset, Padded),
    validation: (&'a Dataset, Padded),
}

/// Called with the loss and the validation error after every step, from any thread; false ends the race.
pub(crate) type Watch<'a> = dyn Fn(f64, f64) -> bool + Sync + 'a;

impl<'a> Race<'a> {
    /// A race on these rows for training and validation.
    pub fn new(
        (activation, form): (Activation, Form),
        train: &'a Dataset,
        validation: &'a Dataset,
    ) -> Self {
        let padded = |data: &'a Dataset| (data, Padded::new(activation, data.x.as_ref()));
        Race {
            activation,
            form,
            train: padded(train),
            validation: padded(validation),
        }
    }

    /// A few steps, at most `steps`, which every candidate gets.
    pub fn heat(&self, candidate: Candidate, steps: usize, watch: &Watch<'_>) -> Candidate {
        let heat = HEAT.min(steps);
        let options = Options {
            steps: heat,
            patience: heat,
            ..Options::default()
        };
        self.polish(candidate, options, watch)
    }

    /// So many steps more, which a finalist gets.
    pub fn last_lap(&self, finalist: Candidate, steps: usize, watch: &Watch<'_>) -> Candidate {
        let options = Options {
            steps,
            patience: 30,
            stall: 1e-6,
            ..Options::default()
        };
        self.polish(finalist, options, watch)
    }

    /// Polishes one candidate with its own κ and damping.
    fn polish(&self, candidate: Candidate, options: Options, watch: &Watch<'_>) -> Candidate {
        let [train, validation] = [&self.train, &self.validation]
            .map(|(data, padded)| Rows::of(data).with_inputs(padded.as_ref()));
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
        let projection = Projection::new(self.activation, self.form, &train, &support);
        let Polished {
            w,
            validation,
            best_step,
            damping,
            ..
        } = polish(
            &projection,
            &validation,
            candidate.w,
            &options,
            &mut observe,
        );
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

/// The candidates that go on after the heat, best first.
pub(crate) fn finalists(mut candidates: Vec<Candidate>) -> Vec<Candidate> {
    candidates.sort_by(|a, b| a.validation.total_cmp(&b.validation));
    candidates.truncate(FINALISTS);
    candidates
}

/// The finalist with the least validation error.
pub(crate) fn winner(finalists: Vec<Candidate>) -> Option<Candidate> {
    let finalists = finalists.into_iter();
    finalists.reduce(|a, b| if b.validation < a.validation { b } else { a })
}
