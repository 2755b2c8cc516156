//! Progress on standard error: a bar on a terminal, plain lines in a file or pipe, nothing with `--quiet`.

use std::io::IsTerminal;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use thinfit::Phase;

use crate::terminal;

/// Progress of a task, with the remaining time. Any thread may report.
pub struct Progress {
    start: Instant,
    /// How long it stays silent.
    patience: Duration,
    place: Place,
    /// Progress of each run of a fit.
    runs: Mutex<Vec<f64>>,
}

/// Where progress goes.
enum Place {
    /// A bar that redraws itself.
    Bar(ProgressBar),
    /// A line for every tenth of the work; holds the last tenth that was reported.
    Lines(AtomicU32),
    /// Nowhere.
    Silent,
}

/// Steps of the bar.
const STEPS: u64 = 1000;

impl Progress {
    /// Chooses by the type of standard error.
    pub fn new(quiet: bool) -> Self {
        let place = if quiet {
            Place::Silent
        } else if std::io::stderr().is_terminal() {
            let style = ProgressStyle::with_template("{bar:30} {percent:>3} %  {msg}")
                .unwrap_or_else(|_| ProgressStyle::default_bar());
            Place::Bar(ProgressBar::new(STEPS).with_style(style))
        } else {
            Place::Lines(AtomicU32::new(0))
        };
        Progress {
            start: Instant::now(),
            patience: Duration::ZERO,
            place,
            runs: Mutex::new(Vec::new()),
        }
    }

    /// For work that is usually quick: silent in the first seconds.
    pub fn patient() -> Self {
        Progress {
            patience: Duration::from_secs(2),
            ..Progress::new(false)
        }
    }

    /// [`Progress::patient`], or silent.
    pub fn patient_unless(quiet: bool) -> Self {
        match quiet {
            true => Progress::new(true),
            false => Progress::patient(),
        }
    }

    /// For work whose end is not known, shown on a terminal only.
    pub fn counting(quiet: bool) -> Self {
        let progress = Progress::new(quiet);
        match progress.place {
            Place::Bar(_) => Progress {
                place: Place::Bar(ProgressBar::new_spinner()),
                ..progress
            },
            _ => Progress::new(true),
        }
    }

    /// Reports how many rows are done.
    pub fn rows(&self, rows: usize) {
        if let Place::Bar(bar) = &self.place {
            bar.set_message(format!("{rows} rows"));
            bar.tick();
        }
    }

    /// Reports what is being done.
    pub fn note(&self, text: impl AsRef<str>) {
        match &self.place {
            Place::Bar(bar) => bar.println(terminal::shown(text.as_ref())),
            Place::Lines(_) => line(text.as_ref()),
            Place::Silent => {}
        }
    }

    /// Prints a warning, even with `--quiet`.
    pub fn warn(&self, text: impl AsRef<str>) {
        match &self.place {
            Place::Silent => line(text.as_ref()),
            _ => self.note(text),
        }
    }

    /// Reports the progress of a fit by `method`.
    pub fn fit(&self, at: &thinfit::Progress<'_>, method: &str) {
        if matches!(self.place, Place::Silent) {
            return;
        }
        let done = {
            let mut runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
            runs.resize(at.runs, 0.0);
            runs[at.run] = at.done;
            runs.iter().sum::<f64>() / at.runs as f64
        };
        self.step(done, || describe(at, method));
    }

    /// Reports the progress from 0 to 1, the state and the remaining time; on a terminal only.
    pub fn stand(&self, done: f64, text: impl FnOnce() -> String) {
        if let Place::Bar(bar) = &self.place {
            bar.set_position((done.clamp(0.0, 1.0) * STEPS as f64) as u64);
            bar.set_message(text());
        }
    }

    /// Reports the progress from 0 to 1, and the state.
    pub fn step(&self, done: f64, text: impl FnOnce() -> String) {
        if self.start.elapsed() < self.patience {
            return;
        }
        let done = done.clamp(0.0, 1.0);
        let text = || {
            let left = self.start.elapsed().as_secs_f64() * (1.0 - done) / done.max(1e-3);
            format!("{}  {left:.0} s left", text())
        };
        match &self.place {
            Place::Bar(bar) => {
                bar.set_position((done * STEPS as f64) as u64);
                bar.set_message(text());
            }
            Place::Lines(reported) => {
                let tenth = (10.0 * done) as u32;
                if reported.fetch_max(tenth, Ordering::Relaxed) < tenth {
                    line(&format!("{:3.0} %  {}", 100.0 * done, text()));
                }
            }
            Place::Silent => {}
        }
    }

    /// Removes the bar.
    pub fn finish(&self) {
        if let Place::Bar(bar) = &self.place {
            bar.finish_and_clear();
        }
    }
}

/// The state of a fit, in brief.
fn describe(at: &thinfit::Progress<'_>, method: &str) -> String {
    if at.phase == Phase::Fit {
        return method.into();
    }
    let error = |name: &str, value: Option<f64>| {
        value.map_or(String::new(), |value| format!("  {name} {value:.1e}"))
    };
    format!(
        "{} {}/{}{}{}",
        at.phase.name(),
        at.step,
        at.steps,
        error("loss", at.loss),
        error("validation", at.validation)
    )
}

/// A line on standard error; failing to print it is not an error.
fn line(text: &str) {
    use std::io::Write;
    let _ = writeln!(terminal::stderr(), "{text}");
}
