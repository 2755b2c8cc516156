//! What a page shows of a network before, during and after training.

use crate::samples::{Samples, text};
use serde_json::{Map, Value, json};
use thinfit::{Dataset, Mat, Model};

/// Points along each side of the picture of a function of two inputs.
const SIDE: usize = 48;
/// Maximum number of points of the picture of any other function.
const POINTS: usize = 400;

/// The points at which a page shows the function, and the true values there.
pub struct View {
    /// Whether they are a grid over two inputs, row by row from the lower left.
    grid: bool,
    x: Mat<f64>,
    truth: Vec<f64>,
}

impl View {
    /// A grid where the function is known and has two inputs; otherwise points that no weight was trained on.
    pub fn new(samples: &Samples, held_out: &Dataset) -> Self {
        if let Some((problem, _)) = &samples.truth
            && samples.data.dim() == 2
        {
            let [low, high] = problem.interval();
            let at = |k: usize| low + (high - low) * (k as f64 + 0.5) / SIDE as f64;
            let x = Mat::from_fn(SIDE * SIDE, 2, |i, j| at([i % SIDE, i / SIDE][j]));
            let truth = (0..x.nrows()).map(|i| problem.evaluate(&[x[(i, 0)], x[(i, 1)]]));
            return View {
                grid: true,
                truth: truth.collect(),
                x,
            };
        }
        let points = samples.truth.as_ref().map_or(held_out, |(_, test)| test);
        let rows: Vec<usize> = (0..points.samples().min(POINTS)).collect();
        let points = points.rows(&rows);
        View {
            grid: false,
            truth: points.y.col_as_slice(0).to_vec(),
            x: points.x,
        }
    }

    /// What a page needs to know about the samples before the first frame.
    pub fn opening(&self, samples: &Samples) -> Value {
        let Samples { data, truth } = samples;
        let problem = truth.as_ref().map(|(problem, _)| *problem);
        json!({
            "inputs": data.inputs,
            "output": data.outputs[0],
            "samples": data.samples(),
            "domain": data.domain(),
            "formula": problem.map(|problem| problem.formula()),
            "lines": problem.map_or(&[][..], |problem| problem.directions()),
            "side": self.grid.then_some(SIDE),
            "truth": short(&self.truth),
        })
    }

    /// A network as it is: its features, its error and its values.
    ///
    /// # Errors
    /// Predictions that are not finite.
    pub fn frame(&self, model: &Model, samples: &Samples) -> Result<Map<String, Value>, String> {
        let (hidden, size) = (model.hidden(), model.magnitudes());
        let rows = (0..hidden.nrows()).map(|l| {
            let w: Vec<f64> = (0..hidden.ncols()).map(|j| hidden[(l, j)]).collect();
            short(&w)
        });
        let seen = model.predict(self.x.as_ref()).map_err(text)?;
        let fields = json!({
            "mse": error(model, samples)?,
            "hidden": rows.collect::<Vec<Value>>(),
            "size": short(size.col_as_slice(0)),
            "seen": short(seen.col_as_slice(0)),
        });
        match fields {
            Value::Object(fields) => Ok(fields),
            _ => unreachable!("an object was written"),
        }
    }
}

/// Mean squared error on fresh points without noise, or on the held-out rows of a table.
fn error(model: &Model, samples: &Samples) -> Result<f64, String> {
    let Some((_, test)) = &samples.truth else {
        return Ok(model.record.validation_mse[0]);
    };
    let error = model.predict(test.x.as_ref()).map_err(text)? - &test.y;
    Ok(error.squared_norm_l2() / test.samples() as f64)
}

/// Numbers for a picture: single precision has digits enough, and half the bytes.
fn short(values: &[f64]) -> Value {
    values.iter().map(|v| *v as f32).collect()
}
