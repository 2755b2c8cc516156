//! Every export of every kind of model, evaluated and compared with `predict`.

mod accuracy;
mod differential;
mod expression;
mod injection;
mod random;

use crate::evaluation::evaluated;
use crate::message::ModelProto;
use prost::Message;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use thinfit::{
    Activation, Config, Control, Dataset, Mat, Polish, Precision, Progress, Scaler, Training, Warp,
    fit,
};
use thinfit_methods::{GaussianProcess, KernelRidge, KernelTerm, Predictor, Salsa, Shape};

/// Rows of every comparison: more than a block, and not a multiple of one.
const ROWS: usize = 301;

fn points(rows: usize) -> Mat<f64> {
    Mat::from_fn(rows, 3, |i, j| {
        let uniform = ((i + 1) as f64 * [0.618_034, 0.754_877, 0.569_840][j]).fract();
        [uniform, 1e6 + 40.0 * uniform, 1e-3 * (uniform - 0.5)][j]
    })
}

/// Samples of three inputs of awkward scales and names.
fn data(outputs: usize) -> Dataset {
    let x = points(90);
    let y = Mat::from_fn(90, outputs, |i, o| {
        let u = [x[(i, 0)], (x[(i, 1)] - 1e6) / 40.0, 1e3 * x[(i, 2)]];
        -7.0 + 100.0 * (3.0 * u[0] + u[1] * u[2] + o as f64).sin()
    });
    let inputs = ["x1", "*/ ??/ \"\"\"\\", "a_%{b"].map(String::from);
    let outputs = (0..outputs).map(|o| format!("y^{o} $")).collect();
    let data = Dataset::new(x, y).unwrap();
    data.with_names(inputs.to_vec(), outputs).unwrap()
}

/// A polished network.
fn network(activation: Activation, outputs: usize) -> Predictor {
    let config = Config {
        training: Training::Random,
        width: 25,
        activation,
        polish: Polish {
            steps: 5,
            ..Config::fast().polish
        },
        ..Config::fast()
    };
    let model = fit(&data(outputs), &config, &|_| Control::Continue);
    model.unwrap().into()
}

/// The same weights or coefficients, with two inputs warped, one of them far from zero.
fn with_warps(model: &Predictor) -> Predictor {
    let mut warped = model.clone();
    let scaler = match &mut warped {
        Predictor::Network(model) => &mut model.input_scaler,
        Predictor::Kernel(model) => &mut model.input_scaler,
    };
    let warp = |centre, width| Some(Warp { centre, width });
    *scaler = Scaler::to_box_warped(
        points(90).as_ref(),
        &[warp(-0.01, 0.02), warp(1e6 + 25.3, 0.7), None],
    );
    warped
}

/// A process with some noise, so that its coefficients are not huge.
fn process(kernel: Shape, outputs: usize) -> Predictor {
    let settings = GaussianProcess {
        kernel,
        least_noise: 1e-2,
        ..GaussianProcess::default()
    };
    let model = settings.fit(&data(outputs), 0, &|_| Control::Continue);
    model.unwrap().into()
}

/// The points and coefficients of a process with a kernel of parts of every shape.
fn sum_of_parts(outputs: usize) -> Predictor {
    let part = |weight, shape, inputs: &[usize]| KernelTerm {
        weight,
        shape,
        inputs: inputs.to_vec(),
        lengths: inputs.iter().map(|j| 0.4 + 0.3 * *j as f64).collect(),
        shares: match shape {
            Shape::Anova | Shape::AnovaMatern52 => {
                inputs.iter().map(|j| 1.0 - 0.3 * *j as f64).collect()
            }
            _ => vec![],
        },
    };
    let parts = [
        part(0.7, Shape::Gaussian, &[0, 1, 2]),
        part(2.5, Shape::Matern52, &[2, 0]),
        part(0.1, Shape::Additive(2), &[0, 1, 2]),
        part(1.0, Shape::Additive(1), &[1, 2]),
        part(1.0, Shape::Gaussian, &[2]),
        part(0.6, Shape::Anova, &[0, 1, 2]),
        part(0.9, Shape::AnovaMatern52, &[2, 1]),
    ];
    with_kernel(serde_json::json!({ "parts": parts }), outputs)
}

/// The same with a kernel that has a jump and a bend as inputs after the three.
fn with_edges(outputs: usize) -> Predictor {
    let part = |shape, shares: &[f64]| KernelTerm {
        weight: 0.8,
        shape,
        inputs: vec![0, 1, 2, 4, 3],
        lengths: vec![0.5, 0.7, 1.1, 0.9, 0.8],
        shares: shares.to_vec(),
    };
    let parts = [
        part(Shape::Gaussian, &[]),
        part(Shape::AnovaMatern52, &[0.5, 0.9, 0.3, 1.0, 0.6]),
        part(Shape::Additive(2), &[]),
    ];
    let edges = serde_json::json!([
        { "crossing": "jump", "direction": [3.0, 0.0, -2.0], "offset": 0.2 },
        { "crossing": "bend", "direction": [0.6, 0.8, 0.0], "offset": -0.1 },
    ]);
    with_kernel(
        serde_json::json!({ "parts": parts, "edges": edges }),
        outputs,
    )
}

/// The points and coefficients of a process with this kernel.
fn with_kernel(kernel: serde_json::Value, outputs: usize) -> Predictor {
    let text = process(Shape::Gaussian, outputs).to_json();
    let mut json: serde_json::Value = serde_json::from_str(&text).unwrap();
    json["body"]["kernel"] = kernel;
    Predictor::from_json(&json.to_string(), Path::new("sum")).unwrap()
}

fn kernels() -> Vec<(String, Predictor)> {
    let mut models = Vec::new();
    for outputs in [1, 3] {
        let (data, idle) = (data(outputs), |_: &Progress<'_>| Control::Continue);
        let ridge = KernelRidge {
            lambda: vec![1e-2],
            scaling: thinfit::Scaling::Box,
            ..KernelRidge::default()
        };
        let ridge = ridge.fit(&data, 0, &idle).unwrap();
        let salsa = Salsa::default().fit(&data, 0, &idle).unwrap();
        let of = |kind: &str, model| (format!("{kind}_{outputs}"), model);
        models.extend([
            of("gaussian", process(Shape::Gaussian, outputs)),
            of("matern", process(Shape::Matern52, outputs)),
            of("ridge", ridge.into()),
            of("salsa", salsa.into()),
            of("anova", process(Shape::Anova, outputs)),
            of("anova_matern", process(Shape::AnovaMatern52, outputs)),
            of("sum_warped", with_warps(&sum_of_parts(outputs))),
            of("sum", sum_of_parts(outputs)),
            of("edges", with_edges(outputs)),
            of("edges_warped", with_warps(&with_edges(outputs))),
        ]);
    }
    models
}

fn models() -> Vec<(String, Predictor)> {
    let mut models = kernels();
    models.extend(networks());
    models
}

fn networks() -> Vec<(String, Predictor)> {
    let mut models = Vec::new();
    for activation in Activation::ALL {
        for outputs in [1, 3] {
            let name = format!("{}_{outputs}", activation.name());
            let plain = network(activation, outputs);
            models.push((format!("{name}_warped"), with_warps(&plain)));
            models.push((name, plain));
        }
    }
    models
}

/// The largest Σ|b|/n, or Σ|α| k(x, x), of all outputs.
fn size(model: &Predictor) -> f64 {
    let magnitudes = match model {
        Predictor::Network(model) => model.magnitudes(),
        Predictor::Kernel(model) => {
            let (alpha, scale) = (model.body.coefficients.as_ref(), &model.output_scaler.scale);
            let largest = model.body.kernel.diagonal();
            Mat::from_fn(alpha.nrows(), alpha.ncols(), |i, o| {
                alpha[(i, o)].abs() * scale[o] * largest
            })
        }
    };
    let sums = magnitudes.col_iter().map(|column| column.iter().sum());
    sums.fold(0.0, f64::max)
}

/// The largest weight of input `j`, or inverse length, per unit of the input.
fn steepness(model: &Predictor, j: usize) -> f64 {
    match model {
        Predictor::Network(model) => {
            let weights = model.hidden();
            let weights = weights.col(j).iter().map(|w| w.abs());
            weights.fold(0.0, f64::max)
        }
        Predictor::Kernel(model) => {
            let parts = model.body.kernel.terms.iter();
            let axes = parts.flat_map(|part| part.inputs.iter().zip(&part.lengths));
            let lengths = axes.filter(|axis| *axis.0 == j).map(|axis| *axis.1);
            1.0 / lengths.fold(f64::INFINITY, f64::min) / model.input_scaler.scale[j]
        }
    }
}

fn row_major(a: &Mat<f64>) -> Vec<f64> {
    a.row_iter().flat_map(|row| row.iter().copied()).collect()
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    let distances = a.iter().zip(b).map(|(a, b)| (a - b).abs());
    distances.fold(
        0.0,
        |worst, v| if v > worst || v.is_nan() { v } else { worst },
    )
}

/// The bound on the distance of two evaluations in double precision: rounding errors scale with the size of the terms,
/// which for kernels with some noise are not so many times larger than f.
fn bound(model: &Predictor, f: &Mat<f64>) -> f64 {
    let rounding = 2e-14 * size(model);
    match model {
        Predictor::Network(_) => rounding,
        Predictor::Kernel(_) => rounding.min(1e-12 * f.norm_max()),
    }
}

/// A folder that is removed at the end of the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("thinfit-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The output of a command, `None` if the program cannot be run; where the variable `CI` is set, that is a failure.
fn run(program: &str, arguments: &[&str], folder: &Path) -> Option<String> {
    let mut command = Command::new(program);
    match command.args(arguments).current_dir(folder).output() {
        Err(error) => {
            let missing = format!("cannot run `{program}`: {error}");
            assert!(std::env::var_os("CI").is_none(), "{missing}");
            // Past the capture of what tests print.
            let _ = writeln!(
                std::io::stderr(),
                "SKIPPED: {missing}; the export is not tested"
            );
            None
        }
        Ok(output) => {
            let errors = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{program} {arguments:?}: {errors}");
            assert_eq!(errors, "", "warnings of {program}");
            Some(String::from_utf8(output.stdout).unwrap())
        }
    }
}

#[test]
fn onnx_graphs_give_the_predictions() {
    let x = points(ROWS);
    for (name, model) in models() {
        let f = row_major(&model.predict(x.as_ref()).unwrap());
        let scale = model.output_scaler().scale[0];
        for precision in [Precision::F64, Precision::F32] {
            let onnx = match crate::onnx(&model, precision) {
                Ok(onnx) => onnx,
                Err(error) => {
                    // The second input has few digits left in single precision.
                    let rounded = error.difference.rounded_inputs;
                    assert!(rounded > 0.9 * error.difference.largest, "{name}: {error}");
                    continue;
                }
            };
            let file = ModelProto::decode(&onnx.bytes[..]).unwrap();
            assert_eq!(file.metadata_props[0].value, model.inputs().join("\n"));
            let graph = file.graph.unwrap();
            let y = evaluated(&graph, &row_major(&x), 3);
            let worst = distance(&y.unwrap(), &f) / scale;
            // Other rows than those that were measured.
            assert!(
                worst <= 3.0 * onnx.difference.largest + 1e-9,
                "{name} {precision:?}: {worst:e}"
            );
        }
    }
}

#[test]
fn c_compiles_without_warnings_and_gives_the_predictions_and_gradients() {
    let (folder, x) = (Folder::new("c"), points(ROWS));
    for (name, model) in models() {
        let crate::CSource {
            name,
            header,
            source,
        } = crate::c(&model, &name);
        let c = model.outputs().len();
        let numbers = row_major(&x)
            .iter()
            .map(|v| format!("{v:?}"))
            .collect::<Vec<_>>()
            .join(",");
        let program = format!(
            "#include <stdio.h>
#include \"{name}.h\"
static const double x[] = {{{numbers}}};
static double y[{ROWS} * {c}], g[{ROWS} * {c} * 3];
int main(void)
{{
    size_t i;
    {name}(x, y, {ROWS});
    {name}_gradient(x, g, {ROWS});
    for (i = 0; i < sizeof y / sizeof *y; i++)
        printf(\"%.17g\\n\", y[i]);
    for (i = 0; i < sizeof g / sizeof *g; i++)
        printf(\"%.17g\\n\", g[i]);
    return 0;
}}
"
        );
        let main = format!("{name}_main.c");
        for (file, text) in [
            (format!("{name}.h"), header.clone()),
            (format!("{name}.c"), source),
            (main.clone(), program),
        ] {
            std::fs::write(folder.0.join(file), text).unwrap();
        }
        let unit = format!("{name}.c");
        let strict = ["-Wall", "-Wextra", "-pedantic", "-O2"];
        let mut compile = strict.to_vec();
        compile.extend(["-std=c99", &unit, &main, "-o", &name]);
        if header.contains("-lm") {
            compile.push("-lm");
        }
        if run("cc", &compile, &folder.0).is_none() {
            return;
        }
        let mut compile = strict.to_vec();
        compile.extend(["-x", "c++", "-std=c++11", "-c", &unit, "-o", "unit.o"]);
        run("c++", &compile, &folder.0);
        let program = folder.0.join(&name);
        let printed = run(program.to_str().unwrap(), &[], &folder.0).unwrap();
        let values: Vec<f64> = printed.lines().map(|line| line.parse().unwrap()).collect();
        let f = model.predict(x.as_ref()).unwrap();
        let sum = size(&model);
        let worst = distance(&values[..ROWS * c], &row_major(&f));
        let bound = bound(&model, &f);
        assert!(worst < bound, "{name}: {worst:e} above {bound:e}");
        for o in 0..c {
            let slopes = model.gradient(x.as_ref(), o).unwrap();
            for j in 0..3 {
                let ours: Vec<f64> = (0..ROWS)
                    .map(|i| values[ROWS * c + (i * c + o) * 3 + j])
                    .collect();
                let expected: Vec<f64> = slopes.col(j).iter().copied().collect();
                let worst = distance(&ours, &expected);
                let bound = 2e-13 * sum * steepness(&model, j);
                assert!(worst < bound, "{name} {o} {j}: {worst:e}");
            }
        }
    }
}

#[test]
fn python_gives_the_predictions() {
    let (folder, x) = (Folder::new("python"), points(20));
    for (name, model) in models() {
        let mut program = crate::python(&model, &name);
        for row in x.row_iter() {
            let row: Vec<String> = row.iter().map(|v| format!("{v:?}")).collect();
            program += &format!(
                "y = {name}({})\nprint(*(y if isinstance(y, tuple) else [y]))\n",
                row.join(", ")
            );
        }
        let file = format!("{name}.py");
        std::fs::write(folder.0.join(&file), program).unwrap();
        let Some(printed) = run("python3", &[&file], &folder.0) else {
            return;
        };
        let values: Vec<f64> = printed
            .split_whitespace()
            .map(|v| v.parse().unwrap())
            .collect();
        let f = model.predict(x.as_ref()).unwrap();
        let (worst, bound) = (distance(&values, &row_major(&f)), bound(&model, &f));
        assert!(worst < bound, "{name}: {worst:e} above {bound:e}");
    }
}

#[test]
fn javascript_gives_the_predictions_as_a_module_and_as_a_script() {
    let (folder, x) = (Folder::new("javascript"), points(60));
    let rows: Vec<Vec<f64>> = x
        .row_iter()
        .map(|row| row.iter().copied().collect())
        .collect();
    for (name, model) in models() {
        let code = crate::javascript(&model, &name);
        let print = format!(
            "for (const row of {rows:?}) console.log([{name}(...row)].flat().join(\" \"));\n"
        );
        let module = format!("import {{ {name} }} from \"./{name}.mjs\";\n{print}");
        for (file, text) in [
            (format!("{name}.mjs"), code.module()),
            ("main.mjs".into(), module),
            ("script.js".into(), format!("{}{print}", code.script)),
        ] {
            std::fs::write(folder.0.join(file), text).unwrap();
        }
        let f = model.predict(x.as_ref()).unwrap();
        // Terms that cancel are rounded, in `predict` as well, to more than that.
        let bound = bound(&model, &f).max(1e-12 * f.norm_max());
        for file in ["main.mjs", "script.js"] {
            let Some(printed) = run("node", &[file], &folder.0) else {
                return;
            };
            let values = printed.split_whitespace();
            let values: Vec<f64> = values.map(|v| v.parse().unwrap()).collect();
            let worst = distance(&values, &row_major(&f));
            assert!(worst < bound, "{name}: {worst:e} above {bound:e}");
        }
    }
}

#[test]
fn latex_is_balanced() {
    for (name, model) in models() {
        let text = crate::latex(&model, 4);
        let mut depth = 0;
        let plain = text.replace("\\{", "").replace("\\}", "");
        for c in plain.chars() {
            depth += i32::from(c == '{') - i32::from(c == '}');
            assert!(depth >= 0, "{name}");
        }
        assert_eq!(depth, 0, "{name}");
        let count = |what: &str| text.matches(what).count();
        assert_eq!(count("\\begin{"), count("\\end{"));
        assert_eq!(count("\\bigl("), count("\\bigr)"));
        match &model {
            Predictor::Network(model) => {
                assert_eq!(count("\\begin{align*}"), 1 + model.outputs.len());
                assert_eq!(count("\\bigl("), 25 * model.outputs.len());
            }
            Predictor::Kernel(model) => {
                assert_eq!(count("\\begin{align*}"), 2);
                assert_eq!(count("\\sum_{i=1}^{90}"), model.outputs.len());
                let of = |shape| {
                    let parts = model.body.kernel.terms.iter();
                    parts.filter(|part| part.shape == shape).count()
                };
                assert_eq!(count("\\sqrt{5\\, q_"), of(Shape::Matern52));
                assert_eq!(count("e^{-0.5\\, q_"), of(Shape::Gaussian));
            }
        }
        assert!(text.contains("a\\_\\%\\{b") && text.is_ascii(), "{name}");
        let warped = if name.contains("_warped") { 2 } else { 0 };
        assert_eq!(count("{arsinh}("), warped, "{name}");
    }
}
