//! Counter-based random numbers: a stream is identified by (seed, purpose) and positioned by step.
//!
//! Step t of a purpose always reads the same part of its ChaCha8 stream, so a resumed run draws the same numbers as
//! an uninterrupted one, and no generator state is saved.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// The generator used everywhere; its algorithm is part of the result and is pinned.
pub type Stream = ChaCha8Rng;

/// The purpose of a stream of random numbers.
#[derive(Clone, Copy, Debug)]
#[repr(u64)]
pub enum Purpose {
    /// The permutation that splits training from validation rows, at place 0.
    Split,
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
}

/// The random numbers at a place, mostly a step, of `purpose`.
pub fn stream(seed: u64, purpose: Purpose, place: u64) -> Stream {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    // Far from the first streams, which callers may use to draw data from the same seed.
    rng.set_stream((1 << 32) + purpose as u64);
    // 2³² words a step are more than any step reads.
    rng.set_word_pos(u128::from(place) << 32);
    rng
}

/// The mixing function of SplitMix64: every bit depends on every other.
pub(crate) fn mixed(state: u64) -> u64 {
    let mut z = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
