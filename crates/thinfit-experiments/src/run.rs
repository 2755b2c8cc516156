//! Does the jobs that a ledger lacks, several at a time, one thread each.
//!
//! GFT-r starts where GFT of the same seed and λ ends, and one worker does both. A lock in `states/` beside the ledger
//! keeps other programs from doing the same job at the same time.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::attempt::Attempt;
use crate::claim::Claim;
use crate::{Entry, Error, Job, Ledger, Settings};
use thinfit::Control;

/// What happens while jobs are done.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
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

/// Hears of every event, from any thread, and may ask to stop.
type Observe<'a> = dyn Fn(Event<'_>) -> Control + Sync + 'a;

/// Does all jobs that are not in the ledger, on `workers` threads, with the settings that they were planned with.
///
/// A fit that fails is an event, and the others go on.
///
/// # Errors
/// A ledger that cannot be read or written.
pub fn run(
    jobs: &[Job],
    ledger: &Ledger,
    settings: &Settings,
    workers: usize,
    observe: &Observe<'_>,
) -> Result<Outcome, Error> {
    let run = Run {
        ledger,
        settings,
        folder: ledger.path().parent().unwrap_or(Path::new(".")),
        observe,
        failed: AtomicUsize::new(0),
        stopped: AtomicBool::new(false),
    };
    let (chains, next) = (chains(jobs), AtomicUsize::new(0));
    let work = || -> Result<(), Error> {
        while let Some(chain) = chains.get(next.fetch_add(1, Ordering::Relaxed)) {
            // Without a ledger there is no point in going on.
            run.chain(chain)
                .inspect_err(|_| run.stopped.store(true, Ordering::Relaxed))?;
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..workers.max(1)).map(|_| scope.spawn(work)).collect();
        workers.into_iter().try_for_each(|worker| {
            worker
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
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

    /// Does the jobs of a chain in order, unless another program is doing them.
    fn chain(&self, chain: &[&Job]) -> Result<(), Error> {
        if self.stopped() {
            return Ok(());
        }
        let Some(_claim) = Claim::of(chain[0], self.folder)? else {
            for job in chain {
                self.tell(Event::Skipped(job));
            }
            return Ok(());
        };
        for (i, job) in chain.iter().enumerate() {
            if !self.stopped() {
                self.job(job, chain.get(i + 1).copied())?;
            }
        }
        Ok(())
    }

    fn job(&self, job: &Job, next: Option<&Job>) -> Result<(), Error> {
        // Only under the lock: whoever had it before may have done the job.
        if self.ledger.has(job)? {
            self.tell(Event::Skipped(job));
            return Ok(());
        }
        let attempt = Attempt {
            job,
            next,
            settings: self.settings,
            folder: self.folder,
        };
        let entry = || attempt.run(&|part| self.tell(Event::Moved(job, part)));
        match catch_unwind(AssertUnwindSafe(entry)).unwrap_or(Err(Error::Panic)) {
            Ok(Some(entry)) => {
                self.ledger.add(&entry)?;
                attempt.tidy();
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

/// Jobs that one worker does in order: GFT and the GFT-r that starts from it, or one job alone.
fn chains(jobs: &[Job]) -> Vec<Vec<&Job>> {
    let mut chains: Vec<Vec<&Job>> = Vec::new();
    for job in jobs {
        let root = job.root();
        let chain = match root == *job {
            true => None,
            false => chains.iter_mut().find(|chain| *chain[0] == root),
        };
        match chain {
            Some(chain) => chain.push(job),
            None => chains.push(vec![job]),
        }
    }
    chains
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Row;
    use crate::attempt::state_path;
    use crate::job::tests::jobs;
    use std::path::PathBuf;

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
            run(&jobs, &ledger, &Settings::paper(), 1, &observe).unwrap();
            ledger.has(&jobs[0]).unwrap()
        };
        let claim = Claim::of(&jobs[0], &folder).unwrap();
        assert!(!call());
        drop(claim);
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
    fn a_fit_that_fails_is_recorded_and_others_go_on() {
        let folder = folder("failed");
        let changes = serde_json::json!({ "starts": 0 });
        let settings = Settings::new("paper", changes.as_object().cloned().unwrap()).unwrap();
        let mut jobs = [jobs(Row::GaussianProcess), jobs(Row::KernelRidge)].concat();
        jobs.iter_mut()
            .for_each(|job| job.preset = settings.label(job.row));
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
        let outcome = run(&jobs, &ledger, &Settings::paper(), 1, &observe).unwrap();
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
        let outcome = run(&jobs, &ledger, &Settings::paper(), 1, &observe).unwrap();
        assert!(told.into_inner() && outcome.stopped && outcome.failed == 1);
        std::fs::remove_dir_all(&folder).unwrap();
    }

    /// Settings for fits of a few steps.
    fn short() -> Settings {
        let changes = serde_json::json!({
            "generate": { "steps": 6 }, "refine": { "steps": 4 },
            "generator": { "hidden": [8] }, "check_every": 2,
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
            run(jobs, &ledger, &settings, 1, &|_| Control::Continue).unwrap();
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
            run(std::slice::from_ref(job), &ledger, settings, 1, &stop).unwrap();
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
}
