//! Fourier features e^{i⟨ω, x⟩} in the convention of the random-feature papers: no factor 2π in the phase, no 1/n.
//!
//! Dimensions: `m` samples, `d` inputs, `n` frequencies, `c` outputs. Draws frequencies ω (n × d) of few inputs each,
//! evaluates their features, and turns coefficients into a network of thinfit, whose features are e^{2πi⟨w, x⟩}/n: w =
//! ω/(2π), and Re(b e^{it}) with b = a − ic is a cos t + c sin t. Solving for coefficients is left to
//! `least_squares.rs`.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par, c64};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Cauchy, Distribution, StandardNormal};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;
use thinfit::pieces::row_chunks;
use thinfit::{Activation, Network, elementary};

/// Frequencies per parallel task.
const CHUNK: usize = 256;

/// Density of the entries of random frequencies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Density {
    /// Normal.
    #[default]
    Normal,
    /// Cauchy, whose heavy tails suit functions that are not smooth.
    Cauchy,
}

impl Density {
    fn draw(self, scale: f64, rng: &mut ChaCha8Rng) -> f64 {
        match self {
            Density::Normal => scale * rng.sample::<f64, _>(StandardNormal),
            Density::Cauchy => {
                let cauchy = Cauchy::new(0.0, 1.0).expect("a scale of one is positive");
                scale * cauchy.sample(rng)
            }
        }
    }
}

/// All subsets of `q` of the inputs 0 to d − 1, or none if there are more than `most`.
pub(crate) fn subsets(d: usize, q: usize, most: usize) -> Option<Vec<Vec<usize>>> {
    let mut count = 1usize;
    for i in 0..q.min(d - q) {
        // The count is a binomial coefficient after every step, so the division is exact.
        count = count.checked_mul(d - i)? / (i + 1);
        if count > most {
            return None;
        }
    }
    let (mut sets, mut set) = (Vec::with_capacity(count), (0..q).collect::<Vec<_>>());
    loop {
        sets.push(set.clone());
        // Advance the last entry that can still grow, and reset those after it.
        let Some(i) = (0..q).rev().find(|&i| set[i] < d - q + i) else {
            return Some(sets);
        };
        set[i] += 1;
        for k in i + 1..q {
            set[k] = set[k - 1] + 1;
        }
    }
}

/// One frequency per set of inputs (n × d): random entries on the set, zeros elsewhere.
pub(crate) fn frequencies(
    sets: &[&[usize]],
    d: usize,
    density: Density,
    scale: f64,
    rng: &mut ChaCha8Rng,
) -> Mat<f64> {
    let mut omega = Mat::zeros(sets.len(), d);
    for (l, set) in sets.iter().enumerate() {
        for &j in *set {
            omega[(l, j)] = density.draw(scale, rng);
        }
    }
    omega
}

/// \[cos⟨ω_l, x_k⟩ | sin⟨ω_l, x_k⟩\] · `scale`, m × 2n.
pub(crate) fn cosines_and_sines(
    x: MatRef<'_, f64>,
    omega: MatRef<'_, f64>,
    scale: f64,
) -> Mat<f64> {
    let n = omega.nrows();
    let mut planes = Mat::zeros(x.nrows(), 2 * n);
    let (cos, sin) = planes.as_mut().split_at_col_mut(n);
    row_chunks(cos.transpose_mut(), CHUNK)
        .into_par_iter()
        .zip_eq(row_chunks(sin.transpose_mut(), CHUNK))
        .enumerate()
        .for_each(|(chunk, (cos, sin))| {
            let (mut cos, sin) = (cos.transpose_mut(), sin.transpose_mut());
            let omega = omega.subrows(chunk * CHUNK, cos.ncols());
            let turns = 1.0 / (2.0 * PI);
            matmul(
                cos.as_mut(),
                Accum::Replace,
                x,
                omega.transpose(),
                turns,
                Par::Seq,
            );
            for (cos, sin) in cos.col_iter_mut().zip(sin.col_iter_mut()) {
                let contiguous = "a matrix of its own has contiguous columns";
                let cos = cos.try_as_col_major_mut().expect(contiguous);
                let sin = sin.try_as_col_major_mut().expect(contiguous);
                elementary::sincos_2pi_in_place(cos.as_slice_mut(), sin.as_slice_mut(), scale);
            }
        });
    planes
}

/// e^{i⟨ω_l, x_k⟩}, m × n.
pub(crate) fn waves(x: MatRef<'_, f64>, omega: MatRef<'_, f64>) -> Mat<c64> {
    let (planes, n) = (cosines_and_sines(x, omega, 1.0), omega.nrows());
    Mat::from_fn(x.nrows(), n, |k, l| {
        c64::new(planes[(k, l)], planes[(k, n + l)])
    })
}

/// A real matrix as a complex one.
pub(crate) fn complex(a: MatRef<'_, f64>) -> Mat<c64> {
    Mat::from_fn(a.nrows(), a.ncols(), |i, j| c64::new(a[(i, j)], 0.0))
}

/// The network f(x) = Re Σ_l b_l e^{i⟨ω_l, x⟩} for b (n × c).
pub(crate) fn network(omega: MatRef<'_, f64>, b: MatRef<'_, c64>) -> Network {
    let (n, width) = (omega.nrows(), omega.nrows() as f64);
    Network {
        activation: Activation::Fourier,
        hidden: Mat::from_fn(n, omega.ncols(), |l, j| omega[(l, j)] / (2.0 * PI)),
        output: Mat::from_fn(2 * n, b.ncols(), |l, o| {
            width
                * if l < n {
                    b[(l, o)].re
                } else {
                    b[(l - n, o)].im
                }
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subsets_are_complete_and_in_order_or_too_many() {
        let pairs = subsets(4, 2, 10).unwrap();
        assert_eq!(pairs, [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]);
        assert_eq!(subsets(5, 5, 10).unwrap(), [[0, 1, 2, 3, 4]]);
        assert_eq!(subsets(20, 3, 1140).unwrap().len(), 1140);
        assert!(subsets(20, 3, 1139).is_none() && subsets(400, 60, 10_000).is_none());
    }

    #[test]
    fn a_network_has_the_values_of_its_waves() {
        let x = Mat::from_fn(5, 2, |i, j| (i as f64 - 0.7 * j as f64).sin());
        let omega = Mat::from_fn(3, 2, |l, j| 2.0 * l as f64 - j as f64);
        let b = Mat::from_fn(3, 1, |l, _| c64::new(l as f64, 1.0 - l as f64));
        let f = network(omega.as_ref(), b.as_ref()).values(x.as_ref());
        let expected = waves(x.as_ref(), omega.as_ref()) * b;
        for i in 0..5 {
            assert!((f[(i, 0)] - expected[(i, 0)].re).abs() < 1e-13);
        }
    }
}
