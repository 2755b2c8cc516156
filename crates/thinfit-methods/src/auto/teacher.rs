//! Gaussian processes as candidates: found on all rows, judged by folds in which everything is found again.
//!
//! Leave-one-out errors at fixed lengths are in closed form, but the lengths saw the row that is left out: with sixty
//! rows and twenty lengths they are several times too small. So every fold searches its own lengths, from those of all
//! rows on.

use super::samples::{OutOfFold, Samples};
use crate::kernels::evidence::{Evidence, evidence_of_sum};
use crate::kernels::gaussian_process::threads;
use crate::kernels::kernel_model::KernelModel;
use crate::kernels::lbfgs::Lbfgs;
use crate::{Error, GaussianProcess, Part, Result, Shape};
use faer::Mat;
use rayon::prelude::*;
use thinfit::{Dataset, Observer, Record, Scaler};

/// Steps of the search for the weights of a committee.
const COMMITTEE_STEPS: usize = 20;

/// A Gaussian process found on all rows.
pub(crate) struct Teacher {
    /// Its name in words.
    pub name: &'static str,
    /// Its kernel on all rows.
    pub parts: Vec<Part>,
    /// Its kernel without each fold.
    fold_parts: Vec<Vec<Part>>,
    pub evidence: Evidence,
    pub out_of_fold: OutOfFold,
}

impl Teacher {
    /// Finds the process on all rows, then again without each fold.
    pub fn new(
        name: &'static str,
        process: &GaussianProcess,
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
        Self::judged(name, samples, |data, _| {
            let log = match data.samples() == samples.data.samples() {
                true => log.clone(),
                false => again.search_from(data, &log),
            };
            again.evidence(data, &log)
        })
    }

    /// The process whose kernel is a sum of those of other teachers, with weights by evidence: it leans on whichever
    /// the rows support, and where they cannot tell it averages.
    pub fn committee(members: &[Teacher], samples: &Samples) -> Result<Self> {
        Self::judged("Gaussian process, sum of kernels", samples, |data, fold| {
            let parts = members.iter().flat_map(|member| match fold {
                None => member.parts.clone(),
                Some(k) => member.fold_parts[k].clone(),
            });
            let parts: Vec<Part> = parts.collect();
            let grams: Vec<Mat<f64>> = parts.iter().map(|p| p.gram(data.x.as_ref())).collect();
            let evidence = |log: &[f64]| {
                evidence_of_sum(&parts, &grams, &data.y, log, threads(data.samples()))
            };
            let objective = |log: &[f64]| evidence(log).map(|found| (found.value, found.gradient));
            let mut start = vec![0.0; parts.len()];
            let noise = members.iter().map(|member| member.evidence.ridge);
            start.push(noise.fold(f64::MIN_POSITIVE, f64::max).ln());
            let mut bounds = vec![[-12.0, 12.0]; parts.len()];
            bounds.push([f64::EPSILON.ln(), 7.0]);
            let mut search = Lbfgs::new(start, bounds, &objective);
            for _ in 0..COMMITTEE_STEPS {
                if search.done {
                    break;
                }
                search.step(&objective);
            }
            evidence(&search.x).ok_or_else(|| Error::Data {
                what: "x",
                problem: "a sum of kernels cannot be factorised".into(),
                advice: "look for columns of extreme size",
            })
        })
    }

    /// The process that `find` gives for all rows, and for those without fold `k`.
    fn judged(
        name: &'static str,
        samples: &Samples,
        find: impl Fn(&Dataset, Option<usize>) -> Result<Evidence> + Sync,
    ) -> Result<Self> {
        let evidence = find(&samples.data, None)?;
        let folds: Result<Vec<_>> = (0..samples.folds.len())
            .into_par_iter()
            .map(|k| {
                let train = samples.data.rows(&samples.without(k));
                let held = samples.data.rows(&samples.folds[k]);
                let found = find(&train, Some(k))?;
                let parts = found.kernel.parts.clone();
                let model = in_scaled_units(&train, found)?;
                let f = model.predict(held.x.as_ref())?;
                let s = model.deviation(held.x.as_ref())?;
                Ok(((&held.y - f, s.observation), parts))
            })
            .collect();
        let (folds, fold_parts): (Vec<_>, Vec<_>) = folds?.into_iter().unzip();
        Ok(Teacher {
            name,
            parts: evidence.kernel.parts.clone(),
            fold_parts,
            evidence,
            out_of_fold: OutOfFold::gather(samples, folds),
        })
    }

    /// The model of all rows of `data`, which `samples` has in scaled units.
    pub fn model(&self, data: &Dataset, samples: &Samples, record: Record) -> Result<KernelModel> {
        let record = Record {
            ridge: self.evidence.ridge,
            ..record
        };
        let expansion = self.evidence.expansion(samples.data.x.clone());
        KernelModel::new(data, samples.scalers.clone(), expansion, record)?
            .with_calibration(self.out_of_fold.scores())
    }

    /// Standard deviation of the noise, in scaled outputs (c).
    pub fn noise(&self) -> Vec<f64> {
        // Less than this is the rounding of the factorisation.
        let rounding = 1e2 * self.evidence.alpha.nrows() as f64 * f64::EPSILON;
        let ridge = self.evidence.ridge;
        let noise = if ridge > rounding { ridge } else { 0.0 };
        let signal = self.evidence.signal.iter();
        signal.map(|s| (s * noise).sqrt()).collect()
    }
}

/// The processes that race, with their names.
pub(crate) fn processes() -> Vec<(&'static str, GaussianProcess)> {
    let of = |kernel| GaussianProcess {
        kernel,
        starts: 6,
        spread: 2.5,
        ..GaussianProcess::default()
    };
    vec![
        ("Gaussian process, Gaussian kernel", of(Shape::Gaussian)),
        ("Gaussian process, Matern kernel", of(Shape::Matern52)),
        ("Gaussian process, ANOVA kernel", of(Shape::Anova)),
        (
            "Gaussian process, free ANOVA kernel",
            GaussianProcess {
                prior: false,
                ..of(Shape::Anova)
            },
        ),
        (
            "Gaussian process, rough ANOVA kernel",
            of(Shape::AnovaMatern52),
        ),
        (
            "Gaussian process, one length",
            GaussianProcess {
                isotropic: true,
                ..of(Shape::Gaussian)
            },
        ),
        (
            "linear model",
            GaussianProcess {
                isotropic: true,
                shortest: 1e3,
                starts: 2,
                ..of(Shape::Gaussian)
            },
        ),
    ]
}

/// The process of samples in scaled units.
fn in_scaled_units(data: &Dataset, found: Evidence) -> Result<KernelModel> {
    let record = Record {
        ridge: found.ridge,
        ..Record::default()
    };
    let identity = |a: &Mat<f64>| Scaler::identity(a.ncols());
    let scalers = (identity(&data.x), identity(&data.y));
    KernelModel::new(data, scalers, found.expansion(data.x.clone()), record)
}
