//! Latents for the generators, drawn on the host while the device computes earlier steps.

use crate::device::Number;
use rand::RngExt;
use rand_distr::StandardNormal;
use thinfit::pieces::{Purpose, stream};

/// Number of random numbers that justify a thread.
const NUMBERS: usize = 8192;

/// Latents by place.
pub(super) fn normal<T: Number>(seed: u64, purpose: Purpose, place: usize, out: &mut [T]) {
    let mut rng = stream(seed, purpose, place as u64);
    out.iter_mut()
        .for_each(|z| *z = T::of(rng.sample(StandardNormal)));
}

/// Gives `work` each piece of `len` numbers with its place, on as many threads as pay.
///
/// Not on those of a pool: one of them might take up another fit meanwhile and wait for this one.
pub(super) fn spread<T: Send>(
    numbers: &mut [T],
    len: usize,
    work: &(impl Fn(usize, &mut [T]) + Sync),
) {
    // As many as the pool of the fit has.
    let threads = rayon::current_num_threads()
        .min(numbers.len().div_ceil(NUMBERS))
        .max(1);
    let pieces = (numbers.len() / len).div_ceil(threads).max(1);
    std::thread::scope(|scope| {
        let mut parts = numbers.chunks_mut(pieces * len).enumerate();
        let own = parts.next();
        let each = |(part, numbers): (usize, &mut [T])| {
            let places = numbers.chunks_mut(len).enumerate();
            places.for_each(|(i, out)| work(part * pieces + i, out));
        };
        for part in parts {
            scope.spawn(move || each(part));
        }
        own.into_iter().for_each(each);
    });
}
