//! The plain Fourier network trained by noisy gradient descent instead of Adam, an ablation in the paper's appendix B.
//!
//! θ ← θ − ρ∇L(θ) + αZ with Z ~ N(0, I) and α = 0.1ρ, on all rows; the result is the last iterate. The paper states
//! neither ρ nor the number of steps. The network and its loss are those of `plain_network.rs`.

use crate::choice::{best_lambda, stops};
use crate::plain_network::POINTS;
use crate::prepared::Prepared;
use crate::range::{at_least_one, positive};
use rand::RngExt;
use rand_distr::StandardNormal;
use serde::{Deserialize, Serialize};
use thinfit::pieces::{Joint, Layers, Purpose, require, stream};
use thinfit::{
    Activation, Dataset, Error, Lambda, Model, Network, Observer, Result, Scaling, Variation,
};

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

    /// Fits `data`. A stopped fit keeps its last iterate.
    ///
    /// # Errors
    /// Unusable data or settings.
    pub fn fit(&self, data: &Dataset, seed: u64, observe: &Observer<'_>) -> Result<Model> {
        at_least_one("width", self.width)?;
        positive("rate", self.rate)?;
        let noise = self.noise >= 0.0;
        require(noise, "noise", "a number of at least 0", self.noise)?;
        let prepared = Prepared::new(data, self.scaling, seed)?;
        let record = prepared.record(Self::NAME, self, seed);
        best_lambda(
            prepared,
            self.lambda,
            record,
            observe,
            &|prepared, lambda, observe| self.train(prepared, lambda, seed, observe),
        )
    }

    fn train(
        &self,
        prepared: &Prepared<'_>,
        lambda: f64,
        seed: u64,
        observe: &Observer<'_>,
    ) -> Result<(Network, bool)> {
        let (rate, noise) = (self.rate, self.rate * self.noise);
        let (activation, n, train) = (Activation::Fourier, self.width, &prepared.train);
        let mut layers = Layers::new(activation, n, train.dim(), train.y.ncols());
        layers.initialise(&mut stream(seed, Purpose::BaselineParameters, 0));
        let mut joint = Joint::new(train, activation, n).regularised(
            lambda,
            Variation::Anisotropic,
            POINTS.max(train.samples()),
            train.domain(),
        );
        for step in 0..self.steps {
            joint.scatter(&mut stream(seed, Purpose::ProbePoints, step as u64));
            if !joint.evaluate(&mut layers).total.is_finite() {
                return Err(Error::Diverged {
                    what: "the loss",
                    step,
                    advice: "lower the learning rate or scale the data",
                });
            }
            let mut rng = stream(seed, Purpose::Noise, step as u64);
            for (theta, gradient) in layers.theta.iter_mut().zip(&layers.gradient) {
                *theta += noise * rng.sample::<f64, _>(StandardNormal) - rate * gradient;
            }
            if stops(observe, step + 1, self.steps) {
                return Ok((layers.network(), true));
            }
        }
        Ok((layers.network(), false))
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
