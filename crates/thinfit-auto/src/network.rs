//! Thin networks as candidates: random features with the length scales and terms of a Gaussian process, then the
//! polish.
//!
//! With length scales ℓ, w ~ N(0, 1)/(2πℓ) is the spectral density of the Gaussian kernel, so such features start
//! where the process ended. A function that is a sum of terms gets features that act on one term each, and stay so.

use crate::samples::{OutOfFold, Samples};
use faer::Mat;
use rand::RngExt;
use rand_distr::StandardNormal;
use rayon::prelude::*;
use std::f64::consts::PI;
use thinfit::pieces::{Executor, Purpose, stream};
use thinfit::{
    Config, Dataset, Features, Form, Network, Observer, Polish, Result, Scaler, Training,
    fit_features,
};
use thinfit_gp::KernelTerm;

/// Scales of the random features, in multiples of the spectral density's.
const SCALES: [f64; 3] = [1.0, 0.3, 0.1];
/// Longest length that features know of: beyond it, they would be all alike.
const LONGEST: f64 = 30.0;
/// Ridge of the polish relative to the largest singular value.
pub(crate) const KAPPA: f64 = 1e-13;

/// Draws random features: sets of inputs with lengths, one for each term of a kernel.
#[derive(Clone)]
pub(crate) struct FeatureSampler {
    sets: Vec<(Vec<usize>, Vec<f64>)>,
    seed: u64,
}

impl FeatureSampler {
    /// The features of a kernel of `d` inputs; those derived from them have none.
    pub fn new(kernel_terms: &[KernelTerm], d: usize, seed: u64) -> Self {
        // An input with a small share acts as if its length were longer.
        let short = |term: &KernelTerm| {
            let share = |k: usize| {
                term.shares
                    .get(k)
                    .map_or(1.0, |share| share.max(1e-12).sqrt())
            };
            let axes = term.inputs.iter().zip(&term.lengths).enumerate();
            let axes = axes.filter(|(_, (j, _))| **j < d);
            axes.map(|(k, (j, length))| (*j, (length / share(k)).min(LONGEST)))
                .unzip()
        };
        FeatureSampler {
            sets: kernel_terms.iter().map(short).collect(),
            seed,
        }
    }

    /// The seed of the draws.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// How many entries of the weights of `width` neurons are free.
    pub fn entries(&self, width: usize) -> usize {
        let w = self.draw(width, self.inputs(), 1.0, 0);
        (0..w.ncols())
            .map(|j| w.col(j).iter().filter(|v| **v != 0.0).count())
            .sum()
    }

    /// The largest 1/ℓ of each input, 0 for an input without features (d).
    pub fn weights(&self, d: usize) -> Vec<f64> {
        let mut weights = vec![0.0f64; d];
        for (inputs, lengths) in &self.sets {
            for (&j, length) in inputs.iter().zip(lengths) {
                weights[j] = weights[j].max(1.0 / length);
            }
        }
        weights
    }

    /// The features of all `d` inputs at once, with the shortest length that each has in any set; none if these are such.
    pub fn dense(&self, d: usize) -> Option<FeatureSampler> {
        let length = |weight: f64| match weight > 0.0 {
            true => 1.0 / weight,
            false => LONGEST,
        };
        let lengths = self.weights(d).into_iter().map(length).collect();
        let sparse = self.sets.iter().any(|(inputs, _)| inputs.len() < d);
        sparse.then(|| FeatureSampler {
            sets: vec![((0..d).collect(), lengths)],
            seed: self.seed,
        })
    }

    fn inputs(&self) -> usize {
        let all = self.sets.iter().flat_map(|(set, _)| set);
        all.max().map_or(1, |last| last + 1)
    }

    /// Random features of `width` neurons, those of a set zero elsewhere; sets of more inputs get more of them.
    fn draw(&self, width: usize, d: usize, scale: f64, place: u64) -> Mat<f64> {
        let mut rng = stream(self.seed, Purpose::Frequencies, place);
        let shares: Vec<f64> = (self.sets.iter())
            .map(|(set, _)| (set.len() as f64).powi(2))
            .collect();
        let total: f64 = shares.iter().sum();
        let mut w = Mat::zeros(width, d);
        let (mut set, mut reached) = (0, shares[0]);
        for l in 0..width {
            while (l as f64 + 0.5) / width as f64 > reached / total && set + 1 < shares.len() {
                set += 1;
                reached += shares[set];
            }
            let (inputs, lengths) = &self.sets[set];
            for (&j, length) in inputs.iter().zip(lengths) {
                let normal: f64 = rng.sample(StandardNormal);
                w[(l, j)] = scale * normal / (2.0 * PI * length);
            }
        }
        w
    }
}

/// The network of `width` neurons that the polish makes of the sampler's features, for samples in scaled units, and its
/// mean squared error on a tenth of them, before these take part in the final solve.
pub(crate) fn scaled_fit(
    data: &Dataset,
    sampler: &FeatureSampler,
    width: usize,
    steps: usize,
    watch: &Observer<'_>,
) -> Result<(Network, f64)> {
    let config = Config {
        training: Training::Random,
        width,
        seed: sampler.seed,
        polish: Polish {
            steps,
            form: Form::Real,
            starts: vec![],
            ..Config::fast().polish
        },
        ..Config::fast()
    };
    let starts = SCALES.iter().zip(0..).map(|(scale, place)| Features {
        w: sampler.draw(width, data.dim(), *scale, place),
        kappa: KAPPA,
    });
    let identity = |a: &Mat<f64>| Scaler::identity(a.ncols());
    let scalers = (identity(&data.x), identity(&data.y));
    let model = fit_features(data, scalers, &config, starts.collect(), watch)?;
    let errors = &model.record.validation_mse;
    let error = errors.iter().sum::<f64>() / errors.len() as f64;
    let network = Network {
        activation: model.activation(),
        hidden: model.scaled_hidden().to_owned(),
        output: model.scaled_output().to_owned(),
    };
    Ok((network, error))
}

/// Cross-validation of networks fitted to the rows, fold k with the features of sampler k; none if one of the fits fails.
/// The executor may spread the folds.
pub(crate) fn out_of_fold(
    samples: &Samples,
    samplers: &[FeatureSampler],
    width: usize,
    steps: usize,
    (executor, watch): (&dyn Executor, &Observer<'_>),
) -> Result<Option<OutOfFold>> {
    let fold = |k: usize| {
        let train = samples.data.rows(&samples.without(k));
        let held = samples.data.rows(&samples.folds[k]);
        let (network, _) = scaled_fit(&train, &samplers[k], width, steps, watch).ok()?;
        let residual = &held.y - network.values(held.x.as_ref());
        // Networks are calibrated by the spread of their own features.
        let deviation = Mat::from_fn(residual.nrows(), residual.ncols(), |_, _| 1.0);
        residual.is_all_finite().then_some(OutOfFold {
            residual,
            deviation,
        })
    };
    let folds = executor.map(samples.folds.len(), |mine| {
        Ok(mine.into_par_iter().map(fold).collect())
    })?;
    let folds = folds.into_iter().collect::<Option<Vec<OutOfFold>>>();
    Ok(folds.map(|folds| OutOfFold::gather(samples, folds)))
}
