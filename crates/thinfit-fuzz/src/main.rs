//! Fuzzer for every file reader of thinfit: `cargo run -p thinfit-fuzz -- run`.
//!
//! Valid files (`corpus/`) are mutated at random, in their bytes or in their content, often with checksums and
//! lengths repaired so that the mutation reaches the code behind these checks. Each is read as a user would read it.
//! An input may be accepted or refused; it may not panic, abort, hang, take more than 10 s of processor time or 1 GiB
//! of memory, or give a number that is not finite or differs from that of another path. Batches of inputs run in
//! separate processes, so that any failure is traced to one input, which is kept.
//!
//! There is no instrumentation, which needs a nightly compiler or `unsafe`. Instead, an input that causes a new
//! message becomes a seed.

mod bytes;
mod corpus;
mod lines;
mod mat;
mod npy;
mod npz;
mod parquet;
mod random;
mod record;
mod run;
mod target;
mod targets;
mod tree;
mod worker;

use clap::{Parser, Subcommand};
use std::path::PathBuf;
use std::process::ExitCode;
use target::Target;

#[derive(Parser)]
#[command(about = "Damaged files for every reader of thinfit")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Tries many inputs and records the outcomes; continues an interrupted run of the same seed
    Run(run::Args),
    /// Tries files whose folder is named for a target, such as `corpus/npz/odd.npz`
    Replay {
        /// The files
        files: Vec<PathBuf>,
    },
    /// One batch of a run, in a process of its own
    #[command(hide = true)]
    Batch(worker::Batch),
}

fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Run(args) => run::run(&args),
        Command::Replay { files } => replay(&files),
        Command::Batch(batch) => worker::work(&batch).map(|()| true),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

/// Tries files and says what became of each.
fn replay(files: &[PathBuf]) -> Result<bool, String> {
    let scratch = std::env::temp_dir().join(format!("thinfit-replay-{}", std::process::id()));
    for file in files {
        let folder = file.parent().and_then(|folder| folder.file_name());
        let target = folder.and_then(|name| Target::named(&name.to_string_lossy()));
        let target = target.ok_or_else(|| {
            let names: Vec<_> = Target::ALL.iter().map(|target| target.name()).collect();
            let (file, names) = (file.display(), names.join(", "));
            format!("{file}: expected a folder named for a target, one of {names}")
        })?;
        let bytes = std::fs::read(file).map_err(|error| format!("{}: {error}", file.display()))?;
        std::fs::create_dir_all(&scratch).map_err(|error| error.to_string())?;
        let (outcome, cost) = worker::measured(|| target.survive(&bytes, &scratch));
        let (seconds, megabytes) = (cost.seconds, cost.memory as f64 / 1e6);
        println!(
            "{}: {outcome:?}, {seconds:.3} s, {megabytes:.1} MB",
            file.display()
        );
        cost.check();
    }
    let _ = std::fs::remove_dir_all(&scratch);
    Ok(true)
}
