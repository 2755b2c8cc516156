//! Rows outside the ranges of the training samples, where predictions mean little.

use std::io::Write;

use thinfit::MatRef;
use thinfit_methods::Predictor;

use crate::digits::counted;
use crate::terminal;

/// An input may leave its range by this fraction of it: a few samples show a slightly narrower range than the true one.
const SLACK: f64 = 0.05;
/// The most inputs named in a message.
const MOST: usize = 3;

/// Counts of rows, and of those outside.
pub struct Extrapolation {
    rows: usize,
    outside: usize,
    /// For each input, the rows in which it is outside.
    inputs: Vec<usize>,
}

impl Extrapolation {
    /// Nothing counted yet.
    pub fn of(model: &Predictor) -> Self {
        Extrapolation {
            rows: 0,
            outside: 0,
            inputs: vec![0; model.inputs().len()],
        }
    }

    /// Counts the rows of `x` (rows × inputs).
    pub fn count(&mut self, model: &Predictor, x: MatRef<'_, f64>) {
        let mut outside = vec![false; x.nrows()];
        for (j, [low, high]) in model.domain().iter().enumerate() {
            let slack = SLACK * (high - low);
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

    /// Warns on standard error if rows were outside.
    pub fn warn(&self, model: &Predictor) {
        if self.outside == 0 {
            return;
        }
        let mut order: Vec<usize> = (0..self.inputs.len()).collect();
        order.sort_by_key(|&j| std::cmp::Reverse(self.inputs[j]));
        let found = order.iter().filter(|&&j| self.inputs[j] > 0).take(MOST);
        let found: Vec<String> = found
            .map(|&j| format!("{} in {}", model.inputs()[j], self.inputs[j]))
            .collect();
        // A warning that no one reads is no reason to fail.
        let _ = writeln!(
            terminal::stderr(),
            "warning: {} of {} outside the ranges of the training samples ({}), where the model extrapolates; \
             `thinfit inspect` shows the ranges",
            self.outside,
            counted(self.rows, "row"),
            found.join(", ")
        );
    }
}
