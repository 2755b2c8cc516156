//! Methods whose result is a two-layer network, and the least squares they share.

pub(crate) mod anova_rff;
pub(crate) mod arff;
pub(crate) mod fourier;
pub(crate) mod fully_sampled;
pub(crate) mod harfe;
pub(crate) mod least_squares;
pub(crate) mod lsqr;
pub(crate) mod noisy_gradients;
pub(crate) mod plain_network;
pub(crate) mod pruning;
pub(crate) mod random_fourier;
pub(crate) mod shrimp;
pub(crate) mod swim;
