//! Successive halving of Gaussian processes: all of them on some of the rows, the better ones on more, the best on
//! all.
//!
//! A step on all rows costs (m/rows)³ times as much as one on some, so searches start on few rows and continue from
//! there. An executor may spread the candidates of each round.

use crate::plan::{MANY, Plan};
use crate::process::{Configuration, Process, configurations, ranked};
use crate::samples::Samples;
use crate::screening::{renumbered, strongest};
use rayon::prelude::*;
use thinfit::pieces::Executor;
use thinfit::{Control, Observer, Progress, Result};
use thinfit_gp::GaussianProcess;

/// Most rows of survivors that are searched side by side.
const SIDE_BY_SIDE: usize = 3000;
/// Noise, relative to the signal, with which a control starts from the lengths of another process.
const GUIDED_NOISE: f64 = 1e-4;

/// A process that is tried, with what it has found so far.
struct Trial<'a> {
    configuration: &'a Configuration,
    /// Its parameters.
    log: Vec<f64>,
    /// The process on the rows of the latest round.
    process: Process,
}

/// Parameters and what they make of a process.
type Found = (Vec<f64>, Process);

/// The survivors of successive halving, cross-validated on all rows, with the sum of their kernels, a linear model and the mean; best
/// first.
pub(crate) fn processes(
    given: &Samples,
    plan: &Plan,
    (executor, seed): (&dyn Executor, u64),
    observe: &Observer<'_>,
) -> Result<Vec<Process>> {
    let inputs = strongest(&given.data);
    let narrow = inputs.as_ref().map(|inputs| given.narrowed(inputs));
    let samples = narrow.as_ref().unwrap_or(given);
    let (m, d) = (samples.data.samples(), samples.data.dim());
    let whole = plan.first_rows >= m;
    let few;
    let few_rows = if whole {
        samples
    } else {
        few = samples.part(plan.first_rows, 5, seed);
        &few
    };
    let mut configurations = configurations(plan.starts, plan.price);
    if d > MANY {
        configurations.retain(|configuration| configuration.process.isotropic);
    }
    let stops = |done: f64| observe(&Progress::fraction(done)) == Control::Stop;
    // All that share the work must agree on stopping, or they would wait for each other.
    let stopped = |done: f64| executor.any(stops(done));
    // After a stop, the rest are not run.
    let first = executor.map(configurations.len(), |mine| {
        let (mut found, mut on) = (Vec::<Option<Found>>::new(), true);
        for i in mine {
            if !on {
                found.push(None);
                continue;
            }
            let progress = |at: &Progress<'_>| observe(&at.part(i, 2 * configurations.len()));
            let (log, _) = configurations[i]
                .process
                .find(&few_rows.data, seed, &progress)?;
            let process = Process::new(&configurations[i], &log, few_rows, 15)?;
            found.push(Some((log, process)));
            on = !stops(0.5 * (i + 1) as f64 / configurations.len() as f64);
        }
        Ok(found)
    })?;
    let trials = configurations.iter().zip(first);
    let trials =
        trials.filter_map(|(configuration, found)| Some(Trial::new(configuration, found?)));
    // The linear model is always a candidate.
    let (linear, mut trials): (Vec<_>, Vec<_>) =
        trials.partition(|trial: &Trial<'_>| trial.configuration.is_linear());
    let halted = stopped(0.5)?;
    if let Some(round) = plan.second_round.as_ref().filter(|_| !halted) {
        trials = best(trials, (round.configurations, 2), m);
        let few_rows = samples.part(round.rows, 5, seed);
        let still = |_: &Progress<'_>| observe(&Progress::fraction(0.55));
        let steps = (round.iterations, round.fold_iterations);
        let guide = trials[0].lengths();
        let gone = executor.map(trials.len(), |mine| {
            let gone = mine.into_par_iter();
            gone.map(|i| trials[i].onto(&few_rows, steps, Some(&guide), &still))
                .collect()
        })?;
        let advanced = trials.iter().zip(gone);
        trials = advanced
            .map(|(trial, found)| Trial::new(trial.configuration, found))
            .collect();
    }
    // Stopped early, the best so far is all there is.
    let halted = stopped(0.6)?;
    let places = if halted {
        (1, 0)
    } else {
        (plan.survivors, if plan.survivors > 3 { 2 } else { 1 })
    };
    trials = best(trials, places, m);
    let processes = trials.len();
    if !halted || trials.is_empty() {
        trials.extend(linear);
    }
    let search = plan.afresh.as_ref().filter(|_| !halted);
    let fold_iterations = if search.is_some() {
        0
    } else {
        plan.fold_iterations
    };
    let still = |_: &Progress<'_>| observe(&Progress::fraction(0.7));
    let onto = |i: usize| -> Result<Found> {
        let iterations = plan.iterations(m, d, trials[i].configuration.process.kernel);
        trials[i].onto(samples, (iterations, fold_iterations), None, &still)
    };
    let conclude = |i: usize| {
        let found = match whole || search.is_some() && plan.few {
            true => None,
            false => Some(onto(i)?),
        };
        let log = found.as_ref().map_or(&trials[i].log, |found| &found.0);
        let Some(search) = search.filter(|_| !stops(0.7)) else {
            return Ok(found.map(|found| found.1));
        };
        let process = &trials[i].configuration.process;
        // With few rows the final fit uses the same search as the folds, whose errors are those of that search: a longer
        // one may find a likelier fit that predicts worse.
        let again = match plan.few {
            true => Some(search.of(process).find(&samples.data, seed, &still)?.0),
            false => None,
        };
        let log = again.as_ref().unwrap_or(log);
        let mut whole = process.evidence(&samples.data, log)?;
        if let Some(inputs) = &inputs {
            renumbered(&mut whole.kernel.terms, inputs);
        }
        let whole = (process.active_parameters(log, d), whole);
        Process::afresh(trials[i].configuration, whole, given, search, seed).map(Some)
    };
    // In parallel they need several times the memory.
    let concluded = executor.map(trials.len(), |mine| match m <= SIDE_BY_SIDE {
        true => mine.into_par_iter().map(conclude).collect(),
        false => mine.into_iter().map(conclude).collect(),
    })?;
    let survivors = trials.into_iter().zip(concluded);
    let survivors = survivors.map(|(trial, process)| {
        let process = process.unwrap_or(trial.process);
        match (&inputs, search) {
            (Some(inputs), None) => process.renumbered(inputs),
            _ => process,
        }
    });
    let mut survivors: Vec<Process> = survivors.collect();
    let steps = (plan.sum_steps, plan.sum_steps.min(plan.fold_iterations));
    // Few rows cannot determine the weights of a sum.
    if processes > 1
        && !plan.few
        && let Ok(kernel_sum) =
            Process::kernel_sum(&survivors[..processes], (given, executor), steps)
    {
        survivors.push(kernel_sum);
    }
    survivors.push(Process::mean(given)?);
    Ok(ranked(survivors, &given.data))
}

impl<'a> Trial<'a> {
    fn new(configuration: &'a Configuration, (log, process): Found) -> Self {
        Trial {
            configuration,
            log,
            process,
        }
    }

    /// Logarithms of the lengths as a plain kernel would have them: an input with a small share c acts as if its length
    /// were ℓ/√c.
    fn lengths(&self) -> Vec<f64> {
        let term = &self.process.kernel_terms[0];
        let share = |j: usize| term.shares.get(j).map_or(1.0, |share| share.max(1e-12));
        let lengths = term.lengths.iter().enumerate();
        lengths
            .map(|(j, length)| (length / share(j).sqrt()).ln())
            .collect()
    }

    /// Goes on to more rows, with so many iterations on them and in each fold. A control may also start from the lengths
    /// of another process, as its own search may have taken a fast function for noise on few rows.
    fn onto(
        &self,
        samples: &Samples,
        (iterations, fold_iterations): (usize, usize),
        guide: Option<&[f64]>,
        observe: &Observer<'_>,
    ) -> Result<Found> {
        let process = GaussianProcess {
            iterations,
            ..self.configuration.process.clone()
        };
        let mut starts = vec![self.log.clone()];
        if let Some(guide) = guide.filter(|_| self.configuration.is_control()) {
            for factor in [1.0f64, 0.5] {
                let lengths = guide.iter().map(|length| length + factor.ln());
                starts.push(lengths.chain([GUIDED_NOISE.ln()]).collect());
            }
        }
        let d = samples.data.dim();
        (starts.iter_mut()).for_each(|start| process.shorten(start, d));
        let log = process.search_from(&samples.data, starts, observe);
        let process = Process::new(self.configuration, &log, samples, fold_iterations)?;
        Ok((log, process))
    }
}

/// The `count` best trials for `m` rows, best first, and among them the `controls` best of the controls: few rows may
/// flatter the kernels with many numbers.
fn best<'a>(
    mut trials: Vec<Trial<'a>>,
    (count, controls): (usize, usize),
    m: usize,
) -> Vec<Trial<'a>> {
    trials.sort_by(|a, b| a.process.score_on(m).total_cmp(&b.process.score_on(m)));
    let present = trials
        .iter()
        .filter(|trial| trial.configuration.is_control());
    let mut controls = controls.min(present.count());
    let mut others = count.saturating_sub(controls);
    trials.retain(|trial| {
        let is_control = trial.configuration.is_control() && controls > 0;
        let places = if is_control {
            &mut controls
        } else {
            &mut others
        };
        let stays = *places > 0;
        *places -= usize::from(stays);
        stays
    });
    trials
}
