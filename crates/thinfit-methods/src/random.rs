//! Counter-based random numbers, as in thinfit itself: a stream is identified by (seed, purpose) and positioned by
//! step. No generator keeps state between draws.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// The purpose of a stream of random numbers.
#[derive(Clone, Copy, Debug)]
#[repr(u64)]
pub(crate) enum Purpose {
    /// Frequencies and the inputs that they act on.
    Frequencies,
    /// Pairs of samples.
    Pairs,
    /// Proposals of a random walk and their acceptance.
    Walk,
    /// Initial parameters of a network.
    Parameters,
    /// Points at which the variation is sampled.
    Points,
    /// Noise on gradients.
    Noise,
    /// Latents of a generator.
    Latents,
    /// The order of the samples before they are divided into folds.
    Folds,
    /// Starting points of searches.
    Starts,
}

/// The random numbers for `step` of `purpose`.
pub(crate) fn stream(seed: u64, purpose: Purpose, step: u64) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    // Apart from the streams of thinfit and of data drawn with the same seed.
    rng.set_stream((1 << 33) + purpose as u64);
    rng.set_word_pos(u128::from(step) << 32);
    rng
}

/// `count` different numbers from 0 to n − 1.
pub(crate) fn random_subset(n: usize, count: usize, rng: &mut ChaCha8Rng) -> Vec<usize> {
    let mut numbers: Vec<usize> = (0..n).collect();
    for i in 0..count {
        numbers.swap(i, rng.random_range(i..n));
    }
    numbers.truncate(count);
    numbers
}
