//! The WebAssembly module of the playground: fits that advance in time slices.
//!
//! A page and its workers exchange JSON with it: they write a [`Request`] to [`input`], [`call`] it and read the
//! answer from [`output`]. One instance holds one fit. The bytes of a file dropped on the page are passed to
//! [`keep`]. Nothing here depends on pages or plots; the services of the browser, a clock and a message channel, are
//! in `host`.
//!
//! A slice ends because the CPU backend is told to fail before the next step; the state has just been saved, and the
//! next slice resumes it. So a fit in slices gives the same bits as one without.

mod answer;
mod device;
mod frame;
mod host;
mod plain;
mod request;
mod samples;
mod session;
mod thin;

pub use answer::answer;
pub use request::{Learn, Network, Request, Settings, Source};
pub use samples::keep as keep_bytes;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// What the page writes.
static INPUT: Mutex<Vec<u8>> = Mutex::new(Vec::new());
/// What the page reads.
static OUTPUT: Mutex<Vec<u8>> = Mutex::new(Vec::new());

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Room for `len` bytes, which the page is to fill.
#[unsafe(no_mangle)]
pub extern "C" fn input(len: usize) -> *mut u8 {
    let mut input = locked(&INPUT);
    input.clear();
    input.resize(len, 0);
    input.as_mut_ptr()
}

/// Keeps the input as the file that later requests read.
#[unsafe(no_mangle)]
pub extern "C" fn keep() {
    samples::keep(std::mem::take(&mut *locked(&INPUT)));
}

/// Answers the request in the input; returns the length of the answer.
#[unsafe(no_mangle)]
pub extern "C" fn call() -> usize {
    let request = std::mem::take(&mut *locked(&INPUT));
    put(answer(&String::from_utf8_lossy(&request)))
}

/// Where the answer is, until the next call.
#[unsafe(no_mangle)]
pub extern "C" fn output() -> *const u8 {
    locked(&OUTPUT).as_ptr()
}

/// Leaves a text to be read; returns its length.
fn put(text: String) -> usize {
    let mut output = locked(&OUTPUT);
    *output = text.into_bytes();
    output.len()
}
