//! Both layers of a plain network as one leaf, θ = (w, b), and the gradient of the objective in it.
//!
//! f(x) = Re Σ_l b_l Φ(⟨w_l, x⟩) without the factor 1/n, and with an output bias where Φ has biases.

use super::objective::{Loss, Objective};
use super::step::foreign_state;
use crate::{Activation, Network, Result};
use faer::{Mat, MatMut, MatRef};
use rand::{Rng, RngExt};

/// The weights of a plain network: w is n × d′ (d′ = d + 1 with biases), b is k × c (planes).
pub struct Layers {
    activation: Activation,
    n: usize,
    /// w (n × d′) and b (k × c), column by column.
    pub theta: Vec<f64>,
    /// The gradient at the last evaluation.
    pub gradient: Vec<f64>,
    /// n·b and its gradient, since the objective divides the sum over the neurons by n.
    b: Mat<f64>,
    db: Mat<f64>,
}

impl Layers {
    /// All weights 0, for `n` neurons of `dim` = d′ weights and `c` outputs.
    pub fn new(activation: Activation, n: usize, dim: usize, c: usize) -> Self {
        let k = activation.columns(n);
        let len = n * dim + k * c;
        Layers {
            activation,
            n,
            theta: vec![0.0; len],
            gradient: vec![0.0; len],
            b: Mat::zeros(k, c),
            db: Mat::zeros(k, c),
        }
    }

    /// Draws both layers uniformly in ±1/√(inputs of the layer).
    pub fn initialise(&mut self, rng: &mut impl Rng) {
        let (hidden, n) = (self.hidden_len(), self.n);
        let d = hidden / n - usize::from(self.activation.has_bias());
        for (i, theta) in self.theta.iter_mut().enumerate() {
            let inputs = if i < hidden { d } else { n };
            *theta = (2.0 * rng.random::<f64>() - 1.0) / (inputs as f64).sqrt();
        }
    }

    fn hidden_len(&self) -> usize {
        self.theta.len() - self.b.nrows() * self.b.ncols()
    }

    /// w and b, column by column.
    pub fn parts(&self) -> (&[f64], &[f64]) {
        self.theta.split_at(self.hidden_len())
    }

    /// Overwrites w and b.
    pub(super) fn set(&mut self, w: &[f64], b: &[f64]) -> Result<()> {
        if (w.len(), w.len() + b.len()) != (self.hidden_len(), self.theta.len()) {
            return Err(foreign_state("arrays of other lengths"));
        }
        let (to_w, to_b) = self.theta.split_at_mut(w.len());
        to_w.copy_from_slice(w);
        to_b.copy_from_slice(b);
        Ok(())
    }

    /// w, n × d′.
    pub(super) fn hidden(&self) -> MatRef<'_, f64> {
        let (w, n) = (self.parts().0, self.n);
        MatRef::from_column_major_slice(w, n, w.len() / n)
    }

    /// n·b with the bias as it is: the output weights of a [`Network`], k × c.
    pub(super) fn output(&mut self) -> MatRef<'_, f64> {
        let (hidden, k) = (self.hidden_len(), self.b.nrows());
        for o in 0..self.b.ncols() {
            for l in 0..k {
                self.b[(l, o)] =
                    factor(self.activation, self.n, l) * self.theta[hidden + o * k + l];
            }
        }
        self.b.as_ref()
    }

    /// The network with these weights.
    pub fn network(&mut self) -> Network {
        Network {
            activation: self.activation,
            output: self.output().to_owned(),
            hidden: self.hidden().to_owned(),
        }
    }

    /// The objective at θ; its gradient is kept.
    pub(crate) fn evaluate(&mut self, objective: &mut Objective) -> Loss {
        self.output();
        let (n, k, hidden) = (self.n, self.b.nrows(), self.hidden_len());
        let w = MatRef::from_column_major_slice(&self.theta[..hidden], n, hidden / n);
        let (dw, db) = self.gradient.split_at_mut(hidden);
        let dw = MatMut::from_column_major_slice_mut(dw, n, hidden / n);
        let loss = objective.gradient_at(w, self.b.as_ref(), dw, self.db.as_mut());
        for (i, to) in db.iter_mut().enumerate() {
            *to = factor(self.activation, n, i % k) * self.db[(i % k, i / k)];
        }
        loss
    }
}

/// Row `row` of a network's output weights over that of b.
fn factor(activation: Activation, n: usize, row: usize) -> f64 {
    let bias = activation.has_bias() && row == n;
    if bias { 1.0 } else { n as f64 }
}
