//! Sparse regions: fifths of an input's range with far fewer samples than their share.

use crate::control::Control;
use thinfit::Mat;
use thinfit_methods::{Predictor, four_digits};

/// Parts of a range.
const PARTS: usize = 5;
/// The share of its share below which a part is thin.
const THIN: f64 = 0.35;

/// Sentences about the thin parts of the rows `x` (m × d); ranges of warped inputs are cut in their warped units, and numbers of
/// few values have no thin parts.
pub(crate) fn thin(model: &Predictor, controls: &[Control], x: &Mat<f64>) -> Vec<String> {
    let (m, scaler) = (x.nrows(), model.input_scaler());
    let mut words = Vec::new();
    let many = |control: &&Control| control.factor.levels.is_empty() && control.values.is_empty();
    for control in controls.iter().filter(many) {
        let j = control.factor.first;
        let [low, high] = control.factor.range.map(|v| scaler.warped(j, v));
        if high <= low {
            continue;
        }
        let mut counts = [0; PARTS];
        for v in x.col_as_slice(j) {
            let place = (scaler.warped(j, *v) - low) / (high - low);
            counts[((place * PARTS as f64) as usize).min(PARTS - 1)] += 1;
        }
        for (part, &count) in counts.iter().enumerate() {
            if (count as f64) < THIN * m as f64 / PARTS as f64 {
                let end = |part: usize| {
                    let place = low + (high - low) * part as f64 / PARTS as f64;
                    four_digits(scaler.unwarped(j, place))
                };
                words.push(format!(
                    "{}: only {count} of {m} rows between {} and {}",
                    control.factor.name,
                    end(part),
                    end(part + 1)
                ));
            }
        }
    }
    for control in controls {
        for level in &control.factor.levels {
            let is = |i: &usize| {
                let inputs = level.inputs.iter().enumerate();
                inputs
                    .into_iter()
                    .all(|(k, v)| x[(*i, control.factor.first + k)] == *v)
            };
            let count = (0..m).filter(is).count();
            if (count as f64) < THIN * m as f64 / control.factor.levels.len() as f64 {
                words.push(format!(
                    "{}: only {count} of {m} rows are {}",
                    control.factor.name, level.name
                ));
            }
        }
    }
    words
}
