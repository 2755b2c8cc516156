//! Minima, fronts and distributions of fitted models, compared with those of the known functions.

#![allow(clippy::unwrap_used)]

use thinfit::{Column, Control, Dataset, Encoding, Levels, Mat};
use thinfit_design::{Input, Range, Scheme, Space, plan};
use thinfit_methods::{Method, Predictor};
use thinfit_study::{
    End, Error, Given, Goal, Inputs, Propagation, Ranges, Region, Spread, Value, front, minimise,
    propagate,
};

/// The space of inputs x1, x2, ….
fn space(ranges: &[Range]) -> Space {
    let input = |(j, range): (usize, &Range)| Input {
        name: format!("x{}", j + 1),
        range: range.clone(),
    };
    Space::new(ranges.iter().enumerate().map(input).collect()).unwrap()
}

fn real([low, high]: [f64; 2]) -> Range {
    Range::Real { low, high }
}

/// Rows that fill ranges, with the two corners where all inputs are least and largest.
fn rows(ranges: &[[f64; 2]], count: usize) -> Mat<f64> {
    let space = space(&ranges.iter().copied().map(real).collect::<Vec<Range>>());
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
    fitted("gaussian-process", rows(ranges, count), functions)
}

/// A model of functions at rows.
fn fitted(method: &str, x: Mat<f64>, functions: &[Known<'_>]) -> Predictor {
    let y = Mat::from_fn(x.nrows(), functions.len(), |i, o| {
        functions[o](&x.row(i).iter().copied().collect::<Vec<f64>>())
    });
    let method = Method::named(method).unwrap();
    let data = Dataset::new(x, y).unwrap();
    method.fit(&data, 0, &|_| Control::Continue).unwrap()
}

fn number(value: &Value) -> f64 {
    match value {
        Value::Number(number) => *number,
        Value::Text(text) => panic!("{text} is not a number"),
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

const AMPLIFIER: [[f64; 2]; 6] = [
    [50.0, 150.0],
    [25.0, 70.0],
    [0.5, 3.0],
    [1.2, 2.5],
    [0.25, 1.2],
    [50.0, 300.0],
];

/// How far the voltage at a row is above the least one of the corners, as a part of the spread.
fn above_the_least_voltage(row: &[f64]) -> f64 {
    let corners = (0..64).map(|k: usize| {
        let corner: Vec<f64> = (0..6).map(|j| AMPLIFIER[j][k >> j & 1]).collect();
        amplifier(&corner)
    });
    let low = corners.clone().fold(f64::INFINITY, f64::min);
    let high = corners.fold(f64::NEG_INFINITY, f64::max);
    (amplifier(row) - low) / (high - low)
}

#[test]
fn the_least_voltage_of_an_amplifier_lies_in_a_corner() {
    let model = process(&AMPLIFIER, 250, &[&amplifier]);
    let found = minimise(&Region::new(&model), Goal::least(0), 0).unwrap();
    let off = above_the_least_voltage(&found.best.row);
    println!("{off:e} {found:?}");
    assert!(off < 1e-6, "{off}: {found:?}");
    assert_eq!(found.borders.len(), 6);
}

#[test]
fn a_corner_that_no_sample_reaches_is_found_in_given_ranges() {
    let space = space(&AMPLIFIER.map(real));
    let places = plan(&space, Scheme::Maximin, 250, &[], 5).unwrap();
    let x = Mat::from_fn(250, 6, |i, j| {
        let [low, high] = AMPLIFIER[j];
        low + places[i][j] * (high - low)
    });
    let model = fitted("gaussian-process", x, &[&amplifier]);
    let samples = minimise(&Region::new(&model), Goal::least(0), 0).unwrap();
    assert!(samples.beyond.is_empty());
    let ranges = Ranges::within(&model, &space).unwrap();
    let region = Region::within(&model, ranges);
    let found = minimise(&region, Goal::least(0), 0).unwrap();
    let [inside, here] = [&samples, &found].map(|found| above_the_least_voltage(&found.best.row));
    println!("{inside:e} {here:e} {found:?}");
    assert!(here < 1e-4 && here < 0.1 * inside, "{found:?}");
    // What is left is the model's: it is nowhere less than where the search ended.
    let corners = Mat::from_fn(64, 6, |k, j| AMPLIFIER[j][k >> j & 1]);
    let values = model.predict(corners.as_ref()).unwrap();
    assert!((0..64).all(|k| values[(k, 0)] >= found.best.value));
    assert!(found.borders.len() >= 4 && found.beyond.len() >= found.borders.len());
    assert!(found.borders.iter().all(|border| border.given));
    let width = |[low, high]: [f64; 2]| high - low;
    let [inside, beyond] = [&samples, &found].map(|found| width(found.best.interval.unwrap()));
    assert!(inside < beyond, "{inside} {beyond}");
    let words = found.words();
    assert!(
        words[0].contains("lie on the border of their ranges, as given"),
        "{words:?}"
    );
    assert!(
        words[1].starts_with("x1, x2, x3, x4,")
            && words[1].contains("lie beyond the samples, by 0.20 % of their range at most"),
        "{words:?}"
    );
    // As far as nothing is known there is no interval.
    let far = [Range::Real {
        low: 0.0,
        high: 150.0,
    }];
    let far = Ranges::within(&model, &self::space(&far)).unwrap();
    let far = minimise(&Region::within(&model, far), Goal::largest(0), 0).unwrap();
    assert_eq!(far.best.point.get("x1"), Some(&Value::Number(0.0)));
    assert!(far.best.interval.is_none() && far.beyond[0].by > 0.5);
}

#[test]
fn whole_numbers_are_proposed_where_the_range_has_no_others() {
    // The best x2 goes with x1, so that no change of x1 alone lowers it much.
    let valley = |x: &[f64]| {
        (x[0] - 2.6).powi(2) + 8.0 * (x[1] - 0.5 * x[0]).powi(2) + 0.3 * (x[2] - 4.4).powi(2)
    };
    let model = process(&[[0.0, 9.0], [0.0, 5.0], [0.0, 9.0]], 150, &[&valley]);
    let within = |ranges: &[Range], constraint: &str| {
        let ranges = Ranges::within(&model, &space(ranges)).unwrap();
        let mut region = Region::within(&model, ranges);
        region.require(constraint).unwrap();
        minimise(&region, Goal::least(0), 0).unwrap()
    };
    let whole = |low, high| Range::Whole { low, high };
    // 10 whole numbers, tried one by one, and 10 · 10, which are exchanged.
    for (ranges, constraint, best) in [
        (vec![whole(0, 9)], "x1 >= 0", [3.0, 1.5, 4.4]),
        (vec![whole(0, 9)], "x1 <= 2.5", [2.0, 1.0, 4.4]),
        (
            vec![whole(0, 9), real([0.0, 5.0]), whole(0, 9)],
            "x1 >= 0",
            [3.0, 1.5, 4.0],
        ),
        (
            vec![whole(0, 9), real([0.0, 5.0]), whole(0, 9)],
            "x1 + x3 >= 7.5",
            [3.0, 1.5, 5.0],
        ),
        (
            vec![whole(0, 9), real([0.0, 5.0]), whole(0, 9)],
            "x1 = 2*x2 + 1",
            [3.0, 1.0, 4.0],
        ),
    ] {
        let found = within(&ranges, constraint);
        for (j, range) in ranges.iter().enumerate() {
            if let Range::Whole { .. } = range {
                assert_eq!(found.best.row[j], best[j], "{constraint}: {found:?}");
            }
        }
        let off = valley(&found.best.row) - valley(&best);
        assert!(off < 1e-3, "{constraint}: {off} {found:?}");
    }
    let error = Ranges::within(&model, &space(&[whole(0, 9)])).map(|ranges| {
        let mut region = Region::within(&model, ranges);
        region.require("2*x1 = 5").unwrap();
        minimise(&region, Goal::least(0), 0)
            .unwrap_err()
            .to_string()
    });
    assert!(
        error.as_ref().unwrap().contains("none that do"),
        "{error:?}"
    );
    // Neighbours that better ones surround are no minima of their own.
    let alone = within(&[whole(0, 9)], "x1 >= 0");
    assert_eq!(alone.others.len() + alone.more, 0, "{alone:?}");
    let goals = [Goal::least(0), Goal::largest(0)];
    let ranges = Ranges::within(&model, &space(&[whole(0, 9)])).unwrap();
    let both = front(&Region::within(&model, ranges), &goals, 0).unwrap();
    assert!(both.points.iter().all(|point| point.row[0].fract() == 0.0));
}

#[test]
fn a_count_between_two_whole_numbers_is_told() {
    let x = Mat::from_fn(60, 2, |i, j| match j {
        0 => (2 + i % 3) as f64,
        _ => ((i * 37) % 60) as f64 / 60.0,
    });
    let bowl = |x: &[f64]| (x[0] - 3.4).powi(2) + (x[1] - 0.5).powi(2);
    let model = fitted("gaussian-process", x, &[&bowl]);
    let found = minimise(&Region::new(&model), Goal::least(0), 0).unwrap();
    assert_eq!(found.split, ["x1"], "{found:?}");
    let words =
        "all samples of x1 are integers: if it takes no others, set `whole = true` in its range";
    assert!(found.words().contains(&words.to_owned()), "{found:?}");
    let ranges = [Range::Whole { low: 2, high: 4 }];
    let ranges = Ranges::within(&model, &space(&ranges)).unwrap();
    let found = minimise(&Region::within(&model, ranges), Goal::least(0), 0).unwrap();
    assert!(
        found.split.is_empty() && found.best.row[0] == 3.0,
        "{found:?}"
    );
    // Older files do not have it.
    let mut json: serde_json::Value = serde_json::from_str(&model.to_json()).unwrap();
    let path = std::path::Path::new("m.json");
    json["record"]["whole"] = serde_json::json!([2]);
    let error = Predictor::from_json(&json.to_string(), path).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("integer-column index out of range"),
        "{error}"
    );
    json["record"].as_object_mut().unwrap().remove("whole");
    let former = Predictor::from_json(&json.to_string(), path).unwrap();
    let found = minimise(&Region::new(&former), Goal::least(0), 0).unwrap();
    assert!(found.split.is_empty());
}

#[test]
fn thousands_of_whole_numbers_are_searched() {
    let bowl = |x: &[f64]| (x[0] - 3217.4).powi(2) + (100.0 * x[1] - x[0]).powi(2);
    let model = process(&[[0.0, 9000.0], [0.0, 90.0]], 60, &[&bowl]);
    let ranges = [
        Range::Whole { low: 0, high: 9000 },
        Range::Whole { low: 0, high: 90 },
    ];
    let ranges = Ranges::within(&model, &space(&ranges)).unwrap();
    let found = minimise(&Region::within(&model, ranges), Goal::least(0), 0).unwrap();
    assert_eq!(found.best.row[1], 32.0, "{found:?}");
    assert!((3205.0..3213.0).contains(&found.best.row[0]), "{found:?}");
    assert_eq!(found.best.row[0].fract(), 0.0);
}

#[test]
fn indices_over_given_ranges_are_those_of_the_function() {
    // On the unit square x1 + 2 x2 + 4 (x1 − ½)(x2 − ½) has variance 1/12 + 4/12 + 16/144.
    let f = |x: &[f64]| x[0] + 2.0 * x[1] + 4.0 * (x[0] - 0.5) * (x[1] - 0.5);
    let x = rows(&[[-0.1, 1.1], [0.04, 0.96]], 90);
    for method in ["gaussian-process", "gft-r"] {
        let model = fitted(method, x.clone(), &[&f]);
        let over = |ranges: &[Range]| {
            let ranges = Ranges::within(&model, &space(ranges)).unwrap();
            let factors = ranges.factors();
            let found = model.sensitivity_over(0, factors, &|_| ()).unwrap();
            let errors = model.index_errors(0, factors, &found).unwrap();
            (found, errors)
        };
        let unit = real([0.0, 1.0]);
        let (square, errors) = over(&[unit.clone(), unit.clone()]);
        let [variance, pair] = [5.0 / 12.0 + 16.0 / 144.0, 16.0 / 144.0];
        assert!(square.closed_form, "{method}");
        for (j, alone) in [1.0 / 12.0, 4.0 / 12.0].into_iter().enumerate() {
            let off = (square.first[j] - alone / variance).abs()
                + (square.total[j] - (alone + pair) / variance).abs();
            assert!(off < 5e-3, "{method}: {square:?}");
            // The ranges reach a little beyond the samples.
            assert!(errors.total[j] < 0.05, "{method}: {errors:?}");
        }
        // Of x1 the ends alone, each half the time: variances 1/4, 4/12 and 16/4/12.
        let (ends, _) = over(&[Range::Whole { low: 0, high: 1 }, unit.clone()]);
        let parts = [0.25, 4.0 / 12.0, 4.0 / 12.0];
        let variance: f64 = parts.iter().sum();
        let off = (ends.first[0] - parts[0] / variance).abs()
            + (ends.first[1] - parts[1] / variance).abs()
            + (ends.second[(0, 1)] - parts[2] / variance).abs();
        assert!(off < 6e-3, "{method}: {ends:?}");
        // Even in the logarithm: E g² of g = x1 − ½ and its moments on [0.1, 1].
        let (low, high): (f64, f64) = (0.1, 1.0);
        let decades = (high / low).ln();
        let mean = (high - low) / decades;
        let square = 0.5 * (high * high - low * low) / decades;
        // f = x1 (1 + 4v) + 2 x2 − 2v with v = x2 − ½ of variance 1/12: f = x1 + 4 x1 v + 1.
        let (alone, with) = (square - mean * mean, 16.0 / 12.0 * square);
        let (log, _) = over(&[Range::Log { low, high }, unit.clone()]);
        let expected = alone / (alone + with);
        assert!((log.first[0] - expected).abs() < 6e-3, "{method}: {log:?}");
        // Beyond the samples the indices have no standard errors.
        let ranges = Ranges::within(&model, &space(&[real([0.0, 2.0])])).unwrap();
        let found = model
            .sensitivity_over(0, ranges.factors(), &|_| ())
            .unwrap();
        let error = model.index_errors(0, ranges.factors(), &found).unwrap_err();
        assert!(
            error.to_string().contains("far beyond the samples"),
            "{error}"
        );
    }
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
    assert!(message(region.fix("x1", "steel")).contains("found `steel`, which is not a number"));
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
    let free = Region::new(&model);
    let error = minimise(&free, Goal::least(1), 0).unwrap_err().to_string();
    assert!(error.contains("an output below 1, found 1"), "{error}");
    assert!(front(&free, &[Goal::least(0)], 0).is_err());
    assert!(front(&free, &[Goal::least(0), Goal::largest(3)], 0).is_err());
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
    let some = ["l0", "l2"].map(str::to_owned).to_vec();
    let input = Input {
        name: "text0".into(),
        range: Range::Levels(some),
    };
    let ranges = Ranges::within(&model, &Space::new(vec![input]).unwrap()).unwrap();
    let limited = minimise(&Region::within(&model, ranges), Goal::least(0), 0).unwrap();
    assert_eq!(
        limited.best.point.get("text0"),
        Some(&Value::Text("l0".into()))
    );
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
    let texts = [("x", "1.5"), ("text0", r#"{"l0": 0.25, "l1": 0.75}"#)];
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
        ("text0", r#"{"l0": 0.5, "l7": 0.5}"#, "found `l7`"),
        (
            "text0",
            r#"{"l0": 0.7, "l1": 0.2}"#,
            "`text0`: expected probabilities that add up to 1, found 0.9",
        ),
        ("text0", r#"{"l0": -1, "l1": 2}"#, "probabilities"),
    ] {
        let error = Inputs::new(&model, &given(&[(name, text)]))
            .unwrap_err()
            .to_string();
        assert!(error.contains(words), "{text}: {error}");
    }
}
