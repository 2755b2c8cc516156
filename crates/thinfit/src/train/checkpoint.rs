//! What a fit tells while it runs, and what it can be resumed from.

use crate::config::{Config, Method};
use crate::data::Dataset;
use crate::model::file::{Header, fnv1a, read_whole, write_whole};
use crate::train::processor::{Leaf, RunState};
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
        let bytes = read_whole(path)?;
        let wrong = |found: String| Error::Format {
            path: path.into(),
            expected: format!("a checkpoint of format `{FORMAT}`"),
            found,
            advice: "give the file that a fit of this version saved its state to, or start the fit afresh",
        };
        match serde_json::from_slice::<Header>(&bytes) {
            Ok(header) if header.format == FORMAT => {}
            Ok(header) if header.format.starts_with("thinfit/") => {
                return Err(wrong("a finished model".into()));
            }
            Ok(header) => return Err(wrong(format!("format `{}`", header.format))),
            Err(error) => return Err(wrong(error.to_string())),
        }
        serde_json::from_slice(&bytes).map_err(|error| wrong(error.to_string()))
    }

    /// The configuration of the fit.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Whether a fit with this configuration was interrupted; the number of threads does not matter.
    pub fn is_of(&self, config: &Config) -> bool {
        let threads = self.config.threads;
        self.config
            == Config {
                threads,
                ..config.clone()
            }
    }

    /// The same state, to be continued on so many threads; 0 takes all cores, as a state that was read does.
    pub fn on_threads(mut self, threads: usize) -> State {
        self.config.threads = threads;
        self
    }

    /// The same state, to be continued as GFT-r: a GFT fit saved at its last step goes on with the refinement.
    ///
    /// # Errors
    /// A state of another method, or one with a run that is already done.
    pub fn refined(mut self) -> Result<State> {
        if self.config.method != Method::Generative || self.runs.iter().any(RunState::is_done) {
            return Err(Error::Format {
                path: "checkpoint".into(),
                expected: "a GFT fit saved in its training".into(),
                found: "another method, or a fit that is further on".into(),
                advice: "save the state at the last step of the generator's phase",
            });
        }
        self.config.method = Method::Refined;
        Ok(self)
    }
}

/// A hash of the shapes and the bytes of the data: tells a state that belongs to other data.
pub(crate) fn fingerprint(data: &Dataset) -> u64 {
    let columns = |a: &'_ faer::Mat<f64>| {
        (0..a.ncols())
            .flat_map(|j| a.col_as_slice(j).to_vec())
            .collect::<Vec<_>>()
    };
    let shape = [
        data.samples(),
        data.dim(),
        data.y.ncols(),
        data.weights.as_ref().map_or(0, Vec::len),
    ];
    let shape = shape.iter().map(|&v| v as f64);
    let values = columns(&data.x)
        .into_iter()
        .chain(columns(&data.y))
        .chain(data.weights.iter().flatten().copied());
    let bytes = shape.chain(values).flat_map(f64::to_le_bytes);
    fnv1a(bytes)
}
