//! Fits that are trained together as one batch on a device.

use super::run::train;
use super::{Fit, lambdas, on_threads};
use crate::error::require;
use crate::executor::{Executor, SingleProcess};
use crate::train::checkpoint::{RunState, State, fingerprint};
use crate::train::progress::Observer;
use crate::train::step::{Backend, foreign_state};
use crate::{Config, Dataset, Error, Model, Result};
use rayon::prelude::*;
use std::fmt::Debug;

/// One of several fits: its data, its configuration or saved state, and its observer.
pub struct Job<'a> {
    pub(super) data: &'a Dataset,
    pub(super) state: State,
    pub(super) observe: &'a Observer<'a>,
    pub(super) executor: &'a dyn Executor,
}

impl<'a> Job<'a> {
    /// A fit from the start, as by [`crate::fit`].
    pub fn new(data: &'a Dataset, config: &Config, observe: &'a Observer<'a>) -> Self {
        let runs = vec![RunState::default(); lambdas(config).len()];
        Job {
            data,
            state: State::new(config.clone(), fingerprint(data), runs),
            observe,
            executor: &SingleProcess,
        }
    }

    /// A fit that continues from a state, as [`crate::resume`] does.
    pub fn resumed(data: &'a Dataset, state: State, observe: &'a Observer<'a>) -> Self {
        Job {
            data,
            state,
            observe,
            executor: &SingleProcess,
        }
    }

    /// The same fit by several processes. They make no other fit at the same time, since all make the same calls in the same order.
    pub(super) fn over(self, executor: &'a dyn Executor) -> Self {
        Job { executor, ..self }
    }

    pub(super) fn checked(self) -> Result<Self> {
        // The fields of a data set are public and may have changed since it was made.
        self.data.check()?;
        let State {
            config,
            fingerprint: of,
            runs,
            ..
        } = &self.state;
        config.check()?;
        if *of != fingerprint(self.data) || runs.len() != lambdas(config).len() {
            return Err(foreign_state("another table or configuration"));
        }
        Ok(self)
    }
}

/// Several fits, trained together on a device; one model or error for each, in order. On the CPU every model has the same
/// bits as if it was fitted alone; a device may sum in another order in another batch.
///
/// The fits have one shape (rows, inputs, outputs, weights or none) and one configuration up to the seed and λ. Where an
/// observer stops its fit, the others continue.
///
/// # Errors
/// Fits that differ in shape or configuration, a device that cannot start, or threads that cannot be started. What
/// goes wrong in one fit, as in [`crate::fit_on`] and [`crate::resume_on`], is in its own result.
pub fn fit_many_on(backend: &dyn Backend, jobs: Vec<Job<'_>>) -> Result<Vec<Result<Model>>> {
    let jobs: Vec<Result<Job<'_>>> = jobs.into_iter().map(Job::checked).collect();
    let mut configs = jobs.iter().flatten().map(|job| &job.state.config);
    let Some(first) = configs.next() else {
        return Ok(jobs.into_iter().filter_map(Result::err).map(Err).collect());
    };
    configs.try_for_each(|config| same_settings(first, config))?;
    on_threads(first.threads, || {
        let fits = jobs.into_iter().map(|job| job.and_then(Fit::new));
        let fits: Vec<Result<Fit<'_>>> = fits.collect();
        let sound: Vec<&Fit<'_>> = fits.iter().flatten().collect();
        same_shape(&sound)?;
        let mut runs = train(backend, &sound)?.into_iter();
        let trained = fits.into_iter().map(|fit| Ok((fit?, runs.next())));
        let trained: Vec<Result<_>> = trained.collect();
        let models = trained.into_par_iter().map(|trained| {
            let (fit, runs) = trained?;
            fit.complete(runs.unwrap_or_default())
        });
        Ok(models.collect())
    })
}

/// Rejects two configurations that differ in more than the seed and λ.
fn same_settings(one: &Config, other: &Config) -> Result<()> {
    fn same<T: PartialEq + Debug>(field: &'static str, one: &T, other: &T) -> Result<()> {
        let expected = "the same in all fits that are trained together";
        require(
            one == other,
            field,
            expected,
            format!("{one:?} and {other:?}"),
        )
    }
    // By name, so that the compiler asks about a new one.
    let Config {
        training,
        activation,
        width,
        seed: _,
        threads,
        scaling,
        ridge,
        lambda: _,
        variation,
        points,
        generator,
        generate,
        refine,
        direct,
        scale,
        validation,
        check_every,
        keep,
        polish,
        refit,
    } = one;
    same("method", training, &other.training)?;
    same("activation", activation, &other.activation)?;
    same("width", width, &other.width)?;
    same("threads", threads, &other.threads)?;
    same("scaling", scaling, &other.scaling)?;
    same("ridge", ridge, &other.ridge)?;
    same("variation", variation, &other.variation)?;
    same("points", points, &other.points)?;
    same("generator", generator, &other.generator)?;
    same("generate", generate, &other.generate)?;
    same("refine", refine, &other.refine)?;
    same("direct", direct, &other.direct)?;
    same("scale", scale, &other.scale)?;
    same("validation", validation, &other.validation)?;
    same("check_every", check_every, &other.check_every)?;
    same("keep", keep, &other.keep)?;
    same("polish", polish, &other.polish)?;
    same("refit", refit, &other.refit)
}

/// Rejects fits of different shapes.
fn same_shape(fits: &[&Fit<'_>]) -> Result<()> {
    let shape = |fit: &Fit<'_>| {
        format!(
            "{} training and {} validation rows, {} inputs, {} outputs, {} weights",
            fit.train.samples(),
            fit.validation.samples(),
            fit.train.dim(),
            fit.train.y.ncols(),
            fit.train.weights.as_ref().map_or("without", |_| "with"),
        )
    };
    for pair in fits.windows(2) {
        let [expected, found] = [pair[0], pair[1]].map(shape);
        if expected != found {
            return Err(Error::Shape {
                what: "fits that are trained together",
                expected,
                found,
            });
        }
    }
    Ok(())
}
