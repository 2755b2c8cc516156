//! Algorithm 1: the phases of the runs of a batch, with validation and the best state so far.

use super::checkpoint::RunState;
use super::progress::Phase;
use super::step::{Batch, Leaf, foreign_state};
use crate::config::{Config, Keep, Schedule, Training};
use crate::{Error, Result};
use faer::{Mat, MatRef};
use serde::{Deserialize, Serialize};
use std::ops::Range;

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

impl Check {
    /// The phase.
    pub fn phase(&self) -> Phase {
        self.leaf.map_or(Phase::Polish, Phase::Train)
    }
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

/// Observes the runs of a batch, and may stop them.
pub(crate) trait Watch {
    /// Called for each run that advanced, once all that go together did. `states` are those of all runs, `loss` is that
    /// of the last step.
    fn report(
        &self,
        batch: &dyn Batch,
        states: &[RunState],
        run: usize,
        leaf: Leaf,
        loss: Option<f64>,
    );

    /// Whether a run is to end now.
    fn stops(&self, run: usize) -> bool;
}

/// How a run ended: its hidden weights (n × d′), and whether it was stopped.
pub(crate) type Outcome = Result<(Mat<f64>, bool)>;

/// Takes every run through all phases from where its state stands.
///
/// Runs that lag behind are advanced alone until they reach the others. The result of a run does not depend on the others,
/// unless the device fails.
pub(crate) fn train(
    batch: &mut dyn Batch,
    config: &Config,
    states: &mut [RunState],
    watch: &dyn Watch,
) -> Vec<Outcome> {
    let mut march = March {
        losses: vec![None; states.len()],
        outcomes: states.iter().map(|_| None).collect(),
        phases: phases(config),
        batch,
        config,
        states,
    };
    for run in 0..march.states.len() {
        if let Err(error) = march.enter(run) {
            march.fail(run, error);
        }
    }
    while let Some((place, runs)) = march.last() {
        march.round(place, runs, watch);
    }
    march.outcomes.into_iter().flatten().collect()
}

/// Runs in their phases.
struct March<'a> {
    batch: &'a mut dyn Batch,
    config: &'a Config,
    phases: Vec<(Leaf, Schedule)>,
    states: &'a mut [RunState],
    /// Loss of each run at its last step; none before the first.
    losses: Vec<Option<f64>>,
    /// None while a run is in training.
    outcomes: Vec<Option<Outcome>>,
}

impl March<'_> {
    /// Restores a run from its state.
    fn enter(&mut self, run: usize) -> Result<()> {
        let state = &mut self.states[run];
        if let Some(trained) = &state.trained {
            let (n, dim) = (self.config.width, self.batch.weights(run)?.ncols());
            if trained.len() != n * dim {
                return Err(foreign_state("arrays of other lengths"));
            }
            let w = MatRef::from_column_major_slice(trained, n, dim).to_owned();
            self.outcomes[run] = Some(Ok((w, false)));
            return Ok(());
        }
        match (state.snapshot.take(), self.phases.get(state.phase)) {
            (Some(snapshot), Some(&(leaf, _))) => {
                state.raised = snapshot.raised;
                self.batch.begin(run, leaf, Some(&snapshot))
            }
            (None, Some(_)) if state.phase > 0 || state.step > 0 => Err(foreign_state("no arrays")),
            (_, Some(_)) => Ok(()),
            (_, None) => self.finish(run),
        }
    }

    /// Whether a run is in training.
    fn is_going(&self, run: usize) -> bool {
        self.outcomes[run].is_none()
    }

    /// The runs in training.
    fn going(&self) -> impl Iterator<Item = usize> {
        (0..self.states.len()).filter(|&run| self.is_going(run))
    }

    /// The smallest (phase, step) of all runs in training, and the runs that stand there.
    fn last(&self) -> Option<((usize, usize), Vec<usize>)> {
        let place = |run: usize| (self.states[run].phase, self.states[run].step);
        let least = self.going().map(place).min()?;
        let runs = self.going().filter(|&run| place(run) == least);
        Some((least, runs.collect()))
    }

    /// Advances `runs`, which all stand at `step` of `phase`, until something is due.
    fn round(&mut self, (phase, step): (usize, usize), mut runs: Vec<usize>, watch: &dyn Watch) {
        let (leaf, schedule) = self.phases[phase];
        if step == 0 {
            runs = self.begin(runs, leaf);
            runs = self.check(runs, leaf, step);
        }
        if step < schedule.steps && !runs.is_empty() {
            let until = self.until(phase, step);
            runs = self.advance(runs, step..until, schedule.rate);
            if until.is_multiple_of(self.config.check_every) || until == schedule.steps {
                runs = self.check(runs, leaf, until);
            }
            for &run in &runs {
                watch.report(self.batch, self.states, run, leaf, self.losses[run]);
            }
            let stopped: Vec<usize> = self.going().filter(|&run| watch.stops(run)).collect();
            stopped.into_iter().for_each(|run| self.stop(run));
        }
        runs.retain(|&run| self.is_going(run) && self.states[run].step >= schedule.steps);
        let best = leaf != Leaf::Parameters || self.config.keep == Keep::Best;
        runs.into_iter().for_each(|run| self.end_phase(run, best));
    }

    /// The step up to which the runs at `step` of `phase` advance in one go.
    fn until(&self, phase: usize, step: usize) -> usize {
        let every = self.config.check_every;
        let check = (step / every + 1) * every;
        let ahead = self.going().map(|run| &self.states[run]);
        let ahead = ahead.filter(|state| state.phase == phase && state.step > step);
        let stride = step.saturating_add(self.batch.stride().max(1));
        [check, self.phases[phase].1.steps, stride]
            .into_iter()
            .chain(ahead.map(|state| state.step))
            .fold(usize::MAX, usize::min)
    }

    /// Begins the phase that moves `leaf`; returns the runs that continue, as do the other parts of a round.
    fn begin(&mut self, mut runs: Vec<usize>, leaf: Leaf) -> Vec<usize> {
        for &run in &runs {
            self.losses[run] = None;
            if let Err(error) = self.batch.begin(run, leaf, None) {
                self.fail(run, error);
            }
        }
        runs.retain(|&run| self.is_going(run));
        runs
    }

    /// Takes the steps numbered `steps`.
    fn advance(&mut self, runs: Vec<usize>, steps: Range<usize>, rate: f64) -> Vec<usize> {
        let losses = self.batch.advance(&runs, steps.clone(), rate);
        let mut advanced = vec![];
        for (run, loss) in self.sift(runs, losses) {
            let loss = loss.map(|loss| loss.total).filter(|loss| loss.is_finite());
            if loss.is_some() {
                (self.states[run].step, self.losses[run]) = (steps.end, loss);
                advanced.push(run);
            } else {
                // A step that is not finite ends the phase with the best state before it.
                self.end_phase(run, true);
            }
        }
        advanced
    }

    /// Validates, adds to the histories and keeps the states that are the best of their phase.
    fn check(&mut self, runs: Vec<usize>, leaf: Leaf, step: usize) -> Vec<usize> {
        if runs.is_empty() {
            return runs;
        }
        let validations = self.batch.validate(&runs, step);
        let checked = self.sift(runs, validations);
        let mut sound = vec![];
        for (run, validation) in checked {
            let validation = validation.filter(|v| v.is_finite()).unwrap_or(f64::MAX);
            let state = &mut self.states[run];
            state.history.push(Check {
                leaf: Some(leaf),
                step,
                loss: self.losses[run],
                validation,
            });
            if state.best().is_none_or(|best| validation < best) {
                match self.batch.snapshot(run, false) {
                    Ok(snapshot) => state.best = Some((validation, snapshot)),
                    Err(error) => {
                        self.fail(run, error);
                        continue;
                    }
                }
            }
            sound.push(run);
        }
        sound.retain(|&run| self.is_going(run));
        sound
    }

    /// What the device returned for each of the continuing runs; `None` for one that diverged.
    fn sift<T>(&mut self, runs: Vec<usize>, results: Vec<Result<T>>) -> Vec<(usize, Option<T>)> {
        assert_eq!(
            results.len(),
            runs.len(),
            "a device returns one result for each run"
        );
        let mut sound = vec![];
        for (run, result) in runs.into_iter().zip(results) {
            match result {
                Ok(value) => sound.push((run, Some(value))),
                Err(Error::Diverged { .. }) => sound.push((run, None)),
                Err(error) => self.fail(run, error),
            }
        }
        sound.retain(|&(run, _)| self.is_going(run));
        sound
    }

    /// Ends the phase of a run, with the best state or the last one.
    fn end_phase(&mut self, run: usize, best: bool) {
        if best && let Err(error) = self.restore_best(run) {
            return self.fail(run, error);
        }
        let state = &mut self.states[run];
        (state.phase, state.step, state.best) = (state.phase + 1, 0, None);
        if state.phase == self.phases.len()
            && let Err(error) = self.finish(run)
        {
            self.fail(run, error);
        }
    }

    /// Ends a run after its last phase.
    fn finish(&mut self, run: usize) -> Result<()> {
        let (w, state) = (self.batch.weights(run)?, &mut self.states[run]);
        state.trained = Some(w.col_iter().flat_map(|w| w.iter().copied()).collect());
        state.raised += self.batch.snapshot(run, false)?.raised;
        self.outcomes[run] = Some(Ok((w, false)));
        Ok(())
    }

    /// Ends a run now, with its best state.
    fn stop(&mut self, run: usize) {
        let mut weights = || {
            self.restore_best(run)?;
            self.states[run].raised += self.batch.snapshot(run, false)?.raised;
            self.batch.weights(run)
        };
        match weights() {
            Ok(w) => self.outcomes[run] = Some(Ok((w, true))),
            Err(error) => self.fail(run, error),
        }
    }

    /// Ends a run with an error; one of the device ends them all.
    fn fail(&mut self, run: usize, error: Error) {
        if let Error::Device {
            device,
            problem,
            advice,
        } = &error
        {
            for run in 0..self.states.len() {
                self.outcomes[run].get_or_insert_with(|| {
                    Err(Error::Device {
                        device: device.clone(),
                        problem: problem.clone(),
                        advice,
                    })
                });
            }
        }
        self.outcomes[run].get_or_insert(Err(error));
    }

    /// Returns to the best state of the phase, if there is one.
    fn restore_best(&mut self, run: usize) -> Result<()> {
        let state = &self.states[run];
        match &state.best {
            Some((_, snapshot)) => {
                let (leaf, _) = self.phases[state.phase];
                self.batch.begin(run, leaf, Some(snapshot))
            }
            None => Ok(()),
        }
    }
}
