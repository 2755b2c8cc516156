//! Where the time of a training step goes: seconds by part, for the table of the benchmark.
//!
//! Reading a clock costs some tens of nanoseconds, a dozen times in a step of a millisecond.

use std::time::Instant;

/// A part of a training step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Random numbers.
    Draw,
    /// Generator, forward.
    Forward,
    /// Planes of the features and the Gram matrix (first sweep).
    Gram,
    /// Cholesky factorisation and both solves.
    Solve,
    /// Residuals (second sweep) and the regulariser.
    Residuals,
    /// Gradient in the hidden weights (third sweep).
    Sweep,
    /// Generator, back to the activations.
    Backward,
    /// Gradient in the leaf and Adam.
    Descend,
}

impl Part {
    /// All parts, in the order of a step.
    pub const ALL: [Part; 8] = [
        Part::Draw,
        Part::Forward,
        Part::Gram,
        Part::Solve,
        Part::Residuals,
        Part::Sweep,
        Part::Backward,
        Part::Descend,
    ];
}

/// Seconds spent in each part so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct Laps {
    seconds: [f64; 8],
}

impl Laps {
    /// Adds the time since `start` to a part and starts again.
    pub(crate) fn lap(&mut self, part: Part, start: &mut Instant) {
        let now = Instant::now();
        self.seconds[part as usize] += (now - *start).as_secs_f64();
        *start = now;
    }

    /// Seconds spent in a part.
    pub fn seconds(&self, part: Part) -> f64 {
        self.seconds[part as usize]
    }
}
