//! File size limit (`ulimit -f`): exceeding it is a write error, like a full disk, and does not kill the program.

/// Holds back the signal that would end the program; before any thread is started, since they take it from here.
#[cfg(unix)]
pub fn hold_back() {
    use nix::sys::signal::{SigSet, Signal};
    let mut signals = SigSet::empty();
    signals.add(Signal::SIGXFSZ);
    // Where it cannot be held back, it ends the program as before.
    let _ = signals.thread_block();
}

/// Elsewhere there is no such limit.
#[cfg(not(unix))]
pub fn hold_back() {}
