//! `thinfit reproduce`: does the fits of the paper's tables that are not recorded yet, and reports all that are.

use std::collections::HashMap;
use std::io::Write;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use thinfit::file::write_whole;
use thinfit::{Activation, Lambda};
use thinfit_experiments::{
    Cell, Choice, Column, Entry, Error, Event, Exhibit, Figure1, Job, Ledger, Outcome, Plan,
    Report, Row, Settings, page, time,
};

use crate::args::ReproduceArgs;
use crate::commands::plot::save;
use crate::failure::Failure;
use crate::interrupt;
use crate::progress::Progress;
use crate::settings;

/// Plans, does what is missing, reports; tells whether it was interrupted.
pub fn run(args: &ReproduceArgs, out: &mut impl Write) -> Result<bool, Failure> {
    let exhibits = exhibits(args)?;
    let changes = settings::changes(&args.set)?.into_iter().flatten();
    let settings = Settings::new(&args.preset, changes)?;
    let plan = Plan {
        cells: cells(args, &exhibits)?,
        seeds: (args.seeds.first..=args.seeds.last).collect(),
        lambda: lambda(&args.lambda)?,
    };
    let jobs = plan.jobs(&settings);
    if args.report && !args.out.is_dir() {
        return Err(Failure::new(format!(
            "there is no folder {} to report on; name that of an earlier call with --out, or leave --report out",
            args.out.display()
        )));
    }
    let ledger = Ledger::open(&args.out)?;
    if args.retry {
        ledger.retry();
    }
    if args.list {
        for job in &jobs {
            let state = ledger.get(job).map_or("missing".into(), |r| outcome(&r));
            writeln!(out, "{job}: {state}")?;
        }
        return Ok(false);
    }
    let progress = Progress::new(args.quiet);
    if ledger.damaged() > 0 {
        progress.warn(format!(
            "{}: {} lines are damaged and left out; their fits count as missing",
            ledger.path().display(),
            ledger.damaged()
        ));
    }
    let ended = match args.report {
        true => Outcome::default(),
        false => fit(args, &jobs, &ledger, &settings, &progress)?,
    };
    progress.finish();
    let report = Report::new(&exhibits, &plan, &settings, &ledger);
    write_report(out, &args.out, &report)?;
    if ended.failed > 0 && !ended.stopped {
        return Err(Failure::new(format!(
            "{} fits failed, see above; the same command tries them again",
            ended.failed
        )));
    }
    Ok(ended.stopped)
}

/// Does the jobs that are not recorded.
fn fit(
    args: &ReproduceArgs,
    jobs: &[Job],
    ledger: &Ledger,
    settings: &Settings,
    progress: &Progress,
) -> Result<Outcome, Failure> {
    let (mut missing, mut failed) = (Vec::new(), 0);
    for job in jobs {
        match ledger.has(job)? {
            false => missing.push(job.clone()),
            true if ledger.get(job).is_some_and(|entry| entry.mse.is_none()) => failed += 1,
            true => {}
        }
    }
    progress.note(format!(
        "{} fits, {} of them done before; records in {}",
        jobs.len(),
        jobs.len() - missing.len(),
        ledger.path().display()
    ));
    if failed > 0 {
        progress.warn(format!(
            "{failed} of them failed; `--retry` tries them again, `--list` says why"
        ));
    }
    let missing = with_data(missing, progress);
    interrupt::listen("and saving what can go on; the same command does the rest")?;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let workers = if args.jobs == 0 {
        cores
    } else {
        args.jobs.into()
    };
    let forecast = Mutex::new(Forecast::new(&ledger.entries(), &missing, workers));
    let observe = |event: Event<'_>| {
        let mut forecast = forecast.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            Event::Started(job) => forecast.start(job),
            Event::Moved(job, part) => {
                if forecast.move_to(job, part) {
                    progress.stand(forecast.done(), || forecast.to_string());
                }
            }
            Event::Finished(entry) => {
                forecast.finish(&entry.job, Some(entry.seconds));
                let (job, state) = (&entry.job, outcome(entry));
                let text = format!("{job}: {state}  ({forecast})");
                match entry.mse {
                    Some(_) => progress.note(text),
                    None => progress.warn(text),
                }
            }
            Event::Failed(job, error) => {
                forecast.finish(job, None);
                progress.warn(format!("{job}: failed: {error}"));
            }
            Event::Waiting(job) => {
                progress.note(format!("{job}: another program is at it; later"));
            }
            Event::Elsewhere(job) => {
                forecast.start(job);
                forecast.finish(job, None);
                progress.note(format!("{job}: done by another program"));
            }
        }
        interrupt::control()
    };
    Ok(thinfit_experiments::run(
        &missing, ledger, settings, workers, &observe,
    )?)
}

/// Writes all that is known in every form, and says where.
fn write_report(out: &mut impl Write, folder: &Path, report: &Report) -> Result<(), Failure> {
    let figure = report
        .exhibits
        .contains(&Exhibit::Figure1)
        .then(|| Figure1::read(report, folder));
    let figure = figure.filter(|figure| !figure.is_empty());
    if let Some(figure) = &figure {
        writeln!(
            out,
            "part of |b| within 0.1 of the lines on which the function's Fourier transform lies, mean over seeds:\n"
        )?;
        let columns: Vec<Column> = Exhibit::Figure1.columns().collect();
        write!(out, "{:<16}", "")?;
        for column in &columns {
            write!(out, "{:>10}", column.problem())?;
        }
        writeln!(out)?;
        for row in Figure1::ROWS {
            write!(out, "{:<16}", row.label())?;
            for &column in &columns {
                let share = figure.share(row, column);
                let text = share.map_or("-".into(), |(share, _)| format!("{:.1} %", 100.0 * share));
                write!(out, "{text:>10}")?;
            }
            writeln!(out)?;
        }
        writeln!(out)?;
    }
    writeln!(out, "cells with a number of ours:")?;
    for (name, count) in report.counts() {
        writeln!(out, "  {name:<12}{count}")?;
    }
    let files = [
        ("results.csv", report.csv()),
        ("results.md", report.markdown()),
        ("results.html", page(report, figure.as_ref())),
    ];
    for (name, text) in files {
        let path = folder.join(name);
        write_whole(&path, text.as_bytes())?;
        writeln!(out, "wrote {}", path.display())?;
    }
    if let Some(figure) = &figure {
        save(out, folder, "figure1", &figure.canvas())?;
    }
    Ok(())
}

/// The tables that were asked for.
fn exhibits(args: &ReproduceArgs) -> Result<Vec<Exhibit>, Failure> {
    let mut exhibits = Vec::new();
    for word in &args.what {
        exhibits.extend(Exhibit::matching(word).map_err(|error| Failure::new(error.to_string()))?);
    }
    Ok(Exhibit::ALL
        .into_iter()
        .filter(|exhibit| exhibits.contains(exhibit))
        .collect())
}

/// The cells that the options leave.
fn cells(args: &ReproduceArgs, exhibits: &[Exhibit]) -> Result<Vec<Cell>, Failure> {
    let wrong = |error: &dyn std::error::Error| Failure::new(error.to_string());
    let all: Vec<Cell> = exhibits
        .iter()
        .flat_map(|exhibit| exhibit.cells())
        .collect();
    let mut columns = Vec::new();
    for word in &args.columns {
        let named = Column::matching(word).map_err(|error| wrong(&error))?;
        if !all.iter().any(|cell| named.contains(&cell.column)) {
            return Err(nowhere(args, "columns", word));
        }
        columns.extend(named);
    }
    let rows: Vec<Row> = args
        .methods
        .iter()
        .map(|name| name.parse().map_err(|error| wrong(&error)))
        .collect::<Result<_, _>>()?;
    // A method with one activation, or none, has no choice that an option could restrict.
    let activation = |cell: &Cell| {
        let given = |activation: Activation| {
            args.activations
                .iter()
                .any(|name| *name == activation.name())
        };
        let choice = cell.row.activations().len() > 1;
        args.activations.is_empty() || !choice || cell.activation.is_none_or(given)
    };
    let wanted = |cell: &Cell| {
        (columns.is_empty() || columns.contains(&cell.column))
            && (rows.is_empty() || rows.contains(&cell.row))
            && activation(cell)
    };
    for (word, row) in args.methods.iter().zip(&rows) {
        if !all.iter().any(|cell| cell.row == *row) {
            return Err(nowhere(args, "methods", word));
        }
    }
    let cells: Vec<Cell> = all.into_iter().filter(wanted).collect();
    if cells.is_empty() {
        return Err(Failure::new(format!(
            "{} has no cell with{}{}{}; leave an option out, or name other tables",
            args.what.join(", "),
            shown("columns", &args.columns),
            shown("methods", &args.methods),
            shown("activations", &args.activations)
        )));
    }
    Ok(cells)
}

/// A word that belongs to other tables than those that were asked for.
fn nowhere(args: &ReproduceArgs, option: &str, word: &str) -> Failure {
    Failure::new(format!(
        "{} has no cell with --{option} {word}; leave it out, or name the table that has it",
        args.what.join(", ")
    ))
}

/// An option as it was given.
fn shown(option: &str, values: &[String]) -> String {
    match values {
        [] => String::new(),
        values => format!(" --{option} {}", values.join(",")),
    }
}

fn lambda(text: &str) -> Result<Choice, Failure> {
    match (text, text.parse()) {
        ("paper", _) => Ok(Choice::Published),
        ("auto", _) => Ok(Choice::Given(Lambda::Auto)),
        (_, Ok(value)) if (0.0..f64::INFINITY).contains(&value) => {
            Ok(Choice::Given(Lambda::Fixed(value)))
        }
        _ => Err(Failure::new(format!(
            "--lambda: expected `paper`, `auto` or a number of at least 0 such as 1e-3, found `{text}`"
        ))),
    }
}

/// The jobs whose data are there; says once for each data set that is not how to get it.
fn with_data(jobs: Vec<Job>, progress: &Progress) -> Vec<Job> {
    let mut known: HashMap<Column, bool> = HashMap::new();
    let mut there = |job: &Job| {
        *known
            .entry(job.column)
            .or_insert_with(|| match job.column.draw(0) {
                Err(error @ Error::Data(_)) => {
                    progress.warn(format!("left out: {}: {error}", job.column));
                    false
                }
                _ => true,
            })
    };
    jobs.into_iter().filter(|job| there(job)).collect()
}

/// What a ledger entry says, in a few words.
fn outcome(entry: &Entry) -> String {
    match (entry.mse, &entry.failure) {
        (Some(mse), _) => format!("{mse:.3e} in {}", time(entry.seconds)),
        (None, Some(failure)) => format!("no result: {failure}"),
        (None, None) => "no result".into(),
    }
}

/// How long the jobs that are left will take, by those that were like them.
struct Forecast {
    workers: usize,
    total: usize,
    /// Sum and number of the seconds of finished jobs: alike in all but the seed, of the same method, and all.
    seen: HashMap<String, (f64, usize)>,
    left: Vec<Job>,
    running: Vec<Running>,
    shown: Instant,
}

/// A job that runs.
struct Running {
    job: Job,
    /// When it was first heard of, and how far it was then: it may go on from a saved state.
    since: Instant,
    first: Option<f64>,
    /// How far it is, from 0 to 1.
    part: f64,
}

impl Forecast {
    fn new(entries: &[Entry], jobs: &[Job], workers: usize) -> Self {
        let mut forecast = Forecast {
            workers,
            total: jobs.len(),
            seen: HashMap::new(),
            left: jobs.to_vec(),
            running: Vec::new(),
            shown: Instant::now(),
        };
        for entry in entries {
            forecast.learn(&entry.job, entry.seconds);
        }
        forecast
    }

    /// From the most alike to the least.
    fn keys(job: &Job) -> [String; 3] {
        let alike = Job {
            seed: 0,
            ..job.clone()
        };
        let row = format!("{} {}", job.row.name(), job.preset);
        [alike.to_string(), row, String::new()]
    }

    fn learn(&mut self, job: &Job, seconds: f64) {
        for key in Forecast::keys(job) {
            let (sum, count) = self.seen.entry(key).or_default();
            *sum += seconds;
            *count += 1;
        }
    }

    /// Seconds of a job, by the finished ones that are most like it.
    fn expected(&self, job: &Job) -> Option<f64> {
        let seen = |key: &String| self.seen.get(key).map(|(sum, count)| sum / *count as f64);
        let whole = |job: &Job| Forecast::keys(job).iter().find_map(seen);
        // The seconds of a GFT-r are counted from the start of the GFT that it goes on from.
        let before = Job {
            row: Row::Gft,
            ..job.clone()
        };
        let mut ahead = self.left.iter().chain(self.running.iter().map(|r| &r.job));
        match job.row == Row::GftR && ahead.any(|other| *other == before) {
            true => Some((whole(job)? - whole(&before)?).max(0.0)),
            false => whole(job),
        }
    }

    fn start(&mut self, job: &Job) {
        self.left.retain(|other| other != job);
        self.running.push(Running {
            job: job.clone(),
            since: Instant::now(),
            first: None,
            part: 0.0,
        });
    }

    /// Whether it is time to show it.
    fn move_to(&mut self, job: &Job, part: f64) -> bool {
        if let Some(running) = self.running.iter_mut().find(|other| other.job == *job) {
            running.part = part;
            if running.first.is_none() {
                (running.first, running.since) = (Some(part), Instant::now());
            }
        }
        let due = self.shown.elapsed().as_millis() > 200;
        if due {
            self.shown = Instant::now();
        }
        due
    }

    fn finish(&mut self, job: &Job, seconds: Option<f64>) {
        self.running.retain(|other| other.job != *job);
        if let Some(seconds) = seconds {
            self.learn(job, seconds);
        }
    }

    /// Fraction of the jobs that are done.
    fn done(&self) -> f64 {
        let running: f64 = self.running.iter().map(|running| running.part).sum();
        let finished = self.total - self.left.len() - self.running.len();
        (finished as f64 + running) / self.total.max(1) as f64
    }

    /// Seconds until all is done, where anything alike was seen.
    fn seconds_left(&self) -> Option<f64> {
        let running = self.running.iter().map(|running| {
            let done = running.part - running.first.unwrap_or(0.0);
            match done > 0.02 {
                true => Some(running.since.elapsed().as_secs_f64() * (1.0 - running.part) / done),
                false => Some(self.expected(&running.job)? * (1.0 - running.part)),
            }
        });
        let left = self.left.iter().map(|job| self.expected(job));
        let sum: Option<f64> = running.chain(left).sum();
        sum.map(|sum| sum.max(0.0) / self.workers as f64)
    }
}

impl std::fmt::Display for Forecast {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let finished = self.total - self.left.len() - self.running.len();
        write!(out, "{finished} of {} done", self.total)?;
        match self.seconds_left() {
            Some(seconds) => write!(out, ", {} left", time(seconds)),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fit_that_goes_on_from_another_is_not_nearly_done_and_counts_once() {
        let cells = Exhibit::Table(1).cells().into_iter().filter(|cell| {
            let pair = matches!(cell.row, Row::Gft | Row::GftR);
            pair && cell.column.name() == "f1-5" && cell.activation == Some(Activation::Fourier)
        });
        let plan = Plan {
            cells: cells.collect(),
            seeds: vec![1],
            lambda: Choice::Published,
        };
        let jobs = plan.jobs(&Settings::paper());
        let mut forecast = Forecast::new(&[], &jobs, 1);
        assert_eq!(forecast.seconds_left(), None);
        // The record of GFT-r counts from the start of GFT.
        forecast.learn(&jobs[0], 100.0);
        forecast.learn(&jobs[1], 160.0);
        assert_eq!(forecast.seconds_left(), Some(160.0));
        forecast.start(&jobs[0]);
        forecast.finish(&jobs[0], Some(100.0));
        forecast.start(&jobs[1]);
        forecast.move_to(&jobs[1], 0.5);
        assert_eq!(forecast.seconds_left(), Some(80.0));
    }
}
