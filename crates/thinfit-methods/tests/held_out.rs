//! Predictions of rows that a model was fitted to.

#![allow(clippy::unwrap_used)] // also in the helpers, which are tests too

use thinfit::{Control, Dataset, Mat};
use thinfit_methods::{Auto, GaussianProcess, KernelRidge, Method, Predictor, Salsa, Seen};

fn data() -> Dataset {
    let x = Mat::from_fn(40, 2, |i, j| ((i * (7 + 4 * j)) % 41) as f64 / 41.0);
    let noise = |i: usize| ((i * 29) % 37) as f64 / 100.0;
    let y = Mat::from_fn(40, 1, |i, _| (6.0 * x[(i, 0)]).sin() + x[(i, 1)] + noise(i));
    Dataset::new(x, y).unwrap()
}

fn fitted(name: &str) -> Predictor {
    let method = Method::named(name).unwrap();
    let quick =
        serde_json::json!({ "budget": 0.5, "generate": { "steps": 5 }, "refine": { "steps": 5 } });
    let known = quick.as_object().unwrap().iter();
    let known = known.filter(|(key, _)| method.has(key));
    let known = known.map(|(key, value)| (key.clone(), value.clone()));
    let method = method.changed(&known.collect()).unwrap();
    method.fit(&data(), 3, &|_| Control::Continue).unwrap()
}

fn square(a: &Mat<f64>, b: &Mat<f64>) -> f64 {
    (a - b).squared_norm_l2() / a.nrows() as f64
}

#[test]
fn rows_of_the_fit_are_predicted_by_models_that_had_not_seen_them() {
    let data = data();
    for name in [
        Auto::NAME,
        GaussianProcess::NAME,
        Salsa::NAME,
        KernelRidge::NAMES[1],
    ] {
        let model = fitted(name);
        let all = model.held_out(data.x.as_ref(), data.y.as_ref()).unwrap();
        assert_eq!(all.seen, Seen::LeftOut(40), "{name}");
        let own = model.predict(data.x.as_ref()).unwrap();
        let (honest, own) = (square(&all.predicted, &data.y), square(&own, &data.y));
        assert!(honest > own, "{name}: {honest} {own}");
        // But for salsa, whose error is that of larger folds, it is the error that the record states.
        let stated = model.record().validation_mse[0];
        let close = (honest / stated - 1.0).abs() < 1e-3;
        assert!(
            close || [Salsa::NAME, GaussianProcess::NAME].contains(&name),
            "{name}: {honest} {stated}"
        );
        // A part in another order, with a row that was not there.
        let mut part = data.rows(&[9, 2, 5]);
        part.y[(1, 0)] += 0.5;
        let some = model.held_out(part.x.as_ref(), part.y.as_ref()).unwrap();
        assert_eq!(some.seen, Seen::LeftOut(2), "{name}");
        assert_eq!(some.predicted[(0, 0)], all.predicted[(9, 0)]);
        let f = model.predict(part.x.as_ref()).unwrap();
        assert_eq!(some.predicted[(1, 0)], f[(1, 0)]);
        assert_eq!(some.predicted[(2, 0)], all.predicted[(5, 0)]);
    }
}

#[test]
fn of_an_older_file_the_points_of_kernels_tell_and_networks_nothing() {
    let data = data();
    for (name, expected) in [
        ("gaussian-process", Seen::LeftOut(40)),
        ("gft-r", Seen::Perhaps),
    ] {
        let mut model = fitted(name);
        model.record_mut().rows = None;
        let all = model.held_out(data.x.as_ref(), data.y.as_ref()).unwrap();
        assert_eq!(all.seen, expected);
    }
    let model = fitted("gft-r");
    let all = model.held_out(data.x.as_ref(), data.y.as_ref()).unwrap();
    assert_eq!(all.seen, Seen::Fitted(40));
    assert!(all.seen.flatters());
    let other = Mat::from_fn(40, 1, |i, _| data.y[(i, 0)] + 1.0);
    let held_out = |name: &str| {
        fitted(name)
            .held_out(data.x.as_ref(), other.as_ref())
            .unwrap()
    };
    assert_eq!(held_out("gft-r").seen, Seen::New);
    assert_eq!(held_out("gaussian-process").seen, Seen::Inputs(40));
}
