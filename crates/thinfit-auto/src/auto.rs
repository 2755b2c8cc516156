//! The default fit: a planned search over candidates, ranked by cross-validation, with a diagnosis in the record.
//!
//! Gaussian processes with several kernels come first: they are quick, and their length scales tell which inputs
//! matter and how fast the function varies. If the function turns out to be a sum of functions of few inputs, a
//! process with that structure follows. Networks come last: fitted to the rows if these are noise-free, with features
//! scaled by the length scales and terms of the process, otherwise distilled from the best process. Every candidate
//! is cross-validated, and the best becomes the model; a thin network wins if it is as good.

use crate::distillation::{Distillation, Distilled};
use crate::network::{FeatureSampler, out_of_fold, scaled_fit};
use crate::outliers::Outliers;
use crate::plan::{Plan, polish};
use crate::process::{
    Process, TermsWithoutFold, configurations, errors_of_choice, in_scaled_units, ranked,
};
use crate::samples::{OutOfFold, Samples};
use crate::screening::strongest;
use crate::structure::{Structure, structure, terms_of};
use crate::successive_halving::processes;
use crate::{diagnosis, edges, outliers};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use thinfit::pieces::{
    Executor, Processor, Purpose, SingleProcess, one_group, random_subset, require, stream,
};
use thinfit::{
    Caution, Choice, Config, Control, Dataset, Dependence, Diagnosis, Error, Model, Network,
    Observer, Progress, Record, Result, Scaler, Scaling, Subset, SubsetReason, TrainingRows, Warp,
    clustered, fit_over, near_repeats,
};
use thinfit_gp::pieces::Evidence;
use thinfit_model::{CLEAN, Predictor};

/// The held-out error of the final network may be this many times the error in the folds.
const STUCK: f64 = 30.0;
/// A network fitted to the rows may be this many times the process's squared error away from the process.
const SOUND: f64 = 10.0;
/// The clock cuts a plan that takes this many times its budget, or the least, since every plan takes some seconds.
const OVERRUN: f64 = 10.0;
const LEAST: f64 = 30.0;
/// Fewest rows that a network is fitted to; of fewer it knows too little, and folds cannot tell.
const FEWEST: usize = 30;
/// Squared error, relative to the variance, below which few rows claim so much that shuffled outputs are fitted as well.
const DOUBTFUL: f64 = 0.8;
/// The mean r² of shuffled outputs above which the reported error is divided by what it leaves unexplained of them.
const CHANCE: f64 = 0.1;

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
    /// Whether rows that are clearly outliers are set aside. Default: yes.
    pub robust: bool,
}

impl Default for Auto {
    fn default() -> Self {
        Auto {
            budget: 30.0,
            thin: false,
            width: 100,
            robust: true,
        }
    }
}

/// The result of the search.
pub(crate) struct Outcome {
    /// The processes, best first.
    pub processes: Vec<Process>,
    pub structure: Structure,
    /// A network fitted to the rows, with its errors.
    pub direct: Option<(Network, OutOfFold)>,
    /// A network distilled from the best process.
    pub distilled: Option<Distilled>,
    /// Whether it was stopped before it had tried everything.
    pub stopped: bool,
}

/// The candidate that became the model.
pub(crate) enum Winner {
    Process,
    Direct,
    Distilled,
}

impl Auto {
    /// The name of the method.
    pub const NAME: &str = "auto";

    /// The best model of the rows among all candidates.
    ///
    /// Of more rows than a Gaussian process can take within the budget, a random part is used; of many more, a network's hidden
    /// weights come from a part, its output weights from all ([`Auto::fit_long`]). Rows with weights are
    /// fitted by a network (`gft-r`). If `observe` stops the fit, it returns the best model so far.
    ///
    /// # Errors
    /// Unusable data or settings, or rows that all have the same inputs.
    pub fn fit(&self, data: &Dataset, seed: u64, observe: &Observer<'_>) -> Result<Predictor> {
        self.fit_over(&SingleProcess, data, seed, observe)
    }

    /// [`Auto::fit`] by several processes that all have `data`: they share the candidates, and all get the model that one would.
    ///
    /// # Errors
    /// As [`Auto::fit`], and a process that is gone.
    pub fn fit_over(
        &self,
        executor: &dyn Executor,
        data: &Dataset,
        seed: u64,
        observe: &Observer<'_>,
    ) -> Result<Predictor> {
        self.check()?;
        data.check()?;
        let (m, d) = (data.samples(), data.dim());
        if data.weights.is_some() {
            return self.network(executor, data, seed, observe);
        }
        if self.samples(data) {
            let fitted = self.fit_long(data, &SingleProcess, seed, observe);
            return fitted.map(|(model, _)| model);
        }
        let plan = Plan::new(m, d, self.budget);
        if plan.model_rows < m {
            let mut rng = stream(seed, Purpose::Starts, 2);
            let mut rows = random_subset(m, plan.model_rows, &mut rng);
            rows.sort_unstable();
            let mut model = self.fit_over(executor, &data.rows(&rows), seed, observe)?;
            model.set_rows(&rows);
            let diagnosis = model.record_mut().diagnosis.get_or_insert_default();
            diagnosis.subset = Some(Subset {
                used: rows.len(),
                rows: m as u64,
                because: SubsetReason::Budget,
            });
            return Ok(model);
        }
        self.searched(data, &plan, (executor, seed), observe)
            .map(|(model, _)| model)
    }

    /// The best model of rows that all fit into the plan, and features that start where the best process ended.
    pub(crate) fn searched(
        &self,
        data: &Dataset,
        plan: &Plan,
        (executor, seed): (&dyn Executor, u64),
        observe: &Observer<'_>,
    ) -> Result<(Predictor, FeatureSampler)> {
        let m = data.samples();
        let (data, dependence) = &together(data)?;
        // Once asked to stop, every search ends at its next step; likewise if the plan overruns by far.
        let stop = AtomicBool::new(false);
        let begun = Instant::now();
        let watch = |at: &Progress<'_>| {
            let late = begun.elapsed().as_secs_f64() > OVERRUN * self.budget.max(LEAST);
            if late || stop.load(Ordering::Relaxed) || observe(at) == Control::Stop {
                stop.store(true, Ordering::Relaxed);
                return Control::Stop;
            }
            Control::Continue
        };
        let early = |_: &Progress<'_>| watch(&Progress::fraction(0.0));
        let scalers = scalers(data, plan, seed, &early)?;
        let samples = Samples::new(data, scalers.clone(), plan.folds, seed);
        if samples.folds.len() < 2 {
            if data.groups.is_some() {
                return Err(one_group(samples.folds.len()));
            }
            return Err(Error::Data {
                what: "x",
                problem: format!("{m} rows have the same inputs, or there is only one"),
                advice: "a fit needs rows with different inputs",
            });
        }
        let stopped = || executor.any(stop.load(Ordering::Relaxed));
        let sharpened = |processes: Vec<Process>, samples: &Samples| -> Result<Vec<Process>> {
            Ok(match stopped()? {
                true => processes,
                false => edges::sharpened(processes, samples, plan, seed),
            })
        };
        // Everything is searched on some of the rows where all are too many.
        let whole = plan.rows >= m;
        let few = (!whole).then(|| samples.part(plan.rows, plan.folds, seed));
        let searched = few.as_ref().unwrap_or(&samples);
        let first = processes(searched, plan, (executor, seed), &watch)?;
        let first = if whole {
            sharpened(first, searched)?
        } else {
            first
        };
        let Outliers { aside, kept: odd } = match whole && self.robust && !plan.few && !stopped()? {
            true => outliers::found(&first, &samples, seed)?,
            false => Outliers::default(),
        };
        if aside.is_empty() {
            let both = (&samples, few.as_ref());
            let outcome = self.conclude(first, both, plan, (executor, seed), &watch)?;
            let sampler = FeatureSampler::new(&outcome.processes[0].kernel_terms, data.dim(), seed);
            let model = self.model(
                data,
                &samples,
                (outcome, plan),
                (aside, odd, dependence),
                seed,
                &watch,
            )?;
            return Ok((model, sampler));
        }
        let keep: Vec<usize> = (0..m).filter(|row| !aside.contains(row)).collect();
        let kept = data.rows(&keep);
        let samples = Samples::new(&kept, scalers, plan.folds, seed);
        let again = processes(&samples, plan, (executor, seed), &watch)?;
        let again = sharpened(again, &samples)?;
        let outcome = self.conclude(again, (&samples, None), plan, (executor, seed), &watch)?;
        let sampler = FeatureSampler::new(&outcome.processes[0].kernel_terms, data.dim(), seed);
        let model = self.model(
            &kept,
            &samples,
            (outcome, plan),
            (aside, odd, dependence),
            seed,
            &watch,
        )?;
        Ok((model, sampler))
    }

    /// Refuses settings that are out of range.
    pub fn check(&self) -> Result<()> {
        let budget = self.budget > 0.0 && self.budget.is_finite();
        require(budget, "budget", "a number of seconds above 0", self.budget)?;
        let width = (1..=10_000).contains(&self.width);
        require(width, "width", "1 to 10000", self.width)
    }

    /// A network alone, for rows with weights.
    fn network(
        &self,
        executor: &dyn Executor,
        data: &Dataset,
        seed: u64,
        observe: &Observer<'_>,
    ) -> Result<Predictor> {
        let config = Config {
            seed,
            width: self.width,
            ..Config::fast()
        };
        let mut model = fit_over(executor, &Processor, data, &config, observe)?;
        model.record.diagnosis = Some(Diagnosis {
            choice: Choice::Weighted,
            inputs: (0..data.dim()).collect(),
            ..Diagnosis::default()
        });
        Ok(model.into())
    }

    /// Structure and networks, given the processes, which may be of a part of the rows. A candidate that fails is no
    /// candidate.
    fn conclude(
        &self,
        mut processes: Vec<Process>,
        (samples, part): (&Samples, Option<&Samples>),
        plan: &Plan,
        (executor, seed): (&dyn Executor, u64),
        watch: &Observer<'_>,
    ) -> Result<Outcome> {
        let stopped = |done: f64| executor.any(watch(&Progress::fraction(done)) == Control::Stop);
        let searched = part.unwrap_or(samples);
        let sharp = processes[0].is_sharp();
        let mut found = structure(&processes[0], searched, seed)?;
        let halted = stopped(0.9)?;
        let terms = found.terms.take().filter(|_| !halted && !sharp);
        if let Some(terms) = terms {
            let fold_steps = plan.sum_steps.min(plan.fold_iterations);
            let steps = (2 * plan.sum_steps, fold_steps);
            let best = &processes[0];
            let again = |data: &Dataset, guide: &Evidence| {
                terms_of(&in_scaled_units(data, guide).ok()?, best, seed)
            };
            let again: Option<&TermsWithoutFold<'_>> = plan.few.then_some(&again as _);
            let sum = Process::sum_of_terms(&terms, best, (searched, executor), steps, again);
            if let Ok(sum) = sum {
                let candidate = sum.candidate;
                processes.push(sum);
                processes = ranked(processes, &searched.data);
                found.terms = (processes[0].candidate == candidate).then_some(terms);
            }
        }
        if part.is_some() {
            // The others were cross-validated by fewer rows and cannot be compared with it.
            processes = vec![processes[0].extended((samples, executor))?];
        }
        let best = &processes[0];
        let mut outcome = Outcome {
            structure: found,
            direct: None,
            distilled: None,
            stopped: stopped(0.9)?,
            processes: vec![],
        };
        // Networks report progress from 0 again, which is not passed on.
        let late = |_: &Progress<'_>| watch(&Progress::fraction(0.95));
        // A network of waves would ring at an edge.
        let idle = outcome.stopped || (best.is_sharp() || best.is_mean()) && !self.thin;
        if let (false, Ok(distillation)) = (idle, Distillation::new(best, samples, seed)) {
            outcome.direct = self.direct(best, samples, &distillation, plan, (executor, &late))?;
            let beaten = |(_, errors): &(Network, OutOfFold)| errors.error() < best.error();
            if !outcome.direct.as_ref().is_some_and(beaten) {
                outcome.distilled = self.distilled(best, &distillation, plan, &late);
            }
            outcome.stopped = stopped(0.95)?;
        }
        if self.thin && outcome.direct.is_none() && outcome.distilled.is_none() {
            // Stopped or not, a network was asked for.
            let distillation = Distillation::new(best, samples, seed)?;
            outcome.distilled = Some(distillation.distil(self.width, 0, &|_| Control::Continue)?);
        }
        outcome.processes = processes;
        Ok(outcome)
    }

    /// A network fitted to the rows, if they are clean and the plan has room for it.
    fn direct(
        &self,
        best: &Process,
        samples: &Samples,
        distillation: &Distillation,
        plan: &Plan,
        (executor, watch): (&dyn Executor, &Observer<'_>),
    ) -> Result<Option<(Network, OutOfFold)>> {
        let clean = best.noise().iter().all(|noise| noise * noise <= CLEAN);
        let enough = samples.data.samples() >= FEWEST;
        if !(clean && enough && (self.thin || distillation.is_bounded())) {
            return Ok(None);
        }
        let sampler = distillation.sampler();
        let (rows, rounds) = (
            samples.data.samples() * samples.data.y.ncols(),
            samples.folds.len() + 1,
        );
        let entries = sampler.entries(self.width);
        let cost =
            |steps: usize| rounds as f64 * polish(rows, entries, 2 * self.width, steps) / 2.0;
        let mut steps = [30, 10].into_iter();
        let Some(steps) = steps.find(|&steps| cost(steps) <= plan.networks) else {
            return Ok(None);
        };
        let d = samples.data.dim();
        let sampler_of = |fold: &Evidence| match plan.few {
            true => FeatureSampler::new(&fold.kernel.terms, d, sampler.seed()),
            false => sampler.clone(),
        };
        let samplers: Vec<FeatureSampler> = best.folds.iter().map(sampler_of).collect();
        let errors = out_of_fold(samples, &samplers, self.width, steps, (executor, watch))?;
        let Some(errors) = errors else {
            return Ok(None);
        };
        let fitted = scaled_fit(&samples.data, sampler, self.width, steps, watch);
        let Ok((network, held)) = fitted else {
            return Ok(None);
        };
        // The folds validate the procedure; this run of it may have got stuck where they did not.
        let typical = held <= STUCK * errors.error();
        // Away from the rows a network may be anything; the process never strays far.
        let sound = distillation.is_within(&network, SOUND, &best.out_of_fold.mse());
        Ok((typical && sound).then_some((network, errors)))
    }

    /// The thinnest network that follows the process closely enough, or else the closest.
    fn distilled(
        &self,
        process: &Process,
        distillation: &Distillation,
        plan: &Plan,
        watch: &Observer<'_>,
    ) -> Option<Distilled> {
        let widths = [self.width.div_ceil(4), self.width.div_ceil(2), self.width];
        let mut best: Option<Distilled> = None;
        let classes = widths.map(|width| (width, 0)).into_iter();
        for (width, steps) in classes.chain([(self.width, 10), (self.width, 30)]) {
            if steps > 0 && distillation.cost(width, steps) > plan.networks {
                break;
            }
            if !(self.thin || distillation.is_smaller(width) && distillation.is_bounded()) {
                break;
            }
            let Ok(distilled) = distillation.distil(width, steps, watch) else {
                continue;
            };
            let enough = distilled.is_faithful(&process.out_of_fold.mse());
            let closer = |best: &Distilled| distilled.total() < best.total();
            if distilled.total().is_finite() && best.as_ref().is_none_or(closer) {
                best = Some(distilled);
            }
            if enough {
                break;
            }
        }
        best
    }

    /// The winner as a model, with its record.
    fn model(
        &self,
        data: &Dataset,
        samples: &Samples,
        (outcome, plan): (Outcome, &Plan),
        (aside, odd, dependence): (Vec<usize>, Vec<usize>, &[Dependence]),
        seed: u64,
        observe: &Observer<'_>,
    ) -> Result<Predictor> {
        let process = &outcome.processes[0];
        let direct = outcome.direct.as_ref().map(|(_, errors)| errors.error());
        let distilled = outcome.distilled.as_ref();
        let mse = process.out_of_fold.mse();
        let winner = match (direct, distilled) {
            (Some(error), _) if error < process.error() => Winner::Direct,
            (_, Some(distilled)) if distilled.is_faithful(&mse) => Winner::Distilled,
            (Some(error), distilled) if self.thin => {
                let other = distilled.map_or(f64::INFINITY, |distilled| {
                    process.error() + distilled.total() / mse.len() as f64
                });
                if error <= other {
                    Winner::Direct
                } else {
                    Winner::Distilled
                }
            }
            (None, Some(_)) if self.thin => Winner::Distilled,
            _ => Winner::Process,
        };
        let of_choice = || {
            let direct = outcome.direct.as_ref().map(|(_, errors)| errors);
            errors_of_choice(&outcome.processes, direct, samples)
        };
        let mut errors = match (&winner, &outcome.direct, distilled) {
            // Asked for, whatever the process would have done.
            (Winner::Direct, Some((_, errors)), _) if errors.error() >= process.error() => {
                errors.clone()
            }
            (Winner::Distilled, _, Some(distilled)) => of_choice().with_added(&distilled.distance),
            _ => of_choice(),
        };
        let mut cautions = Vec::new();
        let nested = plan.afresh.is_some() && !outcome.stopped;
        if !odd.is_empty() {
            cautions.push(Caution::OddRows { rows: odd });
        }
        // A search that leaks explains shuffled outputs as well.
        if plan.few && !outcome.stopped && errors.error() < DOUBTFUL {
            let r2 = process.optimism((samples, plan), (CHANCE, seed), observe)?;
            if r2 > CHANCE {
                let raised = |mse: f64| (mse / (1.0 - r2).max(0.0)).min(mse.max(1.0)) - mse;
                let added: Vec<f64> = errors.mse().into_iter().map(raised).collect();
                errors = errors.with_added(&added);
                cautions.push(Caution::ShuffledFit { r2 });
            }
        }
        let raised = |caution: &Caution| matches!(caution, Caution::ShuffledFit { .. });
        if plan.few && !nested && !cautions.iter().any(raised) {
            cautions.push(Caution::NotNested);
        }
        let scale = &samples.scalers.1.scale;
        let settings = serde_json::to_value(self).expect("settings are finite numbers");
        let record = Record {
            chosen_by: Some("folds".into()),
            stopped: outcome.stopped,
            diagnosis: Some(Diagnosis {
                folds: samples.folds.len(),
                nested,
                cautions,
                ..diagnosis::diagnosis(&outcome, &winner, &errors, samples, aside)
            }),
            ..Record::of(Self::NAME, settings, seed, data.samples())
        };
        let residual = faer::Mat::from_fn(data.samples(), scale.len(), |i, o| {
            errors.residual[(i, o)] * scale[o]
        });
        let mut dependence = dependence.to_vec();
        if data.groups.is_none() {
            dependence.extend(Dependence::of_order(residual.as_ref()));
        }
        let record = Record {
            dependence,
            rows: Some(TrainingRows::new(data).with_left_out(residual.as_ref())),
            ..record.left_out(data, &errors.mse(), scale, data.samples())
        };
        observe(&Progress::fraction(1.0));
        let network = match winner {
            Winner::Process => {
                let model = process.model((data, samples), &errors, record)?;
                return Ok(model.into());
            }
            Winner::Direct => outcome.direct.map(|(network, _)| network),
            Winner::Distilled => outcome.distilled.map(|distilled| distilled.network),
        };
        let network = network.expect("the winner exists");
        let model = Model::from_network(network, data, samples.scalers.clone(), record.clone())?;
        let model = model.calibrated(data, residual.as_ref(), record)?;
        Ok(Predictor::from(model))
    }
}

/// The rows that the model of so many rows and inputs has, under a budget in seconds.
pub fn model_rows(m: usize, d: usize, budget: f64) -> usize {
    Plan::new(m, d, budget).model_rows
}

/// The rows with near-repeats in one group, where no groups were given, and what shows that rows depend on each other.
fn together(data: &Dataset) -> Result<(Dataset, Vec<Dependence>)> {
    if data.groups.is_some() {
        return Ok((data.clone(), vec![]));
    }
    let count = |groups: &[u64]| groups.iter().collect::<BTreeSet<_>>().len();
    if let Some(groups) = near_repeats(data.x.as_ref()) {
        let sign = Dependence::NearRepeats {
            groups: count(&groups),
        };
        return Ok((data.clone().with_groups(groups)?, vec![sign]));
    }
    let clusters = clustered(data.x.as_ref());
    let clusters = clusters.map(|of| Dependence::Clusters {
        clusters: count(&of),
    });
    Ok((data.clone(), clusters.into_iter().collect()))
}

/// Inputs to the box, bent first where a column seems to need it and the rows are predicted better for it; outputs to
/// mean 0 and deviation 1.
fn scalers(
    data: &Dataset,
    plan: &Plan,
    seed: u64,
    watch: &Observer<'_>,
) -> Result<(Scaler, Scaler)> {
    let plain = Scaling::Box.scalers(data.x.as_ref(), data.y.as_ref());
    let warps = Warp::of_columns(data.x.as_ref());
    if warps.iter().all(Option::is_none) {
        return Ok(plain);
    }
    let warped = (
        Scaler::to_box_warped(data.x.as_ref(), &warps),
        plain.1.clone(),
    );
    // Two quick processes on either scale.
    let configurations = configurations(2, plan.price);
    let score = |scalers: &(Scaler, Scaler)| -> Result<f64> {
        let samples = Samples::new(data, scalers.clone(), 5, seed);
        let few = samples.part(plan.first_rows, 5, seed);
        let few = match strongest(&few.data) {
            Some(inputs) => few.narrowed(&inputs),
            None => few,
        };
        let mut least = f64::INFINITY;
        for configuration in &configurations[1..3] {
            let (log, _) = (configuration.process).find(&few.data, seed, watch)?;
            least = least.min(Process::new(configuration, &log, &few, 10)?.score());
        }
        Ok(least)
    };
    Ok(match score(&warped)? < score(&plain)? {
        true => warped,
        false => plain,
    })
}
