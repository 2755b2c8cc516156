//! Random numbers by place: a stream is named by (seed, purpose) and sought by step, as in thinfit itself.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// What a stream of random numbers is for.
#[derive(Clone, Copy, Debug)]
#[repr(u64)]
pub(crate) enum Purpose {
    /// Frequencies and the inputs that they act on.
    Frequencies,
    /// Pairs of samples.
    Pairs,
    /// Proposals of a random walk, and whether they are accepted.
    Walk,
    /// Initial parameters of a network.
    Parameters,
    /// Points at which the variation is sampled.
    Points,
    /// Noise on gradients.
    Noise,
    /// Latents of a generator.
    Latents,
    /// The order of the samples before they are cut into folds.
    Folds,
    /// Where searches start.
    Starts,
}

/// The stretch of random numbers for `step` of `purpose`.
pub(crate) fn stream(seed: u64, purpose: Purpose, step: u64) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    // Far from the streams of thinfit and of those who draw data from the same seed.
    rng.set_stream((1 << 33) + purpose as u64);
    rng.set_word_pos(u128::from(step) << 32);
    rng
}

/// `count` different numbers of 0…n−1.
pub(crate) fn random_subset(n: usize, count: usize, rng: &mut ChaCha8Rng) -> Vec<usize> {
    let mut numbers: Vec<usize> = (0..n).collect();
    for i in 0..count {
        numbers.swap(i, rng.random_range(i..n));
    }
    numbers.truncate(count);
    numbers
}
