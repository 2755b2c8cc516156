//! Distillation: a thin network fitted to the predictions of a Gaussian process instead of to the rows.
//!
//! The process predicts any number of points without noise, so the network follows it as closely as its width allows.
//! The distance between the two is measured at fresh points, which reveals a bad network.

use crate::network::{FeatureSampler, scaled_fit};
use crate::plan::polish;
use crate::process::Process;
use crate::samples::Samples;
use faer::Mat;
use rand::RngExt;
use thinfit::pieces::{Purpose, stream};
use thinfit::{Dataset, Network, Observer, Result};
use thinfit_gp::KernelModel;

/// Points that the process predicts, in addition to the rows.
const POINTS: usize = 1200;
/// Fresh points at which the network and the process are compared.
const FRESH: usize = 400;
/// Most rows among the points.
const ROWS: usize = 800;
/// How far outside the range points may lie, in multiples of the range over the number of rows.
const OUTSIDE: f64 = 8.0;
/// The same for an input with long tails, in multiples of the range.
const TAIL: f64 = 0.5;
/// Share of the range of a column that the middle nine tenths of its values take unless it has long tails; it is 0.9 for
/// uniform values, 0.5 for a thousand normal ones.
const MIDDLE: f64 = 0.7;
/// Neighbours that a row is mixed with.
const NEIGHBOURS: usize = 6;

/// The network is as good as the process if their squared distance is at most this share of the process's squared error.
const FAITHFUL: f64 = 0.02;

/// A distilled network, and its mean squared distances from the process in scaled outputs (c).
pub(crate) struct Distilled {
    pub network: Network,
    pub distance: Vec<f64>,
}

impl Distilled {
    /// Whether every output follows the process, whose squared errors are `mse` (c), closely enough.
    pub fn is_faithful(&self, mse: &[f64]) -> bool {
        within(&self.distance, FAITHFUL, mse)
    }

    /// The distances of all outputs together.
    pub fn total(&self) -> f64 {
        self.distance.iter().sum()
    }
}

/// Whether every distance is at most a multiple of the corresponding error.
fn within(distance: &[f64], factor: f64, mse: &[f64]) -> bool {
    let mut pairs = distance.iter().zip(mse);
    pairs.all(|(distance, mse)| *distance <= factor * mse)
}

/// The points that a network is fitted to, with the predictions of the process.
pub(crate) struct Distillation {
    model: KernelModel,
    points: Dataset,
    fresh: Dataset,
    sampler: FeatureSampler,
    /// Which inputs have long tails.
    tails: Vec<bool>,
}

impl Distillation {
    /// Draws points where new rows may lie and predicts them by the process.
    pub fn new(process: &Process, samples: &Samples, seed: u64) -> Result<Self> {
        let model = process.scaled_model(samples)?;
        let sampler = FeatureSampler::new(&process.kernel_terms, samples.data.dim(), seed);
        // A warp hides the tails of its column, but new rows still lie far out.
        let bent = |j: usize| samples.scalers.0.warp_of(j).is_some();
        let tails: Vec<bool> = (samples.data.x.col_iter().enumerate())
            .map(|(j, column)| bent(j) || has_long_tails(column.iter().copied().collect()))
            .collect();
        let crowd = crowd(samples, &sampler, &tails, seed);
        let m = samples.data.samples();
        let rows = m.min(ROWS);
        let d = samples.data.dim();
        let x = Mat::from_fn(rows + POINTS, d, |i, j| match i.checked_sub(rows) {
            None => samples.data.x[(i * m / rows, j)],
            Some(i) => crowd[(i, j)],
        });
        let fresh = Mat::from_fn(FRESH, d, |i, j| crowd[(POINTS + i, j)]);
        let predicted = |x: Mat<f64>| Dataset::new(x.clone(), model.predict(x.as_ref())?);
        Ok(Distillation {
            points: predicted(x)?,
            fresh: predicted(fresh)?,
            model,
            sampler,
            tails,
        })
    }

    /// Seconds that a network costs.
    pub fn cost(&self, width: usize, steps: usize) -> f64 {
        let rows = self.points.samples() * self.points.y.ncols();
        polish(rows, self.sampler.entries(width), 2 * width, steps) / 1.5
    }

    /// Whether a network of `width` neurons has fewer parameters than the process.
    pub fn is_smaller(&self, width: usize) -> bool {
        let (d, c) = (self.points.dim(), self.points.y.ncols());
        width * (d + 2 * c) < self.model.parameters()
    }

    /// Whether new rows stay near the range of the old ones, as in a planned experiment: no input has long tails. A
    /// network can go anywhere outside the range; a process goes back to the mean.
    pub fn is_bounded(&self) -> bool {
        self.tails.iter().all(|long| !long)
    }

    /// The sampler of its features.
    pub fn sampler(&self) -> &FeatureSampler {
        &self.sampler
    }

    /// Whether the distance of every output from the process is within a multiple of its error.
    pub fn is_within(&self, network: &Network, factor: f64, mse: &[f64]) -> bool {
        within(&self.distance(network), factor, mse)
    }

    /// Mean squared distances of a network from the process at fresh points, in scaled outputs (c).
    fn distance(&self, network: &Network) -> Vec<f64> {
        let difference = network.values(self.fresh.x.as_ref()) - &self.fresh.y;
        let square = |column: faer::ColRef<'_, f64>| column.squared_norm_l2() / FRESH as f64;
        let finite = |v: f64| if v.is_nan() { f64::INFINITY } else { v };
        difference.col_iter().map(square).map(finite).collect()
    }

    /// A network of `width` neurons after `steps` of the polish.
    pub fn distil(&self, width: usize, steps: usize, watch: &Observer<'_>) -> Result<Distilled> {
        let (network, _) = scaled_fit(&self.points, &self.sampler, width, steps, watch)?;
        let distance = self.distance(&network);
        Ok(Distilled { network, distance })
    }
}

/// Points like new rows: where the inputs look independent, half of them have coordinates of different rows; the others
/// lie on lines through neighbouring rows. New rows may lie a little outside the range of the old ones, the farther the
/// fewer there are; so do the points.
fn crowd(samples: &Samples, sampler: &FeatureSampler, tails: &[bool], seed: u64) -> Mat<f64> {
    let (x, m, d) = (&samples.data.x, samples.data.samples(), samples.data.dim());
    let mut rng = stream(seed, Purpose::ProbePoints, 1);
    let weights = sampler.weights(d);
    let independent = samples.is_independent();
    let mut crowd = Mat::zeros(POINTS + FRESH, d);
    for i in 0..crowd.nrows() {
        let stretch: f64 = rng.random();
        let outwards = |j: usize| 1.0 + stretch * if tails[j] { TAIL } else { OUTSIDE / m as f64 };
        if independent && i % 2 == 0 {
            for j in 0..d {
                crowd[(i, j)] = outwards(j) * x[(rng.random_range(0..m), j)];
            }
            continue;
        }
        let row = rng.random_range(0..m);
        let mut others: Vec<(f64, usize)> = (0..m)
            .map(|k| {
                let square = |j: usize| (weights[j] * (x[(k, j)] - x[(row, j)])).powi(2);
                ((0..d).map(square).sum(), k)
            })
            .collect();
        let near = NEIGHBOURS.min(m - 1);
        others.select_nth_unstable_by(near, |a, b| a.0.total_cmp(&b.0));
        let mate = others[rng.random_range(0..=near)].1;
        let t = rng.random_range(-0.3..1.3);
        for j in 0..d {
            let mixed = x[(row, j)] + t * (x[(mate, j)] - x[(row, j)]);
            crowd[(i, j)] = outwards(j) * mixed.clamp(-0.5, 0.5);
        }
    }
    crowd
}

/// Whether a column in [−½, ½] has long tails.
fn has_long_tails(mut column: Vec<f64>) -> bool {
    column.sort_by(f64::total_cmp);
    let at = |share: f64| column[((column.len() - 1) as f64 * share).round() as usize];
    let range = at(1.0) - at(0.0);
    range > 0.0 && at(0.95) - at(0.05) < MIDDLE * range
}
