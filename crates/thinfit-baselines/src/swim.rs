//! SWIM, "sample where it matters" (Bolager et al. 2023): every neuron lies between two samples; hidden weights are
//! not trained.
//!
//! Pairs of samples are drawn with a probability proportional to the slope max_o |y_to − y_from| / |x_to − x_from|.
//! With v = (x_to − x_from)/|x_to − x_from|² a neuron is Φ(⟨w, x⟩ + β), w = s·v and β = −⟨w, x_from⟩ + t, where (s, t)
//! gives Φ fixed values at the two samples: ReLU 0 and 1 (s = 1, t = 0), tanh −½ and ½ (s = ln 3,
//! t = −½ ln 3), sigmoid ¼ and ¾ (s = 2 ln 3, t = −ln 3). The output weights are a least squares fit without the small
//! singular values. Only one hidden layer is here; the paper has more.

use crate::choice::stops;
use crate::least_squares::truncated;
use crate::prepared::Prepared;
use crate::range::at_least_one;
use faer::{Mat, MatRef};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};
use thinfit::pieces::{Purpose, planes, require, stream};
use thinfit::{Activation, Dataset, Model, Network, Observer, Result, Scaling};

/// Smallest distance of two samples; closer ones count as this far apart.
const NEAREST: f64 = 1e-10;

/// Settings of SWIM.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Swim {
    /// Number of neurons; 100.
    pub width: usize,
    /// ReLU (the default), tanh or sigmoid.
    pub activation: Activation,
    /// Singular values of the design matrix below this fraction of the largest are treated as zero; 1e-8.
    pub cutoff: f64,
    /// Scaling of the columns; none.
    pub scaling: Scaling,
}

impl Default for Swim {
    fn default() -> Self {
        Swim {
            width: 100,
            activation: Activation::Relu,
            cutoff: 1e-8,
            scaling: Scaling::None,
        }
    }
}

impl Swim {
    /// The name of the method.
    pub const NAME: &str = "swim";

    /// Fits `data`.
    ///
    /// # Errors
    /// Unusable data or settings.
    pub fn fit(&self, data: &Dataset, seed: u64, observe: &Observer<'_>) -> Result<Model> {
        at_least_one("width", self.width)?;
        let cutoff = self.cutoff;
        let fraction = "a number between 0 and 1";
        require((0.0..1.0).contains(&cutoff), "cutoff", fraction, cutoff)?;
        let ln3 = 3f64.ln();
        let place = match self.activation {
            Activation::Relu => Some((1.0, 0.0)),
            Activation::Tanh => Some((ln3, -0.5 * ln3)),
            Activation::Sigmoid => Some((2.0 * ln3, -ln3)),
            _ => None,
        };
        let expected = "relu, tanh or sigmoid";
        require(
            place.is_some(),
            "activation",
            expected,
            self.activation.name(),
        )?;
        let place = place.unwrap_or_default();
        let prepared = Prepared::new(data, self.scaling, seed)?;
        let solve = |rows: &Dataset| -> Result<Network> {
            let mut rng = stream(seed, Purpose::Pairs, 0);
            let hidden = neurons(rows, self.width, place, &mut rng);
            let a = activations(self.activation, rows.x.as_ref(), &hidden);
            let [mut output] = truncated(a.as_ref(), rows.y.as_ref(), [cutoff])?;
            // thinfit divides the sum over the neurons by their number.
            for o in 0..output.ncols() {
                (0..self.width).for_each(|l| output[(l, o)] *= self.width as f64);
            }
            Ok(Network {
                activation: self.activation,
                hidden,
                output,
            })
        };
        let (held_out, network) = (solve(&prepared.train)?, solve(&prepared.all)?);
        let mut record = prepared.record(Self::NAME, self, seed);
        record.stopped = stops(observe, 1, 1);
        prepared.model(network, &held_out, record)
    }
}

/// Hidden weights and biases (n × (d + 1)) of neurons between pairs of samples.
fn neurons(data: &Dataset, n: usize, (s, t): (f64, f64), rng: &mut ChaCha8Rng) -> Mat<f64> {
    let (m, d) = (data.samples(), data.dim());
    let squared = |a: &Mat<f64>, i: usize, k: usize| -> f64 {
        a.row(i)
            .iter()
            .zip(a.row(k).iter())
            .map(|(a, b)| (b - a) * (b - a))
            .sum()
    };
    let candidates: Vec<(usize, usize)> = (0..m * n.div_ceil(m))
        .map(|_| {
            let from = rng.random_range(0..m);
            (from, (from + rng.random_range(1..(m - 1).max(2))) % m)
        })
        .collect();
    let distance = |from, to| squared(&data.x, from, to).sqrt().max(NEAREST);
    let mut total = 0.0;
    let sums: Vec<f64> = candidates
        .iter()
        .map(|&(from, to)| {
            let rise = (0..data.y.ncols()).map(|o| (data.y[(to, o)] - data.y[(from, o)]).abs());
            total += rise.fold(0.0, f64::max) / distance(from, to);
            total
        })
        .collect();
    let mut w = Mat::zeros(n, d + 1);
    for l in 0..n {
        let u = rng.random::<f64>();
        let pick = if total < NEAREST {
            (u * sums.len() as f64) as usize
        } else {
            sums.partition_point(|&sum| sum <= u * total)
        };
        let (from, to) = candidates[pick.min(sums.len() - 1)];
        w[(l, d)] = t;
        for j in 0..d {
            let step = data.x[(to, j)] - data.x[(from, j)];
            w[(l, j)] = s * step / distance(from, to).powi(2);
            w[(l, d)] -= w[(l, j)] * data.x[(from, j)];
        }
    }
    w
}

/// \[Φ(⟨w_l, x_k⟩ + β_l) | 1\], m × (n + 1).
fn activations(activation: Activation, x: MatRef<'_, f64>, w: &Mat<f64>) -> Mat<f64> {
    let mut planes = planes(activation, x, w.as_ref());
    for column in planes.as_mut().subcols_mut(0, w.nrows()).col_iter_mut() {
        column.iter_mut().for_each(|v| *v *= w.nrows() as f64);
    }
    planes
}

#[cfg(test)]
mod tests {
    use super::*;
    use thinfit::Control;

    fn line() -> Dataset {
        let x = Mat::from_fn(40, 2, |i, j| ((i * (3 + 8 * j)) % 41) as f64 / 41.0);
        let y = Mat::from_fn(40, 1, |i, _| (x[(i, 0)] - 0.5).abs());
        Dataset::new(x, y).unwrap()
    }

    #[test]
    fn a_neuron_takes_its_two_values_at_its_two_samples() {
        let x = Mat::from_fn(2, 3, |i, j| (i * (j + 1)) as f64 + 0.3 * j as f64);
        let data = Dataset::new(x.clone(), Mat::from_fn(2, 1, |i, _| i as f64)).unwrap();
        let ln3 = 3f64.ln();
        for (activation, place, expected) in [
            (Activation::Relu, (1.0, 0.0), [0.0, 1.0]),
            (Activation::Tanh, (ln3, -0.5 * ln3), [-0.5, 0.5]),
            (Activation::Sigmoid, (2.0 * ln3, -ln3), [0.25, 0.75]),
        ] {
            let w = neurons(&data, 5, place, &mut stream(1, Purpose::Pairs, 0));
            let values = activations(activation, x.as_ref(), &w);
            for l in 0..5 {
                let mut pair = [values[(0, l)], values[(1, l)]];
                pair.sort_by(f64::total_cmp);
                assert!(
                    (0..2).all(|i| (pair[i] - expected[i]).abs() < 1e-12),
                    "{pair:?}"
                );
            }
        }
    }

    #[test]
    fn the_model_has_the_values_of_the_least_squares_fit() {
        let data = line();
        for activation in [Activation::Relu, Activation::Tanh, Activation::Sigmoid] {
            let method = Swim {
                activation,
                ..Swim::default()
            };
            let model = method.fit(&data, 3, &|_| Control::Continue).unwrap();
            let error = model.predict(data.x.as_ref()).unwrap() - &data.y;
            // With more neurons than samples the fit interpolates.
            assert!(
                error.norm_max() < 1e-5,
                "{activation:?} {}",
                error.norm_max()
            );
        }
    }

    #[test]
    fn other_activations_are_refused() {
        let method = Swim {
            activation: Activation::Fourier,
            ..Swim::default()
        };
        let error = method.fit(&line(), 1, &|_| Control::Continue).unwrap_err();
        assert!(error.to_string().contains("relu, tanh or sigmoid"));
    }
}
