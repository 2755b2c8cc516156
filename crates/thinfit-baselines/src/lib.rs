//! Methods that thinfit is compared with, one file each.
//!
//! A method is a struct of settings with documented defaults and a function `fit`. Where the result is a two-layer
//! network, it is a [`thinfit::Model`], which predicts, saves and exports as any other; [`Method`] is the choice between
//! these methods.

mod anova_rff;
mod arff;
mod error;
mod fourier;
mod fully_sampled;
mod harfe;
pub mod kernel_ridge;
mod least_squares;
mod lsqr;
mod method;
mod noisy_gradients;
mod plain_network;
mod problem;
mod random;
mod random_fourier;
mod shrimp;
mod swim;

pub use anova_rff::AnovaRff;
pub use arff::Arff;
pub use error::{Error, Result};
pub use fourier::Density;
pub use fully_sampled::FullySampled;
pub use harfe::Harfe;
pub use kernel_ridge::{FittedKernelRidge, KernelRidge};
pub use method::{Method, Observer};
pub use noisy_gradients::NoisyGradients;
pub use plain_network::PlainNetwork;
pub use random_fourier::RandomFourier;
pub use shrimp::{Shrimp, Variant};
pub use swim::Swim;
