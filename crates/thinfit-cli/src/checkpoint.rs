//! Saves the state of a running fit, at intervals that limit both the work lost and the overhead.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::terminal;

/// The shortest time between two saves.
const PAUSE: Duration = Duration::from_millis(500);
/// Saving takes at most one part in so many of the time.
const SHARE: u32 = 20;

/// Where states go, and when the last one went there.
pub struct Checkpoint {
    path: PathBuf,
    last: Mutex<Option<Save>>,
    /// Whether it was said that states cannot be saved.
    warned: AtomicBool,
}

struct Save {
    ended: Instant,
    took: Duration,
}

impl Checkpoint {
    /// Saves to this file.
    pub fn new(path: PathBuf) -> Self {
        Checkpoint {
            path,
            last: Mutex::new(None),
            warned: AtomicBool::new(false),
        }
    }

    /// Saves if it is time; the first call always does. `write` writes the state to a file; none if there is no state at present.
    pub fn offer(&self, write: impl FnOnce(&Path) -> Option<thinfit::Result<()>>) {
        let Ok(mut last) = self.last.try_lock() else {
            return;
        };
        let due = last
            .as_ref()
            .is_none_or(|save| save.ended.elapsed() > PAUSE.max(SHARE * save.took));
        if due {
            self.write(write, &mut last);
        }
    }

    /// Saves now.
    pub fn save(&self, write: impl FnOnce(&Path) -> Option<thinfit::Result<()>>) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        self.write(write, &mut last);
    }

    fn write(
        &self,
        write: impl FnOnce(&Path) -> Option<thinfit::Result<()>>,
        last: &mut Option<Save>,
    ) {
        let start = Instant::now();
        let Some(saved) = write(&self.path) else {
            return;
        };
        // A file that cannot be written now is tried again later, not at every step.
        *last = Some(Save {
            ended: Instant::now(),
            took: start.elapsed(),
        });
        if let Err(error) = saved {
            // Hours of work should not end because a disk is full for a while.
            if !self.warned.swap(true, Ordering::Relaxed) {
                let _ = writeln!(
                    terminal::stderr(),
                    "warning: the state is not saved: {error}"
                );
            }
        }
    }
}
