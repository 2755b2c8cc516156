//! Microseconds of a training step on the GPU, for batches of several sizes:
//! `cuda_step [--processor] [RUNS ROWS INPUTS WIDTH LAMBDA]`; with `--processor` of the same step there.
//!
//! Without arguments it measures the shapes of the paper's tables. Every line is the mean over some hundred steps, after
//! as many to warm up, of GFT (θ), the refinement (z), F-Opt (w) and a plain
//! network (both).

use std::time::Instant;
use thinfit::pieces::{Backend, Processor, Task};
use thinfit::{Config, Dataset, Leaf, Mat, Result};
use thinfit_cuda::Cuda;

/// Rows of a smooth function.
fn samples(m: usize, d: usize, seed: usize) -> Result<Dataset> {
    let x = Mat::from_fn(m, d, |i, j| {
        ((i + seed) * (7919 + 104_729 * j) % 100_003) as f64 / 100_003.0
    });
    let y = Mat::from_fn(m, 1, |i, _| (0..d).map(|j| (3.0 * x[(i, j)]).sin()).sum());
    Dataset::new(x, y)
}

/// Prints the time of a step in each phase.
fn measure(device: &dyn Backend, [runs, m, d, n]: [usize; 4], lambda: f64) -> Result<()> {
    let processor = std::env::args().any(|word| word == "--processor");
    let config = Config {
        width: n,
        ..Config::paper()
    };
    let (train, validation) = (samples(m, d, 1)?, samples((m / 10).max(10), d, 2)?);
    let domain = train.domain();
    let task = Task {
        train: &train,
        validation: &validation,
        lambda,
        domain: &domain,
    };
    let tasks: Vec<_> = (0..runs as u64).map(|seed| (seed + 1, task)).collect();
    let mut batch = device.start(&config, &tasks)?;
    let all: Vec<usize> = (0..runs).collect();
    print!("{runs:3} runs, {m:8} rows, {d:2} inputs, {n:3} neurons, lambda {lambda:5}:");
    for (leaf, name) in [
        (Leaf::Parameters, "theta"),
        (Leaf::Latents, "z"),
        (Leaf::Weights, "w"),
        (Leaf::Both, "both"),
    ] {
        for &run in &all {
            batch.begin(run, leaf, None)?;
        }
        let steps = match (m > 100_000, processor) {
            (true, true) => 2,
            (true, false) => 20,
            (false, true) => 40,
            (false, false) => 400,
        };
        for loss in batch.advance(&all, 0..steps, 1e-4) {
            loss?;
        }
        let start = Instant::now();
        batch.advance(&all, steps..2 * steps, 1e-4);
        let step = start.elapsed().as_secs_f64() / steps as f64;
        let start = Instant::now();
        batch.validate(&all, 200);
        let check = start.elapsed().as_secs_f64();
        print!("  {name} {:.1} (validation {:.0})", 1e6 * step, 1e6 * check);
    }
    println!("  us");
    Ok(())
}

fn main() -> Result<()> {
    let given: Vec<String> = std::env::args().skip(1).collect();
    let device: Box<dyn Backend> = if given.iter().any(|word| word == "--processor") {
        println!("processor, {} threads", rayon::current_num_threads());
        Box::new(Processor::default())
    } else {
        let device = Cuda::open()?;
        println!("{}", device.name());
        Box::new(device)
    };
    let given: Vec<f64> = given.iter().filter_map(|v| v.parse().ok()).collect();
    if let [runs, m, d, n, lambda] = given[..] {
        return measure(&*device, [runs, m, d, n].map(|v| v as usize), lambda);
    }
    for (shape, lambda) in [
        ([1, 270, 5, 100], 0.0),
        ([1, 270, 5, 100], 0.01),
        ([11, 270, 5, 100], 0.0),
        ([11, 270, 5, 100], 0.01),
        ([30, 270, 5, 100], 0.01),
        ([11, 900, 10, 100], 0.0),
        ([30, 900, 10, 100], 0.01),
        ([11, 270, 5, 200], 0.01),
        ([11, 1800, 59, 100], 0.01),
        ([1, 1_000_000, 10, 100], 0.0),
    ] {
        measure(&*device, shape, lambda)?;
    }
    Ok(())
}
