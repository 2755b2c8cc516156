//! Ten rounds of suggested rows, compared with random and maximin designs of the same size.
//!
//! `suggest [SEEDS [FUNCTIONS [START]]]`: a maximin design of START (10) rows per input, then ten rounds of suggested
//! rows. Every fit is a Gaussian process. The error is the root mean square on 4,000 uniform points of the ranges;
//! for the goal `minimum`, it is the smallest sample minus the minimum of the function.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use thinfit::{Control, Dataset, Mat};
use thinfit_design::{Input, Range, Scheme, Space, Value, plan};
use thinfit_experiments::Formula;
use thinfit_methods::{Method, Predictor};
use thinfit_study::{Aim, Ranges, Region, suggest};

const ROUNDS: usize = 10;
const TEST: usize = 4000;
/// The criterion was chosen on seeds below this one.
const FIRST: u64 = 100;

/// A function of a row.
type Function = Box<dyn Fn(&[f64]) -> f64>;

/// A function and how it is sampled.
struct Task {
    name: &'static str,
    ranges: Vec<[f64; 2]>,
    value: Function,
    /// Rows of the first design.
    start: usize,
    batch: usize,
    /// The smallest value.
    least: f64,
}

fn published(name: &'static str, start: usize, batch: usize, least: f64) -> Task {
    let formula = Formula::named(name).expect("a published function");
    Task {
        name,
        start: start * formula.dim(),
        ranges: formula.ranges.to_vec(),
        value: Box::new(move |x| formula.evaluate(x)),
        batch,
        least,
    }
}

impl Task {
    fn space(&self) -> Space {
        let inputs = self
            .ranges
            .iter()
            .enumerate()
            .map(|(j, &[low, high])| Input {
                name: format!("x{}", j + 1),
                range: Range::Real { low, high },
            });
        Space::new(inputs.collect()).expect("ranges")
    }

    fn planned(&self, scheme: Scheme, rows: usize, seed: u64) -> Vec<Vec<f64>> {
        let space = self.space();
        let places = plan(&space, scheme, rows, &[], seed).expect("a plan");
        let value = |(input, place): (&Input, &f64)| match input.range.at(*place) {
            Value::Number(v) => v,
            Value::Level(_) => f64::NAN,
        };
        places
            .iter()
            .map(|row| space.inputs().iter().zip(row).map(value).collect())
            .collect()
    }

    fn uniform(&self, rows: usize, seed: u64) -> Vec<Vec<f64>> {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        (0..rows)
            .map(|_| {
                let each = self.ranges.iter();
                each.map(|[low, high]| low + random.random::<f64>() * (high - low))
                    .collect()
            })
            .collect()
    }

    fn fit(&self, rows: &[Vec<f64>], seed: u64) -> Predictor {
        let y: Vec<f64> = rows.iter().map(|row| (self.value)(row)).collect();
        let data =
            Dataset::new(table(rows), Mat::from_fn(rows.len(), 1, |i, _| y[i])).expect("data");
        let method = Method::named("gaussian-process").expect("a method");
        method
            .fit(&data, seed, &|_| Control::Continue)
            .expect("a fit")
    }

    fn error(&self, rows: &[Vec<f64>], test: &[Vec<f64>], seed: u64) -> f64 {
        let f = self
            .fit(rows, seed)
            .predict(table(test).as_ref())
            .expect("predictions");
        let squares = test
            .iter()
            .enumerate()
            .map(|(i, row)| (f[(i, 0)] - (self.value)(row)).powi(2));
        (squares.sum::<f64>() / test.len() as f64).sqrt()
    }

    fn adaptive(&self, goal: Aim, seed: u64) -> Vec<Vec<f64>> {
        let mut rows = self.planned(Scheme::Maximin, self.start, seed);
        for round in 0..ROUNDS {
            let model = self.fit(&rows, seed);
            let ranges = Ranges::within(&model, &self.space()).expect("a ranges");
            let none = Mat::zeros(0, self.ranges.len());
            let new = suggest(
                &Region::within(&model, ranges),
                goal,
                self.batch,
                none.as_ref(),
                1000 * seed + round as u64,
            )
            .expect("rows");
            rows.extend((0..new.nrows()).map(|i| new.row(i).iter().copied().collect::<Vec<f64>>()));
        }
        rows
    }

    fn regret(&self, rows: &[Vec<f64>]) -> f64 {
        rows.iter()
            .map(|row| (self.value)(row))
            .fold(f64::INFINITY, f64::min)
            - self.least
    }
}

fn table(rows: &[Vec<f64>]) -> Mat<f64> {
    Mat::from_fn(rows.len(), rows[0].len(), |i, j| rows[i][j])
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let seeds: u64 = words.first().and_then(|w| w.parse().ok()).unwrap_or(20);
    let only = words.get(1);
    let start: usize = words.get(2).and_then(|w| w.parse().ok()).unwrap_or(10);
    let gramacy = Task {
        name: "gramacy-lee-2",
        start: 2 * start,
        ranges: vec![[-2.0, 6.0]; 2],
        value: Box::new(|x| x[0] * (-x[0] * x[0] - x[1] * x[1]).exp()),
        batch: 4,
        least: -0.428_881_942_480_353,
    };
    let tasks = [
        published("branin-2", start, 4, 0.397_887_357_729_739),
        gramacy,
        published("borehole-8", start, 8, f64::NAN),
        published("friedman-5", start, 8, f64::NAN),
        published("otl-circuit-6", start, 8, f64::NAN),
        published("ishigami-3", start, 8, f64::NAN),
        published("hartmann-6", start, 8, -3.322_368),
        published("piston-7", start, 8, f64::NAN),
        published("wing-weight-10", start, 8, f64::NAN),
    ];
    println!("goal,function,inputs,start,batch,seed,suggest,maximin,random");
    for task in tasks
        .iter()
        .filter(|t| only.is_none_or(|o| o.split(',').any(|o| o == t.name)))
    {
        let d = task.ranges.len();
        let total = task.start + ROUNDS * task.batch;
        let mut wins = 0;
        for seed in FIRST..FIRST + seeds {
            let test = task.uniform(TEST, 1_000_000 + seed);
            let ours = task.error(&task.adaptive(Aim::Uncertainty, seed), &test, seed);
            let maximin = task.error(
                &task.planned(Scheme::Maximin, total, 500 + seed),
                &test,
                seed,
            );
            let random = task.error(&task.uniform(total, 2_000_000 + seed), &test, seed);
            wins += u32::from(ours < maximin && ours < random);
            println!(
                "uncertainty,{},{d},{},{},{seed},{ours:.6e},{maximin:.6e},{random:.6e}",
                task.name, task.start, task.batch
            );
        }
        eprintln!("{}: best of three in {wins} of {seeds}", task.name);
        if task.least.is_nan() {
            continue;
        }
        let mut wins = 0;
        for seed in FIRST..FIRST + seeds {
            let ours = task.regret(&task.adaptive(Aim::Minimum(0), seed));
            let maximin = task.regret(&task.planned(Scheme::Maximin, total, 500 + seed));
            let random = task.regret(&task.uniform(total, 2_000_000 + seed));
            wins += u32::from(ours < maximin && ours < random);
            println!(
                "minimum,{},{d},{},{},{seed},{ours:.6e},{maximin:.6e},{random:.6e}",
                task.name, task.start, task.batch
            );
        }
        eprintln!("{}, minimum: best of three in {wins} of {seeds}", task.name);
    }
}
