//! The parts of a fit that report every step: the training runs and the polish.

use super::Fit;
use super::contender::Contender;
use crate::config::{Start, Training};
use crate::math::random::{Purpose, stream};
use crate::polish::race::{self, Candidate, Origin, Race};
use crate::train::checkpoint::RunState;
use crate::train::phases::{phases, train};
use crate::train::progress::{Control, Phase, Progress};
use crate::train::step::{Leaf, Task, TrainingRun};
use crate::{Form, Result};
use faer::Mat;
use rand::RngExt;
use rand_distr::StandardNormal;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Weight of a polish step in a progress bar, in training steps.
const POLISH_COST: usize = 50;

/// Entries of the largest Jacobian of the polish (512 MiB).
const POLISH_ENTRIES: usize = 64 << 20;

impl Fit<'_> {
    /// Run `i`: all phases with the i-th λ.
    pub(super) fn train(&self, lambdas: &[f64], i: usize) -> Result<Contender> {
        let config = &self.config;
        let mut state = self.board()[i].clone();
        let (phases, (training, polish)) = (phases(config), self.work());
        let task = Task {
            train: &self.train,
            validation: &self.validation,
            lambda: lambdas[i],
            domain: &self.train.domain(),
        };
        let mut run = self.backend.start(config, &task)?;
        let post = |run: &dyn TrainingRun, state: &RunState| {
            self.board()[i] = state.captured(run);
        };
        let mut report = |run: &dyn TrainingRun, state: &RunState, leaf: Leaf, loss: f64| {
            let before: usize = phases[..state.phase]
                .iter()
                .map(|phase| phase.1.steps)
                .sum();
            if lambdas.len() > 1 && state.step.is_multiple_of(config.check_every) {
                post(run, state);
            }
            let progress = Progress {
                phase: Phase::Train(leaf),
                step: state.step,
                steps: phases[state.phase].1.steps,
                loss: Some(loss),
                validation: state.best(),
                run: i,
                runs: lambdas.len(),
                done: (before + state.step) as f64 / (training + polish) as f64,
                state: Some(&|| {
                    post(run, state);
                    self.state()
                }),
            };
            (self.observe)(&progress) == Control::Continue
        };
        let (w, stopped) = train(run.as_mut(), config, &mut state, &mut report)?;
        if !stopped {
            self.board()[i] = state.clone();
        }
        let mut solved = self.solve(&w, Form::Complex)?;
        if lambdas.len() > 1 {
            // All but one are in vain, and each may have 128 MiB.
            solved.factor = None;
        }
        Ok(Contender {
            solved,
            w,
            origin: Origin::Training,
            lambda: lambdas[i],
            polish_steps: None,
            stopped,
            raised: state.raised,
            history: state.history,
        })
    }

    /// Polishes the trained features alongside random ones.
    pub(super) fn polish(&self, mut trained: Contender) -> Result<Contender> {
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
                state: Some(&|| self.state()),
            };
            if (self.observe)(&progress) == Control::Stop {
                self.stop.store(true, Ordering::Relaxed);
            }
            !self.stop.load(Ordering::Relaxed)
        };
        let race = Race {
            activation: config.activation,
            form: config.polish.form,
            train: &self.train,
            validation: &self.validation,
        };
        let winner = race.run(self.candidates(&trained), config.polish.steps, &watch);
        let stopped = self.stop.load(Ordering::Relaxed);
        let Some(winner) = winner else {
            return Ok(Contender { stopped, ..trained });
        };
        match self.solve(&winner.w, race.form) {
            Ok(solved) if solved.validation < trained.solved.validation => Ok(Contender {
                w: winner.w,
                origin: winner.origin,
                solved,
                polish_steps: Some(winner.steps),
                stopped,
                history: winner.history,
                ..trained
            }),
            // The polish may not help, but it never hurts.
            _ => Ok(Contender {
                polish_steps: Some(0),
                stopped,
                ..trained
            }),
        }
    }

    /// The trained features and the random starts, ready to race.
    fn candidates(&self, trained: &Contender) -> Vec<Candidate> {
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
