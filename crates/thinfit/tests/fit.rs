//! Whole fits: the same bytes for any number of threads and after a resume, bad data as errors, no lost files.

#![allow(clippy::unwrap_used)] // also in the helpers, which are tests too

mod common;

use common::{data, run, small};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use thinfit::{
    Activation, Config, Control, Dataset, Error, Interval, Keep, Lambda, Mat, Model, Phase, Polish,
    Precision, State, Training, Warp, fit, resume,
};

fn scratch(name: &str) -> PathBuf {
    let folder =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

const TRAININGS: [Training; 4] = [
    Training::Random,
    Training::Direct,
    Training::Generative,
    Training::Refined,
];

#[test]
fn every_method_and_activation_learns_more_than_the_mean() {
    let data = data(120);
    for training in TRAININGS {
        for activation in Activation::ALL {
            let model = run(&data, &small(training, activation)).unwrap();
            let record = &model.record;
            assert!(
                record.validation_mse[0] < 0.2 * record.validation_variance[0],
                "{training:?} {activation:?}: {:?} against {:?}",
                record.validation_mse,
                record.validation_variance
            );
        }
    }
}

#[test]
fn one_and_two_threads_give_the_same_bytes() {
    // Enough rows for several groups and enough features for several chunks.
    let data = data(700);
    for (training, lambda) in [
        (Training::Refined, Lambda::Fixed(1e-3)),
        (Training::Generative, Lambda::Auto),
    ] {
        let polish = Polish {
            steps: 3,
            ..Config::fast().polish
        };
        let config = |threads| Config {
            polish: polish.clone(),
            width: 140,
            threads,
            lambda,
            ..small(training, Activation::Fourier)
        };
        let one = run(&data, &config(1)).unwrap().to_json();
        assert_eq!(
            one,
            run(&data, &config(2)).unwrap().to_json(),
            "{training:?}"
        );
        assert_eq!(
            one,
            run(&data, &config(3)).unwrap().to_json(),
            "{training:?}"
        );
    }
}

#[test]
fn a_run_that_is_stopped_and_resumed_gives_the_same_bytes() {
    let data = data(90);
    let path = scratch("resume").join("state.json");
    for (training, lambda) in TRAININGS
        .map(|training| (training, 1e-3))
        .into_iter()
        .chain([(Training::Refined, -1.0)])
    {
        let lambda = if lambda < 0.0 {
            Lambda::Auto
        } else {
            Lambda::Fixed(lambda)
        };
        for precision in [Precision::F32, Precision::F64] {
            let mut config = Config {
                lambda,
                ..small(training, Activation::Sigmoid)
            };
            config.generator.precision = precision;
            let whole = run(&data, &config).unwrap().to_json();
            for at in [1, 13, 30, 44] {
                let calls = Mutex::new(0);
                let stopped = fit(&data, &config, &|progress| {
                    let mut calls = calls.lock().unwrap();
                    *calls += 1;
                    if *calls == at {
                        progress.state().unwrap().save(&path).unwrap();
                    }
                    if *calls >= at {
                        Control::Stop
                    } else {
                        Control::Continue
                    }
                });
                if *calls.lock().unwrap() < at {
                    continue;
                }
                let stopped = stopped.unwrap();
                assert!(stopped.record.stopped);
                let model =
                    resume(&data, State::load(&path).unwrap(), &|_| Control::Continue).unwrap();
                assert_eq!(
                    model.to_json(),
                    whole,
                    "{training:?} {precision:?} {lambda:?} stopped at {at}"
                );
            }
        }
    }
}

#[test]
fn a_gft_fit_saved_at_its_end_goes_on_as_gft_r() {
    let data = data(90);
    let config = Config {
        keep: Keep::Last,
        ..small(Training::Generative, Activation::Fourier)
    };
    let state = Mutex::new(None);
    fit(&data, &config, &|progress| {
        if progress.step == progress.steps && progress.phase != Phase::Polish {
            *state.lock().unwrap() = progress.state();
        }
        Control::Continue
    })
    .unwrap();
    let state = state.into_inner().unwrap().unwrap().refined().unwrap();
    let continued = resume(&data, state, &|_| Control::Continue).unwrap();
    let whole = run(
        &data,
        &Config {
            training: Training::Refined,
            ..config
        },
    )
    .unwrap();
    assert_eq!(continued.to_json(), whole.to_json());
}

#[test]
fn a_state_refuses_other_data() {
    let config = small(Training::Direct, Activation::Fourier);
    let state = Mutex::new(None);
    fit(&data(60), &config, &|progress| {
        *state.lock().unwrap() = progress.state();
        Control::Stop
    })
    .unwrap();
    let state = state.into_inner().unwrap().unwrap();
    let error = resume(&data(61), state, &|_| Control::Continue).unwrap_err();
    assert!(matches!(error, Error::Format { .. }), "{error}");
}

#[test]
fn a_saved_model_predicts_the_same_to_the_last_bit() {
    let (data, folder) = (data(80), scratch("save"));
    for activation in Activation::ALL {
        let model = run(&data, &small(Training::Refined, activation)).unwrap();
        let path = folder.join("model.json");
        model.save(&path).unwrap();
        let loaded = Model::load(&path).unwrap();
        assert_eq!(loaded, model);
        assert_eq!(
            loaded.predict(data.x.as_ref()).unwrap(),
            model.predict(data.x.as_ref()).unwrap()
        );
        assert_eq!(
            std::fs::read_dir(&folder).unwrap().count(),
            1,
            "a temporary file was left"
        );
    }
}

#[test]
fn a_file_that_is_no_model_is_a_clear_error() {
    let model = run(&data(60), &small(Training::Random, Activation::Tanh)).unwrap();
    let text = model.to_json();
    let read = |text: &str| {
        <Model>::from_json(text, Path::new("m.json"))
            .unwrap_err()
            .to_string()
    };
    let cases = [
        (text[..text.len() / 2].to_owned(), "a truncated file"),
        (String::new(), "a truncated file"),
        ("not a model".into(), "not JSON"),
        ("{\"a\": 1}".into(), "without a format"),
        (text.replace("thinfit/1", "thinfit/2"), "update thinfit"),
        (text.replace("thinfit/1", "other/1"), "format `other/1`"),
        (
            text.replacen("\"hidden\":[[", "\"hidden\":[[1.0,", 1),
            "expected rows of 4 numbers, found 3 in row 1",
        ),
        (
            text.replacen("\"hidden\":[[", "\"hidden\":[[1.0,2.0,3.0],[", 1),
            "output weights that do not fit the width",
        ),
        (
            text.replacen("\"inputs\":[", "\"inputs\":[\"x0\",", 1),
            "ranges that do not fit the inputs",
        ),
    ];
    for (text, expected) in cases {
        let error = read(&text);
        assert!(
            error.starts_with("m.json: expected a model of format `thinfit/1`"),
            "{error}"
        );
        assert!(error.contains(expected), "{error}");
    }
    assert!(matches!(
        Model::load("no/such/file").unwrap_err(),
        Error::Io { .. }
    ));
}

#[test]
fn a_model_that_cannot_be_written_leaves_the_old_one() {
    let folder = scratch("keep");
    let model = run(&data(60), &small(Training::Random, Activation::Fourier)).unwrap();
    let path = folder.join("folder-in-the-way");
    std::fs::create_dir_all(path.join("full")).unwrap();
    assert!(matches!(
        model.save(&path).unwrap_err(),
        Error::Io {
            action: "write",
            ..
        }
    ));
    assert!(path.join("full").exists());
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
}

/// The same weights, with the first input warped.
fn with_warp(model: &Model) -> Model {
    let mut warped = model.clone();
    let warp = Warp {
        centre: 0.4,
        width: 0.3,
    };
    warped.input_scaler.warp = vec![Some(warp), None];
    warped
}

#[test]
fn a_file_keeps_the_warp_of_an_input() {
    let data = data(60);
    let plain = run(&data, &small(Training::Random, Activation::Tanh)).unwrap();
    assert!(!plain.to_json().contains("warp"));
    let warped = with_warp(&plain);
    let read = <Model>::from_json(&warped.to_json(), Path::new("warped")).unwrap();
    assert_eq!(read, warped);
    let f = |model: &Model| model.predict(data.x.as_ref()).unwrap();
    assert!(f(&read) == f(&warped) && f(&read) != f(&plain));
    // Standard deviations see the warped inputs, too: the plain model has those of the warped rows.
    let bent = Mat::from_fn(60, 2, |i, j| warped.input_scaler.warped(j, data.x[(i, j)]));
    let deviation = |model: &Model, x: &Mat<f64>| model.deviation(x.as_ref()).unwrap().model;
    let difference = deviation(&warped, &data.x) - deviation(&plain, &bent);
    assert!(difference.norm_max() < 1e-14);
    let mut spoilt = plain;
    spoilt.output_scaler.warp = vec![warped.input_scaler.warp[0]];
    let error = <Model>::from_json(&spoilt.to_json(), Path::new("m")).unwrap_err();
    assert!(error.to_string().contains("an output scaling"), "{error}");
}

#[test]
fn gradient_equals_differences_of_predict() {
    let data = data(100);
    let of = |activation| run(&data, &small(Training::Refined, activation)).unwrap();
    let plain = Activation::ALL.map(|activation| (activation, of(activation)));
    let warped = plain.clone().map(|(a, model)| (a, with_warp(&model)));
    for (activation, model) in plain.iter().chain(&warped) {
        let x = Mat::from_fn(5, 2, |i, j| 0.13 + 0.17 * i as f64 + 0.05 * j as f64);
        let gradient = model.gradient(x.as_ref(), 0).unwrap();
        for j in 0..2 {
            let h = 1e-5;
            let shifted =
                |s: f64| Mat::from_fn(5, 2, |i, k| x[(i, k)] + if k == j { s * h } else { 0.0 });
            let difference = model.predict(shifted(1.0).as_ref()).unwrap()
                - model.predict(shifted(-1.0).as_ref()).unwrap();
            for i in 0..5 {
                let numeric = difference[(i, 0)] / (2.0 * h);
                // A ReLU has kinks, and one may lie between the two points.
                let tolerance = if *activation == Activation::Relu {
                    0.2
                } else {
                    1e-5
                };
                assert!(
                    (gradient[(i, j)] - numeric).abs() < tolerance,
                    "{activation:?} {i} {j}: {numeric}"
                );
            }
        }
    }
}

#[test]
fn several_outputs_share_the_features_and_keep_their_units() {
    let base = data(150);
    let y = Mat::from_fn(150, 2, |i, o| {
        if o == 0 {
            base.y[(i, 0)]
        } else {
            1e6 + 1e3 * base.y[(i, 0)]
        }
    });
    let both = Dataset::new(base.x.clone(), y).unwrap();
    let model = run(&both, &small(Training::Refined, Activation::Fourier)).unwrap();
    let f = model.predict(base.x.as_ref()).unwrap();
    let gradients = [0, 1].map(|o| model.gradient(base.x.as_ref(), o).unwrap());
    for i in 0..150 {
        assert!(
            (f[(i, 1)] - (1e6 + 1e3 * f[(i, 0)])).abs() < 1e-4,
            "row {i}"
        );
        assert!(
            (gradients[1][(i, 0)] - 1e3 * gradients[0][(i, 0)]).abs() < 1e-2,
            "row {i}"
        );
    }
    let Interval { low, high, .. } = model.interval(base.x.as_ref(), 0.9).unwrap();
    assert!((0..150).all(|i| low[(i, 1)] <= f[(i, 1)] && f[(i, 1)] <= high[(i, 1)]));
}

#[test]
fn intervals_grow_with_their_level() {
    let mut noisy = data(200);
    for i in 0..200 {
        noisy.y[(i, 0)] += 0.1 * (((i * 7919) % 211) as f64 / 105.0 - 1.0);
    }
    let model = run(&noisy, &small(Training::Random, Activation::Fourier)).unwrap();
    let width = |level: f64| {
        let Interval { low, high, .. } = model.interval(noisy.x.as_ref(), level).unwrap();
        high[(0, 0)] - low[(0, 0)]
    };
    assert!(0.0 < width(0.5) && width(0.5) < width(0.9) && width(0.9) < width(0.999));
    let deviation = model.deviation(noisy.x.as_ref()).unwrap();
    assert!((0..200).all(|i| deviation.model[(i, 0)] < deviation.observation[(i, 0)]));
    assert!(matches!(
        model.interval(noisy.x.as_ref(), 1.0),
        Err(Error::Config { field: "level", .. })
    ));
}

#[test]
fn bad_data_and_bad_configurations_are_errors_with_a_place() {
    let config = small(Training::Refined, Activation::Fourier);
    let x = |m: usize, d: usize| Mat::from_fn(m, d, |i, j| (i + j) as f64);
    let cases = [
        (Dataset::new(x(0, 2), x(0, 1)), "at least 1 samples"),
        (Dataset::new(x(5, 0), x(5, 1)), "at least 1 inputs"),
        (Dataset::new(x(5, 2), x(5, 0)), "at least 1 outputs"),
        (
            Dataset::new(x(5, 2), x(4, 1)),
            "expected 5 rows, as in x, found 4 rows",
        ),
        (
            Dataset::new(x(5, 2), Mat::from_fn(5, 1, |i, _| 1.0 / (i as f64 - 2.0))),
            "y has the value inf at row 2, column 0",
        ),
        (
            Dataset::new(Mat::from_fn(5, 2, |_, _| 1e300), x(5, 1)),
            "beyond 1e150",
        ),
        (
            Dataset::new(x(5, 2), x(5, 1)).and_then(|d| d.with_weights(vec![1.0; 4])),
            "expected 5 values, found 4",
        ),
        (
            Dataset::new(x(5, 2), x(5, 1)).and_then(|d| d.with_weights(vec![-1.0; 5])),
            "row 0 has the weight -1",
        ),
        (
            Dataset::new(x(5, 2), x(5, 1)).and_then(|d| d.with_weights(vec![0.0; 5])),
            "all are zero",
        ),
        (
            Dataset::new(x(5, 2), x(5, 1)).and_then(|d| d.with_names(vec![], vec![])),
            "expected 2 names",
        ),
    ];
    for (result, expected) in cases {
        let error = result.unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    for m in 1..4 {
        let error = run(&Dataset::new(x(m, 2), x(m, 1)).unwrap(), &config).unwrap_err();
        assert!(matches!(error, Error::TooFew { needed: 4, .. }), "{error}");
    }
    let mut broken = data(20);
    broken.y[(3, 0)] = f64::NAN;
    assert!(matches!(
        run(&broken, &config).unwrap_err(),
        Error::NotFinite {
            what: "y",
            row: 3,
            column: 0,
            ..
        }
    ));
    let error = run(
        &data(20),
        &Config {
            width: 0,
            ..config.clone()
        },
    )
    .unwrap_err();
    assert!(
        matches!(error, Error::Config { field: "width", .. }),
        "{error}"
    );
    let model = run(&data(40), &config).unwrap();
    assert!(matches!(
        model.predict(x(3, 5).as_ref()),
        Err(Error::Shape { .. })
    ));
    assert!(matches!(
        model.gradient(x(3, 2).as_ref(), 1),
        Err(Error::Shape { .. })
    ));
    assert_eq!(model.predict(x(0, 2).as_ref()).unwrap().nrows(), 0);
}

#[test]
fn odd_data_are_fitted_all_the_same() {
    let base = data(60);
    let pick = |f: &dyn Fn(usize, usize) -> f64| Mat::from_fn(60, 3, f);
    let cases: [(&str, Mat<f64>, Mat<f64>); 7] = [
        (
            "constant column",
            pick(&|i, j| if j == 2 { 4.2 } else { base.x[(i, j)] }),
            base.y.clone(),
        ),
        (
            "duplicate columns",
            pick(&|i, _| base.x[(i, 0)]),
            base.y.clone(),
        ),
        ("all inputs constant", pick(&|_, _| 1.0), base.y.clone()),
        (
            "constant target",
            pick(&|i, j| base.x[(i, j % 2)]),
            Mat::from_fn(60, 1, |_, _| 7.5),
        ),
        (
            "huge values",
            pick(&|i, j| 1e12 * base.x[(i, j % 2)]),
            Mat::from_fn(60, 1, |i, _| 1e12 * base.y[(i, 0)]),
        ),
        (
            "tiny values",
            pick(&|i, j| 1e-12 * base.x[(i, j % 2)]),
            Mat::from_fn(60, 1, |i, _| 1e-12 * base.y[(i, 0)]),
        ),
        (
            "duplicate rows",
            pick(&|i, j| base.x[(i % 5, j % 2)]),
            Mat::from_fn(60, 1, |i, _| base.y[(i % 5, 0)]),
        ),
    ];
    for (name, x, y) in cases {
        for activation in Activation::ALL {
            for scaling in [
                thinfit::Scaling::Box,
                thinfit::Scaling::Standard,
                thinfit::Scaling::None,
            ] {
                let config = Config {
                    scaling,
                    ..small(Training::Refined, activation)
                };
                let data = Dataset::new(x.clone(), y.clone()).unwrap();
                let model = match run(&data, &config) {
                    Ok(model) => model,
                    // Without scaling, features of inputs of 1e12 may leave the finite range; that is an error value.
                    Err(Error::Diverged { .. }) if scaling == thinfit::Scaling::None => continue,
                    Err(error) => panic!("{name} {activation:?} {scaling:?}: {error}"),
                };
                let f = model.predict(x.as_ref()).unwrap();
                assert!(
                    (0..60).all(|i| f[(i, 0)].is_finite()),
                    "{name} {activation:?} {scaling:?}"
                );
                if name == "constant target" && scaling != thinfit::Scaling::None {
                    assert!(
                        (0..60).all(|i| (f[(i, 0)] - 7.5).abs() < 1e-9),
                        "{name} {activation:?}"
                    );
                }
            }
        }
    }
}
