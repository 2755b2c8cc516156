//! Progress on standard error: a bar on a terminal, plain lines into a file or pipe, nothing when asked to be quiet.

use std::cell::Cell;
use std::io::IsTerminal;

use indicatif::{ProgressBar, ProgressStyle};

/// Where progress goes.
pub enum Progress {
    /// A bar that redraws itself.
    Bar(ProgressBar),
    /// A line for every tenth of the way; holds the last tenth that was reported.
    Lines(Cell<u32>),
    /// Nowhere.
    Silent,
}

/// Steps of the bar.
const STEPS: u64 = 1000;

impl Progress {
    /// Chooses by what standard error is.
    pub fn new(quiet: bool) -> Self {
        if quiet {
            return Progress::Silent;
        }
        if !std::io::stderr().is_terminal() {
            return Progress::Lines(Cell::new(0));
        }
        let style = ProgressStyle::with_template("{bar:30} {percent:>3} %  {elapsed}  {msg}")
            .unwrap_or_else(|_| ProgressStyle::default_bar());
        Progress::Bar(ProgressBar::new(STEPS).with_style(style))
    }

    /// Says what is being done.
    pub fn note(&self, text: impl AsRef<str>) {
        match self {
            Progress::Bar(bar) => bar.println(text),
            Progress::Lines(_) => line(text.as_ref()),
            Progress::Silent => {}
        }
    }

    /// Says how far the work is, from 0 to 1, and where it stands.
    pub fn step(&self, done: f64, text: &str) {
        let done = done.clamp(0.0, 1.0);
        match self {
            Progress::Bar(bar) => {
                bar.set_position((done * STEPS as f64) as u64);
                bar.set_message(text.to_owned());
            }
            Progress::Lines(reported) => {
                let tenth = (10.0 * done) as u32;
                if tenth > reported.get() {
                    reported.set(tenth);
                    line(&format!("{:3.0} %  {text}", 100.0 * done));
                }
            }
            Progress::Silent => {}
        }
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        if let Progress::Bar(bar) = self {
            bar.finish_and_clear();
        }
    }
}

/// A line on standard error. That no one reads it is no reason to fail.
fn line(text: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stderr(), "{text}");
}
