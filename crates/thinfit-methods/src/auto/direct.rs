//! Thin networks fitted to the rows themselves, for clean data: random features that know the lengths and the terms,
//! then the polish.
//!
//! With lengths ℓ, w ~ N(0, 1)/(2πℓ) is the spectral density of the Gaussian kernel, so such features start where the
//! process ended. A function that is a sum of terms gets features that act on one term each, and keep to it.

use super::samples::{OutOfFold, Samples};
use super::teacher::Teacher;
use crate::Result;
use crate::random::{Purpose, stream};
use faer::Mat;
use rand::RngExt;
use rand_distr::StandardNormal;
use rayon::prelude::*;
use std::f64::consts::PI;
use thinfit::{Config, Control, Dataset, Features, Form, Model, Polish, Scaler, Training, fit_features};

/// Scales of the random features, in multiples of the spectral density's.
const SCALES: [f64; 3] = [1.0, 0.3, 0.1];
/// Longest length that features know of: beyond it, they would be all alike.
const LONGEST: f64 = 30.0;

/// Networks of `width` neurons for samples in scaled units.
pub(crate) struct Direct {
    width: usize,
    seed: u64,
    /// The sets of inputs that features act on, with lengths: one set for each kernel part.
    sets: Vec<(Vec<usize>, Vec<f64>)>,
    steps: usize,
}

impl Direct {
    /// Networks that know the lengths of `teacher`, and its terms if it is a sum of such.
    pub fn new(teacher: &Teacher, width: usize, steps: usize, seed: u64) -> Self {
        let short = |part: &crate::Part| {
            let lengths = part.lengths.iter().map(|length| length.min(LONGEST));
            (part.inputs.clone(), lengths.collect())
        };
        Direct {
            width,
            seed,
            sets: teacher.parts.iter().map(short).collect(),
            steps,
        }
    }

    /// The network of `data`, which the scalers map to the units of the lengths.
    pub fn fit(&self, data: &Dataset, scalers: (Scaler, Scaler)) -> Result<Model> {
        let config = Config {
            training: Training::Random,
            width: self.width,
            seed: self.seed,
            polish: Polish {
                steps: self.steps,
                form: Form::Real,
                starts: vec![],
                ..Config::fast().polish
            },
            ..Config::fast()
        };
        let starts = SCALES.iter().enumerate().map(|(i, scale)| Features {
            w: self.draw(data.dim(), *scale, i as u64),
            kappa: 1e-13,
        });
        fit_features(data, scalers, &config, starts.collect(), &|_| {
            Control::Continue
        })
    }

    /// What networks fitted without each fold predict there.
    pub fn out_of_fold(&self, samples: &Samples) -> Result<OutOfFold> {
        let identity = |a: &Mat<f64>| Scaler::identity(a.ncols());
        let folds: Result<Vec<_>> = (0..samples.folds.len())
            .into_par_iter()
            .map(|k| {
                let train = samples.data.rows(&samples.without(k));
                let held = samples.data.rows(&samples.folds[k]);
                let model = self.fit(&train, (identity(&train.x), identity(&train.y)))?;
                let f = model.predict(held.x.as_ref())?;
                let s = model.deviation(held.x.as_ref())?;
                Ok((&held.y - f, s.observation))
            })
            .collect();
        Ok(OutOfFold::gather(samples, folds?))
    }

    /// Random features, those of a set zero elsewhere; sets of more inputs get more of them.
    fn draw(&self, d: usize, scale: f64, place: u64) -> Mat<f64> {
        let mut rng = stream(self.seed, Purpose::Frequencies, place);
        let shares: Vec<f64> = (self.sets.iter())
            .map(|(set, _)| (set.len() as f64).powi(2))
            .collect();
        let total: f64 = shares.iter().sum();
        let mut w = Mat::zeros(self.width, d);
        let (mut set, mut reached) = (0, shares[0]);
        for l in 0..self.width {
            while (l as f64 + 0.5) / self.width as f64 > reached / total && set + 1 < shares.len() {
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
