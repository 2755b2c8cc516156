//! What a fit selects, and how its record shows it.

#![allow(clippy::unwrap_used)] // also in the helpers, which are tests too

mod common;

use common::{data, run, small};
use thinfit::{Activation, Config, Dataset, Lambda, Model, Polish, Training, Winner};

/// [`data`] with noise, so that regularisation matters.
fn noisy(m: usize) -> Dataset {
    let mut noisy = data(m);
    for i in 0..m {
        noisy.y[(i, 0)] += 0.3 * (((i * 7919) % 211) as f64 / 105.0 - 1.0);
    }
    noisy
}

fn unpolished(config: Config) -> Config {
    let polish = Polish {
        steps: 0,
        ..config.polish
    };
    Config { polish, ..config }
}

#[test]
fn lambda_auto_takes_the_run_with_the_least_validation_error() {
    let data = noisy(60);
    let mut chosen = Vec::new();
    for seed in 0..4 {
        let config = |lambda| Config {
            lambda,
            seed,
            ..unpolished(small(Training::Direct, Activation::Tanh))
        };
        let alone = Lambda::GRID.map(|l| run(&data, &config(Lambda::Fixed(l))).unwrap());
        let error = |model: &Model| model.record.validation_mse[0];
        let best = alone
            .iter()
            .min_by(|a, b| error(a).total_cmp(&error(b)))
            .unwrap();
        let auto = run(&data, &config(Lambda::Auto)).unwrap();
        assert_eq!(auto.record.lambda, best.record.lambda, "seed {seed}");
        assert_eq!(auto.scaled_hidden(), best.scaled_hidden(), "seed {seed}");
        chosen.push(auto.record.lambda);
    }
    let first = chosen[0];
    assert!(chosen.iter().any(|l| *l != first), "always {first}");
}

#[test]
fn lambda_is_that_of_the_weights_and_training_lambda_what_a_polish_left_behind() {
    let (data, lambda) = (data(90), 1e-3);
    for training in [Training::Direct, Training::Generative, Training::Refined] {
        let config = Config {
            lambda: Lambda::Fixed(lambda),
            ..small(training, Activation::Fourier)
        };
        let polished = run(&data, &config).unwrap().header.record;
        assert!(polished.polish_steps > Some(0), "{training:?}");
        assert_eq!(
            (polished.lambda, polished.training_lambda),
            (0.0, Some(lambda))
        );
        assert_eq!(polished.regulariser(), Some(lambda));
        let trained = run(&data, &unpolished(config)).unwrap().header.record;
        assert_eq!(trained.polish_steps, None);
        assert_eq!((trained.lambda, trained.training_lambda), (lambda, None));
        assert_eq!(trained.regulariser(), Some(lambda));
    }
}

/// A small fit with the random starts of the `fast` preset, their scales multiplied by `factor`.
fn with_starts(training: Training, scale: f64, factor: f64, seed: u64) -> Model {
    let mut config = Config {
        scale,
        seed,
        ..small(training, Activation::Fourier)
    };
    config.polish.starts = Config::fast().polish.starts;
    for start in &mut config.polish.starts {
        start.scale *= factor;
    }
    run(&data(90), &config).unwrap()
}

#[test]
fn random_features_of_the_scale_of_a_start_do_not_join_its_history() {
    let starts = Config::fast().polish.starts;
    assert!(starts.iter().any(|start| start.scale == 0.1));
    let mut won_by_a_start = 0;
    for seed in 0..6 {
        let fitted = |scale| with_starts(Training::Random, scale, 1.0, seed);
        let (same, other) = (fitted(0.1), fitted(0.11));
        // One candidate runs two laps, the heat and the final, and each counts its steps from 0.
        let steps: Vec<usize> = same.record.history.iter().map(|check| check.step).collect();
        let laps: Vec<&[usize]> = steps.chunk_by(|a, b| *b == a + 1).collect();
        assert!(
            laps.len() == 2 && laps.iter().all(|lap| lap[0] == 0),
            "{steps:?}"
        );
        // Hidden weights that do not change with the scale of the method come from a start.
        if same.scaled_hidden() == other.scaled_hidden() {
            won_by_a_start += 1;
            assert_eq!(same.record.history, other.record.history);
            assert_eq!(same.record.start_scale, other.record.start_scale);
        }
    }
    assert!(won_by_a_start > 0, "no start ever wins");
}

#[test]
fn a_learning_curve_belongs_to_the_weights_that_won() {
    // Good starts and hopeless ones.
    for (factor, trained) in [(1.0, false), (1e4, true)] {
        for seed in 0..4 {
            let record = with_starts(Training::Refined, 0.1, factor, seed)
                .header
                .record;
            let of_training = record.history.iter().any(|check| check.leaf.is_some());
            assert_eq!(of_training, trained, "seed {seed}");
            assert_eq!(record.start_scale.is_none(), trained, "seed {seed}");
            let selection = record.selection.unwrap();
            let random = selection.winner == Winner::PolishedRandom;
            assert_eq!(random, !trained, "seed {seed}");
            // What was chosen is at least as good as what the training gave.
            assert!(
                record.validation_mse[0] <= selection.trained_mse[0],
                "seed {seed}"
            );
        }
    }
}
