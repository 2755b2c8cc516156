//! Progress of a running fit, and how to stop it.

use super::checkpoint::State;
use super::step::Leaf;

/// Called after every step of a fit, from any thread; it may end the fit. Where several runs are trained together, or on
/// another device, it is called for each of them, but only every few steps, and whenever they were validated.
pub type Observer<'a> = dyn Fn(&Progress<'_>) -> Control + Sync + 'a;

/// The answer of an observer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// Keep going.
    Continue,
    /// End now; the fit returns the best model so far.
    Stop,
}

/// What a fit is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Adam moves a leaf.
    Train(Leaf),
    /// Levenberg-Marquardt on the projected problem.
    Polish,
    /// The only phase of a method without training steps.
    Fit,
}

impl Phase {
    /// The name that every front end shows.
    pub fn name(self) -> &'static str {
        match self {
            Phase::Train(Leaf::Parameters) => "generator",
            Phase::Train(Leaf::Latents) => "refinement",
            Phase::Train(Leaf::Weights) => "features",
            Phase::Train(Leaf::Both) => "both layers",
            Phase::Polish => "polish",
            Phase::Fit => "fit",
        }
    }
}

/// The progress of a run, passed to the observer.
#[derive(Clone, Copy)]
pub struct Progress<'a> {
    /// What this run is doing.
    pub phase: Phase,
    /// Steps done in this phase.
    pub step: usize,
    /// Steps of this phase.
    pub steps: usize,
    /// Loss at this step, in scaled outputs, if the method has one.
    pub loss: Option<f64>,
    /// Smallest validation error of this phase so far, in scaled outputs, once there is one.
    pub validation: Option<f64>,
    /// Number of this run, from 0.
    pub run: usize,
    /// Number of runs.
    pub runs: usize,
    /// Estimated fraction of this run's work that is done, from 0 to 1.
    pub done: f64,
    pub(crate) state: Option<&'a dyn Fn() -> Option<State>>,
}

impl Progress<'_> {
    /// The progress of a method that reports only the fraction of its work that is done.
    pub fn fraction(done: f64) -> Self {
        Progress {
            phase: Phase::Fit,
            step: 0,
            steps: 0,
            loss: None,
            validation: None,
            run: 0,
            runs: 1,
            done,
            state: None,
        }
    }

    /// The progress of a fit made of `parts` equal parts, of which this is number `part`, counted from 0.
    pub fn part(&self, part: usize, parts: usize) -> Self {
        Progress {
            done: (part as f64 + self.done) / parts as f64,
            ..*self
        }
    }

    /// The state of the whole fit, from which [`crate::resume`] continues to the same bits; none where a method cannot
    /// be resumed. It copies all parameters.
    pub fn state(&self) -> Option<State> {
        self.state.and_then(|state| state())
    }
}
