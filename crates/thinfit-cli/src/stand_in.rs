//! Holds the place of the library's fit until that is ready: random Fourier features, output weights by least squares.
//!
//! It learns no features, so its error is not the method's, and its label says so.

use std::time::Instant;

use faer::linalg::solvers::{Llt, Solve};
use faer::{Mat, MatRef, Side, c64};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use thinfit_experiments::Sample;

use crate::failure::Failure;
use crate::progress::Progress;

/// What the demo needs of a fitted network.
pub struct ThinFit {
    /// How the table and the pictures name it.
    pub label: &'static str,
    /// Hidden weights (width x inputs, row by row), in units of the original inputs.
    pub hidden: Vec<f64>,
    /// Magnitudes of the output weights.
    pub magnitude: Vec<f64>,
    /// Predictions at the test points.
    pub predicted: Vec<f64>,
    /// Seconds of the fit.
    pub seconds: f64,
}

/// Fits `n` features to the sample and predicts at `test`.
pub fn fit(
    train: &Sample,
    test: MatRef<'_, f64>,
    n: usize,
    seed: u64,
    progress: &Progress,
) -> Result<ThinFit, Failure> {
    let start = Instant::now();
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(2);
    let w = Mat::from_fn(n, train.x.ncols(), |_, _| {
        let z: f64 = StandardNormal.sample(&mut rng);
        0.25 * z
    });
    progress.step(0.2, "features drawn");
    let a = design(train.x.as_ref(), &w);
    let mut gram = a.adjoint() * &a;
    for l in 0..n {
        gram[(l, l)] += c64::new(1e-9 * train.x.nrows() as f64 / (n * n) as f64, 0.0);
    }
    let right =
        a.adjoint() * Mat::from_fn(train.y.nrows(), 1, |i, _| c64::new(train.y[(i, 0)], 0.0));
    progress.step(0.6, "normal equations");
    let factor = Llt::new(gram.as_ref(), Side::Lower)
        .map_err(|error| Failure::new(format!("the normal equations are singular: {error}")))?;
    let b = factor.solve(&right);
    let predicted = design(test, &w) * &b;
    progress.step(1.0, "solved");
    Ok(ThinFit {
        label: "random features (stand-in)",
        hidden: (0..n)
            .flat_map(|l| (0..w.ncols()).map(move |k| (l, k)))
            .map(|at| w[at])
            .collect(),
        magnitude: (0..n).map(|l| b[(l, 0)].norm()).collect(),
        predicted: (0..test.nrows()).map(|i| predicted[(i, 0)].re).collect(),
        seconds: start.elapsed().as_secs_f64(),
    })
}

fn design(x: MatRef<'_, f64>, w: &Mat<f64>) -> Mat<c64> {
    let t = x * w.transpose();
    let n = w.nrows() as f64;
    Mat::from_fn(t.nrows(), t.ncols(), |i, l| {
        let (sin, cos) = (std::f64::consts::TAU * t[(i, l)]).sin_cos();
        c64::new(cos / n, sin / n)
    })
}
