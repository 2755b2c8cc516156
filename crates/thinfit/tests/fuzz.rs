//! Damaged model and state files: an error or finite numbers, never a panic. `THINFIT_FUZZ=N` tries N of each.

#![allow(clippy::unwrap_used)]

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use thinfit::{
    Activation, Config, Control, Dataset, GeneratorConfig, Mat, Model, Polish, Precision, Progress,
    Schedule, State, Training, fit, resume,
};

/// Pieces that damage a file: syntax, numbers at the edge of the range, other types.
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

fn data() -> Dataset {
    let x = Mat::from_fn(12, 2, |i, j| ((i * (3 + j)) % 7) as f64 / 7.0);
    let y = Mat::from_fn(12, 1, |i, _| x[(i, 0)] - x[(i, 1)]);
    Dataset::new(x, y).unwrap()
}

fn small(training: Training, activation: Activation) -> Config {
    let schedule = Schedule {
        steps: 2,
        rate: 1e-3,
    };
    Config {
        training,
        activation,
        width: 2,
        points: 5,
        generator: GeneratorConfig {
            hidden: vec![3],
            precision: Precision::F32,
        },
        generate: schedule,
        refine: schedule,
        direct: schedule,
        check_every: 1,
        polish: Polish {
            steps: 0,
            starts: vec![],
            ..Config::fast().polish
        },
        ..Config::fast()
    }
}

/// One to four damages: a digit or byte replaced, bytes taken out or doubled, a piece put in, the end cut off.
fn damage(text: &str, rng: &mut ChaCha8Rng) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..rng.random_range(1..=4) {
        let from = rng.random_range(0..bytes.len());
        let to = (from + rng.random_range(0..12)).min(bytes.len());
        let piece = PIECES[rng.random_range(0..PIECES.len())].as_bytes();
        let digit = bytes[from..].iter().position(u8::is_ascii_digit);
        match (rng.random_range(0..20), digit) {
            // Most often: it leaves a file that can be read.
            (0..12, Some(at)) => bytes[from + at] = b'0' + rng.random_range(0..10),
            (0..14, _) => bytes[from] = rng.random(),
            (14..16, _) => drop(bytes.drain(from..to)),
            (16..18, _) => drop(bytes.splice(from..from, bytes[from..to].to_vec())),
            (18, _) => drop(bytes.splice(from..to, piece.iter().copied())),
            _ => bytes.truncate(from),
        }
        if bytes.is_empty() {
            break;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Number of damages to try, by default `cases`.
fn cases(cases: usize) -> usize {
    std::env::var("THINFIT_FUZZ").map_or(cases, |n| n.parse().unwrap())
}

/// Whatever a model answers is finite, but for intervals that its rows cannot give.
fn assert_finite(model: &Model, context: &str) {
    if model.dim() != 2 {
        return;
    }
    let x = Mat::from_fn(3, 2, |i, j| (i + j) as f64 / 4.0);
    let answers = [model.predict(x.as_ref()), model.gradient(x.as_ref(), 0)];
    for f in answers.into_iter().flatten() {
        assert!(f.is_all_finite(), "{context}");
    }
    for level in [0.3, 0.9] {
        if let Ok((low, high)) = model.interval(x.as_ref(), level) {
            let pairs = || (0..3).map(|i| (low[(i, 0)], high[(i, 0)]));
            let finite = pairs().all(|(low, high)| low <= high && (high - low).is_finite());
            let infinite = pairs().all(|(low, high)| low == -high && high == f64::INFINITY);
            assert!(finite || infinite, "{context}");
        }
    }
}

#[test]
fn damaged_models_are_errors_or_predict_finite_numbers() {
    let texts = Activation::ALL.map(|activation| {
        let config = small(Training::Direct, activation);
        let model = fit(&data(), &config, &|_| Control::Continue);
        model.unwrap().to_json()
    });
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let (cases, mut read) = (cases(20_000), 0);
    for case in 0..cases {
        let text = damage(&texts[case % texts.len()], &mut rng);
        if let Ok(model) = Model::from_json(&text, Path::new("model")) {
            read += 1;
            assert_finite(&model, &format!("case {case}: {text}"));
        }
    }
    // A good share either way: about two in five can still be read.
    let refused = cases - read;
    assert!(
        4 * read > cases && 4 * refused > cases,
        "{read} of {cases} were read"
    );
}

/// States of a fit at each of its steps, as text.
fn states(training: Training, activation: Activation, path: &Path) -> Vec<String> {
    let texts = Mutex::new(Vec::new());
    fit(&data(), &small(training, activation), &|progress| {
        progress.state().unwrap().save(path).unwrap();
        let text = std::fs::read_to_string(path).unwrap();
        texts.lock().unwrap().push(text);
        Control::Continue
    })
    .unwrap();
    texts.into_inner().unwrap()
}

/// Whether a fit is as small as those that were saved, or nearly: a damaged size may ask for all memory there is.
fn is_small(config: &Config) -> bool {
    config.width <= 50
        && config.points <= 10_000
        && config.generator.hidden.iter().all(|units| *units <= 500)
}

#[test]
fn damaged_states_are_errors_or_resume_to_finite_models() {
    let folder =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("fuzz-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("state.json");
    let texts: Vec<String> = [
        (Training::Direct, Activation::Tanh),
        (Training::Refined, Activation::Fourier),
    ]
    .iter()
    .flat_map(|&(training, activation)| states(training, activation, &path))
    .collect();
    assert_eq!(texts.len(), 2 + 4);
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let (cases, mut read, mut resumed) = (cases(2_000), 0, 0);
    for case in 0..cases {
        let text = damage(&texts[case % texts.len()], &mut rng);
        std::fs::write(&path, &text).unwrap();
        let Ok(state) = State::load(&path) else {
            continue;
        };
        read += 1;
        if !is_small(state.config()) {
            continue;
        }
        // A damaged number of steps may be large.
        let calls = AtomicUsize::new(0);
        let observe = |_: &Progress<'_>| match calls.fetch_add(1, Ordering::Relaxed) {
            0..20 => Control::Continue,
            _ => Control::Stop,
        };
        if let Ok(model) = resume(&data(), state, &observe) {
            resumed += 1;
            assert_finite(&model, &format!("case {case}: {text}"));
        }
    }
    std::fs::remove_dir_all(&folder).unwrap();
    let refused = cases - read;
    assert!(
        4 * read > cases && 4 * refused > cases,
        "{read} of {cases} were read"
    );
    assert!(2 * resumed > read, "{resumed} of {read} were resumed");
}
