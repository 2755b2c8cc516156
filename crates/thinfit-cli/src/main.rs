//! The program `thinfit`.

mod allocator;

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: allocator::Allocator = allocator::Allocator;

/// Bytes of the stack of the program, which a limit of the shell (`ulimit -s`) does not lower.
const STACK: usize = 8 << 20;

fn main() -> ExitCode {
    let work = || thinfit_cli::run(std::env::args_os().collect());
    let thread = std::thread::Builder::new()
        .name("main".into())
        .stack_size(STACK);
    match thread.spawn(work).map(std::thread::JoinHandle::join) {
        Ok(Ok(code)) => code.into(),
        // It has printed the error.
        Ok(Err(panic)) => std::panic::resume_unwind(panic),
        Err(error) => {
            eprintln!(
                "error: cannot start a thread: {error}; raise the limits on memory and processes (ulimit -v, ulimit -u)"
            );
            2.into()
        }
    }
}
