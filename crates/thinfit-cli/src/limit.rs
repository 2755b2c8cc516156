//! The limit on the size of files (`ulimit -f`): a write beyond it is an error like that of a full disk, not the end of the
//! program.

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
