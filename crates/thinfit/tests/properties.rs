//! No public function panics or returns NaN, whatever finite or invalid numbers it is given.

#![allow(clippy::unwrap_used)] // in helpers, which are tests too

use proptest::prelude::*;
use std::path::Path;
use thinfit::{
    Activation, Column, Config, Control, Dataset, Encoding, Form, GeneratorConfig, Interval,
    Lambda, Levels, Mat, Model, OutputWeights, Polish, Precision, Ridge, Scaling, Schedule,
    Training, Variation, fit,
};

/// Numbers of all sizes, often equal, sometimes broken.
fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        60 => -1.0..1.0f64,
        20 => Just(0.0),
        20 => Just(1.0),
        10 => -1e12..1e12f64,
        10 => -1e-12..1e-12f64,
        1 => any::<f64>(),
    ]
}

fn table(rows: usize, columns: usize) -> impl Strategy<Value = Mat<f64>> {
    proptest::collection::vec(number(), rows * columns)
        .prop_map(move |values| Mat::from_fn(rows, columns, |i, j| values[i * columns + j]))
}

fn data() -> impl Strategy<Value = (Mat<f64>, Mat<f64>, Option<Vec<f64>>)> {
    (0..14usize, 0..4usize, 0..3usize).prop_flat_map(|(m, d, c)| {
        let weights = proptest::option::of(proptest::collection::vec(number(), m));
        (table(m, d), table(m, c), weights)
    })
}

fn config() -> impl Strategy<Value = Config> {
    let choices = (
        prop::sample::select(Activation::ALL.to_vec()),
        prop::sample::select(vec![
            Training::Random,
            Training::Direct,
            Training::Generative,
            Training::Refined,
        ]),
        prop::sample::select(vec![Scaling::None, Scaling::Box, Scaling::Standard]),
        prop::sample::select(Variation::ALL.to_vec()),
        prop::sample::select(vec![Form::Complex, Form::Real]),
        prop::sample::select(vec![
            Ridge::Absolute(0.0),
            Ridge::Absolute(1e-7),
            Ridge::Relative(1e-11),
        ]),
        prop::sample::select(vec![Lambda::Fixed(0.0), Lambda::Fixed(0.5), Lambda::Auto]),
        (0..6usize, 0..4usize, 0..3usize, any::<u64>(), -0.1..0.9f64),
    );
    choices.prop_map(
        |(activation, training, scaling, variation, form, ridge, lambda, numbers)| {
            let (width, steps, polish, seed, validation) = numbers;
            let schedule = Schedule { steps, rate: 0.1 };
            Config {
                training,
                activation,
                width,
                seed,
                threads: 1,
                scaling,
                ridge,
                lambda,
                variation,
                points: 5,
                generator: GeneratorConfig {
                    hidden: vec![4],
                    precision: Precision::F32,
                },
                generate: schedule,
                refine: schedule,
                direct: schedule,
                validation,
                check_every: 2,
                polish: Polish {
                    steps: polish,
                    form,
                    ..Config::fast().polish
                },
                ..Config::fast()
            }
        },
    )
}

fn is_finite(a: &Mat<f64>) -> bool {
    (0..a.ncols()).all(|j| a.col_as_slice(j).iter().all(|v| v.is_finite()))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_fit_is_a_model_of_finite_numbers_or_an_error((x, y, weights) in data(), config in config(), at in table(3, 2)) {
        let data = Dataset::new(x, y).and_then(|data| match weights {
            Some(weights) => data.with_weights(weights),
            None => Ok(data),
        });
        let Ok(data) = data else { return Ok(()) };
        let Ok(model) = fit(&data, &config, &|_| Control::Continue) else { return Ok(()) };
        let f = model.predict(data.x.as_ref()).unwrap();
        prop_assert!(is_finite(&f));
        prop_assert!(is_finite(&model.gradient(data.x.as_ref(), 0).unwrap()));
        let deviation = model.deviation(data.x.as_ref()).unwrap();
        prop_assert!(is_finite(&deviation.model) && is_finite(&deviation.observation));
        let Interval { low, high, .. } = model.interval(data.x.as_ref(), 0.9).unwrap();
        // Too few rows held out for the level make all bounds infinite.
        let infinite = |bounds: &Mat<f64>, sign: f64| bounds.col_iter().any(|column| column[0] == sign * f64::INFINITY);
        prop_assert!(is_finite(&low) && is_finite(&high) || infinite(&low, -1.0) && infinite(&high, 1.0));
        prop_assert!(low.col_iter().chain(high.col_iter()).all(|column| column.iter().all(|v| !v.is_nan())));
        let loaded = <Model>::from_json(&model.to_json(), Path::new("model"));
        prop_assert_eq!(loaded.unwrap(), model.clone());
        if let Ok(f) = model.predict(at.as_ref()) {
            prop_assert!(is_finite(&f));
        }
    }

    #[test]
    fn output_weights_are_finite_or_an_error((x, y, weights) in data(), w in table(3, 3), eps in proptest::option::of(0.0..1.0f64)) {
        let data = Dataset::new(x, y).and_then(|data| match weights {
            Some(weights) => data.with_weights(weights),
            None => Ok(data),
        });
        let Ok(data) = data else { return Ok(()) };
        for activation in Activation::ALL {
            for form in [Form::Complex, Form::Real] {
                if let Ok(solved) = OutputWeights::solve(&data, activation, form, w.as_ref(), eps) {
                    prop_assert!(is_finite(&solved.weights) && is_finite(&solved.fitted) && is_finite(&solved.leave_one_out));
                }
            }
        }
    }

    #[test]
    fn any_text_is_a_model_or_an_error(text in "\\PC*") {
        let _ = <Model>::from_json(&text, Path::new("model"));
    }

    #[test]
    fn any_text_is_encoded_by_the_rules_found_from_it(
        levels in prop::collection::hash_set("[-<>0-9.,:/ +%eTZmJan°é]{0,10}", 1..6),
        cells in prop::collection::vec(0..6usize, 1..40),
        levels_are in prop::sample::select(vec![Levels::Found, Levels::Categories, Levels::Ordered]),
    ) {
        let levels: Vec<String> = levels.into_iter().collect();
        let codes: Vec<f64> = cells.iter().map(|cell| (cell % levels.len()) as f64).collect();
        let column = Column::Text { levels: &levels, codes: &codes, levels_are };
        let encoding = Encoding::learn(&["c".into()], &[column], false);
        prop_assert!(encoding.inputs().len() <= levels.len());
        match encoding.apply(&[column]) {
            Ok(x) => prop_assert!(is_finite(&x) && x.ncols() == encoding.inputs().len()),
            // Only a column that is taken for one of numbers can hold what its encoding does not know.
            Err(_) => prop_assert!(encoding.is_plain()),
        }
    }
}

/// Cuts and changes of a real file, which reach deeper than random text.
#[test]
fn a_damaged_model_is_an_error_or_still_a_model() {
    let x = Mat::from_fn(12, 1, |i, _| i as f64);
    let config = Config {
        width: 2,
        generate: Schedule {
            steps: 1,
            rate: 1e-3,
        },
        ..Config::fast()
    };
    let config = Config {
        training: Training::Generative,
        polish: Polish {
            steps: 0,
            ..config.polish
        },
        ..config
    };
    let model = fit(
        &Dataset::new(x.clone(), x.clone()).unwrap(),
        &config,
        &|_| Control::Continue,
    )
    .unwrap();
    let text = model.to_json();
    for cut in 0..text.len() {
        assert!(<Model>::from_json(&text[..cut], Path::new("model")).is_err());
        for byte in ["9", "-", "]", "\"", "e"] {
            let changed = format!("{}{byte}{}", &text[..cut], &text[cut + 1..]);
            if let Ok(model) = <Model>::from_json(&changed, Path::new("model")) {
                if let Ok(f) = model.predict(x.as_ref()) {
                    assert!(is_finite(&f), "NaN from a damaged model");
                }
                if let Ok(Interval { low, high, .. }) = model.interval(x.as_ref(), 0.5) {
                    assert!(
                        is_finite(&low) && is_finite(&high),
                        "NaN from a damaged model"
                    );
                }
            }
        }
    }
}
