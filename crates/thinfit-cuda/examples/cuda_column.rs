//! Seconds of one column of the paper's Table 1 on the GPU: GFT-r on f1 (5, 300), 40,000 + 40,000 steps.
//!
//! `cuda_column` fits eleven models at once: six λ with one seed, then five seeds with one λ. `cuda_column 1` fits one, λ = 0.

use std::time::Instant;
use thinfit::pieces::{Purpose, stream};
use thinfit::{Config, Control, Dataset, Job, Lambda, Mat, Result, fit_many_on};
use thinfit_cuda::Cuda;

/// f1(x) = x₄² + x₂x₃ + x₁x₂ + x₄ at uniform points in the unit cube of five dimensions.
fn samples(m: usize, seed: u64) -> Result<Dataset> {
    use rand::RngExt;
    let mut rng = stream(seed, Purpose::Split, 1);
    let x = Mat::from_fn(m, 5, |_, _| rng.random::<f64>());
    let y = Mat::from_fn(m, 1, |i, _| {
        x[(i, 3)].powi(2) + x[(i, 1)] * x[(i, 2)] + x[(i, 0)] * x[(i, 1)] + x[(i, 3)]
    });
    Dataset::new(x, y)
}

fn main() -> Result<()> {
    let single = std::env::args().nth(1).is_some_and(|count| count == "1");
    let device = Cuda::open()?;
    let fits: Vec<(u64, f64)> = if single {
        vec![(1, 0.0)]
    } else {
        let lambdas = Lambda::GRID.into_iter().map(|lambda| (1, lambda));
        lambdas.chain((2..=6).map(|seed| (seed, 1e-4))).collect()
    };
    let tables: Vec<Dataset> = fits
        .iter()
        .map(|fit| samples(300, fit.0))
        .collect::<Result<_>>()?;
    let test = samples(10_000, 1000)?;
    let start = Instant::now();
    let observe = |_: &thinfit::Progress<'_>| Control::Continue;
    let jobs = fits.iter().zip(&tables).map(|(&(seed, lambda), table)| {
        let config = Config {
            seed,
            lambda: Lambda::Fixed(lambda),
            ..Config::paper()
        };
        Job::new(table, &config, &observe)
    });
    let models = fit_many_on(&device, jobs.collect())?;
    let seconds = start.elapsed().as_secs_f64();
    println!("{}: {} fits in {seconds:.2} s", device.name(), fits.len());
    for ((seed, lambda), model) in fits.iter().zip(models) {
        let error = (model?.predict(test.x.as_ref())? - &test.y).squared_norm_l2() / 10_000.0;
        println!("  seed {seed}, lambda {lambda:6}: test error {error:.3e}");
    }
    Ok(())
}
