//! Saves the state of a running fit, at intervals that limit both the work lost and the overhead.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::terminal;

/// The shortest time between two saves.
const PAUSE: Duration = Duration::from_millis(500);
/// Saving takes at most this fraction of the time, as its inverse.
const SHARE: u32 = 20;

/// The file of the states, and the time of the last one.
pub struct Checkpoint {
    path: PathBuf,
    last: Mutex<Option<Save>>,
    /// Whether a warning was printed that states cannot be saved.
    warned: AtomicBool,
}

struct Save {
    ended: Instant,
    took: Duration,
}

impl Checkpoint {
    /// Saves to this file.
    pub fn new(path: &Path) -> Self {
        Checkpoint {
            path: path.to_owned(),
            last: Mutex::new(None),
            warned: AtomicBool::new(false),
        }
    }

    /// Saves if it is time; the first call always does. `write` writes the state to a file, or returns `None` if there is no state yet.
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
            // A temporarily full disk should not end hours of work.
            if !self.warned.swap(true, Ordering::Relaxed) {
                let _ = writeln!(
                    terminal::stderr(),
                    "warning: the state is not saved: {error}"
                );
            }
        }
    }
}
