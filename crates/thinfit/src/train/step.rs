//! One training step: the interface for other devices.
//!
//! F-Opt, GFT and GFT-r are the same step; they differ in the [`Leaf`] that Adam moves, and in whether the latents
//! are redrawn. The plain network, whose output weights are trained instead of solved for, is one more leaf. A
//! [`Backend`] starts a [`Batch`] of runs on its device: one for each λ and seed, in the simplest case a single one.
//! Phases, validation, the best state so far, checkpoints and the choice of λ are written once, above this interface
//! (`phases`, `fit`).

use super::generator::{Precision, Real};
use super::objective::Loss;
use crate::{Config, Dataset, Error, Result};
use faer::Mat;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// What Adam moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Leaf {
    /// The generator's parameters θ, with fresh latents in every step: GFT.
    Parameters,
    /// The latents z, with θ frozen: the refinement of GFT-r.
    Latents,
    /// The hidden weights w themselves: F-Opt.
    Weights,
    /// The weights of both layers, (w, b), with nothing solved for: the plain network. No phase of a fit moves it, and in a
    /// batch all runs do or none.
    Both,
}

/// The data and λ of one run, in scaled units.
#[derive(Clone, Copy, Debug)]
pub struct Task<'a> {
    /// The training rows.
    pub train: &'a Dataset,
    /// The validation rows.
    pub validation: &'a Dataset,
    /// Strength λ of the regulariser.
    pub lambda: f64,
    /// The box that the points of the regulariser lie in, d pairs: the ranges of the training inputs on all ranks.
    pub domain: &'a [[f64; 2]],
}

/// A device that runs training steps.
pub trait Backend: Send + Sync {
    /// Starts one run for each seed and task, with θ and w as in
    /// [`initial`](super::processor::initial).
    ///
    /// The runs of a batch have one shape (rows for training and for validation, inputs, outputs, weights or none) and
    /// one configuration; of `config`, the seed, λ and the threads do not count.
    ///
    /// # Errors
    /// [`Error::Device`] for a device that is missing or has too little memory.
    fn start(&self, config: &Config, runs: &[(u64, Task<'_>)]) -> Result<Box<dyn Batch>>;
}

/// Runs on a device that advance together, named by their place in what [`Backend::start`] was given.
///
/// A run depends on its seed and task alone, not on the others (but for the order of sums on a device whose library
/// chooses it by the batch): all randomness is drawn by seed, [`Purpose`](crate::pieces::Purpose) and step, so that a run
/// continued from a [`Snapshot`] in the same batch gives the same bits. Where several `runs` are named, each is named once,
/// and the results stand in the order of the names.
pub trait Batch: Send {
    /// Begins a phase of `run` that moves `leaf`: from a snapshot of this phase, or afresh, which draws the latents it
    /// starts from and keeps θ and w.
    ///
    /// A snapshot without moments restarts Adam.
    ///
    /// # Errors
    /// A snapshot of other shapes.
    fn begin(&mut self, run: usize, leaf: Leaf, from: Option<&Snapshot>) -> Result<()>;

    /// Takes the steps numbered `steps` (at least one) of the phase in each of `runs`, which all stand at the first of
    /// them: the loss before a step, then Adam moves the leaf at learning rate `rate`. Gives the loss before the last
    /// step.
    ///
    /// # Errors
    /// [`Error::Diverged`], or a loss that is not finite, for a run whose numbers ceased to be finite in any of the
    /// steps; the others continue. [`Error::Device`] ends all runs.
    fn advance(&mut self, runs: &[usize], steps: Range<usize>, rate: f64) -> Vec<Result<Loss>>;

    /// Mean squared error on the validation rows after `step` steps, with b solved on the training rows unless it is a
    /// leaf.
    ///
    /// # Errors
    /// As [`Batch::advance`].
    fn validate(&mut self, runs: &[usize], step: usize) -> Vec<Result<f64>>;

    /// The hidden weights (n × d′) that the leaf of `run` gives; for a generator, those of its final draw of latents;
    /// before any phase, those that the run started with.
    ///
    /// # Errors
    /// [`Error::Device`].
    fn weights(&mut self, run: usize) -> Result<Mat<f64>>;

    /// A copy of the leaves of `run`, and with `moments` of everything that it takes to resume it.
    ///
    /// # Errors
    /// [`Error::Device`].
    fn snapshot(&self, run: usize, moments: bool) -> Result<Snapshot>;

    /// Maximum number of steps to take between two reports: more where a call costs more than a step.
    fn stride(&self) -> usize {
        1
    }
}

/// A flat array in the precision it was computed in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Values {
    /// Single precision.
    F32(Vec<f32>),
    /// Double precision.
    F64(Vec<f64>),
}

/// All leaves of a run, and Adam's moments of the one that moves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    /// θ layer by layer: the weight matrix (out × in, column by column), then the bias.
    pub theta: Values,
    /// z, one latent after the other.
    pub z: Values,
    /// w, column by column.
    pub w: Vec<f64>,
    /// b where it is a leaf ([`Leaf::Both`]), column by column (k × c): in f(x) = Re Σ_l b_l Φ(⟨w_l, x⟩), without the
    /// factor 1/n of a [`Network`](crate::Network).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub b: Vec<f64>,
    /// First and second moments of the leaf; none to restart Adam.
    pub moments: Option<[Values; 2]>,
    /// Steps included in the moments.
    pub steps: i32,
    /// How often a failing pivot raised the ridge since the run was started.
    pub raised: usize,
}

impl Values {
    /// Copies numbers, in the precision that they were computed in.
    pub fn pack<T: Real>(values: &[T], precision: Precision) -> Self {
        match precision {
            Precision::F32 => Values::F32(values.iter().map(|v| v.wide() as f32).collect()),
            Precision::F64 => Values::F64(values.iter().map(|v| v.wide()).collect()),
        }
    }

    /// Copies into `out`.
    ///
    /// # Errors
    /// Another number of values.
    pub fn unpack<T: Real>(&self, out: &mut [T]) -> Result<()> {
        fn copy<S: Real, T: Real>(from: &[S], to: &mut [T]) -> Result<()> {
            if from.len() != to.len() {
                return Err(foreign_state("arrays of other lengths"));
            }
            to.iter_mut()
                .zip(from)
                .for_each(|(to, from)| *to = T::of(from.wide()));
            Ok(())
        }
        match self {
            Values::F32(values) => copy(values, out),
            Values::F64(values) => copy(values, out),
        }
    }
}

/// The error of a state that belongs to another fit.
pub fn foreign_state(found: &str) -> Error {
    Error::Format {
        path: "checkpoint".into(),
        expected: "a state of this data and configuration".into(),
        found: found.into(),
        advice: "resume with the same data and configuration, or start the fit afresh",
    }
}
