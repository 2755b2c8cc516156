//! Milliseconds per training step, by problem and phase.
use std::time::Instant;
use thinfit::{Config, Dataset, Lambda, Leaf, Mat, Trainer};

fn main() {
    let threads = std::env::args().nth(1).map_or(2, |a| a.parse().unwrap());
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .unwrap();
    pool.install(|| {
        for (name, d, m) in [("f1", 5, 270), ("f2", 10, 900)] {
            let mut state = 1u64;
            let mut uniform = || {
                state = state
                    .wrapping_mul(6364136223846793005)
                    .wrapping_add(1442695040888963407);
                (state >> 11) as f64 / (1u64 << 53) as f64
            };
            let x = Mat::from_fn(m, d, |_, _| uniform());
            let y = Mat::from_fn(m, 1, |i, _| x[(i, 0)].sin() + x[(i, 1)] * x[(i, 2)]);
            let data = Dataset::new(x, y).unwrap();
            for (phase, leaf) in [("gft", Leaf::Parameters), ("gft-r", Leaf::Latents)] {
                for lambda in [0.0, 1e-4] {
                    let config = Config {
                        lambda: Lambda::Fixed(lambda),
                        ..Config::paper()
                    };
                    let mut t = Trainer::new(&data, &config, leaf).unwrap();
                    for _ in 0..5 {
                        t.step(1e-4).unwrap();
                    }
                    let mut raw: Vec<f64> = (0..15)
                        .map(|_| {
                            let s = Instant::now();
                            for _ in 0..5 {
                                t.step(1e-4).unwrap();
                            }
                            s.elapsed().as_secs_f64() * 200.0
                        })
                        .collect();
                    raw.sort_by(f64::total_cmp);
                    println!(
                        "{name} {phase} {lambda} median {:.3} min {:.3}",
                        raw[7], raw[0]
                    );
                }
            }
        }
    });
}
