//! Seconds per stage of a training step, for benchmarks.
//!
//! Reading a clock costs some tens of nanoseconds, a dozen times per step of about a millisecond.

use crate::clock::Instant;

/// A stage of a training step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
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

impl Stage {
    /// All stages, in the order of a step.
    pub const ALL: [Stage; 8] = [
        Stage::Draw,
        Stage::Forward,
        Stage::Gram,
        Stage::Solve,
        Stage::Residuals,
        Stage::Sweep,
        Stage::Backward,
        Stage::Descend,
    ];
}

/// Seconds spent in each stage so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct Timing {
    seconds: [f64; 8],
}

impl Timing {
    /// Adds the time since `start` to a stage and restarts the clock.
    pub fn add(&mut self, stage: Stage, start: &mut Instant) {
        let now = Instant::now();
        self.seconds[stage as usize] += (now - *start).as_secs_f64();
        *start = now;
    }

    /// Seconds spent in a stage.
    pub fn seconds(&self, stage: Stage) -> f64 {
        self.seconds[stage as usize]
    }
}
