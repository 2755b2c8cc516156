//! The scaling of columns: an affine map per column, found from the samples and kept in the model.

use super::dataset::range;
use faer::{Mat, MatRef};
use serde::{Deserialize, Serialize};

/// How columns are scaled before a fit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scaling {
    /// No scaling, as in the paper.
    None,
    /// Inputs to the box [−½, ½]ᵈ; outputs to mean 0 and standard deviation 1.
    #[default]
    Box,
    /// Inputs and outputs to mean 0 and standard deviation 1.
    Standard,
}

impl Scaling {
    /// The maps of the inputs `x` (m × d) and of the outputs `y` (m × c).
    pub fn scalers(self, x: MatRef<'_, f64>, y: MatRef<'_, f64>) -> (Scaler, Scaler) {
        match self {
            Scaling::None => (Scaler::identity(x.ncols()), Scaler::identity(y.ncols())),
            Scaling::Box => (Scaler::to_box(x), Scaler::to_standard(y)),
            Scaling::Standard => (Scaler::to_standard(x), Scaler::to_standard(y)),
        }
    }
}

/// An affine map per column, v ↦ (v − shift)/scale.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scaler {
    /// Subtracted from each column.
    pub shift: Vec<f64>,
    /// Divides each column after the shift; 1 for a constant column.
    pub scale: Vec<f64>,
}

impl Scaler {
    /// The map that changes nothing.
    pub fn identity(columns: usize) -> Self {
        Scaler {
            shift: vec![0.0; columns],
            scale: vec![1.0; columns],
        }
    }

    /// Maps every column to [−½, ½].
    pub fn to_box(a: MatRef<'_, f64>) -> Self {
        Self::by_column(a, |column| {
            let [low, high] = range(column.iter());
            (0.5 * low + 0.5 * high, high - low)
        })
    }

    /// Maps every column to mean 0 and standard deviation 1 (of the population).
    pub fn to_standard(a: MatRef<'_, f64>) -> Self {
        Self::by_column(a, |column| {
            let m = column.len() as f64;
            let mean = column.iter().map(|v| v / m).sum::<f64>();
            (
                mean,
                (column
                    .iter()
                    .map(|v| (v - mean) * (v - mean) / m)
                    .sum::<f64>())
                .sqrt(),
            )
        })
    }

    fn by_column(a: MatRef<'_, f64>, measure: impl Fn(&[f64]) -> (f64, f64)) -> Self {
        let (shift, scale) = (0..a.ncols())
            .map(|j| {
                let column: Vec<f64> = a.col(j).iter().copied().collect();
                let (shift, scale) = measure(&column);
                // Where a column is constant up to rounding, dividing by its spread would amplify rounding errors.
                let size = column.iter().fold(0.0, |a: f64, v| a.max(v.abs()));
                let constant = scale <= 8.0 * f64::EPSILON * size || scale < f64::MIN_POSITIVE;
                if constant {
                    (column.first().copied().unwrap_or(0.0), 1.0)
                } else {
                    (shift, scale)
                }
            })
            .unzip();
        Scaler { shift, scale }
    }

    /// (a − shift)/scale by columns, column-major.
    pub fn apply(&self, a: MatRef<'_, f64>) -> Mat<f64> {
        Mat::from_fn(a.nrows(), a.ncols(), |i, j| {
            (a[(i, j)] - self.shift[j]) / self.scale[j]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn box_and_standard_scaling() {
        let a = Mat::from_fn(4, 2, |i, j| if j == 0 { 1e12 + i as f64 } else { 7.0 });
        let boxed = Scaler::to_box(a.as_ref()).apply(a.as_ref());
        assert_eq!(
            (boxed[(0, 0)], boxed[(3, 0)], boxed[(2, 1)]),
            (-0.5, 0.5, 0.0)
        );
        let standard = Scaler::to_standard(a.as_ref()).apply(a.as_ref());
        let square: f64 = (0..4).map(|i| standard[(i, 0)].powi(2)).sum();
        assert!((square / 4.0 - 1.0).abs() < 1e-12 && standard[(1, 1)] == 0.0);
    }
}
