//! The threads of the program where no option says how many.

use crate::failure::Failure;

/// The most threads, as for `--threads`.
const MOST: usize = 4096;
/// The variable that rayon reads.
const VARIABLE: &str = "RAYON_NUM_THREADS";

/// Refuses a number of threads in the environment that no machine has, before one is started.
pub fn check() -> Result<(), Failure> {
    let Ok(given) = std::env::var(VARIABLE) else {
        return Ok(());
    };
    // Rayon takes what is not a number for none.
    match given.parse::<usize>() {
        Ok(threads) if threads > MOST => Err(Failure::new(format!(
            "{VARIABLE}: expected at most {MOST} threads, found {threads}; lower or unset it"
        ))),
        _ => Ok(()),
    }
}
