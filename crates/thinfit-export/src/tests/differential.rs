//! Random models in every language that runs, at ordinary rows and at the oddest, against `predict` and `gradient`.
//!
//! All models are one C file, one Python file and one module of JavaScript, and each runs once.

use super::random::{Kind, Random, models, rows};
use super::{Folder, network, process, run};
use crate::evaluation::evaluated;
use crate::message::{GraphProto, ModelProto, NodeProto};
use crate::{Difference, Language, TOLERANCE, files};
use prost::Message;
use std::collections::{BTreeSet, HashSet};
use std::fmt::Write;
use std::path::Path;
use thinfit::{Activation, Mat, MatRef, Precision};
use thinfit_methods::{Predictor, Shape};

/// Random models.
const MODELS: usize = 200;
/// What languages may differ by, in standard deviations.
const BOUND: f64 = 1e-6;

/// A model, the rows it is asked at, and what the library answers there: values (c), then slopes (c × d), not finite where
/// it refuses.
struct Case {
    name: String,
    model: Predictor,
    rows: Vec<(Kind, Vec<f64>)>,
    values: Vec<Vec<f64>>,
    slopes: Vec<Vec<f64>>,
    /// What the graph of double precision is off by, measured, and a bound on that of the other languages.
    graph: Difference,
    functions: Difference,
}

impl Case {
    fn new(name: String, model: Predictor, random: &mut Random) -> Self {
        let rows = rows(&model, random);
        let (d, c) = (model.inputs().len(), model.outputs().len());
        let matrix = |row: &[f64]| Mat::from_fn(1, d, |_, j| row[j]);
        let value = |row: &[f64]| match model.predict(matrix(row).as_ref()) {
            Ok(f) => f.row(0).iter().copied().collect(),
            Err(_) => vec![f64::NAN; c],
        };
        let slope = |row: &[f64]| -> Vec<f64> {
            let of = |o: usize| match model.gradient(matrix(row).as_ref(), o) {
                Ok(g) => g.row(0).iter().copied().collect::<Vec<f64>>(),
                Err(_) => vec![f64::NAN; d],
            };
            (0..c).flat_map(of).collect()
        };
        Case {
            name,
            values: rows.iter().map(|(_, row)| value(row)).collect(),
            slopes: rows.iter().map(|(_, row)| slope(row)).collect(),
            rows,
            graph: crate::difference(&model, Precision::F64),
            functions: crate::difference_of_functions(&model),
            model,
        }
    }

    /// What a language may differ by, in standard deviations: what the export states, where terms cancel. None where it is refused.
    fn bound(&self, stated: &Difference) -> Option<f64> {
        (stated.largest <= TOLERANCE).then_some(BOUND.max(stated.largest))
    }

    /// Asserts that a language gives the values.
    fn check_values(&self, language: &str, found: &[f64], bound: Option<f64>) {
        let scale = &self.model.output_scaler().scale;
        let c = scale.len();
        let found = found.chunks_exact(c);
        for (((kind, row), expected), found) in self.rows.iter().zip(&self.values).zip(found) {
            for o in 0..c {
                let unit = bound.map(|bound| bound * scale[o] + 1e-10 * expected[o].abs());
                self.check(language, (*kind, row), [expected[o], found[o]], unit);
            }
        }
    }

    /// Asserts that a language gives the slopes.
    fn check_slopes(&self, language: &str, found: &[f64], bound: Option<f64>) {
        let (d, c) = (self.model.inputs().len(), self.model.outputs().len());
        let (inputs, outputs) = (self.model.input_scaler(), self.model.output_scaler());
        let found = found.chunks_exact(c * d);
        for (((kind, row), expected), found) in self.rows.iter().zip(&self.slopes).zip(found) {
            for k in 0..c * d {
                let (o, j) = (k / d, k % d);
                let width = inputs.warp_of(j).map_or(1.0, |warp| warp.width.min(1.0));
                let unit = outputs.scale[o] / (inputs.scale[j] * width);
                let unit = bound.map(|bound| 10.0 * bound * unit + 1e-9 * expected[k].abs());
                self.check(language, (*kind, row), [expected[k], found[k]], unit);
            }
        }
    }

    fn check(
        &self,
        language: &str,
        (kind, row): (Kind, &[f64]),
        [expected, found]: [f64; 2],
        bound: Option<f64>,
    ) {
        let same = match kind {
            Kind::Unusable => found.is_nan(),
            _ if !expected.is_finite() => !found.is_finite(),
            Kind::Far if self.is_wave() => found.is_finite(),
            _ => bound.is_none_or(|bound| (found - expected).abs() <= bound),
        };
        let name = &self.name;
        assert!(
            same,
            "{name} in {language} at {row:?}: {found:e} instead of {expected:e}, bound {bound:?}"
        );
    }

    fn is_wave(&self) -> bool {
        let network = self.model.network();
        network.is_ok_and(|model| {
            matches!(model.activation(), Activation::Fourier | Activation::Cosine)
        })
    }
}

fn cases() -> Vec<Case> {
    let random = &mut Random(7);
    let mut cases = Vec::new();
    for (name, model) in models(MODELS) {
        cases.push(Case::new(name, model, random));
    }
    for (name, fitted) in [
        ("fitted_matern", process(Shape::Matern52, 3)),
        ("fitted_rough_anova", process(Shape::AnovaMatern52, 1)),
        ("fitted_fourier", network(Activation::Fourier, 3)),
        ("fitted_tanh", network(Activation::Tanh, 1)),
    ] {
        cases.push(Case::new(name.into(), fitted, random));
    }
    cases
}

/// The rows of all models as text that C, Python and JavaScript read: for each the numbers of rows, then the rows.
fn text(cases: &[Case]) -> String {
    let mut text = String::new();
    for case in cases {
        let _ = writeln!(text, "{}", case.rows.len());
        for (_, row) in &case.rows {
            for v in row {
                let _ = match v.is_infinite() {
                    true => write!(text, "{}Infinity ", if *v < 0.0 { "-" } else { "" }),
                    false => write!(text, "{v:?} "),
                };
            }
            text.push('\n');
        }
    }
    text
}

/// The numbers that a program printed, `count` of them.
fn numbers(printed: &str, count: usize) -> Vec<f64> {
    let numbers: Vec<f64> = printed
        .split_whitespace()
        .map(|word| word.parse().unwrap())
        .collect();
    assert_eq!(numbers.len(), count);
    numbers
}

/// The source with `suffix` at all names that are its own, so that several fit into one file.
fn with_own_names(source: &str, suffix: &str) -> String {
    let mut own = BTreeSet::new();
    for line in source.lines() {
        let words: Vec<&str> = line
            .split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
            .collect();
        match words[0] {
            "static" => own.extend(
                words
                    .iter()
                    .skip(1)
                    .find(|word| !["const", "double", "inline", "int", "void"].contains(word)),
            ),
            "enum" => own.extend(
                words
                    .iter()
                    .filter(|word| word.starts_with(|c: char| c.is_ascii_uppercase())),
            ),
            _ => {}
        }
        if let Some(("", rest)) = line.split_once("#define ") {
            own.extend(rest.split('(').next());
        }
    }
    let mut text = String::with_capacity(source.len());
    for piece in source.split_inclusive(|c: char| !(c.is_ascii_alphanumeric() || c == '_')) {
        let word = piece.trim_end_matches(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        text.push_str(word);
        if own.contains(word) {
            text.push_str(suffix);
        }
        text.push_str(&piece[word.len()..]);
    }
    text
}

fn check_c(cases: &[Case], folder: &Path) {
    let mut source = String::from("#include <stdio.h>\n#include <stdlib.h>\n");
    let mut calls = String::new();
    for (k, case) in cases.iter().enumerate() {
        let crate::CSource {
            name,
            header,
            source: own,
        } = crate::c(&case.model, &case.name);
        std::fs::write(folder.join(format!("{name}.h")), header).unwrap();
        source += &with_own_names(&own, &format!("_{k}"));
        let (d, c) = (case.model.inputs().len(), case.model.outputs().len());
        let _ = writeln!(calls, "    ask({name}, {name}_gradient, {d}, {c});");
    }
    source += &format!(
        "
static void ask(void (*f)(const double *, double *, size_t), void (*g)(const double *, double *, size_t), size_t d, size_t c)
{{
    static double x[4096], y[4096], slopes[4096];
    size_t rows, i;
    if (scanf(\"%zu\", &rows) != 1)
        exit(1);
    for (i = 0; i < rows * d; i++)
        if (scanf(\"%lf\", &x[i]) != 1)
            exit(1);
    f(x, y, rows);
    g(x, slopes, rows);
    for (i = 0; i < rows * c; i++)
        printf(\"%.17g\\n\", y[i]);
    for (i = 0; i < rows * c * d; i++)
        printf(\"%.17g\\n\", slopes[i]);
}}

int main(void)
{{
    if (!freopen(\"rows.txt\", \"r\", stdin))
        return 1;
{calls}    return 0;
}}
"
    );
    std::fs::write(folder.join("all.c"), source).unwrap();
    let compile = [
        "-std=c99", "-O0", "-Wall", "-Wextra", "all.c", "-o", "all", "-lm",
    ];
    if run("cc", &compile, folder).is_none() {
        return;
    }
    let printed = run(folder.join("all").to_str().unwrap(), &[], folder).unwrap();
    let sizes = |case: &Case| {
        let (d, c) = (case.model.inputs().len(), case.model.outputs().len());
        (case.rows.len() * c, case.rows.len() * c * d)
    };
    let count = cases.iter().map(|case| sizes(case).0 + sizes(case).1).sum();
    let (numbers, mut at) = (numbers(&printed, count), 0);
    for case in cases {
        let ((values, slopes), bound) = (sizes(case), case.bound(&case.functions));
        case.check_values("C", &numbers[at..][..values], bound);
        case.check_slopes("C", &numbers[at + values..][..slopes], bound);
        at += values + slopes;
    }
}

/// Compares what a program printed, values of all models in order.
fn check_printed(cases: &[Case], language: &str, printed: &str) {
    let size = |case: &Case| case.rows.len() * case.model.outputs().len();
    let numbers = numbers(printed, cases.iter().map(size).sum());
    let mut at = 0;
    for case in cases {
        let bound = case.bound(&case.functions);
        case.check_values(language, &numbers[at..][..size(case)], bound);
        at += size(case);
    }
}

fn check_python(cases: &[Case], folder: &Path) {
    let mut script: String = cases
        .iter()
        .map(|case| crate::python(&case.model, &case.name))
        .collect();
    let names: Vec<String> = cases
        .iter()
        .map(|case| format!("({}, {})", case.name, case.model.inputs().len()))
        .collect();
    let _ = write!(
        script,
        "
words = iter(open('rows.txt').read().split())
for function, d in ({},):
    for _ in range(int(next(words))):
        y = function(*(float(next(words)) for _ in range(d)))
        print(*(y if isinstance(y, tuple) else [y]))
",
        names.join(", ")
    );
    std::fs::write(folder.join("all.py"), script).unwrap();
    if let Some(printed) = run("python3", &["all.py"], folder) {
        check_printed(cases, "Python", &printed);
    }
}

fn check_javascript(cases: &[Case], folder: &Path) {
    let mut script = String::from("import { readFileSync } from \"node:fs\";\n");
    let mut names = Vec::new();
    for case in cases {
        let code = crate::javascript(&case.model, &case.name);
        script += &code.script;
        names.push(format!("[{}, {}]", code.name, case.model.inputs().len()));
    }
    let _ = write!(
        script,
        "
const words = readFileSync(\"rows.txt\", \"utf8\").trim().split(/\\s+/).map(Number);
let at = 0;
for (const [f, d] of [{}]) {{
  for (let left = words[at++]; left > 0; left--, at += d) console.log([f(...words.slice(at, at + d))].flat().join(\" \"));
}}
",
        names.join(", ")
    );
    std::fs::write(folder.join("all.mjs"), script).unwrap();
    if let Some(printed) = run("node", &["all.mjs"], folder) {
        check_printed(cases, "JavaScript", &printed);
    }
}

fn check_onnx(case: &Case) {
    let d = case.model.inputs().len();
    let flat: Vec<f64> = case.rows.iter().flat_map(|(_, row)| row).copied().collect();
    let graph = |bytes: &[u8]| ModelProto::decode(bytes).unwrap().graph.unwrap();
    for precision in [Precision::F64, Precision::F32] {
        let Ok(onnx) = crate::onnx(&case.model, precision) else {
            let stated = crate::difference(&case.model, precision).largest;
            assert!(stated > TOLERANCE, "{}: refused at {stated:e}", case.name);
            continue;
        };
        assert!(onnx.difference.largest <= TOLERANCE);
        let graph = graph(&onnx.bytes);
        let names: HashSet<&str> = graph.node.iter().map(|node| node.name.as_str()).collect();
        assert_eq!(
            names.len(),
            graph.node.len(),
            "{}: runtimes refuse equal names",
            case.name
        );
        check_scaled_products(&case.name, &graph);
        match precision {
            Precision::F64 => {
                let found = evaluated(&graph, &flat, d).unwrap();
                case.check_values("ONNX", &found, case.bound(&case.graph));
            }
            Precision::F32 => {
                // Beyond its range, and far outside where nothing was measured, single precision is on its own.
                let found = evaluated(&graph, &flat, d).unwrap();
                let c = case.model.outputs().len();
                for ((kind, row), found) in case.rows.iter().zip(found.chunks_exact(c)) {
                    let unusable = *kind == Kind::Unusable;
                    assert!(
                        !unusable || found.iter().all(|v| v.is_nan()),
                        "{} {row:?}",
                        case.name
                    );
                }
                let inside = MatRef::from_row_major_slice(&flat[..4 * d], 4, d);
                let f = case.model.predict(inside).unwrap();
                let scale = &case.model.output_scaler().scale;
                for (k, found) in found[..4 * c].iter().enumerate() {
                    let far = (found - f[(k / c, k % c)]).abs() / scale[k % c];
                    let stated = 5.0 * onnx.difference.largest + BOUND;
                    assert!(far <= stated, "{}: {far:e}, stated {stated:e}", case.name);
                }
            }
        }
    }
}

/// Asserts that no product with a number stands before a matrix product or behind it: onnxruntime merges both and rounds the number to
/// single precision, which was an error of 5e-5 deviations in graphs of one input.
fn check_scaled_products(name: &str, graph: &GraphProto) {
    let is_number = |name: &String| {
        let mut constants = graph.initializer.iter();
        constants.any(|tensor| tensor.name == *name && tensor.dims.iter().product::<i64>() == 1)
    };
    let scaled = |node: &&NodeProto| node.op_type == "Mul" && node.input.iter().any(is_number);
    let products = || graph.node.iter().filter(|node| node.op_type == "MatMul");
    for number in graph.node.iter().filter(scaled) {
        let before = products().any(|product| product.input.contains(&number.output[0]));
        let behind = products().any(|product| number.input.contains(&product.output[0]));
        assert!(!before && !behind, "{name}: {}", number.name);
    }
}

#[test]
fn random_models_give_their_predictions_in_every_language() {
    let (folder, cases) = (Folder::new("differential"), cases());
    let count = |met: &dyn Fn(&Case) -> bool| cases.iter().filter(|case| met(case)).count();
    // Terms cancel in some of them, and in some too much for an export.
    assert!(count(&|case| case.graph.largest > TOLERANCE) > 0);
    assert!(count(&|case| (BOUND..TOLERANCE).contains(&case.functions.largest)) > 2);
    assert!(count(&|case| case.functions.largest <= BOUND) > MODELS * 9 / 10);
    for case in cases
        .iter()
        .filter(|case| case.functions.largest > TOLERANCE)
    {
        for language in [Language::C, Language::Python, Language::JavaScript] {
            let error = files(&case.model, language, Path::new("model.c")).unwrap_err();
            assert_eq!(error.difference, case.functions, "{}", case.name);
        }
    }
    std::fs::write(folder.0.join("rows.txt"), text(&cases)).unwrap();
    cases.iter().for_each(check_onnx);
    check_python(&cases, &folder.0);
    check_javascript(&cases, &folder.0);
    check_c(&cases, &folder.0);
}
