//! The playground's half of thinfit: fits that advance in slices, behind a few functions of WebAssembly.
//!
//! A page and its workers speak to it in JSON: they write a [`Request`] to [`input`], [`call`] it and read the answer from
//! [`output`]. One instance holds one fit. The bytes of a file that was dropped on the page go through [`keep`]. Nothing here
//! knows of pages or pictures; what a browser offers, a clock and a way to speak before an answer is complete, is in `host`.
//!
//! A slice ends because the processor, which is a device like any other, is told to fail before the next step; the state was
//! kept a moment before, and the next slice resumes it. So a fit in slices gives the same bits as one in a go.

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
