//! The parts of a fit that report every step: the training runs, which several fits may share, and the polish.

use super::solution::Solution;
use super::{Fit, lambdas};
use crate::config::{Start, Training};
use crate::math::random::{Purpose, stream};
use crate::math::row_list;
use crate::polish::race::{self, Candidate, Origin, Race, Watch};
use crate::train::checkpoint::RunState;
use crate::train::phases::{self, Check, Outcome, phases};
use crate::train::progress::{Control, Phase, Progress};
use crate::train::step::{Backend, Batch, Leaf, Task};
use crate::{Error, Form, Result};
use faer::Mat;
use rand::RngExt;
use rand_distr::StandardNormal;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Weight of a polish step in a progress bar, in training steps.
const POLISH_COST: usize = 50;

/// Entries of the largest Jacobian of the polish (512 MiB).
const POLISH_ENTRIES: usize = 64 << 20;

/// A run after its training.
pub(super) struct Trained {
    lambda: f64,
    pub state: RunState,
    outcome: Outcome,
}

/// A run, packed for other ranks.
#[derive(Serialize, Deserialize)]
struct RunMessage {
    lambda: f64,
    state: RunState,
    /// The hidden weights, row by row; none of a run that diverged.
    hidden: Option<Hidden>,
    stopped: bool,
}

#[derive(Serialize, Deserialize)]
struct Hidden(#[serde(with = "row_list")] Mat<f64>);

impl RunMessage {
    fn new(run: Trained) -> Result<Self> {
        let (hidden, stopped) = match run.outcome {
            Ok((w, stopped)) => (Some(Hidden(w)), stopped),
            Err(Error::Diverged { .. }) => (None, false),
            Err(error) => return Err(error),
        };
        let state = RunState {
            snapshot: None,
            best: None,
            ..run.state
        };
        Ok(RunMessage {
            lambda: run.lambda,
            state,
            hidden,
            stopped,
        })
    }

    fn trained(self) -> Trained {
        let diverged = Error::Diverged {
            what: "a run",
            step: self.state.step,
            advice: "lower the learning rate or scale the data",
        };
        let hidden = self.hidden.map(|Hidden(w)| (w, self.stopped));
        Trained {
            lambda: self.lambda,
            state: self.state,
            outcome: hidden.ok_or(diverged),
        }
    }
}

/// A polished candidate as a message for other processes.
#[derive(Serialize, Deserialize)]
struct CandidateMessage {
    hidden: Hidden,
    damping: f64,
    steps: usize,
    history: Vec<Check>,
    validation: f64,
}

impl From<Candidate> for CandidateMessage {
    fn from(candidate: Candidate) -> Self {
        CandidateMessage {
            hidden: Hidden(candidate.w),
            damping: candidate.damping,
            steps: candidate.steps,
            history: candidate.history,
            validation: candidate.validation,
        }
    }
}

impl CandidateMessage {
    /// The polished candidate, given what it was before.
    fn onto(self, before: Candidate) -> Candidate {
        Candidate {
            w: self.hidden.0,
            damping: self.damping,
            steps: self.steps,
            history: self.history,
            validation: self.validation,
            ..before
        }
    }
}

/// Trains the runs of all `fits`, which have one shape and configuration, as one batch; returns them fit by fit. Of a fit that
/// processes share, those of this process.
pub(super) fn train(backend: &dyn Backend, fits: &[&Fit<'_>]) -> Result<Vec<Vec<Trained>>> {
    let Some(first) = fits.first() else {
        return Ok(vec![]);
    };
    let domains: Vec<_> = fits.iter().map(|fit| fit.train.domain()).collect();
    let (mut runs, mut owners) = (vec![], vec![]);
    for (fit, domain) in fits.iter().zip(&domains) {
        let start = runs.len();
        let lambdas = lambdas(&fit.config);
        runs.extend(fit.places().map(|place| {
            let task = Task {
                train: &fit.train,
                validation: &fit.validation,
                lambda: lambdas[place],
                domain,
            };
            (fit.config.seed, task)
        }));
        let own = start..runs.len();
        owners.extend(own.clone().map(|_| (*fit, own.clone())));
    }
    if runs.is_empty() {
        return Ok(fits.iter().map(|_| vec![]).collect());
    }
    let states = |fit: &&Fit<'_>| -> Vec<RunState> {
        fit.places().map(|place| fit.runs[place].clone()).collect()
    };
    let mut states: Vec<RunState> = fits.iter().flat_map(states).collect();
    let mut batch = backend.start(&first.config, &runs)?;
    let outcomes = phases::train(batch.as_mut(), &first.config, &mut states, &Owners(owners));
    let trained = runs.iter().zip(states).zip(outcomes);
    let mut trained = trained.map(|(((_, task), state), outcome)| Trained {
        lambda: task.lambda,
        state,
        outcome,
    });
    let of_each = |fit: &&Fit<'_>| trained.by_ref().take(fit.places().len()).collect();
    Ok(fits.iter().map(of_each).collect())
}

/// For each run of a batch, its fit and all runs of this fit.
struct Owners<'a>(Vec<(&'a Fit<'a>, Range<usize>)>);

impl phases::Watch for Owners<'_> {
    fn report(
        &self,
        batch: &dyn Batch,
        states: &[RunState],
        run: usize,
        leaf: Leaf,
        loss: Option<f64>,
    ) {
        if self.stops(run) {
            return;
        }
        let ((fit, own), state) = (&self.0[run], &states[run]);
        let (phases, (training, polish)) = (phases(&fit.config), fit.work());
        let before = phases[..state.phase].iter().map(|phase| phase.1.steps);
        let done = before.sum::<usize>() + state.step;
        let captured = |run: usize| states[run].captured(batch, run);
        fit.tell(&Progress {
            phase: Phase::Train(leaf),
            step: state.step,
            steps: phases[state.phase].1.steps,
            loss,
            validation: state.best(),
            run: run - own.start,
            runs: own.len(),
            done: done as f64 / (training + polish) as f64,
            state: Some(&|| {
                let runs: Option<Vec<RunState>> = own.clone().map(captured).collect();
                // Other processes may have more of them.
                let all = runs.filter(|runs| runs.len() == fit.runs.len());
                all.map(|runs| fit.state(runs))
            }),
        });
    }

    fn stops(&self, run: usize) -> bool {
        self.0[run].0.stop.load(Ordering::Relaxed)
    }
}

impl Fit<'_> {
    /// The indices of the runs that this rank trains.
    fn places(&self) -> impl ExactSizeIterator<Item = usize> + use<> {
        self.executor.own_jobs(self.runs.len())
    }

    /// The runs of all processes.
    pub(super) fn gathered(&self, mine: Vec<Trained>) -> Result<Vec<Trained>> {
        if self.executor.size() == 1 {
            return Ok(mine);
        }
        let messages = |_| mine.into_iter().map(RunMessage::new).collect();
        let all = self.executor.map(self.runs.len(), messages)?;
        Ok(all.into_iter().map(RunMessage::trained).collect())
    }

    /// Calls the observer; false if it asked to stop, now or before.
    pub(super) fn tell(&self, progress: &Progress<'_>) -> bool {
        if (self.observe)(progress) == Control::Stop {
            self.stop.store(true, Ordering::Relaxed);
        }
        !self.stop.load(Ordering::Relaxed)
    }

    /// The solution for the features of a run.
    pub(super) fn solution(&self, run: Trained) -> Result<Solution> {
        let (w, stopped) = run.outcome?;
        let mut solved = self.solve(&w, Form::Complex)?;
        if self.runs.len() > 1 {
            // All but one are in vain, and each may have 128 MiB.
            solved.factor = None;
        }
        Ok(Solution {
            solved,
            w,
            origin: Origin::Training,
            lambda: run.lambda,
            polish_steps: None,
            unpolished: None,
            stopped,
            raised: run.state.raised,
            history: run.state.history,
        })
    }

    /// Polishes the trained features alongside random ones.
    pub(super) fn polish(&self, mut trained: Solution) -> Result<Solution> {
        // The race needs the memory, and mostly replaces these features.
        trained.solved.factor = None;
        let config = &self.config;
        let (training, polish) = self.work();
        let (count, total) = (AtomicUsize::new(0), polish / POLISH_COST);
        let best = Mutex::new(trained.solved.validation);
        let watch = |loss: f64, error: f64| {
            let step = count.fetch_add(1, Ordering::Relaxed).min(total);
            let validation = {
                let mut best = best.lock().unwrap_or_else(PoisonError::into_inner);
                *best = best.min(error);
                *best
            };
            let progress = Progress {
                phase: Phase::Polish,
                step,
                steps: total,
                loss: Some(loss),
                validation: Some(validation),
                run: 0,
                runs: 1,
                done: (training + POLISH_COST * step) as f64 / (training + polish) as f64,
                state: Some(&|| Some(self.state(self.runs.clone()))),
            };
            self.tell(&progress)
        };
        let winner = self.race_of(self.candidates(&trained), config.polish.steps, &watch)?;
        let stopped = self.executor.any(self.stop.load(Ordering::Relaxed))?;
        let Some(winner) = winner else {
            return Ok(Solution { stopped, ..trained });
        };
        trained.unpolished = Some(trained.solved.errors.clone());
        match self.solve(&winner.w, config.polish.form) {
            Ok(solved) if solved.validation < trained.solved.validation => Ok(Solution {
                w: winner.w,
                origin: winner.origin,
                solved,
                polish_steps: Some(winner.steps),
                stopped,
                history: winner.history,
                ..trained
            }),
            // The polish may not help, but it never hurts.
            _ => Ok(Solution {
                polish_steps: Some(0),
                stopped,
                ..trained
            }),
        }
    }

    /// Polishes all candidates a little and the best further, shared among the processes, and returns the winner.
    pub(super) fn race_of(
        &self,
        candidates: Vec<Candidate>,
        steps: usize,
        watch: &Watch<'_>,
    ) -> Result<Option<Candidate>> {
        let form = (self.config.activation, self.config.polish.form);
        let race = Race::new(form, &self.train, &self.validation);
        let runners = self.lap(candidates, |runner| race.heat(runner, steps, watch))?;
        let finalists = race::finalists(runners);
        let finalists = self.lap(finalists, |runner| race.last_lap(runner, steps, watch))?;
        Ok(race::winner(finalists))
    }

    /// What `polish` makes of every candidate, shared among the processes.
    fn lap(
        &self,
        candidates: Vec<Candidate>,
        polish: impl Fn(Candidate) -> Candidate + Sync,
    ) -> Result<Vec<Candidate>> {
        let polished = self.executor.map(candidates.len(), |own| {
            let polished = own.into_par_iter().map(|i| polish(candidates[i].clone()));
            Ok(polished.map(CandidateMessage::from).collect())
        })?;
        let pairs = candidates.into_iter().zip(polished);
        Ok(pairs
            .map(|(before, polished)| polished.onto(before))
            .collect())
    }

    /// The trained features and the random starts, ready to race.
    fn candidates(&self, trained: &Solution) -> Vec<Candidate> {
        let (n, dim) = (trained.w.nrows(), trained.w.ncols());
        let first = Candidate {
            w: trained.w.clone(),
            origin: Origin::Training,
            kappa: self.config.polish.kappa,
            damping: 1e-2,
            steps: 0,
            history: trained.history.clone(),
            validation: f64::MAX,
        };
        let others = self.starts().iter().enumerate().map(|(i, start)| {
            let mut rng = stream(self.config.seed, Purpose::Weights, 1 + i as u64);
            let w = Mat::from_fn(n, dim, |_, _| {
                start.scale * rng.sample::<f64, _>(StandardNormal)
            });
            Candidate {
                w,
                origin: Origin::Start(i),
                kappa: start.kappa,
                damping: start.damping,
                steps: 0,
                history: vec![],
                validation: f64::MAX,
            }
        });
        [first].into_iter().chain(others).collect()
    }

    /// The random starts of the polish.
    fn starts(&self) -> &[Start] {
        match self.config.training {
            Training::Random | Training::Refined => &self.config.polish.starts,
            Training::Direct | Training::Generative => &[],
        }
    }

    /// Work of the training and of the polish, in training steps, for a progress bar.
    fn work(&self) -> (usize, usize) {
        let training = phases(&self.config).iter().map(|phase| phase.1.steps).sum();
        let steps = self.config.polish.steps;
        (
            training,
            POLISH_COST * (self.starts().len() + 1) * race::HEAT.min(steps)
                + POLISH_COST * race::FINALISTS * steps,
        )
    }

    /// Whether the Jacobian of the polish fits in memory: it has (2 · m · c) × (n d′) entries at most.
    pub(super) fn polish_is_affordable(&self) -> bool {
        let config = &self.config;
        let rows = 2 * self.train.samples() * self.train.y.ncols();
        rows.saturating_mul(config.width * config.activation.weights(self.train.dim()))
            <= POLISH_ENTRIES
    }
}
