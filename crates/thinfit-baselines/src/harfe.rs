//! HARFE (Saha, Schaeffer and Tran 2023): hard thresholding pursuit over sparse random sine features.
//!
//! f(x) = Σ_l c_l sin(⟨ω_l, x⟩ + φ_l) with q non-zero entries in each ω_l, and columns scaled to norm one; chooses s of
//! N features to minimise |A c − y|² + λ|c|². Each iteration takes a gradient step c + μ(Aᵀ(y − A c) − λc), keeps the s
//! entries of largest magnitude and solves for them exactly. (The published code compares signed entries where its text
//! says magnitudes; we use magnitudes.) Of the published distributions, only normal ω with uniform phases is here.

use crate::choice::stops;
use crate::least_squares::solve;
use crate::prepared::{Prepared, check_size};
use crate::range::{at_least_one, positive};
use faer::Mat;
use rand::RngExt;
use rand_distr::StandardNormal;
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;
use thinfit::pieces::{Purpose, lower_product, planes, product, random_subset, require, stream};
use thinfit::{Activation, Dataset, Model, Network, Observer, Result, Scaling};

/// Change of the coefficients at which the iteration ends.
const CHANGE: f64 = 1e-5;

/// Settings of HARFE.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Harfe {
    /// Features per row, N/m; 10.
    pub features_per_sample: usize,
    /// Chosen features per row, s/m; 0.15.
    pub support_per_sample: f64,
    /// Number of inputs of a feature, q, capped at the number of inputs; 2.
    pub order: usize,
    /// Mean of the entries of ω; 0.
    pub mean: f64,
    /// Standard deviation of the entries of ω; 1.
    pub deviation: f64,
    /// Step size μ; 0.1.
    pub step: f64,
    /// Ridge λ; 1e-4.
    pub ridge: f64,
    /// Relative residual |A c − y|/|y| at which to stop; 5e-3.
    pub tolerance: f64,
    /// Maximum number of iterations; 200.
    pub iterations: usize,
    /// Scaling of the columns; none.
    pub scaling: Scaling,
}

impl Default for Harfe {
    fn default() -> Self {
        Harfe {
            features_per_sample: 10,
            support_per_sample: 0.15,
            order: 2,
            mean: 0.0,
            deviation: 1.0,
            step: 0.1,
            ridge: 1e-4,
            tolerance: 5e-3,
            iterations: 200,
            scaling: Scaling::None,
        }
    }
}

impl Harfe {
    /// The name of the method.
    pub const NAME: &str = "harfe";

    /// Fits `data`.
    ///
    /// # Errors
    /// Unusable data or settings.
    pub fn fit(&self, data: &Dataset, seed: u64, observe: &Observer<'_>) -> Result<Model> {
        at_least_one("features_per_sample", self.features_per_sample)?;
        at_least_one("order", self.order)?;
        at_least_one("iterations", self.iterations)?;
        positive("support_per_sample", self.support_per_sample)?;
        positive("deviation", self.deviation)?;
        positive("step", self.step)?;
        positive("ridge", self.ridge)?;
        let finite = self.mean.is_finite();
        require(finite, "mean", "a finite number", self.mean)?;
        let prepared = Prepared::new(data, self.scaling, seed)?;
        let half =
            |rows: &Dataset, part: usize| self.pursue(rows, seed, &|at| observe(&at.part(part, 2)));
        let (held_out, raised, stopped) = half(&prepared.train, 0)?;
        // If stopped here, use the network of the training rows.
        let (network, raised, stopped) = match stopped {
            true => (held_out.clone(), raised, true),
            false => half(&prepared.all, 1)?,
        };
        let mut record = prepared.record(Self::NAME, self, seed);
        (record.ridge, record.raised, record.stopped) = (self.ridge, raised, stopped);
        prepared.model(network, &held_out, record)
    }

    /// The network of the features chosen for these rows, how often its ridge was raised, and whether it was stopped.
    fn pursue(
        &self,
        rows: &Dataset,
        seed: u64,
        observe: &Observer<'_>,
    ) -> Result<(Network, usize, bool)> {
        let (m, y) = (rows.samples(), &rows.y);
        let n = self.features_per_sample * m;
        check_size(m, 2 * n, "lower features_per_sample")?;
        let hidden = self.draw(n, rows.dim(), seed);
        let (a, norms) = unit_columns(rows, &hidden);
        let size = ((self.support_per_sample * m as f64) as usize).clamp(1, n);
        let (mut c, mut residual) = (Mat::<f64>::zeros(n, y.ncols()), y.clone());
        let (mut support, mut raised, mut stopped) = (Vec::new(), 0, false);
        for iteration in 0..self.iterations {
            let ascent = product(a.transpose(), residual.as_ref());
            let moved = Mat::from_fn(n, y.ncols(), |l, o| {
                c[(l, o)] + self.step * (ascent[(l, o)] - self.ridge * c[(l, o)])
            });
            support = largest(&moved, size);
            let chosen = Mat::from_fn(m, size, |i, j| a[(i, support[j])]);
            let gram = lower_product(chosen.transpose(), chosen.as_ref());
            let rhs = product(chosen.transpose(), y.as_ref());
            let solved = solve(gram.as_ref(), self.ridge, rhs.as_ref())?;
            raised = solved.raised;
            residual = y - product(chosen.as_ref(), solved.b.as_ref());
            let mut next = Mat::zeros(n, y.ncols());
            for (j, &l) in support.iter().enumerate() {
                (0..y.ncols()).for_each(|o| next[(l, o)] = solved.b[(j, o)]);
            }
            let change = (&next - &c).norm_l2();
            c = next;
            stopped = stops(observe, iteration + 1, self.iterations);
            let exact = residual.norm_l2() <= self.tolerance * y.norm_l2();
            if exact || change <= CHANGE || stopped {
                break;
            }
        }
        // Columns were Φ/n divided by their norm; the network divides by the number of chosen features instead of n.
        let network = Network {
            activation: Activation::Cosine,
            hidden: Mat::from_fn(size, hidden.ncols(), |j, k| hidden[(support[j], k)]),
            output: Mat::from_fn(size + 1, y.ncols(), |j, o| match support.get(j) {
                Some(&l) => c[(l, o)] / norms[l] * size as f64 / n as f64,
                None => 0.0,
            }),
        };
        Ok((network, raised, stopped))
    }

    /// Weights and biases (n × (d + 1)) of cos(π(⟨w, x⟩ + β)) = sin(⟨ω, x⟩ + φ): w = ω/π, β = φ/π − ½.
    fn draw(&self, n: usize, d: usize, seed: u64) -> Mat<f64> {
        let mut rng = stream(seed, Purpose::Frequencies, 0);
        let mut hidden = Mat::zeros(n, d + 1);
        for l in 0..n {
            for j in random_subset(d, self.order.min(d), &mut rng) {
                let normal: f64 = rng.sample(StandardNormal);
                hidden[(l, j)] = (self.mean + self.deviation * normal) / PI;
            }
            hidden[(l, d)] = 2.0 * rng.random::<f64>() - 0.5;
        }
        hidden
    }
}

/// The features at the rows (m × n), scaled to columns of norm one, and their norms before.
fn unit_columns(rows: &Dataset, hidden: &Mat<f64>) -> (Mat<f64>, Vec<f64>) {
    // `planes` also holds derivatives; copying lets us free them.
    let planes = planes(Activation::Cosine, rows.x.as_ref(), hidden.as_ref());
    let mut a = planes.as_ref().subcols(0, hidden.nrows()).to_owned();
    let norms = (0..a.ncols())
        .map(|l| {
            let column = a.col_as_slice_mut(l);
            let square: f64 = column.iter().map(|v| v * v).sum();
            let norm = square.sqrt().max(f64::MIN_POSITIVE);
            column.iter_mut().for_each(|v| *v /= norm);
            norm
        })
        .collect();
    (a, norms)
}

/// The `size` rows of `c` of largest norm, in order; of equals the first.
fn largest(c: &Mat<f64>, size: usize) -> Vec<usize> {
    let magnitudes: Vec<f64> = (0..c.nrows()).map(|l| c.row(l).norm_l2()).collect();
    let mut rows: Vec<usize> = (0..c.nrows()).collect();
    rows.sort_by(|&k, &l| magnitudes[l].total_cmp(&magnitudes[k]).then(k.cmp(&l)));
    rows.truncate(size);
    rows.sort_unstable();
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use thinfit::Control;

    #[test]
    fn a_combination_of_its_own_features_is_found_exactly() {
        let x = Mat::from_fn(100, 4, |i, j| (1.7 * (i * (j + 2)) as f64).sin());
        let method = Harfe {
            features_per_sample: 2,
            support_per_sample: 0.08,
            // Fast waves, since slow ones are too similar to tell apart.
            deviation: 20.0,
            ridge: 1e-10,
            tolerance: 1e-10,
            ..Harfe::default()
        };
        let hidden = method.draw(200, 4, 7);
        let wave = |i: usize, l: usize| {
            let t: f64 = (0..4).map(|j| hidden[(l, j)] * x[(i, j)]).sum();
            (PI * (t + hidden[(l, 4)])).cos()
        };
        let y = Mat::from_fn(100, 1, |i, _| 3.0 * wave(i, 11) - 2.0 * wave(i, 150));
        let data = Dataset::new(x, y).unwrap();
        let (network, ..) = method.pursue(&data, 7, &|_| Control::Continue).unwrap();
        let error = network.values(data.x.as_ref()) - &data.y;
        assert!(
            network.hidden.nrows() == 8 && error.norm_max() < 1e-6,
            "{}",
            error.norm_max()
        );
    }

    #[test]
    fn friedman_is_learnt_as_well_as_published() {
        use rand::RngExt;
        // The published example: noise U(0, 1) on 200 rows, N = 2000, s = 200, mean −1; mean squared error 0.55.
        let mut rng = stream(3, Purpose::ProbePoints, 0);
        let x = Mat::from_fn(1200, 10, |_, _| rng.random::<f64>());
        let f = |i: usize| {
            let x = |j: usize| x[(i, j)];
            10.0 * (PI * x(0) * x(1)).sin() + 20.0 * (x(2) - 0.5).powi(2) + 10.0 * x(3) + 5.0 * x(4)
        };
        let y = Mat::from_fn(200, 1, |i, _| f(i) + rng.random::<f64>());
        let data = Dataset::new(x.as_ref().subrows(0, 200).to_owned(), y).unwrap();
        let method = Harfe {
            support_per_sample: 1.0,
            mean: -1.0,
            ridge: 1e-3,
            ..Harfe::default()
        };
        let model = method.fit(&data, 1, &|_| Control::Continue).unwrap();
        let f = Mat::from_fn(1000, 1, |i, _| f(200 + i));
        let error = model.predict(x.as_ref().subrows(200, 1000)).unwrap() - f;
        let square = error.squared_norm_l2() / 1000.0;
        assert!(square > 0.1 && square < 2.0, "{square}");
    }
}
