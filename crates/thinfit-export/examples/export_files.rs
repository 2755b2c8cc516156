//! Fitted networks of every kind with their exports and predictions, as files for `tools/check_export.py`.
//!
//! `cargo run --release -p thinfit-export --example export_files -- FOLDER` fits f1 with the `fast` preset, every
//! activation, one output and two, and writes per network the ONNX graphs, the C files, inputs and predictions (raw
//! f64) and a JSON file with what bounds the roundings.

use serde_json::json;
use std::path::PathBuf;
use thinfit::{Activation, Config, Control, Dataset, Mat, Precision, fit};
use thinfit_experiments::{Problem, Split};
use thinfit_methods::Predictor;

/// Rows of the comparison.
const ROWS: usize = 5000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = PathBuf::from(
        std::env::args()
            .nth(1)
            .ok_or("usage: export_files FOLDER")?,
    );
    std::fs::create_dir_all(&folder)?;
    let train = Problem::F1.sample(5, 300, 0, Split::Train)?;
    let test = Problem::F1.sample(5, ROWS, 0, Split::Test)?;
    // Numbers that single precision holds, so that both graphs get the same.
    let x = Mat::from_fn(ROWS, 5, |i, j| f64::from(test.x[(i, j)] as f32));
    for activation in Activation::ALL {
        for outputs in [1, 2] {
            let name = format!("{}_{outputs}", activation.name());
            let y = Mat::from_fn(300, outputs, |i, o| match o {
                0 => train.y[(i, 0)],
                _ => train.x[(i, 0)] * train.x[(i, 1)],
            });
            let config = Config {
                activation,
                ..Config::fast()
            };
            let data = Dataset::new(train.x.clone(), y)?;
            let model = fit(&data, &config, &|_| Control::Continue)?;
            let f = model.predict(x.as_ref())?;
            let at = |ending: &str| folder.join(format!("{name}{ending}"));
            let bytes = |a: &Mat<f64>| -> Vec<u8> {
                let numbers = a.row_iter().flat_map(|row| row.iter().copied());
                numbers.flat_map(f64::to_le_bytes).collect()
            };
            let sums = model.magnitudes();
            let sums = sums.col_iter().map(|column| column.iter().sum::<f64>());
            let model = Predictor::from(model);
            let source = thinfit_export::c(&model, &name);
            let facts = json!({
                "name": name,
                "inputs": 5,
                "outputs": outputs,
                "rows": ROWS,
                "sum": sums.fold(0.0, f64::max),
                "max": f.norm_max(),
            });
            std::fs::write(at(".x"), bytes(&x))?;
            std::fs::write(at(".y"), bytes(&f))?;
            std::fs::write(
                at(".f64.onnx"),
                thinfit_export::onnx(&model, Precision::F64)?.bytes,
            )?;
            std::fs::write(
                at(".f32.onnx"),
                thinfit_export::onnx(&model, Precision::F32)?.bytes,
            )?;
            std::fs::write(at(".c"), source.source)?;
            std::fs::write(at(".h"), source.header)?;
            std::fs::write(at(".py"), thinfit_export::python(&model, &name))?;
            std::fs::write(at(".tex"), thinfit_export::latex(&model, 5))?;
            std::fs::write(at(".facts.json"), facts.to_string())?;
        }
    }
    Ok(())
}
