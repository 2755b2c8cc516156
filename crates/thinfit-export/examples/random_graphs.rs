//! ONNX graphs of the random models that the exports are tested with, rows, and what the models predict there, for the tests of the
//! Python package, which run them.
//!
//! `cargo run -p thinfit-export --example random_graphs -- FOLDER` writes a graph of double precision for each model, one of single
//! precision where that is exact enough, and `graphs.json`. Numbers in it are texts, since JSON has no NaN and no infinity.

#[path = "../src/tests/random.rs"]
#[allow(clippy::unwrap_used, dead_code)]
mod random;

use random::{Kind, Random, models, rows};
use serde_json::json;
use std::path::PathBuf;
use thinfit::{Activation, Mat, Precision};
use thinfit_methods::Predictor;

/// Random models.
const MODELS: usize = 200;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args().nth(1);
    let folder = PathBuf::from(folder.ok_or("usage: random_graphs FOLDER")?);
    std::fs::create_dir_all(&folder)?;
    let random = &mut Random(7);
    let mut cases = Vec::new();
    for (name, model) in models(MODELS) {
        let (rows, d) = (rows(&model, random), model.inputs().len());
        let text = |v: &f64| format!("{v:?}");
        let values = |row: &[f64]| -> Vec<String> {
            let x = Mat::from_fn(1, d, |_, j| row[j]);
            match model.predict(x.as_ref()) {
                Ok(f) => f.row(0).iter().map(text).collect(),
                Err(_) => vec!["NaN".into(); model.outputs().len()],
            }
        };
        let row = |(kind, row): &(Kind, Vec<f64>)| {
            let kind = match kind {
                Kind::Ordinary => "ordinary",
                Kind::Far => "far",
                Kind::Unusable => "unusable",
            };
            json!({ "kind": kind, "x": row.iter().map(text).collect::<Vec<String>>(), "y": values(row) })
        };
        let mut stated = json!({});
        for (precision, ending) in [(Precision::F64, "float64"), (Precision::F32, "float32")] {
            if let Ok(onnx) = thinfit_export::onnx(&model, precision) {
                std::fs::write(folder.join(format!("{name}.{ending}.onnx")), onnx.bytes)?;
                stated[ending] = onnx.difference.largest.into();
            }
        }
        cases.push(json!({
            "name": name,
            "wave": is_wave(&model),
            "scale": model.output_scaler().scale,
            "stated": stated,
            "functions": text(&thinfit_export::difference_of_functions(&model).largest),
            "rows": rows.iter().map(row).collect::<Vec<_>>(),
        }));
    }
    std::fs::write(folder.join("graphs.json"), serde_json::to_string(&cases)?)?;
    Ok(())
}

/// Whether the model is a sum of waves, which have lost all digits of their phase far outside.
fn is_wave(model: &Predictor) -> bool {
    let waves = [Activation::Fourier, Activation::Cosine];
    model
        .network()
        .is_ok_and(|model| waves.contains(&model.activation()))
}
