//! The methods that are compared, one row (or one for each activation) of a table each.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thinfit::Activation;

/// A method: those of the paper first, in the order of its tables, then others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "&'static str")]
pub enum Method {
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
    /// Features sampled together with their output weights.
    FullySampled,
    /// Generator replaced by noisy gradients.
    NoisyGradients,
    /// Features optimised directly.
    FOpt,
    /// Generative feature training.
    Gft,
    /// Generative feature training, latents refined afterwards.
    GftR,
    /// SHRIMP with real features and every order up to five, as its authors and a user without knowledge would run it.
    ShrimpReal,
    /// Plain random Fourier features with ridge.
    Rff,
    /// Adaptive random Fourier features: frequencies walk by Metropolis steps.
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

/// No method has this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no method `{name}`; expected one of {}", Method::ALL.map(Method::name).join(", "))]
pub struct UnknownMethod {
    /// The name that was given.
    pub name: String,
}

impl Method {
    /// Every method, in the order of the tables.
    pub const ALL: [Method; 18] = [
        Method::AnovaRff,
        Method::Shrimp,
        Method::Harfe,
        Method::Salsa,
        Method::KernelRidge,
        Method::NeuralNet,
        Method::FullySampled,
        Method::NoisyGradients,
        Method::FOpt,
        Method::Gft,
        Method::GftR,
        Method::ShrimpReal,
        Method::Rff,
        Method::Arff,
        Method::Swim,
        Method::KernelRidgeValidated,
        Method::GaussianProcess,
        Method::GaussianProcessMatern,
    ];

    /// Name on the command line and in records, and label in the tables.
    fn names(self) -> (&'static str, &'static str) {
        match self {
            Method::AnovaRff => ("anova-rff", "ANOVA-RFF"),
            Method::Shrimp => ("shrimp", "SHRIMP"),
            Method::Harfe => ("harfe", "HARFE"),
            Method::Salsa => ("salsa", "SALSA"),
            Method::KernelRidge => ("kernel-ridge", "kernel ridge reg"),
            Method::NeuralNet => ("plain", "neural net"),
            Method::FullySampled => ("fully-sampled", "Fully Sampled"),
            Method::NoisyGradients => ("noisy-gradients", "Noisy gradients"),
            Method::FOpt => ("f-opt", "F-Opt"),
            Method::Gft => ("gft", "GFT"),
            Method::GftR => ("gft-r", "GFT-r"),
            Method::ShrimpReal => ("shrimp-real", "SHRIMP, real features"),
            Method::Rff => ("rff", "RFF, ridge"),
            Method::Arff => ("arff", "ARFF"),
            Method::Swim => ("swim", "SWIM"),
            Method::KernelRidgeValidated => ("kernel-ridge-validated", "kernel ridge, validated"),
            Method::GaussianProcess => ("gaussian-process", "GP, Gaussian, ARD"),
            Method::GaussianProcessMatern => ("gaussian-process-matern", "GP, Matérn 5/2, ARD"),
        }
    }

    /// Name on the command line and in records.
    pub fn name(self) -> &'static str {
        self.names().0
    }

    /// The label of the paper's tables, or one like it.
    pub fn label(self) -> &'static str {
        self.names().1
    }

    /// The method of the core library, for those that are its own.
    pub fn core(self) -> Option<thinfit::Method> {
        match self {
            Method::FOpt => Some(thinfit::Method::Direct),
            Method::Gft => Some(thinfit::Method::Generative),
            Method::GftR => Some(thinfit::Method::Refined),
            _ => None,
        }
    }

    /// Whether it has a regulariser of strength λ.
    pub fn has_lambda(self) -> bool {
        let ours = self.core().is_some();
        ours || matches!(
            self,
            Method::NeuralNet | Method::FullySampled | Method::NoisyGradients
        )
    }

    /// The activations that the tables have for it; none for a method without a choice.
    pub fn activations(self) -> &'static [Activation] {
        match self {
            Method::NeuralNet => &[Activation::Fourier, Activation::Sigmoid, Activation::Relu],
            Method::FOpt | Method::Gft | Method::GftR => {
                &[Activation::Fourier, Activation::Sigmoid]
            }
            Method::Swim => &[Activation::Sigmoid, Activation::Relu],
            Method::KernelRidge
            | Method::KernelRidgeValidated
            | Method::GaussianProcess
            | Method::GaussianProcessMatern => &[],
            _ => &[Activation::Fourier],
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.label())
    }
}

impl FromStr for Method {
    type Err = UnknownMethod;

    fn from_str(name: &str) -> Result<Self, UnknownMethod> {
        Method::ALL
            .into_iter()
            .find(|method| method.name() == name)
            .ok_or_else(|| UnknownMethod { name: name.into() })
    }
}

impl TryFrom<String> for Method {
    type Error = UnknownMethod;

    fn try_from(name: String) -> Result<Self, UnknownMethod> {
        name.parse()
    }
}

impl From<Method> for &'static str {
    fn from(method: Method) -> &'static str {
        method.name()
    }
}
