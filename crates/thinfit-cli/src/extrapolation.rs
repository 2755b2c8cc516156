//! Rows outside the ranges of the samples that a model learned from, where its values mean little.

use std::io::Write;

use thinfit::MatRef;
use thinfit_methods::Predictor;

use crate::digits::counted;

/// Inputs may leave their range by this part of it: a range seen in few samples is a little narrower than the true one.
const SLACK: f64 = 0.05;
/// Inputs in a message.
const MOST: usize = 3;

/// Counts of rows outside.
pub struct Extrapolation {
    rows: usize,
    outside: usize,
    /// Rows in which this input is outside.
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

    /// Says on standard error what was found, if anything.
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
        // That no one reads it is no reason to fail.
        let _ = writeln!(
            std::io::stderr(),
            "warning: {} of {} outside the ranges that the model learned from ({}): it extrapolates there; \
             `thinfit inspect` shows the ranges",
            self.outside,
            counted(self.rows, "row"),
            found.join(", ")
        );
    }
}
