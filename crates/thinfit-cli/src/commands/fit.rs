//! `thinfit fit`: fits a model to a table and reports its accuracy.

use std::ffi::OsString;
use std::io::Write;
use std::path::Path;
use std::time::Instant;

use serde::Serialize;
use thinfit::pieces::SingleProcess;
use thinfit::{
    Dataset, Dependence, Diagnosis, Grouping, Model, OutOfCoreTable, Record, Selection, Winner,
    on_threads,
};
use thinfit_methods::{
    Auto, Device, LongState, Method, Predictor, explained, in_groups, rmse_error,
};

use crate::args::FitArgs;
use crate::checkpoint::Checkpoint;
use crate::device::gpu;
use crate::digits::{column_width, counted, four_digits, r2_digits, two_digits};
use crate::failure::Failure;
use crate::fit_plan::{FitPlan, MethodChoice};
use crate::interrupt;
use crate::long;
use crate::memory::Memory;
use crate::notes;
use crate::progress::Progress;
use crate::ranks::Team;
use crate::shell::quoted;
use crate::table::samples::{Samples, samples};

/// Everything that `--json` prints.
#[derive(Serialize)]
struct Summary<'a> {
    model: &'a Path,
    samples: usize,
    dropped: usize,
    /// Number of cells filled with means or the most frequent text.
    filled: usize,
    /// The groups of rows that stayed together, if there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    groups: Option<&'a Grouping>,
    inputs: &'a [String],
    outputs: &'a [String],
    method: &'a str,
    /// Of a network only.
    width: Option<usize>,
    /// Where the method has one.
    lambda: Option<f64>,
    parameters: usize,
    /// The GPU that it was trained on, or `cpu`.
    device: &'a str,
    seconds: f64,
    interrupted: bool,
    /// Also by its own clock.
    stopped_early: bool,
    /// `None` if the method holds nothing out.
    validation: Option<Validation>,
    /// Where there was a polish.
    #[serde(skip_serializing_if = "Option::is_none")]
    selection: Option<&'a Selection>,
    /// Of `auto` only.
    #[serde(skip_serializing_if = "Option::is_none")]
    diagnosis: Option<&'a Diagnosis>,
}

/// Cross-validation or validation errors, per output.
#[derive(Serialize)]
struct Validation {
    rows: usize,
    mse: Vec<f64>,
    r2: Vec<f64>,
    /// Standard errors of the roots of `mse`, where they are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    rmse_error: Option<Vec<f64>>,
    /// Of a linear fit.
    linear_mse: Vec<f64>,
    mean_mse: Vec<f64>,
}

impl Validation {
    fn of(record: &Record) -> Option<Self> {
        if record.validation_mse.is_empty() {
            return None;
        }
        let errors = record.validation_mse.iter();
        let r2 = errors
            .zip(&record.validation_variance)
            .map(|(mse, mean)| explained(*mse, *mean));
        Some(Validation {
            rows: record.validation_samples,
            r2: r2.collect(),
            rmse_error: (0..record.validation_mse.len())
                .map(|o| rmse_error(record, o))
                .collect(),
            mse: record.validation_mse.clone(),
            linear_mse: record.validation_linear.clone(),
            mean_mse: record.validation_variance.clone(),
        })
    }
}

/// Fits and saves; tells whether the fit was interrupted. `typed` is the command line.
pub fn run(
    args: FitArgs,
    typed: &[OsString],
    memory: Memory,
    out: &mut impl Write,
) -> Result<bool, Failure> {
    let team = Team::join()?;
    fit_with(&team, args, typed, memory, out).map_err(|failure| team.fail(failure))
}

fn fit_with(
    team: &Team,
    args: FitArgs,
    typed: &[OsString],
    memory: Memory,
    out: &mut impl Write,
) -> Result<bool, Failure> {
    let plan = FitPlan::resolve(args, memory, team.executor())?;
    plan.check_files()?;
    let progress = Progress::new(plan.quiet || !team.speaks());
    let start = Instant::now();
    let fitted = match open(&plan, (team, &progress))? {
        Table::InBlocks(auto, table) => fit_in_blocks(&plan, (auto, &table), (team, &progress))?,
        Table::InMemory(samples) => fit_in_memory(&plan, *samples, (team, &progress))?,
    };
    if !team.speaks() {
        return Ok(false);
    }
    let seconds = start.elapsed().as_secs_f64();
    progress.finish();
    fitted.model.save(&plan.output)?;
    report(out, (&plan, typed), &fitted, seconds)
}

/// Prints the result; tells whether the fit was interrupted.
fn report(
    out: &mut impl Write,
    (plan, typed): (&FitPlan, &[OsString]),
    fitted: &Fitted,
    seconds: f64,
) -> Result<bool, Failure> {
    let model = &fitted.model;
    let (network, record) = (model.network().ok(), model.record());
    let result = Summary {
        model: &plan.output,
        samples: record.samples,
        dropped: fitted.dropped,
        filled: fitted.filled,
        groups: record.groups.as_ref(),
        inputs: model.inputs(),
        outputs: model.outputs(),
        method: &record.method,
        width: network.map(Model::width),
        lambda: network.and_then(|_| record.regulariser()),
        parameters: model.parameters(),
        device: record.device.as_deref().unwrap_or("cpu"),
        seconds,
        interrupted: interrupt::asked() && record.stopped,
        stopped_early: record.stopped,
        validation: Validation::of(record),
        selection: record.selection.as_ref(),
        diagnosis: record.diagnosis.as_ref(),
    };
    if plan.json {
        serde_json::to_writer(&mut *out, &result)?;
        writeln!(out)?;
    } else {
        write_report(out, model, &result, &fitted.constant)?;
        write_next(out, (plan, typed), model)?;
    }
    // A fit cut short by its time limit is complete.
    Ok(result.interrupted)
}

/// The result of a fit to a table.
struct Fitted {
    model: Predictor,
    /// Rows left out because of missing values.
    dropped: usize,
    /// Missing values that were filled.
    filled: usize,
    /// Outputs that have one value in all samples.
    constant: Vec<String>,
}

/// The table of a fit.
enum Table<'a> {
    /// Read again for every pass of `auto`.
    InBlocks(&'a Auto, long::Files<'a>),
    /// Read whole.
    InMemory(Box<Samples>),
}

/// Opens the table, to read it in blocks if it is longer than one wants in memory and the method can.
fn open<'a>(
    plan: &'a FitPlan,
    (team, progress): (&Team, &'a Progress),
) -> Result<Table<'a>, Failure> {
    if let Method::Auto(auto) = &plan.method.request.method
        && let Some(table) = open_blocks(plan, (team, progress))?
    {
        return Ok(Table::InBlocks(auto, table));
    }
    if team.executor().size() > 1 {
        check_shared(plan)?;
    }
    let samples = samples(&plan.table, &plan.columns)?;
    if team.speaks() {
        samples.tell(progress);
    }
    Ok(Table::InMemory(Box::new(samples)))
}

/// The table to read in blocks; none if it fits into memory or has weights.
fn open_blocks<'a>(
    plan: &'a FitPlan,
    (team, progress): (&Team, &'a Progress),
) -> Result<Option<long::Files<'a>>, Failure> {
    let (columns, states) = (&plan.columns, &plan.states);
    if columns.weights.is_some() {
        return Ok(None);
    }
    if columns.groups.is_some() {
        // Several processes read a table as a whole if one process would.
        return match long::Files::open(&plan.table, columns, states, &SingleProcess, progress)? {
            None => Ok(None),
            Some(_) => Err(Failure::new(
                "--groups: the table is too long to be read at once, and one that is read in blocks is split row by row; fit a \
                 part of the groups, leave --groups out, or take a method that reads it whole, such as --method gft-r",
            )),
        };
    }
    let executor = team.executor();
    long::Files::open(&plan.table, columns, states, executor, progress)
}

/// Refuses what several processes cannot share.
fn check_shared(plan: &FitPlan) -> Result<(), Failure> {
    let method = &plan.method.request.method;
    if plan.states.saved().is_some() {
        return Err(Failure::new(
            "--checkpoint and --resume need a single process; run without mpirun, or remove them",
        ));
    }
    match method.is_shared() {
        true => Ok(()),
        false => Err(Failure::new(format!(
            "several processes cannot share `{}` with these settings; start one process, or use auto, gft-r or random with several starts \
             of the polish, or f-opt, gft or gft-r with --lambda auto",
            method.name()
        ))),
    }
}

/// Fits samples in memory.
fn fit_in_memory(
    plan: &FitPlan,
    samples: Samples,
    (team, progress): (&Team, &Progress),
) -> Result<Fitted, Failure> {
    let Samples { data, encoding, .. } = samples;
    let mut model = fit(plan, &data, (team, progress))?;
    model.set_rows(&samples.rows);
    if let Some(groups) = &plan.columns.groups {
        model.set_groups_column(groups);
    }
    if let Some(encoding) = encoding {
        model.set_encoding(encoding);
    }
    model.set_units(&notes::units(&samples.notes));
    Ok(Fitted {
        model,
        dropped: samples.dropped,
        filled: samples.filled,
        constant: constant(&data),
    })
}

/// Fits a table that is read in blocks.
fn fit_in_blocks(
    plan: &FitPlan,
    (auto, table): (&Auto, &long::Files<'_>),
    (team, progress): (&Team, &Progress),
) -> Result<Fitted, Failure> {
    let MethodChoice {
        request,
        has_settings,
        ..
    } = &plan.method;
    let (states, executor) = (&plan.states, team.executor());
    let rows = table.rows().map_or("many".into(), |rows| rows.to_string());
    progress.note(format!(
        "learning {} from {} inputs, {rows} samples, read in blocks",
        table.outputs().join(", "),
        table.inputs().len(),
    ));
    team.listen(match executor.size() {
        1 => "and saving the best so far, if there is a model yet",
        _ => "all processes; --resume continues from a saved state",
    })?;
    let observe = |at: &thinfit::Progress<'_>| {
        progress.fit(at, Auto::NAME);
        interrupt::control()
    };
    let names = (table.inputs(), table.outputs());
    let new = LongState::new(auto.clone(), request.seed, names, table.identity());
    let state = match &states.resume {
        None => new,
        Some(file) => {
            let state = plan.table.memory().load_long_state(file)?;
            let flaw = match () {
                _ if !state.is_of_table(&new) => {
                    Some("to another table; give the same files and columns")
                }
                _ if *has_settings && !state.is_of(&new) => Some(
                    "with other settings; give the same ones, or none, since the state contains them",
                ),
                _ => None,
            };
            if let Some(flaw) = flaw {
                return Err(Failure::new(format!(
                    "{}: this state belongs to a fit {flaw}",
                    file.display()
                )));
            }
            if state.is_surveyed() {
                table.skip_first_pass();
            }
            state
        }
    };
    let checkpoint = states.saved().map(Checkpoint::new);
    let mut keep = |state: &LongState| {
        let write = |path: &Path| Some(state.save(path));
        match &checkpoint {
            None => {}
            Some(checkpoint) if state.is_between_passes() => checkpoint.save(write),
            Some(checkpoint) => checkpoint.offer(write),
        }
    };
    let fitted = on_threads(request.threads, || {
        Auto::resume_long(state, table, executor, &mut keep, &observe)
    });
    let (mut model, dropped) = fitted.map_err(|error| table.explain(error))?;
    model.set_units(table.units());
    Ok(Fitted {
        model,
        dropped: usize::try_from(dropped).unwrap_or(usize::MAX),
        filled: 0,
        constant: vec![],
    })
}

/// Fits, from a saved state if there is one.
fn fit(
    plan: &FitPlan,
    data: &Dataset,
    (team, progress): (&Team, &Progress),
) -> Result<Predictor, Failure> {
    let MethodChoice {
        request,
        has_settings,
        placement,
    } = &plan.method;
    let (states, memory) = (&plan.states, plan.table.memory());
    let state = match &states.resume {
        None => None,
        Some(file) => {
            let state = memory.load_state(file)?;
            if *has_settings && !state.is_of(&request.config()?) {
                return Err(Failure::new(format!(
                    "{}: this state belongs to a fit with other settings; give the same ones, or none, since the state contains them",
                    file.display()
                )));
            }
            Some(state)
        }
    };
    let method = state.as_ref().map(|state| state.config().clone());
    let method = method.map_or_else(|| request.method.clone(), Method::Thin);
    let (m, d, c) = (data.samples(), data.dim(), data.y.ncols());
    let what = format!("{} of {m} rows and {d} inputs takes", method.name());
    let advice = "fit fewer rows or columns, or by another --method";
    memory.allow(&what, method.memory(m, d, c), advice)?;
    let device = placement.device(&method, data, gpu)?;
    announce(data, &device, (team, progress))?;
    if states.checkpoint.is_some() && !has_settings {
        progress.note(format!(
            "method {}: --checkpoint selects it, because auto saves its state only for tables that are read in blocks",
            method.name()
        ));
    }
    let checkpoint = states.saved().map(Checkpoint::new);
    let method = request.method.name();
    let observe = |at: &thinfit::Progress<'_>| {
        progress.fit(at, method);
        let write = |path: &Path| at.state().map(|state| state.save(path));
        match &checkpoint {
            None => {}
            Some(checkpoint) if interrupt::asked() => checkpoint.save(write),
            Some(checkpoint) => checkpoint.offer(write),
        }
        interrupt::control()
    };
    let model = match state {
        None => request.fit_over(team.executor(), &device, data, &observe)?,
        Some(state) => request.resume_on(&device, data, state, &observe)?,
    };
    if let Some(why) = device.left() {
        progress.warn(format!("trained on the CPU: {why}"));
    }
    Ok(model)
}

/// Announces the fit, and listens for Ctrl-C from now on.
fn announce(
    data: &Dataset,
    device: &Device,
    (team, progress): (&Team, &Progress),
) -> Result<(), Failure> {
    progress.note(format!(
        "learning {} from {} inputs, {} samples{}",
        data.outputs.join(", "),
        data.dim(),
        data.samples(),
        on(device.name()),
    ));
    team.listen("and saving the best so far")
}

/// Where a network is trained, if not on the CPU.
fn on(device: Option<&str>) -> String {
    device.map_or_else(String::new, |name| format!(" on {name}"))
}

/// The fitted model, its accuracy, and advice if it is poor.
fn write_report(
    out: &mut impl Write,
    model: &Predictor,
    result: &Summary<'_>,
    constant: &[String],
) -> Result<(), Failure> {
    let dropped = format!(
        "{} with missing values dropped",
        counted(result.dropped, "row")
    );
    let filled = format!(
        "{} replaced by means or the most frequent text",
        counted(result.filled, "missing value")
    );
    let gaps = [(result.dropped, dropped), (result.filled, filled)];
    let gaps: Vec<String> = gaps
        .into_iter()
        .filter(|gap| gap.0 > 0)
        .map(|gap| gap.1)
        .collect();
    let gaps = match gaps.is_empty() {
        true => String::new(),
        false => format!(" ({})", gaps.join(", ")),
    };
    let fitted = match (result.interrupted, result.stopped_early) {
        (true, _) => "interrupted; best fit of",
        (false, true) => "cut short, far over its budget; best fit of",
        (false, false) => "fitted",
    };
    let kind = model.kind();
    writeln!(
        out,
        "{fitted} {} in {:.1} s{} from {} samples{}{gaps}: {kind}, {}\n",
        result.outputs.join(", "),
        result.seconds,
        on(model.record().device.as_deref()),
        result.samples,
        in_groups(model.record()),
        counted(result.parameters, "parameter"),
    )?;
    let Some(validation) = &result.validation else {
        writeln!(
            out,
            "no rows were held out; measure the error with `thinfit score` on other rows"
        )?;
        return Ok(());
    };
    writeln!(out, "{}:\n", model.validation())?;
    let selection = model.record().selection.as_ref();
    write_errors(out, result.outputs, validation, (result.method, selection))?;
    if let Some(selection) = selection {
        let scale = model.record().start_scale;
        let method = result.method;
        let winner = match (selection.winner, scale) {
            (Winner::PolishedRandom, scale) => {
                let scale = scale.map_or_else(String::new, |scale| format!(" of scale {scale}"));
                let others = match method {
                    "random" => String::new(),
                    method => format!(", not those of {method}"),
                };
                format!("polished random features{scale}{others}")
            }
            (Winner::Polished, _) => format!("polished features of {method}"),
            (Winner::Trained, _) => {
                format!("features of {method}, which the polish did not improve")
            }
        };
        writeln!(out, "\nselected by validation: {winner}")?;
    }
    if let Some(found) = model.diagnosis() {
        write!(out, "\n{found}")?;
    }
    write_hints(out, model)?;
    for name in constant {
        writeln!(
            out,
            "\n{name} is constant in all samples: there is nothing to learn"
        )?;
    }
    let worse = (0..result.outputs.len())
        .filter(|&o| validation.mse[o] >= validation.linear_mse[o])
        .map(|o| result.outputs[o].as_str())
        .filter(|name| !constant.iter().any(|other| other == name))
        .collect::<Vec<_>>();
    let is_mean = model
        .record()
        .diagnosis
        .as_ref()
        .is_some_and(Diagnosis::is_mean);
    if !worse.is_empty() && !is_mean {
        let advice = match result.method {
            Auto::NAME => "the function is nearly linear, or noise hides the rest",
            name if Method::THIN.contains(&name) => {
                "with noisy or few samples try --lambda auto, a smaller --width, or the method auto"
            }
            _ => "try another method, or auto",
        };
        let worse = worse.join(", ");
        writeln!(out, "\nno better than a linear fit for {worse}: {advice}")?;
    }
    Ok(())
}

/// Options that change the assumptions of the fit about the rows.
fn write_hints(out: &mut impl Write, model: &Predictor) -> Result<(), Failure> {
    let record = model.record();
    let depends = |sign: &Dependence| !matches!(sign, Dependence::NearRepeats { .. });
    if record.groups.is_none() && record.dependence.iter().any(depends) {
        writeln!(
            out,
            "\nto hold out whole groups of rows, name their column: --groups COLUMN"
        )?;
    }
    let found = record.diagnosis.as_ref();
    if found.is_some_and(|found| !found.outliers.is_empty()) {
        writeln!(out, "\nto keep all rows: --set robust=false")?;
    }
    Ok(())
}

/// The table of held-out errors: of the model, of a linear fit and of the mean.
fn write_errors(
    out: &mut impl Write,
    outputs: &[String],
    validation: &Validation,
    (method, selection): (&str, Option<&Selection>),
) -> Result<(), Failure> {
    let selection = selection.filter(|selection| selection.winner != Winner::Trained);
    let unpolished = format!("{method} without polish");
    let label = |name: &str, text: &str| match outputs.len() {
        1 => text.to_owned(),
        _ => format!("{name}: {text}"),
    };
    const MEAN: &str = "predicting the mean";
    let labels: Vec<String> = outputs.iter().map(|name| label(name, MEAN)).collect();
    let first = column_width(labels.iter().map(String::as_str), 24);
    writeln!(out, "{:<first$}{:>12}{:>14}", "", "rmse", "r²")?;
    for (o, name) in outputs.iter().enumerate() {
        let rows = [
            Some(("this model", validation.mse[o])),
            selection.map(|selection| (unpolished.as_str(), selection.trained_mse[o])),
            Some(("linear fit", validation.linear_mse[o])),
            Some((MEAN, validation.mean_mse[o])),
        ];
        for (text, mse) in rows.into_iter().flatten() {
            let label = label(name, text);
            let (rmse, r2) = (
                four_digits(mse.sqrt()),
                r2_digits(explained(mse, validation.mean_mse[o])),
            );
            let error = match &validation.rmse_error {
                Some(errors) if text == "this model" => {
                    format!("   rmse ± {}", two_digits(errors[o]))
                }
                _ => String::new(),
            };
            writeln!(out, "{label:<first$}{rmse:>12}{r2:>14}{error}")?;
        }
    }
    Ok(())
}

/// Outputs that have one value in all samples.
fn constant(data: &Dataset) -> Vec<String> {
    let outputs = data.outputs.iter().enumerate();
    let flat = |o: usize| data.y.col_as_slice(o).windows(2).all(|w| w[0] == w[1]);
    let flat = outputs.filter(|(o, _)| flat(*o));
    flat.map(|(_, name)| name.clone()).collect()
}

/// The files written, and suggested next commands.
fn write_next(
    out: &mut impl Write,
    (plan, typed): (&FitPlan, &[OsString]),
    model: &Predictor,
) -> Result<(), Failure> {
    let (data, file) = (plan.data.as_path(), plan.output.as_path());
    writeln!(out, "\nwrote {}", file.display())?;
    let file = quoted(&file.to_string_lossy());
    match (model.record().stopped, plan.states.saved()) {
        (true, Some(state)) => writeln!(out, "\nto continue:\n  {}", resuming(typed, state))?,
        (true, None) if Method::THIN.contains(&model.record().method.as_str()) => writeln!(
            out,
            "\nnot resumable: the fit was started without --checkpoint"
        )?,
        _ => {}
    }
    let data = match data == Path::new("-") {
        true => "DATA.csv".into(),
        false => quoted(&data.to_string_lossy()),
    };
    writeln!(out, "\nnext:\n  thinfit inspect {file}")?;
    writeln!(out, "  thinfit plot {file} {data}{}", plan.table.typed())?;
    writeln!(out, "  thinfit predict {file} NEW.csv -o predicted.csv")?;
    Ok(())
}

/// The given command, changed to continue from a saved state.
fn resuming(given: &[OsString], state: &Path) -> String {
    let mut command = vec!["thinfit".to_owned()];
    let mut given = given.iter().skip(1);
    while let Some(word) = given.next() {
        let word = word.to_string_lossy();
        match word.split_once('=').map_or(&*word, |(option, _)| option) {
            "--checkpoint" | "--resume" => {
                if !word.contains('=') {
                    given.next();
                }
            }
            _ => command.push(quoted(&word)),
        }
    }
    command.push(format!("--resume {}", quoted(&state.to_string_lossy())));
    command.join(" ")
}
