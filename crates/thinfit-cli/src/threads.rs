//! The number of threads if no option sets it.

use std::error::Error;

use crate::failure::Failure;

/// Maximum number of threads, as for `--threads`.
const MOST: usize = 4096;
/// The variable that rayon reads.
const VARIABLE: &str = "RAYON_NUM_THREADS";

/// Starts the threads. Refuses an absurd number in the environment beforehand.
pub fn start() -> Result<(), Failure> {
    // Rayon ignores what is not a number.
    let given = std::env::var(VARIABLE).ok();
    match given.and_then(|given| given.parse::<usize>().ok()) {
        Some(threads) if threads > MOST => {
            return Err(Failure::new(format!(
                "{VARIABLE}: expected at most {MOST} threads, found {threads}; lower or unset it"
            )));
        }
        _ => {}
    }
    // Started at the first use, they would be missing with a panic.
    match rayon::ThreadPoolBuilder::new().build_global() {
        // Without a cause, they are there already.
        Err(error) if error.source().is_some() => Err(Failure::new(format!(
            "cannot start a thread for each core: {error}; set {VARIABLE}=1, or raise the limits on memory and processes (ulimit -v, \
             ulimit -u)"
        ))),
        _ => Ok(()),
    }
}
