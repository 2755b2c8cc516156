//! The state of a running fit, saved often enough to lose little and seldom enough to cost little.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use thinfit::Progress;

/// The shortest time between two saves.
const PAUSE: Duration = Duration::from_millis(500);
/// Saving takes at most one part in so many of the time.
const SHARE: u32 = 20;

/// Where states go, and when the last one went there.
pub struct Checkpoint {
    path: PathBuf,
    last: Mutex<Option<Save>>,
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
        }
    }

    /// Saves if it is time; the first call always does.
    pub fn offer(&self, at: &Progress<'_>) -> thinfit::Result<()> {
        let Ok(mut last) = self.last.try_lock() else {
            return Ok(());
        };
        let due = last
            .as_ref()
            .is_none_or(|save| save.ended.elapsed() > PAUSE.max(SHARE * save.took));
        if due {
            self.write(at, &mut last)
        } else {
            Ok(())
        }
    }

    /// Saves now.
    pub fn save(&self, at: &Progress<'_>) -> thinfit::Result<()> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        self.write(at, &mut last)
    }

    fn write(&self, at: &Progress<'_>, last: &mut Option<Save>) -> thinfit::Result<()> {
        let Some(state) = at.state() else {
            return Ok(());
        };
        let start = Instant::now();
        let saved = state.save(&self.path);
        // A file that cannot be written now is tried again later, not at every step.
        *last = Some(Save {
            ended: Instant::now(),
            took: start.elapsed(),
        });
        saved
    }
}
