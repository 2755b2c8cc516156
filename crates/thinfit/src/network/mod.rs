//! The network f(x) = Re Σ_l b_l Φ(⟨w_l, x⟩)/n: its activation, its features, its variation and its evaluation.

pub(crate) mod activation;
pub(crate) mod evaluator;
pub(crate) mod features;
pub(crate) mod planes;
pub(crate) mod support;
pub(crate) mod variation;

pub use activation::Activation;
pub use evaluator::{Evaluator, Feature};
pub use variation::Variation;

use faer::{Mat, MatRef};

/// A two-layer network g(x′) = Re Σ_l b_l Φ(⟨w_l, x′⟩)/n in scaled units, found by any method.
#[derive(Clone, Debug)]
pub struct Network {
    /// Activation Φ.
    pub activation: Activation,
    /// Hidden weights w, n × d, or n × (d + 1) with biases (the bias last).
    pub hidden: Mat<f64>,
    /// Output weights b as planes. Fourier: n real, then n imaginary parts (2n × c); otherwise n weights, then the
    /// output bias ((n + 1) × c).
    pub output: Mat<f64>,
}

impl Network {
    /// g at the rows of x′ (m × d): m × c, not finite where products overflow.
    ///
    /// # Panics
    /// Where the hidden weights do not fit the columns of x′.
    pub fn values(&self, x: MatRef<'_, f64>) -> Mat<f64> {
        let e = features::planes(self.activation, x, self.hidden.as_ref());
        features::fitted(self.activation, e.as_ref(), self.output.as_ref())
    }
}
