//! `thinfit reproduce`: runs the missing fits of the paper's tables and reports all results.

use std::collections::HashMap;
use std::io::Write;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use thinfit::file::write_whole;
use thinfit::{Activation, Lambda, Winner};
use thinfit_experiments::{
    Cell, Choice, Column, Entry, Error, Event, Exhibit, Figure1, Ledger, Means, MpiWorkers,
    Outcome, Plan, Report, Row, Settings, page, time,
};
use thinfit_methods::Device;

use crate::args::ReproduceArgs;
use crate::commands::plot::save;
use crate::device::gpu;
use crate::failure::Failure;
use crate::forecast::Forecast;
use crate::interrupt;
use crate::output::tell_written;
use crate::progress::Progress;
use crate::ranks::Team;
use crate::settings;

/// Plans, fits what is missing and reports; returns whether it was interrupted. The first of several processes does it, with the
/// help of the others.
pub fn run(args: &ReproduceArgs, out: &mut impl Write) -> Result<bool, Failure> {
    let team = Team::join()?;
    let ended = match team.speaks() {
        true => lead(args, &team, out),
        false => follow(args, &team).map(|()| false),
    };
    ended.map_err(|failure| {
        // If it cannot be printed, the error has to suffice.
        let _ = out.flush();
        team.fail(failure)
    })
}

/// Follows the first process.
fn follow(args: &ReproduceArgs, team: &Team) -> Result<(), Failure> {
    if args.list || args.report {
        return Ok(());
    }
    // What is wrong with the options the first one says, which then does not come here.
    let others = MpiWorkers::join(team.executor(), workers(args))?;
    interrupt::leave()?;
    match others {
        Some(others) => Ok(others.serve(&asked(args)?, &args.out)?),
        None => Ok(()),
    }
}

/// The settings of the fits.
fn asked(args: &ReproduceArgs) -> Result<Settings, Failure> {
    let changes = settings::changes(&args.set)?.into_iter().flatten();
    Ok(Settings::new(&args.preset, changes)?)
}

/// Fits at a time on the processor.
fn workers(args: &ReproduceArgs) -> usize {
    match args.jobs {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        jobs => jobs.into(),
    }
}

/// Plans, fits what is missing and reports, as the first of the processes.
fn lead(args: &ReproduceArgs, team: &Team, out: &mut impl Write) -> Result<bool, Failure> {
    let exhibits = exhibits(args)?;
    let settings = asked(args)?;
    let plan = Plan {
        cells: cells(args, &exhibits)?,
        seeds: (args.seeds.first..=args.seeds.last).collect(),
        lambda: lambda(&args.lambda)?,
    };
    if args.report && !args.out.is_dir() {
        return Err(Failure::new(format!(
            "there is no folder {} to report on; pass the --output of an earlier call, or remove --report",
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
        false => {
            let others = MpiWorkers::join(team.executor(), workers(args))?;
            let means = Means {
                workers: workers(args),
                mpi_workers: others.as_ref(),
                device: device.as_ref(),
                lanes: args.batches.into(),
            };
            fit_all(&plan, &ledger, &settings, &means, &progress)?
        }
    };
    progress.finish();
    let report = Report::new(&exhibits, &plan, &settings, &ledger);
    write_report(out, &args.out, &report)?;
    if ended.failed > 0 && !ended.stopped {
        return Err(Failure::new(format!(
            "{} fits failed (see above); run the same command again to retry them",
            ended.failed
        )));
    }
    Ok(ended.stopped)
}

/// Does all jobs of a plan that are not in the ledger: those that choose λ, and those that follow from them.
fn fit_all(
    plan: &Plan,
    ledger: &Ledger,
    settings: &Settings,
    means: &Means<'_>,
    progress: &Progress,
) -> Result<Outcome, Failure> {
    interrupt::listen("and saving unfinished fits; the same command resumes them")?;
    if let Some(name) = means.device.and_then(Device::name) {
        progress.note(format!(
            "F-Opt, GFT, GFT-r and plain networks are trained on {name}"
        ));
    }
    let jobs = plan.jobs(settings, ledger);
    let (mut done, mut failed) = (0, 0);
    for job in &jobs {
        if ledger.has(job)? {
            done += 1;
            failed += usize::from(ledger.get(job).is_some_and(|entry| entry.mse.is_none()));
        }
    }
    progress.note(format!(
        "{done} of {} fits are already in {}",
        jobs.len(),
        ledger.path().display()
    ));
    if failed > 0 {
        progress.warn(format!(
            "{failed} of them failed; `--list` shows why, `--retry` repeats them"
        ));
    }
    let plan = Plan {
        cells: with_data(plan, progress),
        ..plan.clone()
    };
    let forecast = Mutex::new(Forecast::new(&ledger.entries(), means));
    let observe = |event: Event<'_>| {
        let mut forecast = forecast.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            Event::Planned(jobs) => forecast.add(jobs),
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
                progress.note(format!("{job}: another program is running it"));
            }
        }
        interrupt::control()
    };
    let known = || plan.jobs(settings, ledger);
    Ok(thinfit_experiments::run(
        &known, ledger, settings, means, &observe,
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
    writeln!(out, "cells with our own results:")?;
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
        tell_written(out, &path)?;
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
        "share of Σ|b| within 0.1 of the lines that carry the function's Fourier transform, mean over seeds:\n"
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
            "{} has no cell with{}{}{}; remove an option, or name other tables",
            args.what.join(", "),
            shown("columns", &args.columns),
            shown("methods", &args.methods),
            shown("activations", &args.activations)
        )));
    }
    Ok(cells)
}

/// The error of an argument that no cell of the chosen tables matches.
fn nowhere(args: &ReproduceArgs, option: &str, word: &str) -> Failure {
    Failure::new(format!(
        "{} has no cell with --{option} {word}; remove it, or name a table that has it",
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

/// The cells whose data are available; warns once for each missing data set.
fn with_data(plan: &Plan, progress: &Progress) -> Vec<Cell> {
    let mut known: HashMap<Column, bool> = HashMap::new();
    let mut available = |column: Column| {
        *known.entry(column).or_insert_with(|| match column.draw(0) {
            Err(error @ Error::Data(_)) => {
                progress.warn(format!("skipped: {column}: {error}"));
                false
            }
            _ => true,
        })
    };
    let cells = plan.cells.iter();
    cells
        .filter(|cell| available(cell.column))
        .cloned()
        .collect()
}

/// The outcome of a fit, in brief.
fn outcome(entry: &Entry) -> String {
    match (entry.mse, &entry.failure) {
        (Some(mse), _) => {
            let winner = entry.selection.as_ref().map(|selection| selection.winner);
            let winner = match winner {
                Some(Winner::PolishedRandom) => ", polished random features",
                Some(Winner::Polished) => ", polished features of the method",
                Some(Winner::Trained) | None => "",
            };
            format!("{mse:.3e} in {}{winner}", time(entry.seconds))
        }
        (None, Some(failure)) => format!("no result: {failure}"),
        (None, None) => "no result".into(),
    }
}
