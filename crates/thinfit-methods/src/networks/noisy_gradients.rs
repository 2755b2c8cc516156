//! The plain Fourier network trained by noisy gradient descent instead of Adam, an ablation in the paper's appendix B.
//!
//! θ ← θ − ρ∇L(θ) + αZ with Z ~ N(0, I) and α = 0.1ρ, on all rows; the result is the last iterate. The paper states
//! neither ρ nor the number of steps. The network and its loss are those of `plain_network.rs`.

use crate::choice::best_lambda;
use crate::networks::plain_network::Layers;
use crate::prepared::Prepared;
use crate::random::{Purpose, stream};
use crate::range::positive;
use rand::RngExt;
use rand_distr::StandardNormal;
use serde::{Deserialize, Serialize};
use thinfit::pieces::require;
use thinfit::{Activation, Dataset, Lambda, Model, Observer, Result, Scaling};

/// Settings of noisy gradient descent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NoisyGradients {
    /// Number of neurons; 100.
    pub width: usize,
    /// Strength λ of the total variation, a number or `auto`; 0.
    pub lambda: Lambda,
    /// Number of steps; 100,000.
    pub steps: usize,
    /// Learning rate ρ; 1e-3.
    pub rate: f64,
    /// Standard deviation α of the noise, relative to ρ; 0.1.
    pub noise: f64,
    /// Scaling of the columns; none.
    pub scaling: Scaling,
}

impl Default for NoisyGradients {
    fn default() -> Self {
        NoisyGradients {
            width: 100,
            lambda: Lambda::Fixed(0.0),
            steps: 100_000,
            rate: 1e-3,
            noise: 0.1,
            scaling: Scaling::None,
        }
    }
}

impl NoisyGradients {
    /// The name of the method.
    pub const NAME: &str = "noisy-gradients";

    /// Fits `data`; see [`crate::Method::fit`]. A stopped fit keeps its last iterate.
    ///
    /// # Errors
    /// As [`crate::Method::fit`].
    pub fn fit(&self, data: &Dataset, seed: u64, observe: &Observer<'_>) -> Result<Model> {
        let (rate, noise) = (self.rate, self.rate * self.noise);
        positive("rate", rate)?;
        require(noise >= 0.0, "noise", "a number of at least 0", self.noise)?;
        let prepared = Prepared::new(data, self.scaling, seed)?;
        let record = prepared.record(Self::NAME, self, seed);
        best_lambda(
            prepared,
            self.lambda,
            record,
            observe,
            &|prepared, lambda, observe| {
                let mut layers =
                    Layers::new(prepared, Activation::Fourier, self.width, lambda, seed)?;
                let stopped =
                    layers.descend(self.steps, observe, &mut |step, theta, gradient| {
                        let mut rng = stream(seed, Purpose::Noise, step);
                        for (theta, gradient) in theta.iter_mut().zip(gradient) {
                            *theta +=
                                noise * rng.sample::<f64, _>(StandardNormal) - rate * gradient;
                        }
                    })?;
                Ok((layers.network(), stopped))
            },
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use faer::Mat;
    use thinfit::Control;

    #[test]
    fn the_loss_descends_and_noise_changes_the_result() {
        let x = Mat::from_fn(60, 1, |i, _| i as f64 / 60.0);
        let y = Mat::from_fn(60, 1, |i, _| (3.0 * x[(i, 0)]).sin());
        let data = Dataset::new(x, y).unwrap();
        let error = |noise| {
            let method = NoisyGradients {
                width: 20,
                steps: 2000,
                noise,
                rate: 2e-3,
                ..NoisyGradients::default()
            };
            let model = method.fit(&data, 1, &|_| Control::Continue).unwrap();
            model.record.validation_mse[0] / model.record.validation_variance[0]
        };
        assert!(error(0.0) < 0.1 && error(0.1) < 0.1 && error(0.0) != error(0.1));
    }

    #[test]
    fn a_step_adds_noise_of_its_standard_deviation() {
        let x = Mat::from_fn(20, 3, |i, j| ((i * (j + 3)) % 7) as f64);
        let y = Mat::from_fn(20, 1, |i, _| i as f64);
        let data = Dataset::new(x, y).unwrap();
        let hidden = |noise| {
            let method = NoisyGradients {
                width: 200,
                steps: 1,
                noise,
                ..NoisyGradients::default()
            };
            let model = method.fit(&data, 1, &|_| Control::Continue).unwrap();
            model.hidden()
        };
        let difference = hidden(0.1) - hidden(0.0);
        // α = 0.1 · ρ = 1e-4.
        let deviation = (difference.squared_norm_l2() / 600.0).sqrt();
        assert!((deviation / 1e-4 - 1.0).abs() < 0.1, "{deviation:e}");
    }
}
