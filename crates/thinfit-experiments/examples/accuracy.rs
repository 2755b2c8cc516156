//! The accuracy figures of the README, written to a folder under `runs/`.
//!
//! `cargo run --release -p thinfit-experiments --example accuracy -- WHAT --out DIR [--seeds K]` where WHAT is `fast`
//! (the default preset on all inputs), `polish` (polished random features on the relevant inputs) or `coverage` (90 %
//! intervals under noise). For the paper's tables there is `thinfit reproduce`. Every finished fit adds a line to a
//! CSV file; fits that are already in the file are skipped.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;
use thinfit::{Config, Control, Dataset, Interval, Lambda, Mat, MatRef, Model, fit};
use thinfit_experiments::functions::noise;
use thinfit_experiments::{Column, Problem, Split};

type Done = Result<(), Box<dyn std::error::Error>>;

/// Results by fit, in a CSV file.
struct Results {
    path: PathBuf,
    lines: Vec<String>,
}

impl Results {
    fn open(folder: &Path, name: &str) -> std::io::Result<Self> {
        std::fs::create_dir_all(folder)?;
        let path = folder.join(format!("{name}.csv"));
        let text = std::fs::read_to_string(&path).unwrap_or_else(|_| {
            "problem,d,samples,method,activation,lambda,seed,value,seconds\n".into()
        });
        let lines = text.lines().map(str::to_owned).collect();
        Ok(Results { path, lines })
    }

    /// Adds the value and the seconds of a fit, unless they are there already.
    fn add(
        &mut self,
        (column, name, config): (Column, &str, &Config),
        measure: impl FnOnce() -> Result<(f64, f64), Box<dyn std::error::Error>>,
    ) -> Done {
        let Lambda::Fixed(lambda) = config.lambda else {
            unreachable!("these runs fix lambda")
        };
        let fit = format!(
            "{},{},{},{name},{},{lambda},{}",
            column.problem(),
            column.dim(),
            column.samples(),
            config.activation.name(),
            config.seed
        );
        let start = format!("{fit},");
        if self.lines.iter().any(|line| line.starts_with(&start)) {
            return Ok(());
        }
        let (value, seconds) = measure()?;
        eprintln!("{fit},{value:.3e},{seconds:.1} s");
        self.lines.push(format!("{fit},{value:e},{seconds:.2}"));
        Ok(thinfit::file::write_whole(
            &self.path,
            (self.lines.join("\n") + "\n").as_bytes(),
        )?)
    }

    /// Prints means over seeds, by the fields before the seed.
    fn print(&self) -> Done {
        let mut groups: Vec<(String, Vec<(f64, f64)>)> = Vec::new();
        for line in &self.lines[1..] {
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
            let count = values.len();
            let value = values.iter().map(|v| v.0).sum::<f64>() / count as f64;
            let seconds = values.iter().map(|v| v.1).sum::<f64>() / count as f64;
            writeln!(
                std::io::stdout(),
                "{key}: mean {value:.3e} over {count} seeds, {seconds:.1} s"
            )?;
        }
        Ok(())
    }
}

fn mean_square(model: &Model, x: MatRef<'_, f64>, y: &Mat<f64>) -> thinfit::Result<f64> {
    Ok((model.predict(x)? - y).squared_norm_l2() / y.nrows() as f64)
}

/// Test error of fits on the given inputs of a column, all of them if none are named.
fn error(
    results: &mut Results,
    name: &str,
    column: Column,
    inputs: &[usize],
    config: &Config,
) -> Done {
    let pick = |x: &Mat<f64>| match inputs {
        [] => x.clone(),
        _ => Mat::from_fn(x.nrows(), inputs.len(), |i, j| x[(i, inputs[j])]),
    };
    results.add((column, name, config), || {
        let (train, test) = column.draw(config.seed)?;
        let start = Instant::now();
        let data = Dataset::new(pick(&train.x), train.y)?;
        let model = fit(&data, config, &|_| Control::Continue)?;
        let seconds = start.elapsed().as_secs_f64();
        let error = mean_square(&model, pick(&test.x).as_ref(), &test.y)?;
        Ok((error, seconds))
    })
}

/// Share of 2000 fresh noisy targets of f3 inside the 90 % interval, with noise of 10 % of the standard deviation of f3.
fn coverage(results: &mut Results, config: &Config) -> Done {
    let (d, m, fresh) = (5, 500, 2000);
    let column = Column::Function(Problem::F3, d, m);
    results.add((column, "coverage", config), || {
        let train = Problem::F3.sample(d, m, config.seed, Split::Train)?;
        let test = Problem::F3.sample(d, fresh, config.seed, Split::Test)?;
        let mean = train.y.sum() / m as f64;
        let deviation = 0.1 * (train.y.squared_norm_l2() / m as f64 - mean * mean).sqrt();
        let noise = noise(m + fresh, config.seed);
        let y = Mat::from_fn(m, 1, |i, _| train.y[(i, 0)] + deviation * noise[i]);
        let start = Instant::now();
        let model = fit(&Dataset::new(train.x, y)?, config, &|_| Control::Continue)?;
        let seconds = start.elapsed().as_secs_f64();
        let Interval { low, high, .. } = model.interval(test.x.as_ref(), 0.9)?;
        let inside = |i: &usize| {
            let y = test.y[(*i, 0)] + deviation * noise[m + i];
            low[(*i, 0)] <= y && y <= high[(*i, 0)]
        };
        let error = mean_square(&model, test.x.as_ref(), &test.y)?;
        eprintln!(
            "seed {}: error {error:.3e}, noise {:.3e}",
            config.seed,
            deviation * deviation
        );
        let share = (0..fresh).filter(inside).count() as f64 / fresh as f64;
        Ok((share, seconds))
    })
}

fn main() -> Done {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let option = |name: &str| {
        let place = arguments.iter().position(|argument| argument == name)?;
        arguments.get(place + 1).map(String::as_str)
    };
    let what = arguments.first().map_or("", String::as_str);
    let default = match what {
        "fast" => 5,
        "polish" => 3,
        "coverage" => 20,
        _ => {
            return Err(format!("expected one of fast, polish, coverage, found `{what}`").into());
        }
    };
    let seeds: u64 = option("--seeds").map_or(Ok(default), str::parse)?;
    let mut results = Results::open(Path::new(option("--out").unwrap_or("runs/local")), what)?;
    let polish: [(&str, &[usize]); 2] = [("f2-10", &[0, 1, 2]), ("f1-10", &[0, 1, 2, 3])];
    for seed in 1..=seeds {
        let config = Config {
            seed,
            ..Config::fast()
        };
        match what {
            "fast" => {
                for column in ["f1-10", "f2-5", "f3-5"] {
                    error(&mut results, "fast", column.parse()?, &[], &config)?;
                }
            }
            "polish" => {
                let config = Config {
                    training: thinfit::Training::Random,
                    ..config
                };
                for (column, inputs) in polish {
                    let column = column.parse()?;
                    error(&mut results, "random+polish", column, inputs, &config)?;
                }
            }
            _ => coverage(&mut results, &config)?,
        }
    }
    results.print()
}
