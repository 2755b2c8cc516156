//! Low-discrepancy sequences, whose first rows are evenly spread for any number of rows.

use crate::Error;
use rand::{Rng, RngExt};

/// What Sobol's sequence is known for: rows and inputs.
const SOBOL: [usize; 2] = [1 << 16, 256];

/// Rows `first` to `first + rows` of Halton's sequence: the digits of the row's number, to the j-th prime as base, in reverse order
/// behind the point; each input moved around by a random shift.
pub(crate) fn halton(d: usize, rows: usize, first: usize, random: &mut impl Rng) -> Vec<Vec<f64>> {
    let primes = primes(d);
    let shifts: Vec<f64> = (0..d).map(|_| random.random()).collect();
    let place = |i: usize, j: usize| (reversed(i, primes[j]) + shifts[j]).fract();
    let row = |i: usize| (0..d).map(|j| place(i, j)).collect();
    (first..first + rows).map(row).collect()
}

/// Rows `first` to `first + rows` of Sobol's sequence, with its digits scrambled by the seed.
pub(crate) fn sobol(
    d: usize,
    rows: usize,
    first: usize,
    seed: u64,
) -> Result<Vec<Vec<f64>>, Error> {
    for (what, found, most) in [
        ("rows", first.saturating_add(rows), SOBOL[0]),
        ("inputs", d, SOBOL[1]),
    ] {
        if found > most {
            return Err(Error::TooMany {
                what,
                most,
                found,
                scheme: "sobol",
            });
        }
    }
    let seed = (seed ^ (seed >> 32)) as u32;
    let place = |i: usize, j: usize| f64::from(sobol_burley::sample(i as u32, j as u32, seed));
    let row = |i: usize| (0..d).map(|j| place(i, j)).collect();
    Ok((first..first + rows).map(row).collect())
}

/// The digits of a number in this base, in reverse order behind the point.
fn reversed(mut number: usize, base: usize) -> f64 {
    let (mut digits, mut scale) = (0.0, 1.0);
    while number > 0 {
        scale /= base as f64;
        digits += scale * (number % base) as f64;
        number /= base;
    }
    digits
}

/// The first `count` primes.
fn primes(count: usize) -> Vec<usize> {
    let mut primes: Vec<usize> = Vec::new();
    let mut next = 2;
    while primes.len() < count {
        if primes.iter().all(|prime| next % prime != 0) {
            primes.push(next);
        }
        next += 1;
    }
    primes
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    fn halton(rows: usize, first: usize) -> Vec<Vec<f64>> {
        super::halton(3, rows, first, &mut ChaCha8Rng::seed_from_u64(4))
    }

    #[test]
    fn sequences_go_on_where_they_stopped() {
        let (whole, first) = (halton(20, 0), halton(12, 0));
        assert_eq!(whole, [first, halton(8, 12)].concat());
        let (whole, first) = (sobol(3, 20, 0, 4).unwrap(), sobol(3, 12, 0, 4).unwrap());
        assert_eq!(whole, [first, sobol(3, 8, 12, 4).unwrap()].concat());
        assert_ne!(whole, sobol(3, 20, 0, 5).unwrap());
    }

    /// The largest share of rows by which boxes from the corner have too many or too few.
    fn uneven(rows: &[Vec<f64>]) -> f64 {
        let corners = (1..=512).map(|i| [2, 3, 5].map(|base| reversed(i, base)));
        let miss = |corner: [f64; 3]| {
            let inside = |row: &&Vec<f64>| row.iter().zip(&corner).all(|(x, end)| x < end);
            let share = rows.iter().filter(inside).count() as f64 / rows.len() as f64;
            (share - corner.iter().product::<f64>()).abs()
        };
        corners.map(miss).fold(0.0, f64::max)
    }

    #[test]
    fn rows_are_more_even_than_random_ones() {
        let mut random = ChaCha8Rng::seed_from_u64(9);
        let row = |_| (0..3).map(|_| random.random()).collect();
        let drawn = uneven(&(0..256).map(row).collect::<Vec<Vec<f64>>>());
        for rows in [halton(256, 0), sobol(3, 256, 0, 4).unwrap()] {
            assert!(rows.iter().flatten().all(|x| (0.0..1.0).contains(x)));
            assert!(uneven(&rows) < 0.5 * drawn, "{} {drawn}", uneven(&rows));
        }
    }

    #[test]
    fn of_two_to_the_k_rows_of_sobol_each_part_has_one() {
        let rows = sobol(5, 64, 0, 1).unwrap();
        for j in 0..5 {
            let mut parts: Vec<usize> = rows.iter().map(|row| (row[j] * 64.0) as usize).collect();
            parts.sort_unstable();
            assert_eq!(parts, (0..64).collect::<Vec<_>>());
        }
        assert!(sobol(257, 1, 0, 1).is_err() && sobol(1, 1, 1 << 16, 1).is_err());
    }
}
