//! What was found, as numbers and in words.

use super::process::Process;
use super::samples::{OutOfFold, Samples};
use super::{Outcome, Winner, edges};
use crate::report::two_digits;
use thinfit::{Findings, Tried};

/// Squared error, relative to the variance, above which a model tells nothing.
const NOTHING: f64 = 0.95;

/// The findings of a fit, in the units of the data.
pub(super) fn findings(
    outcome: &Outcome,
    winner: &Winner,
    errors: &OutOfFold,
    samples: &Samples,
    outliers: Vec<usize>,
) -> Findings {
    let scale = &samples.scalers.1.scale;
    let units = |v: &[f64], power: i32| -> Vec<f64> {
        v.iter()
            .zip(scale)
            .map(|(v, scale)| v * scale.powi(power))
            .collect()
    };
    let best = &outcome.processes[0];
    let range = match outcome.stopped {
        true => None,
        false => best.noise_range(samples),
    };
    let mut tried: Vec<Tried> = (outcome.processes.iter())
        .map(|process| Tried {
            name: process.name.into(),
            mse: units(&process.out_of_fold.mse(), 2),
        })
        .collect();
    if let Some((network, errors)) = &outcome.direct {
        tried.push(Tried {
            name: format!(
                "network of {} neurons, fitted to the rows",
                network.hidden.nrows()
            ),
            mse: units(&errors.mse(), 2),
        });
    }
    if let Some(distilled) = &outcome.distilled {
        let added = best.out_of_fold.with_added(&distilled.distance);
        tried.push(Tried {
            name: format!(
                "network of {} neurons, predicted by the best Gaussian process",
                distilled.network.hidden.nrows()
            ),
            mse: units(&added.mse(), 2),
        });
    }
    let won = match winner {
        Winner::Process => 0,
        Winner::Direct => outcome.processes.len(),
        Winner::Distilled => tried.len() - 1,
    };
    let chosen = tried.remove(won);
    tried.sort_by(|a, b| a.mse.iter().sum::<f64>().total_cmp(&b.mse.iter().sum()));
    tried.insert(0, chosen);
    Findings {
        standard_error: units(&errors.standard_error(), 2),
        noise: units(&noise(outcome, errors), 1),
        noise_range: range
            .iter()
            .flatten()
            .zip(scale)
            .map(|(ends, s)| ends.map(|v| v * s))
            .collect(),
        is_mean: best.is_mean() && matches!(winner, Winner::Process),
        inputs: outcome.structure.inputs.clone(),
        terms: outcome.structure.terms.clone(),
        words: words(
            outcome,
            winner,
            errors,
            samples,
            (&outliers, range.as_deref()),
        ),
        outliers,
        tried,
        ..Findings::default()
    }
}

/// Standard deviations of the noise, in scaled outputs (c). Where no model is better than the mean, all that varies is
/// noise to the eye, however a process divides it.
fn noise(outcome: &Outcome, errors: &OutOfFold) -> Vec<f64> {
    let found = outcome.processes[0].noise();
    let of = |(noise, error): (f64, f64)| if error > NOTHING { error.sqrt() } else { noise };
    found.into_iter().zip(errors.mse()).map(of).collect()
}

/// Sentences that a user understands, without a full stop.
fn words(
    outcome: &Outcome,
    winner: &Winner,
    errors: &OutOfFold,
    samples: &Samples,
    (outliers, range): (&[usize], Option<&[[f64; 2]]>),
) -> Vec<String> {
    let (best, names) = (&outcome.processes[0], &samples.data.inputs);
    let listed = |set: &[usize]| {
        let names: Vec<&str> = set.iter().map(|&j| names[j].as_str()).collect();
        names.join(", ")
    };
    let mut words = Vec::new();
    let loss = 100.0 * (errors.error() / best.error().max(f64::MIN_POSITIVE) - 1.0);
    // The ranking weighs errors and likelihood, so that the lowest error may be another's, by chance.
    let error = match winner {
        Winner::Direct => errors.error(),
        Winner::Process | Winner::Distilled => best.error(),
    };
    let is_lowest = outcome
        .processes
        .iter()
        .all(|process| error <= process.error());
    let together = match samples.data.outputs.len() {
        1 => "",
        _ => ", all outputs together",
    };
    words.push(match winner {
        Winner::Process if best.is_mean() => {
            "the model predicts the mean: no candidate is clearly better on held-out rows".into()
        }
        Winner::Process if is_lowest => {
            format!("a {} predicts held-out rows best{together}", best.name)
        }
        Winner::Process => format!("a {} was chosen", best.name),
        Winner::Direct if loss < 0.0 && is_lowest => {
            format!(
                "a network fitted to the rows predicts held-out rows best{together}: they are clean"
            )
        }
        Winner::Direct if loss < 0.0 => {
            "a network fitted to the rows was chosen: they are clean".into()
        }
        Winner::Distilled if loss < 3.0 => format!(
            "a thin network follows the {} model ({}) so closely that nothing is lost",
            if is_lowest { "best" } else { "chosen" },
            best.name
        ),
        _ => format!(
            "a network was asked for; its squared error is {loss:.0} % above that of a {}",
            best.name
        ),
    });
    if outcome.stopped {
        words.push("stopped, by hand or because it took far longer than its budget, before everything was tried".into());
    }
    if !is_lowest && !best.is_mean() {
        let probable = |process: &Process| best.score() <= process.score();
        let why = match outcome.processes.iter().all(probable) {
            true => "; this one makes all rows together more probable",
            false => "",
        };
        words.push(format!(
            "another candidate has a lower held-out error, by no more than chance{why}"
        ));
    }
    words.extend(edges::words(best, samples));
    for (o, noise) in noise(outcome, errors).iter().enumerate() {
        let name = match samples.data.outputs.len() {
            1 => String::new(),
            _ => format!("{}: ", samples.data.outputs[o]),
        };
        let error = errors.mse()[o];
        let y = samples.data.y.col_as_slice(o);
        if y.iter().all(|v| *v == y[0]) {
            continue;
        }
        if best.is_mean() {
            continue;
        }
        if error > NOTHING {
            words.push(format!("{name}no model predicts held-out rows clearly better than the mean does: what the inputs say about it, if anything, is lost in noise"));
            continue;
        }
        if *noise == 0.0 {
            words.push(format!(
                "{name}no noise detected: more rows improve the model"
            ));
            continue;
        }
        let Some([low, high]) = range.map(|range| range[o]) else {
            words.push(format!(
                "{name}the rows cannot tell how much of the error is noise"
            ));
            continue;
        };
        let percent = |deviation: f64| format!("{} %", two_digits(100.0 * deviation));
        words.push(
            if *noise == 0.0 || low == 0.0 && error > 4.0 * high * high {
                format!("{name}no noise detected: more rows improve the model")
            } else if low == 0.0 {
                format!("{name}noise is at most {} of the spread", percent(high))
            } else {
                let between = format!(
                    "noise is {} to {} of the spread",
                    percent(low),
                    percent(high)
                );
                if error < 1.5 * low * low {
                    format!("{name}{between}, nearly all of the error: more rows help little")
                } else if error > 2.0 * high * high {
                    format!("{name}{between}, less than half of the squared error: more rows help")
                } else {
                    format!("{name}{between}")
                }
            },
        );
    }
    let warped: Vec<usize> = (0..samples.data.dim())
        .filter(|&j| samples.scalers.0.warp_of(j).is_some())
        .collect();
    if !warped.is_empty() {
        words.push(format!(
            "skewed inputs, transformed by asinh: {}",
            listed(&warped)
        ));
    }
    match outliers.len() {
        0 => {}
        1 => words.push("1 row is clearly an outlier and was set aside; reported errors are for rows that are not".into()),
        count => words.push(format!("{count} rows are clearly outliers and were set aside; reported errors are for rows that are not")),
    }
    words
}
