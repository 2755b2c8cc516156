//! Algorithm 1: the phases of a run, with validation and the best state so far.

use super::checkpoint::RunState;
use super::step::{Leaf, TrainingRun, foreign_state};
use crate::config::{Config, Keep, Schedule, Training};
use crate::{Error, Result};
use faer::{Mat, MatRef};
use serde::{Deserialize, Serialize};

/// One point of the learning curve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Check {
    /// The leaf that was trained; none in the polish.
    pub leaf: Option<Leaf>,
    /// Steps done in this phase.
    pub step: usize,
    /// Loss at the last step; none before the first.
    pub loss: Option<f64>,
    /// Mean squared error on the validation rows, in the units of the scaled outputs.
    pub validation: f64,
}

/// The phases of a configuration, in order.
pub(crate) fn phases(config: &Config) -> Vec<(Leaf, Schedule)> {
    match config.training {
        Training::Random => vec![],
        Training::Direct => vec![(Leaf::Weights, config.direct)],
        Training::Generative => vec![(Leaf::Parameters, config.generate)],
        Training::Refined => vec![
            (Leaf::Parameters, config.generate),
            (Leaf::Latents, config.refine),
        ],
    }
}

/// Called by [`train`] after every step; false stops it.
pub(crate) type Report<'a> = dyn FnMut(&dyn TrainingRun, &RunState, Leaf, f64) -> bool + 'a;

/// Runs all phases from where `state` stands and returns the hidden weights (n × d′), and whether it was stopped.
pub(crate) fn train(
    run: &mut dyn TrainingRun,
    config: &Config,
    state: &mut RunState,
    report: &mut Report<'_>,
) -> Result<(Mat<f64>, bool)> {
    let phases = phases(config);
    if let Some(trained) = &state.trained {
        let (n, dim) = (config.width, run.weights().ncols());
        if trained.len() != n * dim {
            return Err(foreign_state("arrays of other lengths"));
        }
        let w = MatRef::from_column_major_slice(trained, n, dim).to_owned();
        return Ok((w, false));
    }
    match (&state.snapshot, phases.get(state.phase)) {
        (Some(snapshot), Some(&(leaf, _))) => {
            state.raised = snapshot.raised;
            run.begin(leaf, Some(snapshot))?;
        }
        (None, Some(_)) if state.phase > 0 || state.step > 0 => {
            return Err(foreign_state("no arrays"));
        }
        _ => {}
    }
    while let Some(&(leaf, schedule)) = phases.get(state.phase) {
        let completed = train_phase(run, config, (leaf, schedule), state, report)?;
        if !completed {
            restore_best(run, leaf, state)?;
            state.raised += run.snapshot().raised;
            return Ok((run.weights(), true));
        }
        if leaf != Leaf::Parameters || config.keep == Keep::Best {
            restore_best(run, leaf, state)?;
        }
        (state.phase, state.step, state.best) = (state.phase + 1, 0, None);
    }
    let w = run.weights();
    state.trained = Some(w.col_iter().flat_map(|w| w.iter().copied()).collect());
    state.raised += run.snapshot().raised;
    state.snapshot = None;
    Ok((w, false))
}

/// Runs the current phase to its end, or until `report` stops it: false.
fn train_phase(
    run: &mut dyn TrainingRun,
    config: &Config,
    (leaf, schedule): (Leaf, Schedule),
    state: &mut RunState,
    report: &mut Report<'_>,
) -> Result<bool> {
    if state.step == 0 {
        run.begin(leaf, None)?;
        check(run, leaf, state, None)?;
    }
    while state.step < schedule.steps {
        let loss = match run.step(state.step, schedule.rate) {
            Ok(loss) if loss.total.is_finite() => loss.total,
            // A step that is not finite ends the phase with the best state before it.
            Ok(_) | Err(Error::Diverged { .. }) => {
                restore_best(run, leaf, state)?;
                break;
            }
            Err(error) => return Err(error),
        };
        state.step += 1;
        if state.step.is_multiple_of(config.check_every) || state.step == schedule.steps {
            check(run, leaf, state, Some(loss))?;
        }
        if !report(run, state, leaf, loss) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Validates, adds to the history and keeps the state if it is the best of its phase.
fn check(
    run: &mut dyn TrainingRun,
    leaf: Leaf,
    state: &mut RunState,
    loss: Option<f64>,
) -> Result<()> {
    let validation = match run.validate(state.step) {
        Ok(validation) if validation.is_finite() => validation,
        Ok(_) | Err(Error::Diverged { .. }) => f64::MAX,
        Err(error) => return Err(error),
    };
    state.history.push(Check {
        leaf: Some(leaf),
        step: state.step,
        loss,
        validation,
    });
    if state.best().is_none_or(|best| validation < best) {
        state.best = Some((validation, run.snapshot().without_moments()));
    }
    Ok(())
}

fn restore_best(run: &mut dyn TrainingRun, leaf: Leaf, state: &RunState) -> Result<()> {
    match &state.best {
        Some((_, snapshot)) => run.begin(leaf, Some(snapshot)),
        None => Ok(()),
    }
}
