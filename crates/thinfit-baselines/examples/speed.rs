//! Times the kernel methods on points that any language can draw, and prints one JSON object per task.
//!
//! `cargo run --release -p thinfit-baselines --example speed -- [TASK]`; `tools/baseline_speed.py` runs it beside scikit-learn.

use serde_json::json;
use std::time::Instant;
use thinfit::{Control, Dataset, Mat, Scaler};
use thinfit_baselines::{GaussianProcess, KernelModel, KernelRidge, Result, Salsa};

/// Number `k` of the sequence splitmix64, uniform in [0, 1).
fn uniform(k: u64) -> f64 {
    let mut z = (k + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
}

/// Rows `start` to `start + m` of the points, and the values of Friedman's function there.
fn points(start: usize, m: usize, d: usize) -> (Mat<f64>, Mat<f64>) {
    let x = Mat::from_fn(m, d, |i, j| uniform(((start + i) * d + j) as u64));
    let y = Mat::from_fn(m, 1, |i, _| {
        let x = |j| x[(i, j)];
        10.0 * (std::f64::consts::PI * x(0) * x(1)).sin()
            + 20.0 * (x(2) - 0.5f64).powi(2)
            + 10.0 * x(3)
            + 5.0 * x(4)
    });
    (x, y)
}

fn report(
    task: &str,
    (m, d): (usize, usize),
    repeats: usize,
    fit: impl Fn(&Dataset) -> Result<KernelModel>,
) -> Result<()> {
    let (x, y) = points(0, m, d);
    let data = Dataset::new(x, y)?;
    let (x, truth) = points(m, m, d);
    let (mut fits, mut predictions) = (Vec::new(), Vec::new());
    for _ in 0..repeats {
        let start = Instant::now();
        let model = fit(&data)?;
        fits.push(start.elapsed().as_secs_f64());
        let start = Instant::now();
        let f = model.predict(x.as_ref())?;
        predictions.push(start.elapsed().as_secs_f64());
        if fits.len() == repeats {
            let scale = &Scaler::to_standard(data.y.as_ref()).scale;
            let result = json!({
                "task": task, "samples": m, "inputs": d, "fit": fits, "predict": predictions,
                "mse": (f - &truth).squared_norm_l2() / m as f64,
                "kernel": model.kernel(), "ridge": model.record.ridge,
                // Of the standardised outputs, as scikit-learn has it.
                "log_likelihood": model.record.log_likelihood.map(|l| l + m as f64 * scale[0].ln()),
                "signal": serde_json::from_str::<serde_json::Value>(&model.to_json())
                    .expect("a model is written as JSON")["signal"],
            });
            println!("{result}");
        }
    }
    Ok(())
}

fn main() -> Result<()> {
    let only = std::env::args().nth(1);
    let wanted = |task: &str| only.as_deref().is_none_or(|only| only == task);
    let go = |_| Control::Continue;
    for size in [(500, 5), (2000, 20)] {
        if wanted("kernel-ridge") {
            report("kernel-ridge", size, 5, |data| {
                KernelRidge::default().fit(data, 0, &go)
            })?;
        }
    }
    if wanted("validated") {
        report("validated", (500, 5), 5, |data| {
            KernelRidge::validated().fit(data, 0, &go)
        })?;
    }
    for size in [(200, 10), (500, 5)] {
        if wanted("gaussian-process") {
            report("gaussian-process", size, 3, |data| {
                GaussianProcess::default().fit(data, 0, &go)
            })?;
        }
    }
    if wanted("salsa") {
        report("salsa", (1000, 10), 3, |data| {
            Salsa::default().fit(data, 0, &go)
        })?;
    }
    Ok(())
}
