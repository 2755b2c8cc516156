//! Random linear constraints.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use thinfit_methods::InputColumn;

/// By how much of its largest term a constraint may be missed, and by how much of what its columns move over.
const LAST_DIGITS: f64 = 2e-13;
const REACH: f64 = 2e-12;

/// How far a column moves over its whole coordinate, at the speed that it has at `value`.
fn reach(factor: &InputColumn, value: f64) -> f64 {
    match factor.warp {
        None => factor.range[1] - factor.range[0],
        Some(warp) => {
            let [low, high] = factor.range.map(|end| warp.value(end));
            (high - low) * (value - warp.centre).abs().max(warp.width) * 1.5
        }
    }
}

/// A sum of columns and its bound.
pub struct Linear {
    pub coefficients: Vec<f64>,
    pub relation: &'static str,
    bound: f64,
}

impl Linear {
    /// One that holds at `row`, on one to three columns of numbers.
    pub fn around(factors: &[InputColumn], row: &[f64], random: &mut ChaCha8Rng) -> Self {
        let numbers: Vec<usize> = (0..factors.len())
            .filter(|k| factors[*k].levels.is_empty())
            .collect();
        let mut coefficients = vec![0.0; factors.len()];
        for _ in 0..random.random_range(1..=3) {
            let k = numbers[random.random_range(0..numbers.len())];
            coefficients[k] = [1.0, -1.0, 0.5, 2.0, 10.0][random.random_range(0..5)];
        }
        let value: f64 = (factors.iter().zip(&coefficients))
            .map(|(factor, a)| a * row[factor.first])
            .sum();
        // An equation of whole numbers alone has few solutions.
        let real = |k: usize| coefficients[k] != 0.0 && !factors[k].whole;
        let relation = match random.random_range(0..6) {
            0 if numbers.iter().any(|k| real(*k)) => "=",
            0..3 => ">=",
            _ => "<=",
        };
        let room = value.abs().max(0.1) * random.random::<f64>();
        let room = if random.random::<bool>() { 0.0 } else { room };
        let bound = match relation {
            "<=" => value + room,
            ">=" => value - room,
            _ => value,
        };
        Linear {
            coefficients,
            relation,
            bound,
        }
    }

    pub fn text(&self, factors: &[InputColumn]) -> String {
        let terms = factors.iter().zip(&self.coefficients);
        let terms = terms.filter(|(_, a)| **a != 0.0);
        let terms: Vec<String> = terms.map(|(f, a)| format!("{a}*{}", f.name)).collect();
        let sum = terms.join(" + ").replace("+ -", "- ");
        format!("{sum} {} {}", self.relation, self.bound)
    }

    pub fn holds(&self, factors: &[InputColumn], row: &[f64]) -> bool {
        let terms = factors.iter().zip(&self.coefficients);
        let terms: Vec<(f64, f64)> = terms
            .filter(|(_, a)| **a != 0.0)
            .map(|(f, a)| (a * row[f.first], (a * reach(f, row[f.first])).abs()))
            .collect();
        let size = terms
            .iter()
            .fold(self.bound.abs(), |m, (v, _)| m.max(v.abs()));
        let reach = terms.iter().fold(0.0, |m: f64, (_, reach)| m.max(*reach));
        let rounding = LAST_DIGITS * size + REACH * reach;
        let above = terms.iter().map(|(v, _)| v).sum::<f64>() - self.bound;
        match self.relation {
            "<=" => above <= rounding,
            ">=" => above >= -rounding,
            _ => above.abs() <= rounding,
        }
    }
}
