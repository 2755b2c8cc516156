//! The checks of each target.

pub mod configuration;
pub mod export;
pub mod model;
pub mod state;
pub mod table;

use thinfit_text::is_hidden;

/// An error is shown to users: it may have lines of its own and quote a file, but not all of it, nor characters that do something.
fn check_message(message: &str) {
    assert!(
        !message.lines().any(|line| line.contains(is_hidden)),
        "hidden characters in: {message:?}"
    );
    assert!(
        message.len() < 10_000,
        "a message of {} bytes",
        message.len()
    );
}
