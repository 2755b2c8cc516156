//! A run: batches of all targets in turn, each in its own process, until the requested number of inputs is reached.
//!
//! The record is written after every batch. An interrupted run loses its current batch; the same command continues
//! it.

use crate::record::{Finding, Progress, Record, grouped};
use crate::target::Target;
use crate::worker::{Batch, Current, Tally, last_words, scratch};
use std::fs::File;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use thinfit::file::fnv1a;

/// How long an input may take by the clock, on however busy a machine.
const HANG: Duration = Duration::from_secs(120);
/// The time between two words on how far a run is.
const PAUSE: Duration = Duration::from_secs(30);
/// Number of findings after which a run ends.
const ENOUGH: usize = 200;

/// What to run.
#[derive(clap::Args)]
pub struct Args {
    /// Inputs in all
    #[arg(long, default_value_t = 10_000_000)]
    inputs: u64,
    /// The same seed gives the same inputs
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Only these targets
    #[arg(long, value_delimiter = ',')]
    targets: Vec<String>,
    /// Where the record and the findings go
    #[arg(long, default_value = "target/fuzz")]
    folder: PathBuf,
}

/// Runs to the end; false if there are findings.
pub fn run(args: &Args) -> Result<bool, String> {
    let targets = chosen(&args.targets)?;
    let folder = &args.folder;
    std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let folder = &folder.canonicalize().map_err(|error| error.to_string())?;
    let mut record = begin(args, folder, &targets)?;
    let (start, before, done) = (Instant::now(), record.seconds, record.tried());
    let mut last = None;
    while let Some(target) = next(&record, &targets) {
        let progress = record.targets.entry(target.name().into()).or_default();
        let left = progress.wanted.saturating_sub(progress.tried());
        let batch = Batch {
            target: target.name().into(),
            seed: args.seed,
            number: progress.batches,
            count: target.batch().min(left),
            // Of the corpus all files are tried, also those after one that the batch died of.
            first: match progress.batches {
                0 => progress.unfinished,
                _ => 0,
            },
            folder: folder.clone(),
        };
        let clock = Instant::now();
        let ended = attempt(&batch)?;
        progress.seconds += clock.elapsed().as_secs_f64();
        match ended {
            Ok(tally) => {
                progress.tally.add(&tally);
                progress.batches += 1;
            }
            Err(words) => {
                let (number, input) = Current::read(folder).unwrap_or_default();
                progress.unfinished += (number + 1).saturating_sub(batch.first).max(1);
                progress.batches += u64::from(batch.number > 0);
                record.findings.extend(keep(folder, target, &input, words)?);
            }
        }
        record.seconds = before + start.elapsed().as_secs_f64();
        record.write(folder)?;
        if last.is_none_or(|time: Instant| time.elapsed() > PAUSE)
            || std::io::stderr().is_terminal()
        {
            last = Some(Instant::now());
            say(&record, done, start.elapsed());
        }
        if record.findings.len() >= ENOUGH {
            break;
        }
    }
    say(&record, done, start.elapsed());
    eprintln!();
    for Finding { file, words, .. } in &record.findings {
        eprintln!("{}: {words}", folder.join(file).display());
    }
    println!("{}", folder.join("summary.md").display());
    Ok(record.findings.is_empty())
}

fn chosen(names: &[String]) -> Result<Vec<Target>, String> {
    let named = |name: &String| {
        let known: Vec<_> = Target::ALL.iter().map(|target| target.name()).collect();
        Target::named(name).ok_or_else(|| {
            format!(
                "--targets: expected some of {}, found `{name}`",
                known.join(", ")
            )
        })
    };
    match names.is_empty() {
        true => Ok(Target::ALL.to_vec()),
        false => names.iter().map(named).collect(),
    }
}

/// The record of a part of this run that was interrupted, or a new one.
fn begin(args: &Args, folder: &Path, targets: &[Target]) -> Result<Record, String> {
    let build = build()?;
    let mut record = match Record::read(folder, args.seed, &build) {
        Some(record) => record,
        None => {
            // Seeds of another run would make other inputs.
            for target in Target::ALL {
                let _ = std::fs::remove_dir_all(folder.join("grown").join(target.name()));
                let _ = std::fs::remove_file(folder.join(format!("ends-{}.json", target.name())));
            }
            Record {
                commit: commit(),
                build,
                seed: args.seed,
                wanted: args.inputs,
                seconds: 0.0,
                targets: Default::default(),
                findings: Vec::new(),
            }
        }
    };
    record.wanted = args.inputs;
    let shares: u64 = targets.iter().map(|target| target.share()).sum();
    for target in targets {
        let wanted =
            (args.inputs as u128 * u128::from(target.share())).div_ceil(u128::from(shares)) as u64;
        record
            .targets
            .entry(target.name().into())
            .or_default()
            .wanted = wanted;
    }
    record.write(folder)?;
    Ok(record)
}

/// A checksum of this program: changed files may make another program of the same commit.
fn build() -> Result<String, String> {
    let program = std::env::current_exe().and_then(std::fs::read);
    let program = program.map_err(|error| format!("this program cannot be read: {error}"))?;
    Ok(format!("{:016x}", fnv1a(program)))
}

/// The commit that is checked out, with a mark where files have changed since; `unknown` without Git.
fn commit() -> String {
    let words = [
        "describe",
        "--always",
        "--dirty",
        "--exclude=*",
        "--abbrev=10",
    ];
    let output = Command::new("git")
        .args(words)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output();
    let output = output.ok().filter(|output| output.status.success());
    let text = output.and_then(|output| String::from_utf8(output.stdout).ok());
    text.map_or("unknown".into(), |text| text.trim().to_owned())
}

/// The target that is furthest behind; none when all are done.
fn next(record: &Record, targets: &[Target]) -> Option<Target> {
    let share = |target: &Target| {
        let progress = record
            .targets
            .get(target.name())
            .cloned()
            .unwrap_or_default();
        (
            progress.tried() as f64 / progress.wanted.max(1) as f64,
            progress.batches > 0,
        )
    };
    let open = targets
        .iter()
        .filter(|target| share(target) < (1.0, true) || !share(target).1);
    open.min_by(|a, b| share(a).0.total_cmp(&share(b).0))
        .copied()
}

/// Runs a batch: its tally, or what it died of.
fn attempt(batch: &Batch) -> Result<Result<Tally, String>, String> {
    let words = last_words(&batch.folder);
    let _ = std::fs::remove_file(&words);
    let _ = std::fs::remove_file(Current::path(&batch.folder));
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let errors = batch.folder.join("errors");
    let to = File::create(&errors).map_err(|error| format!("{}: {error}", errors.display()))?;
    let mut command = Command::new(program);
    command
        .args(["batch", "--target", &batch.target, "--folder"])
        .arg(&batch.folder)
        .args(
            [
                ("--seed", batch.seed),
                ("--number", batch.number),
                ("--count", batch.count),
                ("--first", batch.first),
            ]
            .map(|(key, value)| format!("{key}={value}")),
        )
        .env("RAYON_NUM_THREADS", "1")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(to);
    let mut child = command.spawn().map_err(|error| error.to_string())?;
    let (mut at, mut since, mut hangs) = (None, Instant::now(), false);
    // A tally is shorter than the buffer of a pipe, so the child need not be read while it runs.
    while child
        .try_wait()
        .map_err(|error| error.to_string())?
        .is_none()
    {
        std::thread::sleep(Duration::from_millis(20));
        if since.elapsed() > HANG / 4 {
            let number = Current::read(&batch.folder).map(|(number, _)| number);
            hangs = at == number && since.elapsed() > HANG;
            if at != number {
                (at, since) = (number, Instant::now());
            }
            if hangs {
                child.kill().map_err(|error| error.to_string())?;
            }
        }
    }
    // Here, since a batch that dies cleans up nothing.
    let _ = std::fs::remove_dir_all(scratch(&batch.folder, child.id()));
    let output = child
        .wait_with_output()
        .map_err(|error| error.to_string())?;
    if output.status.success() {
        let tally = serde_json::from_slice(&output.stdout);
        return tally
            .map(Ok)
            .map_err(|error| format!("a batch without a tally: {error}"));
    }
    if output.status.code() == Some(2) {
        let why = std::fs::read_to_string(errors).unwrap_or_default();
        return Err(format!(
            "a batch of {} could not be run: {}",
            batch.target,
            why.trim().trim_start_matches("error: ")
        ));
    }
    let said = std::fs::read_to_string(words).unwrap_or_default();
    Ok(Err(match hangs {
        true => format!("did not end within {} s", HANG.as_secs()),
        false => format!("{}: {said}", output.status),
    }))
}

/// Keeps an input that broke a promise; its name is that of its bytes.
fn keep(
    folder: &Path,
    target: Target,
    input: &[u8],
    words: String,
) -> Result<Option<Finding>, String> {
    let name = format!("{:016x}", fnv1a(input.iter().copied()));
    let file = Path::new("findings").join(target.name()).join(name);
    let path = folder.join(&file);
    let failed = |error: std::io::Error| format!("{}: {error}", path.display());
    std::fs::create_dir_all(path.parent().unwrap_or(folder)).map_err(failed)?;
    std::fs::write(&path, input).map_err(failed)?;
    Ok(Some(Finding {
        target: target.name().into(),
        file,
        words,
    }))
}

/// How far the run is.
fn say(record: &Record, before: u64, elapsed: Duration) {
    let tried = record.tried();
    let rate = (tried - before) as f64 / elapsed.as_secs_f64().max(1e-3);
    let left = record
        .targets
        .values()
        .map(|p: &Progress| p.wanted.saturating_sub(p.tried()));
    let minutes = left.sum::<u64>() as f64 / rate.max(1e-3) / 60.0;
    let end = if std::io::stderr().is_terminal() {
        "\r"
    } else {
        "\n"
    };
    eprint!(
        "{} of {} inputs, {rate:.0} a second, about {minutes:.0} min left, {} findings  {end}",
        grouped(tried),
        grouped(record.wanted),
        record.findings.len()
    );
}
