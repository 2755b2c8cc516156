//! Inner products.

use crate::math::fma::Fma;

/// Σ a_i b_i, term by term.
#[inline]
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Σ a_i b_i in `LANES` partial sums, so that it vectorises with one order of summation. Another number of lanes gives
/// other bits.
#[inline(always)]
pub(crate) fn dot_in_lanes<const LANES: usize>(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; LANES];
    let (a, b) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    for (a, b) in a.0.iter().zip(b.0) {
        for i in 0..LANES {
            sums[i] = a[i].fma(b[i], sums[i]);
        }
    }
    sums.iter().sum::<f64>() + dot(a.1, b.1)
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
            let plain = dot(&a, &b);
            let in_lanes = (dot_in_lanes::<8>(&a, &b), dot_in_lanes::<16>(&a, &b));
            assert_eq!(in_lanes, (plain, plain));
        }
    }
}
