//! The program `thinfit`: parses arguments, runs a command, prints errors and sets the exit code.
//!
//! Results go to standard output, everything else to standard error. Exit codes: 0 done, 2 error, 130 interrupted.

mod args;
mod checkpoint;
mod commands;
mod device;
mod digits;
mod extrapolation;
mod failure;
mod file_size_signal;
mod fit_plan;
mod forecast;
mod interrupt;
mod labels;
mod long;
mod memory;
mod notes;
mod output;
mod picture;
mod progress;
mod ranks;
mod settings;
mod shell;
mod table;
mod terminal;
mod threads;

use std::ffi::OsString;
use std::io::{BufWriter, Write};
use std::path::Path;

use clap::{CommandFactory, Parser};

use crate::args::{Cli, Command};
use crate::commands::{
    compare, data, demo, design, export, fit, inspect, minimise, plot, predict, propagate, report,
    reproduce, score, suggest,
};
use crate::failure::Failure;
use crate::fit_plan::MethodChoice;
use crate::memory::Memory;

/// Runs the program with these arguments, its own name first, and returns its exit code.
pub fn run(argv: Vec<OsString>) -> u8 {
    file_size_signal::hold_back();
    let cli = match Cli::try_parse_from(&argv) {
        Ok(cli) => cli,
        // Help and version are not errors, and neither is a closed reader.
        Err(answer) => {
            let _ = answer.print();
            if let Some(advice) = args::advice(&answer) {
                let _ = write!(terminal::stderr(), "{advice}");
            }
            return u8::try_from(answer.exit_code()).unwrap_or(2);
        }
    };
    let mut out = BufWriter::new(terminal::stdout());
    let outcome = threads::start().and_then(|()| dispatch(cli, &argv, &mut out));
    match outcome.and_then(|interrupted| Ok(out.flush().map(|()| interrupted)?)) {
        Ok(true) => interrupt::CODE,
        Ok(false) | Err(Failure::ReaderGone) => 0,
        Err(failure) => {
            // If standard error is closed as well, the exit code has to suffice.
            let _ = writeln!(terminal::stderr(), "error: {failure}");
            2
        }
    }
}

/// All settings of the fit that a configuration file asks for.
///
/// # Errors
/// What `thinfit fit --config` says is wrong with the file.
pub fn configuration(file: &Path) -> Result<serde_json::Value, String> {
    let method = MethodChoice::of_file(file).map_err(|failure| failure.to_string())?;
    Ok(method.request.settings())
}

/// Runs a command; tells whether it was interrupted.
fn dispatch(cli: Cli, argv: &[OsString], out: &mut impl Write) -> Result<bool, Failure> {
    let Some(command) = cli.command else {
        write!(out, "{}", Cli::command().render_help())?;
        return Ok(false);
    };
    let memory = cli.memory.unwrap_or_else(Memory::of_machine);
    match command {
        Command::Fit(args) => return fit::run(*args, argv, memory, out),
        Command::Compare(args) => return compare::run(&args, memory, out),
        Command::Predict(args) => predict::run(&args, memory, out)?,
        Command::Score(args) => score::run(&args, memory, out)?,
        Command::Inspect(args) => inspect::run(&args, memory, out)?,
        Command::Plot(args) => plot::run(&args, memory, out)?,
        Command::Report(args) => report::run(&args, memory, out)?,
        Command::Export(args) => export::run(&args, memory, out)?,
        Command::Design(args) => design::run(&args, memory, out)?,
        Command::Minimise(args) => minimise::run(&args, memory, out)?,
        Command::Propagate(args) => propagate::run(&args, memory, out)?,
        Command::Suggest(args) => suggest::run(&args, memory, out)?,
        Command::Data(args) => data::run(&args, memory, out)?,
        Command::Demo(args) => demo::run(&args, out)?,
        Command::Reproduce(args) => return reproduce::run(&args, out),
        Command::Completions { shell } => {
            // Into memory first, because the generator panics if the reader is gone.
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "thinfit", &mut script);
            out.write_all(&script)?;
        }
    }
    Ok(false)
}
