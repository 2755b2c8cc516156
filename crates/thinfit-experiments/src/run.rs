//! Does the jobs that are missing in a ledger, as many at a time as there are cores, one thread each.
//!
//! GFT-r begins where GFT of the same seed and λ ends, and is done by the same worker. A lock in `states/` beside the
//! ledger keeps other programs from doing the same work at the same time.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::attempt::Attempt;
use crate::claim::Claim;
use crate::{Entry, Error, Job, Ledger, Settings};
use thinfit::Control;

/// Time between two looks at a lock that another program has.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// What happens while jobs are done.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// A job begins.
    Started(&'a Job),
    /// A job is done to this part, from 0 to 1.
    Moved(&'a Job, f64),
    /// A job is done and in the ledger.
    Finished(&'a Entry),
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
            let attempt = Attempt {
                job,
                next: chain.get(i + 1).copied(),
                settings,
                folder,
            };
            let entry = || attempt.run(&|part| tell(Event::Moved(job, part)));
            match catch_unwind(AssertUnwindSafe(entry)).unwrap_or(Err(Error::Panic)) {
                Ok(Some(entry)) => {
                    ledger.add(&entry)?;
                    attempt.tidy();
                    tell(Event::Finished(&entry));
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

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
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
    fn a_job_that_another_program_is_at_waits_and_is_done_when_that_one_stops() {
        let folder = folder("wait");
        let jobs = jobs(Row::KernelRidge);
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
    fn a_fit_that_cannot_end_well_is_recorded_and_others_go_on() {
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
    fn a_state_that_cannot_be_saved_is_told() {
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
        assert_eq!(result(&job), alone, "a state of its own");
        let other = Job {
            seed: 2,
            ..job.clone()
        };
        let foreign = state(&other, &settings);
        std::fs::remove_file(state_path(&folder, &other)).unwrap();
        let longer = Settings::new("paper", []).unwrap();
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
