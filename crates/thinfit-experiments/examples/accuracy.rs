//! The accuracy figures of the README, written to a folder under `runs/`.
//!
//! `cargo run --release -p thinfit-experiments --example accuracy -- WHAT --out DIR [--seeds K]` where WHAT is `fast`
//! (the default preset on dense inputs), `polish` (random features and the polish on the true inputs) or `coverage` (90 %
//! intervals under noise). `thinfit reproduce` has the paper's tables. Every line is written when its job is done, and a job that stands in the file is not run again.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Instant;
use thinfit::{Config, Control, Dataset, Lambda, Mat, MatRef, Model, Training, fit};
use thinfit_experiments::functions::noise;
use thinfit_experiments::{Problem, Split};

type Outcome = Result<(), Box<dyn std::error::Error + Send + Sync>>;

/// Results by job, kept in a CSV file.
struct Ledger {
    path: PathBuf,
    lines: Mutex<Vec<String>>,
}

impl Ledger {
    fn open(folder: &Path, name: &str) -> std::io::Result<Self> {
        std::fs::create_dir_all(folder)?;
        let path = folder.join(format!("{name}.csv"));
        let text = std::fs::read_to_string(&path).unwrap_or_else(|_| {
            "problem,d,samples,method,activation,lambda,seed,value,seconds\n".into()
        });
        Ok(Ledger {
            path,
            lines: Mutex::new(text.lines().map(str::to_owned).collect()),
        })
    }

    fn has(&self, job: &str) -> bool {
        let start = format!("{job},");
        self.lines
            .lock()
            .is_ok_and(|lines| lines.iter().any(|line| line.starts_with(&start)))
    }

    fn add(&self, job: &str, value: f64, seconds: f64) -> Outcome {
        let mut lines = self.lines.lock().map_err(|_| "a job panicked")?;
        lines.push(format!("{job},{value:e},{seconds:.2}"));
        eprintln!("{job},{value:.3e},{seconds:.1} s");
        let partial = self.path.with_extension("partial");
        std::fs::write(&partial, lines.join("\n") + "\n")?;
        std::fs::rename(&partial, &self.path)?;
        Ok(())
    }

    /// Means over seeds, by the fields before the seed.
    fn print(&self) -> Outcome {
        let lines = self.lines.lock().map_err(|_| "a job panicked")?;
        let mut groups: Vec<(String, Vec<(f64, f64)>)> = Vec::new();
        for line in &lines[1..] {
            let fields: Vec<&str> = line.split(',').collect();
            let (key, value) = (
                fields[..6].join(","),
                (fields[7].parse()?, fields[8].parse()?),
            );
            match groups.iter_mut().find(|group| group.0 == key) {
                Some(group) => group.1.push(value),
                None => groups.push((key, vec![value])),
            }
        }
        for (key, values) in groups {
            let mean = |pick: fn(&(f64, f64)) -> f64| {
                values.iter().map(pick).sum::<f64>() / values.len() as f64
            };
            let (value, seconds) = (mean(|v| v.0), mean(|v| v.1));
            writeln!(
                std::io::stdout(),
                "{key}: mean {value:.3e} over {} seeds, {seconds:.1} s",
                values.len()
            )?;
        }
        Ok(())
    }
}

/// A problem with its setting.
#[derive(Clone, Copy)]
struct Cell {
    problem: Problem,
    d: usize,
    m: usize,
}

impl Cell {
    fn job(self, method: &str, config: &Config) -> String {
        let Cell { problem, d, m } = self;
        let Lambda::Fixed(lambda) = config.lambda else {
            unreachable!("these runs fix lambda")
        };
        format!(
            "{problem},{d},{m},{method},{},{lambda},{}",
            config.activation.name(),
            config.seed
        )
    }
}

fn mean_square(model: &Model, x: MatRef<'_, f64>, y: &Mat<f64>) -> thinfit::Result<f64> {
    Ok((model.predict(x)? - y).squared_norm_l2() / y.nrows() as f64)
}

/// A fit on the given inputs of a problem (all of them if none are named).
fn plain(ledger: &Ledger, name: &str, cell: Cell, inputs: &[usize], config: &Config) -> Outcome {
    let job = cell.job(name, config);
    if ledger.has(&job) {
        return Ok(());
    }
    let pick = |x: &Mat<f64>| match inputs {
        [] => x.clone(),
        _ => Mat::from_fn(x.nrows(), inputs.len(), |i, j| x[(i, inputs[j])]),
    };
    let sample = |split| cell.problem.sample(cell.d, cell.m, config.seed, split);
    let (train, test) = (sample(Split::Train)?, sample(Split::Test)?);
    let start = Instant::now();
    let model = fit(&Dataset::new(pick(&train.x), train.y)?, config, &|_| {
        Control::Continue
    })?;
    let seconds = start.elapsed().as_secs_f64();
    ledger.add(
        &job,
        mean_square(&model, pick(&test.x).as_ref(), &test.y)?,
        seconds,
    )
}

/// Share of fresh noisy targets inside the 90 % interval, noise of 10 % of the standard deviation of f.
fn coverage(ledger: &Ledger, cell: Cell, config: &Config) -> Outcome {
    let job = cell.job("coverage", config);
    if ledger.has(&job) {
        return Ok(());
    }
    let fresh = 2000;
    let train = cell
        .problem
        .sample(cell.d, cell.m, config.seed, Split::Train)?;
    let test = cell
        .problem
        .sample(cell.d, fresh, config.seed, Split::Test)?;
    let mean = train.y.sum() / cell.m as f64;
    let deviation = 0.1 * (train.y.squared_norm_l2() / cell.m as f64 - mean * mean).sqrt();
    let noise = noise(cell.m + fresh, config.seed);
    let y = Mat::from_fn(cell.m, 1, |i, _| train.y[(i, 0)] + deviation * noise[i]);
    let start = Instant::now();
    let model = fit(&Dataset::new(train.x, y)?, config, &|_| Control::Continue)?;
    let seconds = start.elapsed().as_secs_f64();
    let (low, high) = model.interval(test.x.as_ref(), 0.9)?;
    let inside = |i: &usize| {
        let y = test.y[(*i, 0)] + deviation * noise[cell.m + i];
        low[(*i, 0)] <= y && y <= high[(*i, 0)]
    };
    let error = mean_square(&model, test.x.as_ref(), &test.y)?;
    eprintln!(
        "seed {}: error {error:.3e}, noise {:.3e}",
        config.seed,
        deviation * deviation
    );
    ledger.add(
        &job,
        (0..fresh).filter(inside).count() as f64 / fresh as f64,
        seconds,
    )
}

fn main() -> Outcome {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let option = |name: &str| {
        arguments
            .iter()
            .position(|a| a == name)
            .and_then(|i| arguments.get(i + 1))
    };
    let what = arguments.first().map_or("", String::as_str);
    let folder = PathBuf::from(option("--out").map_or("runs/local", String::as_str));
    let seeds = |default: u64| {
        1..=option("--seeds")
            .and_then(|k| k.parse().ok())
            .unwrap_or(default)
    };
    if !["fast", "polish", "coverage"].contains(&what) {
        return Err(format!("expected one of fast, polish, coverage, found `{what}`").into());
    }
    let ledger = Ledger::open(&folder, what)?;
    let cell = |problem, d, m| Cell { problem, d, m };
    match what {
        "fast" => {
            for cell in [
                cell(Problem::F1, 10, 500),
                cell(Problem::F2, 5, 500),
                cell(Problem::F3, 5, 500),
            ] {
                for seed in seeds(5) {
                    plain(
                        &ledger,
                        "fast",
                        cell,
                        &[],
                        &Config {
                            seed,
                            ..Config::fast()
                        },
                    )?;
                }
            }
        }
        "polish" => {
            let cells = [
                (cell(Problem::F2, 10, 1000), &[0, 1, 2][..]),
                (cell(Problem::F1, 10, 500), &[0, 1, 2, 3]),
            ];
            for (cell, inputs) in cells {
                for seed in seeds(3) {
                    let config = Config {
                        training: Training::Random,
                        seed,
                        ..Config::fast()
                    };
                    plain(&ledger, "random+polish", cell, inputs, &config)?;
                }
            }
        }
        "coverage" => {
            for seed in seeds(20) {
                coverage(
                    &ledger,
                    cell(Problem::F3, 5, 500),
                    &Config {
                        seed,
                        ..Config::fast()
                    },
                )?;
            }
        }
        _ => unreachable!("refused above"),
    }
    ledger.print()
}
