//! Microseconds of a training step on the GPU, for batches of several sizes: `cuda_step [--processor] [RUNS ROWS
//! INPUTS WIDTH LAMBDA [LANES]]`; `--processor` times the same step on the CPU.
//!
//! Without arguments it measures the shapes of the paper's tables. Every line is the mean over a few hundred steps,
//! after as many warm-up steps, of GFT (θ), the refinement (z), F-Opt (w) and a plain network (both). With several
//! lanes, that many batches run in parallel, and the time is that of one step divided by their number.

use std::ops::Range;
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

/// Sizes of a batch, and how many go side by side.
#[derive(Clone, Copy)]
struct Case {
    runs: usize,
    rows: usize,
    inputs: usize,
    width: usize,
    lambda: f64,
    lanes: usize,
}

/// Prints the time of a step in each phase.
fn measure(device: &dyn Backend, case: Case) -> Result<()> {
    let Case {
        runs,
        rows: m,
        inputs: d,
        width: n,
        lambda,
        lanes,
    } = case;
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
    let batches = (0..lanes).map(|_| device.start(&config, &tasks));
    let mut batches: Vec<_> = batches.collect::<Result<_>>()?;
    let all: Vec<usize> = (0..runs).collect();
    print!(
        "{lanes:2} x {runs:3} runs, {m:8} rows, {d:2} inputs, {n:3} neurons, lambda {lambda:5}:"
    );
    for (leaf, name) in [
        (Leaf::Parameters, "theta"),
        (Leaf::Latents, "z"),
        (Leaf::Weights, "w"),
        (Leaf::Both, "both"),
    ] {
        for batch in &mut batches {
            for &run in &all {
                batch.begin(run, leaf, None)?;
            }
        }
        let steps = match (m > 100_000, processor) {
            (true, true) => 2,
            (true, false) => 20,
            (false, true) => 40,
            (false, false) => 400,
        };
        let mut advance = |steps: Range<usize>| -> Result<f64> {
            let start = Instant::now();
            std::thread::scope(|scope| {
                let threads = batches.iter_mut().map(|batch| {
                    let (all, steps) = (&all, steps.clone());
                    scope.spawn(move || batch.advance(all, steps, 1e-4))
                });
                let threads: Vec<_> = threads.collect();
                threads.into_iter().try_for_each(|thread| {
                    let losses = thread.join().expect("no panic");
                    losses.into_iter().try_for_each(|loss| loss.map(|_| ()))
                })
            })?;
            Ok(start.elapsed().as_secs_f64() / lanes as f64)
        };
        advance(0..steps)?;
        let step = advance(steps..2 * steps)? / steps as f64;
        let start = Instant::now();
        batches[0].validate(&all, 200);
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
        Box::new(Processor)
    } else {
        let device = Cuda::open()?;
        println!("{}", device.name());
        Box::new(device)
    };
    let given: Vec<f64> = given.iter().filter_map(|v| v.parse().ok()).collect();
    let case = |sizes: [usize; 4], lambda: f64, lanes: usize| Case {
        runs: sizes[0],
        rows: sizes[1],
        inputs: sizes[2],
        width: sizes[3],
        lambda,
        lanes,
    };
    if let [runs, m, d, n, lambda, ref lanes @ ..] = given[..] {
        let lanes = lanes.first().map_or(1, |&lanes| lanes as usize);
        let sizes = [runs, m, d, n].map(|v| v as usize);
        return measure(&*device, case(sizes, lambda, lanes));
    }
    for (sizes, lambda) in [
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
        measure(&*device, case(sizes, lambda, 1))?;
    }
    Ok(())
}
