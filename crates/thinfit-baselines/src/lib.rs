//! The paper's other methods, one file each.
//!
//! [`Shrimp`], [`Harfe`], [`AnovaRff`], [`Swim`], [`Arff`], [`RandomFourier`], [`PlainNetwork`], [`NoisyGradients`] and
//! [`FullySampled`] make networks, [`KernelRidge`] and [`Salsa`] sums of kernels. Each is a struct of settings with a function
//! `fit(data, seed, observe)`. None takes sample weights.

mod anova_rff;
mod arff;
mod choice;
mod fourier;
mod fully_sampled;
mod harfe;
mod kernel_ridge;
mod least_squares;
mod leave_one_out;
mod lsqr;
mod noisy_gradients;
mod plain_network;
mod prepared;
mod pruning;
mod random_fourier;
mod range;
mod salsa;
mod shrimp;
mod swim;
#[cfg(test)]
mod tests;

pub use anova_rff::AnovaRff;
pub use arff::Arff;
pub use fourier::Density;
pub use fully_sampled::FullySampled;
pub use harfe::Harfe;
pub use kernel_ridge::KernelRidge;
pub use noisy_gradients::NoisyGradients;
pub use plain_network::{PlainFit, PlainNetwork};
pub use random_fourier::RandomFourier;
pub use salsa::Salsa;
pub use shrimp::{Shrimp, ShrimpVariant};
pub use swim::Swim;
