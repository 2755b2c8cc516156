//! Times the second pass over a long table: µs per row, and the share of the peak speed of a matrix product in the
//! same run.
//!
//! `condense [ROWS [NEURONS]]`: ten inputs, one output, Fourier features.

use std::time::Instant;
use thinfit::pieces::SingleProcess;
use thinfit::{Activation, Dataset, Draft, Mat, Scaler, TsqrPass, shared_pass};

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let number = |k: usize, default: usize| {
        words
            .get(k)
            .map_or(default, |w| w.parse().expect("a whole number"))
    };
    let (m, n) = (number(0, 1 << 18), number(1, 100));
    let x = Mat::from_fn(m, 10, |i, j| ((31 * i + 17 * j) as f64).sin());
    let y = Mat::from_fn(m, 1, |i, _| x[(i, 0)] * x[(i, 1)]);
    let draft = Draft {
        activation: Activation::Fourier,
        hidden: Mat::from_fn(n, 10, |l, j| 3.0 * ((3 * l + 5 * j + 1) as f64).sin()),
        input_scaler: Scaler::identity(10),
        output_scaler: Scaler::identity(1),
        held_out: (0..20_000.min(m as u64 / 4)).map(|k| 4 * k).collect(),
    };
    let data = Dataset::new(x, y).expect("rows");
    let peak = product();
    let k = 2 * n + 1;
    let flops = (2 * k * k + 20 * n) as f64;
    println!("threads,rows,columns,seconds,us_a_row,gflops,of_a_product");
    for threads in [1, 2] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        let pool = pool.build().expect("threads");
        let mut best = f64::INFINITY;
        for _ in 0..3 {
            let start = Instant::now();
            let none = (TsqrPass::new(&draft), 0);
            let rows =
                pool.install(|| shared_pass(&data, &SingleProcess, none, &mut |_, _| Ok(())));
            drop(rows.expect("rows"));
            best = best.min(start.elapsed().as_secs_f64());
        }
        let speed = flops * m as f64 / best / 1e9;
        println!(
            "{threads},{m},{k},{best:.3},{:.3},{speed:.1},{:.2}",
            best / m as f64 * 1e6,
            speed / (threads as f64 * peak)
        );
    }
}

/// GFLOP/s of one thread in a product of matrices that fit into the cache.
fn product() -> f64 {
    let a = Mat::from_fn(512, 512, |i, j| (i + j) as f64);
    let mut c = Mat::zeros(512, 512);
    let mut best = f64::INFINITY;
    for _ in 0..20 {
        let start = Instant::now();
        faer::linalg::matmul::matmul(&mut c, faer::Accum::Replace, &a, &a, 1.0, faer::Par::Seq);
        best = best.min(start.elapsed().as_secs_f64());
    }
    2.0 * 512f64.powi(3) / best / 1e9
}
