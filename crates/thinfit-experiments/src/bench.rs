//! One job being done: its data drawn, fitted and tested.
//!
//! A fit of the core library saves its state now and then and when it is stopped, in `states/` beside the ledger, and goes
//! on from there in the next call.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::run::lock;
use crate::{COMMIT, Error, Features, Job, Record, Sample, Settings};
use serde::{Deserialize, Serialize};
use thinfit::{Config, Control, Dataset, Leaf, Mat, Phase, State};

/// Time between two saves of the state of a fit.
const SAVE_EVERY: Duration = Duration::from_secs(300);

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
    fn save(&self, path: &Path) -> Result<(), Error> {
        let text = serde_json::to_string(self).expect("a state holds texts and numbers");
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(|source| Error::io("write", folder, source))?;
        }
        Ok(thinfit::file::write_whole(path, text.as_bytes())?)
    }

    /// A state that cannot be read, or of a fit with other settings, is as good as none: the fit begins again.
    fn load(path: &Path, config: &Config) -> Option<Pause> {
        let pause: Pause = serde_json::from_slice(&std::fs::read(path).ok()?).ok()?;
        pause.state.is_of(config).then_some(pause)
    }

    /// The state from which GFT-r goes on where this GFT ends.
    fn refined(self) -> Result<Pause, Error> {
        Ok(Pause {
            state: self.state.refined()?,
            ..self
        })
    }
}

/// A job being done.
pub(crate) struct Bench<'a> {
    pub job: &'a Job,
    /// The job that goes on from the end of this one.
    pub heir: Option<&'a Job>,
    pub settings: &'a Settings,
    /// Where the ledger is.
    pub folder: &'a Path,
}

/// What a fit gave.
struct Fitted {
    predicted: Mat<f64>,
    validation_mse: Option<f64>,
    lambda: Option<f64>,
    parameters: Option<usize>,
    seconds: f64,
    config: serde_json::Value,
}

impl Bench<'_> {
    /// Does the job; nothing if it was stopped.
    pub fn record(&self, tell: &(dyn Fn(f64) -> Control + Sync)) -> Result<Option<Record>, Error> {
        let (train, test) = self.job.column.draw(self.job.seed)?;
        let (start, asked) = (Instant::now(), AtomicBool::new(false));
        let tell = |part| {
            let control = tell(part);
            asked.fetch_or(control == Control::Stop, Ordering::Relaxed);
            control
        };
        let fitted = self.fit(train, &test, &tell);
        let record = |fitted: Option<Fitted>, failure| {
            let now = SystemTime::now().duration_since(UNIX_EPOCH);
            let error = fitted
                .as_ref()
                .map(|fitted| test_error(&fitted.predicted, &test.y))
                .transpose();
            let (mse, failure) = match error {
                Ok(mse) => (mse, failure),
                Err(reason) => (None, Some(reason)),
            };
            Record {
                job: self.job.clone(),
                mse,
                validation_mse: fitted.as_ref().and_then(|f| f.validation_mse),
                selected_lambda: fitted.as_ref().and_then(|f| f.lambda),
                parameters: fitted.as_ref().and_then(|f| f.parameters),
                seconds: fitted
                    .as_ref()
                    .map_or(start.elapsed().as_secs_f64(), |f| f.seconds),
                commit: COMMIT.into(),
                finished: now.map_or(0, |now| now.as_secs()),
                failure,
                config: fitted.map_or(serde_json::Value::Null, |f| f.config),
            }
        };
        match fitted {
            Ok(None) => Ok(None),
            Ok(fitted) => Ok(Some(record(fitted, None))),
            // Files and threads may be there the next time.
            Err(
                error @ Error::Fit(
                    thinfit::Error::Io { .. }
                    | thinfit::Error::Config {
                        field: "threads", ..
                    },
                ),
            ) => Err(error),
            // Half a fit tells nothing.
            Err(Error::Fit(_)) if asked.into_inner() => Ok(None),
            // The same seed would end the same way again: that is a result, too.
            Err(Error::Fit(error)) => Ok(Some(record(None, Some(error.to_string())))),
            Err(error) => Err(error),
        }
    }

    fn fit(
        &self,
        train: Sample,
        test: &Sample,
        tell: &(dyn Fn(f64) -> Control + Sync),
    ) -> Result<Option<Fitted>, Error> {
        let data = Dataset::new(train.x, train.y)?;
        match self.job.row.core() {
            Some(method) => self.fit_core(method, &data, test, tell),
            None => self.fit_baseline(&data, test, tell),
        }
    }

    /// A fit of another method, in a pool of one thread: cores are filled by jobs.
    fn fit_baseline(
        &self,
        data: &Dataset,
        test: &Sample,
        tell: &(dyn Fn(f64) -> Control + Sync),
    ) -> Result<Option<Fitted>, Error> {
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
        self.keep_features(model.network().ok())?;
        let network = model.network().ok();
        Ok(Some(Fitted {
            predicted: model.predict(test.x.as_ref())?,
            validation_mse: model.validation_mse().and_then(|mse| mse.first().copied()),
            lambda: network.and_then(|network| network.record.regulariser()),
            parameters: Some(model.parameters()),
            seconds,
            config: serde_json::to_value(&method).unwrap_or_default(),
        }))
    }

    /// A fit of the core library, from its saved state if there is one.
    fn fit_core(
        &self,
        method: thinfit::Method,
        data: &Dataset,
        test: &Sample,
        tell: &(dyn Fn(f64) -> Control + Sync),
    ) -> Result<Option<Fitted>, Error> {
        let config = self.settings.config(self.job, method);
        let mine = state_path(self.folder, self.job);
        let pause = Pause::load(&mine, &config);
        let resumed = pause.map(|pause| self.go_on(data, &config, Some(pause), tell));
        let (model, seconds) = match resumed {
            // A state of other data is as good as none, too.
            None | Some(Err(Error::Fit(thinfit::Error::Format { .. }))) => {
                self.go_on(data, &config, None, tell)?
            }
            Some(ended) => ended?,
        };
        if model.record.stopped {
            return Ok(None);
        }
        self.keep_features(Some(&model))?;
        Ok(Some(Fitted {
            predicted: model.predict(test.x.as_ref())?,
            validation_mse: model.record.validation_mse.first().copied(),
            lambda: Some(model.record.lambda),
            parameters: Some(model.parameters()),
            seconds,
            config: serde_json::to_value(&config).unwrap_or_default(),
        }))
    }

    /// Fits from a saved state or from the start, and saves the state now and then; the model and the seconds in all.
    fn go_on(
        &self,
        data: &Dataset,
        config: &Config,
        pause: Option<Pause>,
        tell: &(dyn Fn(f64) -> Control + Sync),
    ) -> Result<(thinfit::Model, f64), Error> {
        let (mine, start) = (state_path(self.folder, self.job), Instant::now());
        let before = pause.as_ref().map_or(0.0, |pause| pause.seconds);
        let seconds = || before + start.elapsed().as_secs_f64();
        let (saved, trouble) = (Mutex::new(Instant::now()), Mutex::new(None));
        let observe = |at: &thinfit::Progress<'_>| {
            let control = tell(at.done);
            let pause = || Pause {
                seconds: seconds(),
                state: at.state(),
            };
            let generated = matches!(at.phase, Phase::Train(Leaf::Parameters));
            if let Some(heir) = self.heir.filter(|_| generated && at.step == at.steps) {
                // Before the record of this job, lest the next has to do its work again. What cannot be saved, such as a
                // choice of λ that is past its first run, the next does itself.
                let refined = pause().refined();
                let _ = refined.and_then(|pause| pause.save(&state_path(self.folder, heir)));
            }
            let mut saved = lock(&saved);
            if control == Control::Stop || saved.elapsed() > SAVE_EVERY {
                *saved = Instant::now();
                // A fit goes on without a saved state; what is wrong is told if it has to stop.
                *lock(&trouble) = pause().save(&mine).err();
            }
            control
        };
        let model = match pause {
            Some(pause) => thinfit::resume(data, pause.state.on_threads(1), &observe)?,
            None => thinfit::fit(data, config, &observe)?,
        };
        let trouble = trouble.into_inner().unwrap_or_else(PoisonError::into_inner);
        match trouble.filter(|_| model.record.stopped) {
            Some(trouble) => Err(trouble),
            None => Ok((model, seconds())),
        }
    }

    /// Keeps the features of a network of two inputs, for Figure 1.
    fn keep_features(&self, model: Option<&thinfit::Model>) -> Result<(), Error> {
        match model.filter(|_| self.job.column.dim() == 2) {
            Some(model) => Features::of(model).save(&Features::path(self.folder, self.job)),
            None => Ok(()),
        }
    }

    /// Removes what the job leaves behind when it is in the ledger.
    pub fn tidy(&self) {
        // A state that stays is no harm but for its size.
        let _ = std::fs::remove_file(state_path(self.folder, self.job));
    }
}

/// Mean squared error over the rows; a reason if it is beyond all numbers.
fn test_error(predicted: &Mat<f64>, y: &Mat<f64>) -> Result<f64, String> {
    let mse = (predicted - y).squared_norm_l2() / y.nrows() as f64;
    match mse.is_finite() {
        true => Ok(mse),
        false => Err(format!("the test error is {mse}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_beyond_all_numbers_has_a_reason() {
        let y = Mat::from_fn(2, 1, |i, _| i as f64);
        let of = |value: f64| test_error(&Mat::from_fn(2, 1, |_, _| value), &y);
        assert_eq!(of(1.0), Ok(0.5));
        assert!(of(1e200).unwrap_err().contains("inf"));
    }
}
