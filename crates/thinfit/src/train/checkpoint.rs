//! The state of a fit during training, and the file from which it is resumed. The polish is not resumed but repeated.

use super::phases::Check;
use super::step::{Batch, Snapshot};
use crate::config::{Config, Training};
use crate::data::Dataset;
use crate::file::{Header, begins_like, fnv1a, quoted, read_whole, write_whole};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Name and version of the checkpoint format.
const FORMAT: &str = "thinfit-state/2";

/// The state of an unfinished fit.
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

    /// Whether a file begins like one that [`State::save`] has written, in any version.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn is_in(path: &Path) -> Result<bool> {
        begins_like(path, FORMAT)
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
            found: quoted(&found),
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

    /// Whether this is the state of a fit with this configuration, up to the number of threads.
    pub fn is_of(&self, config: &Config) -> bool {
        let threads = self.config.threads;
        self.config
            == Config {
                threads,
                ..config.clone()
            }
    }

    /// The same state, to be continued on `threads` threads; 0 uses all cores, as does a state read from a file.
    pub fn on_threads(mut self, threads: usize) -> State {
        self.config.threads = threads;
        self
    }

    /// The same state, to be continued as GFT-r: a GFT fit saved at its last step continues with the refinement.
    ///
    /// # Errors
    /// A state of another method, or one with a run that is already done.
    pub fn refined(mut self) -> Result<State> {
        if self.config.training != Training::Generative || self.runs.iter().any(RunState::is_done) {
            return Err(Error::Format {
                path: "checkpoint".into(),
                expected: "a GFT fit saved in its training".into(),
                found: "another method, or a fit that is further on".into(),
                advice: "save the state at the last step of the generator's phase",
            });
        }
        self.config.training = Training::Refined;
        Ok(self)
    }
}

/// The state of a run: everything needed to continue it to the same bits.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct RunState {
    /// Index of the current phase; the number of phases when all are done.
    pub phase: usize,
    /// Steps done in this phase.
    pub step: usize,
    /// The leaves and moments of the current phase.
    pub snapshot: Option<Snapshot>,
    /// Smallest validation error of the current phase, and its state.
    pub best: Option<(f64, Snapshot)>,
    /// The hidden weights once all phases are done, column by column.
    pub trained: Option<Vec<f64>>,
    /// How often the ridge was raised before this run was started, or in all once its phases are done.
    pub raised: usize,
    /// The learning curve so far.
    pub history: Vec<Check>,
}

impl RunState {
    /// Smallest validation error of the current phase.
    pub fn best(&self) -> Option<f64> {
        self.best.as_ref().map(|(validation, _)| *validation)
    }

    /// Whether all phases are done.
    pub fn is_done(&self) -> bool {
        self.trained.is_some()
    }

    /// The state with the leaves of run `run` of `batch`, ready to be saved; none if the device does not give them.
    pub fn captured(&self, batch: &dyn Batch, run: usize) -> Option<Self> {
        if self.is_done() {
            return Some(self.clone());
        }
        // Before the first step the moments are those of the phase before.
        let mut snapshot = batch.snapshot(run, self.step > 0).ok()?;
        snapshot.raised += self.raised;
        Some(RunState {
            snapshot: Some(snapshot),
            ..self.clone()
        })
    }
}

/// A hash of the shapes and values of the data, which exposes a state of other data.
pub(crate) fn fingerprint(data: &Dataset) -> u64 {
    let shape = [
        data.samples(),
        data.dim(),
        data.y.ncols(),
        data.weights.as_ref().map_or(0, Vec::len),
    ];
    let shape = shape.into_iter().map(|v| v as f64);
    let columns = data.x.col_iter().chain(data.y.col_iter());
    let values = columns
        .flat_map(|column| column.iter().copied())
        .chain(data.weights.iter().flatten().copied());
    let values = shape.chain(values).flat_map(f64::to_le_bytes);
    let groups = data.groups.iter().flatten().flat_map(|v| v.to_le_bytes());
    fnv1a(values.chain(groups))
}
