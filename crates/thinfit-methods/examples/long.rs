//! Benchmarks the default fit on tables of many rows: seconds, and the error on 100,000 fresh noise-free rows.
//!
//! `long [ROWS [NOISE [METHOD]]]`: ten inputs, uniform in the unit cube; NOISE is the standard deviation of the
//! noise, that of the function is 5.4.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;
use std::f64::consts::PI;
use std::time::Instant;
use thinfit::{Control, Dataset, Mat};
use thinfit_methods::Method;

const TEST: usize = 100_000;

fn value(x: &[f64]) -> f64 {
    let friedman = 10.0 * (PI * x[0] * x[1]).sin() + 20.0 * (x[2] - 0.5).powi(2) + 10.0 * x[3];
    friedman + 5.0 * x[4] + 3.0 * (4.0 * x[5] * x[6]).cos() + 2.0 * (3.0 * (x[7] - x[8])).tanh()
}

fn rows(m: usize, noise: f64, seed: u64) -> Dataset {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let (mut x, mut y) = (Mat::zeros(m, 10), Mat::zeros(m, 1));
    for i in 0..m {
        let row: [f64; 10] = std::array::from_fn(|_| random.random());
        row.iter().enumerate().for_each(|(j, v)| x[(i, j)] = *v);
        y[(i, 0)] = value(&row) + noise * random.sample::<f64, _>(StandardNormal);
    }
    Dataset::new(x, y).expect("rows")
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let number = |k: usize, default: f64| {
        words
            .get(k)
            .map_or(default, |w| w.parse().expect("a number"))
    };
    let (m, noise) = (number(0, 1e6) as usize, number(1, 0.0));
    let name = words.get(2).map_or("auto", String::as_str);
    let (data, test) = (rows(m, noise, 1), rows(TEST, 0.0, 2));
    let method = Method::named(name).expect("a method");
    let start = Instant::now();
    let model = method
        .fit(&data, 1, &|_| Control::Continue)
        .expect("a model");
    let seconds = start.elapsed().as_secs_f64();
    let f = model.predict(test.x.as_ref()).expect("predictions");
    let square: f64 = (0..TEST)
        .map(|i| (f[(i, 0)] - test.y[(i, 0)]).powi(2))
        .sum();
    let rmse = (square / TEST as f64).sqrt();
    println!("rows,noise,method,seconds,rmse,parameters");
    println!(
        "{m},{noise},{name},{seconds:.1},{rmse:.4e},{}",
        model.parameters()
    );
    for line in model.words() {
        eprintln!("{line}");
    }
}
