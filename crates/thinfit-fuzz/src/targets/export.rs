//! Exports of a model file: the C code compiles without warnings; C, Python and JavaScript run and reproduce the
//! predictions. LaTeX and ONNX are only written.

use super::model;
use crate::target::Outcome;
use std::path::Path;
use std::process::Command;
use thinfit::{Mat, Precision};
use thinfit_methods::Predictor;
use thinfit_text::is_hidden;

/// Above this the argument of a sine or an exponential has lost too many digits for two evaluations to agree.
const STEEPEST: f64 = 1e4;

/// Reads a model, and computes with its exports.
pub fn survive(input: &[u8], scratch: &Path) -> Outcome {
    let text = String::from_utf8_lossy(input);
    let model = match Predictor::from_json(&text, Path::new("a.json")) {
        Ok(model) => model,
        Err(error) => return Outcome::refused(error),
    };
    let latex = thinfit_export::latex(&model, 4);
    let hidden = |c: char| is_hidden(c) && c != '\n';
    assert!(!latex.contains(hidden), "hidden characters in LaTeX");
    for precision in [Precision::F64, Precision::F32] {
        if let Ok(onnx) = thinfit_export::onnx(&model, precision) {
            assert!(!onnx.bytes.is_empty() && onnx.difference.largest <= thinfit_export::TOLERANCE);
        }
    }
    let x = model::points(&model);
    let expected = model.predict(x.as_ref()).ok();
    let outputs = model.outputs().len();
    for (language, printed) in [
        ("C", c(&model, &x, scratch)),
        ("Python", python(&model, &x, scratch, expected.is_some())),
        ("JavaScript", javascript(&model, &x, scratch)),
    ] {
        let (Some(printed), Some(expected)) = (printed, &expected) else {
            continue;
        };
        let found: Vec<f64> = printed
            .iter()
            .filter_map(|word| word.parse().ok())
            .collect();
        assert_eq!(found.len(), 3 * outputs, "{language} printed {printed:?}");
        assert!(
            found.iter().all(|value| value.is_finite()),
            "{language} printed {printed:?}"
        );
        if steepness(&model, &x) > STEEPEST {
            continue;
        }
        let size = size(&model);
        for (k, found) in found.iter().enumerate() {
            let value = expected[(k / outputs, k % outputs)];
            // The mean of a kernel model is not among its terms.
            let bound = 1e-9 * size.max(value.abs());
            assert!(
                (found - value).abs() <= bound,
                "{language} gives {found}, predict {value}, bound {bound:e}"
            );
        }
    }
    Outcome::accepted(model.kind())
}

/// The sum of the sizes of the terms of a prediction, and of its constant.
fn size(model: &Predictor) -> f64 {
    let (terms, scaler) = match model {
        Predictor::Network(model) => (model.magnitudes(), &model.output_scaler),
        Predictor::Kernel(model) => {
            let (alpha, scale) = (model.body.coefficients.as_ref(), &model.output_scaler.scale);
            let largest = model.body.kernel.diagonal();
            let term = |i, o: usize| f64::abs(alpha[(i, o)]) * scale[o] * largest;
            (
                Mat::from_fn(alpha.nrows(), alpha.ncols(), term),
                &model.output_scaler,
            )
        }
    };
    let shift = scaler
        .shift
        .iter()
        .chain(&scaler.scale)
        .map(|value| value.abs());
    terms.norm_l1() + shift.sum::<f64>()
}

/// The largest argument of a neuron or a kernel at these points, about.
fn steepness(model: &Predictor, x: &Mat<f64>) -> f64 {
    let at = |j: usize| (0..x.nrows()).map(|i| x[(i, j)].abs()).fold(0.0, f64::max);
    let scaler = model.input_scaler();
    let scaled = |j: usize| (at(j) + scaler.shift[j].abs()) / scaler.scale[j].abs();
    let inputs = 0..x.ncols();
    match model {
        Predictor::Network(model) => {
            let hidden = model.scaled_hidden();
            inputs.map(|j| scaled(j).max(1.0) * hidden.norm_max()).sum()
        }
        Predictor::Kernel(model) => {
            let parts = model.body.kernel.terms.iter();
            let lengths = parts.flat_map(|part| part.lengths.iter().copied());
            let shortest = lengths.fold(f64::INFINITY, f64::min).min(1.0);
            inputs.map(|j| scaled(j) / shortest).sum::<f64>().powi(2)
        }
    }
}

fn literals(x: &Mat<f64>) -> Vec<String> {
    let numbers = x
        .row_iter()
        .flat_map(|row| row.iter().copied().collect::<Vec<_>>());
    numbers.map(|value| format!("{value:?}")).collect()
}

/// What the compiled code prints; none where there is no compiler.
fn c(model: &Predictor, x: &Mat<f64>, folder: &Path) -> Option<Vec<String>> {
    let thinfit_export::CSource { header, source, .. } = thinfit_export::c(model, "f");
    let (numbers, count) = (literals(x).join(","), 3 * model.outputs().len());
    let main = format!(
        "#include <stdio.h>\n#include \"f.h\"\nstatic const double x[] = {{{numbers}}};\nstatic double y[{count}];\n\
         int main(void)\n{{\n    int i;\n    f(x, y, 3);\n    for (i = 0; i < {count}; i++)\n        \
         printf(\"%.17g\\n\", y[i]);\n    return 0;\n}}\n"
    );
    write(
        folder,
        &[("f.h", &header), ("f.c", &source), ("main.c", &main)],
    );
    let words = "-std=c99 -O0 -Wall -Wextra -pedantic -Werror f.c main.c -o f -lm".split(' ');
    output(Command::new("cc").args(words), folder)?;
    output(&mut Command::new(folder.join("f")), folder)
}

/// What the Python code prints; none where there is no Python, or where it may fail and does.
fn python(model: &Predictor, x: &Mat<f64>, folder: &Path, must: bool) -> Option<Vec<String>> {
    let mut script = thinfit_export::python(model, "f");
    for row in literals(x).chunks(x.ncols()) {
        let row = row.join(", ");
        script += &format!("y = f({row})\nprint(*(y if isinstance(y, tuple) else [y]))\n");
    }
    if !must {
        script = format!(
            "try:\n    exec({})\nexcept (OverflowError, ValueError, ZeroDivisionError):\n    pass\n",
            serde_json::Value::from(script)
        );
    }
    write(folder, &[("f.py", &script)]);
    output(Command::new("python3").args(["-I", "-S", "f.py"]), folder)
}

/// What the JavaScript code prints; none where there is no Node.
fn javascript(model: &Predictor, x: &Mat<f64>, folder: &Path) -> Option<Vec<String>> {
    let mut script = thinfit_export::javascript(model, "f").script;
    for row in literals(x).chunks(x.ncols()) {
        script += &format!("console.log([f({})].flat().join(\" \"));\n", row.join(", "));
    }
    write(folder, &[("f.js", &script)]);
    output(Command::new("node").arg("f.js"), folder)
}

fn write(folder: &Path, files: &[(&str, &str)]) {
    for (name, text) in files {
        std::fs::write(folder.join(name), text).expect("the scratch folder can be written to");
    }
}

/// The words that a command prints; none where the program is missing.
fn output(command: &mut Command, folder: &Path) -> Option<Vec<String>> {
    let output = command.current_dir(folder).output().ok()?;
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && errors.is_empty(),
        "{command:?}: {errors}"
    );
    let text = String::from_utf8_lossy(&output.stdout);
    Some(text.split_whitespace().map(str::to_owned).collect())
}
