//! Successive halving of Gaussian processes: all of them on some of the rows, the better ones on more, the best on
//! all.
//!
//! A step on all rows costs (m/rows)³ times as much as one on some, so searches start on few rows and continue from
//! there. Ranks share the processes of each round and synchronise after it.

use super::plan::{MANY, Plan};
use super::process::{Entrant, Process, entrants, ranked};
use super::samples::Samples;
use super::screening::{renumbered, strongest};
use crate::{GaussianProcess, Result};
use rayon::prelude::*;
use thinfit::pieces::{Ranks, any, shared};
use thinfit::{Control, Observer, Progress};

/// Most rows of finalists that are searched side by side.
const SIDE_BY_SIDE: usize = 3000;
/// Noise, relative to the signal, with which a control starts from the lengths of another process.
const GUIDED_NOISE: f64 = 1e-4;

/// A process in the race, with what it has found so far.
struct Runner<'a> {
    entrant: &'a Entrant,
    /// Its parameters.
    log: Vec<f64>,
    /// The process on the rows of the latest round.
    process: Process,
}

/// Parameters and what they make of a process, as ranks tell each other.
type Found = (Vec<f64>, Process);

/// The finalists of the race, cross-validated on all rows, with the sum of their kernels, a linear model and the mean; best
/// first.
pub(crate) fn processes(
    given: &Samples,
    plan: &Plan,
    (ranks, seed): (&dyn Ranks, u64),
    observe: &Observer<'_>,
) -> Result<Vec<Process>> {
    let inputs = strongest(&given.data);
    let narrow = inputs.as_ref().map(|inputs| given.narrowed(inputs));
    let samples = narrow.as_ref().unwrap_or(given);
    let (m, d) = (samples.data.samples(), samples.data.dim());
    let whole = plan.race_rows >= m;
    let few;
    let track = if whole {
        samples
    } else {
        few = samples.part(plan.race_rows, 5, seed);
        &few
    };
    let mut entrants = entrants(plan.starts, plan.price);
    if d > MANY {
        entrants.retain(|entrant| entrant.process.isotropic);
    }
    let stops = |done: f64| observe(&Progress::fraction(done)) == Control::Stop;
    // Ranks must agree on stopping, or they would wait for each other.
    let stopped = |done: f64| any(ranks, stops(done));
    // After a stop, the rest are not run.
    let first = shared(ranks, entrants.len(), |mine| {
        let (mut found, mut on) = (Vec::<Option<Found>>::new(), true);
        for i in mine {
            if !on {
                found.push(None);
                continue;
            }
            let part = |at: &Progress<'_>| observe(&at.part(i, 2 * entrants.len()));
            let (log, _) = entrants[i].process.find(&track.data, seed, &part)?;
            let process = Process::new(&entrants[i], &log, track, 15)?;
            found.push(Some((log, process)));
            on = !stops(0.5 * (i + 1) as f64 / entrants.len() as f64);
        }
        Ok(found)
    })?;
    let runners = entrants.iter().zip(first);
    let runners = runners.filter_map(|(entrant, found)| Some(Runner::new(entrant, found?)));
    // The linear model is always a candidate.
    let (linear, mut race): (Vec<_>, Vec<_>) =
        runners.partition(|runner: &Runner<'_>| runner.entrant.is_linear());
    let halted = stopped(0.5)?;
    if let Some(heat) = plan.heat.as_ref().filter(|_| !halted) {
        race = best(race, (heat.entrants, 2), m);
        let track = samples.part(heat.rows, 5, seed);
        let still = |_: &Progress<'_>| observe(&Progress::fraction(0.55));
        let steps = (heat.iterations, heat.fold_iterations);
        let guide = race[0].lengths();
        let gone = shared(ranks, race.len(), |mine| {
            let gone = mine.into_par_iter();
            gone.map(|i| race[i].onto(&track, steps, Some(&guide), &still))
                .collect()
        })?;
        let runners = race.iter().zip(gone);
        race = runners
            .map(|(runner, found)| Runner::new(runner.entrant, found))
            .collect();
    }
    // Stopped early, the best of the race is all there is.
    let halted = stopped(0.6)?;
    let places = if halted {
        (1, 0)
    } else {
        (plan.finalists, if plan.finalists > 3 { 2 } else { 1 })
    };
    race = best(race, places, m);
    let processes = race.len();
    if !halted || race.is_empty() {
        race.extend(linear);
    }
    let search = plan.afresh.as_ref().filter(|_| !halted);
    let fold_iterations = if search.is_some() {
        0
    } else {
        plan.fold_iterations
    };
    let still = |_: &Progress<'_>| observe(&Progress::fraction(0.7));
    let onto = |i: usize| -> Result<Found> {
        let iterations = plan.iterations(m, d, race[i].entrant.process.kernel);
        race[i].onto(samples, (iterations, fold_iterations), None, &still)
    };
    let conclude = |i: usize| {
        let found = match whole || search.is_some() && plan.few {
            true => None,
            false => Some(onto(i)?),
        };
        let log = found.as_ref().map_or(&race[i].log, |found| &found.0);
        let Some(search) = search.filter(|_| !stops(0.7)) else {
            return Ok(found.map(|found| found.1));
        };
        let process = &race[i].entrant.process;
        // With few rows the final fit uses the same search as the folds, whose errors are those of that search: a longer
        // one may find a likelier fit that predicts worse.
        let again = match plan.few {
            true => Some(search.of(process).find(&samples.data, seed, &still)?.0),
            false => None,
        };
        let log = again.as_ref().unwrap_or(log);
        let mut whole = process.evidence(&samples.data, log)?;
        if let Some(inputs) = &inputs {
            renumbered(&mut whole.kernel.parts, inputs);
        }
        let whole = (process.active_parameters(log, d), whole);
        Process::afresh(race[i].entrant, whole, given, search, seed).map(Some)
    };
    // In parallel they need several times the memory.
    let concluded = shared(ranks, race.len(), |mine| match m <= SIDE_BY_SIDE {
        true => mine.into_par_iter().map(conclude).collect(),
        false => mine.into_iter().map(conclude).collect(),
    })?;
    let finalists = race.into_iter().zip(concluded);
    let finalists = finalists.map(|(runner, process)| {
        let process = process.unwrap_or(runner.process);
        match (&inputs, search) {
            (Some(inputs), None) => process.renumbered(inputs),
            _ => process,
        }
    });
    let mut finalists: Vec<Process> = finalists.collect();
    let steps = (plan.sum_steps, plan.sum_steps.min(plan.fold_iterations));
    // Few rows cannot determine the weights of a sum.
    if processes > 1
        && !plan.few
        && let Ok(kernel_sum) = Process::kernel_sum(&finalists[..processes], (given, ranks), steps)
    {
        finalists.push(kernel_sum);
    }
    finalists.push(Process::mean(given)?);
    Ok(ranked(finalists, &given.data))
}

impl<'a> Runner<'a> {
    fn new(entrant: &'a Entrant, (log, process): Found) -> Self {
        Runner {
            entrant,
            log,
            process,
        }
    }

    /// Logarithms of the lengths as a plain kernel would have them: an input with a small share c acts as if its length
    /// were ℓ/√c.
    fn lengths(&self) -> Vec<f64> {
        let part = &self.process.parts[0];
        let share = |j: usize| part.shares.get(j).map_or(1.0, |share| share.max(1e-12));
        let lengths = part.lengths.iter().enumerate();
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
            ..self.entrant.process.clone()
        };
        let mut starts = vec![self.log.clone()];
        if let Some(guide) = guide.filter(|_| self.entrant.is_control()) {
            for factor in [1.0f64, 0.5] {
                let lengths = guide.iter().map(|length| length + factor.ln());
                starts.push(lengths.chain([GUIDED_NOISE.ln()]).collect());
            }
        }
        let d = samples.data.dim();
        (starts.iter_mut()).for_each(|start| process.shorten(start, d));
        let log = process.search_from(&samples.data, starts, observe);
        let process = Process::new(self.entrant, &log, samples, fold_iterations)?;
        Ok((log, process))
    }
}

/// The `count` best runners for `m` rows, best first, and among them the `controls` best of the controls: few rows may
/// flatter the kernels with many numbers.
fn best<'a>(
    mut race: Vec<Runner<'a>>,
    (count, controls): (usize, usize),
    m: usize,
) -> Vec<Runner<'a>> {
    race.sort_by(|a, b| a.process.score_on(m).total_cmp(&b.process.score_on(m)));
    let present = race.iter().filter(|runner| runner.entrant.is_control());
    let mut controls = controls.min(present.count());
    let mut others = count.saturating_sub(controls);
    race.retain(|runner| {
        let is_control = runner.entrant.is_control() && controls > 0;
        let places = if is_control {
            &mut controls
        } else {
            &mut others
        };
        let stays = *places > 0;
        *places -= usize::from(stays);
        stays
    });
    race
}
