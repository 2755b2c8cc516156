//! Runs the jobs that a ledger lacks: several at a time on the CPU, with one thread each, and in batches on a device.
//!
//! GFT-r starts where GFT of the same seed and λ ends, so one worker runs both. A lock in `states/` next to the
//! ledger keeps other programs from running the same job at the same time. Workers on other ranks take jobs like
//! local ones (`mpi_workers.rs`).

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::attempt::{Attempt, Pause, Trainer, blank, guarded, recorded, state_path};
use crate::job_lock::JobLock;
use crate::mpi_workers::{MpiWorkers, RemoteWorker, Update};
use crate::queue::{Chain, Known, Queue, Taker};
use crate::{Entry, Error, Job, Ledger, Settings};
use thinfit::Control;
use thinfit_methods::Device;

/// What happens while jobs are done.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// These jobs are missing and will be done.
    Planned(&'a [Job]),
    /// This fraction of a job is done.
    Moved(&'a Job, f64),
    /// A job is done and in the ledger.
    Finished(&'a Entry),
    /// A job could not be done; the next call tries it again.
    Failed(&'a Job, &'a Error),
    /// Another program is doing this job, or has done it.
    Skipped(&'a Job),
}

/// How a call ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Number of jobs that could not be done.
    pub failed: usize,
    /// Whether the observer asked to stop.
    pub stopped: bool,
}

/// Receives every event, from any thread, and may ask to stop.
type Observe<'a> = dyn Fn(Event<'_>) -> Control + Sync + 'a;

/// The workers of a call.
#[derive(Clone, Copy)]
pub struct Means<'a> {
    /// Threads, each of which does one job at a time on the processor.
    pub workers: usize,
    /// The workers of other ranks, which do jobs of this call as well.
    pub mpi_workers: Option<&'a MpiWorkers<'a>>,
    /// Trains F-Opt, GFT, GFT-r and plain networks: fits that differ in seed, λ and rows of one shape alone as one batch.
    pub device: Option<&'a Device>,
    /// Batches side by side on the device: a single one of a dozen runs leaves most of it idle.
    pub lanes: usize,
}

impl Means<'_> {
    /// Workers of all ranks.
    pub fn all_workers(&self) -> usize {
        self.workers.max(1) + self.mpi_workers.map_or(0, MpiWorkers::remote)
    }
}

/// Does all jobs that `known` lists and the ledger lacks, with the settings that they were planned with. `known` is asked again
/// whenever some are done, and lists those that choose λ first.
///
/// A failed fit is an event, and the others continue.
///
/// # Errors
/// A ledger that cannot be read or written, or a rank that fails.
pub fn run(
    known: &Known<'_>,
    ledger: &Ledger,
    settings: &Settings,
    means: &Means<'_>,
    observe: &Observe<'_>,
) -> Result<Outcome, Error> {
    let run = Run {
        queue: Queue::new(known, ledger, means.device.is_some()),
        ledger,
        settings,
        folder: ledger.path().parent().unwrap_or(Path::new(".")),
        observe,
        failed: AtomicUsize::new(0),
        stopped: AtomicBool::new(false),
    };
    run.admit(&[])?;
    std::thread::scope(|scope| {
        let run = &run;
        let start = |taker, trainer| {
            scope.spawn(move || run.take_all(taker, |chains| run.chains(chains, trainer)))
        };
        let workers = (0..means.workers.max(1)).map(|_| start(Taker::Worker, Trainer::Alone));
        let mut threads: Vec<_> = workers.collect();
        if let Some(device) = means.device {
            let lanes = means.lanes.max(1);
            let trainer = Trainer::Together { device, lanes };
            threads.extend((0..lanes).map(|_| start(Taker::Lane, trainer)));
        }
        let led = means.mpi_workers.map_or(Ok(()), |workers| {
            let (post, remote) = workers.remote_workers();
            threads.extend(remote.into_iter().map(|worker| {
                scope.spawn(move || {
                    run.take_all(Taker::Worker, |chains| run.remotely(chains, &worker))
                })
            }));
            let done = || threads.iter().all(|thread| thread.is_finished());
            let led = workers.lead(post, done, || run.stopped());
            // Its observer is gone.
            run.stopped.fetch_or(led.is_err(), Ordering::Relaxed);
            led
        });
        let done = threads.into_iter().try_for_each(|thread| {
            thread
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        led.and(done)
    })?;
    // It stays if it holds a state or another program's lock.
    let _ = std::fs::remove_dir(run.folder.join("states"));
    Ok(Outcome {
        failed: run.failed.into_inner(),
        stopped: run.stopped.into_inner(),
    })
}

/// A call of [`run`].
struct Run<'a> {
    queue: Queue<'a>,
    ledger: &'a Ledger,
    settings: &'a Settings,
    /// The folder of the ledger.
    folder: &'a Path,
    observe: &'a Observe<'a>,
    failed: AtomicUsize,
    stopped: AtomicBool,
}

impl Run<'_> {
    fn tell(&self, event: Event<'_>) -> Control {
        if (self.observe)(event) == Control::Stop {
            self.stopped.store(true, Ordering::Relaxed);
        }
        match self.stopped() {
            true => Control::Stop,
            false => Control::Continue,
        }
    }

    fn stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// Removes chains, adds the jobs that are known now to the queue, and reports them.
    fn admit(&self, finished: &[Chain]) -> Result<(), Error> {
        let planned = |new: &[Job]| {
            self.tell(Event::Planned(new));
        };
        self.queue.admit(finished, planned)
    }

    /// Has `work` done on what the queue has for a taker, until there is no more.
    fn take_all(
        &self,
        taker: Taker,
        work: impl Fn(&[Chain]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        while let Some(chains) = self.queue.take(taker, &self.stopped) {
            let done = guarded(|| work(&chains));
            // Without a ledger the run cannot continue.
            if done.is_err() {
                self.stopped.store(true, Ordering::Relaxed);
            }
            let admitted = self.admit(&chains);
            done.and(admitted)?;
        }
        Ok(())
    }

    /// Has the worker of another rank do the jobs of some chains.
    fn remotely(&self, chains: &[Chain], worker: &RemoteWorker<'_>) -> Result<(), Error> {
        for jobs in chains {
            let mut missing = Chain::new();
            for job in jobs {
                match self.ledger.has(job)? {
                    true => {
                        self.tell(Event::Skipped(job));
                    }
                    false => missing.push(job.clone()),
                }
            }
            if missing.is_empty() {
                continue;
            }
            worker.send(missing);
            loop {
                match worker.next()? {
                    Update::Moved(job, part) => {
                        self.tell(Event::Moved(&job, part));
                    }
                    Update::Skipped(job) => {
                        self.tell(Event::Skipped(&job));
                    }
                    Update::Finished(entry) => self.settle(&entry.job.clone(), Ok(Some(*entry)))?,
                    Update::Failed(job, problem) => {
                        self.settle(&job, Err(worker.failure(problem)))?
                    }
                    Update::Done => break,
                    Update::Lost(problem) => return Err(worker.failure(problem)),
                }
            }
        }
        Ok(())
    }

    /// Does the jobs of some chains: the first of all of them, then the second of all that have one. Those that another
    /// program is doing are left to it.
    fn chains(&self, chains: &[Chain], trainer: Trainer<'_>) -> Result<(), Error> {
        let mut locked = Vec::new();
        for jobs in chains {
            if self.stopped() {
                return Ok(());
            }
            match JobLock::of(&jobs[0], self.folder)? {
                Some(lock) => locked.push(LockedChain {
                    jobs,
                    handed: None,
                    _lock: lock,
                }),
                None => jobs.iter().for_each(|job| {
                    self.tell(Event::Skipped(job));
                }),
            }
        }
        let stages = chains.iter().map(Chain::len).max().unwrap_or(0);
        for stage in 0..stages {
            if self.stopped() {
                // What the jobs that are done have handed on is lost otherwise.
                for chain in &locked {
                    if let (Some(job), Some(pause)) = (chain.jobs.get(stage), &chain.handed) {
                        pause.save(self.folder, job)?;
                    }
                }
                break;
            }
            self.stage(&mut locked, stage, trainer)?;
        }
        Ok(())
    }

    /// Does the job of each chain that stands at place `stage`.
    fn stage(
        &self,
        chains: &mut [LockedChain<'_>],
        stage: usize,
        trainer: Trainer<'_>,
    ) -> Result<(), Error> {
        let (mut attempts, mut places) = (Vec::new(), Vec::new());
        for (place, chain) in chains.iter_mut().enumerate() {
            let Some(job) = chain.jobs.get(stage) else {
                continue;
            };
            // Only under the lock: its previous holder may have done the job.
            if self.ledger.has(job)? {
                self.tell(Event::Skipped(job));
                continue;
            }
            let continued = chain.jobs.len() > stage + 1;
            let (handed, of) = (chain.handed.take(), (self.settings, self.folder));
            let tell = Box::new(move |part| self.tell(Event::Moved(job, part)));
            match guarded(|| Attempt::new(job, continued, handed, of, tell)) {
                Ok(attempt) => {
                    attempts.push(attempt);
                    places.push(place);
                }
                Err(error) => {
                    self.settle(job, recorded(error, blank(job, 0.0)).map(Some))?;
                }
            }
        }
        let device = match trainer {
            Trainer::Alone => None,
            Trainer::Together { device, .. } => Some(device),
        };
        let fitted = Attempt::fit_all(&mut attempts, trainer);
        for ((attempt, place), fitted) in attempts.iter().zip(places).zip(fitted) {
            let chain = &mut chains[place];
            chain.handed = attempt.handed();
            if let (Some(next), Some(pause)) = (chain.jobs.get(stage + 1), &chain.handed)
                && pause.is_long()
            {
                // Before this job is in the ledger, so that the next one always finds it.
                let _ = pause.save(self.folder, next);
            }
            let name = device.and_then(Device::name);
            self.settle(attempt.job, guarded(|| attempt.entry(fitted, name)))?;
        }
        Ok(())
    }

    /// Records how a job ended.
    fn settle(&self, job: &Job, ended: Result<Option<Entry>, Error>) -> Result<(), Error> {
        match ended {
            Ok(Some(entry)) => {
                self.ledger.add(&entry)?;
                if self.ledger.lasts() {
                    // A saved state that stays only takes space.
                    let _ = std::fs::remove_file(state_path(self.folder, job));
                }
                self.tell(Event::Finished(&entry));
            }
            Ok(None) => {}
            Err(error) => {
                self.failed.fetch_add(1, Ordering::Relaxed);
                self.tell(Event::Failed(job, &error));
            }
        }
        Ok(())
    }
}

/// A chain under its lock.
struct LockedChain<'a> {
    jobs: &'a Chain,
    /// Where the next of them starts.
    handed: Option<Pause>,
    _lock: JobLock,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Row;
    use crate::job::tests::jobs;
    use std::path::PathBuf;
    use thinfit::pieces::{Backend, Batch, Processor, Task};
    use thinfit::{Config, Lambda};

    /// A call of [`run`] with all jobs known from the start.
    fn run_all(
        jobs: &[Job],
        ledger: &Ledger,
        settings: &Settings,
        workers: usize,
        device: Option<&Device>,
        observe: &Observe<'_>,
    ) -> Result<Outcome, Error> {
        let means = Means {
            workers,
            mpi_workers: None,
            device,
            lanes: 4,
        };
        run(&|| jobs.to_vec(), ledger, settings, &means, observe)
    }

    fn folder(name: &str) -> PathBuf {
        let folder =
            std::env::temp_dir().join(format!("thinfit-run-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        folder
    }

    #[test]
    fn a_job_that_another_program_is_doing_is_skipped_and_done_by_the_next_call() {
        let folder = folder("skip");
        let jobs = jobs(Row::KernelRidge);
        let ledger = Ledger::open(&folder).unwrap();
        let skipped = AtomicUsize::new(0);
        let call = || {
            let observe = |event: Event<'_>| {
                if let Event::Skipped(_) = event {
                    skipped.fetch_add(1, Ordering::Relaxed);
                }
                Control::Continue
            };
            run_all(&jobs, &ledger, &Settings::paper(), 1, None, &observe).unwrap();
            ledger.has(&jobs[0]).unwrap()
        };
        let lock = JobLock::of(&jobs[0], &folder).unwrap();
        assert!(!call());
        drop(lock);
        assert!(call());
        assert_eq!(skipped.into_inner(), 1);
        assert!(!folder.join("states").exists());
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn two_programs_at_once_do_every_job_once() {
        let folder = folder("twice");
        let jobs: Vec<Job> = [jobs(Row::Swim), jobs(Row::KernelRidge), jobs(Row::Rff)].concat();
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
                    run_all(&jobs, &ledger, &Settings::paper(), 2, None, &observe).unwrap()
                });
            }
        });
        assert_eq!(count.into_inner(), jobs.len());
        let lines = std::fs::read_to_string(folder.join("cells.jsonl")).unwrap();
        assert_eq!(lines.lines().count(), jobs.len());
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_fit_that_fails_is_recorded_and_others_go_on() {
        let folder = folder("failed");
        let changes = serde_json::json!({ "starts": 0 });
        let settings = Settings::new("paper", changes.as_object().cloned().unwrap()).unwrap();
        let mut jobs = [jobs(Row::GaussianProcess), jobs(Row::KernelRidge)].concat();
        jobs.iter_mut()
            .for_each(|job| job.preset = settings.label(job.row));
        let ledger = Ledger::open(&folder).unwrap();
        let outcome = run_all(&jobs, &ledger, &settings, 1, None, &|_| Control::Continue).unwrap();
        assert_eq!(outcome, Outcome::default());
        let failed = ledger.get(&jobs[0]).unwrap();
        assert!(failed.mse.is_none() && failed.failure.unwrap().contains("`starts`"));
        assert!(ledger.get(&jobs[1]).unwrap().mse.is_some());
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_panic_in_a_fit_ends_that_fit_alone() {
        let folder = folder("panic");
        let jobs = [jobs(Row::Gft), jobs(Row::KernelRidge)].concat();
        let ledger = Ledger::open(&folder).unwrap();
        let panicked = AtomicUsize::new(0);
        let observe = |event: Event<'_>| {
            match event {
                Event::Moved(job, _) if job.row == Row::Gft => panic!("on purpose"),
                Event::Failed(_, Error::Panic) => panicked.fetch_add(1, Ordering::Relaxed),
                _ => 0,
            };
            Control::Continue
        };
        let outcome = run_all(&jobs, &ledger, &Settings::paper(), 1, None, &observe).unwrap();
        let (failed, last) = (jobs.len() - 1, &jobs[jobs.len() - 1]);
        assert_eq!((outcome.failed, panicked.into_inner()), (failed, failed));
        assert!(ledger.has(last).unwrap() && !ledger.has(&jobs[0]).unwrap());
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_state_that_cannot_be_saved_is_reported() {
        let (folder, jobs) = (folder("unsaved"), jobs(Row::Gft));
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
        let outcome = run_all(&jobs, &ledger, &Settings::paper(), 1, None, &observe).unwrap();
        assert!(told.into_inner() && outcome.stopped && outcome.failed == 1);
        std::fs::remove_dir_all(&folder).unwrap();
    }

    /// Settings for fits of a few steps.
    fn short() -> Settings {
        let changes = serde_json::json!({
            "generate": { "steps": 6 }, "refine": { "steps": 4 }, "direct": { "steps": 6 },
            "generator": { "hidden": [8] }, "check_every": 2, "steps": 6,
        });
        Settings::new("paper", changes.as_object().cloned().unwrap()).unwrap()
    }

    #[test]
    fn states_of_other_settings_or_data_are_ignored() {
        let (folder, settings) = (folder("states"), short());
        let mut job = jobs(Row::Gft).remove(0);
        job.preset = settings.label(job.row);
        let result = |job: &Job| {
            let ledger = Ledger::open(&folder).unwrap();
            let jobs = std::slice::from_ref(job);
            run_all(jobs, &ledger, &settings, 1, None, &|_| Control::Continue).unwrap();
            let entry = ledger.get(job).unwrap();
            std::fs::remove_file(ledger.path()).unwrap();
            entry.mse.unwrap()
        };
        // A fit that is stopped at its first step leaves a state.
        let state = |job: &Job, settings: &Settings| {
            let ledger = Ledger::open(&folder).unwrap();
            let stop = |event: Event<'_>| match event {
                Event::Moved(..) => Control::Stop,
                _ => Control::Continue,
            };
            run_all(std::slice::from_ref(job), &ledger, settings, 1, None, &stop).unwrap();
            assert!(ledger.get(job).is_none());
            std::fs::read(state_path(&folder, job)).unwrap()
        };
        let alone = result(&job);
        let mine = state(&job, &settings);
        assert_eq!(result(&job), alone, "from its own state");
        let other = Job {
            seed: 2,
            ..job.clone()
        };
        let foreign = state(&other, &settings);
        std::fs::remove_file(state_path(&folder, &other)).unwrap();
        let longer = Settings::new("paper", []).unwrap();
        let longer = state(&job, &longer);
        // `foreign` differs in the seed alone, `sampled` in the data alone.
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

    /// Jobs of F-Opt, GFT, GFT-r and plain networks on f1 (5, 300), and of another method, with short fits.
    fn trained(settings: &Settings, lambda: Option<Lambda>) -> Vec<Job> {
        let rows = [
            Row::FOpt,
            Row::Gft,
            Row::GftR,
            Row::KernelRidge,
            Row::NeuralNet,
        ];
        let jobs = rows.iter().flat_map(|&row| {
            let job = jobs(row).remove(0);
            [1, 2, 3].map(|seed| Job {
                preset: settings.label(row),
                lambda: lambda.or(job.lambda).filter(|_| row.has_lambda()),
                seed,
                ..job.clone()
            })
        });
        jobs.collect()
    }

    /// A device that is the processor under another name, and refuses batches of more than `most` runs or a seed.
    struct Small {
        most: usize,
        refused: u64,
    }

    impl Small {
        fn device(most: usize, refused: u64) -> Device {
            Device::new("GPU", Small { most, refused })
        }
    }

    impl Backend for Small {
        fn start(
            &self,
            config: &Config,
            runs: &[(u64, Task<'_>)],
        ) -> thinfit::Result<Box<dyn Batch>> {
            let refused = runs.iter().any(|(seed, _)| *seed == self.refused);
            match runs.len() > self.most || refused {
                false => Processor.start(config, runs),
                true => Err(thinfit::Error::Device {
                    device: "GPU".into(),
                    problem: "too little memory".into(),
                    advice: "use a larger one",
                }),
            }
        }
    }

    /// The entries of a call, with what differs between two calls left out: times, commits, the device.
    fn entries(ledger: &Ledger, jobs: &[Job]) -> Vec<Option<Entry>> {
        let entry = |job: &Job| {
            ledger.get(job).map(|entry| Entry {
                seconds: 0.0,
                finished: 0,
                device: None,
                batch: None,
                ..entry
            })
        };
        jobs.iter().map(entry).collect()
    }

    #[test]
    fn a_batch_gives_the_entries_of_fits_one_by_one() {
        let settings = short();
        for (lambda, most) in [(None, 60), (Some(Lambda::Auto), 7)] {
            let jobs = trained(&settings, lambda);
            let done = |name: &str, device: Option<&Device>| {
                let folder = folder(name);
                let ledger = Ledger::open(&folder).unwrap();
                let go = |_: Event<'_>| Control::Continue;
                let outcome = run_all(&jobs, &ledger, &settings, 1, device, &go).unwrap();
                assert_eq!(outcome, Outcome::default());
                assert!(!folder.join("states").exists());
                std::fs::remove_dir_all(&folder).unwrap();
                ledger
            };
            let alone = done("alone", None);
            let device = Small::device(most, 0);
            let together = done("together", Some(&device));
            assert!(entries(&alone, &jobs).iter().all(Option::is_some));
            assert_eq!(entries(&together, &jobs), entries(&alone, &jobs));
            for job in &jobs {
                let entry = together.get(job).unwrap();
                let on_device = job.row.is_trained();
                assert_eq!(entry.device.as_deref(), on_device.then_some("GPU"));
                // Batches of 18 runs that are refused are halved, to fits of six runs.
                let batch = (on_device && lambda.is_none()).then_some(3);
                assert_eq!(entry.batch, batch, "{job}");
                assert_eq!(alone.get(job).unwrap().device, None);
            }
        }
    }

    #[test]
    fn a_batch_that_is_stopped_resumes_to_the_same_entries() {
        let (folder, settings) = (folder("stopped"), short());
        let jobs = trained(&settings, Some(Lambda::Auto));
        let jobs = &jobs[3..9];
        let plain = Ledger::open(&folder.join("plain")).unwrap();
        run_all(jobs, &plain, &settings, 1, None, &|_| Control::Continue).unwrap();
        let device = Small::device(60, 0);
        // In the generator's phase, after the first entry, and in the refinement.
        for at in [0, 1, 2] {
            let folder = folder.join(at.to_string());
            let ledger = Ledger::open(&folder).unwrap();
            let finished = AtomicUsize::new(0);
            let stop = |event: Event<'_>| {
                let stop = match event {
                    Event::Moved(job, part) => match at {
                        0 => part > 0.4,
                        2 => job.row == Row::GftR && part > 0.8,
                        _ => false,
                    },
                    Event::Finished(_) => finished.fetch_add(1, Ordering::Relaxed) == 0 && at == 1,
                    _ => false,
                };
                if stop {
                    Control::Stop
                } else {
                    Control::Continue
                }
            };
            let outcome = run_all(jobs, &ledger, &settings, 1, Some(&device), &stop).unwrap();
            assert!(outcome.stopped && outcome.failed == 0, "{at}");
            let done = ledger.entries().len();
            assert_eq!(done, [0, 3, 3][at], "{at}");
            let states = std::fs::read_dir(folder.join("states")).unwrap().count();
            assert_eq!(states, 3, "{at}");
            let starts = AtomicUsize::new(0);
            let go = |event: Event<'_>| {
                if let Event::Moved(_, part) = event {
                    let early = part < 0.3;
                    starts.fetch_add(usize::from(early), Ordering::Relaxed);
                }
                Control::Continue
            };
            run_all(jobs, &ledger, &settings, 1, Some(&device), &go).unwrap();
            assert_eq!(starts.into_inner(), 0, "{at}: it began afresh");
            assert_eq!(entries(&ledger, jobs), entries(&plain, jobs), "{at}");
            assert!(!folder.join("states").exists());
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_fit_that_fails_in_a_batch_fails_alone() {
        let (folder, settings) = (folder("batch-failed"), short());
        let jobs = trained(&settings, None);
        let ledger = Ledger::open(&folder).unwrap();
        let device = Small::device(60, 2);
        let failed = |event: Event<'_>| {
            if let Event::Failed(job, error) = event {
                assert_eq!(job.seed, 2);
                assert!(error.to_string().contains("too little memory"), "{error}");
            }
            Control::Continue
        };
        let outcome = run_all(&jobs, &ledger, &settings, 1, Some(&device), &failed).unwrap();
        assert_eq!(outcome.failed, 4);
        for job in &jobs {
            let refused = job.seed == 2 && job.row.is_trained();
            assert_eq!(ledger.get(job).is_none(), refused, "{job}");
        }
        // A panic is some fit's own as well, and the next call does what is missing.
        let panicked = |event: Event<'_>| match event {
            Event::Moved(job, _) if job.row == Row::GftR => panic!("on purpose"),
            Event::Failed(_, error) => {
                assert!(matches!(error, Error::Panic));
                Control::Continue
            }
            _ => Control::Continue,
        };
        let device = Small::device(60, 0);
        let outcome = run_all(&jobs, &ledger, &settings, 1, Some(&device), &panicked).unwrap();
        assert_eq!(
            (outcome.failed, ledger.entries().len()),
            (1, jobs.len() - 1)
        );
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
