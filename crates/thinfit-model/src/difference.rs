//! Whether a model can distinguish its values at two points.

use crate::Predictor;
use thinfit::{Mat, MatRef, Result};

/// Half the width of a 90 % interval of a normal number, in standard deviations.
const NORMAL: f64 = 1.644_853_626_951_472;

impl Predictor {
    /// For each row of `x` (n × d), half the width of the 90 % interval of the difference f(row) − f(`from`) of output `o`, where
    /// `from` is the first row: values no further apart are as good as each other. From the covariances of the model or, where it has
    /// none, from its error on held-out rows; none where it has neither.
    ///
    /// # Errors
    /// As [`Predictor::predict`].
    pub fn difference_widths(&self, x: MatRef<'_, f64>, o: usize) -> Result<Option<Vec<f64>>> {
        if x.nrows() == 0 {
            return Ok(Some(vec![]));
        }
        let Ok(known) = self.covariance(x, x) else {
            // Two values, each with an error.
            let mse = self.record().validation_mse.get(o);
            return Ok(mse.map(|mse| vec![NORMAL * (2.0 * mse).sqrt(); x.nrows()]));
        };
        let c: &Mat<f64> = &known.between;
        let width = |i: usize| {
            let variance = (c[(i, i)] + c[(0, 0)] - 2.0 * c[(i, 0)]).max(0.0);
            NORMAL * known.scale[o] * variance.sqrt()
        };
        Ok(Some((0..x.nrows()).map(width).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use thinfit::Dataset;

    #[test]
    fn differences_are_narrow_near_the_first_row_and_wide_far_from_it() {
        let x = Mat::from_fn(40, 1, |i, _| ((i * 7) % 41) as f64 / 40.0);
        let y = Mat::from_fn(40, 1, |i, _| {
            (5.0 * x[(i, 0)]).sin() + 0.1 * (99.0 * i as f64).sin()
        });
        let data = Dataset::new(x, y).unwrap();
        let rows = Mat::from_fn(3, 1, |i, _| [0.5, 0.5001, 0.9][i]);
        for (method, known) in [("gaussian-process", true), ("gft-r", true), ("rff", false)] {
            let model = crate::tests::fitted(method, &data, 1);
            let found = model.difference_widths(rows.as_ref(), 0).unwrap();
            let found = found.unwrap();
            if known {
                assert_eq!(found[0], 0.0);
                assert!(found[1] < 0.5 * found[2], "{found:?}");
            } else {
                let mse = model.record().validation_mse[0];
                assert_eq!(found, [NORMAL * (2.0 * mse).sqrt(); 3]);
            }
        }
    }
}
