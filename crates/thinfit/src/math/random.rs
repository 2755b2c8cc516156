//! Counter-based random numbers: a stream is identified by (seed, purpose) and positioned by step.
//!
//! Step t of a purpose always reads the same part of its ChaCha8 stream, so a resumed run draws the same numbers as
//! an uninterrupted one, and no generator state is saved.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// The generator used everywhere; its algorithm is part of the result and is pinned.
pub type Stream = ChaCha8Rng;

/// The purpose of a stream of random numbers.
#[derive(Clone, Copy, Debug)]
#[repr(u64)]
pub enum Purpose {
    /// The permutation that splits training from validation rows, at place 0.
    Split = 1 << 32,
    /// Initial parameters of the generator, at place 0.
    Parameters,
    /// Latents of the generator phase, at place `step`: n · d′ standard normal numbers, latent by latent.
    Latents,
    /// Latents that validate the generator phase after `step` steps: ten draws, at places 10 · step to 10 · step + 9.
    Validation,
    /// The one draw of latents that is refined, or that makes the final features, at place 0.
    FinalLatents,
    /// Hidden weights drawn directly: at place 0 those of F-Opt and random features, column by column, then those of the
    /// random starts of the polish.
    Weights,
    /// Points at which the variation is sampled, at place 2 · step, or 2 · step + 1 in the refinement: block by block of
    /// points, in each input by input.
    Points,
    /// Frequencies of a method of `thinfit-baselines`, and the inputs that they act on.
    Frequencies = 1 << 33,
    /// Pairs of samples.
    Pairs,
    /// Proposals of a random walk and their acceptance.
    Walk,
    /// Initial parameters of a network of `thinfit-baselines`.
    BaselineParameters,
    /// Points at which such a network samples the variation, or the default fit a candidate.
    ProbePoints,
    /// Noise on gradients.
    Noise,
    /// Latents from which both layers of a network are drawn.
    BaselineLatents,
    /// The order of the samples before they are divided into folds.
    Folds,
    /// Starting points of searches.
    Starts,
}

/// The random numbers at a place, mostly a step, of `purpose`.
pub fn stream(seed: u64, purpose: Purpose, place: u64) -> Stream {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(purpose as u64);
    // 2³² words a step are more than any step reads.
    rng.set_word_pos(u128::from(place) << 32);
    rng
}

/// `count` different numbers from 0 to n − 1.
pub fn random_subset(n: usize, count: usize, rng: &mut Stream) -> Vec<usize> {
    let mut numbers: Vec<usize> = (0..n).collect();
    for i in 0..count {
        numbers.swap(i, rng.random_range(i..n));
    }
    numbers.truncate(count);
    numbers
}

/// The mixing function of SplitMix64: every bit depends on every other.
pub(crate) fn mixed(state: u64) -> u64 {
    let mut z = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
