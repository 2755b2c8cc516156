//! Times one fit and one prediction on points that any language can draw, and prints one JSON object.
//!
//! `cargo run --release -p thinfit-methods --example speed -- METHOD SAMPLES INPUTS`; METHOD is a name or JSON such
//! as `'{"method":"shrimp","orders":[2]}'`. `tools/baseline_speed.py` runs it in alternation with Python.

use serde_json::{Value, json};
use std::error::Error;
use std::time::Instant;
use thinfit::{Control, Dataset, Mat, Scaler};
use thinfit_methods::{Method, Predictor, Request};

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

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [name, m, d] = arguments.as_slice() else {
        return Err("expected METHOD SAMPLES INPUTS".into());
    };
    let method = match name.starts_with('{') {
        true => Request::new(None, [serde_json::from_str(name)?])?.method,
        false => Method::named(name).ok_or("there is no such method")?,
    };
    let (m, d): (usize, usize) = (m.parse()?, d.parse()?);
    let (x, y) = points(0, m, d);
    let data = Dataset::new(x, y)?;
    let (x, truth) = points(m, m, d);
    // Starts the threads and touches the memory, as imports and earlier fits do in Python.
    method.fit(&data, 0, &|_| Control::Continue)?;
    let start = Instant::now();
    let model = method.fit(&data, 0, &|_| Control::Continue)?;
    let fit = start.elapsed().as_secs_f64();
    let start = Instant::now();
    let f = model.predict(x.as_ref())?;
    let predict = start.elapsed().as_secs_f64();
    let mse = (f - &truth).squared_norm_l2() / m as f64;
    let mut result = json!({"fit": fit, "predict": predict, "mse": mse});
    if let Predictor::Kernel(model) = &model
        && let Some(likelihood) = model.record.log_likelihood
    {
        let scale = &Scaler::to_standard(data.y.as_ref()).scale;
        // Of the standardised outputs, as scikit-learn has it.
        result["log_likelihood"] = (likelihood + m as f64 * scale[0].ln()).into();
        result["lengths"] = json!(model.body.kernel.terms[0].lengths);
        result["ridge"] = model.record.ridge.into();
        result["signal"] =
            serde_json::from_str::<Value>(&model.to_json())?["body"]["signal"][0].clone();
    }
    println!("{result}");
    Ok(())
}
