//! A whole fit: scaling, split, runs, polish, the final output weights and their uncertainty.
//!
//! A *run* trains one set of hidden weights. A fit makes one run for each λ that the configuration asks for and keeps
//! the one with the smallest error on the validation rows. The result is polished and compared with polished random
//! features, if the configuration has such starts. The runs of one or several fits are trained together as one batch.
//! This file coordinates; the work is done in the other modules.

mod features;
mod job;
mod out_of_core;
mod run;
mod solution;
mod tsqr_block;

use crate::config::{Config, Lambda, Training};
use crate::data::{Dataset, Scaler};
use crate::executor::{Executor, SingleProcess};
use crate::model::model::Model;
use crate::model::training_rows::TrainingRows;
use crate::train::checkpoint::{RunState, State};
use crate::train::processor::Processor;
use crate::train::progress::Observer;
use crate::train::step::Backend;
use crate::{Error, Result};
pub use features::{Features, fit_features, polish_many};
pub use job::{Job, fit_many_on};
pub use out_of_core::Draft;
use rayon::prelude::*;
use run::Trained;
use solution::Solution;
use std::sync::atomic::AtomicBool;
pub use tsqr_block::{TsqrBlock, TsqrPass};

/// Fits a model to `data`.
///
/// `observe` is called during the fit ([`Observer`]), from any thread; the starts of the polish call it concurrently.
///
/// # Errors
/// A setting out of range, data that cannot be fitted, or numbers that are no longer finite.
///
/// # Examples
/// ```
/// use thinfit::{Config, Control, Dataset, Mat, fit};
/// let x = Mat::from_fn(60, 1, |i, _| i as f64 / 60.0);
/// let y = Mat::from_fn(60, 1, |i, _| (6.0 * x[(i, 0)]).sin());
/// let config = Config { width: 8, ..Config::fast() };
/// let model = fit(&Dataset::new(x.clone(), y.clone())?, &config, &|_| Control::Continue)?;
/// let error = model.predict(x.as_ref())? - y;
/// assert!(error.norm_max() < 1e-3);
/// # Ok::<(), thinfit::Error>(())
/// ```
pub fn fit(data: &Dataset, config: &Config, observe: &Observer<'_>) -> Result<Model> {
    fit_on(&Processor, data, config, observe)
}

/// [`fit`] with the training steps on another device.
///
/// # Errors
/// As [`fit`], and those of the device.
pub fn fit_on(
    backend: &dyn Backend,
    data: &Dataset,
    config: &Config,
    observe: &Observer<'_>,
) -> Result<Model> {
    fit_over(&SingleProcess, backend, data, config, observe)
}

/// [`fit_on`] by several ranks, each of which has all of the data: runs of different λ and starts of the polish are distributed over them, and
/// all get the model of a single rank. While several train, there is no state to save, because each knows only its own runs.
///
/// # Errors
/// As [`fit_on`], and a rank that has ended.
pub fn fit_over(
    executor: &dyn Executor,
    backend: &dyn Backend,
    data: &Dataset,
    config: &Config,
    observe: &Observer<'_>,
) -> Result<Model> {
    alone(backend, Job::new(data, config, observe).over(executor))
}

/// Continues a fit from a state, to the same bits as a fit that was never interrupted.
///
/// # Errors
/// As [`fit`], and a state of other data.
pub fn resume(data: &Dataset, state: State, observe: &Observer<'_>) -> Result<Model> {
    resume_on(&Processor, data, state, observe)
}

/// [`resume`] with the training steps on another device.
///
/// # Errors
/// As [`resume`], and those of the device.
pub fn resume_on(
    backend: &dyn Backend,
    data: &Dataset,
    state: State,
    observe: &Observer<'_>,
) -> Result<Model> {
    alone(backend, Job::resumed(data, state, observe))
}

/// A batch of one fit.
fn alone(backend: &dyn Backend, job: Job<'_>) -> Result<Model> {
    let mut models = fit_many_on(backend, vec![job])?;
    models
        .pop()
        .unwrap_or_else(|| unreachable!("one job gives one model"))
}

/// Runs `work` on a pool of `threads` threads; 0 uses the current pool.
///
/// # Errors
/// Those of the work, or threads that cannot be started.
pub fn on_threads<T: Send>(threads: usize, work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    if threads == 0 {
        // Inside the pool from the start, because entering it at every step would be slow.
        return rayon::scope(|_| work());
    }
    let refused = |error: &dyn std::error::Error| Error::Config {
        field: "threads",
        expected: "a number of threads that can be started",
        found: format!("{threads} ({error})"),
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(|error| refused(&error))?;
    // A worker of another pool would pick up other work while it waits for this one, perhaps another fit; a plain
    // thread just waits.
    std::thread::scope(|scope| {
        let waiting = std::thread::Builder::new().spawn_scoped(scope, || pool.install(work));
        match waiting.map_err(|error| refused(&error))?.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

/// The λ of each run.
fn lambdas(config: &Config) -> Vec<f64> {
    match (config.lambda, config.training) {
        (Lambda::Fixed(lambda), _) => vec![lambda],
        // No step of random features sees λ.
        (Lambda::Auto, Training::Random) => vec![0.0],
        (Lambda::Auto, _) => Lambda::GRID.to_vec(),
    }
}

/// A fit in progress, with its data in scaled units.
struct Fit<'a> {
    observe: &'a Observer<'a>,
    /// The processes that share its runs and candidates.
    executor: &'a dyn Executor,
    config: Config,
    fingerprint: u64,
    /// The state of every run before and after the training, for checkpoints.
    runs: Vec<RunState>,
    /// Whether the observer asked to stop, in any run.
    stop: AtomicBool,
    scalers: (Scaler, Scaler),
    /// Ranges of the inputs, in the units of the data.
    domain: Vec<[f64; 2]>,
    /// Marks of the rows, in the units of the data.
    rows: TrainingRows,
    all: Dataset,
    train: Dataset,
    validation: Dataset,
}

impl<'a> Fit<'a> {
    fn new(job: Job<'a>) -> Result<Self> {
        let Dataset { x, y, .. } = job.data;
        let scalers = job.state.config.scaling.scalers(x.as_ref(), y.as_ref());
        Self::scaled(job, scalers)
    }

    fn scaled(job: Job<'a>, scalers: (Scaler, Scaler)) -> Result<Self> {
        let Job {
            data,
            state,
            observe,
            executor,
        } = job;
        let all = data.scaled(&scalers);
        let (train, validation) = all.split(state.config.validation, state.config.seed)?;
        Ok(Fit {
            observe,
            executor,
            config: state.config,
            fingerprint: state.fingerprint,
            runs: state.runs,
            stop: AtomicBool::new(false),
            domain: data.domain(),
            rows: TrainingRows::new(data),
            scalers,
            all,
            train,
            validation,
        })
    }

    /// Everything after the training.
    fn complete(mut self, runs: Vec<Trained>) -> Result<Model> {
        let runs = self.gathered(runs)?;
        self.runs = runs.iter().map(|run| run.state.clone()).collect();
        let runs = runs.into_par_iter().map(|run| self.solution(run));
        let trained = best(runs.collect())?;
        if trained.stopped || self.config.polish.steps == 0 || !self.polish_is_affordable() {
            return self.finish(trained);
        }
        let polished = self.polish(trained)?;
        self.finish(polished)
    }

    /// The state of the whole fit with these runs, to be saved.
    fn state(&self, runs: Vec<RunState>) -> State {
        State::new(self.config.clone(), self.fingerprint, runs)
    }
}

/// The run with the least validation error, marked as stopped if any was.
///
/// A run that diverged is dropped; the fit fails only if all did.
fn best(runs: Vec<Result<Solution>>) -> Result<Solution> {
    let (mut best, mut failure, mut stopped) = (None::<Solution>, None, false);
    for run in runs {
        match run {
            Ok(run) => {
                stopped |= run.stopped;
                let better = |best: &Solution| run.solved.validation < best.solved.validation;
                if best.as_ref().is_none_or(better) {
                    best = Some(run);
                }
            }
            Err(error @ Error::Diverged { .. }) => failure = Some(error),
            Err(error) => return Err(error),
        }
    }
    match (best, failure) {
        (Some(best), _) => Ok(Solution { stopped, ..best }),
        (None, Some(error)) => Err(error),
        (None, None) => unreachable!("a configuration has at least one run"),
    }
}
