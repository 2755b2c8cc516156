//! What the user may type; the comments are the help text.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

/// Learn thin two-layer networks from little data.
///
/// Without a command, runs the demo.
#[derive(Debug, Parser)]
#[command(name = "thinfit", version, args_conflicts_with_subcommands = true)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// Options of the demo, where no command is given.
    #[command(flatten)]
    pub demo: DemoArgs,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Learn Friedman-1 from 500 points, compare with the paper, and draw the fit.
    Demo(DemoArgs),
}

/// Options of `thinfit demo`.
#[derive(Args, Debug)]
pub struct DemoArgs {
    /// Folder for the pictures; made if it is not there.
    #[arg(long, value_name = "DIR", default_value = "thinfit-demo")]
    pub out: PathBuf,
    /// Seed of the data and of the fit; the same seed gives the same numbers.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// Show no progress.
    #[arg(short, long)]
    pub quiet: bool,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_grammar_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn options_reach_the_demo_with_and_without_its_name() {
        let named = Cli::try_parse_from(["thinfit", "demo", "--seed", "3", "-q"]).unwrap();
        assert!(matches!(named.command, Some(Command::Demo(args)) if args.seed == 3 && args.quiet));
        let bare = Cli::try_parse_from(["thinfit", "--out", "here"]).unwrap();
        assert!(bare.command.is_none());
        assert_eq!(bare.demo.out, PathBuf::from("here"));
    }
}
