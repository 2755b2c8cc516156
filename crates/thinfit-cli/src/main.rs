//! The `thinfit` program: parses the command line, runs the command, and turns the outcome into an exit code.
//!
//! 0: done. 2: an error, described on standard error.

mod args;
mod demo;
mod failure;
mod progress;

use std::io::Write;
use std::process::ExitCode;

use clap::Parser;

use crate::args::{Cli, Command};
use crate::failure::Failure;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let mut out = std::io::stdout().lock();
    let outcome = match cli.command {
        Some(Command::Demo(args)) => demo::run(&args, &mut out),
        None => demo::run(&cli.demo, &mut out),
    };
    match outcome.and_then(|()| Ok(out.flush()?)) {
        Ok(()) | Err(Failure::ReaderGone) => ExitCode::SUCCESS,
        Err(failure) => {
            // Where standard error is gone as well, the exit code has to do.
            let _ = writeln!(std::io::stderr(), "error: {failure}");
            ExitCode::from(2)
        }
    }
}
