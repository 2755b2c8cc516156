//! The requests of a page.

use serde::Deserialize;
use thinfit::Activation;

/// A request, written as JSON with its name in `do`.
#[derive(Debug, Deserialize)]
#[serde(tag = "do", rename_all = "lowercase", deny_unknown_fields)]
pub enum Request {
    /// The columns of the file that is kept.
    Columns {
        /// Its name, for messages.
        name: String,
    },
    /// Begins a fit in place of any other.
    Learn(Box<Learn>),
    /// Goes on with the fit until time or steps are up; the first slice of a fit shows where it begins.
    Advance {
        /// About how long, in milliseconds.
        milliseconds: f64,
        /// Maximum number of steps.
        steps: Option<usize>,
    },
    /// The model of a finished fit, as its file.
    Model,
    /// What a finished fit says of the inputs.
    Findings,
}

/// What to learn, and how.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Learn {
    /// From what.
    pub source: Source,
    /// With which network.
    pub network: Network,
    /// With which settings.
    pub settings: Settings,
}

/// Which network is trained.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Network {
    /// Ours: GFT-r.
    Thin,
    /// The plain one, by Adam on both layers.
    Plain,
}

/// Where the samples come from.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum Source {
    /// A built-in function.
    Function {
        /// Its name, such as `g2`.
        name: String,
        /// Number of samples.
        samples: usize,
        /// Standard deviation of the noise, relative to that of the values.
        noise: f64,
    },
    /// The file that is kept.
    Table {
        /// Its name, for messages.
        name: String,
        /// The column to learn.
        target: String,
        /// The columns to learn from.
        inputs: Vec<String>,
    },
}

/// The settings that a page offers; all others are those of the `fast` preset.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Number of neurons.
    pub width: usize,
    /// Activation.
    pub activation: Activation,
    /// Seed of the samples and of the fit.
    pub seed: u64,
    /// Whether the fit ends with the polish.
    pub polish: bool,
}
