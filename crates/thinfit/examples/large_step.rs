//! One GFT step on many rows: microseconds per row and peak resident memory.
//!
//! `cargo run --release -p thinfit --example large_step`. Rows grow from 10⁴ to 10⁶ with d = 10, n = 100, Fourier
//! features and the small generator; the memory is read from the operating system where it reports it (Linux).

use faer::Mat;
use std::io::Write;
use std::time::Instant;
use thinfit::{Config, Dataset, Leaf, Trainer};

fn peak_mebibytes() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM"))?;
    Some(line.split_whitespace().nth(1)?.parse::<f64>().ok()? / 1024.0)
}

fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build()?;
    let mut out = std::io::stdout();
    pool.install(|| {
        for m in [10_000, 100_000, 1_000_000] {
            let mut state = 1u64;
            let mut uniform = || {
                state = state
                    .wrapping_mul(6364136223846793005)
                    .wrapping_add(1442695040888963407);
                (state >> 11) as f64 / (1u64 << 53) as f64
            };
            let x = Mat::from_fn(m, 10, |_, _| uniform());
            let y = Mat::from_fn(m, 1, |i, _| x[(i, 0)].sin() + x[(i, 1)] * x[(i, 2)]);
            let mut trainer =
                Trainer::new(&Dataset::new(x, y)?, &Config::fast(), Leaf::Parameters)?;
            trainer.step(1e-3)?;
            let repeats = (2_000_000 / m).clamp(3, 50);
            let mut best = f64::INFINITY;
            for _ in 0..repeats {
                let start = Instant::now();
                trainer.step(1e-3)?;
                best = best.min(start.elapsed().as_secs_f64());
            }
            let memory = peak_mebibytes()
                .map_or("unknown".into(), |mebibytes| format!("{mebibytes:.0} MiB"));
            writeln!(
                out,
                "m = {m:>8}: {:.3} us per row, peak memory so far {memory}",
                best * 1e6 / m as f64
            )?;
        }
        Ok(())
    })
}
