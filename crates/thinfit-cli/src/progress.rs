//! Progress on standard error: a bar on a terminal, plain lines into a file or pipe, nothing when asked to be quiet.

use std::io::IsTerminal;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

use indicatif::{ProgressBar, ProgressStyle};

/// Progress of one piece of work, with the time it will still take. Any thread may report.
pub struct Progress {
    start: Instant,
    place: Place,
}

/// Where progress goes.
enum Place {
    /// A bar that redraws itself.
    Bar(ProgressBar),
    /// A line for every tenth of the way; holds the last tenth that was reported.
    Lines(AtomicU32),
    /// Nowhere.
    Silent,
}

/// Steps of the bar.
const STEPS: u64 = 1000;

impl Progress {
    /// Chooses by what standard error is.
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
            place,
        }
    }

    /// Says what is being done.
    pub fn note(&self, text: impl AsRef<str>) {
        match &self.place {
            Place::Bar(bar) => bar.println(text),
            Place::Lines(_) => line(text.as_ref()),
            Place::Silent => {}
        }
    }

    /// Says how far the work is, from 0 to 1, and where it stands.
    pub fn step(&self, done: f64, text: impl FnOnce() -> String) {
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

    /// Takes the bar away.
    pub fn finish(&self) {
        if let Place::Bar(bar) = &self.place {
            bar.finish_and_clear();
        }
    }
}

/// A line on standard error. That no one reads it is no reason to fail.
fn line(text: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stderr(), "{text}");
}
