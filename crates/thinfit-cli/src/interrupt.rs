//! Ctrl-C: the first asks the work to stop and keep its results so far, the second ends the program.

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};

use thinfit::Control;

use crate::failure::Failure;
use crate::terminal;

/// Exit code of an interrupted program, as shells expect it.
pub const CODE: u8 = 130;

static ASKED: AtomicBool = AtomicBool::new(false);

/// Listens from now on; the first Ctrl-C prints what `happens` to the work.
pub fn listen(happens: &'static str) -> Result<(), Failure> {
    hear(move || {
        // A note that no one reads is no reason to fail.
        let _ = writeln!(
            terminal::stderr(),
            "\nstopping, {happens}; press Ctrl-C again to quit at once"
        );
    })
}

/// Leaves the first Ctrl-C from now on to the process that speaks for all.
pub fn leave() -> Result<(), Failure> {
    hear(|| {})
}

fn hear(first: impl Fn() + Send + 'static) -> Result<(), Failure> {
    ctrlc::set_handler(move || {
        if ASKED.swap(true, Ordering::Relaxed) {
            std::process::exit(i32::from(CODE));
        }
        first();
    })
    .map_err(|error| Failure::new(format!("cannot listen for Ctrl-C: {error}")))
}

/// Whether the user has asked to stop.
pub fn asked() -> bool {
    ASKED.load(Ordering::Relaxed)
}

/// The answer to a fit that asks whether to go on.
pub fn control() -> Control {
    match asked() {
        true => Control::Stop,
        false => Control::Continue,
    }
}
