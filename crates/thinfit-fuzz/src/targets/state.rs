//! Saved states: either an error, or a fit that continues to a model with finite predictions.

use super::{check_message, model};
use crate::target::Outcome;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use thinfit::{Config, Control, Dataset, Mat, Progress, State, resume};

/// The samples that the states in the corpus are of.
fn data() -> Option<Dataset> {
    let x = Mat::from_fn(12, 2, |i, j| ((i * (3 + j)) % 7) as f64 / 7.0);
    let y = Mat::from_fn(12, 1, |i, _| x[(i, 0)] - x[(i, 1)]);
    Dataset::new(x, y).ok()
}

/// Whether a fit is nearly as small as those that were saved: a changed size may ask for all memory there is, which the
/// program forecasts and the library leaves to its caller.
fn is_small(config: &Config) -> bool {
    config.width <= 50
        && config.points <= 10_000
        && config.generator.hidden.len() <= 10
        && config.generator.hidden.iter().all(|units| *units <= 500)
        && config.polish.starts.len() <= 10
}

/// Reads a state and continues it for a few steps.
pub fn survive(input: &[u8], scratch: &Path) -> Outcome {
    let path = scratch.join("state.json");
    std::fs::write(&path, input).expect("the scratch folder can be written to");
    let refused = |error: thinfit::Error| {
        let message = error.to_string().replace(&*path.to_string_lossy(), "");
        check_message(&message);
        Outcome::refused(message)
    };
    let state = match State::load(&path) {
        Ok(state) => state,
        Err(error) => return refused(error),
    };
    let Some(data) = data().filter(|_| is_small(state.config())) else {
        return Outcome::accepted("too large to go on with");
    };
    // A changed number of steps may be large.
    let calls = AtomicUsize::new(0);
    let observe = |_: &Progress<'_>| match calls.fetch_add(1, Ordering::Relaxed) {
        0..20 => Control::Continue,
        _ => Control::Stop,
    };
    match resume(&data, state, &observe) {
        Ok(fitted) => {
            model::check(&fitted.into());
            Outcome::accepted("resumed")
        }
        Err(error) => refused(error),
    }
}
