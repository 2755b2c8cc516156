//! An attempt at one job: its data are drawn, fitted and tested.
//!
//! A fit of the core library saves its state every few minutes and when it is stopped, in `states/` beside the ledger,
//! and the next attempt resumes from there.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::{COMMIT, Entry, Error, Job, Sample, Settings, Spectrum, file};
use serde::{Deserialize, Serialize};
use thinfit::{Config, Control, Dataset, Leaf, Mat, Phase, State};

/// Time between two saves of the state of a fit.
const SAVE_EVERY: Duration = Duration::from_secs(300);

/// Hears how far a job is, from 0 to 1, and may ask it to stop.
type Tell<'a> = dyn Fn(f64) -> Control + Sync + 'a;

/// Where the state of a job is saved.
pub(crate) fn state_path(folder: &Path, job: &Job) -> PathBuf {
    folder.join("states").join(job.slug() + ".json")
}

/// A fit that was interrupted.
#[derive(Serialize, Deserialize)]
struct Pause {
    /// Seconds that it took so far.
    seconds: f64,
    state: State,
}

impl Pause {
    /// The saved fit of these settings; a state that is damaged or of other settings counts as none.
    fn load(path: &Path, config: &Config) -> Option<Pause> {
        file::read(path).filter(|pause: &Pause| pause.state.is_of(config))
    }

    /// The state in which GFT-r continues where this GFT ends.
    fn refined(self) -> Result<Pause, Error> {
        Ok(Pause {
            state: self.state.refined()?,
            ..self
        })
    }
}

/// An attempt at one job.
pub(crate) struct Attempt<'a> {
    pub job: &'a Job,
    /// The job that continues where this one ends.
    pub next: Option<&'a Job>,
    pub settings: &'a Settings,
    /// The folder of the ledger.
    pub folder: &'a Path,
}

impl Attempt<'_> {
    /// Does the job; nothing if it was stopped.
    pub fn run(&self, tell: &Tell<'_>) -> Result<Option<Entry>, Error> {
        let (train, test) = self.job.column.draw(self.job.seed)?;
        let (start, stopped) = (Instant::now(), AtomicBool::new(false));
        let tell = |part| {
            let control = tell(part);
            stopped.fetch_or(control == Control::Stop, Ordering::Relaxed);
            control
        };
        match self.fit(train, &test, &tell) {
            // The same seed would fail the same way again, which makes the failure a result.
            Err(Error::Fit(error)) if !is_temporary(&error) => {
                Ok((!stopped.into_inner()).then(|| Entry {
                    failure: Some(error.to_string()),
                    ..self.entry(start.elapsed().as_secs_f64())
                }))
            }
            fitted => fitted,
        }
    }

    fn fit(&self, train: Sample, test: &Sample, tell: &Tell<'_>) -> Result<Option<Entry>, Error> {
        let data = Dataset::new(train.x, train.y)?;
        match self.job.row.core() {
            Some(method) => self.fit_core(method, &data, test, tell),
            None => self.fit_baseline(&data, test, tell),
        }
    }

    /// An entry for this job without results.
    fn entry(&self, seconds: f64) -> Entry {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        Entry {
            job: self.job.clone(),
            mse: None,
            validation_mse: None,
            selected_lambda: None,
            parameters: None,
            seconds,
            commit: COMMIT.into(),
            finished: now.map_or(0, |now| now.as_secs()),
            failure: None,
            config: serde_json::Value::Null,
        }
    }

    /// A fit of another method, in a pool of one thread: jobs fill the cores.
    fn fit_baseline(
        &self,
        data: &Dataset,
        test: &Sample,
        tell: &Tell<'_>,
    ) -> Result<Option<Entry>, Error> {
        let method = self.settings.baseline(self.job)?;
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
        let pool = pool.map_err(|error| Error::Settings {
            problem: format!("no thread can be started: {error}"),
        })?;
        let start = Instant::now();
        let model = pool.install(|| method.fit(data, self.job.seed, &|part| tell(part)))?;
        if model.stopped() {
            return Ok(None);
        }
        let seconds = start.elapsed().as_secs_f64();
        let network = model.network().ok();
        self.keep_spectrum(network)?;
        let (mse, failure) = test_error(&model.predict(test.x.as_ref())?, &test.y);
        Ok(Some(Entry {
            mse,
            failure,
            validation_mse: model.validation_mse().and_then(|mse| mse.first().copied()),
            selected_lambda: network.and_then(|network| network.record.regulariser()),
            parameters: Some(model.parameters()),
            config: serde_json::to_value(&method).unwrap_or_default(),
            ..self.entry(seconds)
        }))
    }

    /// A fit of the core library, from its saved state if there is one.
    fn fit_core(
        &self,
        method: thinfit::Method,
        data: &Dataset,
        test: &Sample,
        tell: &Tell<'_>,
    ) -> Result<Option<Entry>, Error> {
        let config = self.settings.config(self.job, method);
        let pause = Pause::load(&state_path(self.folder, self.job), &config);
        let resumed = pause.map(|pause| self.train(data, &config, Some(pause), tell));
        let (model, seconds) = match resumed {
            // A state of other data counts as none.
            None | Some(Err(Error::Fit(thinfit::Error::Format { .. }))) => {
                self.train(data, &config, None, tell)?
            }
            Some(ended) => ended?,
        };
        if model.record.stopped {
            return Ok(None);
        }
        self.keep_spectrum(Some(&model))?;
        let (mse, failure) = test_error(&model.predict(test.x.as_ref())?, &test.y);
        Ok(Some(Entry {
            mse,
            failure,
            validation_mse: model.record.validation_mse.first().copied(),
            selected_lambda: Some(model.record.lambda),
            parameters: Some(model.parameters()),
            config: serde_json::to_value(&config).unwrap_or_default(),
            ..self.entry(seconds)
        }))
    }

    /// Fits from a saved state or from the start, saving the state on the way; the model and the seconds in all.
    fn train(
        &self,
        data: &Dataset,
        config: &Config,
        pause: Option<Pause>,
        tell: &Tell<'_>,
    ) -> Result<(thinfit::Model, f64), Error> {
        let (path, start) = (state_path(self.folder, self.job), Instant::now());
        let before = pause.as_ref().map_or(0.0, |pause| pause.seconds);
        let seconds = || before + start.elapsed().as_secs_f64();
        // When the state was last saved, and what went wrong then.
        let saved = Mutex::new((start, None));
        let observe = |at: &thinfit::Progress<'_>| {
            let control = tell(at.done);
            let pause = || Pause {
                seconds: seconds(),
                state: at.state(),
            };
            let generated = matches!(at.phase, Phase::Train(Leaf::Parameters));
            if let Some(next) = self.next.filter(|_| generated && at.step == at.steps) {
                // Saved before this job is in the ledger, so that the next one always finds it. A state that has no
                // refinement, such as one late in the choice of λ, is none; the next job then starts afresh.
                let refined = pause().refined();
                let _ =
                    refined.and_then(|pause| file::write(&state_path(self.folder, next), &pause));
            }
            let mut saved = saved.lock().unwrap_or_else(PoisonError::into_inner);
            if control == Control::Stop || saved.0.elapsed() > SAVE_EVERY {
                // The fit goes on without a saved state; the error matters only if it has to stop.
                *saved = (Instant::now(), file::write(&path, &pause()).err());
            }
            control
        };
        let model = match pause {
            Some(pause) => thinfit::resume(data, pause.state.on_threads(1), &observe)?,
            None => thinfit::fit(data, config, &observe)?,
        };
        let (_, unsaved) = saved.into_inner().unwrap_or_else(PoisonError::into_inner);
        match unsaved.filter(|_| model.record.stopped) {
            Some(error) => Err(error),
            None => Ok((model, seconds())),
        }
    }

    /// Saves the spectrum of a network of two inputs, for Figure 1.
    fn keep_spectrum(&self, model: Option<&thinfit::Model>) -> Result<(), Error> {
        match model.filter(|_| self.job.column.dim() == 2) {
            Some(model) => Spectrum::of(model).save(self.folder, self.job),
            None => Ok(()),
        }
    }

    /// Removes the saved state once the job is in the ledger.
    pub fn tidy(&self) {
        // One that stays only takes space.
        let _ = std::fs::remove_file(state_path(self.folder, self.job));
    }
}

/// Whether a fit may succeed the next time: files and threads come and go.
fn is_temporary(error: &thinfit::Error) -> bool {
    matches!(
        error,
        thinfit::Error::Io { .. }
            | thinfit::Error::Config {
                field: "threads",
                ..
            }
    )
}

/// Mean squared error over the rows, or the reason why there is none.
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
