//! Box-constrained minimisation by limited-memory BFGS, one iteration at a time.
//!
//! The direction is −H∇, with H from the latest pairs s = Δx, y = Δ∇ (two-loop recursion), over the free variables: those
//! not at a bound with the gradient pushing outwards. The line search backtracks along the path clipped to the box until
//! the value falls enough (Armijo). A crate would bring its own line searches, vectors and stopping rules for what is a
//! page here.

use std::collections::VecDeque;
use thinfit::pieces::dot;

/// Number of pairs kept.
const MEMORY: usize = 10;
/// Largest step of one variable; the variables are logarithms here, so this is a factor of e².
const LONGEST: f64 = 2.0;
/// Relative decrease of the value that counts as none.
const STILL: f64 = 1e-10;
/// Projected gradient that counts as zero.
const FLAT: f64 = 1e-6;

/// A minimisation in progress.
pub struct Lbfgs {
    /// The best point so far.
    pub x: Vec<f64>,
    /// Its value; infinite if there is none.
    pub value: f64,
    /// Whether the search has ended.
    pub done: bool,
    gradient: Vec<f64>,
    bounds: Vec<[f64; 2]>,
    pairs: VecDeque<(Vec<f64>, Vec<f64>)>,
    /// Consecutive iterations without progress.
    idle: usize,
}

impl Lbfgs {
    /// Starts at `x`, inside the box; `objective` returns value and gradient, or `None` where it has no value.
    pub fn new(
        x: Vec<f64>,
        bounds: Vec<[f64; 2]>,
        objective: &impl Fn(&[f64]) -> Option<(f64, Vec<f64>)>,
    ) -> Self {
        let (value, gradient) = objective(&x).unwrap_or((f64::INFINITY, vec![0.0; x.len()]));
        Lbfgs {
            done: value.is_infinite(),
            x,
            value,
            gradient,
            bounds,
            pairs: VecDeque::new(),
            idle: 0,
        }
    }

    /// One iteration.
    pub fn step(&mut self, objective: &impl Fn(&[f64]) -> Option<(f64, Vec<f64>)>) {
        let free: Vec<bool> = (0..self.x.len())
            .map(|i| {
                let (x, g, [low, high]) = (self.x[i], self.gradient[i], self.bounds[i]);
                !(x <= low && g > 0.0 || x >= high && g < 0.0)
            })
            .collect();
        let project = |v: &[f64]| -> Vec<f64> {
            let held = v
                .iter()
                .zip(&free)
                .map(|(v, free)| if *free { *v } else { 0.0 });
            held.collect()
        };
        let gradient = project(&self.gradient);
        if gradient.iter().all(|g| g.abs() < FLAT) {
            self.done = true;
            return;
        }
        let mut direction = project(&self.direction(&gradient));
        let steepest = |by: f64| gradient.iter().map(|g| -g / by).collect::<Vec<_>>();
        let norm = dot(&gradient, &gradient).sqrt();
        if self.pairs.is_empty()
            || dot(&direction, &gradient) > -1e-12 * norm * dot(&direction, &direction).sqrt()
        {
            self.pairs.clear();
            direction = steepest(norm.max(1.0));
        }
        let longest = direction.iter().fold(0.0, |a: f64, v| a.max(v.abs()));
        let mut t = (LONGEST / longest).min(1.0);
        for _ in 0..12 {
            let x: Vec<f64> = (0..self.x.len())
                .map(|i| (self.x[i] + t * direction[i]).clamp(self.bounds[i][0], self.bounds[i][1]))
                .collect();
            let s: Vec<f64> = x.iter().zip(&self.x).map(|(new, old)| new - old).collect();
            let slope = dot(&self.gradient, &s);
            let found = objective(&x);
            let value = found.as_ref().map_or(f64::INFINITY, |found| found.0);
            match found {
                Some((value, gradient)) if value <= self.value + 1e-4 * slope => {
                    let y: Vec<f64> = gradient
                        .iter()
                        .zip(&self.gradient)
                        .map(|(new, old)| new - old)
                        .collect();
                    if dot(&s, &y) > 1e-10 * (dot(&s, &s) * dot(&y, &y)).sqrt() {
                        self.pairs.push_back((s, y));
                        if self.pairs.len() > MEMORY {
                            self.pairs.pop_front();
                        }
                    }
                    let still = self.value - value <= STILL * self.value.abs().max(1.0);
                    self.idle = if still { self.idle + 1 } else { 0 };
                    self.done = self.idle >= 2;
                    (self.x, self.value, self.gradient) = (x, value, gradient);
                    return;
                }
                // The minimum of the parabola through both values and the slope, kept away from both ends.
                _ if value.is_finite() => {
                    t *= (-0.5 * slope / (value - self.value - slope)).clamp(0.1, 0.5);
                }
                _ => t *= 0.2,
            }
        }
        // No descent: try once more without memory, then give up.
        self.done = self.pairs.is_empty();
        self.pairs.clear();
    }

    /// −H g.
    fn direction(&self, g: &[f64]) -> Vec<f64> {
        let mut q: Vec<f64> = g.iter().map(|g| -g).collect();
        let mut weights = Vec::with_capacity(self.pairs.len());
        for (s, y) in self.pairs.iter().rev() {
            let weight = dot(s, &q) / dot(s, y);
            q.iter_mut().zip(y).for_each(|(q, y)| *q -= weight * y);
            weights.push(weight);
        }
        if let Some((s, y)) = self.pairs.back() {
            let scale = dot(s, y) / dot(y, y);
            q.iter_mut().for_each(|q| *q *= scale);
        }
        for ((s, y), weight) in self.pairs.iter().zip(weights.iter().rev()) {
            let other = dot(y, &q) / dot(s, y);
            q.iter_mut()
                .zip(s)
                .for_each(|(q, s)| *q += (weight - other) * s);
        }
        q
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn minimise(
        x: &[f64],
        bounds: [f64; 2],
        objective: impl Fn(&[f64]) -> Option<(f64, Vec<f64>)>,
    ) -> (Vec<f64>, usize) {
        let mut search = Lbfgs::new(x.to_vec(), vec![bounds; x.len()], &objective);
        let mut steps = 0;
        while !search.done && steps < 500 {
            search.step(&objective);
            steps += 1;
        }
        (search.x, steps)
    }

    /// Rosenbrock's function, undefined beyond x = 1.5.
    fn valley(x: &[f64]) -> Option<(f64, Vec<f64>)> {
        let (a, b) = (1.0 - x[0], x[1] - x[0] * x[0]);
        let gradient = vec![-2.0 * a - 400.0 * b * x[0], 200.0 * b];
        (x[0] < 1.5).then_some((a * a + 100.0 * b * b, gradient))
    }

    #[test]
    fn the_end_of_a_curved_valley_is_found() {
        let (x, steps) = minimise(&[-1.2, 1.0], [-10.0, 10.0], valley);
        assert!(
            (x[0] - 1.0).abs() < 1e-5 && (x[1] - 1.0).abs() < 1e-5 && steps < 80,
            "{x:?} {steps}"
        );
    }

    #[test]
    fn bounds_hold_and_the_rest_is_minimised() {
        let (x, _) = minimise(&[-1.2, 0.0], [-2.0, 0.5], valley);
        // The valley leaves the box at (1/2, 1/4).
        assert!(x[0] == 0.5 && (x[1] - 0.25).abs() < 1e-6, "{x:?}");
        let bowl = |x: &[f64]| {
            let value = x
                .iter()
                .enumerate()
                .map(|(i, x)| (i + 1) as f64 * (x - 3.0 * i as f64).powi(2))
                .sum();
            let gradient = x
                .iter()
                .enumerate()
                .map(|(i, x)| 2.0 * (i + 1) as f64 * (x - 3.0 * i as f64))
                .collect();
            Some((value, gradient))
        };
        let (x, steps) = minimise(&[1.0; 4], [-1.0, 5.0], bowl);
        for (x, expected) in x.iter().zip([0.0, 3.0, 5.0, 5.0]) {
            assert!((x - expected).abs() < 1e-5, "{x} {steps}");
        }
    }
}
