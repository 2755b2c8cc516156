//! The benchmark suite of the default fit and of its baselines, which write to the same file.
//!
//! ```text
//! cargo run --release -p thinfit-experiments --example default_suite -- --group clean,noise --methods auto,gaussian-process \
//!     -o results.csv [--seeds 2] [--sizes 100,300] [--filter otl] [--threads 2]
//! cargo run --release -p thinfit-experiments --example default_suite -- summary results.csv controls.csv \
//!     [--base auto] [--group noise] [--filter otl]
//! ```
//!
//! | group | problems | rows | noise |
//! |---|---|---|---|
//! | `clean` | all functions of `engineering` | 100, 300 | none |
//! | `noise` | the same | 100, 300 | 1, 10, 50 % |
//! | `odd` | all tables of `stress` | their own | their own |
//! | `null` | noise alone, 5 to 500 inputs | 15 to 300 | all there is |
//! | `idle` | two of 10 to 100 inputs act | 60, 100, 200 | 10, 50 % |
//! | `paper`, `uci` | columns of the paper; measured ones need THINFIT_DATA | its own | none |
//! | `coverage` | five of the functions | 30 to 1000 | 0, 1, 10, 50 % |
//! | `reported` | the same | 50, 200 | the same |
//! | `structure` | columns whose terms are known | their own | none |
//!
//! Methods are those of `thinfit_methods::Method`, with settings as in `gaussian-process:kernel=matern52,starts=8`, and
//! the controls `linear` and `mean`. A fit that is in the file is not repeated. Two workers of one thread each do the fits,
//! or one worker of `--threads` threads.

mod case;
mod learner;
mod sheet;
mod summary;

use std::error::Error;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use case::Case;
use learner::{Judged, Learner};
use sheet::Sheet;

type Done<T = ()> = Result<T, Box<dyn Error>>;

/// What was asked for.
#[derive(Default)]
struct Arguments {
    groups: Vec<String>,
    methods: String,
    seeds: u64,
    filter: String,
    sizes: Vec<usize>,
    threads: Option<usize>,
    base: String,
    files: Vec<PathBuf>,
}

impl Arguments {
    fn read(words: impl Iterator<Item = String>) -> Done<Self> {
        let mut read = Arguments {
            seeds: 2,
            base: "auto".into(),
            ..Arguments::default()
        };
        let mut words = words;
        while let Some(word) = words.next() {
            let mut value = || {
                words
                    .next()
                    .ok_or(format!("{word}: expected a value after it"))
            };
            match word.as_str() {
                "--group" => read.groups = value()?.split(',').map(String::from).collect(),
                "--methods" => read.methods = value()?,
                "--seeds" => read.seeds = value()?.parse()?,
                "--filter" => read.filter = value()?,
                "--sizes" => {
                    let sizes: Result<_, _> = value()?.split(',').map(str::parse).collect();
                    read.sizes = sizes?;
                }
                "--threads" => read.threads = Some(value()?.parse()?),
                "--base" => read.base = value()?,
                "-o" => read.files.push(value()?.into()),
                option if option.starts_with('-') => {
                    return Err(format!(
                        "expected --group, --methods, --seeds, --filter, --sizes, --threads, --base or -o, found `{option}`"
                    )
                    .into());
                }
                file => read.files.push(file.into()),
            }
        }
        Ok(read)
    }
}

fn main() -> Done {
    let mut words = std::env::args().skip(1).peekable();
    match words.next_if(|word| word == "summary") {
        Some(_) => summarise(&Arguments::read(words)?),
        None => measure(&Arguments::read(words)?),
    }
}

/// Prints the summary of one or more files.
fn summarise(arguments: &Arguments) -> Done {
    let mut lines = Vec::new();
    for file in &arguments.files {
        lines.extend(sheet::read(file).map_err(|error| format!("{}: {error}", file.display()))?);
    }
    lines.retain(|line| {
        let group = line.text("group").to_owned();
        (arguments.groups.is_empty() || arguments.groups.contains(&group))
            && line.text("problem").contains(&arguments.filter)
    });
    let text = summary::summary(&lines, &arguments.base);
    Ok(std::io::stdout().write_all(text.as_bytes())?)
}

/// Does the fits that the file lacks.
fn measure(arguments: &Arguments) -> Done {
    let [file] = &arguments.files[..] else {
        return Err("expected one file of results, -o FILE".into());
    };
    let (learners, unknown) =
        Learner::list(&arguments.methods).map_err(|error| format!("--methods: {error}"))?;
    for name in unknown {
        eprintln!("there is no method `{name}`; it is left out");
    }
    let mut cases = Vec::new();
    for group in &arguments.groups {
        cases.extend(Case::of(group, &arguments.sizes)?);
    }
    cases.retain(|case| case.problem.contains(&arguments.filter));
    // Seed by seed, so that an early stop costs every case its last seeds.
    let jobs: Vec<(u64, &Case, &Learner)> = (1..=arguments.seeds)
        .flat_map(|seed| cases.iter().map(move |case| (seed, case)))
        .flat_map(|(seed, case)| learners.iter().map(move |learner| (seed, case, learner)))
        .collect();
    if jobs.is_empty() {
        return Err("nothing to do: expected --group and --methods that name something".into());
    }
    let sheet = Sheet::open(file).map_err(|error| format!("{}: {error}", file.display()))?;
    let (sheet, next) = (Mutex::new(sheet), AtomicUsize::new(0));
    let open = || sheet.lock().unwrap_or_else(PoisonError::into_inner);
    let (workers, threads) = arguments.threads.map_or((2, 1), |threads| (1, threads));
    let work = || -> std::io::Result<()> {
        loop {
            let place = next.fetch_add(1, Ordering::Relaxed);
            let Some((seed, case, learner)) = jobs.get(place) else {
                return Ok(());
            };
            let key = sheet::key(case, *seed, learner);
            if open().has(&key) {
                continue;
            }
            let (d, judged) = attempt(case, *seed, learner, threads);
            let told = match &judged {
                Ok(judged) => {
                    let share = judged.mse / judged.deviation.powi(2);
                    format!("{share:.2e}, {:.1} s", judged.seconds)
                }
                Err(reason) => reason.clone(),
            };
            eprintln!("{}/{} {key}: {told}", place + 1, jobs.len());
            open().add(&key, d, &judged)?;
        }
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        workers.into_iter().try_for_each(|worker| {
            let ended = worker.join();
            ended.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    })?;
    Ok(())
}

/// Number of inputs, and the fit or the reason for its failure.
fn attempt(
    case: &Case,
    seed: u64,
    learner: &Learner,
    threads: usize,
) -> (usize, Result<Judged, String>) {
    let trial = match case.draw(seed) {
        Ok(trial) => trial,
        Err(error) => return (0, Err(error.to_string())),
    };
    let judge = || learner.judge(&trial, seed, threads);
    let judged = match catch_unwind(AssertUnwindSafe(judge)) {
        Ok(judged) => judged.map_err(|error| error.to_string()),
        Err(_) => Err("the fit panicked".into()),
    };
    (trial.train.dim(), judged)
}
