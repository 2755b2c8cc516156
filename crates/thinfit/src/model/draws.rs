//! Other models that the samples allow: draws of the output weights at fixed hidden weights.

use super::model::Model;
use crate::network::planes::conjugate;
use crate::{Error, Result, Scaler};
use faer::{Mat, Side};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

/// Most columns of a covariance that is factorised: some seconds.
const MOST: usize = 1200;

impl Model {
    /// The model whose outputs are `count` draws of output `o`: b ~ N(b̂, s²M), what the noise of the samples leaves open at these
    /// hidden weights (see [`Uncertainty`](crate::Uncertainty)). It has no uncertainty itself.
    ///
    /// # Errors
    /// A model without uncertainty, or so wide that its covariance takes long to factorise.
    pub fn draws(&self, o: usize, count: usize, seed: u64) -> Result<Model> {
        let uncertainty = self.uncertainty()?;
        let k = self.activation.columns(self.width());
        let refused = |problem: String| Error::Data {
            what: "uncertainty",
            problem,
            advice: "fit a network of fewer neurons",
        };
        if k > MOST {
            return Err(refused(format!("{k} output weights are too many to draw")));
        }
        let spread = uncertainty.matrix(k).self_adjoint_eigen(Side::Lower);
        let spread = spread.map_err(|_| refused("its covariance cannot be factorised".into()))?;
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let variances = spread.S().column_vector();
        let normal = Mat::from_fn(k, count, |i, _| {
            // Rounding makes small variances of either sign; to drop the negative ones widens the draws, and never narrows them.
            let size = (uncertainty.noise[o] * variances[i].max(0.0)).sqrt();
            size * Distribution::<f64>::sample(&StandardNormal, &mut rng)
        });
        let mut moved = spread.U() * normal;
        conjugate(self.activation, moved.as_mut());
        let mut model = self.clone();
        model.outputs = (1..=count).map(|k| format!("draw {k}")).collect();
        model.output = Mat::from_fn(k, count, |i, draw| self.output[(i, o)] + moved[(i, draw)]);
        model.output_scaler = Scaler {
            shift: vec![self.output_scaler.shift[o]; count],
            scale: vec![self.output_scaler.scale[o]; count],
            warp: vec![],
        };
        model.uncertainty = None;
        Ok(model)
    }
}

#[cfg(test)]
mod tests {
    use crate::{Activation, Config, Control, Dataset, Schedule, fit};
    use faer::Mat;

    #[test]
    fn draws_spread_as_the_deviation_of_the_model_says() {
        let x = Mat::from_fn(60, 1, |i, _| ((i * 7) % 61) as f64 / 61.0);
        let y = Mat::from_fn(60, 2, |i, o| {
            (4.0 * x[(i, 0)]).sin() + 0.2 * ((i * (13 + o)) % 7) as f64
        });
        let data = Dataset::new(x, y).unwrap();
        for activation in [Activation::Fourier, Activation::Tanh] {
            let quick = Schedule {
                steps: 5,
                ..Config::fast().generate
            };
            let config = Config {
                activation,
                width: 6,
                generate: quick,
                ..Config::fast()
            };
            let model = fit(&data, &config, &|_| Control::Continue).unwrap();
            let at = Mat::from_fn(3, 1, |i, _| 0.2 + 0.3 * i as f64);
            let values = model.draws(1, 2000, 5).unwrap().predict(at.as_ref());
            let (values, mean) = (values.unwrap(), model.predict(at.as_ref()).unwrap());
            let expected = model.deviation(at.as_ref()).unwrap().model;
            for i in 0..3 {
                let squares = values.row(i).iter().map(|v| (v - mean[(i, 1)]).powi(2));
                let found = (squares.sum::<f64>() / 2000.0).sqrt();
                let ratio = found / expected[(i, 1)];
                // The covariance of nearly parallel neurons is singular up to rounding, which widens the draws.
                assert!((0.92..1.25).contains(&ratio), "{activation:?}: {ratio}");
            }
        }
    }
}
