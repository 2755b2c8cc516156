//! How often the bounds on indices hold the truth, for functions whose indices are known. Prints CSV, a line for every index of every fit:
//!
//! ```sh
//! cargo run --release -p thinfit-study --example bounds -- gaussian-process 20
//! ```

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use std::f64::consts::PI;
use thinfit::{Control, Dataset, Error, Mat};
use thinfit_methods::{Factor, Method, Predictor};

/// A function on a box, with its variance and its first-order and total indices.
struct Known {
    name: &'static str,
    range: [f64; 2],
    f: fn(&[f64]) -> f64,
    variance: f64,
    first: Vec<f64>,
    total: Vec<f64>,
}

/// sin x1 + 7 sin² x2 + 0.1 x3⁴ sin x1.
fn ishigami() -> Known {
    let (a, b) = (7.0, 0.1);
    let one = 0.5 * (1.0 + b * PI.powi(4) / 5.0).powi(2);
    let two = a * a / 8.0;
    let together = b * b * PI.powi(8) * (1.0 / 18.0 - 1.0 / 50.0);
    let variance = one + two + together;
    Known {
        name: "ishigami",
        range: [-PI, PI],
        f: |x| x[0].sin() + 7.0 * x[1].sin().powi(2) + 0.1 * x[2].powi(4) * x[0].sin(),
        variance,
        first: [one, two, 0.0].map(|v| v / variance).to_vec(),
        total: [one + together, two, together]
            .map(|v| v / variance)
            .to_vec(),
    }
}

/// Π (|4x_j − 2| + a_j)/(1 + a_j), a = 0, 1, 4.5, 9.
fn g_function() -> Known {
    let parts = [0.0, 1.0, 4.5, 9.0].map(|a: f64| 1.0 / (3.0 * (1.0 + a).powi(2)));
    let all: f64 = parts.iter().map(|v| 1.0 + v).product();
    let variance = all - 1.0;
    Known {
        name: "g-function",
        range: [0.0, 1.0],
        f: |x| {
            let factor = |(x, a): (&f64, f64)| ((4.0 * x - 2.0).abs() + a) / (1.0 + a);
            x.iter().zip([0.0, 1.0, 4.5, 9.0]).map(factor).product()
        },
        variance,
        first: parts.map(|v| v / variance).to_vec(),
        total: parts.map(|v| v * all / (1.0 + v) / variance).to_vec(),
    }
}

fn main() -> Result<(), Error> {
    let method = std::env::args().nth(1).expect("the name of a method");
    let seeds = std::env::args().nth(2).and_then(|n| n.parse().ok());
    println!("function,method,rows,noise,seed,kind,input,truth,found,low,high,inside");
    for known in [ishigami(), g_function()] {
        for (rows, noise) in [(60, 0.0), (100, 0.0), (200, 0.0), (100, 0.2), (300, 0.2)] {
            for seed in 0..seeds.unwrap_or(20) {
                one(&known, &method, rows, noise, seed)?;
            }
        }
    }
    Ok(())
}

/// Fits one model; the noise is in deviations of the function.
fn one(known: &Known, method: &str, rows: usize, noise: f64, seed: u64) -> Result<(), Error> {
    let (d, [low, high]) = (known.first.len(), known.range);
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let x = Mat::from_fn(rows, d, |_, _| low + (high - low) * rng.random::<f64>());
    let y = Mat::from_fn(rows, 1, |i, _| {
        let row: Vec<f64> = x.row(i).iter().copied().collect();
        let normal: f64 = StandardNormal.sample(&mut rng);
        (known.f)(&row) + noise * known.variance.sqrt() * normal
    });
    let fitted = Method::named(method).expect("a method of ours");
    let mut model = fitted.fit(&Dataset::new(x, y)?, seed, &|_| Control::Continue)?;
    // The truth is that of the whole box.
    match &mut model {
        Predictor::Network(model) => model.domain = vec![known.range; d],
        Predictor::Kernel(model) => model.domain = vec![known.range; d],
    }
    let found = model.sensitivity(0)?;
    let bounds = match model.bounds(0, &Factor::all(&model), &found) {
        Ok(bounds) => bounds,
        Err(why) => {
            eprintln!("{},{method},{rows},{noise},{seed}: {why}", known.name);
            return Ok(());
        }
    };
    for (kind, truth, found, bounds) in [
        ("first", &known.first, &found.first, &bounds.first),
        ("total", &known.total, &found.total, &bounds.total),
    ] {
        for j in 0..d {
            let [low, high] = bounds[j];
            let inside = u8::from(low <= truth[j] && truth[j] <= high);
            println!(
                "{},{method},{rows},{noise},{seed},{kind},{},{:.5},{:.5},{low:.5},{high:.5},{inside}",
                known.name,
                j + 1,
                truth[j],
                found[j],
            );
        }
    }
    Ok(())
}
