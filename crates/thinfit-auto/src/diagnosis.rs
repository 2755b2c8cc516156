//! Assembles the diagnosis of the search, in the units of the data.

use crate::auto::{Outcome, Winner};
use crate::process::Process;
use crate::samples::{OutOfFold, Samples};
use thinfit::{Candidate, Choice, Diagnosis, Tried};
use thinfit_model::explains_nothing;

/// Excess of the squared error over that of the best candidate below which a distilled network counts as equal.
const EQUAL: f64 = 0.03;

/// The diagnosis of a fit with these errors.
pub(crate) fn diagnosis(
    outcome: &Outcome,
    winner: &Winner,
    errors: &OutOfFold,
    samples: &Samples,
    outliers: Vec<usize>,
) -> Diagnosis {
    let scale = &samples.scalers.1.scale;
    let units = |v: &[f64], power: i32| -> Vec<f64> {
        let pairs = v.iter().zip(scale);
        pairs.map(|(v, scale)| v * scale.powi(power)).collect()
    };
    let best = &outcome.processes[0];
    let range = match outcome.stopped {
        true => None,
        false => best.noise_range(samples),
    };
    let ends = range.iter().flatten().zip(scale);
    Diagnosis {
        choice: choice(outcome, winner),
        tried: tried(outcome, winner, &|mse| units(mse, 2)),
        standard_error: units(&errors.standard_error(), 2),
        noise: units(&noise(outcome, errors), 1),
        noise_range: ends.map(|(ends, scale)| ends.map(|v| v * scale)).collect(),
        inputs: outcome.structure.inputs.clone(),
        terms: outcome.structure.terms.clone(),
        outliers,
        ..Diagnosis::default()
    }
}

/// Why the winner was chosen.
fn choice(outcome: &Outcome, winner: &Winner) -> Choice {
    let best = &outcome.processes[0];
    // A distilled network is chosen for the process that it follows.
    let (follows, error) = match (winner, &outcome.direct, &outcome.distilled) {
        (Winner::Direct, Some((_, errors)), _) => (errors.error(), errors.error()),
        (Winner::Distilled, _, Some(distilled)) => {
            let distance = distilled.total() / distilled.distance.len() as f64;
            (best.error(), best.error() + distance)
        }
        _ => (best.error(), best.error()),
    };
    let mut processes = outcome.processes.iter();
    let lowest = processes.all(|process| follows <= process.error());
    let excess = error / best.error().max(f64::MIN_POSITIVE) - 1.0;
    match winner {
        Winner::Process if best.is_mean() => Choice::Mean,
        Winner::Distilled if excess < EQUAL => Choice::Faithful {
            to: best.candidate,
            lowest,
        },
        Winner::Direct | Winner::Distilled if excess >= 0.0 => Choice::Requested {
            best: best.candidate,
            excess,
        },
        _ if lowest => Choice::LowestError,
        _ => {
            let probable = |process: &Process| best.score() <= process.score();
            Choice::WithinChance {
                most_probable: outcome.processes.iter().all(probable),
            }
        }
    }
}

/// The candidates with their errors: the winner, then the others by error.
fn tried(outcome: &Outcome, winner: &Winner, units: &dyn Fn(&[f64]) -> Vec<f64>) -> Vec<Tried> {
    let of = |candidate: Candidate, mse: Vec<f64>| Tried {
        candidate,
        mse: units(&mse),
        of_part: false,
    };
    let processes = outcome.processes.iter();
    let mut tried: Vec<Tried> = processes
        .map(|process| of(process.candidate, process.out_of_fold.mse()))
        .collect();
    if let Some((network, errors)) = &outcome.direct {
        let neurons = network.hidden.nrows();
        tried.push(of(Candidate::Network { neurons }, errors.mse()));
    }
    if let Some(distilled) = &outcome.distilled {
        let best = &outcome.processes[0].out_of_fold;
        let neurons = distilled.network.hidden.nrows();
        let errors = best.with_added(&distilled.distance);
        tried.push(of(Candidate::Distilled { neurons }, errors.mse()));
    }
    let won = match winner {
        Winner::Process => 0,
        Winner::Direct => outcome.processes.len(),
        Winner::Distilled => tried.len() - 1,
    };
    let chosen = tried.remove(won);
    tried.sort_by(|a, b| a.mse.iter().sum::<f64>().total_cmp(&b.mse.iter().sum()));
    tried.insert(0, chosen);
    tried
}

/// Standard deviations of the noise, in scaled outputs (c). Where no model is better than the mean, all variation counts
/// as noise, however a process divides it.
fn noise(outcome: &Outcome, errors: &OutOfFold) -> Vec<f64> {
    let found = outcome.processes[0].noise();
    let of = |(noise, error): (f64, f64)| match explains_nothing(error, 1.0) {
        true => error.sqrt(),
        false => noise,
    };
    found.into_iter().zip(errors.mse()).map(of).collect()
}
