//! The fully sampled network, an ablation in the paper's appendix B: a generator draws the weights of both layers.
//!
//! G: R^{d+2c} → R^d × C^c maps normal latents to (w_l, Re b_l, Im b_l), with f(x) = Re Σ_l b_l e^{2πi⟨w_l, x⟩}/n; no
//! output weights are solved for. Adam trains the parameters of G with fresh latents in every step; a final draw is the
//! network.

use crate::choice::{best_lambda, stops};
use crate::prepared::Prepared;
use crate::range::{at_least_one, positive};
use faer::Mat;
use rand::RngExt;
use rand_distr::StandardNormal;
use serde::{Deserialize, Serialize};
use thinfit::pieces::{Adam, Generator, Joint, Purpose, require, stream};
use thinfit::{
    Activation, Dataset, Error, Lambda, Model, Network, Observer, Result, Scaling, Variation,
};

/// Settings of the fully sampled network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FullySampled {
    /// Number of neurons; 100.
    pub width: usize,
    /// Units of the generator's hidden layers; 512, 512, 512.
    pub hidden: Vec<usize>,
    /// Strength λ of the total variation, a number or `auto`; 0.
    pub lambda: Lambda,
    /// Number of points at which the variation is sampled; 1000.
    pub points: usize,
    /// Number of Adam steps; 40,000.
    pub steps: usize,
    /// Learning rate; 1e-4.
    pub rate: f64,
    /// Scaling of the columns; none.
    pub scaling: Scaling,
}

impl Default for FullySampled {
    fn default() -> Self {
        FullySampled {
            width: 100,
            hidden: vec![512; 3],
            lambda: Lambda::Fixed(0.0),
            points: 1000,
            steps: 40_000,
            rate: 1e-4,
            scaling: Scaling::None,
        }
    }
}

impl FullySampled {
    /// The name of the method.
    pub const NAME: &str = "fully-sampled";

    /// Fits `data`. A stopped fit draws from the current generator.
    ///
    /// # Errors
    /// Unusable data or settings.
    pub fn fit(&self, data: &Dataset, seed: u64, observe: &Observer<'_>) -> Result<Model> {
        at_least_one("width", self.width)?;
        at_least_one("points", self.points)?;
        positive("rate", self.rate)?;
        let layers = !self.hidden.is_empty() && !self.hidden.contains(&0);
        let expected = "layers of at least one unit";
        require(layers, "hidden", expected, format!("{:?}", self.hidden))?;
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
        let (n, train) = (self.width, &prepared.train);
        let (d, c) = (train.dim(), train.y.ncols());
        let units = [d + 2 * c];
        let sizes = [&units, self.hidden.as_slice(), &units].concat();
        let mut generator = Generator::<f32>::new(&sizes, n);
        generator.initialise(&mut stream(seed, Purpose::BaselineParameters, 0));
        let mut adam = Adam::new(generator.parameters());
        let mut joint = Joint::new(train, Activation::Fourier, n).regularised(
            lambda,
            Variation::Anisotropic,
            self.points,
            train.domain(),
        );
        let mut z = vec![0.0; n * units[0]];
        let (mut out, mut d_out) = (Mat::zeros(n, units[0]), Mat::zeros(n, units[0]));
        let (mut b, mut db) = (Mat::zeros(2 * n, c), Mat::zeros(2 * n, c));
        let mut stopped = false;
        // One more draw than steps: the last is the network.
        for step in 0..=self.steps {
            let mut rng = stream(seed, Purpose::BaselineLatents, step as u64);
            z.iter_mut().for_each(|z| *z = rng.sample(StandardNormal));
            generator.forward(&z, out.as_mut());
            for o in 0..c {
                for l in 0..n {
                    (b[(l, o)], b[(n + l, o)]) = (out[(l, d + o)], out[(l, d + c + o)]);
                }
            }
            if stopped || step == self.steps {
                break;
            }
            joint.scatter(&mut stream(seed, Purpose::ProbePoints, step as u64));
            let (w, dw) = (out.as_ref().subcols(0, d), d_out.as_mut().subcols_mut(0, d));
            let loss = joint.gradient(w, b.as_ref(), dw, db.as_mut());
            if !loss.total.is_finite() {
                return Err(Error::Diverged {
                    what: "the loss",
                    step,
                    advice: "lower the learning rate or scale the data",
                });
            }
            for o in 0..c {
                for l in 0..n {
                    (d_out[(l, d + o)], d_out[(l, d + c + o)]) = (db[(l, o)], db[(n + l, o)]);
                }
            }
            generator.backward(d_out.as_ref(), None);
            generator.descend(&mut adam, self.rate);
            stopped = stops(observe, step + 1, self.steps);
        }
        let network = Network {
            activation: Activation::Fourier,
            hidden: out.as_ref().subcols(0, d).to_owned(),
            output: b,
        };
        Ok((network, stopped))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use thinfit::Control;

    #[test]
    fn a_sampled_network_beats_the_mean_and_is_reproducible() {
        let x = Mat::from_fn(80, 1, |i, _| i as f64 / 80.0 - 0.5);
        let y = Mat::from_fn(80, 2, |i, o| (3.0 * x[(i, 0)] + o as f64).sin());
        let data = Dataset::new(x, y).unwrap();
        let method = FullySampled {
            width: 60,
            hidden: vec![24, 24],
            steps: 2000,
            rate: 3e-3,
            ..FullySampled::default()
        };
        let fit = || method.fit(&data, 1, &|_| Control::Continue).unwrap();
        let model = fit();
        let (error, variance) = (
            &model.record.validation_mse,
            &model.record.validation_variance,
        );
        assert!(
            (0..2).all(|o| error[o] < 0.2 * variance[o]),
            "{error:?} {variance:?}"
        );
        assert_eq!(fit(), model);
    }
}
