//! Standard errors of indices, tested on functions with known indices.

#![allow(clippy::unwrap_used)]

mod known;

use known::{Known, fitted, friedman, g_function, ishigami};
use thinfit_methods::InputColumn;

/// Smallest difference that counts: what sampling can tell.
const SMALL: f64 = 1e-3;

/// How many true indices lie within two standard errors, of how many, and the errors.
fn held(known: &Known, method: &str, rows: usize, noise: f64, seed: u64) -> (usize, Vec<f64>) {
    let model = fitted(known, method, rows, noise, seed).unwrap();
    let found = model.sensitivity(0).unwrap();
    let errors = model
        .index_errors(0, &InputColumn::all(&model), &found)
        .unwrap();
    let truth = known.first.iter().chain(&known.total);
    let found = found.first.iter().chain(&found.total);
    let errors: Vec<f64> = errors.first.iter().chain(&errors.total).copied().collect();
    let within = truth
        .zip(found)
        .zip(&errors)
        .filter(|((truth, found), error)| (*truth - *found).abs() <= 2.0 * **error + SMALL);
    (within.count(), errors)
}

#[test]
fn true_indices_lie_within_two_standard_errors_that_are_tight_enough_to_use() {
    for (method, seeds) in [("gaussian-process", 4), ("gft-r", 1)] {
        let (mut within, mut all) = (0, Vec::new());
        for known in [ishigami(), g_function(), friedman()] {
            for (rows, noise) in [(100, 0.0), (100, 0.1), (200, 0.1)] {
                for seed in 0..seeds {
                    let (inside, errors) = held(&known, method, rows, noise, seed);
                    within += inside;
                    all.extend(errors);
                }
            }
        }
        all.sort_by(f64::total_cmp);
        let share = within as f64 / all.len() as f64;
        let median = all[all.len() / 2];
        println!("{method}: {share} of {}, median {median}", all.len());
        assert!(share > 0.92, "{method}: {share}");
        assert!(median < 0.06, "{method}: {median}");
    }
}

#[test]
fn errors_grow_with_the_noise_and_shrink_with_the_rows() {
    let known = friedman();
    let median = |rows: usize, noise: f64| {
        let mut errors = held(&known, "gaussian-process", rows, noise, 1).1;
        errors.sort_by(f64::total_cmp);
        errors[errors.len() / 2]
    };
    let (clean, noisy, many) = (median(100, 0.0), median(100, 0.3), median(400, 0.3));
    assert!(clean < noisy && many < noisy, "{clean} {noisy} {many}");
}

#[test]
fn what_two_inputs_do_together_has_an_error_of_its_own() {
    for (known, pair, truth) in [
        (ishigami(), [0, 2], None),
        (friedman(), [0, 1], None),
        (friedman(), [2, 3], Some(0.0)),
    ] {
        let truth = truth.unwrap_or(known.total[pair[0]] - known.first[pair[0]]);
        let model = fitted(&known, "gaussian-process", 150, 0.1, 2).unwrap();
        let (factors, found) = (InputColumn::all(&model), model.sensitivity(0).unwrap());
        let errors = model.index_errors(0, &factors, &found).unwrap();
        let share = found.second[(pair[0], pair[1])];
        let error = model.pair_error(0, &factors, pair, share, &errors).unwrap();
        let off = (share - truth).abs();
        assert!(
            off <= 2.5 * error + SMALL && error < 0.1,
            "{}: {share} ± {error}, {truth}",
            known.name
        );
    }
}

#[test]
fn methods_without_uncertainty_have_no_errors() {
    let model = fitted(&friedman(), "rff", 60, 0.1, 1).unwrap();
    let found = model.sensitivity(0).unwrap();
    assert!(
        model
            .index_errors(0, &InputColumn::all(&model), &found)
            .is_err()
    );
}
