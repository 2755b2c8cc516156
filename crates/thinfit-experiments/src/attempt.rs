//! One attempt at a job: draws the data, fits and tests. Several fits may be trained as one batch.
//!
//! GFT fits save their state every few minutes and when they are stopped, in `states/` next to the ledger, and the
//! next attempt resumes from it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::{COMMIT, Entry, Error, Job, Sample, Settings, Spectrum, file};
use serde::{Deserialize, Serialize};
use thinfit::{Config, Control, Dataset, Leaf, Mat, Observer, Phase, Progress, State, on_threads};
use thinfit_methods::{Device, Method, PlainFit, Predictor, Request};

/// Time between two saves of the state of a fit.
const SAVE_EVERY: Duration = Duration::from_secs(300);

/// Receives the progress of a job from 0 to 1, and may ask it to stop.
type Tell<'a> = dyn Fn(f64) -> Control + Sync + 'a;

/// Where the state of a job is saved.
pub(crate) fn state_path(folder: &Path, job: &Job) -> PathBuf {
    folder.join("states").join(job.slug() + ".json")
}

/// A fit that was interrupted.
#[derive(Serialize, Deserialize)]
pub(crate) struct Pause {
    /// Seconds that it took so far.
    seconds: f64,
    state: State,
}

impl Pause {
    /// Saves it as the state of a job.
    pub fn save(&self, folder: &Path, job: &Job) -> Result<(), Error> {
        file::write(&state_path(folder, job), self)
    }

    /// Whether it is worth saving before something else is done.
    pub fn is_long(&self) -> bool {
        self.seconds > SAVE_EVERY.as_secs_f64()
    }

    /// The state in which GFT-r continues where this GFT ends.
    fn refined(self) -> Result<Pause, Error> {
        Ok(Pause {
            state: self.state.refined()?,
            ..self
        })
    }
}

/// An attempt at one job, ready to be fitted.
pub(crate) struct Attempt<'a> {
    pub job: &'a Job,
    /// Whether another job continues where this one ends.
    continued: bool,
    /// The folder of the ledger.
    folder: &'a Path,
    tell: Box<Tell<'a>>,
    data: Dataset,
    test: Sample,
    request: Request,
    /// Where it starts, if not from the start.
    pause: Option<Pause>,
    begun: Instant,
    /// Number of fits that are trained together, each of which has its share of the time.
    together: usize,
    /// When the state was last saved, and what went wrong then.
    saved: Mutex<(Instant, Option<Error>)>,
    /// Where the job that continues this one starts.
    handed: Mutex<Option<Pause>>,
    stopped: AtomicBool,
}

/// Where fits are trained.
#[derive(Clone, Copy)]
pub(crate) enum Trainer<'a> {
    /// The CPU, for one fit at a time and any method.
    Alone,
    /// A device, for all fits at once, with other batches in its other lanes.
    Together { device: &'a Device, lanes: usize },
}

impl<'a> Attempt<'a> {
    /// Draws the data of a job and finds where it starts: from `handed`, a saved state or the start.
    pub fn new(
        job: &'a Job,
        continued: bool,
        handed: Option<Pause>,
        (settings, folder): (&Settings, &'a Path),
        tell: Box<Tell<'a>>,
    ) -> Result<Self, Error> {
        let (train, test) = job.column.draw(job.seed)?;
        let request = settings.request(job)?;
        // A state that is damaged or of other settings counts as none.
        let config = request.config();
        let mine = |pause: &Pause| config.as_ref().is_ok_and(|c| pause.state.is_of(c));
        let saved = || file::read(&state_path(folder, job)).filter(mine);
        let pause = handed.filter(mine).or_else(saved);
        Ok(Attempt {
            job,
            continued,
            folder,
            tell,
            data: Dataset::new(train.x, train.y)?,
            test,
            pause,
            request,
            begun: Instant::now(),
            together: 1,
            saved: Mutex::new((Instant::now(), None)),
            handed: Mutex::new(None),
            stopped: AtomicBool::new(false),
        })
    }

    /// Fits all attempts, each from where it starts; one result for each.
    ///
    /// What ends all fits at once, such as a lack of memory or a bug, may be the fault of one: they are tried again in
    /// halves.
    pub fn fit_all(attempts: &mut [Self], trainer: Trainer<'_>) -> Vec<Result<Predictor, Error>> {
        if attempts.is_empty() {
            return Vec::new();
        }
        let (together, begun) = (attempts.len(), Instant::now());
        for attempt in &mut *attempts {
            (attempt.together, attempt.begun) = (together, begun);
            attempt.saved = Mutex::new((begun, None));
        }
        let fitted = match guarded(|| trainer.fit(attempts)) {
            Ok(fitted) => fitted,
            Err(error) if together == 1 => return vec![Err(error)],
            Err(_) => {
                let (first, second) = attempts.split_at_mut(together / 2);
                let mut fitted = Self::fit_all(first, trainer);
                fitted.extend(Self::fit_all(second, trainer));
                return fitted;
            }
        };
        let fitted = attempts.iter_mut().zip(fitted);
        let fitted = fitted.map(|(attempt, fitted)| match fitted {
            // A state of other data counts as none.
            Err(thinfit::Error::Format { .. }) if attempt.pause.take().is_some() => {
                let again = Self::fit_all(std::slice::from_mut(attempt), trainer).pop();
                again.unwrap_or(Err(Error::Panic))
            }
            fitted => fitted.map_err(Error::Fit),
        });
        fitted.collect()
    }

    /// The entry of a fitted model; none if the fit was stopped.
    pub fn entry(
        &self,
        fitted: Result<Predictor, Error>,
        device: Option<&str>,
    ) -> Result<Option<Entry>, Error> {
        let blank = Entry {
            device: device.map(str::to_owned),
            batch: Some(self.together).filter(|&fits| fits > 1),
            ..blank(self.job, self.seconds())
        };
        match fitted.and_then(|model| self.tested(&model, &blank)) {
            Err(error) if self.stopped.load(Ordering::Relaxed) && is_result(&error) => Ok(None),
            Err(error) => recorded(error, blank).map(Some),
            entry => entry,
        }
    }

    /// Where the job that continues this one starts.
    pub fn handed(&self) -> Option<Pause> {
        let mut handed = self.handed.lock().unwrap_or_else(PoisonError::into_inner);
        handed.take()
    }

    /// Tests a model, and fills in its entry.
    fn tested(&self, model: &Predictor, blank: &Entry) -> Result<Option<Entry>, Error> {
        let record = model.record();
        if record.stopped {
            let mut saved = self.saved.lock().unwrap_or_else(PoisonError::into_inner);
            return saved.1.take().map_or(Ok(None), Err);
        }
        let network = model.network().ok();
        self.keep_spectrum(network)?;
        let (mse, failure) = test_error(&model.predict(self.test.x.as_ref())?, &self.test.y);
        Ok(Some(Entry {
            mse,
            failure,
            validation_mse: record.validation_mse.first().copied(),
            selection: record.selection.clone(),
            selected_lambda: network.and_then(|_| record.regulariser()),
            parameters: Some(model.parameters()),
            config: self.request.settings(),
            ..blank.clone()
        }))
    }

    /// Seconds of the fit so far, with those before it was interrupted.
    fn seconds(&self) -> f64 {
        let before = self.pause.as_ref().map_or(0.0, |pause| pause.seconds);
        before + self.begun.elapsed().as_secs_f64() / self.together as f64
    }

    /// Observes the fit and saves its state.
    fn observe(&self, at: &Progress<'_>) -> Control {
        let control = (self.tell)(at.done);
        self.stopped
            .fetch_or(control == Control::Stop, Ordering::Relaxed);
        let pause = || {
            at.state().map(|state| Pause {
                seconds: self.seconds(),
                state,
            })
        };
        let generated = matches!(at.phase, Phase::Train(Leaf::Parameters));
        if self.continued && generated && at.step == at.steps {
            let mut handed = self.handed.lock().unwrap_or_else(PoisonError::into_inner);
            if handed.is_none() {
                // A state that has no refinement, such as one late in the choice of λ, is none; the next job then
                // starts afresh.
                *handed = pause().and_then(|pause| pause.refined().ok());
            }
        }
        let mut saved = self.saved.lock().unwrap_or_else(PoisonError::into_inner);
        let due = control == Control::Stop || saved.0.elapsed() > SAVE_EVERY;
        if let Some(pause) = due.then(pause).flatten() {
            // The fit continues without a saved state; the error matters only if it has to stop.
            *saved = (Instant::now(), pause.save(self.folder, self.job).err());
        }
        control
    }

    /// Saves the spectrum of a network of two inputs, for Figure 1.
    fn keep_spectrum(&self, model: Option<&thinfit::Model>) -> Result<(), Error> {
        match model.filter(|_| self.job.column.dim() == 2) {
            Some(model) => Spectrum::of(model).save(self.folder, self.job),
            None => Ok(()),
        }
    }
}

impl Trainer<'_> {
    /// Fits all attempts, each from where it starts; an error if none of them can be.
    fn fit(self, attempts: &[Attempt<'_>]) -> Result<Vec<thinfit::Result<Predictor>>, Error> {
        let method = attempts.first().map(|attempt| &attempt.request.method);
        // A batch has its share of the processor, in threads of its own, for what is not done on the device: while it waits,
        // none of them takes up another batch.
        let threads = match self {
            Trainer::Alone => 1,
            Trainer::Together { lanes, .. } => {
                std::thread::available_parallelism().map_or(1, |all| all.get().div_ceil(lanes))
            }
        };
        let observers = attempts.iter().map(|attempt| -> Box<Observer<'_>> {
            Box::new(|at: &Progress<'_>| attempt.observe(at))
        });
        let observers: Vec<_> = observers.collect();
        let attempts = attempts.iter().zip(&observers);
        let state = |attempt: &Attempt<'_>| attempt.pause.as_ref().map(|p| p.state.clone());
        match (self, method) {
            (Trainer::Alone, _) => Ok(attempts
                .map(|(attempt, observe)| match state(attempt) {
                    Some(state) => attempt.request.resume(&attempt.data, state, observe),
                    None => attempt.request.fit(&attempt.data, observe),
                })
                .collect()),
            (Trainer::Together { device, .. }, Some(Method::Plain(plain))) => {
                let fits = attempts.map(|(attempt, observe)| PlainFit {
                    lambda: attempt.job.lambda.unwrap_or(plain.lambda),
                    data: &attempt.data,
                    seed: attempt.request.seed,
                    observe: observe.as_ref(),
                });
                let fits: Vec<_> = fits.collect();
                let models = on_threads(threads, || plain.fit_many_on(device, &fits))?;
                let models = models.into_iter().map(|model| model.map(Predictor::from));
                Ok(models.collect())
            }
            (Trainer::Together { device, .. }, _) => {
                let jobs = attempts.map(|(attempt, observe)| {
                    let config = Config {
                        threads,
                        ..attempt.request.config()?
                    };
                    Ok(match state(attempt) {
                        Some(state) => {
                            thinfit::Job::resumed(&attempt.data, state.on_threads(threads), observe)
                        }
                        None => thinfit::Job::new(&attempt.data, &config, observe),
                    })
                });
                let jobs: Vec<_> = jobs.collect::<thinfit::Result<_>>()?;
                let models = thinfit::fit_many_on(device, jobs)?;
                let models = models.into_iter().map(|model| model.map(Predictor::from));
                Ok(models.collect())
            }
        }
    }
}

/// The result of `work`; a panic is an error.
pub(crate) fn guarded<T>(work: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or(Err(Error::Panic))
}

/// An entry for a job without results.
pub(crate) fn blank(job: &Job, seconds: f64) -> Entry {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    Entry {
        job: job.clone(),
        mse: None,
        validation_mse: None,
        selection: None,
        selected_lambda: None,
        parameters: None,
        seconds,
        device: None,
        batch: None,
        commit: COMMIT.into(),
        finished: now.map_or(0, |now| now.as_secs()),
        failure: None,
        config: serde_json::Value::Null,
    }
}

/// The entry of a fit that failed permanently; other errors are returned.
pub(crate) fn recorded(error: Error, blank: Entry) -> Result<Entry, Error> {
    match is_result(&error) {
        true => Ok(Entry {
            failure: Some(error.to_string()),
            ..blank
        }),
        false => Err(error),
    }
}

/// Whether the same seed would fail in the same way, which makes the failure a result.
fn is_result(error: &Error) -> bool {
    matches!(error, Error::Fit(error) if !is_temporary(error))
}

/// Whether a fit may succeed the next time: files and threads come and go.
fn is_temporary(error: &thinfit::Error) -> bool {
    matches!(
        error,
        thinfit::Error::Io { .. }
            | thinfit::Error::Device { .. }
            | thinfit::Error::Config {
                field: "threads",
                ..
            }
    )
}

/// Mean squared error over the rows, or the reason for its absence.
fn test_error(predicted: &Mat<f64>, y: &Mat<f64>) -> (Option<f64>, Option<String>) {
    let mse = (predicted - y).squared_norm_l2() / y.nrows() as f64;
    match mse.is_finite() {
        true => (Some(mse), None),
        false => (None, Some(format!("the test error is {mse}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_infinite_error_is_a_failure() {
        let y = Mat::from_fn(2, 1, |i, _| i as f64);
        let of = |value: f64| test_error(&Mat::from_fn(2, 1, |_, _| value), &y);
        assert_eq!(of(1.0), (Some(0.5), None));
        let (mse, failure) = of(1e200);
        assert!(mse.is_none() && failure.unwrap().contains("inf"));
    }
}
