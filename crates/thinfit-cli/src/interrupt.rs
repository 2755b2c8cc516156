//! Ctrl-C: the first one asks the work to end and keep what it has, the second ends the program.

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};

use thinfit::Control;

use crate::failure::Failure;

/// Exit code of an interrupted program, as shells expect it.
pub const CODE: u8 = 130;

static ASKED: AtomicBool = AtomicBool::new(false);

/// Listens from now on; at the first Ctrl-C says what happens to the work.
pub fn listen(happens: &'static str) -> Result<(), Failure> {
    ctrlc::set_handler(move || {
        if ASKED.swap(true, Ordering::Relaxed) {
            std::process::exit(i32::from(CODE));
        }
        // That no one reads it is no reason to fail.
        let _ = writeln!(
            std::io::stderr(),
            "\nstopping, {happens}; once more to quit at once"
        );
    })
    .map_err(|error| Failure::new(format!("cannot listen for Ctrl-C: {error}")))
}

/// Whether the user asked to stop.
pub fn asked() -> bool {
    ASKED.load(Ordering::Relaxed)
}

/// What a fit that asks every now and then is told.
pub fn control() -> Control {
    match asked() {
        true => Control::Stop,
        false => Control::Continue,
    }
}
