//! Jumps and bends in the default fit: located, fitted sharply, and not found in smooth functions.

#![allow(clippy::unwrap_used)] // also in the helpers, which are tests too

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;
use thinfit::{Control, Dataset, Mat};
use thinfit_methods::{
    Auto, Crossing, FoundEdge, GaussianProcess, KernelModel, Method, Predictor, Shape,
};

type Function = fn(&[f64]) -> f64;

/// m rows with x1 from 10 to 30 and x2, x3 from 0 to 1; `f` is given x1 on the scale from 0 to 1.
fn draw(f: Function, m: usize, noise: f64, seed: u64) -> Dataset {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let x = Mat::from_fn(m, 3, |_, _| rng.random::<f64>());
    let y = Mat::from_fn(m, 1, |i, _| {
        let row: Vec<f64> = x.row(i).iter().copied().collect();
        f(&row) + noise * rng.sample::<f64, _>(StandardNormal)
    });
    let x = Mat::from_fn(m, 3, |i, j| match j {
        0 => 10.0 + 20.0 * x[(i, j)],
        _ => x[(i, j)],
    });
    Dataset::new(x, y).unwrap()
}

fn error(f: Function, model: &Predictor) -> f64 {
    let fresh = draw(f, 1000, 0.0, 99);
    let error = model.predict(fresh.x.as_ref()).unwrap() - &fresh.y;
    error.squared_norm_l2() / 1000.0
}

fn fit(method: Method, data: &Dataset) -> Predictor {
    method.fit(data, 1, &|_| Control::Continue).unwrap()
}

fn auto(data: &Dataset) -> Predictor {
    fit(
        Method::Auto(Auto {
            budget: 3.0,
            ..Auto::default()
        }),
        data,
    )
}

/// The smallest error of the plain processes.
fn plain(f: Function, data: &Dataset) -> f64 {
    let errors = [Shape::Gaussian, Shape::Matern52].map(|kernel| {
        let settings = GaussianProcess {
            kernel,
            ..GaussianProcess::default()
        };
        error(f, &fit(Method::GaussianProcess(settings), data))
    });
    errors[0].min(errors[1])
}

fn kernel(model: &Predictor) -> &KernelModel {
    match model {
        Predictor::Kernel(model) => model,
        Predictor::Network(_) => panic!("a process was expected"),
    }
}

fn edges(model: &Predictor) -> Vec<FoundEdge> {
    kernel(model).body.edges(kernel(model))
}

#[test]
fn a_step_in_one_input_is_found_in_the_units_of_the_data() {
    let f: Function = |x| (3.0 * x[1]).sin() + 2.0 * f64::from(u8::from(x[0] > 0.6));
    let data = draw(f, 120, 0.05, 3);
    let model = auto(&data);
    let [edge] = &edges(&model)[..] else {
        panic!("{:?}", edges(&model));
    };
    assert_eq!(edge.crossing, Crossing::Jump);
    let place = edge.place.strip_prefix("x1 passes ").expect(&edge.place);
    let place: f64 = place.parse().unwrap();
    assert!((place - 22.0).abs() < 0.5, "{edge:?}");
    let [low, height, high] = edge.height.unwrap();
    assert!(
        (1.9..2.1).contains(&height) && high - low < 0.3 * height,
        "{edge:?}"
    );
    let (own, plain) = (error(f, &model), plain(f, &data));
    assert!(own < 0.4 * plain, "{own:.2e} and {plain:.2e}");
}

#[test]
fn a_slanted_step_is_found() {
    let f: Function = |x| x[2] * x[2] + 2.0 * f64::from(u8::from(x[0] + 0.7 * x[1] > 0.8));
    let data = draw(f, 150, 0.05, 4);
    let model = auto(&data);
    let edges = &kernel(&model).body.kernel.edges;
    assert_eq!(edges.len(), 1, "{edges:?}");
    // All ranges are one in scaled inputs.
    let v = &edges[0].direction;
    assert!(
        (v[1] / v[0] - 0.7).abs() < 0.1 && (v[2] / v[0]).abs() < 0.1,
        "{v:?}"
    );
    let (own, plain) = (error(f, &model), plain(f, &data));
    assert!(own < 0.4 * plain, "{own:.2e} and {plain:.2e}");
}

#[test]
fn a_bend_is_found() {
    let f: Function = |x| (x[0] + x[1] - 1.0).abs() + 0.5 * x[2];
    let data = draw(f, 100, 0.0, 5);
    let model = auto(&data);
    let bends =
        |edge: &FoundEdge| edge.crossing == Crossing::Bend && edge.place.starts_with("x1 + ");
    assert!(edges(&model).iter().any(bends), "{:?}", edges(&model));
    let (own, plain) = (error(f, &model), plain(f, &data));
    assert!(own < 0.1 * plain, "{own:.2e} and {plain:.2e}");
}

#[test]
fn smooth_functions_have_no_edges() {
    for (f, noise) in [
        (
            (|x| (4.0 * x[0] + 2.0 * x[1]).sin() + x[2]) as Function,
            0.0,
        ),
        (|x| (4.0 * x[0] * x[1]).sin() + x[2] * x[2], 0.1),
        (|x| (1.0 + x[1]) / (0.1 + x[0]) + x[2], 0.0),
    ] {
        let model = auto(&draw(f, 80, noise, 6));
        if let Predictor::Kernel(model) = &model {
            assert_eq!(model.body.edges(model), []);
        }
    }
}
