//! The fit without settings: candidates race under a plan of work, folds judge them, and the record says what was found.

mod samples;
mod structure;
mod teacher;

use crate::kernels::kernel_model::check_data;
use crate::{GaussianProcess, Predictor, Result};
use samples::Samples;
use serde::{Deserialize, Serialize};
use structure::structure;
use teacher::{Teacher, processes};
use thinfit::pieces::require;
use thinfit::{Dataset, Findings, Observer, Progress, Record, Scaler, Scaling, Tried, Warp};

/// Most rows for which the best candidates are found afresh in every fold.
const AFRESH: usize = 400;

/// Settings of the fit without settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Auto {
    /// Seconds that the plan of work may take, on two cores. Default: 30.
    pub budget: f64,
    /// Whether the model must be a thin network. Default: no.
    pub thin: bool,
    /// The most neurons that a network may have. Default: 100.
    pub width: usize,
}

impl Default for Auto {
    fn default() -> Self {
        Auto {
            budget: 30.0,
            thin: false,
            width: 100,
        }
    }
}

impl Auto {
    /// The name of the method.
    pub const NAME: &str = "auto";

    /// The best model of the rows among all candidates.
    ///
    /// # Errors
    /// Unusable data or settings.
    pub fn fit(&self, data: &Dataset, seed: u64, observe: &Observer<'_>) -> Result<Predictor> {
        let budget = self.budget > 0.0 && self.budget.is_finite();
        require(budget, "budget", "a number of seconds above 0", self.budget)?;
        check_data(data)?;
        let (m, c) = (data.samples(), data.y.ncols());
        let (_, outputs) = Scaling::Box.scalers(data.x.as_ref(), data.y.as_ref());
        let warps = Warp::of_columns(data.x.as_ref());
        let scalers = (Scaler::to_box_warped(data.x.as_ref(), &warps), outputs);
        let samples = Samples::new(data, scalers, if m <= 300 { 10 } else { 5 }, seed);
        let (mut teachers, processes) = (Vec::new(), processes());
        for (i, (name, process)) in processes.iter().enumerate() {
            let part = |at: &Progress<'_>| observe(&at.part(i, processes.len()));
            teachers.push(Teacher::new(name, process, &samples, 20, seed, &part)?);
        }
        let by_error =
            |a: &Teacher, b: &Teacher| (a.out_of_fold.error()).total_cmp(&b.out_of_fold.error());
        teachers.sort_by(by_error);
        if m <= AFRESH {
            for teacher in &mut teachers[..3] {
                let process = processes.iter().find(|process| process.0 == teacher.name);
                let process = GaussianProcess {
                    starts: 3,
                    ..process.expect("every teacher is one of these").1.clone()
                };
                *teacher = teacher.judged_afresh(&process, &samples, seed)?;
            }
            teachers[..3].sort_by(by_error);
        }
        teachers.push(Teacher::committee(&teachers[..3], &samples)?);
        teachers.sort_by(by_error);
        let mut found = structure(&teachers[0].scaled_model(&samples)?, seed)?;
        if let Some(terms) = &found.terms {
            let sum = Teacher::sum_of_terms(terms, &teachers[0], &samples, 20)?;
            let worse = sum.out_of_fold.error() > teachers[0].out_of_fold.error();
            teachers.push(sum);
            teachers.sort_by(by_error);
            if worse {
                found.terms = None;
            }
        }
        let scale = &samples.scalers.1.scale;
        let units = |v: &[f64], power: i32| -> Vec<f64> {
            (0..c).map(|o| v[o] * scale[o].powi(power)).collect()
        };
        let best = &teachers[0];
        let findings = Findings {
            standard_error: units(&best.out_of_fold.standard_error(), 2),
            noise: units(&best.noise(), 1),
            tried: (teachers.iter())
                .map(|teacher| Tried {
                    name: teacher.name.into(),
                    mse: units(&teacher.out_of_fold.mse(), 2),
                    planned: 0.0,
                })
                .collect(),
            inputs: found.inputs,
            terms: found.terms,
            ..Findings::default()
        };
        let settings = serde_json::to_value(self).expect("settings are finite numbers");
        let record = Record {
            chosen_by: Some("folds".into()),
            findings: Some(findings),
            ..Record::of(Self::NAME, settings, seed, m)
        };
        let record = record.left_out(data, &best.out_of_fold.mse(), scale, m);
        observe(&Progress::fraction(1.0));
        best.model(data, &samples, record).map(Predictor::from)
    }
}
