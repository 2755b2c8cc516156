//! Moments of any function on a box, estimated from its values and derivatives at the points of a lattice.

use super::{Moments, Sensitivity};
use thinfit::pieces::lattice;
use thinfit::{Error, Mat, MatRef, Result, Scaler, check_finite};

/// Minimum and maximum number of points of a lattice, as powers of two.
const POINTS: [u32; 2] = [8, 14];
/// Maximum number of pairs of inputs, times points, that are worked out: some seconds, 0.2 GB.
const MOST_PAIRS: u64 = 1 << 33;

/// f at the rows of x (m × d): m values.
type Value<'a> = dyn Fn(MatRef<'_, f64>) -> Result<Vec<f64>> + 'a;
/// ∂f/∂x_j at the rows of x (m × d): m × d.
type Gradient<'a> = dyn Fn(MatRef<'_, f64>) -> Result<Mat<f64>> + 'a;

/// A function f of d inputs on a box, for estimates of its indices and effects.
#[derive(Clone, Copy)]
pub struct Sampled<'a> {
    /// The box: d pairs of low ≤ high.
    pub domain: &'a [[f64; 2]],
    /// The inputs are uniform in the warped units of this scaling.
    pub inputs: &'a Scaler,
    /// f at the rows of x (m × d): m values.
    pub value: &'a Value<'a>,
    /// ∂f/∂x_j at the rows of x (m × d): m × d.
    pub gradient: &'a Gradient<'a>,
    /// Points of the lattice, a power of two; an estimate of indices takes 2d + 2 values at each of them, and 2
    /// gradients.
    pub points: usize,
}

impl Sampled<'_> {
    /// Maximum number of points of a lattice, within some bounds, that cost no more than `work`, where one costs `each`.
    pub fn points_within(work: u64, each: usize) -> usize {
        let affordable = (work / each.max(1) as u64).max(1).ilog2();
        1 << affordable.clamp(POINTS[0], POINTS[1])
    }

    /// Sensitivity indices with independent inputs, uniform on the box in warped units; all zero where the variance is at
    /// most `noise`. `watch` receives the progress from 0 to 1.
    ///
    /// # Errors
    /// Those of the function, or numbers that leave the finite range.
    pub fn sensitivity(&self, noise: f64, watch: &dyn Fn(f64)) -> Result<Sensitivity> {
        self.moments(watch)?.indices(noise, false)
    }

    /// The main effect of input `j`: E\[f | x_j = v\] for every v of `at`, with the other inputs uniform on the box.
    ///
    /// # Errors
    /// Those of the function, an input that does not exist, or values that are not finite.
    pub fn effect(&self, j: usize, at: &[f64]) -> Result<Vec<f64>> {
        let d = self.domain.len();
        check_effect(j, d, at)?;
        let mut x = self.in_box(lattice(self.points, d, &[]).as_ref());
        at.iter()
            .map(|&v| {
                x.col_as_slice_mut(j).fill(v);
                Ok(mean(&(self.value)(x.as_ref())?))
            })
            .collect()
    }

    /// The moments from values at points A and B and at those with one coordinate exchanged (pick-freeze).
    ///
    /// With p_j = f(A, x_j of B) − f(A) and q_j = f(B, x_j of A) − f(B): E p_j² = E q_j² = 2 × total, E p_j q_j = −2 ×
    /// first and E p_i q_j = second. The estimates keep |first| ≤ total. All p and q are kept only where the pairs of inputs
    /// are few enough to be worked out.
    fn moments(&self, watch: &dyn Fn(f64)) -> Result<Moments> {
        let d = self.domain.len();
        let points = lattice(self.points, 2 * d, &[]);
        let [mut a, mut b] = [0, d].map(|from| self.in_box(points.as_ref().subcols(from, d)));
        drop(points);
        let values = |x: &Mat<f64>| (self.value)(x.as_ref());
        let (at_a, at_b) = (values(&a)?, values(&b)?);
        let exchanged = |x: &mut Mat<f64>, other: &Mat<f64>, at_x: &[f64], j: usize| {
            let own = x.col_as_slice(j).to_vec();
            x.col_as_slice_mut(j).copy_from_slice(other.col_as_slice(j));
            let changed = values(x);
            x.col_as_slice_mut(j).copy_from_slice(&own);
            let changed = changed?.into_iter().zip(at_x).map(|(f, g)| f - g);
            Ok::<Vec<f64>, Error>(changed.collect())
        };
        let product = |a: &[f64], b: &[f64]| {
            a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>() / self.points as f64
        };
        let pairs = d.saturating_mul(d).saturating_mul(self.points) as u64 <= MOST_PAIRS;
        let (mut first, mut total, mut kept) = (Vec::new(), Vec::new(), Vec::new());
        for j in 0..d {
            let p = exchanged(&mut a, &b, &at_a, j)?;
            let q = exchanged(&mut b, &a, &at_b, j)?;
            first.push(-0.5 * product(&p, &q));
            total.push(0.25 * (product(&p, &p) + product(&q, &q)));
            if pairs {
                kept.push((p, q));
            }
            watch((j + 1) as f64 / d as f64);
        }
        let both_ways: Vec<Vec<[f64; 2]>> = (0..kept.len())
            .map(|i| {
                let (p, q) = &kept[i];
                let pair = |(r, s): &(Vec<f64>, Vec<f64>)| [product(p, s), product(r, q)];
                kept[..i].iter().map(pair).collect()
            })
            .collect();
        // The mean of two estimates is off by about half of what they differ by.
        let off: Vec<f64> = (both_ways.iter().flatten())
            .map(|[one, other]| 0.5 * (one - other))
            .collect();
        let slopes = [self.slopes(&a)?, self.slopes(&b)?];
        let both = [at_a, at_b].concat();
        let middle = mean(&both);
        let centred: Vec<f64> = both.iter().map(|f| f - middle).collect();
        Ok(Moments {
            mean: middle,
            variance: 0.5 * product(&centred, &centred),
            first,
            total,
            second: (both_ways.iter())
                .map(|row| row.iter().map(|[one, other]| 0.5 * (one + other)).collect())
                .collect(),
            second_error: (product(&off, &off) * self.points as f64 / off.len().max(1) as f64)
                .sqrt(),
            derivative: (0..d)
                .map(|j| {
                    let square = |s: &Mat<f64>| product(s.col_as_slice(j), s.col_as_slice(j));
                    0.5 * slopes.iter().map(square).sum::<f64>()
                })
                .collect(),
        })
    }

    /// Derivatives in warped units.
    fn slopes(&self, x: &Mat<f64>) -> Result<Mat<f64>> {
        let slopes = (self.gradient)(x.as_ref())?;
        Ok(Mat::from_fn(x.nrows(), x.ncols(), |i, j| {
            slopes[(i, j)] / self.inputs.warp_slope(j, x[(i, j)])
        }))
    }

    /// Points of the unit cube (rows), mapped to the box, evenly in warped units.
    fn in_box(&self, points: MatRef<'_, f64>) -> Mat<f64> {
        Mat::from_fn(points.nrows(), points.ncols(), |i, j| {
            let [low, high] = self.domain[j].map(|v| self.inputs.warped(j, v));
            self.inputs.unwarped(j, low + (high - low) * points[(i, j)])
        })
    }
}

/// Refuses the effect of an input that does not exist, or at values that are not finite.
pub(super) fn check_effect(j: usize, d: usize, at: &[f64]) -> Result<()> {
    if j >= d {
        return Err(Error::Shape {
            what: "input of the effect",
            expected: format!("an input below {d}"),
            found: j.to_string(),
        });
    }
    check_finite("at", MatRef::from_column_major_slice(at, at.len(), 1))
}

/// The mean as an offset from the first value, which is exact for equal values.
fn mean(values: &[f64]) -> f64 {
    let (from, count) = (values[0], values.len() as f64);
    let mean = from + values.iter().map(|v| v - from).sum::<f64>() / count;
    match mean.is_finite() {
        true => mean,
        // The sum of large values overflows where their mean does not.
        false => values.iter().map(|value| value / count).sum(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_of_values_near_the_end_of_the_range_is_finite() {
        assert_eq!(mean(&[1.5e308; 4]), 1.5e308);
        assert_eq!(mean(&[1.5e308, -1.5e308, 1.5e308, -1.5e308]), 0.0);
        assert_eq!(mean(&[1.0, 2.0]), 1.5);
    }
}
