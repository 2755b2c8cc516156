//! Functions with known indices, and models of them.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use std::f64::consts::PI;
use thinfit::{Control, Dataset, Error, Mat};
use thinfit_methods::{Method, Predictor};

/// A function on a box, with its variance and its first-order and total indices.
pub struct Known {
    pub name: &'static str,
    pub range: [f64; 2],
    pub f: fn(&[f64]) -> f64,
    pub variance: f64,
    pub first: Vec<f64>,
    pub total: Vec<f64>,
}

/// sin x1 + 7 sin² x2 + 0.1 x3⁴ sin x1.
pub fn ishigami() -> Known {
    let (a, b) = (7.0, 0.1);
    let one = 0.5 * (1.0 + b * PI.powi(4) / 5.0).powi(2);
    let two = a * a / 8.0;
    let together = b * b * PI.powi(8) * (1.0 / 18.0 - 1.0 / 50.0);
    let variance = one + two + together;
    Known {
        name: "ishigami",
        range: [-PI, PI],
        f: |x| x[0].sin() + 7.0 * x[1].sin().powi(2) + 0.1 * x[2].powi(4) * x[0].sin(),
        variance,
        first: [one, two, 0.0].map(|v| v / variance).to_vec(),
        total: [one + together, two, together]
            .map(|v| v / variance)
            .to_vec(),
    }
}

/// Π (|4x_j − 2| + a_j)/(1 + a_j), a = 0, 1, 4.5, 9.
pub fn g_function() -> Known {
    let parts = [0.0, 1.0, 4.5, 9.0].map(|a: f64| 1.0 / (3.0 * (1.0 + a).powi(2)));
    let all: f64 = parts.iter().map(|v| 1.0 + v).product();
    let variance = all - 1.0;
    Known {
        name: "g-function",
        range: [0.0, 1.0],
        f: |x| {
            let factor = |(x, a): (&f64, f64)| ((4.0 * x - 2.0).abs() + a) / (1.0 + a);
            x.iter().zip([0.0, 1.0, 4.5, 9.0]).map(factor).product()
        },
        variance,
        first: parts.map(|v| v / variance).to_vec(),
        total: parts.map(|v| v * all / (1.0 + v) / variance).to_vec(),
    }
}

/// 10 sin(π x1 x2) + 20 (x3 − ½)² + 10 x4 + 5 x5, and an input without an effect.
pub fn friedman() -> Known {
    // Of the wave by a fine grid, of the others by hand.
    let n = 2000;
    let at = |k: usize| (k as f64 + 0.5) / n as f64;
    let wave = |i: usize, j: usize| 10.0 * (PI * at(i) * at(j)).sin();
    let effect: Vec<f64> = (0..n)
        .map(|i| (0..n).map(|j| wave(i, j)).sum::<f64>() / n as f64)
        .collect();
    let mean = effect.iter().sum::<f64>() / n as f64;
    let alone = effect.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n as f64;
    let square = |i: usize| (0..n).map(|j| wave(i, j).powi(2)).sum::<f64>();
    let both = (0..n).map(square).sum::<f64>() / (n * n) as f64 - mean * mean;
    let parts = [alone, alone, 400.0 / 180.0, 100.0 / 12.0, 25.0 / 12.0, 0.0];
    let variance = both + parts[2..].iter().sum::<f64>();
    let mut total = parts;
    total[..2].fill(both - alone);
    Known {
        name: "friedman",
        range: [0.0, 1.0],
        f: |x| {
            10.0 * (PI * x[0] * x[1]).sin() + 20.0 * (x[2] - 0.5).powi(2) + 10.0 * x[3] + 5.0 * x[4]
        },
        variance,
        first: parts.map(|v| v / variance).to_vec(),
        total: total.map(|v| v / variance).to_vec(),
    }
}

/// A model of noisy rows, over the whole box; the noise is in deviations of the function.
///
/// # Errors
/// Those of the fit.
pub fn fitted(
    known: &Known,
    method: &str,
    rows: usize,
    noise: f64,
    seed: u64,
) -> Result<Predictor, Error> {
    let (d, [low, high]) = (known.first.len(), known.range);
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let x = Mat::from_fn(rows, d, |_, _| low + (high - low) * rng.random::<f64>());
    let y = Mat::from_fn(rows, 1, |i, _| {
        let row: Vec<f64> = x.row(i).iter().copied().collect();
        let normal: f64 = StandardNormal.sample(&mut rng);
        (known.f)(&row) + noise * known.variance.sqrt() * normal
    });
    let fitted = Method::named(method).expect("a method of ours");
    let mut model = fitted.fit(&Dataset::new(x, y)?, seed, &|_| Control::Continue)?;
    // The indices that are known are those of the whole box.
    match &mut model {
        Predictor::Network(model) => model.domain = vec![known.range; d],
        Predictor::Kernel(model) => model.domain = vec![known.range; d],
    }
    Ok(model)
}
