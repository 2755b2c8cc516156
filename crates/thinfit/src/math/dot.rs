//! The inner product with a fixed number of partial sums.

use crate::math::fma::Fused;

/// Σ a_i b_i in `LANES` partial sums, so that it vectorises with one order of summation. Another number of lanes gives
/// other bits.
#[inline(always)]
pub(crate) fn dot<const LANES: usize>(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; LANES];
    let (a, b) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    for (a, b) in a.0.iter().zip(b.0) {
        for i in 0..LANES {
            sums[i] = a[i].fused(b[i], sums[i]);
        }
    }
    let rest: f64 = a.1.iter().zip(b.1).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f64>() + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_counts_once_for_any_length() {
        for len in 0..70 {
            // Sums of small integers are exact in any order.
            let a: Vec<f64> = (0..len).map(|i| f64::from(i % 7) - 3.0).collect();
            let b: Vec<f64> = (0..len).map(|i| f64::from(i % 5) + 1.0).collect();
            let plain: f64 = a.iter().zip(&b).map(|(a, b)| a * b).sum();
            assert_eq!((dot::<8>(&a, &b), dot::<16>(&a, &b)), (plain, plain));
        }
    }
}
