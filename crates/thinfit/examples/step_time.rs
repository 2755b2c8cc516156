//! Milliseconds per training step of the `paper` preset, by problem and phase, and where they go.
//!
//! `cargo run --release -p thinfit --example step_time -- [--json] [--threads 2]`. The floor is the time that the
//! floating-point operations of a step's matrix products take at the measured peak of the same threads: the peak in
//! f32 for the generator, in f64 for the Gram matrix and the Cholesky factor. Sines, Adam and memory are not in it.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par};
use rayon::prelude::*;
use std::io::Write;
use std::time::Instant;
use thinfit::{Config, Dataset, Lambda, Leaf, Stage, Trainer};

/// Batches whose median is reported, and steps per batch.
const BATCHES: usize = 15;
const STEPS: usize = 10;

/// Best GFLOP/s of a large product, one on each thread at once.
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
    let lines = pool.install(|| -> Result<Vec<serde_json::Value>, thinfit::Error> {
        let mut lines = Vec::new();
        let (mut single_peak, mut double_peak) = (0.0f64, 0.0f64);
        for (name, d, m) in [("f1", 5, 270), ("f2", 10, 900)] {
            let data = data(name, d, m);
            for (phase, leaf) in [("gft", Leaf::Parameters), ("gft-r", Leaf::Latents)] {
                for lambda in [0.0, 1e-4] {
                    let config = Config {
                        lambda: Lambda::Fixed(lambda),
                        ..Config::paper()
                    };
                    let mut trainer = Trainer::new(&data, &config, leaf)?;
                    let mut steps =
                        |count: usize| (0..count).try_for_each(|_| trainer.step(1e-4).map(|_| ()));
                    steps(STEPS)?;
                    let mut raw = Vec::new();
                    // The peak is measured all along, because the machine's clock is not constant; the best one counts.
                    (single_peak, double_peak) = (
                        single_peak.max(peak!(f32, threads)),
                        double_peak.max(peak!(f64, threads)),
                    );
                    for _ in 0..BATCHES {
                        let start = Instant::now();
                        steps(STEPS)?;
                        raw.push(start.elapsed().as_secs_f64() * 1e3 / STEPS as f64);
                    }
                    let total = (STEPS * (BATCHES + 1)) as f64;
                    let stages: Vec<_> = Stage::ALL
                        .map(|stage| {
                            (
                                format!("{stage:?}"),
                                trainer.timing().seconds(stage) * 1e3 / total,
                            )
                        })
                        .into();
                    let (single, double) = flops(leaf, d, m);
                    let mut sorted = raw.clone();
                    sorted.sort_by(f64::total_cmp);
                    lines.push(serde_json::json!({
                        "problem": name, "d": d, "m": m, "phase": phase, "lambda": lambda,
                        "ms": sorted[BATCHES / 2], "ms_min": sorted[0], "ms_raw": raw,
                        "gflop_f32": single, "gflop_f64": double,
                        "parts_ms": stages.into_iter().collect::<std::collections::BTreeMap<_, _>>(),
                    }));
                }
            }
        }
        for line in &mut lines {
            let number = |key: &str| line[key].as_f64().unwrap_or(f64::NAN);
            let floor =
                1e3 * (number("gflop_f32") / single_peak + number("gflop_f64") / double_peak);
            let ratio = number("ms") / floor;
            line["floor_ms"] = floor.into();
            line["times_floor"] = ratio.into();
            line["peak_f32_gflops"] = single_peak.into();
            line["peak_f64_gflops"] = double_peak.into();
        }
        Ok(lines)
    })?;
    let mut out = std::io::stdout();
    if json {
        writeln!(
            out,
            "{}",
            serde_json::json!({ "threads": threads, "steps": lines })
        )?;
        return Ok(());
    }
    for line in &lines {
        let number = |key: &str| line[key].as_f64().unwrap_or(f64::NAN);
        writeln!(
            out,
            "{} {:6} lambda {:6}: {:.3} ms ({:.2} times the floor of {:.3} ms)",
            line["problem"].as_str().unwrap_or(""),
            line["phase"].as_str().unwrap_or(""),
            number("lambda"),
            number("ms"),
            number("times_floor"),
            number("floor_ms")
        )?;
        for stage in Stage::ALL {
            write!(
                out,
                "  {stage:?} {:.3}",
                line["parts_ms"][format!("{stage:?}")]
                    .as_f64()
                    .unwrap_or(f64::NAN)
            )?;
        }
        writeln!(out)?;
    }
    Ok(())
}
