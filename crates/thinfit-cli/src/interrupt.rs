//! Ctrl-C: the first asks the command to stop and keep its results so far, the second ends the program. If there are
//! no results to keep, the first ends it and removes partial files.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use thinfit::Control;

use crate::failure::Failure;
use crate::terminal;

/// Exit code of an interrupted program, as shells expect it.
pub const CODE: u8 = 130;

static ASKED: AtomicBool = AtomicBool::new(false);

/// Listens from now on; the first Ctrl-C prints what `happens` to the work.
pub fn listen(happens: &'static str) -> Result<(), Failure> {
    hear(move || {
        // A note that cannot be printed is not an error.
        let _ = writeln!(
            terminal::stderr(),
            "\nstopping, {happens}; press Ctrl-C again to quit at once"
        );
    })
}

/// From now on, leaves the first Ctrl-C to the process that represents all.
pub fn leave() -> Result<(), Failure> {
    hear(|| {})
}

fn hear(first: impl Fn() + Send + 'static) -> Result<(), Failure> {
    set_handler(move || {
        if ASKED.swap(true, Ordering::Relaxed) {
            std::process::exit(i32::from(CODE));
        }
        first();
    })
}

fn set_handler(handler: impl FnMut() + Send + 'static) -> Result<(), Failure> {
    ctrlc::set_handler(handler)
        .map_err(|error| Failure::new(format!("cannot listen for Ctrl-C: {error}")))
}

/// Removes a half-written file where Ctrl-C ends the program from now on.
pub fn tidy(half_written: &Path) -> Result<(), Failure> {
    static FILES: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
    let files = || FILES.lock().unwrap_or_else(PoisonError::into_inner);
    let is_first = files().is_empty();
    files().push(half_written.into());
    if !is_first {
        return Ok(());
    }
    set_handler(move || {
        for file in files().iter() {
            // A finished one has another name by now.
            let _ = std::fs::remove_file(file);
        }
        std::process::exit(i32::from(CODE));
    })
}

/// Whether the user has asked to stop.
pub fn asked() -> bool {
    ASKED.load(Ordering::Relaxed)
}

/// Tells a fit whether to continue.
pub fn control() -> Control {
    match asked() {
        true => Control::Stop,
        false => Control::Continue,
    }
}
