//! File size limit (`ulimit -f`): exceeding it is a write error, like a full disk, and does not kill the program.

/// Blocks the signal that would end the program, before any thread is started, because threads inherit it.
#[cfg(unix)]
pub fn hold_back() {
    use nix::sys::signal::{SigSet, Signal};
    let mut signals = SigSet::empty();
    signals.add(Signal::SIGXFSZ);
    // If it cannot be blocked, it ends the program as before.
    let _ = signals.thread_block();
}

/// Other systems have no such limit.
#[cfg(not(unix))]
pub fn hold_back() {}
