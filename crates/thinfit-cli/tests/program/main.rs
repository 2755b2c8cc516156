//! The program as users see it: exit codes, what it prints where, and the files it leaves.

#![allow(clippy::unwrap_used)]

mod auto;
mod baselines;
mod combinations;
mod demo;
mod design;
mod export;
#[cfg(target_os = "linux")]
mod faults;
mod fit;
mod groups;
mod input;
mod inspect;
mod interruption;
mod laboratory;
mod long;
mod memory;
mod outputs;
mod plot;
mod predict;
#[cfg(feature = "mpi")]
mod ranks;
mod report;
mod reproduce;
mod strangers;
mod study;
mod suggest;
mod tables;
mod walk;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use thinfit::{Config, Control, Dataset, Mat, Model, Schedule};

/// An empty folder for one test.
fn folder(name: &str) -> PathBuf {
    let folder =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("the folder for test files can be written to");
    folder
}

/// The program, to be run in a folder.
fn program(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_thinfit"));
    command.args(arguments).current_dir(folder);
    command
}

fn thinfit(folder: &Path, arguments: &[&str]) -> Output {
    program(folder, arguments)
        .output()
        .expect("the program was built for this test")
}

/// What the program prints to standard output; it must succeed.
fn succeed(folder: &Path, arguments: &[&str]) -> String {
    let output = thinfit(folder, arguments);
    let code = output.status.code();
    assert_eq!(code, Some(0), "{arguments:?}: {}", text(&output.stderr));
    text(&output.stdout)
}

/// The error message of the program, which must fail with code 2, print no result, leave no file and say all the `words`.
fn fail(folder: &Path, arguments: &[&str], words: &[&str]) -> String {
    let before = files(folder);
    let output = thinfit(folder, arguments);
    let message = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {message}");
    assert_eq!(text(&output.stdout), "", "{arguments:?}");
    for word in words {
        assert!(message.contains(word), "`{word}` is missing in: {message}");
    }
    assert!(!message.contains("panicked"), "{message}");
    assert_eq!(files(folder), before, "{arguments:?} left a file");
    message
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Names of the files in a folder, sorted.
fn files(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn write(folder: &Path, name: &str, content: impl AsRef<[u8]>) {
    std::fs::write(folder.join(name), content).unwrap();
}

fn read(folder: &Path, name: &str) -> String {
    std::fs::read_to_string(folder.join(name)).unwrap()
}

/// Settings of a short fit.
const SHORT: [&str; 8] = [
    "--width=12",
    "--set=generate.steps=60",
    "--set=refine.steps=60",
    "--set=direct.steps=60",
    "--set=check_every=20",
    "--set=polish.steps=3",
    "--set=generator.hidden=[16,16]",
    "--quiet",
];

/// The same settings for the library.
fn short() -> Config {
    let schedule = Schedule {
        steps: 60,
        rate: 1e-3,
    };
    let mut config = Config {
        width: 12,
        generate: schedule,
        refine: schedule,
        direct: schedule,
        check_every: 20,
        ..Config::fast()
    };
    config.polish.steps = 3;
    config.generator.hidden = vec![16, 16];
    config
}

/// `arguments`, then those of a short fit.
fn with_short<'a>(arguments: &[&'a str]) -> Vec<&'a str> {
    [arguments, &SHORT].concat()
}

/// Samples of a smooth function of two inputs.
fn points(rows: usize) -> (Mat<f64>, Mat<f64>) {
    let x = Mat::from_fn(rows, 2, |i, j| {
        ((i * (37 + 16 * j) + 5) % 101) as f64 / 101.0
    });
    let y = Mat::from_fn(rows, 1, |i, _| (3.0 * x[(i, 0)]).sin() + x[(i, 1)].powi(2));
    (x, y)
}

/// The points as CSV with columns a, name (text), b, y.
fn csv(rows: usize) -> String {
    let (x, y) = points(rows);
    let lines = (0..rows).map(|i| format!("{},point {i},{},{}\n", x[(i, 0)], x[(i, 1)], y[(i, 0)]));
    format!("a,name,b,y\n{}", lines.collect::<String>())
}

/// A folder with train.csv and a model.json fitted to it.
fn fitted(name: &str) -> PathBuf {
    let folder = folder(name);
    write(&folder, "train.csv", csv(80));
    succeed(
        &folder,
        &with_short(&["fit", "train.csv", "--target", "y", "--drop", "name"]),
    );
    folder
}

/// The model that the library fits to the same data, with weights or without.
fn fitted_by_the_library(rows: usize, weights: Option<Vec<f64>>) -> Model {
    let (x, y) = points(rows);
    let data = Dataset::new(x, y).unwrap();
    let data = data.with_names(vec!["a".into(), "b".into()], vec!["y".into()]);
    let data = Dataset {
        weights,
        ..data.unwrap()
    };
    thinfit::fit(&data, &short(), &|_| Control::Continue).unwrap()
}

/// The header and the numbers of a CSV text.
fn numbers(text: &str) -> (Vec<String>, Vec<Vec<f64>>) {
    let mut lines = text.lines();
    let names = lines
        .next()
        .unwrap()
        .split(',')
        .map(str::to_owned)
        .collect();
    let row = |line: &str| line.split(',').map(|v| v.parse().unwrap()).collect();
    (names, lines.map(row).collect())
}
