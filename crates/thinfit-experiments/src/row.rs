//! The rows of the tables. A row is a method with its settings, on one line per activation.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thinfit::{Activation, Training};

/// A row: those of the paper first, in the order of its tables, then ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "&'static str")]
pub enum Row {
    /// Boosted random Fourier features.
    AnovaRff,
    /// Pruned sparse random features.
    Shrimp,
    /// Hard-thresholded sparse random features.
    Harfe,
    /// Shrunk additive kernels.
    Salsa,
    /// Kernel ridge regression, Gaussian kernel, median rule.
    KernelRidge,
    /// Both layers of a plain network trained together.
    NeuralNet,
    /// Features sampled together with their output weights, an ablation.
    FullySampled,
    /// Noisy gradients instead of a generator, an ablation.
    NoisyGradients,
    /// Features optimised directly.
    FOpt,
    /// Generative feature training.
    Gft,
    /// Generative feature training, then refinement of the latents.
    GftR,
    /// SHRIMP with real features of every order up to five, as its authors or a new user would run it.
    ShrimpReal,
    /// Plain random Fourier features with ridge.
    Rff,
    /// Adaptive random Fourier features: frequencies move by Metropolis steps.
    Arff,
    /// Neurons placed between pairs of samples.
    Swim,
    /// Kernel ridge regression with validated bandwidth and ridge.
    KernelRidgeValidated,
    /// Gaussian process with a length per input, Gaussian kernel.
    GaussianProcess,
    /// Gaussian process with a length per input, Matérn 5/2 kernel.
    GaussianProcessMatern,
}

/// No row has this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no method `{name}`; expected one of {}", Row::ALL.map(Row::name).join(", "))]
pub struct UnknownRow {
    /// The name that was given.
    pub name: String,
}

impl Row {
    /// Every row, in the order of the tables.
    pub const ALL: [Row; 18] = [
        Row::AnovaRff,
        Row::Shrimp,
        Row::Harfe,
        Row::Salsa,
        Row::KernelRidge,
        Row::NeuralNet,
        Row::FullySampled,
        Row::NoisyGradients,
        Row::FOpt,
        Row::Gft,
        Row::GftR,
        Row::ShrimpReal,
        Row::Rff,
        Row::Arff,
        Row::Swim,
        Row::KernelRidgeValidated,
        Row::GaussianProcess,
        Row::GaussianProcessMatern,
    ];

    /// Name on the command line and in the ledger, and label in the tables.
    fn names(self) -> (&'static str, &'static str) {
        match self {
            Row::AnovaRff => ("anova-rff", "ANOVA-RFF"),
            Row::Shrimp => ("shrimp", "SHRIMP"),
            Row::Harfe => ("harfe", "HARFE"),
            Row::Salsa => ("salsa", "SALSA"),
            Row::KernelRidge => ("kernel-ridge", "kernel ridge reg"),
            Row::NeuralNet => ("plain", "neural net"),
            Row::FullySampled => ("fully-sampled", "Fully Sampled"),
            Row::NoisyGradients => ("noisy-gradients", "Noisy gradients"),
            Row::FOpt => ("f-opt", "F-Opt"),
            Row::Gft => ("gft", "GFT"),
            Row::GftR => ("gft-r", "GFT-r"),
            Row::ShrimpReal => ("shrimp-real", "SHRIMP, real features"),
            Row::Rff => ("rff", "RFF, ridge"),
            Row::Arff => ("arff", "ARFF"),
            Row::Swim => ("swim", "SWIM"),
            Row::KernelRidgeValidated => ("kernel-ridge-validated", "kernel ridge, validated"),
            Row::GaussianProcess => ("gaussian-process", "GP, Gaussian, ARD"),
            Row::GaussianProcessMatern => ("gaussian-process-matern", "GP, Matérn 5/2, ARD"),
        }
    }

    /// Name on the command line and in the ledger.
    pub fn name(self) -> &'static str {
        self.names().0
    }

    /// Label in the paper's tables, or one in their style.
    pub fn label(self) -> &'static str {
        self.names().1
    }

    /// How thinfit's own methods find the hidden weights; none for others.
    pub fn training(self) -> Option<Training> {
        match self {
            Row::FOpt => Some(Training::Direct),
            Row::Gft => Some(Training::Generative),
            Row::GftR => Some(Training::Refined),
            _ => None,
        }
    }

    /// Whether a device can take its training steps.
    pub fn is_trained(self) -> bool {
        self.training().is_some() || self == Row::NeuralNet
    }

    /// Whether the method has a regulariser of strength λ.
    pub fn has_lambda(self) -> bool {
        let ours = self.training().is_some();
        ours || matches!(
            self,
            Row::NeuralNet | Row::FullySampled | Row::NoisyGradients
        )
    }

    /// The activations in the tables; empty for methods without one.
    pub fn activations(self) -> &'static [Activation] {
        match self {
            Row::NeuralNet => &[Activation::Fourier, Activation::Sigmoid, Activation::Relu],
            Row::FOpt | Row::Gft | Row::GftR => &[Activation::Fourier, Activation::Sigmoid],
            Row::Swim => &[Activation::Sigmoid, Activation::Relu],
            Row::KernelRidge
            | Row::KernelRidgeValidated
            | Row::GaussianProcess
            | Row::GaussianProcessMatern => &[],
            _ => &[Activation::Fourier],
        }
    }
}

impl fmt::Display for Row {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.label())
    }
}

impl FromStr for Row {
    type Err = UnknownRow;

    fn from_str(name: &str) -> Result<Self, UnknownRow> {
        Row::ALL
            .into_iter()
            .find(|row| row.name() == name)
            .ok_or_else(|| UnknownRow { name: name.into() })
    }
}

impl TryFrom<String> for Row {
    type Error = UnknownRow;

    fn try_from(name: String) -> Result<Self, UnknownRow> {
        name.parse()
    }
}

impl From<Row> for &'static str {
    fn from(row: Row) -> &'static str {
        row.name()
    }
}
