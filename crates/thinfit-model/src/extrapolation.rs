//! Extrapolation: how many rows lie outside the ranges of the samples, and how much larger the error is there.
//!
//! A network of waves repeats itself, a kernel returns to its mean, and neither knows f beyond the samples. With c
//! the nearest point inside, the error at x is taken to have a Laplace distribution with scale
//!
//! ```text
//! b = max |f − f(c)| on the way to x + Σ_j |∂_j f(c) (x_j − c_j)| + σ t,     t = max_j |x_j − c_j| / range_j
//! ```
//!
//! with σ the scale of the output. An input without a detectable effect may leave its range by 1/5 before it counts,
//! and no input counts for a model that predicts the mean. This error is independent of the model's own error
//! estimate; beyond t = 1/5 it is infinite. The coefficients of the three terms are the smallest round numbers for
//! which 90 % intervals covered at least 90 % of the true values at all t up to 1/5, over 33 published functions
//! together: `cargo run -p thinfit-study --example outside`.

use crate::Predictor;
use thinfit::{Deviation, Interval, Mat, MatRef, Result};

/// An input may leave its range by this fraction of it without being counted: a few samples show a slightly narrower range than the true
/// one.
const SLACK: f64 = 0.05;
/// Maximum number of inputs named in a message.
const MOST: usize = 3;
/// Where intervals become infinite, as a share of a range.
const FARTHEST: f64 = 0.2;
/// Points on the way to [`FARTHEST`] at which the change of f is evaluated.
const STEPS: usize = 8;

/// Counts of rows, and of those outside.
#[derive(Clone, Debug)]
pub struct Extrapolation {
    rows: usize,
    outside: usize,
    /// For each input, the rows in which it is outside.
    inputs: Vec<usize>,
    /// The fraction of a range by which an input may leave it without being counted.
    slack: f64,
}

impl Extrapolation {
    /// Nothing counted yet.
    pub fn of(model: &Predictor) -> Self {
        Extrapolation {
            rows: 0,
            outside: 0,
            inputs: vec![0; model.inputs().len()],
            slack: SLACK,
        }
    }

    /// Nothing counted yet; counts every row that is not inside, however near.
    pub fn exactly(model: &Predictor) -> Self {
        Extrapolation {
            slack: 0.0,
            ..Extrapolation::of(model)
        }
    }

    /// Counts the rows of `x` (rows × inputs).
    pub fn count(&mut self, model: &Predictor, x: MatRef<'_, f64>) {
        let mut outside = vec![false; x.nrows()];
        for (j, [low, high]) in model.domain().iter().enumerate() {
            let slack = self.slack * (high - low);
            for (i, &value) in x.col(j).iter().enumerate() {
                if value < low - slack || value > high + slack {
                    self.inputs[j] += 1;
                    outside[i] = true;
                }
            }
        }
        self.rows += x.nrows();
        self.outside += outside.iter().filter(|outside| **outside).count();
    }

    /// A description of the rows outside; `None` if there are none.
    pub fn words(&self, model: &Predictor) -> Option<String> {
        if self.outside == 0 {
            return None;
        }
        let mut order: Vec<usize> = (0..self.inputs.len()).collect();
        order.sort_by_key(|&j| std::cmp::Reverse(self.inputs[j]));
        let found = order.iter().filter(|&&j| self.inputs[j] > 0).take(MOST);
        let found: Vec<String> = found
            .map(|&j| format!("{} in {}", model.inputs()[j], self.inputs[j]))
            .collect();
        let rows = match self.rows {
            1 => "1 row".into(),
            rows => format!("{rows} rows"),
        };
        Some(format!(
            "{} of {rows} outside the ranges of the training samples ({})",
            self.outside,
            found.join(", ")
        ))
    }
}

/// The additional error of rows that lie outside.
pub(crate) struct Excess {
    /// The scale b of the Laplace distribution (rows × c): zero inside, infinite far outside.
    size: Mat<f64>,
}

impl Excess {
    /// At the rows of `x` (rows × d); none if all are inside.
    pub fn at(model: &Predictor, x: MatRef<'_, f64>) -> Result<Option<Self>> {
        let (scaler, found) = (model.input_scaler(), model.record().diagnosis.as_ref());
        if found.is_some_and(|found| found.is_mean()) {
            return Ok(None);
        }
        let free = |j: usize| match found.is_some_and(|found| !found.inputs.contains(&j)) {
            true => FARTHEST,
            false => 0.0,
        };
        // How far a row is outside, in warped units of the range.
        let distance = |i: usize| {
            let each = model.domain().iter().enumerate().map(|(j, &[low, high])| {
                let value = x[(i, j)];
                let [low, high, at] = [low, high, value].map(|v| scaler.warped(j, v));
                match (low - at).max(at - high) {
                    beyond if beyond > 0.0 => (beyond / (high - low) - free(j)).max(0.0),
                    _ => 0.0,
                }
            });
            each.fold(0.0, f64::max)
        };
        let distances: Vec<f64> = (0..x.nrows()).map(distance).collect();
        if distances.iter().all(|&t| t == 0.0) {
            return Ok(None);
        }
        let c = model.outputs().len();
        let mut size = Mat::zeros(x.nrows(), c);
        let known = |t: f64| t > 0.0 && t <= FARTHEST;
        let near: Vec<usize> = (0..x.nrows()).filter(|&i| known(distances[i])).collect();
        let there = Mat::from_fn(near.len(), x.ncols(), |i, j| x[(near[i], j)]);
        let border = model.clipped(there.as_ref());
        let at_border = model.predict(border.as_ref())?;
        // The largest change on the way out, so that an oscillation does not shrink the error.
        let mut changes = Mat::<f64>::zeros(near.len(), c);
        for step in 1..=STEPS {
            let farthest = step as f64 / STEPS as f64 * FARTHEST;
            let way = Mat::from_fn(near.len(), x.ncols(), |k, j| {
                let part = (farthest / distances[near[k]]).min(1.0);
                border[(k, j)] + part * (there[(k, j)] - border[(k, j)])
            });
            let f = model.predict(way.as_ref())?;
            for (k, o) in (0..c).flat_map(|o| (0..near.len()).map(move |k| (k, o))) {
                changes[(k, o)] = changes[(k, o)].max((f[(k, o)] - at_border[(k, o)]).abs());
            }
        }
        let spread = &model.output_scaler().scale;
        for o in 0..c {
            let slopes = model.gradient(border.as_ref(), o)?;
            for (k, &i) in near.iter().enumerate() {
                let linear = |j: usize| (slopes[(k, j)] * (there[(k, j)] - border[(k, j)])).abs();
                let linear: f64 = (0..x.ncols()).map(linear).sum();
                size[(i, o)] = changes[(k, o)] + linear + spread[o] * distances[i];
            }
            for i in (0..x.nrows()).filter(|&i| distances[i] > FARTHEST) {
                size[(i, o)] = f64::INFINITY;
            }
        }
        Ok(Some(Excess { size }))
    }

    /// The mean over the rows of the additional variance of output `o`.
    pub fn variance(&self, o: usize) -> f64 {
        let sizes = self.size.col_as_slice(o);
        sizes.iter().map(|size| 2.0 * size * size).sum::<f64>() / sizes.len() as f64
    }

    /// The interval, widened by the additional error.
    pub fn widen(&self, interval: &mut Interval, level: f64) {
        let quantile = -(1.0 - level).ln();
        for o in 0..self.size.ncols() {
            for i in 0..self.size.nrows() {
                let size = self.size[(i, o)];
                if size == 0.0 {
                    continue;
                }
                let (low, high) = (interval.low[(i, o)], interval.high[(i, o)]);
                let (middle, half) = (0.5 * (low + high), 0.5 * (high - low));
                let half = half.hypot(size * quantile);
                let bound = |sign: f64| match half.is_finite() {
                    true => middle + sign * half,
                    false => sign * f64::INFINITY,
                };
                (interval.low[(i, o)], interval.high[(i, o)]) = (bound(-1.0), bound(1.0));
            }
        }
    }

    /// The deviations, widened by the additional error.
    pub fn add(&self, deviation: &mut Deviation) {
        for values in [&mut deviation.model, &mut deviation.observation] {
            for o in 0..self.size.ncols() {
                for i in (0..self.size.nrows()).filter(|&i| self.size[(i, o)] > 0.0) {
                    // The standard deviation of the distribution is √2 b.
                    values[(i, o)] =
                        values[(i, o)].hypot(std::f64::consts::SQRT_2 * self.size[(i, o)]);
                }
            }
        }
    }
}

impl Predictor {
    /// The rows of `x` (rows × d), each moved to the nearest place inside the ranges of the samples.
    pub fn clipped(&self, x: MatRef<'_, f64>) -> Mat<f64> {
        let domain = self.domain();
        Mat::from_fn(x.nrows(), x.ncols(), |i, j| {
            let [low, high] = domain[j];
            match x[(i, j)].is_nan() {
                true => f64::NAN,
                false => x[(i, j)].max(low).min(high),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use thinfit::Dataset;

    fn model(method: &str) -> Predictor {
        let x = Mat::from_fn(60, 2, |i, j| ((i * (7 + 4 * j)) % 61) as f64 / 60.0);
        let y = Mat::from_fn(60, 2, |i, o| {
            (3.0 * x[(i, 0)]).sin() + (1 + o) as f64 * x[(i, 1)] + 0.05 * (99.0 * i as f64).sin()
        });
        let data = Dataset::new(x, y).unwrap();
        crate::tests::fitted(method, &data, 1)
    }

    /// Rows that leave the range of the first input by these shares of it.
    fn beyond(model: &Predictor, shares: &[f64]) -> Mat<f64> {
        let [low, high] = model.domain()[0];
        Mat::from_fn(shares.len(), 2, |i, j| match j {
            0 => high + shares[i] * (high - low),
            _ => 0.4,
        })
    }

    #[test]
    fn intervals_are_the_same_inside_grow_outside_and_end() {
        for name in ["gaussian-process", "kernel-ridge", "random"] {
            let model = model(name);
            let inside = beyond(&model, &[-0.7, -0.3, 0.0]);
            let (now, before) = (
                model.interval(inside.as_ref(), 0.8).unwrap(),
                model.interval_inside(inside.as_ref(), 0.8).unwrap(),
            );
            assert_eq!((now.low, now.high), (before.low, before.high), "{name}");
            let shares = [0.0, 0.01, 0.05, 0.1, 0.15, 0.2];
            let outside = beyond(&model, &shares);
            let [few, many] = [0.5, 0.8].map(|level| {
                let bounds = model.interval(outside.as_ref(), level).unwrap();
                Mat::from_fn(6, 2, |i, o| bounds.high[(i, o)] - bounds.low[(i, o)])
            });
            for (i, o) in (0..10).map(|k| (k / 2, k % 2)) {
                assert!(few[(i, o)] < many[(i, o)], "{name}");
                assert!(many[(i, o)] < many[(i + 1, o)], "{name}: {many:?}");
            }
            let far = beyond(&model, &[0.1, 0.21, 5.0]);
            let bounds = model.interval(far.as_ref(), 0.5).unwrap();
            for (i, o) in (0..6).map(|k| (k / 2, k % 2)) {
                let (low, high) = (bounds.low[(i, o)], bounds.high[(i, o)]);
                assert_eq!(
                    low == f64::NEG_INFINITY && high == f64::INFINITY,
                    i > 0,
                    "{name}"
                );
                assert!(low < high);
            }
        }
    }

    #[test]
    fn deviations_grow_with_the_intervals() {
        for name in ["gaussian-process", "random"] {
            let model = model(name);
            let rows = beyond(&model, &[0.0, 0.05, 0.2, 0.3]);
            let deviation = model.deviation(rows.as_ref()).unwrap();
            for values in [deviation.model, deviation.observation] {
                for o in 0..2 {
                    let values = values.col_as_slice(o);
                    assert!(
                        values.is_sorted() && values[2].is_finite(),
                        "{name}: {values:?}"
                    );
                    assert_eq!(values[3], f64::INFINITY);
                }
            }
        }
    }

    #[test]
    fn rows_outside_are_counted_and_can_be_moved_to_the_border() {
        let model = model("kernel-ridge");
        let rows = beyond(&model, &[0.5, 0.02, -0.1]);
        let mut outside = Extrapolation::of(&model);
        outside.count(&model, rows.as_ref());
        let words = outside.words(&model).unwrap();
        assert!(
            words.starts_with("1 of 3 rows outside") && words.contains("(x1 in 1)"),
            "{words}"
        );
        let mut moved = Extrapolation::exactly(&model);
        moved.count(&model, rows.as_ref());
        let words = moved.words(&model).unwrap();
        assert!(words.starts_with("2 of 3 rows outside"), "{words}");
        let clipped = model.clipped(rows.as_ref());
        assert_eq!(clipped[(0, 0)], model.domain()[0][1]);
        assert_eq!(clipped[(2, 0)], rows[(2, 0)]);
        let mut inside = Extrapolation::of(&model);
        inside.count(&model, clipped.as_ref());
        assert_eq!(inside.words(&model), None);
    }
}
