//! Points that fill the unit cube evenly: a rank-1 lattice of Korobov's form, folded by the tent map.
//!
//! Point i of N has the coordinates {i g^j/N}. The multiplier g is the best of a few by the worst-case error P₂ of
//! the lattice, and the fold x ↦ 1 − |2x − 1| makes the rule as accurate for non-periodic functions as for periodic
//! ones. The error of the mean is then O(1/N²) for smooth functions of few inputs, and no worse than that of random
//! points otherwise.

use faer::Mat;
use std::f64::consts::PI;

/// Multipliers to try.
const CANDIDATES: u64 = 64;

/// `points` points, a power of two, in `dim` dimensions (points × dim), all moved by `shift` before the fold; no entries are no shift. With
/// random shifts, means over the points err independently of each other.
///
/// # Panics
/// The number of points is no power of two.
pub fn lattice(points: usize, dim: usize, shift: &[f64]) -> Mat<f64> {
    assert!(points.is_power_of_two());
    let n = points as u64;
    let coordinates = |g: u64| -> Vec<u64> {
        std::iter::successors(Some(1), |z| Some(z * g % n))
            .take(dim)
            .collect()
    };
    // Odd multipliers give every coordinate all N values; these step through the odd numbers by the golden ratio.
    let candidates = (1..=CANDIDATES).map(|k| (k * (points as f64 * 0.618) as u64 % n) | 1);
    let worst = |g: &u64| error(points, &coordinates(*g));
    let best = candidates.min_by(|a, b| worst(a).total_cmp(&worst(b)));
    let z = coordinates(best.expect("there are candidates"));
    Mat::from_fn(points, dim, |i, j| {
        let moved = (i as u64 * z[j] % n) as f64 / points as f64 + shift.get(j).unwrap_or(&0.0);
        let x = moved.fract();
        1.0 - (2.0 * x - 1.0).abs()
    })
}

/// P₂ of the lattice with weight 1/dim for every coordinate, which keeps pairs of coordinates in view.
fn error(points: usize, z: &[u64]) -> f64 {
    let n = points as u64;
    let term = |k: u64| {
        let x = k as f64 / points as f64;
        1.0 + 2.0 * PI * PI / z.len() as f64 * (x * x - x + 1.0 / 6.0)
    };
    let table: Vec<f64> = (0..n).map(term).collect();
    // Points i and N − i mirror each other.
    (1..n / 2)
        .map(|i| {
            z.iter()
                .map(|z| table[(i * z % n) as usize])
                .product::<f64>()
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_of_smooth_functions_are_far_better_than_random() {
        for dim in [1, 4, 10, 20] {
            let x = lattice(1 << 14, dim, &[]);
            let factor = |x: f64| 1.0 + (x.exp() - 1.0) / dim as f64;
            let value = |i: usize| (0..dim).map(|j| factor(x[(i, j)])).product::<f64>();
            let mean = (0..x.nrows()).map(value).sum::<f64>() / x.nrows() as f64;
            let exact = (1.0 + (1f64.exp() - 2.0) / dim as f64).powi(dim as i32);
            let random = 0.01 * exact / 128.0;
            assert!((mean - exact).abs() < random, "{dim}: {mean} {exact}");
            let seen = |j: usize| x.col_as_slice(j).iter().sum::<f64>() / x.nrows() as f64;
            assert!((0..dim).all(|j| (seen(j) - 0.5).abs() < 1e-12));
        }
    }
}
