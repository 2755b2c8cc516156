//! The warp of a column: v ↦ asinh((v − centre)/width), linear within `width` of the centre and logarithmic beyond.
//!
//! One skewed or heavy-tailed column squeezes most rows into a sliver of the box [−½, ½]. Two numbers correct that
//! for either tail or both, and every export language has the function. Outputs are never warped.

use faer::MatRef;
use serde::{Deserialize, Serialize};

/// Number of values of a column that are used, evenly by rank; more would cost time without benefit.
const VALUES: usize = 128;
/// Quantiles among which centre and width are sought, both extremes included.
const QUANTILES: usize = 17;
/// Columns of no more distinct values are levels, and are left alone.
const LEVELS: usize = 12;
/// Values that differ by less than this, relative to their size, are one value with rounding errors.
const ROUNDING: f64 = 1e-9;

/// A monotone map of one input, v ↦ asinh((v − centre)/width).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Warp {
    /// Where the map is steepest: among the dense values.
    pub centre: f64,
    /// Positive; the map is nearly linear up to this distance from the centre.
    pub width: f64,
}

impl Warp {
    /// The warp that a column needs, if any: the one that spreads its rows most evenly over their range.
    ///
    /// Of the distinct values v₁ < … < v_n, at most 128 by rank, let s_i = (v_{i+k} − v_i)/(v_n − v₁) · n/k be the room
    /// that k = max(3, n/16) of them take, relative to equal shares, and H = mean log s_i: the entropy of the
    /// column on its range, about 0 if it is uniform and less otherwise. Centre and width are a quantile and its distance to another (of
    /// 17), such that the warped values have the largest H; among them only those that at least double the smallest s_i,
    /// since a warp must not open one cluster at the cost of another. The column is warped if H then grows by more than
    /// min(0.4 + 0.03 log n, 0.7), n counting all distinct values. This is invariant to shifts and scales.
    ///
    /// The gain is about 0.2 for triangular and 0.2 to 0.6 for normal columns, where it grows with the rows as their
    /// range does; 0.8 for log-uniform ones over two decades, and 1 to 3 for lognormal ones and Student's t₂ from 100
    /// rows on. Columns of at most 12 distinct values have no warp.
    pub fn of(column: &[f64]) -> Option<Self> {
        let mut values = column.to_vec();
        values.sort_by(f64::total_cmp);
        values.dedup_by(|b, a| *b - *a <= ROUNDING * a.abs().max(b.abs()));
        let n = values.len();
        if n <= LEVELS || !values.iter().all(|v| v.is_finite()) {
            return None;
        }
        let (values, quantiles) = (by_rank(&values, VALUES), by_rank(&values, QUANTILES));
        let needed = (0.4 + 0.03 * (n as f64).ln()).min(0.7);
        let plain = Evenness::of(&values);
        if plain.entropy + needed > 0.0 {
            return None;
        }
        let mut best = (plain.entropy + needed, None);
        for (i, &centre) in quantiles.iter().enumerate() {
            for (j, &other) in quantiles.iter().enumerate() {
                let width = (other - centre).abs();
                let warp = Warp { centre, width };
                if i == j || !warp.is_sound() {
                    continue;
                }
                let warped: Vec<f64> = values.iter().map(|&v| warp.value(v)).collect();
                let found = Evenness::of(&warped);
                if found.entropy > best.0 && found.densest >= 2.0 * plain.densest {
                    best = (found.entropy, Some(warp));
                }
            }
        }
        best.1
    }

    /// The logarithm, up to a constant and to rounding, of numbers from `least` on, which is positive.
    pub fn logarithm(least: f64) -> Self {
        // asinh(u) is ln(2u) to the last digit where u is so large.
        Warp {
            centre: 0.0,
            width: 1e-9 * least,
        }
    }

    /// [`Warp::of`] for every column of `x` (m × d): d of them.
    pub fn of_columns(x: MatRef<'_, f64>) -> Vec<Option<Self>> {
        let column = |j| x.col(j).iter().copied().collect::<Vec<f64>>();
        (0..x.ncols()).map(|j| Warp::of(&column(j))).collect()
    }

    /// u = asinh((v − centre)/width).
    pub fn value(self, v: f64) -> f64 {
        ((v - self.centre) / self.width).asinh()
    }

    /// v = centre + width sinh u.
    pub fn inverse(self, u: f64) -> f64 {
        u.sinh().mul_add(self.width, self.centre)
    }

    /// du/dv = 1/√(width² + (v − centre)²).
    pub fn slope(self, v: f64) -> f64 {
        1.0 / self.width.hypot(v - self.centre)
    }

    /// Whether the map is finite and increasing.
    pub fn is_sound(self) -> bool {
        self.centre.is_finite() && self.width.is_normal() && self.width > 0.0
    }
}

/// At most `count` of the sorted values, evenly by rank, with the first and the last.
fn by_rank(values: &[f64], count: usize) -> Vec<f64> {
    let count = count.min(values.len());
    (0..count)
        .map(|i| values[i * (values.len() - 1) / (count - 1)])
        .collect()
}

/// How evenly sorted values fill their range.
struct Evenness {
    /// mean log s, see [`Warp::of`]; −∞ where spacings vanish.
    entropy: f64,
    /// min s.
    densest: f64,
}

impl Evenness {
    fn of(sorted: &[f64]) -> Self {
        let n = sorted.len();
        let k = (n / 16).max(3);
        // Halves, since the range of large values may overflow.
        let range = 0.5 * sorted[n - 1] - 0.5 * sorted[0];
        let share = n as f64 / k as f64 / range;
        let rooms = sorted
            .windows(k + 1)
            .map(|window| share * (0.5 * window[k] - 0.5 * window[0]));
        let (sum, densest) = rooms.fold((0.0, f64::INFINITY), |(sum, densest), room| {
            (sum + room.ln(), f64::min(densest, room))
        });
        Evenness {
            entropy: sum / (n - k) as f64,
            densest,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;
    use rand_distr::{Beta, Cauchy, Distribution, LogNormal, Normal, StudentT, Triangular};

    /// The number of seeds out of 20 for which a column of `m` draws is warped.
    fn warped(m: usize, draw: impl Fn(&mut ChaCha8Rng) -> f64) -> usize {
        let seeds = (0..20).map(|seed| {
            let mut rng = ChaCha8Rng::seed_from_u64(1000 * m as u64 + seed);
            Warp::of(&(0..m).map(|_| draw(&mut rng)).collect::<Vec<f64>>())
        });
        seeds.flatten().count()
    }

    #[test]
    fn light_tails_are_left_alone() {
        let normal = Normal::new(3.0, 0.1).unwrap();
        let triangular = Triangular::new(0.0, 1.0, 0.0).unwrap();
        let beta = Beta::new(2.0, 2.0).unwrap();
        let arcsine = Beta::new(0.5, 0.5).unwrap();
        for m in [20, 60, 200, 2000] {
            for (name, count) in [
                ("uniform", warped(m, |rng| rng.random::<f64>() - 7.0)),
                ("normal", warped(m, |rng| normal.sample(rng))),
                ("triangular", warped(m, |rng| triangular.sample(rng))),
                ("beta", warped(m, |rng| beta.sample(rng))),
                ("arcsine", warped(m, |rng| arcsine.sample(rng))),
                (
                    "one decade",
                    warped(m, |rng| 10f64.powf(rng.random::<f64>())),
                ),
                (
                    "years",
                    warped(m, |rng| f64::from(rng.random_range(1950..2026))),
                ),
                (
                    "clusters",
                    warped(m, |rng| {
                        let level = f64::from(rng.random_range(0..2));
                        level + 1e-3 * normal.sample(rng)
                    }),
                ),
            ] {
                // Chance alone makes one column in fifty of so few rows look heavy-tailed.
                let allowed = if m < 100 { 2 } else { 0 };
                assert!(count <= allowed, "{name}, {m} rows: {count} of 20");
            }
        }
    }

    #[test]
    fn skewed_and_heavy_tailed_columns_are_warped() {
        let lognormal = LogNormal::new(0.0, 1.0).unwrap();
        let cauchy = Cauchy::new(5.0, 0.2).unwrap();
        let student = StudentT::new(2.0).unwrap();
        for m in [200, 2000] {
            for (name, count) in [
                ("lognormal", warped(m, |rng| lognormal.sample(rng))),
                (
                    "its mirror image",
                    warped(m, |rng| 40.0 - lognormal.sample(rng)),
                ),
                ("Cauchy", warped(m, |rng| cauchy.sample(rng))),
                ("Student's t₂", warped(m, |rng| student.sample(rng))),
                (
                    "two decades",
                    warped(m, |rng| 100f64.powf(rng.random::<f64>())),
                ),
                (
                    "ten decades",
                    warped(m, |rng| 1e10f64.powf(rng.random::<f64>())),
                ),
                (
                    "many zeros",
                    warped(m, |rng| {
                        f64::from(rng.random_range(0..2)) * lognormal.sample(rng)
                    }),
                ),
                (
                    "outliers",
                    warped(m, |rng| match rng.random_range(0..10) {
                        0 => 100.0 * rng.random::<f64>(),
                        _ => rng.random::<f64>(),
                    }),
                ),
            ] {
                assert!(count >= 19, "{name}, {m} rows: {count} of 20");
            }
        }
        assert!(warped(50, |rng| cauchy.sample(rng)) >= 17);
    }

    #[test]
    fn a_log_uniform_column_becomes_uniform() {
        let column: Vec<f64> = (0..500)
            .map(|i| 1e6f64.powf(f64::from(i) / 499.0))
            .collect();
        let warp = Warp::of(&column).unwrap();
        let ends = [column[0], column[499]].map(|v| warp.value(v));
        for (i, &v) in column.iter().enumerate() {
            let place = (warp.value(v) - ends[0]) / (ends[1] - ends[0]);
            assert!((place - i as f64 / 499.0).abs() < 0.05, "{i}: {place}");
        }
    }

    #[test]
    fn the_choice_follows_shifts_scales_and_mirrors() {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let lognormal = LogNormal::new(0.0, 1.5).unwrap();
        let column: Vec<f64> = (0..300).map(|_| lognormal.sample(&mut rng)).collect();
        let warp = Warp::of(&column).unwrap();
        for (scale, shift) in [(1.0, 1e3), (1e-200, 0.0), (1e140, 0.0), (1e6, -17.0)] {
            let other: Vec<f64> = column.iter().map(|v| scale * v + shift).collect();
            let other = Warp::of(&other).unwrap();
            assert!((other.width / (scale * warp.width) - 1.0).abs() < 1e-9);
            let moved = scale * warp.centre + shift;
            assert!((other.centre - moved).abs() < 1e-9 * scale * warp.width);
        }
        // By rank, a mirror image may move a quantile by one value.
        let mirrored: Vec<f64> = column.iter().map(|v| -v).collect();
        let other = Warp::of(&mirrored).unwrap();
        assert!((other.width / warp.width).ln().abs() < 0.5);
        assert!((other.centre + warp.centre).abs() < 0.5 * warp.width);
    }

    #[test]
    fn odd_columns_have_none_or_a_sound_one() {
        let none: [Vec<f64>; 6] = [
            vec![],
            vec![7.0; 100],
            vec![0.0, 1e9, 3.0, 4.0, 5.0, 6.0, 7.0],
            (0..200).map(|i| 10f64.powi(i % 12)).collect(),
            // Rounding errors do not make levels into values.
            (0..200)
                .map(|i| f64::from(i % 4) + 1.0 + 1e-13 * f64::from(i))
                .collect(),
            (0..50).map(|i| [1.0, f64::NAN][i % 2]).collect(),
        ];
        for column in none {
            assert_eq!(Warp::of(&column), None, "{column:?}");
        }
        let wide: Vec<f64> = (-300..=150).map(|i| 10f64.powi(i)).collect();
        let both: Vec<f64> = wide.iter().flat_map(|v| [*v, -v]).collect();
        for column in [wide, both] {
            let warp = Warp::of(&column).unwrap();
            assert!(warp.is_sound() && column.iter().all(|&v| warp.value(v).is_finite()));
        }
    }

    #[test]
    fn inverse_and_slope_belong_to_the_value() {
        let warp = Warp {
            centre: 2.0,
            width: 0.3,
        };
        for v in [-1e8, -5.0, 1.9, 2.0, 2.01, 3.0, 1e100] {
            assert!((warp.inverse(warp.value(v)) / v - 1.0).abs() < 1e-13);
            let h = 1e-5 * (warp.width + (v - warp.centre).abs());
            let difference = (warp.value(v + h) - warp.value(v - h)) / (2.0 * h);
            assert!((warp.slope(v) / difference - 1.0).abs() < 1e-8, "{v}");
        }
    }
}
