//! `thinfit fit`: from a table to a model, with a word on how good it is.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use serde::Serialize;
use thinfit::{Control, Dataset, Model, State};
use thinfit_table::quoted;

use crate::args::FitArgs;
use crate::checkpoint::Checkpoint;
use crate::columns;
use crate::failure::Failure;
use crate::figure::{counted, figure};
use crate::interrupt;
use crate::output::check_output;
use crate::progress::Progress;
use crate::settings;

/// Everything that `--json` prints.
#[derive(Serialize)]
struct Summary<'a> {
    model: &'a Path,
    samples: usize,
    dropped: usize,
    inputs: &'a [String],
    outputs: &'a [String],
    width: usize,
    parameters: usize,
    lambda: f64,
    seconds: f64,
    interrupted: bool,
    validation: Validation<'a>,
}

/// Errors on the rows that trained nothing, per output.
#[derive(Serialize)]
struct Validation<'a> {
    rows: usize,
    mse: &'a [f64],
    r2: Vec<f64>,
    linear_mse: &'a [f64],
    mean_mse: &'a [f64],
}

/// Fits and saves; tells whether the fit was interrupted.
pub fn run(mut args: FitArgs, out: &mut impl Write) -> Result<bool, Failure> {
    let (config, given) = settings::resolve(&mut args)?;
    let path = args.data.clone().ok_or_else(|| {
        Failure::new("which table? give a file, as in `thinfit fit train.csv --target y`")
    })?;
    let output = args
        .output
        .clone()
        .unwrap_or_else(|| PathBuf::from("model.json"));
    check_output(&output, "-o", &[&path])?;
    if let Some(state) = &args.checkpoint {
        check_output(state, "--checkpoint", &[&path, &output])?;
    }
    let (data, dropped) = columns::samples(&args, &path)?;
    let state = match &args.resume {
        None => None,
        Some(file) => {
            let state = State::load(file)?;
            if given
                && *state.config()
                    != (thinfit::Config {
                        threads: 0,
                        ..config.clone()
                    })
            {
                return Err(Failure::new(format!(
                    "{}: this state belongs to a fit with other settings; give the same ones, or none: the state holds them",
                    file.display()
                )));
            }
            Some(state.on_threads(config.threads))
        }
    };

    let progress = Progress::new(args.quiet);
    progress.note(format!(
        "learning {} from {} inputs, {} samples",
        data.outputs.join(", "),
        data.dim(),
        data.samples()
    ));
    interrupt::listen()?;
    let checkpoint = args.checkpoint.clone().or(args.resume.clone());
    let checkpoint = checkpoint.map(Checkpoint::new);
    let warned = AtomicBool::new(false);
    let start = Instant::now();
    let observe = |at: &thinfit::Progress<'_>| {
        progress.fit(at);
        let stop = interrupt::asked();
        let saved = match &checkpoint {
            None => Ok(()),
            Some(checkpoint) if stop => checkpoint.save(at),
            Some(checkpoint) => checkpoint.offer(at),
        };
        if let Err(error) = saved {
            // Hours of work should not end because a disk is full for a while.
            if !warned.swap(true, Ordering::Relaxed) {
                let _ = writeln!(
                    std::io::stderr(),
                    "warning: the state is not saved: {error}"
                );
            }
        }
        if stop {
            Control::Stop
        } else {
            Control::Continue
        }
    };
    let model = match state {
        None => thinfit::fit(&data, &config, &observe),
        Some(state) => thinfit::resume(&data, state, &observe),
    }?;
    progress.finish();
    model.save(&output)?;

    let record = &model.record;
    let result = Summary {
        model: &output,
        samples: record.samples,
        dropped,
        inputs: &model.inputs,
        outputs: &model.outputs,
        width: model.width(),
        parameters: model.parameters(),
        lambda: record.lambda,
        seconds: start.elapsed().as_secs_f64(),
        interrupted: record.stopped,
        validation: Validation {
            rows: record.validation_samples,
            mse: &record.validation_mse,
            r2: (0..model.outputs.len())
                .map(|o| explained(record.validation_mse[o], record.validation_variance[o]))
                .collect(),
            linear_mse: &record.validation_linear,
            mean_mse: &record.validation_variance,
        },
    };
    if args.json {
        serde_json::to_writer(&mut *out, &result)?;
        writeln!(out)?;
    } else {
        write_report(out, &model, &result, &constant(&data))?;
        write_next(out, &args, &path, &output, record.stopped)?;
    }
    Ok(record.stopped)
}

/// r² = 1 − mse/variance, 0 where there is nothing to explain.
pub fn explained(mse: f64, variance: f64) -> f64 {
    if variance > 0.0 {
        1.0 - mse / variance
    } else {
        0.0
    }
}

fn write_report(
    out: &mut impl Write,
    model: &Model,
    result: &Summary<'_>,
    constant: &[&str],
) -> Result<(), Failure> {
    let (record, validation) = (&model.record, &result.validation);
    let dropped = match result.dropped {
        0 => String::new(),
        rows => format!(" ({} with missing values left out)", counted(rows, "row")),
    };
    writeln!(
        out,
        "{} {} in {:.1} s from {} samples{dropped}: {} {} neurons, {} parameters\n",
        if record.stopped {
            "interrupted; best fit of"
        } else {
            "fitted"
        },
        model.outputs.join(", "),
        result.seconds,
        record.samples,
        model.width(),
        model.activation().name(),
        result.parameters,
    )?;
    writeln!(
        out,
        "on {} rows that trained no neuron (they chose between candidates):\n",
        validation.rows
    )?;
    writeln!(out, "{:<24}{:>12}{:>14}", "", "rmse", "r²")?;
    for (o, name) in model.outputs.iter().enumerate() {
        let label = |text: &str| match model.outputs.len() {
            1 => text.to_owned(),
            _ => format!("{name}: {text}"),
        };
        let rows = [
            ("this model", validation.mse[o]),
            ("linear fit", validation.linear_mse[o]),
            ("predicting the mean", validation.mean_mse[o]),
        ];
        for (text, mse) in rows {
            let r2 = explained(mse, validation.mean_mse[o]);
            writeln!(
                out,
                "{:<24}{:>12}{:>14.9}",
                label(text),
                figure(mse.sqrt()),
                r2
            )?;
        }
    }
    let worse = (0..model.outputs.len())
        .filter(|&o| validation.mse[o] >= validation.linear_mse[o])
        .map(|o| model.outputs[o].as_str())
        .filter(|name| !constant.contains(name))
        .collect::<Vec<_>>();
    for name in constant {
        writeln!(
            out,
            "\n{name} has one value in all samples: there is nothing to learn"
        )?;
    }
    if !worse.is_empty() {
        writeln!(
            out,
            "\nno better than a linear fit for {}: with noisy or few samples try --lambda auto or a smaller --width",
            worse.join(", ")
        )?;
    }
    Ok(())
}

/// Outputs that have one value in all samples.
fn constant(data: &Dataset) -> Vec<&str> {
    let outputs = data.outputs.iter().enumerate();
    let flat = |o: usize| data.y.col_as_slice(o).windows(2).all(|w| w[0] == w[1]);
    let flat = outputs.filter(|(o, _)| flat(*o));
    flat.map(|(_, name)| name.as_str()).collect()
}

/// What was written, and commands to go on with.
fn write_next(
    out: &mut impl Write,
    args: &FitArgs,
    data: &Path,
    model: &Path,
    stopped: bool,
) -> Result<(), Failure> {
    let file = quoted(&model.to_string_lossy());
    writeln!(out, "\nwrote {}", model.display())?;
    match (stopped, args.checkpoint.as_ref().or(args.resume.as_ref())) {
        (true, Some(state)) => writeln!(out, "\nto go on:\n  {}", resuming(state))?,
        (true, None) => writeln!(
            out,
            "\nit cannot go on; with --checkpoint FILE a fit that is stopped can"
        )?,
        (false, _) => {}
    }
    let data = match data == Path::new("-") {
        true => "DATA.csv".into(),
        false => quoted(&data.to_string_lossy()),
    };
    writeln!(out, "\nnext:\n  thinfit inspect {file}")?;
    writeln!(
        out,
        "  thinfit plot {file} {data}{}",
        columns::typed(&args.table)
    )?;
    writeln!(out, "  thinfit predict {file} NEW.csv -o predicted.csv")?;
    Ok(())
}

/// The command that was given, but to go on from a saved state.
fn resuming(state: &Path) -> String {
    let mut words = vec!["thinfit".to_owned()];
    let mut given = std::env::args_os().skip(1);
    while let Some(word) = given.next() {
        let word = word.to_string_lossy();
        match word.split_once('=').map_or(&*word, |(option, _)| option) {
            "--checkpoint" | "--resume" => {
                if !word.contains('=') {
                    given.next();
                }
            }
            _ => words.push(quoted(&word)),
        }
    }
    words.push(format!("--resume {}", quoted(&state.to_string_lossy())));
    words.join(" ")
}
