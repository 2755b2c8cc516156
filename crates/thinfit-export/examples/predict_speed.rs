//! Rows per second of `predict` on one thread, and the limit that cosines set, as JSON.
//!
//! `cargo run --release -p thinfit-export --example predict_speed -- FOLDER`: 100 neurons, 10 inputs, 10⁷ rows in blocks.
//! The network (f1, `fast` preset) and its exports are written to the folder, where `tools/predict_speed.py`, which
//! runs this example and times the rest, finds them; a network that is there already is not fitted again.

use serde_json::json;
use std::path::PathBuf;
use std::time::Instant;
use thinfit::{Config, Control, Dataset, Mat, MatRef, Model, Precision, elementary, fit};
use thinfit_experiments::{Problem, Split};
use thinfit_methods::Predictor;

const INPUTS: usize = 10;
/// Rows that are in memory, and rows of one call.
const HELD: usize = 1 << 20;
const CALL: usize = 1 << 16;
/// Rows that are predicted.
const ROWS: usize = 10 * HELD;

/// The best rate of several batches, in calls of `work` per second.
fn rate(batches: usize, repeats: usize, mut work: impl FnMut()) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..batches {
        let start = Instant::now();
        (0..repeats).for_each(|_| work());
        best = best.min(start.elapsed().as_secs_f64());
    }
    repeats as f64 / best
}

fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let folder = PathBuf::from(
        std::env::args()
            .nth(1)
            .ok_or("usage: predict_speed FOLDER")?,
    );
    std::fs::create_dir_all(&folder)?;
    let path = folder.join("model.json");
    let model = match Model::load(&path) {
        Ok(model) => model,
        Err(_) => {
            let sample = Problem::F1.sample(INPUTS, 500, 0, Split::Train)?;
            let data = Dataset::new(sample.x, sample.y)?;
            let model = fit(&data, &Config::fast(), &|_| Control::Continue)?;
            model.save(&path)?;
            model
        }
    };
    let exported = Predictor::from(model.clone());
    let source = thinfit_export::c(&exported, "network");
    std::fs::write(folder.join("network.c"), source.source)?;
    std::fs::write(folder.join("network.h"), source.header)?;
    let graph = thinfit_export::onnx(&exported, Precision::F64)?.bytes;
    std::fs::write(folder.join("network.onnx"), graph)?;

    let mut state = 1_u64;
    let mut uniform = || {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    let x: Vec<f64> = (0..HELD * INPUTS).map(|_| uniform()).collect();
    let by_rows = MatRef::from_row_major_slice(&x, HELD, INPUTS);
    let by_columns = MatRef::from_column_major_slice(&x, HELD, INPUTS);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    let seconds = |x: MatRef<'_, f64>| {
        let start = Instant::now();
        for first in (0..ROWS).step_by(CALL) {
            let rows = x.subrows(first % HELD, CALL);
            let f: Mat<f64> = pool.install(|| model.predict(rows)).expect("finite inputs");
            std::hint::black_box(f);
        }
        start.elapsed().as_secs_f64()
    };
    let (row_major, column_major) = (seconds(by_rows), seconds(by_columns));

    // A buffer in the nearest cache: what is left is the cosine itself.
    let turns: Vec<f64> = x[..1024].iter().map(|v| 8.0 * v - 4.0).collect();
    let (mut cos, mut sin) = (turns.clone(), turns.clone());
    let cosines = 1024.0
        * rate(50, 1000, || {
            elementary::cos_2pi(std::hint::black_box(&mut cos))
        });
    let pairs = 1024.0
        * rate(50, 1000, || {
            elementary::sincos_2pi(&turns, std::hint::black_box(&mut cos), &mut sin, 1.0);
        });
    let width = model.width() as f64;
    let best = ROWS as f64 / row_major.min(column_major);
    println!(
        "{}",
        json!({
            "rows": ROWS,
            "rows_per_second_row_major": ROWS as f64 / row_major,
            "rows_per_second_column_major": ROWS as f64 / column_major,
            "cosines_per_second": cosines,
            "sincos_per_second": pairs,
            "fraction_of_cosine_limit": best * width / cosines,
            "fraction_of_sincos_limit": best * width / pairs,
        })
    );
    Ok(())
}
