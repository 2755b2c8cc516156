//! The signal of a file that grows beyond the limit (`ulimit -f`), held back: the write fails as on a full disk, and the program
//! goes on.

/// Holds back the signal that would end the program; before any thread is started, since they take it from here.
#[cfg(unix)]
pub fn hold_back() {
    use nix::sys::signal::{SigSet, Signal};
    let mut signals = SigSet::empty();
    signals.add(Signal::SIGXFSZ);
    // Where it cannot be held back, it ends the program as before.
    let _ = signals.thread_block();
}

/// Other systems have no such limit.
#[cfg(not(unix))]
pub fn hold_back() {}
