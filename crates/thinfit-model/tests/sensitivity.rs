//! Sensitivity indices compared with tensor quadrature of the same model, with functions of known indices, and with
//! general identities.

#![allow(clippy::unwrap_used)] // also in the helpers, which are tests too

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};
use std::f64::consts::PI;
use std::path::Path;
use thinfit::{Activation, Config, Control, Dataset, Mat, Model, Polish, Training, fit};

use thinfit_model::{NetworkSensitivity, Sensitivity};

/// A model with the given weights, on the box [−½, ½]^d unless it is changed later.
fn network(activation: Activation, hidden: Vec<Vec<f64>>, output: Vec<f64>) -> Model {
    let (n, d) = (
        hidden.len(),
        hidden[0].len() - usize::from(activation.has_bias()),
    );
    let config = Config {
        training: Training::Random,
        activation,
        width: n,
        threads: 1,
        polish: Polish {
            steps: 0,
            ..Config::fast().polish
        },
        ..Config::fast()
    };
    let x = Mat::from_fn(20, d, |i, j| ((i * (3 + j) + j) % 20) as f64);
    let y = Mat::from_fn(20, 1, |i, _| i as f64);
    let made = fit(&Dataset::new(x, y).unwrap(), &config, &|_| {
        Control::Continue
    })
    .unwrap();
    edited(&made, |model| {
        model["body"]["hidden"] = json!(hidden);
        model["body"]["output"] = json!(output.iter().map(|&b| [b]).collect::<Vec<_>>());
        model["domain"] = json!(vec![[-0.5, 0.5]; d]);
        model["input_scaler"] = json!({ "shift": vec![0.0; d], "scale": vec![1.0; d] });
        model["output_scaler"] = json!({ "shift": [0.0], "scale": [1.0] });
    })
}

fn edited(model: &Model, edit: impl FnOnce(&mut Value)) -> Model {
    let mut value: Value = serde_json::from_str(&model.to_json()).unwrap();
    edit(&mut value);
    Model::from_json(&value.to_string(), Path::new("model")).unwrap()
}

/// Random weights: `size` of the hidden ones, and output weights of size n, so that f is of size 1.
fn random(activation: Activation, n: usize, d: usize, size: f64, seed: u64) -> Model {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut draw = |size: f64| size * (2.0 * rng.random::<f64>() - 1.0);
    let hidden = (0..n)
        .map(|_| (0..activation.weights(d)).map(|_| draw(size)).collect())
        .collect();
    let output = (0..activation.columns(n)).map(|_| draw(n as f64)).collect();
    network(activation, hidden, output)
}

/// Nodes and weights of Gauss and Legendre on [0, 1].
fn gauss(q: usize) -> Vec<(f64, f64)> {
    let legendre = |x: f64| {
        let (mut last, mut p) = (1.0, x);
        for k in 2..=q {
            let k = k as f64;
            (last, p) = (p, ((2.0 * k - 1.0) * x * p - (k - 1.0) * last) / k);
        }
        (p, q as f64 * (x * p - last) / (x * x - 1.0))
    };
    (0..q)
        .map(|i| {
            let mut x = (PI * (i as f64 + 0.75) / (q as f64 + 0.5)).cos();
            for _ in 0..20 {
                let (p, slope) = legendre(x);
                x -= p / slope;
            }
            (0.5 + 0.5 * x, 1.0 / ((1.0 - x * x) * legendre(x).1.powi(2)))
        })
        .collect()
}

/// The indices by their definitions, with all integrals over the q^d points of a tensor rule.
fn quadrature(
    f: impl Fn(&Mat<f64>) -> (Mat<f64>, Mat<f64>),
    domain: &[[f64; 2]],
    q: usize,
) -> Sensitivity {
    let (rule, d) = (gauss(q), domain.len());
    let digit = |i: usize, j: usize| i / q.pow(j as u32) % q;
    let x = Mat::from_fn(q.pow(d as u32), d, |i, j| {
        let [low, high] = domain[j];
        low + (high - low) * rule[digit(i, j)].0
    });
    let (value, slope) = f(&x);
    let weight =
        |i: usize, inputs: &[usize]| inputs.iter().map(|&j| rule[digit(i, j)].1).product::<f64>();
    let all: Vec<usize> = (0..d).collect();
    let mean: f64 = (0..x.nrows())
        .map(|i| weight(i, &all) * value[(i, 0)])
        .sum();
    // Var E[f | these inputs].
    let closed = |inputs: &[usize]| {
        let others: Vec<usize> = all
            .iter()
            .copied()
            .filter(|j| !inputs.contains(j))
            .collect();
        let mut means = vec![0.0; q.pow(inputs.len() as u32)];
        let mut weights = vec![0.0; means.len()];
        for i in 0..x.nrows() {
            let at = inputs.iter().rev().fold(0, |at, &j| at * q + digit(i, j));
            means[at] += weight(i, &others) * (value[(i, 0)] - mean);
            weights[at] = weight(i, inputs);
        }
        means
            .iter()
            .zip(&weights)
            .map(|(m, w)| w * m * m)
            .sum::<f64>()
    };
    let variance = closed(&all);
    let first: Vec<f64> = (0..d).map(|j| closed(&[j]) / variance).collect();
    let without = |j: usize| all.iter().copied().filter(|&k| k != j).collect::<Vec<_>>();
    Sensitivity {
        mean,
        variance,
        total: (0..d)
            .map(|j| 1.0 - closed(&without(j)) / variance)
            .collect(),
        second: Mat::from_fn(d, d, |i, j| match i == j {
            true => 0.0,
            false => closed(&[i.min(j), i.max(j)]) / variance - first[i] - first[j],
        }),
        derivative: (0..d)
            .map(|j| {
                (0..x.nrows())
                    .map(|i| weight(i, &all) * slope[(i, j)].powi(2))
                    .sum()
            })
            .collect(),
        first,
        second_error: 0.0,
        closed_form: true,
    }
}

fn of_model(model: &Model, q: usize) -> Sensitivity {
    let f = |x: &Mat<f64>| {
        (
            model.predict(x.as_ref()).unwrap(),
            model.gradient(x.as_ref(), 0).unwrap(),
        )
    };
    quadrature(f, &model.domain, q)
}

/// The largest difference: of indices as they are, of moments relative to the variance and to the largest derivative.
fn difference(a: &Sensitivity, b: &Sensitivity) -> f64 {
    let largest = b
        .derivative
        .iter()
        .fold(f64::MIN_POSITIVE, |a, &b| a.max(b));
    let scaled = |s: &Sensitivity| s.derivative.iter().map(|v| v / largest).collect::<Vec<_>>();
    let d = a.first.len();
    let pairs = |s: &Sensitivity| {
        (0..d * d)
            .map(|i| s.second[(i / d, i % d)])
            .collect::<Vec<_>>()
    };
    let all = |s: &Sensitivity| {
        let moments = [s.variance / b.variance, s.mean / b.variance.sqrt()];
        [
            s.first.clone(),
            s.total.clone(),
            scaled(s),
            pairs(s),
            moments.to_vec(),
        ]
        .concat()
    };
    all(a)
        .iter()
        .zip(all(b))
        .map(|(a, b)| (a - b).abs())
        .fold(0.0, f64::max)
}

#[test]
fn waves_have_the_indices_of_a_tensor_quadrature() {
    for activation in [Activation::Fourier, Activation::Cosine] {
        for (d, q) in [(1, 24), (2, 24), (3, 20), (4, 14), (5, 10)] {
            for seed in 0..3 {
                let model = random(activation, 7, d, if d < 4 { 0.9 } else { 0.4 }, seed);
                let found = model.sensitivity(0).unwrap();
                let off = difference(&found, &of_model(&model, q));
                assert!(
                    found.closed_form && off < 1e-9,
                    "{activation:?} {d}: {off:e}"
                );
            }
        }
    }
}

#[test]
fn other_activations_are_close_to_a_tensor_quadrature() {
    for (activation, size, tolerance) in [
        (Activation::Sigmoid, 4.0, 1e-3),
        (Activation::Tanh, 1.5, 1e-3),
        (Activation::Relu, 1.0, 3e-3),
    ] {
        for (d, q) in [(1, 60), (2, 60), (3, 30), (4, 14)] {
            for seed in 0..3 {
                let model = random(activation, 7, d, size, seed);
                let (mut found, exact) = (model.sensitivity(0).unwrap(), of_model(&model, q));
                if activation == Activation::Relu {
                    // Its slope jumps, and the quadrature knows where only to 1/q.
                    for (found, exact) in found.derivative.iter_mut().zip(&exact.derivative) {
                        assert!((*found / exact - 1.0).abs() < 2.0 / q as f64);
                        *found = *exact;
                    }
                }
                let off = difference(&found, &exact);
                assert!(
                    !found.closed_form && off < tolerance,
                    "{activation:?} {d}: {off:e}"
                );
            }
        }
    }
}

/// cos(a + b) + cos(a − b) − 2 cos a = −4 cos a sin²(b/2): three waves of size 1/h² make a function of size 1.
fn differences(h: f64) -> (Model, Sensitivity) {
    let (w, v) = ([0.7, -0.4, 0.3], [1.0, 0.6, -0.8]);
    let wave = |sign: f64| (0..3).map(|j| w[j] + sign * h * v[j]).collect::<Vec<f64>>();
    let hidden = vec![wave(1.0), wave(-1.0), wave(0.0)];
    // The weights that are stored are rounded, and the function is the one that is stored.
    let up: Vec<f64> = (0..3).map(|j| hidden[0][j] - hidden[2][j]).collect();
    let size = 3.0 / (h * h);
    let mut output = vec![size, size, -2.0 * size];
    output.extend([0.0; 3]);
    let exact = quadrature(
        |x| {
            let dot =
                |i: usize, w: &[f64]| 2.0 * PI * (0..3).map(|j| x[(i, j)] * w[j]).sum::<f64>();
            let parts = |i: usize| (dot(i, &w), 0.5 * dot(i, &up));
            let value = Mat::from_fn(x.nrows(), 1, |i, _| {
                let (a, b) = parts(i);
                -4.0 * a.cos() * (b.sin() / h).powi(2)
            });
            let slope = Mat::from_fn(x.nrows(), 3, |i, j| {
                let (a, b) = parts(i);
                let (da, db) = (2.0 * PI * w[j], PI * up[j]);
                4.0 / (h * h) * (a.sin() * b.sin() * da - 2.0 * a.cos() * b.cos() * db) * b.sin()
            });
            (value, slope)
        },
        &[[-0.5, 0.5]; 3],
        20,
    );
    (network(Activation::Fourier, hidden, output), exact)
}

#[test]
fn cancellation_costs_no_digits_until_the_closed_form_gives_way() {
    // Powers of two, so that w ± hv are symmetric after rounding too.
    for bits in [2, 5, 8, 11, 14, 17, 20, 22] {
        let (model, exact) = differences(0.5f64.powi(bits));
        let found = model.sensitivity(0).unwrap();
        let cancelled = model.magnitudes().sum() / exact.variance.sqrt();
        let off = difference(&found, &exact);
        let tolerance = match bits {
            i32::MIN..=14 => 1e-13,
            15..=20 => 1e-8,
            _ => 0.02,
        };
        assert!(off < tolerance, "{cancelled:e}: {off:e}");
        assert_eq!(found.closed_form, cancelled < 8e11);
    }
}

#[test]
fn indices_obey_their_laws() {
    for activation in Activation::ALL {
        let slack = if matches!(activation, Activation::Fourier | Activation::Cosine) {
            1e-12
        } else {
            3e-3
        };
        for seed in 0..4 {
            let d = 1 + seed as usize;
            let model = random(activation, 9, d, 1.5, 50 + seed);
            let s = model.sensitivity(0).unwrap();
            for j in 0..d {
                assert!((0.0..=1.0 + slack).contains(&s.first[j]));
                assert!((0.0..=1.0 + slack).contains(&s.total[j]));
                let pairs: f64 = (0..d).map(|i| s.second[(i, j)]).sum();
                assert!(s.first[j] + pairs <= s.total[j] + slack * d as f64);
                let bound = s.derivative[j] / (PI * PI * s.variance);
                assert!(
                    s.total[j] <= bound + slack,
                    "{activation:?} {} {bound}",
                    s.total[j]
                );
            }
            assert!(s.first.iter().sum::<f64>() <= 1.0 + slack * d as f64);
            assert!(s.total.iter().sum::<f64>() >= 1.0 - slack * d as f64);
        }
    }
}

#[test]
fn an_additive_model_has_first_order_indices_only() {
    for activation in Activation::ALL {
        let full = random(activation, 6, 3, 1.0, 5);
        let model = edited(&full, |model| {
            for l in 0..6 {
                for j in 0..3 {
                    if l % 3 != j {
                        model["body"]["hidden"][l][j] = json!(0.0);
                    }
                }
            }
        });
        let s = model.sensitivity(0).unwrap();
        let tolerance = if s.closed_form { 1e-14 } else { 2e-3 };
        assert!(
            (s.first.iter().sum::<f64>() - 1.0).abs() < tolerance,
            "{activation:?}"
        );
        for j in 0..3 {
            assert!((s.first[j] - s.total[j]).abs() < tolerance);
            assert!((0..3).all(|i| s.second[(i, j)] < tolerance));
        }
    }
}

#[test]
fn a_constant_model_and_a_constant_input_have_zero_indices() {
    for activation in Activation::ALL {
        let model = random(activation, 5, 3, 1.0, 3);
        let still = edited(&model, |model| {
            for l in 0..5 {
                for j in 0..3 {
                    model["body"]["hidden"][l][j] = json!(0.0);
                }
            }
        });
        let s = still.sensitivity(0).unwrap();
        assert_eq!(
            (s.variance, &s.first, &s.total),
            (0.0, &vec![0.0; 3], &vec![0.0; 3])
        );
        assert!(s.mean.is_finite() && s.second == Mat::<f64>::zeros(3, 3));

        let s = model
            .sensitivity_on(0, &[[-0.5, 0.5], [0.2, 0.2], [0.0, 1.0]])
            .unwrap();
        assert_eq!((s.first[1], s.total[1]), (0.0, 0.0), "{activation:?}");
        assert!(s.total[0] > 0.0 && s.total[2] > 0.0 && s.derivative[1] > 0.0);
        let point = model.sensitivity_on(0, &[[0.25, 0.25]; 3]).unwrap();
        let at = model.predict(Mat::full(1, 3, 0.25).as_ref()).unwrap();
        assert_eq!((point.variance, &point.total), (0.0, &vec![0.0; 3]));
        assert!((point.mean - at[(0, 0)]).abs() < 1e-12);
    }
}

#[test]
fn inputs_may_change_places() {
    let model = random(Activation::Cosine, 8, 3, 1.0, 11);
    let order = [2, 0, 1];
    let moved = edited(&model, |value| {
        for l in 0..8 {
            for j in 0..3 {
                value["body"]["hidden"][l][j] = json!(model.scaled_hidden()[(l, order[j])]);
            }
        }
    });
    let (a, b) = (model.sensitivity(0).unwrap(), moved.sensitivity(0).unwrap());
    for j in 0..3 {
        assert!((b.first[j] - a.first[order[j]]).abs() < 1e-14);
        assert!((b.total[j] - a.total[order[j]]).abs() < 1e-14);
        for i in 0..3 {
            assert!((b.second[(i, j)] - a.second[(order[i], order[j])]).abs() < 1e-14);
        }
    }
}

#[test]
fn units_change_moments_and_no_index() {
    for activation in Activation::ALL {
        let model = random(activation, 6, 2, 1.0, 21);
        let other = edited(&model, |model| {
            model["input_scaler"] = json!({ "shift": [300.0, -2.0], "scale": [1e3, 0.125] });
            model["domain"] = json!([[-200.0, 800.0], [-2.0625, -1.9375]]);
            model["output_scaler"] = json!({ "shift": [5.0], "scale": [64.0] });
        });
        let (a, b) = (model.sensitivity(0).unwrap(), other.sensitivity(0).unwrap());
        for j in 0..2 {
            assert!((a.first[j] - b.first[j]).abs() < 1e-11);
            assert!((a.total[j] - b.total[j]).abs() < 1e-11);
            let unit = 64.0 / [1e3, 0.125][j];
            assert!((a.derivative[j] * unit * unit / b.derivative[j] - 1.0).abs() < 1e-11);
        }
        assert!((b.mean - 5.0 - 64.0 * a.mean).abs() < 1e-10);
        assert!((b.variance / a.variance / 4096.0 - 1.0).abs() < 1e-10);
    }
}

#[test]
fn a_warped_input_is_uniform_in_the_units_of_the_data() {
    for activation in Activation::ALL {
        let model = random(activation, 6, 2, 1.0, 21);
        let [low, high] = [-0.5f64, 0.5].map(|u| 3.0 + 1e-3 * (8.0 * u).sinh());
        let warped = edited(&model, |model| {
            model["input_scaler"] = json!({ "shift": [0.0, 0.0], "scale": [8.0, 1.0],
                "warp": [{ "centre": 3.0, "width": 1e-3 }, null] });
            model["domain"] = json!([[low, high], [-0.5, 0.5]]);
        });
        let found = warped.sensitivity(0).unwrap();
        // Means over a fine grid in the units of the data.
        let n = 400;
        let at = |k: usize, low: f64, high: f64| low + (k as f64 + 0.5) / n as f64 * (high - low);
        let x = Mat::from_fn(n * n, 2, |i, j| match j {
            0 => at(i / n, low, high),
            _ => at(i % n, -0.5, 0.5),
        });
        let f = warped.predict(x.as_ref()).unwrap();
        let mean = |values: &mut dyn Iterator<Item = f64>, count: usize| {
            values.sum::<f64>() / count as f64
        };
        let all = mean(&mut (0..n * n).map(|i| f[(i, 0)]), n * n);
        let variance = mean(&mut (0..n * n).map(|i| (f[(i, 0)] - all).powi(2)), n * n);
        let rows: Vec<f64> = (0..n)
            .map(|k| mean(&mut (0..n).map(|i| f[(n * k + i, 0)]), n))
            .collect();
        let columns: Vec<f64> = (0..n)
            .map(|k| mean(&mut (0..n).map(|i| f[(n * i + k, 0)]), n))
            .collect();
        for (j, effect) in [rows, columns].iter().enumerate() {
            let alone = mean(&mut effect.iter().map(|v| (v - all).powi(2)), n) / variance;
            assert!(
                (found.first[j] - alone).abs() < 5e-3,
                "{activation:?} {j}: {} {alone}",
                found.first[j]
            );
            let places: Vec<f64> = [7, 200, 390]
                .map(|k| {
                    if j == 0 {
                        at(k, low, high)
                    } else {
                        at(k, -0.5, 0.5)
                    }
                })
                .into();
            let means = warped.effect(0, j, &places).unwrap();
            for (mean, k) in means.iter().zip([7, 200, 390]) {
                let off = (mean - effect[k]).abs();
                assert!(
                    off < 5e-3 * variance.sqrt(),
                    "{activation:?} {j}: {mean} {}",
                    effect[k]
                );
            }
        }
        assert!(
            (found.mean - all).abs() < 2e-3 * variance.sqrt()
                && (found.variance / variance - 1.0).abs() < 1e-2
        );
    }
}

#[test]
fn effects_are_the_means_at_fixed_inputs_and_vary_like_first_order_indices() {
    for activation in Activation::ALL {
        let model = random(activation, 6, 3, 1.0, 31);
        let s = model.sensitivity(0).unwrap();
        let tolerance = if s.closed_form { 1e-12 } else { 2e-3 };
        let rule = gauss(30);
        for j in 0..3 {
            let at: Vec<f64> = rule.iter().map(|node| node.0 - 0.5).collect();
            let effect = model.effect(0, j, &at).unwrap();
            let mean = |power: i32, from: f64| {
                let values = effect.iter().zip(&rule);
                values
                    .map(|(e, node)| node.1 * (e - from).powi(power))
                    .sum::<f64>()
            };
            let size = s.variance.sqrt();
            assert!((mean(1, 0.0) - s.mean).abs() < tolerance * size);
            let variance = mean(2, s.mean);
            assert!(
                (variance / s.variance - s.first[j]).abs() < tolerance,
                "{activation:?}"
            );
        }
        // Beyond the samples, by a quadrature over the other two inputs.
        let grid = gauss(40);
        let x = Mat::from_fn(1600, 3, |i, j| {
            [grid[i / 40].0 - 0.5, 0.9, grid[i % 40].0 - 0.5][j]
        });
        let f = model.predict(x.as_ref()).unwrap();
        let expected: f64 = (0..1600)
            .map(|i| grid[i / 40].1 * grid[i % 40].1 * f[(i, 0)])
            .sum();
        let found = model.effect(0, 1, &[0.9]).unwrap()[0];
        assert!(
            (found - expected).abs() < tolerance.max(1e-10),
            "{activation:?} {found} {expected}"
        );
    }
}

#[test]
fn one_and_three_threads_give_the_same_bits() {
    for activation in [Activation::Fourier, Activation::Tanh] {
        let model = random(activation, 12, 3, 1.0, 1);
        let with = |threads| {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap();
            pool.install(|| model.sensitivity(0).unwrap())
        };
        assert_eq!(with(1), with(3));
    }
}

#[test]
fn what_cannot_be_answered_is_an_error_that_says_why() {
    let model = random(Activation::Fourier, 3, 2, 1.0, 1);
    let error = |result: thinfit::Result<Sensitivity>| result.unwrap_err().to_string();
    assert!(error(model.sensitivity(1)).contains("expected an output below 1, found 1"));
    assert!(
        error(model.sensitivity_on(0, &[[0.0, 1.0]]))
            .contains("expected 2 ranges (x1, x2), found 1")
    );
    assert!(
        error(model.sensitivity_on(0, &[[0.0, 1.0], [2.0, 1.0]]))
            .contains("the range of `x2` goes from 2 to 1; give the lower end first")
    );
    assert!(error(model.sensitivity_on(0, &[[0.0, f64::NAN], [0.0, 1.0]])).contains("NaN"));
    assert!(
        model
            .effect(0, 2, &[0.0])
            .unwrap_err()
            .to_string()
            .contains("an input below 2")
    );
    assert!(model.effect(0, 0, &[f64::INFINITY]).is_err());
    assert_eq!(model.effect(0, 0, &[]).unwrap(), Vec::<f64>::new());
}

#[test]
fn far_and_wide_boxes_give_finite_numbers() {
    for activation in Activation::ALL {
        let model = random(activation, 4, 2, 1.0, 1);
        for far in [
            [-1e3, 1e3],
            [1e9, 1e9 + 1.0],
            [-1e20, 1e30],
            [-1e149, 1e149],
        ] {
            if let Ok(s) = model.sensitivity_on(0, &[far, [0.0, 1.0]]) {
                let numbers = [s.first, s.total, s.derivative, vec![s.mean, s.variance]].concat();
                assert!(
                    numbers.iter().all(|v| v.is_finite()),
                    "{activation:?} {far:?}"
                );
            }
        }
        assert!(model.effect(0, 0, &[1e140]).unwrap()[0].is_finite());
    }
}

/// sin x1 + 7 sin² x2 + 0.1 x3⁴ sin x1 on [−π, π]^4, the last input idle.
#[test]
fn a_fit_of_ishigami_knows_which_inputs_matter() {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let x = Mat::from_fn(500, 4, |_, _| PI * (2.0 * rng.random::<f64>() - 1.0));
    let y = Mat::from_fn(500, 1, |i, _| {
        x[(i, 0)].sin() * (1.0 + 0.1 * x[(i, 2)].powi(4)) + 7.0 * x[(i, 1)].sin().powi(2)
    });
    let config = Config {
        training: Training::Random,
        width: 60,
        ..Config::fast()
    };
    let model = fit(&Dataset::new(x, y).unwrap(), &config, &|_| {
        Control::Continue
    })
    .unwrap();
    let s = model.sensitivity_on(0, &[[-PI, PI]; 4]).unwrap();
    let (first, total) = ([0.3139, 0.4424, 0.0, 0.0], [0.5576, 0.4424, 0.2437, 0.0]);
    for j in 0..4 {
        assert!((s.first[j] - first[j]).abs() < 1e-3, "{:?}", s.first);
        assert!((s.total[j] - total[j]).abs() < 1e-3, "{:?}", s.total);
    }
    assert!((s.second[(0, 2)] - 0.2437).abs() < 1e-3 && s.closed_form);
}

#[test]
fn five_thousand_inputs_have_indices_without_pairs_in_little_memory() {
    for activation in [Activation::Fourier, Activation::Cosine] {
        let (n, d) = (3, 5000);
        let weight = |l: usize, j: usize| ((1 + l * d + j) as f64).sin() / 50.0;
        let row = |l: usize| (0..activation.weights(d)).map(|j| weight(l, j)).collect();
        let output = (0..activation.columns(n)).map(|l| ((l + 1) as f64).cos());
        let model = network(activation, (0..n).map(row).collect(), output.collect());
        let memory = allocation_counter::measure(|| {
            let seen = std::cell::Cell::new(0.0);
            let s = model
                .sensitivity_watched(0, &model.domain, &|done| seen.set(done))
                .unwrap();
            assert_eq!((s.first.len(), s.second.nrows()), (d, 0));
            assert!(s.total.iter().zip(&s.first).all(|(t, f)| t + 1e-9 >= *f));
            assert_eq!(seen.get(), 1.0);
        });
        // All pairs would take 0.2 GB in the result alone, and 1 GB on the way.
        assert!(memory.bytes_max < 200 << 20, "{} bytes", memory.bytes_max);
    }
}
