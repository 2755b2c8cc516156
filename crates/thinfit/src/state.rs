//! What a fit tells while it runs, and what it can be resumed from.

use crate::config::{Config, Method};
use crate::data::Dataset;
use crate::model::write_whole;
use crate::train::{Leaf, RunState};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Name and version of the checkpoint format.
const FORMAT: &str = "thinfit-state/1";
/// What the progress callback asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// Go on.
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
}

/// Where a fit stands, given to the callback after every step of every run.
pub struct Progress<'a> {
    /// What this run is doing.
    pub phase: Phase,
    /// Steps done in this phase.
    pub step: usize,
    /// Steps of this phase.
    pub steps: usize,
    /// Loss at this step, in scaled outputs.
    pub loss: f64,
    /// Smallest validation error of this phase so far, in scaled outputs.
    pub validation: f64,
    /// Number of this run, from 0.
    pub run: usize,
    /// Number of runs.
    pub runs: usize,
    /// Fraction of this run's work that is done, from 0 to 1; a guess.
    pub done: f64,
    pub(crate) state: &'a dyn Fn() -> State,
}

impl Progress<'_> {
    /// The state of the whole fit, from which [`crate::resume`] continues to the same bits. It copies all parameters.
    pub fn state(&self) -> State {
        (self.state)()
    }
}

/// A fit that was interrupted.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    format: String,
    pub(crate) config: Config,
    pub(crate) fingerprint: u64,
    pub(crate) runs: Vec<RunState>,
}

impl State {
    pub(crate) fn new(config: Config, fingerprint: u64, runs: Vec<RunState>) -> Self {
        State {
            format: FORMAT.into(),
            config,
            fingerprint,
            runs,
        }
    }

    /// Writes the state to a file, under a temporary name first.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        let text = serde_json::to_string(self).expect("a state holds only strings and numbers");
        write_whole(path.as_ref(), text.as_bytes())
    }

    /// Reads a state from a file.
    ///
    /// # Errors
    /// A file that cannot be read or is not a state of this version.
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let bytes = std::fs::read(path).map_err(|source| Error::Io {
            action: "read",
            path: path.into(),
            source,
        })?;
        let wrong = |found: String| Error::Format {
            path: path.into(),
            expected: format!("a checkpoint of format `{FORMAT}`"),
            found,
            advice: "give a file written by a fit of this version, or start the fit afresh",
        };
        let state: State =
            serde_json::from_slice(&bytes).map_err(|error| wrong(error.to_string()))?;
        if state.format == FORMAT {
            Ok(state)
        } else {
            Err(wrong(format!("format `{}`", state.format)))
        }
    }

    /// The configuration of the fit.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The same state, to be continued on so many threads; 0 takes all cores, as a state that was read does.
    pub fn on_threads(mut self, threads: usize) -> State {
        self.config.threads = threads;
        self
    }

    /// The same state, to be continued as GFT-r: a GFT fit saved at its last step goes on with the refinement.
    pub fn refined(mut self) -> State {
        self.config.method = Method::Refined;
        self
    }
}

/// FNV-1a over the shapes and the bits of the data: tells a state that belongs to other data.
pub(crate) fn fingerprint(data: &Dataset) -> u64 {
    let weights = data.weights.iter().flatten().copied();
    let values = [&data.x, &data.y]
        .into_iter()
        .flat_map(|a| (0..a.ncols()).flat_map(|j| a.col_as_slice(j).iter().copied()));
    let shape = [data.samples(), data.dim()].map(|v| v as f64);
    shape
        .into_iter()
        .chain(values)
        .chain(weights)
        .fold(0xcbf2_9ce4_8422_2325, |hash, value| {
            (hash ^ value.to_bits()).wrapping_mul(0x0000_0100_0000_01b3)
        })
}
