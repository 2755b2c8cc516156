//! An attempt at one job: its data are drawn, fitted and tested.
//!
//! A fit of thinfit's own saves its state every few minutes and when it is stopped, in `states/` beside the ledger,
//! and the next attempt resumes from there.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::{COMMIT, Entry, Error, Job, Sample, Settings, Spectrum, file};
use serde::{Deserialize, Serialize};
use thinfit::{Control, Dataset, Leaf, Mat, Phase, State};
use thinfit_methods::{Predictor, Request};

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
    fn load(path: &Path, request: &Request) -> Option<Pause> {
        let config = request.config().ok()?;
        file::read(path).filter(|pause: &Pause| pause.state.is_of(&config))
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
        let request = self.settings.request(self.job)?;
        let pause = Pause::load(&state_path(self.folder, self.job), &request);
        let resumed = pause.map(|pause| self.train(&data, &request, Some(pause), tell));
        let (model, seconds) = match resumed {
            // A state of other data counts as none.
            None | Some(Err(Error::Fit(thinfit::Error::Format { .. }))) => {
                self.train(&data, &request, None, tell)?
            }
            Some(ended) => ended?,
        };
        let record = model.record();
        if record.stopped {
            return Ok(None);
        }
        let network = model.network().ok();
        self.keep_spectrum(network)?;
        let (mse, failure) = test_error(&model.predict(test.x.as_ref())?, &test.y);
        Ok(Some(Entry {
            mse,
            failure,
            validation_mse: record.validation_mse.first().copied(),
            selected_lambda: network.and_then(|_| record.regulariser()),
            parameters: Some(model.parameters()),
            config: request.settings(),
            ..self.entry(seconds)
        }))
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

    /// Fits from a saved state or from the start, saving the state on the way; the model and the seconds in all.
    fn train(
        &self,
        data: &Dataset,
        request: &Request,
        pause: Option<Pause>,
        tell: &Tell<'_>,
    ) -> Result<(Predictor, f64), Error> {
        let (path, start) = (state_path(self.folder, self.job), Instant::now());
        let before = pause.as_ref().map_or(0.0, |pause| pause.seconds);
        let seconds = || before + start.elapsed().as_secs_f64();
        // When the state was last saved, and what went wrong then.
        let saved = Mutex::new((start, None));
        let observe = |at: &thinfit::Progress<'_>| {
            let control = tell(at.done);
            let pause = || {
                at.state().map(|state| Pause {
                    seconds: seconds(),
                    state,
                })
            };
            let generated = matches!(at.phase, Phase::Train(Leaf::Parameters));
            if let Some(next) = self.next.filter(|_| generated && at.step == at.steps) {
                // Saved before this job is in the ledger, so that the next one always finds it. A state that has no
                // refinement, such as one late in the choice of λ, is none; the next job then starts afresh.
                let refined = pause().and_then(|pause| pause.refined().ok());
                if let Some(refined) = refined {
                    let _ = file::write(&state_path(self.folder, next), &refined);
                }
            }
            let mut saved = saved.lock().unwrap_or_else(PoisonError::into_inner);
            let due = control == Control::Stop || saved.0.elapsed() > SAVE_EVERY;
            if let Some(pause) = due.then(pause).flatten() {
                // The fit goes on without a saved state; the error matters only if it has to stop.
                *saved = (Instant::now(), file::write(&path, &pause).err());
            }
            control
        };
        let model = match pause {
            Some(pause) => request.resume(data, pause.state, &observe)?,
            None => request.fit(data, &observe)?,
        };
        let (_, unsaved) = saved.into_inner().unwrap_or_else(PoisonError::into_inner);
        match unsaved.filter(|_| model.record().stopped) {
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
            | thinfit::Error::Device { .. }
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
