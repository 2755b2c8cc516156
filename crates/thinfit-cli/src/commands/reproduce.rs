//! `thinfit reproduce`: does the fits of the paper's tables that are missing, and reports all that there are.

use std::collections::HashMap;
use std::io::Write;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use thinfit::file::write_whole;
use thinfit::{Activation, Lambda};
use thinfit_experiments::{
    Cell, Choice, Column, Entry, Error, Event, Exhibit, Figure1, Job, LANES, Ledger, Outcome, Plan,
    Report, Row, Settings, page, time,
};
use thinfit_methods::Device;

use crate::args::ReproduceArgs;
use crate::commands::plot::save;
use crate::device::gpu;
use crate::failure::Failure;
use crate::interrupt;
use crate::progress::Progress;
use crate::settings;

/// Plans, fits what is missing and reports; returns whether it was interrupted.
pub fn run(args: &ReproduceArgs, out: &mut impl Write) -> Result<bool, Failure> {
    let exhibits = exhibits(args)?;
    let changes = settings::changes(&args.set)?.into_iter().flatten();
    let settings = Settings::new(&args.preset, changes)?;
    let plan = Plan {
        cells: cells(args, &exhibits)?,
        seeds: (args.seeds.first..=args.seeds.last).collect(),
        lambda: lambda(&args.lambda)?,
    };
    if args.report && !args.out.is_dir() {
        return Err(Failure::new(format!(
            "there is no folder {} to report on; pass the --out of an earlier call, or drop --report",
            args.out.display()
        )));
    }
    let device = match args.device.as_str() {
        "cuda" if !(args.list || args.report) => Some(gpu()?),
        _ => None,
    };
    let ledger = Ledger::open(&args.out)?;
    if args.retry {
        ledger.retry();
    }
    if args.list {
        for job in &plan.jobs(&settings, &ledger) {
            let state = ledger.get(job).map_or("missing".into(), |e| outcome(&e));
            writeln!(out, "{job}: {state}")?;
        }
        return Ok(false);
    }
    let progress = Progress::new(args.quiet);
    if ledger.damaged() > 0 {
        progress.warn(format!(
            "{}: damaged lines ignored: {}; their fits count as missing",
            ledger.path().display(),
            ledger.damaged()
        ));
    }
    let ended = match args.report {
        true => Outcome::default(),
        false => fit_all(args, &plan, &ledger, &settings, device.as_ref(), &progress)?,
    };
    progress.finish();
    let report = Report::new(&exhibits, &plan, &settings, &ledger);
    write_report(out, &args.out, &report)?;
    if ended.failed > 0 && !ended.stopped {
        return Err(Failure::new(format!(
            "{} fits failed (see above); the same command tries them again",
            ended.failed
        )));
    }
    Ok(ended.stopped)
}

/// Does all jobs of a plan that are not in the ledger: first those that choose λ, then those that follow from them.
fn fit_all(
    args: &ReproduceArgs,
    plan: &Plan,
    ledger: &Ledger,
    settings: &Settings,
    device: Option<&Device>,
    progress: &Progress,
) -> Result<Outcome, Failure> {
    interrupt::listen("and saving unfinished fits; the same command resumes them")?;
    if let Some(name) = device.and_then(Device::name) {
        progress.note(format!(
            "F-Opt, GFT, GFT-r and plain networks are trained on {name}"
        ));
    }
    let mut jobs = plan.jobs(settings, ledger);
    loop {
        let ended = fit(args, &jobs, ledger, settings, device, progress)?;
        let next = plan.jobs(settings, ledger);
        if ended.stopped || next == jobs {
            return Ok(ended);
        }
        progress.note("λ is chosen; on to the fits with it");
        jobs = next;
    }
}

/// Does the jobs that are not in the ledger.
fn fit(
    args: &ReproduceArgs,
    jobs: &[Job],
    ledger: &Ledger,
    settings: &Settings,
    device: Option<&Device>,
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
        "{} of {} fits are already in {}",
        jobs.len() - missing.len(),
        jobs.len(),
        ledger.path().display()
    ));
    if failed > 0 {
        progress.warn(format!(
            "{failed} of them failed; `--list` shows why, `--retry` tries them again"
        ));
    }
    let missing = with_data(missing, progress);
    let workers = match args.jobs {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        jobs => jobs.into(),
    };
    let forecast = Mutex::new(Forecast::new(
        &ledger.entries(),
        &missing,
        workers,
        device.is_some(),
    ));
    let observe = |event: Event<'_>| {
        let mut forecast = forecast.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            Event::Moved(job, part) => {
                if forecast.move_to(job, part) {
                    progress.stand(forecast.done(), || forecast.to_string());
                }
            }
            Event::Finished(entry) => {
                forecast.finish(&entry.job, Some(entry));
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
            Event::Skipped(job) => {
                forecast.finish(job, None);
                progress.note(format!("{job}: left to another program"));
            }
        }
        interrupt::control()
    };
    Ok(thinfit_experiments::run(
        &missing, ledger, settings, workers, device, &observe,
    )?)
}

/// Writes the report in every form, and says where.
fn write_report(out: &mut impl Write, folder: &Path, report: &Report) -> Result<(), Failure> {
    let shown = report.exhibits.contains(&Exhibit::Figure1);
    let figure = shown.then(|| Figure1::read(report, folder));
    let figure = figure.filter(|figure| !figure.is_empty());
    if let Some(figure) = &figure {
        write_shares(out, figure)?;
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

/// Prints the shares of Figure 1.
fn write_shares(out: &mut impl Write, figure: &Figure1) -> Result<(), Failure> {
    writeln!(
        out,
        "part of Σ|b| within 0.1 of the lines that carry the function's Fourier transform, mean over seeds:\n"
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
    Ok(writeln!(out)?)
}

/// The tables and figures that were asked for, in the order of the paper.
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

/// The cells that the options select.
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
    // The option restricts only methods that have a choice.
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
            "{} has no cell with{}{}{}; drop an option, or name other tables",
            args.what.join(", "),
            shown("columns", &args.columns),
            shown("methods", &args.methods),
            shown("activations", &args.activations)
        )));
    }
    Ok(cells)
}

/// A word that no cell of the chosen tables matches.
fn nowhere(args: &ReproduceArgs, option: &str, word: &str) -> Failure {
    Failure::new(format!(
        "{} has no cell with --{option} {word}; drop it, or name a table that has it",
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
        ("validated", _) => Ok(Choice::Validated),
        ("paper", _) => Ok(Choice::Published),
        ("auto", _) => Ok(Choice::Given(Lambda::Auto)),
        (_, Ok(value)) if (0.0..f64::INFINITY).contains(&value) => {
            Ok(Choice::Given(Lambda::Fixed(value)))
        }
        _ => Err(Failure::new(format!(
            "--lambda: expected `validated`, `paper`, `auto` or a non-negative number such as 1e-3, found `{text}`"
        ))),
    }
}

/// The jobs whose data are available; warns once for each missing data set.
fn with_data(jobs: Vec<Job>, progress: &Progress) -> Vec<Job> {
    let mut known: HashMap<Column, bool> = HashMap::new();
    let mut available = |job: &Job| {
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
    jobs.into_iter().filter(|job| available(job)).collect()
}

/// The outcome of a fit, in a few words.
fn outcome(entry: &Entry) -> String {
    match (entry.mse, &entry.failure) {
        (Some(mse), _) => format!("{mse:.3e} in {}", time(entry.seconds)),
        (None, Some(failure)) => format!("no result: {failure}"),
        (None, None) => "no result".into(),
    }
}

/// How much is done, and how long the rest will take, judged by the mean time of a row's earlier fits. GFT-r counts from
/// the start of its GFT, so until that GFT is done the estimate is too long.
struct Forecast {
    workers: usize,
    /// Whether a device trains thinfit's own methods, beside the workers.
    device: bool,
    total: usize,
    left: Vec<Left>,
    /// Sum of the seconds, and number, of the fits of each row.
    seen: HashMap<Row, (f64, usize)>,
    shown: Instant,
}

/// A job that is not finished.
struct Left {
    job: Job,
    /// How far it is, from 0 to 1.
    part: f64,
    /// When it was first heard of, and how far it was then: it may resume a saved state.
    start: Option<(Instant, f64)>,
}

impl Left {
    /// Seconds of the whole fit at its present pace, once there is one.
    fn pace(&self) -> Option<f64> {
        let (start, first) = self.start?;
        let done = self.part - first;
        (done > 0.02).then(|| start.elapsed().as_secs_f64() / done)
    }
}

impl Forecast {
    fn new(entries: &[Entry], jobs: &[Job], workers: usize, device: bool) -> Self {
        let left = jobs.iter().map(|job| Left {
            job: job.clone(),
            part: 0.0,
            start: None,
        });
        let mut forecast = Forecast {
            workers,
            device,
            total: jobs.len(),
            left: left.collect(),
            seen: HashMap::new(),
            shown: Instant::now(),
        };
        for entry in entries {
            forecast.learn(entry);
        }
        forecast
    }

    /// Whether the fits of this row are trained on the device.
    fn on_device(&self, row: Row) -> bool {
        self.device && row.is_trained()
    }

    /// Takes note of the time of a fit, unless this call makes such fits elsewhere.
    fn learn(&mut self, entry: &Entry) {
        let row = entry.job.row;
        if entry.device.is_some() == self.on_device(row) {
            let (sum, count) = self.seen.entry(row).or_default();
            *sum += entry.seconds;
            *count += 1;
        }
    }

    /// Notes how far a job is; returns whether it is time to show it.
    fn move_to(&mut self, job: &Job, part: f64) -> bool {
        if let Some(left) = self.left.iter_mut().find(|left| left.job == *job) {
            left.part = part;
            left.start.get_or_insert_with(|| (Instant::now(), part));
        }
        let due = self.shown.elapsed().as_millis() > 200;
        if due {
            self.shown = Instant::now();
        }
        due
    }

    /// Takes a job off the list, with its entry if it was fitted.
    fn finish(&mut self, job: &Job, entry: Option<&Entry>) {
        self.left.retain(|left| left.job != *job);
        entry.into_iter().for_each(|entry| self.learn(entry));
    }

    /// Fraction of the jobs that are done.
    fn done(&self) -> f64 {
        let left: f64 = self.left.iter().map(|left| 1.0 - left.part).sum();
        1.0 - left / self.total.max(1) as f64
    }

    /// Seconds until all is done; none while a row has no fit to judge by.
    fn seconds_left(&self) -> Option<f64> {
        let mean = |row: Row| match self.seen.get(&row) {
            Some((sum, count)) => Some(sum / *count as f64),
            // The pace of a batch says nothing of one fit's share.
            None if self.on_device(row) => None,
            None => {
                let mut alike = self.left.iter().filter(|left| left.job.row == row);
                alike.find_map(Left::pace)
            }
        };
        let seconds = |left: &Left| Some((1.0 - left.part) * mean(left.job.row)?);
        let (device, workers): (Vec<_>, Vec<_>) =
            (self.left.iter()).partition(|left| self.on_device(left.job.row));
        let sum = |left: Vec<&Left>| left.into_iter().map(seconds).sum::<Option<f64>>();
        let device = sum(device)? / LANES as f64;
        Some(device.max(sum(workers)? / self.workers as f64))
    }
}

impl std::fmt::Display for Forecast {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let finished = self.total - self.left.len();
        write!(out, "{finished} of {} done", self.total)?;
        match self.seconds_left() {
            // An empty sum is −0.
            Some(seconds) => write!(out, ", {} left", time(seconds + 0.0)),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_is_judged_by_earlier_fits_of_the_same_row() {
        let mut cells = Exhibit::Table(1).cells();
        cells.retain(|cell| cell.row == Row::Gft && cell.column.name() == "f1-5");
        let plan = Plan {
            cells,
            seeds: vec![1, 2],
            lambda: Choice::Published,
        };
        let folder = std::env::temp_dir().join(format!("thinfit-forecast-{}", std::process::id()));
        let jobs = plan.jobs(&Settings::paper(), &Ledger::open(&folder).unwrap());
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(jobs.len(), 4, "two activations, two seeds");
        let mut forecast = Forecast::new(&[], &jobs, 2, false);
        assert_eq!((forecast.done(), forecast.seconds_left()), (0.0, None));
        let entry = |device: Option<&str>| Entry {
            job: jobs[0].clone(),
            mse: Some(1e-7),
            validation_mse: None,
            selected_lambda: None,
            parameters: None,
            seconds: 100.0,
            device: device.map(str::to_owned),
            batch: None,
            commit: String::new(),
            finished: 0,
            failure: None,
            config: serde_json::Value::Null,
        };
        // The time of a fit on another device says nothing.
        forecast.learn(&entry(Some("GPU")));
        assert_eq!(forecast.seconds_left(), None);
        forecast.finish(&jobs[0], Some(&entry(None)));
        assert_eq!(forecast.to_string(), "1 of 4 done, 150 s left");
        forecast.move_to(&jobs[1], 0.5);
        assert_eq!(
            (forecast.done(), forecast.seconds_left()),
            (0.375, Some(125.0))
        );
        // Another program did this one.
        forecast.finish(&jobs[2], None);
        assert_eq!(forecast.to_string(), "2 of 4 done, 75.0 s left");
        // A device does some batches at a time, however many workers there are.
        let forecast = Forecast::new(&[entry(Some("GPU"))], &jobs[1..], 2, true);
        assert_eq!(forecast.seconds_left(), Some(300.0 / LANES as f64));
    }
}
