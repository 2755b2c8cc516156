//! Proposals: values that a user can set, inside the requested region.

#![allow(clippy::unwrap_used)]

mod requests;

use thinfit::{Candidate, Control, Dataset, Diagnosis, Mat, Tried};
use thinfit_design::{Input, Range, Scheme, Space, plan};
use thinfit_methods::{Method, Predictor};
use thinfit_study::{Aim, Goal, Ranges, Region, front, minimise, suggest};

/// A Gaussian process of a function at rows.
fn process(x: Mat<f64>, f: &dyn Fn(&[f64]) -> f64) -> Predictor {
    let y = Mat::from_fn(x.nrows(), 1, |i, _| {
        f(&x.row(i).iter().copied().collect::<Vec<f64>>())
    });
    let data = Dataset::new(x, y).unwrap();
    let method = Method::named("gaussian-process").unwrap();
    method.fit(&data, 0, &|_| Control::Continue).unwrap()
}

/// Rows that fill the unit cube (count × d).
fn cube(count: usize, d: usize, seed: u64) -> Mat<f64> {
    let rows = plan(&Space::cube(d).unwrap(), Scheme::Sobol, count, &[], seed).unwrap();
    Mat::from_fn(count, d, |i, j| rows[i][j])
}

fn none(model: &Predictor) -> Mat<f64> {
    Mat::zeros(0, model.inputs().len())
}

#[test]
fn every_answer_keeps_to_bounds_types_and_constraints() {
    let process = requests::model("gaussian-process", 1);
    let models = [
        (requests::edged(&process), 2000..2060),
        (requests::model("gft-r", 1), 1000..1120),
        (process, 0..120),
    ];
    for (model, seeds) in models {
        assert!(model.input_scaler().warp_of(0).is_some());
        let wrong: Vec<String> = seeds
            .filter_map(|seed| requests::ask(&model, seed).found.err())
            .collect();
        assert!(wrong.is_empty(), "{}: {}", model.kind(), wrong.join("\n"));
    }
}

#[test]
fn a_row_that_was_taken_was_proposed_again() {
    let gft = requests::model("gft-r", 1);
    let process = requests::model("gaussian-process", 1);
    for (model, seed) in [(&gft, 147), (&gft, 179), (&process, 3397)] {
        let found = requests::ask(model, seed).found;
        assert!(found.is_ok(), "{found:?}");
    }
}

#[test]
fn a_column_with_no_detectable_effect_is_left_where_the_data_is() {
    // The second column goes with the first, and the fit found that it is not needed.
    let base = cube(80, 2, 3);
    let x = Mat::from_fn(80, 3, |i, j| match j {
        0 => base[(i, 0)],
        1 => base[(i, 0)] + 0.3 * base[(i, 1)],
        _ => base[(i, 1)],
    });
    let mut second = x.col_as_slice(1).to_vec();
    second.sort_by(f64::total_cmp);
    let Predictor::Kernel(mut model) = process(x, &|x| (x[0] - 0.4).powi(2) + 0.2 * x[1] + x[2])
    else {
        panic!("a Gaussian process is a kernel model");
    };
    model.record.diagnosis = Some(Diagnosis {
        inputs: vec![0, 2],
        tried: vec![Tried {
            candidate: Candidate::Matern,
            mse: vec![0.01],
            of_part: false,
        }],
        ..Diagnosis::default()
    });
    let model = Predictor::from(model);
    assert_eq!(model.undetected(), [false, true, false]);
    for goal in [Goal::least(0), Goal::largest(0)] {
        let found = minimise(&Region::new(&model), goal, 0).unwrap();
        assert_eq!(found.undetected, ["x2"]);
        assert_eq!(found.best.row[1], second[39]);
        assert!(found.borders.iter().all(|border| border.column != "x2"));
        assert!(!found.borders.is_empty(), "{found:?}");
    }
    let both = front(&Region::new(&model), &[Goal::least(0), Goal::largest(0)], 0).unwrap();
    assert!(both.points.iter().all(|point| point.row[1] == second[39]));
    // A constraint moves it as far as it must.
    let mut region = Region::new(&model);
    region.require("x2 >= 1.2").unwrap();
    let found = minimise(&region, Goal::least(0), 0).unwrap();
    assert!(found.best.row[1] >= 1.2 - 1e-9 && found.borders.iter().all(|b| b.column != "x2"));
    let mut region = Region::new(&model);
    region.fix("x2", "1").unwrap();
    assert!(
        minimise(&region, Goal::least(0), 0)
            .unwrap()
            .undetected
            .is_empty()
    );
    // What a search proposes leaves it alone, what lowers the uncertainty need not.
    let region = Region::new(&model);
    let found = suggest(&region, Aim::Minimum(0), 4, none(&model).as_ref(), 0).unwrap();
    assert!(
        found.col(1).iter().all(|v| (*v - second[39]).abs() < 1e-5),
        "{found:?}"
    );
}

#[test]
fn a_batch_that_searches_a_minimum_or_maximum_spreads() {
    let mut apart = Vec::new();
    for seed in 0..6 {
        let noise = |x: &[f64]| 0.02 * (1e4 * x[0] + 3e3 * x[1] + seed as f64).sin();
        let bowl = |x: &[f64]| (x[0] - 0.3).powi(2) + 2.0 * (x[1] - 0.6).powi(2) + noise(x);
        let model = process(cube(40, 2, seed), &bowl);
        for aim in [Aim::Minimum(0), Aim::Maximum(0)] {
            let rows = suggest(&Region::new(&model), aim, 6, none(&model).as_ref(), seed).unwrap();
            for (i, k) in (1..6).flat_map(|i| (0..i).map(move |k| (i, k))) {
                apart.push((rows[(i, 0)] - rows[(k, 0)]).hypot(rows[(i, 1)] - rows[(k, 1)]));
            }
        }
        let rows = suggest(
            &Region::new(&model),
            Aim::Minimum(0),
            6,
            none(&model).as_ref(),
            seed,
        );
        let rows = rows.unwrap();
        // One of them is where the least value is.
        let least = (0..6).map(|i| (rows[(i, 0)] - 0.3).hypot(rows[(i, 1)] - 0.6));
        assert!(least.fold(f64::INFINITY, f64::min) < 0.1, "{rows:?}");
    }
    apart.sort_by(f64::total_cmp);
    assert!(apart[0] > 0.05, "{}", apart[0]);
    assert!(apart[apart.len() / 2] > 0.1, "{}", apart[apart.len() / 2]);
}

#[test]
fn switches_and_counts_get_no_values_between_and_coded_levels_are_told() {
    let base = cube(72, 2, 1);
    let x = Mat::from_fn(72, 4, |i, j| match j {
        0 => (i % 2) as f64,
        1 => (2 + (i / 2) % 6) as f64,
        2 => (i / 12 % 3) as f64 - 1.0,
        _ => base[(i, 0)],
    });
    let f =
        |x: &[f64]| 2.0 * x[0] + (x[1] - 4.3).powi(2) + (x[2] - 0.4).powi(2) + (x[3] - 0.5).powi(2);
    let model = process(x, &f);
    let region = Region::new(&model);
    let least = minimise(&region, Goal::least(0), 0).unwrap();
    assert_eq!(least.best.row[..2], [0.0, 4.0], "{least:?}");
    assert_eq!(least.integers, ["x1", "x2"]);
    // A range allows no others to a switch.
    assert_eq!(least.switches, ["x1"]);
    let notes = thinfit_study::notes(&least.undetected, &least.integers, &least.switches);
    assert!(
        !notes.is_empty() && notes.iter().all(|note| !note.contains("x1,")),
        "{notes:?}"
    );
    // With three levels it is unknown whether there are values in between.
    assert_eq!(least.split, ["x3"]);
    // There is nothing beyond the ends of a switch.
    let borders = |found: &thinfit_study::Optimum| -> Vec<String> {
        found
            .borders
            .iter()
            .map(|border| border.column.clone())
            .collect()
    };
    assert!(borders(&least).is_empty(), "{least:?}");
    let most = minimise(&region, Goal::largest(0), 0).unwrap();
    assert_eq!(most.best.row[..2], [1.0, 7.0]);
    assert!(!borders(&most).contains(&"x1".into()) && borders(&most).contains(&"x2".into()));
    for aim in [Aim::Uncertainty, Aim::Minimum(0)] {
        let rows = suggest(&region, aim, 6, none(&model).as_ref(), 1).unwrap();
        assert!(
            rows.col(0).iter().all(|v| [0.0, 1.0].contains(v)),
            "{rows:?}"
        );
        assert!(rows.col(1).iter().all(|v| v.fract() == 0.0), "{rows:?}");
    }
    // A range that the user gives allows others.
    let input = |name: &str, range| Input {
        name: name.into(),
        range,
    };
    let range = Range::Real {
        low: 2.0,
        high: 7.0,
    };
    let space = Space::new(vec![input("x2", range)]).unwrap();
    let ranges = Ranges::within(&model, &space).unwrap();
    let found = minimise(&Region::within(&model, ranges), Goal::least(0), 0).unwrap();
    assert!((found.best.row[1] - 4.3).abs() < 0.1, "{found:?}");
    // A single number.
    let four = Range::Real {
        low: 4.0,
        high: 4.0,
    };
    let space = Space::new(vec![input("x2", four)]).unwrap();
    let ranges = Ranges::within(&model, &space).unwrap();
    let region = Region::within(&model, ranges);
    assert_eq!(
        minimise(&region, Goal::least(0), 0).unwrap().best.row[1],
        4.0
    );
    let rows = suggest(&region, Aim::Uncertainty, 3, none(&model).as_ref(), 0).unwrap();
    assert!(rows.col(1).iter().all(|v| *v == 4.0), "{rows:?}");
    // One level alone, and the words of a switch.
    let on = Range::Levels(vec!["true".into()]);
    let space = Space::new(vec![input("x1", on)]).unwrap();
    let ranges = Ranges::within(&model, &space).unwrap();
    let found = minimise(&Region::within(&model, ranges), Goal::least(0), 0).unwrap();
    assert_eq!(found.best.row[0], 1.0);
    let mut region = Region::new(&model);
    region.fix("x1", "true").unwrap();
    assert!(region.fix("x2", "2.5").is_err());
    assert_eq!(
        minimise(&region, Goal::least(0), 0).unwrap().best.row[0],
        1.0
    );
}

#[test]
fn a_column_that_is_fixed_twice_is_an_error() {
    let model = process(cube(30, 2, 1), &|x| x[0] + x[1]);
    let mut region = Region::new(&model);
    region.fix("x1", "0.3").unwrap();
    let error = region.fix("x1", "0.4").unwrap_err().to_string();
    assert!(error.contains("`x1`") && error.contains("0.4"), "{error}");
    region.require("x2 <= 0.25").unwrap();
    let rows = suggest(&region, Aim::Uncertainty, 4, none(&model).as_ref(), 0).unwrap();
    assert!(rows.col(0).iter().all(|v| *v == 0.3) && rows.col(1).iter().all(|v| *v <= 0.25));
}

#[test]
fn a_maximum_that_the_model_can_tell_from_the_best_is_not_as_good() {
    // Two hills that differ by five deviations of the noise.
    let noise = |x: &[f64]| 0.2 * (1e4 * x[0] + 3e3 * x[1]).sin();
    let hill = |x: &[f64], at: f64| (-30.0 * ((x[0] - at).powi(2) + (x[1] - 0.5).powi(2))).exp();
    for (second, as_good) in [(9.0, false), (9.95, true)] {
        let f = |x: &[f64]| 10.0 * hill(x, 0.2) + second * hill(x, 0.8) + noise(x);
        let model = process(cube(200, 2, 2), &f);
        let found = minimise(&Region::new(&model), Goal::largest(0), 0).unwrap();
        let near = |row: &[f64]| (row[0] - 0.8).abs() < 0.1 || (row[0] - 0.2).abs() < 0.1;
        assert!(near(&found.best.row));
        let others = found.others.iter().filter(|one| near(&one.row)).count();
        assert_eq!(others, usize::from(as_good), "{second}: {found:?}");
    }
}

#[test]
fn indices_over_the_samples_are_those_over_the_same_ranges() {
    // A hill where the first column is near 5, of up to 4,000: it is wide in the logarithm, and narrow in the units of the data.
    let x = cube(120, 2, 4);
    let x = Mat::from_fn(120, 2, |i, j| [9.0, 1.0][j] * x[(i, j)]);
    let y = Mat::from_fn(120, 1, |i, _| {
        3.0 * (-(x[(i, 0)] - 2.3).powi(2)).exp() + x[(i, 1)]
    });
    let data = Dataset::new(x, y).unwrap();
    for method in ["gaussian-process", "gft-r"] {
        let method = Method::named(method).unwrap();
        let model = method.fit(&data, 1, &|_| Control::Continue).unwrap();
        let model = requests::bent(&model, &[[0.0, 1.0]]);
        let input = |j: usize| Input {
            name: format!("x{}", j + 1),
            range: Range::Real {
                low: model.domain()[j][0],
                high: model.domain()[j][1],
            },
        };
        let space = Space::new((0..2).map(input).collect()).unwrap();
        let given = Ranges::within(&model, &space).unwrap();
        let own = model.sensitivity(0).unwrap();
        let given = model.sensitivity_over(0, given.factors(), &|_| ()).unwrap();
        for j in 0..2 {
            assert!(
                (own.first[j] - given.first[j]).abs() < 5e-3,
                "{own:?} {given:?}"
            );
            assert!((own.total[j] - given.total[j]).abs() < 5e-3);
        }
        assert!(own.first[1] > 0.8, "{own:?}");
        // Even in the logarithm it is the other way round.
        let log = Space::new(vec![Input {
            name: "x1".into(),
            range: Range::Log {
                low: model.domain()[0][0].max(1.0),
                high: model.domain()[0][1],
            },
        }]);
        let log = Ranges::within(&model, &log.unwrap()).unwrap();
        let log = model.sensitivity_over(0, log.factors(), &|_| ()).unwrap();
        assert!(log.first[0] > 0.8, "{log:?}");
    }
}
