//! The program's allocator: the system's, except that running out of memory is reported as an error with exit code 2
//! instead of aborting.

// The trait of allocators is unsafe; everything is handed on as it comes.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, Ordering};

/// Exit code of an error.
const CODE: i32 = 2;

/// The system's allocator, which ends the program when memory runs out.
pub struct Allocator;

// SAFETY: every call is the system's, with the arguments of the caller.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract of this function, which is the same.
        given(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        given(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above.
        given(unsafe { System.realloc(place, layout, size) }, size)
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(place, layout) }
    }
}

/// The place, if there is one.
#[inline]
fn given(place: *mut u8, size: usize) -> *mut u8 {
    if place.is_null() {
        give_up(size);
    }
    place
}

/// Ends the program with a message. Nothing here allocates, and nothing waits for a lock that the caller may hold.
#[cold]
#[inline(never)]
fn give_up(size: usize) -> ! {
    static ENDING: AtomicBool = AtomicBool::new(false);
    if ENDING.swap(true, Ordering::Relaxed) {
        // Another thread is already printing the error.
        loop {
            std::thread::park();
        }
    }
    let mut digits = [0u8; 20];
    let parts: [&[u8]; 3] = [
        b"error: out of memory: ",
        decimal(size, &mut digits),
        b" more bytes are needed; raise the limit on memory (ulimit -v), use fewer threads with --threads, or give fewer rows or \
          columns\n",
    ];
    for part in parts {
        say(part);
    }
    end()
}

/// The digits of a number.
fn decimal(mut number: usize, digits: &mut [u8; 20]) -> &[u8] {
    let mut first = digits.len();
    loop {
        first -= 1;
        digits[first] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            return &digits[first..];
        }
    }
}

#[cfg(unix)]
fn say(text: &[u8]) {
    // Not through the standard library's handle, which this thread may be writing to.
    let _ = nix::unistd::write(std::io::stderr(), text);
}

#[cfg(unix)]
fn end() -> ! {
    // SAFETY: it takes any number; nothing that runs at an orderly exit, and may allocate, does.
    unsafe { nix::libc::_exit(CODE) }
}

#[cfg(not(unix))]
fn say(text: &[u8]) {
    use std::io::Write;
    let _ = std::io::stderr().write_all(text);
}

#[cfg(not(unix))]
fn end() -> ! {
    std::process::exit(CODE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_without_an_allocation() {
        for number in [0, 7, 10, 1_234_567, usize::MAX] {
            let mut digits = [0; 20];
            assert_eq!(decimal(number, &mut digits), number.to_string().as_bytes());
        }
    }
}
