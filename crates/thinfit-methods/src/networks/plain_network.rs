//! The plain two-layer network of the paper's comparisons: Adam trains both layers, nothing is solved for.
//!
//! f(x) = Re Σ_l b_l Φ(⟨w_l, x⟩) without the factor 1/n, and with an output bias where Φ has biases. The loss is mean_k
//! |f(x_k) − y_k|² + λ · mean_j ‖∇f(p_j)‖₁ over all rows and points p_j drawn afresh in every step. Both layers start
//! uniform in ±1/√(inputs of the layer). As in the paper, the result is the last iterate, not the best one. We use
//! double precision where the paper uses single.

use crate::choice::{best_lambda, stops};
use crate::prepared::Prepared;
use crate::random::{Purpose, stream};
use crate::range::{at_least_one, positive};
use faer::{Mat, MatMut, MatRef};
use rand::RngExt;
use serde::{Deserialize, Serialize};
use thinfit::pieces::{Adam, Joint};
use thinfit::{
    Activation, Dataset, Error, Lambda, Model, Network, Observer, Result, Scaling, Variation,
};

/// Minimum number of points at which the variation is sampled.
const POINTS: usize = 1000;

/// Settings of the plain network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PlainNetwork {
    /// Activation; Fourier.
    pub activation: Activation,
    /// Number of neurons; 100.
    pub width: usize,
    /// Strength λ of the total variation, or `auto` for the best of the grid by validation; 0.
    pub lambda: Lambda,
    /// Number of Adam steps; 100,000.
    pub steps: usize,
    /// Learning rate; 1e-3.
    pub rate: f64,
    /// Scaling of the columns; none.
    pub scaling: Scaling,
}

impl Default for PlainNetwork {
    fn default() -> Self {
        PlainNetwork {
            activation: Activation::Fourier,
            width: 100,
            lambda: Lambda::Fixed(0.0),
            steps: 100_000,
            rate: 1e-3,
            scaling: Scaling::None,
        }
    }
}

impl PlainNetwork {
    /// The name of the method.
    pub const NAME: &str = "plain";

    /// Fits `data`; see [`crate::Method::fit`]. A stopped fit keeps its last iterate.
    ///
    /// # Errors
    /// As [`crate::Method::fit`].
    pub fn fit(&self, data: &Dataset, seed: u64, observe: &Observer<'_>) -> Result<Model> {
        positive("rate", self.rate)?;
        let prepared = Prepared::new(data, self.scaling, seed)?;
        let record = prepared.record(Self::NAME, self, seed);
        best_lambda(
            prepared,
            self.lambda,
            record,
            observe,
            &|prepared, lambda, observe| {
                let mut layers = Layers::new(prepared, self.activation, self.width, lambda, seed)?;
                let mut adam = Adam::new(layers.theta.len());
                let stopped = layers.descend(self.steps, observe, &mut |_, theta, gradient| {
                    adam.update(self.rate, theta, gradient);
                })?;
                Ok((layers.network(), stopped))
            },
        )
    }
}

/// Updates the parameters by their gradient: (step, θ, dθ).
pub(crate) type Update<'a> = dyn FnMut(u64, &mut [f64], &[f64]) + 'a;

/// Both layers as one leaf θ = (w, b), column by column, and the objective.
pub(crate) struct Layers {
    activation: Activation,
    n: usize,
    /// Columns of w and of b.
    columns: (usize, usize),
    seed: u64,
    pub theta: Vec<f64>,
    gradient: Vec<f64>,
    /// n·b, since thinfit divides the sum over the neurons by n and this network does not.
    b: Mat<f64>,
    db: Mat<f64>,
    joint: Joint,
}

impl Layers {
    pub fn new(
        prepared: &Prepared<'_>,
        activation: Activation,
        n: usize,
        lambda: f64,
        seed: u64,
    ) -> Result<Self> {
        at_least_one("width", n)?;
        let train = &prepared.train;
        let (d, c) = (train.dim(), train.y.ncols());
        let (dim, k) = (activation.weights(d), activation.columns(n));
        let mut rng = stream(seed, Purpose::Parameters, 0);
        let theta: Vec<f64> = (0..n * dim + k * c)
            .map(|i| {
                let inputs = if i < n * dim { d } else { n };
                (2.0 * rng.random::<f64>() - 1.0) / (inputs as f64).sqrt()
            })
            .collect();
        let points = POINTS.max(train.samples());
        let joint = Joint::new(train, activation, n);
        Ok(Layers {
            activation,
            n,
            columns: (dim, c),
            seed,
            gradient: vec![0.0; theta.len()],
            theta,
            b: Mat::zeros(k, c),
            db: Mat::zeros(k, c),
            joint: joint.regularised(lambda, Variation::Anisotropic, points, train.domain()),
        })
    }

    /// Factor of a row of b in thinfit's convention.
    fn factor(&self, row: usize) -> f64 {
        let bias = self.activation.has_bias() && row == self.n;
        if bias { 1.0 } else { self.n as f64 }
    }

    /// Takes all steps or until `observe` stops; returns whether it did.
    pub fn descend(
        &mut self,
        steps: usize,
        observe: &Observer<'_>,
        update: &mut Update<'_>,
    ) -> Result<bool> {
        for step in 0..steps as u64 {
            let loss = self.evaluate(step);
            if !loss.is_finite() {
                return Err(Error::Diverged {
                    what: "the loss",
                    step: step as usize,
                    advice: "lower the learning rate or scale the data",
                });
            }
            update(step, &mut self.theta, &self.gradient);
            if stops(observe, step as usize + 1, steps) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The loss at θ with the points of this step; stores its gradient.
    fn evaluate(&mut self, step: u64) -> f64 {
        let (n, (dim, c)) = (self.n, self.columns);
        let k = self.b.nrows();
        self.joint
            .scatter(&mut stream(self.seed, Purpose::Points, step));
        for o in 0..c {
            for l in 0..k {
                self.b[(l, o)] = self.factor(l) * self.theta[n * dim + o * k + l];
            }
        }
        let w = MatRef::from_column_major_slice(&self.theta[..n * dim], n, dim);
        let dw = MatMut::from_column_major_slice_mut(&mut self.gradient[..n * dim], n, dim);
        let loss = self
            .joint
            .gradient(w, self.b.as_ref(), dw, self.db.as_mut());
        for o in 0..c {
            for l in 0..k {
                self.gradient[n * dim + o * k + l] = self.factor(l) * self.db[(l, o)];
            }
        }
        loss.total
    }

    /// The current network.
    pub fn network(&self) -> Network {
        let (n, (dim, c)) = (self.n, self.columns);
        let (w, b) = self.theta.split_at(n * dim);
        let k = self.b.nrows();
        Network {
            activation: self.activation,
            hidden: MatRef::from_column_major_slice(w, n, dim).to_owned(),
            output: Mat::from_fn(k, c, |l, o| self.factor(l) * b[o * k + l]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use thinfit::{Control, Progress};

    fn wave(m: usize) -> Dataset {
        let x = Mat::from_fn(m, 2, |i, j| ((i * (7 + 12 * j)) % 97) as f64 / 97.0);
        let y = Mat::from_fn(m, 1, |i, _| (3.0 * x[(i, 0)]).sin() + x[(i, 1)]);
        Dataset::new(x, y).unwrap()
    }

    #[test]
    fn gradient_agrees_with_central_differences() {
        let data = wave(40);
        for activation in [Activation::Fourier, Activation::Sigmoid, Activation::Relu] {
            for lambda in [0.0, 0.1] {
                let prepared = Prepared::new(&data, Scaling::None, 1).unwrap();
                let mut layers = Layers::new(&prepared, activation, 6, lambda, 1).unwrap();
                layers.evaluate(0);
                // Small enough that no point crosses a kink of the variation.
                let (gradient, h) = (layers.gradient.clone(), 1e-8);
                for (i, exact) in gradient.iter().enumerate() {
                    let mut at = |shift: f64| {
                        let before = layers.theta[i];
                        layers.theta[i] += shift;
                        let loss = layers.evaluate(0);
                        layers.theta[i] = before;
                        loss
                    };
                    let numeric = (at(h) - at(-h)) / (2.0 * h);
                    let error = (numeric - exact).abs();
                    assert!(
                        error < 1e-5,
                        "{activation:?} {lambda} {i}: {numeric} {exact}"
                    );
                }
            }
        }
    }

    #[test]
    fn every_activation_learns_a_wave_and_can_be_stopped() {
        let data = wave(90);
        for activation in [Activation::Fourier, Activation::Sigmoid, Activation::Relu] {
            let method = PlainNetwork {
                activation,
                width: 20,
                steps: 3000,
                rate: 1e-2,
                ..PlainNetwork::default()
            };
            let model = method.fit(&data, 1, &|_| Control::Continue).unwrap();
            let error = model.record.validation_mse[0];
            assert!(
                error < 1e-2 * model.record.validation_variance[0],
                "{activation:?} {error:e}"
            );
            let count = AtomicUsize::new(0);
            let stop = |_: &Progress<'_>| {
                if count.fetch_add(1, Ordering::Relaxed) < 9 {
                    Control::Continue
                } else {
                    Control::Stop
                }
            };
            let stopped = method.fit(&data, 1, &stop).unwrap();
            assert!(stopped.record.stopped && count.into_inner() == 10);
        }
    }

    #[test]
    fn auto_is_the_best_of_the_grid_by_validation() {
        let data = wave(40);
        let fit = |lambda| {
            let method = PlainNetwork {
                width: 5,
                steps: 200,
                lambda,
                rate: 1e-2,
                ..PlainNetwork::default()
            };
            let record = method.fit(&data, 2, &|_| Control::Continue).unwrap().record;
            (record.validation_mse[0], record.lambda)
        };
        let each = Lambda::GRID.map(|lambda| fit(Lambda::Fixed(lambda)));
        let best = each.into_iter().min_by(|a, b| a.0.total_cmp(&b.0)).unwrap();
        assert!(best.1 > 0.0, "{each:?}");
        assert_eq!(fit(Lambda::Auto), best, "{each:?}");
    }
}
