//! Gaussian processes as candidates: found on all rows, judged by folds in which everything is found again.
//!
//! Leave-one-out errors at fixed lengths are in closed form, but the lengths saw the row that is left out: with sixty
//! rows and twenty lengths they are several times too small. So every fold searches its own lengths, from those of all
//! rows on.

use super::samples::{OutOfFold, Samples};
use crate::kernels::kernel_model::KernelModel;
use crate::{GaussianProcess, Result, Shape};
use faer::Mat;
use rayon::prelude::*;
use thinfit::{Dataset, Observer, Record, Scaler};

/// A Gaussian process with the parameters found on all rows.
pub(crate) struct Teacher {
    pub process: GaussianProcess,
    /// Logarithms of lengths and noise.
    pub log: Vec<f64>,
    pub out_of_fold: OutOfFold,
}

impl Teacher {
    /// Finds the process on all rows, then again without each fold.
    pub fn new(
        process: GaussianProcess,
        samples: &Samples,
        fold_iterations: usize,
        seed: u64,
        observe: &Observer<'_>,
    ) -> Result<Self> {
        let (log, _) = process.find(&samples.data, seed, &|at| observe(&at.part(0, 2)))?;
        let again = GaussianProcess {
            iterations: fold_iterations,
            ..process.clone()
        };
        let folds: Result<Vec<_>> = (0..samples.folds.len())
            .into_par_iter()
            .map(|k| {
                let train = samples.data.rows(&samples.without(k));
                let held = samples.data.rows(&samples.folds[k]);
                let log = again.search_from(&train, &log);
                let model = expansion(&again, &train, &log)?;
                let (f, s) = (
                    model.predict(held.x.as_ref())?,
                    model.deviation(held.x.as_ref())?,
                );
                Ok((&held.y - f, s.observation))
            })
            .collect();
        Ok(Teacher {
            out_of_fold: OutOfFold::gather(samples, folds?),
            process,
            log,
        })
    }

    /// Its name in words.
    pub fn name(&self) -> &'static str {
        match (self.process.kernel, self.process.isotropic) {
            (_, true) => "Gaussian process, one length",
            (Shape::Matern52, _) => "Gaussian process, Matern kernel",
            (Shape::Anova, _) if self.process.prior => "Gaussian process, ANOVA kernel",
            (Shape::Anova, _) => "Gaussian process, free ANOVA kernel",
            (Shape::AnovaMatern52, _) => "Gaussian process, Matern ANOVA kernel",
            _ => "Gaussian process, Gaussian kernel",
        }
    }

    /// The model of all rows of `data`, which `samples` has in scaled units.
    pub fn model(&self, data: &Dataset, samples: &Samples, record: Record) -> Result<KernelModel> {
        let found = self.process.evidence(&samples.data, &self.log)?;
        let record = Record {
            ridge: found.ridge,
            ..record
        };
        let expansion = found.expansion(samples.data.x.clone());
        KernelModel::new(data, samples.scalers.clone(), expansion, record)
    }

    /// Standard deviation of the noise, in scaled outputs (c).
    pub fn noise(&self, samples: &Samples) -> Result<Vec<f64>> {
        let found = self.process.evidence(&samples.data, &self.log)?;
        let noise = self.log[self.log.len() - 1].exp();
        // Less than this is the rounding of the factorisation.
        let rounding = 1e2 * samples.data.samples() as f64 * f64::EPSILON;
        let noise = if noise > rounding { noise } else { 0.0 };
        Ok(found.signal.iter().map(|s| (s * noise).sqrt()).collect())
    }
}

/// The process with given parameters on samples in scaled units.
fn expansion(process: &GaussianProcess, data: &Dataset, log: &[f64]) -> Result<KernelModel> {
    let found = process.evidence(data, log)?;
    let record = Record {
        ridge: found.ridge,
        ..Record::default()
    };
    let identity = |a: &Mat<f64>| Scaler::identity(a.ncols());
    let scalers = (identity(&data.x), identity(&data.y));
    KernelModel::new(data, scalers, found.expansion(data.x.clone()), record)
}
