//! What several tests need.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use thinfit::Mat;

/// Numbers between 0 and 1.
pub(crate) fn random(rows: usize, columns: usize, seed: u64) -> Mat<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    Mat::from_fn(rows, columns, |_, _| rng.random())
}
