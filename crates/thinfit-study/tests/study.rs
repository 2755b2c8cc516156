//! Minima, fronts and distributions of fitted models beside what is known of the functions behind them.

#![allow(clippy::unwrap_used)]

use thinfit::{Column, Control, Dataset, Encoding, Levels, Mat};
use thinfit_design::{Input, Range, Scheme, Space, plan};
use thinfit_methods::{Method, Predictor};
use thinfit_study::{
    End, Error, Given, Goal, Inputs, Propagation, Region, Spread, Value, front, minimise, propagate,
};

/// Rows that fill ranges, with the two corners where all inputs are least and largest.
fn rows(ranges: &[[f64; 2]], count: usize) -> Mat<f64> {
    let input = |(j, [low, high]): (usize, &[f64; 2])| Input {
        name: format!("x{j}"),
        range: Range::Real {
            low: *low,
            high: *high,
        },
    };
    let space = Space::new(ranges.iter().enumerate().map(input).collect()).unwrap();
    let places = plan(&space, Scheme::Maximin, count - 2, &[], 5).unwrap();
    Mat::from_fn(count, ranges.len(), |i, j| {
        let [low, high] = ranges[j];
        let place = match i {
            0 => 0.0,
            1 => 1.0,
            _ => places[i - 2][j],
        };
        low + place * (high - low)
    })
}

/// A function that is known.
type Known<'a> = &'a dyn Fn(&[f64]) -> f64;

/// A Gaussian process fitted to functions at rows that fill the ranges.
fn process(ranges: &[[f64; 2]], count: usize, functions: &[Known<'_>]) -> Predictor {
    let x = rows(ranges, count);
    let y = Mat::from_fn(count, functions.len(), |i, o| {
        functions[o](&x.row(i).iter().copied().collect::<Vec<f64>>())
    });
    let method = Method::named("gaussian-process").unwrap();
    let data = Dataset::new(x, y).unwrap();
    method.fit(&data, 0, &|_| Control::Continue).unwrap()
}

fn number(value: &Value) -> f64 {
    match value {
        Value::Number(number) => *number,
        Value::Text(text) => panic!("{text} is no number"),
    }
}

fn branin(x: &[f64]) -> f64 {
    let pi = std::f64::consts::PI;
    let valley = x[1] - 5.1 / (4.0 * pi * pi) * x[0] * x[0] + 5.0 / pi * x[0] - 6.0;
    valley * valley + 10.0 * (1.0 - 1.0 / (8.0 * pi)) * x[0].cos() + 10.0
}

#[test]
fn the_three_equal_minima_of_branin_are_found() {
    let model = process(&[[-5.0, 10.0], [0.0, 15.0]], 200, &[&branin]);
    let region = Region::new(&model);
    let found = minimise(&region, Goal::least(0), 0).unwrap();
    let range = 308.0;
    println!("{found:?}");
    assert!((found.best.value - 0.397_887_357_729).abs() < 1e-6 * range);
    assert!(branin(&found.best.row) - 0.397_887_357_729 < 1e-6 * range);
    assert_eq!(found.others.len() + found.more, 2, "{found:?}");
    let pi = std::f64::consts::PI;
    let mut minima: Vec<Vec<f64>> = found.others.iter().map(|m| m.row.clone()).collect();
    minima.push(found.best.row.clone());
    for known in [[-pi, 12.275], [pi, 2.275], [3.0 * pi, 2.475]] {
        let near = |row: &&Vec<f64>| (row[0] - known[0]).hypot(row[1] - known[1]) < 1e-2;
        assert_eq!(
            minima.iter().filter(near).count(),
            1,
            "{known:?} {minima:?}"
        );
    }
    assert!(found.borders.is_empty() && !found.thin.thin);
    assert_eq!(found.words(), ["2 other minima are about as good"]);
    // Another seed of the survey, the same minimum.
    let again = minimise(&region, Goal::least(0), 0).unwrap();
    assert_eq!(again.best.row, found.best.row);
    let other = minimise(&region, Goal::least(0), 9).unwrap();
    assert!((other.best.value - found.best.value).abs() < 1e-8 * range);
    // The maximum is the corner (−5, 0), with the value 308.129.
    let most = minimise(&region, Goal::largest(0), 0).unwrap();
    assert!(
        (most.best.value - 308.129_096).abs() < 1e-6 * range,
        "{most:?}"
    );
    assert_eq!(most.best.row, [-5.0, 0.0]);
    let ends: Vec<End> = most.borders.iter().map(|border| border.end).collect();
    assert_eq!(ends, [End::Lower, End::Lower]);
    let words = most.words();
    assert!(
        words[0].starts_with("x1 (lower end, -5.000), x2 (lower end, 0) lie on the border"),
        "{words:?}"
    );
}

/// Voltage of a push-pull amplifier without an output transformer, which rises or falls with every input.
fn amplifier(x: &[f64]) -> f64 {
    let [rb1, rb2, rf, rc1, rc2, beta] = x.try_into().unwrap();
    let vb1 = 12.0 * rb2 / (rb1 + rb2);
    let gain = beta * (rc2 + 9.0);
    (vb1 + 0.74) * gain / (gain + rf)
        + 11.35 * rf / (gain + rf)
        + 0.74 * rf * gain / ((gain + rf) * rc1)
}

#[test]
fn the_least_voltage_of_an_amplifier_lies_in_a_corner() {
    let ranges = [
        [50.0, 150.0],
        [25.0, 70.0],
        [0.5, 3.0],
        [1.2, 2.5],
        [0.25, 1.2],
        [50.0, 300.0],
    ];
    let model = process(&ranges, 250, &[&amplifier]);
    let found = minimise(&Region::new(&model), Goal::least(0), 0).unwrap();
    let corners = (0..64).map(|k: usize| {
        let corner: Vec<f64> = (0..6).map(|j| ranges[j][k >> j & 1]).collect();
        amplifier(&corner)
    });
    let low = corners.clone().fold(f64::INFINITY, f64::min);
    let high = corners.fold(f64::NEG_INFINITY, f64::max);
    let off = (amplifier(&found.best.row) - low) / (high - low);
    println!("{off:e} {low} {high} {found:?}");
    assert!(off < 1e-6, "{off}: {found:?}");
    assert_eq!(found.borders.len(), 6);
}

#[test]
fn constraints_hold_to_rounding_and_the_rest_is_minimised() {
    // Curved enough, and with enough noise, for sums of kernels that are right to the last digits.
    let noise = |x: &[f64]| 0.01 * (1e4 * x[0] + 3e3 * x[1]).sin();
    let waves = |x: &[f64]| (2.0 * x[0]).sin() + (3.0 * x[1]).cos() + 0.3 * x[0] * x[1] + noise(x);
    let model = process(&[[0.0, 4.0], [0.0, 4.0]], 120, &[&waves]);
    // The least value of the model on a segment, and where: a grid, then golden sections.
    let least = |from: [f64; 2], to: [f64; 2]| {
        let place = |u: f64| [0, 1].map(|j| from[j] + u * (to[j] - from[j]));
        let f = |u: f64| {
            let row = Mat::from_fn(1, 2, |_, j| place(u)[j]);
            model.predict(row.as_ref()).unwrap()[(0, 0)]
        };
        let grid = (0..=1000).map(|k| f64::from(k) / 1000.0);
        let best = grid.min_by(|a, b| f(*a).total_cmp(&f(*b))).unwrap();
        let (mut low, mut high) = ((best - 1e-3).max(0.0), (best + 1e-3).min(1.0));
        for _ in 0..60 {
            let (a, b) = (low + 0.382 * (high - low), low + 0.618 * (high - low));
            if f(a) < f(b) { high = b } else { low = a }
        }
        (f(0.5 * (low + high)), place(0.5 * (low + high)))
    };
    let free = minimise(&Region::new(&model), Goal::least(0), 0).unwrap();
    for (fixed, text, from, to) in [
        (None, "x1 + x2 <= 2", [0.0, 2.0], [2.0, 0.0]),
        (None, "2*x1 - x2 >= 6.5", [3.25, 0.0], [4.0, 1.5]),
        (None, "x1 = x2 + 2", [2.0, 0.0], [4.0, 2.0]),
        (Some("3"), "x1 - x2 <= 1.5", [3.0, 1.5], [3.0, 4.0]),
    ] {
        let mut region = Region::new(&model);
        region.require(text).unwrap();
        if let Some(value) = fixed {
            region.fix("x1", value).unwrap();
        }
        let found = minimise(&region, Goal::least(0), 0).unwrap();
        let (value, place) = least(from, to);
        assert!(
            found.best.value < value + 1e-8,
            "{text}: {found:?} {value} {place:?}"
        );
        let [x, y] = found.best.row[..] else { panic!() };
        let side = (x - from[0]) * (to[1] - from[1]) - (y - from[1]) * (to[0] - from[0]);
        let held = !found.held_by.is_empty();
        println!("{text}: {held} {side:e} {:e}", found.best.value - value);
        // What no constraint holds is a minimum of its own; the terms of a constraint are as large as 8.
        if held {
            assert!(
                side.abs() < 1e-14 * 8.0 && (found.best.value - value).abs() < 1e-8,
                "{text}: {found:?} {value}"
            );
        }
    }
    // Constraints that do not hold anything back.
    let mut region = Region::new(&model);
    region.require("x1 <= 9 + x2").unwrap();
    region.require("x2 >= -1").unwrap();
    let found = minimise(&region, Goal::least(0), 0).unwrap();
    assert!((found.best.value - free.best.value).abs() < 1e-8);
    assert!(found.held_by.is_empty());
}

#[test]
fn an_equality_that_only_a_corner_meets_holds_there() {
    // Sums of the ends, which rounding puts outside the cube by a little.
    let ranges = [[2387.3, 2389.9], [372.2, 373.8], [182.2, 184.6]];
    let model = process(&ranges, 30, &[&|x: &[f64]| x[0] + x[1] * x[2]]);
    for (text, end) in [("x1+x2+x3 = 2941.7", 0), ("x1+x2+x3 = 2948.3", 1)] {
        let mut region = Region::new(&model);
        region.require(text).unwrap();
        let found = minimise(&region, Goal::least(0), 0).unwrap();
        for (j, (_, value)) in found.best.point.0.iter().enumerate() {
            assert!(
                (number(value) - ranges[j][end]).abs() < 1e-6,
                "{text}: {found:?}"
            );
        }
    }
}

#[test]
fn questions_without_an_answer_are_errors() {
    let model = process(&[[0.0, 1.0], [0.0, 1.0]], 30, &[&|x: &[f64]| x[0] + x[1]]);
    let mut region = Region::new(&model);
    let message = |result: Result<(), Error>| result.unwrap_err().to_string();
    assert!(message(region.fix("x3", "1")).contains("did you mean `x1`?"));
    let outside = message(region.fix("x1", "7"));
    assert!(
        outside.contains("`x1`: expected a number in the range of the samples, 0 to 1, found 7"),
        "{outside}"
    );
    assert!(message(region.fix("x1", "steel")).contains("found steel"));
    for (texts, words) in [
        (&["x1 + x2 >= 2.5"][..], "missed by at least 0.5000"),
        (&["x1 + x2 >= 1.5", "x1 - x2 = 0.9"], "hold together"),
        (&["x1 = 2"], "missed by at least 1.0"),
    ] {
        let mut region = Region::new(&model);
        texts.iter().for_each(|text| region.require(text).unwrap());
        let error = minimise(&region, Goal::least(0), 0)
            .unwrap_err()
            .to_string();
        assert!(error.contains(words), "{error}");
    }
    region.fix("x1", "0.2").unwrap();
    region.fix("x2", "0.7").unwrap();
    let found = minimise(&region, Goal::least(0), 0).unwrap();
    assert!((found.best.value - 0.9).abs() < 1e-3 && found.others.is_empty());
    region.require("x1 + x2 <= 0.5").unwrap();
    assert!(minimise(&region, Goal::least(0), 0).is_err());
}

/// A model of a number and columns of text with these levels: (x − best)² + the sum of penalties of levels.
fn with_levels(counts: &[usize], m: usize) -> Predictor {
    let numbers: Vec<f64> = (0..m)
        .map(|i| ((i * 37) % m) as f64 / m as f64 * 4.0)
        .collect();
    let levels: Vec<Vec<String>> = counts
        .iter()
        .map(|count| (0..*count).map(|k| format!("l{k}")).collect())
        .collect();
    let codes: Vec<Vec<f64>> = counts
        .iter()
        .enumerate()
        .map(|(j, count)| {
            (0..m)
                .map(|i| ((i * (7 + 4 * j) + i / 5 + j) % count) as f64)
                .collect()
        })
        .collect();
    let mut names = vec!["x".to_owned()];
    let mut columns = vec![Column::Numbers(&numbers)];
    for (j, (levels, codes)) in levels.iter().zip(&codes).enumerate() {
        names.push(format!("text{j}"));
        columns.push(Column::Text {
            levels,
            codes,
            levels_are: Levels::Found,
        });
    }
    let encoding = Encoding::learn(&names, &columns, false);
    let x = encoding.apply(&columns).unwrap();
    let y = Mat::from_fn(m, 1, |i, _| {
        let penalties = codes.iter().map(|codes| ((codes[i] + 1.0) * 2.0).cos());
        (numbers[i] - 1.0 - 0.5 * codes[0][i]).powi(2) + penalties.sum::<f64>()
    });
    let mut data = Dataset::new(x, y).unwrap();
    data.inputs = encoding.inputs();
    let method = Method::named("gaussian-process").unwrap();
    let mut model = method.fit(&data, 0, &|_| Control::Continue).unwrap();
    model.set_encoding(encoding);
    model
}

#[test]
fn levels_are_tried_as_levels() {
    // Least is cos((k + 1)·2) = −0.654 at k = 1 of three, where x is best at 1.5.
    let model = with_levels(&[3], 90);
    let found = minimise(&Region::new(&model), Goal::least(0), 0).unwrap();
    assert_eq!(
        found.best.point.get("text0"),
        Some(&Value::Text("l1".into()))
    );
    assert!(
        (number(found.best.point.get("x").unwrap()) - 1.5).abs() < 0.05,
        "{found:?}"
    );
    let inputs = &found.best.row[1..];
    assert_eq!(inputs.iter().sum::<f64>(), 1.0);
    assert!(inputs.iter().all(|v| *v == 0.0 || *v == 1.0), "{inputs:?}");
    let mut region = Region::new(&model);
    region.fix("text0", "l2").unwrap();
    let fixed = minimise(&region, Goal::least(0), 0).unwrap();
    assert_eq!(
        fixed.best.point.get("text0"),
        Some(&Value::Text("l2".into()))
    );
    assert!(fixed.best.value > found.best.value);
    let error = region.fix("text0", "l9").unwrap_err().to_string();
    assert!(
        error.contains("expected one of its levels, found `l9`"),
        "{error}"
    );
    assert!(
        region
            .require("text0 <= 1")
            .unwrap_err()
            .to_string()
            .contains("which has levels")
    );
}

#[test]
fn many_combinations_of_levels_are_exchanged() {
    // 5 · 6 · 7 combinations; the least of every column is known.
    let model = with_levels(&[5, 6, 7], 400);
    let found = minimise(&Region::new(&model), Goal::least(0), 0).unwrap();
    let best = |count: usize| {
        let cost = |k: &usize| ((*k as f64 + 1.0) * 2.0).cos();
        (0..count)
            .min_by(|a, b| cost(a).total_cmp(&cost(b)))
            .unwrap()
    };
    for (j, count) in [5, 6, 7].into_iter().enumerate() {
        let level = Value::Text(format!("l{}", best(count)));
        assert_eq!(
            found.best.point.get(&format!("text{j}")),
            Some(&level),
            "{found:?}"
        );
    }
}

#[test]
fn the_fronts_of_schaffer_and_fonseca_are_found() {
    let schaffer: [Known<'_>; 2] = [&|x| x[0] * x[0], &|x| (x[0] - 2.0).powi(2)];
    let model = process(&[[-3.0, 5.0]], 30, &schaffer);
    let found = front(&Region::new(&model), &[Goal::least(0), Goal::least(1)], 0).unwrap();
    assert!(found.points.len() > 50, "{}", found.points.len());
    for point in &found.points {
        // √f1 + √f2 = 2 on the front.
        let [a, b] = point.values[..] else { panic!() };
        assert!(
            (a.max(0.0).sqrt() + b.max(0.0).sqrt() - 2.0).abs() < 2e-3,
            "{point:?}"
        );
    }
    let ends = [
        found.points[0].values[0],
        found.points.last().unwrap().values[1],
    ];
    assert!(ends.iter().all(|v| v.abs() < 1e-3), "{ends:?}");
    // The other way round, the front is that of the ends of the range.
    let most = front(
        &Region::new(&model),
        &[Goal::largest(0), Goal::largest(1)],
        0,
    )
    .unwrap();
    assert!(
        most.points
            .iter()
            .all(|p| (p.row[0] + 3.0).abs() < 1e-6 || (p.row[0] - 5.0).abs() < 1e-6),
        "{most:?}"
    );

    // Hollow in the middle: no weighted sum finds it.
    let part = |sign: f64| {
        move |x: &[f64]| {
            let square = |v: &f64| (v - sign / 2f64.sqrt()).powi(2);
            1.0 - (-x.iter().map(square).sum::<f64>()).exp()
        }
    };
    let (first, second) = (part(1.0), part(-1.0));
    let model = process(&[[-2.0, 2.0], [-2.0, 2.0]], 150, &[&first, &second]);
    let found = front(&Region::new(&model), &[Goal::least(0), Goal::least(1)], 0).unwrap();
    assert!(found.points.len() > 40, "{}", found.points.len());
    let mut gap: f64 = 0.0;
    for pair in found.points.windows(2) {
        gap = gap.max(pair[1].values[0] - pair[0].values[0]);
    }
    assert!(gap < 0.06, "{gap}");
    for point in &found.points {
        // The front is the line x1 = x2 from −1/√2 to 1/√2.
        let [x, y] = point.row[..] else { panic!() };
        assert!((x - y).abs() < 0.02 && x.abs() < 0.73, "{point:?}");
    }
}

#[test]
fn a_front_of_three_outputs_has_points_in_its_middle() {
    let bowl =
        |centre: [f64; 2]| move |x: &[f64]| (x[0] - centre[0]).powi(2) + (x[1] - centre[1]).powi(2);
    let (a, b, c) = (bowl([0.2, 0.2]), bowl([0.8, 0.2]), bowl([0.5, 0.8]));
    let model = process(&[[0.0, 1.0], [0.0, 1.0]], 60, &[&a, &b, &c]);
    let goals = [Goal::least(0), Goal::least(1), Goal::least(2)];
    let found = front(&Region::new(&model), &goals, 0).unwrap();
    assert!(found.points.len() > 40, "{}", found.points.len());
    for point in &found.points {
        // Inside the triangle of the centres.
        let [x, y] = point.row[..] else { panic!() };
        let inside =
            y > 0.199 && y - 0.2 < 2.0 * (x - 0.2) + 2e-3 && y - 0.2 < 2.0 * (0.8 - x) + 2e-3;
        assert!(inside, "{point:?}");
    }
}

fn given(texts: &[(&str, &str)]) -> Vec<(String, Given)> {
    let read = |(name, text): &(&str, &str)| ((*name).into(), serde_json::from_str(text).unwrap());
    texts.iter().map(read).collect()
}

fn spread(model: &Predictor, texts: &[(&str, &str)], rows: usize) -> Propagation {
    let inputs = Inputs::new(model, &given(texts)).unwrap();
    propagate(model, &inputs, rows, 3, |_| Ok::<(), Error>(())).unwrap()
}

#[test]
fn sums_of_normal_numbers_are_normal() {
    let ranges = [[-10.0, 10.0], [-10.0, 10.0]];
    let model = process(&ranges, 40, &[&|x: &[f64]| 3.0 * x[0] - 4.0 * x[1] + 1.0]);
    let texts = [
        ("x1", r#"{"normal": [1, 1]}"#),
        ("x2", r#"{"normal": [0.5, 1]}"#),
    ];
    let found = spread(&model, &texts, 40_000);
    // Mean 2 and deviation 5.
    let summary = &found.outputs[0].model;
    let close = |value: f64, error: f64, truth: f64, bound: f64| {
        assert!(
            (value - truth).abs() < 4.0 * error + 2e-3,
            "{value} ± {error}, not {truth}"
        );
        assert!(
            (error / bound - 1.0).abs() < 0.35,
            "error {error}, not {bound}"
        );
    };
    close(summary.mean.value, summary.mean.error, 2.0, 5.0 / 200.0);
    close(
        summary.deviation.value,
        summary.deviation.error,
        5.0,
        5.0 / 200.0 / 2f64.sqrt(),
    );
    let z = [
        -2.326_348, -1.644_854, -0.674_490, 0.0, 0.674_490, 1.644_854, 2.326_348,
    ];
    for (quantile, z) in summary.quantiles.iter().zip(z) {
        let p = quantile.level;
        let density = (-0.5_f64 * z * z).exp() / std::f64::consts::TAU.sqrt() / 5.0;
        let error = (p * (1.0 - p) / 40_000.0).sqrt() / density;
        close(quantile.at.value, quantile.at.error, 2.0 + 5.0 * z, error);
    }
    let values = &found.outputs[0].values;
    let above = Spread::above(values, 2.0 + 5.0 * 1.644_854);
    close(
        above.value,
        above.error,
        0.05,
        (0.05 * 0.95 / 40_000.0_f64).sqrt(),
    );
    let below = Spread::below(values, 2.0);
    close(below.value, below.error, 0.5, 0.5 / 200.0);
    assert!(found.outside.share < 1e-3 && found.unnamed.is_empty());
    // The model is exact: observations have hardly any error of their own.
    let observed = found.outputs[0].observation.as_ref().unwrap();
    assert!((observed.deviation.value - summary.deviation.value).abs() < 0.01);
}

#[test]
fn every_distribution_has_its_moments() {
    let model = process(&[[0.0, 40.0]], 25, &[&|x: &[f64]| x[0]]);
    for (text, mean, variance, median) in [
        (r#"{"uniform": [10, 22]}"#, 16.0, 12.0, 16.0),
        (r#"[10, 22]"#, 16.0, 12.0, 16.0),
        (
            r#"{"triangular": [10, 10, 22]}"#,
            14.0,
            8.0,
            22.0 - 72f64.sqrt(),
        ),
        (
            r#"{"lognormal": [10, 1.2]}"#,
            10.0 * (0.5 * 1.2f64.ln().powi(2)).exp(),
            f64::NAN,
            10.0,
        ),
        (
            r#"{"low": 10, "high": 12, "whole": true}"#,
            11.0,
            2.0 / 3.0,
            11.0,
        ),
        ("7", 7.0, 0.0, 7.0),
    ] {
        let found = spread(&model, &[("x1", text)], 20_000);
        let summary = &found.outputs[0].model;
        assert!(
            (summary.mean.value - mean).abs() < 4.0 * summary.mean.error + 1e-4,
            "{text}: {summary:?}"
        );
        let middle = summary.quantiles[3].at;
        assert!(
            (middle.value - median).abs() < 4.0 * middle.error + 1e-3,
            "{text}: {summary:?}"
        );
        if variance.is_finite() {
            let deviation = summary.deviation;
            assert!(
                (deviation.value - variance.sqrt()).abs() < 4.0 * deviation.error + 1e-4,
                "{text}: {summary:?}"
            );
        }
    }
    let unnamed = spread(&model, &[], 5_000);
    assert_eq!(unnamed.unnamed, ["x1"]);
    assert!((unnamed.outputs[0].model.mean.value - 20.0).abs() < 1.0);
    let outside = spread(&model, &[("x1", r#"{"normal": [40, 1]}"#)], 5_000).outside;
    assert!((outside.share - 0.5).abs() < 0.03 && outside.columns[0].0 == "x1");
}

#[test]
fn levels_have_their_probabilities_and_draws_do_not_depend_on_threads() {
    let model = with_levels(&[3], 90);
    let texts = [("x", "1.5"), ("text0", r#"{"l0": 1, "l1": 3}"#)];
    let found = spread(&model, &texts, 5_000);
    let cost = |k: f64| 0.25 * (k - 1.0).powi(2) + ((k + 1.0) * 2.0).cos();
    let mean = 0.25 * cost(0.0) + 0.75 * cost(1.0);
    let summary = &found.outputs[0].model;
    assert!(
        (summary.mean.value - mean).abs() < 4.0 * summary.mean.error + 0.02,
        "{summary:?} {mean}"
    );
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .build()
        .unwrap();
    let alone = pool.install(|| spread(&model, &texts, 5_000));
    assert_eq!(alone.outputs[0].values, found.outputs[0].values);
    assert_eq!(alone.outputs[0].observations, found.outputs[0].observations);
    for (name, text, words) in [
        ("texts", "1", "did you mean `text0`?"),
        ("x", r#""l1""#, "`x`: expected numbers, found levels"),
        ("x", r#"{"normal": [1, -1]}"#, "a deviation from 0 on"),
        ("x", r#"{"gauss": [1, 1]}"#, "found `gauss`"),
        ("x", r#"{"triangular": [3, 1, 2]}"#, "in this order"),
        ("x", r#"[2, 1]"#, "the smaller first"),
        ("x", r#"{"lognormal": [-1, 2]}"#, "a median above 0"),
        ("text0", r#"{"normal": [1, 1]}"#, "`text0`: expected levels"),
        ("text0", r#"{"l0": 1, "l7": 1}"#, "found `l7`"),
        ("text0", r#"{"l0": -1, "l1": 2}"#, "probabilities"),
    ] {
        let error = Inputs::new(&model, &given(&[(name, text)]))
            .unwrap_err()
            .to_string();
        assert!(error.contains(words), "{text}: {error}");
    }
}
