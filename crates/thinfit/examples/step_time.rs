//! Milliseconds per training step of the `paper` preset, by problem, phase and stage.
//!
//! `cargo run --release -p thinfit --example step_time -- [--json] [--threads 2]`. The floor is the time for the
//! floating-point operations of a step's matrix products at the peak speed measured with the same threads: in f32 for
//! the generator, in f64 for the Gram matrix and the Cholesky factor. It excludes sines, Adam and memory transfers.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par};
use rayon::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::Write;
use std::time::Instant;
use thinfit::{Config, Dataset, Lambda, Leaf, Stage, Trainer};

/// Batches whose median is reported, and steps per batch.
const BATCHES: usize = 15;
const STEPS: usize = 10;

/// Best GFLOP/s of a large product, one on each thread.
macro_rules! peak {
    ($t:ty, $threads:expr) => {{
        let size = 768;
        let of =
            |k: usize| Mat::<$t>::from_fn(size, size, |i, j| ((i * 31 + j * 17 + k) % 97) as $t);
        let mut jobs: Vec<_> = (0..$threads)
            .map(|k| (of(k), of(k + 1), Mat::<$t>::zeros(size, size)))
            .collect();
        let seconds = (0..12)
            .map(|_| {
                let start = Instant::now();
                jobs.par_iter_mut().for_each(|(a, b, c)| {
                    matmul(
                        c.as_mut(),
                        Accum::Replace,
                        a.as_ref(),
                        b.as_ref(),
                        1.0,
                        Par::Seq,
                    );
                });
                start.elapsed().as_secs_f64()
            })
            .fold(f64::INFINITY, f64::min);
        $threads as f64 * 2.0 * (size as f64).powi(3) / seconds / 1e9
    }};
}

/// GFLOP of the generator's products (f32), and of the Gram matrix and the Cholesky factor (f64).
fn flops(leaf: Leaf, d: usize, m: usize) -> (f64, f64) {
    let (n, hidden) = (100.0, 512.0);
    let products = 2.0 * n * (2.0 * hidden * hidden + 2.0 * d as f64 * hidden);
    // Forward and back to the activations once each; the gradient in the parameters once more.
    let passes = if leaf == Leaf::Parameters { 3.0 } else { 2.0 };
    (
        passes * products / 1e9,
        (4.0 * m as f64 * n * n + 4.0 / 3.0 * n * n * n) / 1e9,
    )
}

fn data(name: &str, d: usize, m: usize) -> Dataset {
    let mut state = 1u64;
    let mut uniform = || {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let x = Mat::from_fn(m, d, |_, _| uniform());
    let y = Mat::from_fn(m, 1, |i, _| match name {
        "f1" => x[(i, 3)].powi(2) + x[(i, 1)] * x[(i, 2)] + x[(i, 0)] * x[(i, 1)] + x[(i, 3)],
        _ => {
            x[(i, 0)].sin()
                + 7.0 * x[(i, 1)].sin().powi(2)
                + 0.1 * x[(i, 2)].powi(4) * x[(i, 0)].sin()
        }
    });
    Dataset::new(x, y).expect("the data are finite")
}

/// Milliseconds of a training step, by stage, as JSON; raises the peaks (f32, f64) that were measured alongside.
fn measure(
    (name, d, m): (&str, usize, usize),
    (phase, leaf): (&str, Leaf),
    lambda: f64,
    threads: usize,
    peaks: &mut (f64, f64),
) -> Result<Value, thinfit::Error> {
    let config = Config {
        lambda: Lambda::Fixed(lambda),
        ..Config::paper()
    };
    let mut trainer = Trainer::new(&data(name, d, m), &config, leaf)?;
    let mut steps = |count: usize| (0..count).try_for_each(|_| trainer.step(1e-4).map(|_| ()));
    steps(STEPS)?;
    // The clock of the machine varies, so the peak is measured at every setting, and the best one counts.
    peaks.0 = peaks.0.max(peak!(f32, threads));
    peaks.1 = peaks.1.max(peak!(f64, threads));
    let mut raw = Vec::new();
    for _ in 0..BATCHES {
        let start = Instant::now();
        steps(STEPS)?;
        raw.push(start.elapsed().as_secs_f64() * 1e3 / STEPS as f64);
    }
    let total = (STEPS * (BATCHES + 1)) as f64;
    let stages: BTreeMap<String, f64> = Stage::ALL
        .into_iter()
        .map(|stage| {
            let seconds = trainer.timing().seconds(stage);
            (format!("{stage:?}"), seconds * 1e3 / total)
        })
        .collect();
    let (single, double) = flops(leaf, d, m);
    let mut sorted = raw.clone();
    sorted.sort_by(f64::total_cmp);
    Ok(json!({
        "problem": name, "d": d, "m": m, "phase": phase, "lambda": lambda,
        "ms": sorted[BATCHES / 2], "ms_min": sorted[0], "ms_raw": raw,
        "gflop_f32": single, "gflop_f64": double, "parts_ms": stages,
    }))
}

/// All problems, phases and λ, with their floors.
fn measure_all(threads: usize) -> Result<Vec<Value>, thinfit::Error> {
    let (mut lines, mut peaks) = (Vec::new(), (0.0, 0.0));
    for problem in [("f1", 5, 270), ("f2", 10, 900)] {
        for phase in [("gft", Leaf::Parameters), ("gft-r", Leaf::Latents)] {
            for lambda in [0.0, 1e-4] {
                lines.push(measure(problem, phase, lambda, threads, &mut peaks)?);
            }
        }
    }
    for line in &mut lines {
        let (single, double) = (number(line, "gflop_f32"), number(line, "gflop_f64"));
        let floor = 1e3 * (single / peaks.0 + double / peaks.1);
        let ratio = number(line, "ms") / floor;
        line["floor_ms"] = floor.into();
        line["times_floor"] = ratio.into();
        line["peak_f32_gflops"] = peaks.0.into();
        line["peak_f64_gflops"] = peaks.1.into();
    }
    Ok(lines)
}

fn number(line: &Value, key: &str) -> f64 {
    line[key].as_f64().unwrap_or(f64::NAN)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let json = arguments.iter().any(|a| a == "--json");
    let threads = arguments
        .iter()
        .position(|a| a == "--threads")
        .and_then(|i| arguments.get(i + 1));
    let threads: usize = threads.map_or(Ok(2), |t| t.parse())?;
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()?;
    let lines = pool.install(|| measure_all(threads))?;
    let mut out = std::io::stdout();
    if json {
        writeln!(out, "{}", json!({ "threads": threads, "steps": lines }))?;
        return Ok(());
    }
    for line in &lines {
        writeln!(
            out,
            "{} {:6} lambda {:6}: {:.3} ms ({:.2} times the floor of {:.3} ms)",
            line["problem"].as_str().unwrap_or(""),
            line["phase"].as_str().unwrap_or(""),
            number(line, "lambda"),
            number(line, "ms"),
            number(line, "times_floor"),
            number(line, "floor_ms")
        )?;
        for stage in Stage::ALL {
            let name = format!("{stage:?}");
            write!(out, "  {name} {:.3}", number(&line["parts_ms"], &name))?;
        }
        writeln!(out)?;
    }
    Ok(())
}
