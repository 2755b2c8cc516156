//! The objective with both layers free, L(w, b) + λR(w, b), for networks whose output weights are trained.
//!
//! It is the objective of this crate without the two solves: with v = 0 the third sweep reduces to α = (2/Ω) D r, the
//! derivative of the loss through A.

use super::{Loss, Objective};
use crate::data::rows::Rows;
use crate::math::random::Stream;
use crate::network::planes::mix;
use crate::train::layers::Layers;
use crate::{Activation, Dataset, Ridge, Variation};
use faer::{MatMut, MatRef};
use rayon::prelude::*;

/// (1/Ω) Σ_k |f(x_k) − y_k|² + λ · mean ‖∇f‖ over random points, for f(x) = Re Σ_l b_l Φ(⟨w_l, x⟩)/n.
///
/// Evaluations run on the current rayon pool and do not depend on its size. They do not allocate.
pub struct Joint(Objective);

impl Joint {
    /// The objective over the samples, which are not scaled, for `n` neurons and λ = 0.
    pub fn new(data: &Dataset, activation: Activation, n: usize) -> Self {
        Joint(Objective::new(
            activation,
            Ridge::Absolute(0.0),
            Rows::of(data),
            n,
        ))
    }

    /// Adds λR, sampled at `points` points in the box `domain` (d pairs).
    pub fn regularised(
        self,
        lambda: f64,
        norm: Variation,
        points: usize,
        domain: Vec<[f64; 2]>,
    ) -> Self {
        Joint(self.0.regularised(lambda, norm, points, domain))
    }

    /// Draws fresh points for the regulariser.
    pub fn scatter(&mut self, rng: &mut Stream) {
        self.0.scatter(rng);
    }

    /// The objective at w (n × d, or n × (d + 1) with biases) and b (planes as in [`crate::Network`]), and its gradient
    /// in both, of the same shapes.
    pub fn gradient(
        &mut self,
        w: MatRef<'_, f64>,
        b: MatRef<'_, f64>,
        dw: MatMut<'_, f64>,
        db: MatMut<'_, f64>,
    ) -> Loss {
        self.0.gradient_at(w, b, dw, db)
    }

    /// The objective at the weights of a plain network, which keeps its gradient.
    pub fn evaluate(&mut self, layers: &mut Layers) -> Loss {
        layers.evaluate(&mut self.0)
    }
}

impl Objective {
    /// The objective at w and b, and its gradient in both.
    pub(in crate::train) fn gradient_at(
        &mut self,
        w: MatRef<'_, f64>,
        b: MatRef<'_, f64>,
        dw: MatMut<'_, f64>,
        mut db: MatMut<'_, f64>,
    ) -> Loss {
        self.b.copy_from(b);
        mix(self.activation, b, self.mixed.as_mut());
        self.groups
            .par_iter_mut()
            .for_each(|group| group.prepare(w));
        let loss = self.residuals(w);
        db.copy_from(&self.v);
        self.v.fill(0.0);
        self.sweep(w, dw);
        loss
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::random::{Purpose, stream};
    use faer::Mat;

    #[test]
    fn gradient_in_both_layers_agrees_with_central_differences() {
        let x = Mat::from_fn(30, 2, |i, j| ((i * (7 + 4 * j)) % 31) as f64 / 31.0 - 0.4);
        let y = Mat::from_fn(30, 2, |i, o| (3.0 * x[(i, o)]).sin());
        let data = Dataset::new(x.clone(), y).unwrap();
        for activation in Activation::ALL {
            let (n, dim) = (5, activation.weights(2));
            let mut w = Mat::from_fn(n, dim, |l, j| (1.7 * l as f64 + 0.9 * j as f64 + 0.3).sin());
            let mut b = Mat::from_fn(activation.columns(n), 2, |l, o| {
                (2.3 * l as f64 + o as f64 + 0.2).cos()
            });
            let (mut dw, mut db) = (w.clone(), b.clone());
            for lambda in [0.0, 0.3] {
                let mut joint = Joint::new(&data, activation, n);
                joint = joint.regularised(lambda, Variation::Dirichlet, 7, data.domain());
                joint.scatter(&mut stream(1, Purpose::Points, 0));
                joint.gradient(w.as_ref(), b.as_ref(), dw.as_mut(), db.as_mut());
                let (analytic, h) = ((dw.clone(), db.clone()), 1e-5);
                let mut value = |w: &Mat<f64>, b: &Mat<f64>| {
                    let loss = joint.gradient(w.as_ref(), b.as_ref(), dw.as_mut(), db.as_mut());
                    loss.total
                };
                for (which, shape) in [(0, (n, dim)), (1, (b.nrows(), 2))] {
                    for at in (0..shape.0).flat_map(|i| (0..shape.1).map(move |j| (i, j))) {
                        let mut at_shift = |shift: f64| {
                            let (before, entry) = match which {
                                0 => (w[at], &mut w[at]),
                                _ => (b[at], &mut b[at]),
                            };
                            *entry = before + shift;
                            let value = value(&w, &b);
                            match which {
                                0 => w[at] = before,
                                _ => b[at] = before,
                            }
                            value
                        };
                        let numeric = (at_shift(h) - at_shift(-h)) / (2.0 * h);
                        let exact = if which == 0 {
                            analytic.0[at]
                        } else {
                            analytic.1[at]
                        };
                        let error = (numeric - exact).abs();
                        assert!(error < 1e-7 * (1.0 + exact.abs()), "{activation:?} {at:?}");
                    }
                }
            }
        }
    }
}
