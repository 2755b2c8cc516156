//! Damaged model and state files: an error or finite numbers, never a panic. THINFIT_FUZZ=N tries N damages.

#![allow(clippy::unwrap_used)]

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::path::Path;
use thinfit::{Activation, Config, Control, Dataset, Mat, Model, Polish, Schedule, Training, fit};

/// What a file may be spoilt with: syntax, numbers at the edge of the range, and other types.
const PIECES: [&str; 20] = [
    "null",
    "true",
    "[]",
    "{}",
    "\"\"",
    "1e308",
    "-1e308",
    "1e-320",
    "1e999",
    "-0.0",
    "0",
    "18446744073709551616",
    "-1",
    "[[[[[[[[",
    "]",
    "}",
    ",",
    ":",
    "\"",
    "\\u0000",
];

fn small(activation: Activation) -> Model {
    let x = Mat::from_fn(12, 2, |i, j| ((i * (3 + j)) % 7) as f64 / 7.0);
    let y = Mat::from_fn(12, 1, |i, _| x[(i, 0)] - x[(i, 1)]);
    let schedule = Schedule {
        steps: 2,
        rate: 1e-3,
    };
    let config = Config {
        activation,
        width: 2,
        training: Training::Direct,
        direct: schedule,
        polish: Polish {
            steps: 0,
            ..Config::fast().polish
        },
        ..Config::fast()
    };
    let data = Dataset::new(x, y).unwrap();
    fit(&data, &config, &|_| Control::Continue).unwrap()
}

/// One to four damages: bytes replaced, taken out, doubled, or a piece put in.
fn damage(text: &str, rng: &mut ChaCha8Rng) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..rng.random_range(1..=4) {
        let from = rng.random_range(0..bytes.len());
        let to = (from + rng.random_range(0..12)).min(bytes.len());
        let piece = PIECES[rng.random_range(0..PIECES.len())].as_bytes();
        match rng.random_range(0..5) {
            0 => bytes[from] = rng.random(),
            1 => drop(bytes.drain(from..to)),
            2 => drop(bytes.splice(from..from, bytes[from..to].to_vec())),
            3 => drop(bytes.splice(from..to, piece.iter().copied())),
            _ => bytes.truncate(from.max(1)),
        }
        if bytes.is_empty() {
            break;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[test]
fn damaged_models_are_errors_or_predict_finite_numbers() {
    let cases: u64 = std::env::var("THINFIT_FUZZ").map_or(20_000, |n| n.parse().unwrap());
    let texts = Activation::ALL.map(|activation| small(activation).to_json());
    let x = Mat::from_fn(3, 2, |i, j| (i + j) as f64 / 4.0);
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut read = 0;
    for case in 0..cases {
        let text = damage(&texts[case as usize % texts.len()], &mut rng);
        let Ok(model) = Model::from_json(&text, Path::new("model")) else {
            continue;
        };
        read += 1;
        if model.dim() == 2 {
            for f in [
                model.predict(x.as_ref()),
                model.gradient(x.as_ref(), 0),
                model.interval(x.as_ref(), 0.9).map(|(low, _)| low),
            ]
            .into_iter()
            .flatten()
            {
                assert!(f.is_all_finite(), "case {case}: {text}");
            }
        }
    }
    eprintln!("{cases} damaged files, {read} of them still models");
}
