//! The network f(x) = Re Σ_l b_l Φ(⟨w_l, x⟩)/n: its activation, its features, its variation and its evaluation.

pub(crate) mod activation;
pub(crate) mod evaluator;
pub(crate) mod features;
pub(crate) mod variation;

pub use activation::Activation;
pub use evaluator::{Evaluator, Feature};
pub use variation::Variation;
