//! What was found, as numbers and in words.

use super::samples::{OutOfFold, Samples};
use super::teacher::Teacher;
use super::{Outcome, Winner, jump};
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
    let best = &outcome.teachers[0];
    let mut tried: Vec<Tried> = (outcome.teachers.iter())
        .map(|teacher| Tried {
            name: teacher.name.into(),
            mse: units(&teacher.out_of_fold.mse(), 2),
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
    if let Some(student) = &outcome.student {
        let added = best.out_of_fold.with_added(&student.distance);
        tried.push(Tried {
            name: format!(
                "network of {} neurons, taught by the best Gaussian process",
                student.network.hidden.nrows()
            ),
            mse: units(&added.mse(), 2),
        });
    }
    let won = match winner {
        Winner::Teacher => 0,
        Winner::Direct => outcome.teachers.len(),
        Winner::Student => tried.len() - 1,
    };
    let chosen = tried.remove(won);
    tried.sort_by(|a, b| a.mse.iter().sum::<f64>().total_cmp(&b.mse.iter().sum()));
    tried.insert(0, chosen);
    Findings {
        standard_error: units(&errors.standard_error(), 2),
        noise: units(&noise(outcome, errors), 1),
        inputs: outcome.structure.inputs.clone(),
        terms: outcome.structure.terms.clone(),
        words: words(outcome, winner, errors, samples, &outliers),
        outliers,
        tried,
    }
}

/// Standard deviations of the noise, in scaled outputs (c). Where no model is better than the mean, all that varies is
/// noise to the eye, however a process divides it.
fn noise(outcome: &Outcome, errors: &OutOfFold) -> Vec<f64> {
    let found = outcome.teachers[0].noise();
    let of = |(noise, error): (f64, f64)| if error > NOTHING { error.sqrt() } else { noise };
    found.into_iter().zip(errors.mse()).map(of).collect()
}

/// Sentences that a user understands, without a full stop.
fn words(
    outcome: &Outcome,
    winner: &Winner,
    errors: &OutOfFold,
    samples: &Samples,
    outliers: &[usize],
) -> Vec<String> {
    let (best, names) = (&outcome.teachers[0], &samples.data.inputs);
    let listed = |set: &[usize]| {
        let names: Vec<&str> = set.iter().map(|&j| names[j].as_str()).collect();
        names.join(", ")
    };
    let mut words = Vec::new();
    let loss = 100.0 * (errors.error() / best.error().max(f64::MIN_POSITIVE) - 1.0);
    // The ranking weighs errors and likelihood, so that the lowest error may be another's, by chance.
    let judged = match winner {
        Winner::Direct => errors.error(),
        Winner::Teacher | Winner::Student => best.error(),
    };
    let is_lowest = outcome
        .teachers
        .iter()
        .all(|teacher| judged <= teacher.error());
    let together = match samples.data.outputs.len() {
        1 => "",
        _ => ", all outputs together",
    };
    words.push(match winner {
        Winner::Teacher if is_lowest => {
            format!("a {} predicts unseen rows best{together}", best.name)
        }
        Winner::Teacher => format!("a {} was chosen", best.name),
        Winner::Direct if loss < 0.0 && is_lowest => {
            format!(
                "a network fitted to the rows predicts unseen rows best{together}: they are clean"
            )
        }
        Winner::Direct if loss < 0.0 => {
            "a network fitted to the rows was chosen: they are clean".into()
        }
        Winner::Student if loss < 3.0 => format!(
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
    if !is_lowest {
        let probable = |teacher: &Teacher| best.score() <= teacher.score();
        let why = match outcome.teachers.iter().all(probable) {
            true => "; this one makes all rows together more probable",
            false => "",
        };
        words.push(format!(
            "another candidate has a lower error on the rows left out, by no more than chance{why}"
        ));
    }
    words.extend(jump::words(best, samples));
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
        words.push(if error > NOTHING {
            format!("{name}no model predicts unseen rows better than the mean does: what the inputs tell, if anything, is lost in noise")
        } else if *noise == 0.0 {
            format!("{name}no noise can be seen; more rows make the model better")
        } else if error < 1.5 * noise * noise {
            format!("{name}the error is nearly all noise ({:.2} % of the spread): more rows help little", 100.0 * noise)
        } else {
            let share = 100.0 * (noise * noise / error);
            format!("{name}noise is {:.2} % of the spread and makes {share:.0} % of the squared error: more rows help", 100.0 * noise)
        });
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
