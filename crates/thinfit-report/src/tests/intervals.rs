//! Values and intervals computed by the scripts of a page in plain node, compared with `predict` and `interval`, for
//! fitted models and for the random models of the export tests.

use super::random::{Random, model};
use super::{fit, inputs, network, process};
use crate::uncertainty::{LEVELS, uncertainty};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use thinfit::{Activation, Mat};
use thinfit_methods::Predictor;

/// Random models, as many as the exports are tested with.
const MODELS: usize = 200;
/// Rows of each of them.
const ROWS: usize = 6;
/// The level that is compared, by its place.
const LEVEL: usize = 1;

/// What node prints, one number after the other; none where there is no node, which is a failure where the variable `CI` is set.
pub(super) fn printed(program: &str) -> Option<Vec<f64>> {
    let mut node = Command::new("node");
    let node = node.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut node = match node.arg("-").spawn() {
        Ok(node) => node,
        Err(error) => {
            assert!(std::env::var_os("CI").is_none(), "node: {error}");
            // Past the capture of what tests print.
            let _ = writeln!(
                std::io::stderr(),
                "SKIPPED: cannot run `node`: {error}; the intervals of a page are not tested"
            );
            return None;
        }
    };
    let mut input = node.stdin.take().unwrap();
    input.write_all(program.as_bytes()).unwrap();
    drop(input);
    let output = node.wait_with_output().unwrap();
    assert!(output.status.success(), "node failed");
    let printed = String::from_utf8(output.stdout).unwrap();
    let number = |word: &str| word.parse().unwrap_or_else(|_| panic!("{word}"));
    Some(printed.split_whitespace().map(number).collect())
}

/// The program that prints values and half widths at the rows of every model.
fn program(cases: &[(Predictor, Mat<f64>)]) -> String {
    let mut program = include_str!("../page/interval.js").to_owned();
    for (model, x) in cases {
        let script = thinfit_export::javascript(model, "model").script;
        let uncertainty = serde_json::to_string(&uncertainty(model)).unwrap();
        let rows = x
            .row_iter()
            .map(|row| row.iter().copied().collect::<Vec<f64>>());
        let rows: Vec<Vec<f64>> = rows.collect();
        write!(
            program,
            "
{{
{script}
halfWidths({uncertainty}, model, (work, done) => {{
  for (let next = work.next(); ; next = work.next()) if (next.done) return done(next.value);
}}, (half) => {{
  for (const row of {rows:?}) console.log([model(...row)].flat().concat(half(row, {LEVEL}).flat()).join(' '));
}});
}}
"
        )
        .unwrap();
    }
    program
}

/// Asserts that node computes values and bounds to `bound` of a deviation.
fn check(cases: &[(Predictor, Mat<f64>)], bound: f64) {
    let Some(found) = printed(&program(cases)) else {
        return;
    };
    let mut found = found.into_iter();
    for (number, (model, x)) in cases.iter().enumerate() {
        let f = model.predict(x.as_ref()).unwrap();
        let interval = model.interval(x.as_ref(), LEVELS[LEVEL]).unwrap();
        let scale = &model.output_scaler().scale;
        // Terms that cancel, as they do in the exports.
        let stated = thinfit_export::difference_of_functions(model).largest;
        for i in 0..x.nrows() {
            let values: Vec<f64> = found.by_ref().take(f.ncols()).collect();
            let halves: Vec<f64> = found.by_ref().take(2 * f.ncols()).collect();
            for o in 0..f.ncols() {
                let [width, error] = [halves[2 * o], halves[2 * o + 1]];
                // The page states the rounding error of a width where terms cancel.
                let bound = bound.max(stated).max(error * width / scale[o]);
                let far = |found: f64, expected: f64| (found - expected).abs() / scale[o];
                let worst = far(values[o] - width, interval.low[(i, o)])
                    .max(far(values[o] + width, interval.high[(i, o)]))
                    .max(far(values[o], f[(i, o)]));
                let kind = model.kind();
                assert!(
                    worst <= bound,
                    "model {number}, {kind}, row {i}, output {o}: {worst:e} deviations; {} ± {} instead of {} to {}",
                    values[o],
                    width,
                    interval.low[(i, o)],
                    interval.high[(i, o)]
                );
            }
        }
    }
    assert_eq!(found.next(), None);
}

/// Random model `number` with what intervals are made from: a covariance, variances and the errors of held-out rows.
fn with_intervals(number: usize) -> Predictor {
    let (plain, random) = (model(number), &mut Random(number as u64 + 1_000_000));
    let c = plain.outputs().len();
    let numbers = |count: usize, low: f64, high: f64, random: &mut Random| -> Vec<f64> {
        (0..count).map(|_| random.between(low, high)).collect()
    };
    let scores = |random: &mut Random| -> Vec<Vec<f64>> {
        let sorted = |_| {
            let mut scores = numbers(40, 0.0, 3.0, random);
            scores.sort_by(f64::total_cmp);
            scores
        };
        (0..c).map(sorted).collect()
    };
    let mut json: Value = serde_json::from_str(&plain.to_json()).unwrap();
    match &plain {
        Predictor::Network(_) => {
            let k = json["body"]["output"].as_array().unwrap().len();
            let root = Mat::from_fn(k, k, |_, _| random.between(-1.0, 1.0));
            let m = &root * root.transpose();
            let lower = (0..k).flat_map(|i| (0..=i).map(move |j| (i, j)));
            let lower: Vec<f64> = lower.map(|at| m[at]).collect();
            json["body"]["posterior"] =
                json!({ "covariance": lower, "noise": numbers(c, 0.01, 1.0, random) });
            json["calibration"] = json!({ "scores": scores(random) });
        }
        Predictor::Kernel(_) => {
            // One in four has intervals of one width.
            if !random.below(4).is_multiple_of(4) {
                json["body"]["signal"] = numbers(c, 0.1, 2.0, random).into();
            }
            json["record"]["ridge"] = 10f64.powf(random.between(-4.0, 0.0)).into();
            json["calibration"] = json!({ "scores": scores(random) });
        }
    }
    Predictor::from_json(&json.to_string(), Path::new("random")).unwrap()
}

#[test]
fn intervals_of_random_models_are_those_of_predict() {
    let case = |number: usize| {
        let (model, random) = (with_intervals(number), &mut Random(number as u64));
        let domain = model.domain();
        let x = Mat::from_fn(ROWS, domain.len(), |_, j| {
            random.between(domain[j][0], domain[j][1])
        });
        (model, x)
    };
    let cases: Vec<(Predictor, Mat<f64>)> = (0..MODELS).map(case).collect();
    check(&cases, 1e-6);
}

#[test]
fn intervals_of_fitted_models_are_those_of_predict() {
    let mut models: Vec<Predictor> = Activation::ALL.map(|a| network(a, 1)).into();
    models.extend([network(Activation::Fourier, 2), process(1), process(2)]);
    models.push(fit("kernel-ridge", json!({}), 2));
    let cases = models.into_iter().map(|model| (model, inputs(40)));
    check(&cases.collect::<Vec<_>>(), 1e-6);
}
