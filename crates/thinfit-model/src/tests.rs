//! What several tests need.

use crate::Predictor;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use thinfit::{Config, Control, Dataset, Mat, Observer, Training};
use thinfit_baselines::{KernelRidge, RandomFourier, Salsa};
use thinfit_gp::GaussianProcess;

/// Numbers between 0 and 1.
pub(crate) fn random(rows: usize, columns: usize, seed: u64) -> Mat<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    Mat::from_fn(rows, columns, |_, _| rng.random())
}

/// The model of a method with its default settings.
pub(crate) fn fitted(method: &str, data: &Dataset, seed: u64) -> Predictor {
    let watch: &Observer<'_> = &|_| Control::Continue;
    let thin = |training| {
        let config = Config {
            training,
            seed,
            ..Config::default()
        };
        thinfit::fit(data, &config, watch).map(Predictor::from)
    };
    let fitted = match method {
        "random" => thin(Training::Random),
        "gft-r" => thin(Training::Refined),
        "rff" => RandomFourier::default()
            .fit(data, seed, watch)
            .map(Predictor::from),
        "salsa" => Salsa::default().fit(data, seed, watch).map(Predictor::from),
        "kernel-ridge" => KernelRidge::default()
            .fit(data, seed, watch)
            .map(Predictor::from),
        "kernel-ridge-validated" => KernelRidge::validated()
            .fit(data, seed, watch)
            .map(Predictor::from),
        "gaussian-process" => GaussianProcess::default()
            .fit(data, seed, watch)
            .map(Predictor::from),
        _ => unreachable!("no method {method}"),
    };
    let mut model = fitted.unwrap().made_from(data);
    model.record_mut().describe(data.x.as_ref());
    model
}
