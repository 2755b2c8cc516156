//! Plain random Fourier features (Rahimi and Recht 2007): f(x) = Re Σ_l b_l e^{2πi⟨w_l, x⟩}/n with untrained w ~ N(0,
//! σ²I).
//!
//! The validation rows choose σ. For each σ, leave-one-out errors choose the ridge, at almost no cost for a linear fit.
//! The output weights are then solved on all rows.

use crate::choice::best_of;
use crate::prepared::Prepared;
use crate::range::{at_least_one, positives};
use faer::Mat;
use rand::RngExt;
use rand_distr::StandardNormal;
use serde::{Deserialize, Serialize};
use thinfit::pieces::{Purpose, stream};
use thinfit::{
    Activation, Dataset, Form, Model, Network, Observer, OutputWeights, Result, Scaling,
};

/// Settings of plain random Fourier features.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RandomFourier {
    /// Number of features n; 100.
    pub width: usize,
    /// Candidates for σ, in cycles per unit of the (scaled) inputs; 0.003 to 3.
    pub scales: Vec<f64>,
    /// Scaling of the columns; none.
    pub scaling: Scaling,
}

impl Default for RandomFourier {
    fn default() -> Self {
        RandomFourier {
            width: 100,
            scales: vec![0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0],
            scaling: Scaling::None,
        }
    }
}

impl RandomFourier {
    /// The name of the method.
    pub const NAME: &str = "rff";

    /// Fits `data`.
    ///
    /// # Errors
    /// Unusable data or settings.
    pub fn fit(&self, data: &Dataset, seed: u64, observe: &Observer<'_>) -> Result<Model> {
        at_least_one("width", self.width)?;
        positives("scales", &self.scales)?;
        let prepared = Prepared::new(data, self.scaling, seed)?;
        let mut rng = stream(seed, Purpose::Frequencies, 0);
        let draw = Mat::from_fn(self.width, data.dim(), |_, _| {
            rng.sample::<f64, _>(StandardNormal)
        });
        let solve = |rows: &Dataset, scale: f64| -> Result<(Network, f64)> {
            let hidden = &draw * faer::Scale(scale);
            let activation = Activation::Fourier;
            let solved = OutputWeights::solve(rows, activation, Form::Real, hidden.as_ref(), None)?;
            let network = Network {
                activation,
                hidden,
                output: solved.weights,
            };
            Ok((network, solved.ridge))
        };
        let ((scale, held_out), stopped) = best_of(&self.scales, observe, |&scale| {
            let (network, _) = solve(&prepared.train, scale)?;
            Ok((prepared.validate(&network), (scale, network)))
        })?;
        let (network, ridge) = solve(&prepared.all, scale)?;
        let mut record = prepared.record(Self::NAME, self, seed);
        (record.ridge, record.start_scale) = (ridge, Some(scale));
        (record.form, record.stopped) = (Form::Real, stopped);
        prepared.model(network, &held_out, record)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use thinfit::Control;

    #[test]
    fn a_slow_wave_is_fitted_to_many_digits_and_survives_a_file() {
        let x = Mat::from_fn(200, 2, |i, j| ((i * (7 + 12 * j)) % 199) as f64 / 199.0);
        let y = Mat::from_fn(200, 1, |i, _| 3.0 + (2.0 * x[(i, 0)] - x[(i, 1)]).sin());
        let data = Dataset::new(x.clone(), y.clone()).unwrap();
        let method = RandomFourier::default();
        let model = method.fit(&data, 1, &|_| Control::Continue).unwrap();
        assert!((model.predict(x.as_ref()).unwrap() - y).norm_max() < 1e-7);
        assert!(model.record.validation_mse[0] < 1e-12);
        let read = Model::from_json(&model.to_json(), "m".as_ref()).unwrap();
        assert_eq!(read, model);
        assert_eq!(read.record.method, "rff");
    }
}
