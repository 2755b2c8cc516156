//! The fit without settings: candidates race under a plan of work, folds judge them, and the record says what was found.

mod direct;
mod plan;
mod samples;
mod structure;
mod teacher;

use crate::kernels::kernel_model::check_data;
use crate::{GaussianProcess, Predictor, Result};
use direct::Direct;
use plan::Plan;
use samples::Samples;
use serde::{Deserialize, Serialize};
use structure::structure;
use teacher::{Teacher, entrants};
use thinfit::pieces::require;
use thinfit::{Dataset, Findings, Observer, Progress, Record, Scaler, Scaling, Tried, Warp};

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
        let plan = Plan::new(m, data.dim(), self.budget);
        let samples = Samples::new(data, scalers, plan.folds, seed);
        let mut teachers = teachers(&samples, &plan, seed, observe)?;
        let mut found = structure(&teachers[0].scaled_model(&samples)?, seed)?;
        if let Some(terms) = &found.terms {
            let steps = (plan.iterations, plan.fold_iterations);
            let sum = Teacher::sum_of_terms(terms, &teachers[0], &samples, steps)?;
            if sum.error() > teachers[0].error() {
                found.terms = None;
            }
            teachers.push(sum);
            teachers.sort_by(|a, b| a.error().total_cmp(&b.error()));
        }
        if std::env::var("DIRECT").is_ok() {
            let start = std::time::Instant::now();
            let direct = Direct::new(&teachers[0], self.width, 30, seed);
            let oof = direct.out_of_fold(&samples)?;
            eprintln!("teacher {} {:e}; direct {:e}, {:.1} s", teachers[0].name, teachers[0].error(), oof.error(), start.elapsed().as_secs_f64());
            return direct.fit(data, samples.scalers.clone()).map(Predictor::from);
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

/// The processes that did best in the race, judged by all rows, and their committee; best first.
fn teachers(
    samples: &Samples,
    plan: &Plan,
    seed: u64,
    observe: &Observer<'_>,
) -> Result<Vec<Teacher>> {
    let m = samples.data.samples();
    let whole = plan.race_rows >= m;
    let few;
    let track = if whole {
        samples
    } else {
        few = samples.part(plan.race_rows, 5, seed);
        &few
    };
    let entrants = entrants(plan.starts);
    let mut race = Vec::new();
    for (i, entrant) in entrants.iter().enumerate() {
        let part = |at: &Progress<'_>| observe(&at.part(i, 2 * entrants.len()));
        let (log, _) = entrant.process.find(&track.data, seed, &part)?;
        let teacher = Teacher::new(entrant, &log, track, 15)?;
        race.push((entrant, log, teacher));
    }
    race.sort_by(|a, b| a.2.error().total_cmp(&b.2.error()));
    race.truncate(plan.finalists);
    let mut finalists = Vec::new();
    for (i, (entrant, log, teacher)) in race.into_iter().enumerate() {
        let done = 0.5 + 0.5 * i as f64 / plan.finalists as f64;
        observe(&Progress::fraction(done));
        let log = if whole {
            log
        } else {
            let process = GaussianProcess {
                iterations: plan.iterations,
                ..entrant.process.clone()
            };
            process.search_from(&samples.data, &log, true)
        };
        finalists.push(match (plan.afresh, whole) {
            (true, _) => Teacher::afresh(entrant, &log, samples, seed)?,
            (false, true) => teacher,
            (false, false) => Teacher::new(entrant, &log, samples, plan.fold_iterations)?,
        });
    }
    if finalists.len() > 1 {
        finalists.push(Teacher::committee(&finalists, samples)?);
    }
    finalists.sort_by(|a, b| a.error().total_cmp(&b.error()));
    Ok(finalists)
}
