//! Does the jobs that are missing in a ledger, as many at a time as there are cores, one thread each.
//!
//! A fit of the core library saves its state now and then and when it is stopped, in `states/` beside the ledger, and goes
//! on from there in the next call. GFT-r begins where GFT of the same seed and λ ends, and is done by the same worker.
//! A lock in that folder keeps other programs from doing the same work at the same time.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::claim::Claim;
use crate::{COMMIT, Error, Features, Job, Ledger, Method, Record, Sample, Settings};
use serde::{Deserialize, Serialize};
use thinfit::{Config, Control, Dataset, Leaf, Mat, Phase, State};

/// Time between two looks at a lock that another program has.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// Time between two saves of the state of a fit.
const SAVE_EVERY: Duration = Duration::from_secs(300);

/// What happens while jobs are done.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// A job begins.
    Started(&'a Job),
    /// A job is done to this part, from 0 to 1.
    Moved(&'a Job, f64),
    /// A job is done and in the ledger.
    Finished(&'a Record),
    /// A job could not be done; it will be tried again in the next call.
    Failed(&'a Job, &'a Error),
    /// Another program is at this job, or at one that it begins with; it waits.
    Waiting(&'a Job),
    /// Another program has done the job meanwhile.
    Elsewhere(&'a Job),
}

/// How a call ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Jobs that could not be done.
    pub failed: usize,
    /// Whether the observer asked to stop before the end.
    pub stopped: bool,
}

/// What hears of every event, from any thread, and may ask to stop.
pub type Observer<'a> = dyn Fn(Event<'_>) -> Control + Sync + 'a;

/// Does all jobs that are not in the ledger, on `workers` threads, with the settings that they were planned with.
///
/// # Errors
/// A ledger that cannot be read or written. A fit that fails is an event, and others go on.
pub fn run(
    jobs: &[Job],
    ledger: &Ledger,
    settings: &Settings,
    workers: usize,
    observe: &Observer<'_>,
) -> Result<Outcome, Error> {
    let chains = chains(jobs);
    let (next, failed, stopped) = (
        AtomicUsize::new(0),
        AtomicUsize::new(0),
        AtomicBool::new(false),
    );
    let tell = |event: Event<'_>| {
        if observe(event) == Control::Stop {
            stopped.store(true, Ordering::Relaxed);
        }
        match stopped.load(Ordering::Relaxed) {
            true => Control::Stop,
            false => Control::Continue,
        }
    };
    let folder = ledger.path().parent().unwrap_or(Path::new("."));
    let finish = |chain: &[&Job]| -> Result<(), Error> {
        for (i, job) in chain.iter().enumerate() {
            if stopped.load(Ordering::Relaxed) {
                return Ok(());
            }
            if ledger.has(job)? {
                tell(Event::Elsewhere(job));
                continue;
            }
            tell(Event::Started(job));
            let bench = Bench {
                job,
                heir: chain.get(i + 1).copied(),
                settings,
                folder,
            };
            let record = || bench.record(&|part| tell(Event::Moved(job, part)));
            match catch_unwind(AssertUnwindSafe(record)).unwrap_or(Err(Error::Panic)) {
                Ok(Some(record)) => {
                    ledger.add(&record)?;
                    bench.tidy();
                    tell(Event::Finished(&record));
                }
                Ok(None) => {}
                Err(error) => {
                    failed.fetch_add(1, Ordering::Relaxed);
                    tell(Event::Failed(job, &error));
                }
            }
        }
        Ok(())
    };
    let waiting = Mutex::new(VecDeque::new());
    let work = || -> Result<(), Error> {
        while let Some(chain) = chains.get(next.fetch_add(1, Ordering::Relaxed)) {
            if stopped.load(Ordering::Relaxed) {
                return Ok(());
            }
            match Claim::of(chain[0], folder)? {
                // What is done is looked up under the lock: who had it before may have done the job.
                Some(_claim) => finish(chain)?,
                None => {
                    for job in chain {
                        tell(Event::Waiting(job));
                    }
                    lock(&waiting).push_back(chain);
                }
            }
        }
        // What others are at comes last: they may stop before it is done, or do a part of it only.
        while let Some(chain) = { lock(&waiting).pop_front() } {
            if tell(Event::Moved(chain[0], 0.0)) == Control::Stop {
                return Ok(());
            }
            match Claim::of(chain[0], folder)? {
                Some(_claim) => finish(chain)?,
                None => {
                    lock(&waiting).push_back(chain);
                    std::thread::sleep(LOOK_EVERY);
                }
            }
        }
        Ok(())
    };
    // Without a ledger no worker has anything to work for.
    let work = || work().inspect_err(|_| stopped.store(true, Ordering::Relaxed));
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..workers.max(1)).map(|_| scope.spawn(work)).collect();
        workers.into_iter().try_for_each(|worker| {
            worker
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    })?;
    // It stays where a state or another program's lock is in it.
    let _ = std::fs::remove_dir(folder.join("states"));
    Ok(Outcome {
        failed: failed.into_inner(),
        stopped: stopped.into_inner(),
    })
}

/// Jobs that one worker should do one after the other: GFT and the GFT-r that goes on from it, or a job alone.
fn chains(jobs: &[Job]) -> Vec<Vec<&Job>> {
    let mut chains: Vec<Vec<&Job>> = Vec::new();
    for job in jobs {
        let before = Job {
            method: Method::Gft,
            ..job.clone()
        };
        let chain = match job.method {
            Method::GftR => chains.iter_mut().find(|chain| *chain[0] == before),
            _ => None,
        };
        match chain {
            Some(chain) => chain.push(job),
            None => chains.push(vec![job]),
        }
    }
    chains
}

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
}

/// A job being done.
struct Bench<'a> {
    job: &'a Job,
    /// The job that goes on from the end of this one.
    heir: Option<&'a Job>,
    settings: &'a Settings,
    folder: &'a Path,
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
    fn record(&self, tell: &(dyn Fn(f64) -> Control + Sync)) -> Result<Option<Record>, Error> {
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
            let mse = fitted
                .as_ref()
                .map(|fitted| mean_square(&fitted.predicted, &test.y));
            let beyond = mse.filter(|mse| !mse.is_finite());
            let beyond = beyond.map(|mse| format!("the test error is {mse}"));
            Record {
                job: self.job.clone(),
                mse: mse.filter(|mse| mse.is_finite()),
                validation_mse: fitted.as_ref().and_then(|f| f.validation_mse),
                selected_lambda: fitted.as_ref().and_then(|f| f.lambda),
                parameters: fitted.as_ref().and_then(|f| f.parameters),
                seconds: fitted
                    .as_ref()
                    .map_or(start.elapsed().as_secs_f64(), |f| f.seconds),
                commit: COMMIT.into(),
                finished: now.map_or(0, |now| now.as_secs()),
                failure: beyond.or(failure),
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
        match self.job.method.core() {
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
    fn tidy(&self) {
        // A state that stays is no harm but for its size.
        let _ = std::fs::remove_file(state_path(self.folder, self.job));
    }
}

impl Pause {
    fn refined(self) -> Result<Pause, Error> {
        Ok(Pause {
            state: self.state.refined()?,
            ..self
        })
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn mean_square(predicted: &Mat<f64>, y: &Mat<f64>) -> f64 {
    (predicted - y).squared_norm_l2() / y.nrows() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Choice, Plan, What};

    fn jobs(method: Method) -> Vec<Job> {
        let cells = What::Table(1).cells().into_iter();
        let plan = Plan {
            cells: cells
                .filter(|cell| cell.method == method && cell.column.name() == "f1-5")
                .collect(),
            seeds: vec![1],
            lambda: Choice::Published,
        };
        plan.jobs(&Settings::paper())
    }

    fn folder(name: &str) -> PathBuf {
        let folder =
            std::env::temp_dir().join(format!("thinfit-run-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        folder
    }

    #[test]
    fn a_job_that_another_program_is_at_waits_and_is_done_when_that_one_stops() {
        let folder = folder("wait");
        let jobs = jobs(Method::KernelRidge);
        let ledger = Ledger::open(&folder).unwrap();
        let claim = Mutex::new(Claim::of(&jobs[0], &folder).unwrap());
        let waited = AtomicBool::new(false);
        let observe = |event: Event<'_>| {
            if let Event::Waiting(_) = event {
                waited.store(true, Ordering::Relaxed);
                lock(&claim).take();
            }
            Control::Continue
        };
        run(&jobs, &ledger, &Settings::paper(), 1, &observe).unwrap();
        assert!(waited.into_inner() && ledger.has(&jobs[0]).unwrap());
        assert!(!folder.join("states").exists());
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn two_programs_at_once_do_every_job_once() {
        let folder = folder("twice");
        let jobs: Vec<Job> = [
            jobs(Method::Swim),
            jobs(Method::KernelRidge),
            jobs(Method::Rff),
        ]
        .concat();
        let count = AtomicUsize::new(0);
        let observe = |event: Event<'_>| {
            if let Event::Finished(_) = event {
                count.fetch_add(1, Ordering::Relaxed);
            }
            Control::Continue
        };
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    let ledger = Ledger::open(&folder).unwrap();
                    run(&jobs, &ledger, &Settings::paper(), 2, &observe).unwrap()
                });
            }
        });
        assert_eq!(count.into_inner(), jobs.len());
        let lines = std::fs::read_to_string(folder.join("cells.jsonl")).unwrap();
        assert_eq!(lines.lines().count(), jobs.len());
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_fit_that_cannot_end_well_is_recorded_and_others_go_on() {
        let folder = folder("failed");
        let changes = serde_json::json!({ "starts": 0 });
        let settings = Settings::new("paper", changes.as_object().cloned().unwrap()).unwrap();
        let mut jobs = [jobs(Method::GaussianProcess), jobs(Method::KernelRidge)].concat();
        jobs.iter_mut()
            .for_each(|job| job.preset = settings.label(job.method));
        let ledger = Ledger::open(&folder).unwrap();
        let outcome = run(&jobs, &ledger, &settings, 1, &|_| Control::Continue).unwrap();
        assert_eq!(outcome, Outcome::default());
        let failed = ledger.get(&jobs[0]).unwrap();
        assert!(failed.mse.is_none() && failed.failure.unwrap().contains("`starts`"));
        assert!(ledger.get(&jobs[1]).unwrap().mse.is_some());
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_panic_in_a_fit_ends_that_fit_alone() {
        let folder = folder("panic");
        let jobs = [jobs(Method::Gft), jobs(Method::KernelRidge)].concat();
        let ledger = Ledger::open(&folder).unwrap();
        let panicked = AtomicUsize::new(0);
        let observe = |event: Event<'_>| {
            match event {
                Event::Moved(job, _) if job.method == Method::Gft => panic!("on purpose"),
                Event::Failed(_, Error::Panic) => panicked.fetch_add(1, Ordering::Relaxed),
                _ => 0,
            };
            Control::Continue
        };
        let outcome = run(&jobs, &ledger, &Settings::paper(), 1, &observe).unwrap();
        let (failed, last) = (jobs.len() - 1, &jobs[jobs.len() - 1]);
        assert_eq!((outcome.failed, panicked.into_inner()), (failed, failed));
        assert!(ledger.has(last).unwrap() && !ledger.has(&jobs[0]).unwrap());
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_state_that_cannot_be_saved_is_told() {
        let (folder, jobs) = (folder("unsaved"), jobs(Method::Gft));
        let ledger = Ledger::open(&folder).unwrap();
        std::fs::create_dir_all(state_path(&folder, &jobs[0])).unwrap();
        let told = AtomicBool::new(false);
        let observe = |event: Event<'_>| match event {
            Event::Moved(..) => Control::Stop,
            Event::Failed(_, error) => {
                told.store(error.to_string().contains("write"), Ordering::Relaxed);
                Control::Stop
            }
            _ => Control::Continue,
        };
        let outcome = run(&jobs, &ledger, &Settings::paper(), 1, &observe).unwrap();
        assert!(told.into_inner() && outcome.stopped && outcome.failed == 1);
        std::fs::remove_dir_all(&folder).unwrap();
    }

    /// Fits of a few steps, of which the first saves its state at once.
    fn short() -> Settings {
        let changes = serde_json::json!({
            "generate": { "steps": 6 }, "refine": { "steps": 4 },
            "generator": { "hidden": [8] }, "check_every": 2,
        });
        Settings::new("paper", changes.as_object().cloned().unwrap()).unwrap()
    }

    #[test]
    fn states_of_other_settings_or_data_are_left_alone() {
        let (folder, settings) = (folder("states"), short());
        let mut job = jobs(Method::Gft).remove(0);
        job.preset = settings.label(job.method);
        let result = |job: &Job| {
            let ledger = Ledger::open(&folder).unwrap();
            let jobs = std::slice::from_ref(job);
            run(jobs, &ledger, &settings, 1, &|_| Control::Continue).unwrap();
            let record = ledger.get(job).unwrap();
            std::fs::remove_file(ledger.path()).unwrap();
            record.mse.unwrap()
        };
        // A fit that is stopped at its first step leaves a state.
        let state = |job: &Job, settings: &Settings| {
            let ledger = Ledger::open(&folder).unwrap();
            let stop = |event: Event<'_>| match event {
                Event::Moved(..) => Control::Stop,
                _ => Control::Continue,
            };
            run(std::slice::from_ref(job), &ledger, settings, 1, &stop).unwrap();
            assert!(ledger.get(job).is_none());
            std::fs::read(state_path(&folder, job)).unwrap()
        };
        let alone = result(&job);
        let mine = state(&job, &settings);
        assert_eq!(result(&job), alone, "a state of its own");
        let other = Job {
            seed: 2,
            ..job.clone()
        };
        let foreign = state(&other, &settings);
        std::fs::remove_file(state_path(&folder, &other)).unwrap();
        let longer = Settings::new("paper", Default::default()).unwrap();
        let longer = state(&job, &longer);
        // The settings of `foreign` differ by the seed alone, the data of the last by a sample.
        let text = String::from_utf8(mine).unwrap();
        let (head, tail) = text.split_once("\"fingerprint\":").unwrap();
        let digits = tail.find(|c: char| !c.is_ascii_digit()).unwrap();
        let sampled = format!("{head}\"fingerprint\":1{}", &tail[digits..]);
        for bytes in [foreign, longer, sampled.into_bytes(), b"{".to_vec()] {
            std::fs::create_dir_all(folder.join("states")).unwrap();
            std::fs::write(state_path(&folder, &job), bytes).unwrap();
            assert_eq!(result(&job), alone);
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
