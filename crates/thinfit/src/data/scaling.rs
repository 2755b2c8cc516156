//! The scaling of columns: an affine map per column, determined from the samples and stored in the model; inputs that
//! need it are warped first.

use super::dataset::range;
use super::warp::Warp;
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

/// A map per column, v ↦ (u − shift)/scale with u = v, or u = asinh((v − centre)/width) where the column is warped.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scaler {
    /// Subtracted from each column.
    pub shift: Vec<f64>,
    /// Divides each column after the shift; 1 for a constant column.
    pub scale: Vec<f64>,
    /// The warp of each column, before the shift; empty if no column has one. Only inputs have any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warp: Vec<Option<Warp>>,
}

impl Scaler {
    /// The map that changes nothing.
    pub fn identity(columns: usize) -> Self {
        Scaler {
            shift: vec![0.0; columns],
            scale: vec![1.0; columns],
            warp: Vec::new(),
        }
    }

    /// Maps every column to [−½, ½].
    pub fn to_box(a: MatRef<'_, f64>) -> Self {
        Self::by_column(a, |column| {
            let [low, high] = range(column.iter());
            (0.5 * low + 0.5 * high, high - low)
        })
    }

    /// Maps every column to [−½, ½] after its warp, one entry of `warp` per column; [`Warp::of_columns`] finds them.
    ///
    /// # Panics
    /// If `warp` has not as many entries as `a` has columns.
    pub fn to_box_warped(a: MatRef<'_, f64>, warp: &[Option<Warp>]) -> Self {
        assert_eq!(warp.len(), a.ncols(), "one warp, or none, for each column");
        let bent = Mat::from_fn(a.nrows(), a.ncols(), |i, j| {
            warp[j].map_or(a[(i, j)], |warp| warp.value(a[(i, j)]))
        });
        let some = warp.iter().any(Option::is_some);
        Scaler {
            warp: if some { warp.to_vec() } else { Vec::new() },
            ..Scaler::to_box(bent.as_ref())
        }
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
        Scaler {
            shift,
            scale,
            warp: Vec::new(),
        }
    }

    /// (a − shift)/scale by columns after their warps, column-major.
    pub fn apply(&self, a: MatRef<'_, f64>) -> Mat<f64> {
        Mat::from_fn(a.nrows(), a.ncols(), |i, j| {
            (self.warped(j, a[(i, j)]) - self.shift[j]) / self.scale[j]
        })
    }

    /// The warp of column `j`, if it has one.
    pub fn warp_of(&self, j: usize) -> Option<Warp> {
        self.warp.get(j).copied().flatten()
    }

    /// A value of column `j` in warped units: itself where the column has no warp.
    pub fn warped(&self, j: usize, v: f64) -> f64 {
        self.warp_of(j).map_or(v, |warp| warp.value(v))
    }

    /// The value of column `j` whose warped value is `u`.
    pub fn unwarped(&self, j: usize, u: f64) -> f64 {
        self.warp_of(j).map_or(u, |warp| warp.inverse(u))
    }

    /// The derivative of [`Scaler::warped`] in `v`: 1 where the column has no warp.
    pub fn warp_slope(&self, j: usize, v: f64) -> f64 {
        self.warp_of(j).map_or(1.0, |warp| warp.slope(v))
    }

    /// Whether this maps `columns` columns to finite numbers and each of them one to one and in their order, as what a file
    /// says may not: deviations are multiplied by the scale of their output.
    pub fn is_sound(&self, columns: usize) -> bool {
        self.shift.len() == columns
            && self.scale.len() == columns
            && (self.warp.is_empty() || self.warp.len() == columns)
            && self.shift.iter().all(|v| v.is_finite())
            && self.scale.iter().all(|v| v.is_normal() && *v > 0.0)
            && self.warp.iter().flatten().all(|warp| warp.is_sound())
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

    #[test]
    fn a_warped_column_fills_the_box_and_the_others_are_as_without() {
        let a = Mat::from_fn(101, 3, |i, j| match j {
            0 => 10f64.powf(0.05 * i as f64),
            1 => 3.0 + i as f64,
            _ => 7.0,
        });
        let warp = Warp::of_columns(a.as_ref());
        assert_eq!([0, 1, 2].map(|j| warp[j].is_some()), [true, false, false]);
        let (plain, scaler) = (
            Scaler::to_box(a.as_ref()),
            Scaler::to_box_warped(a.as_ref(), &warp),
        );
        let (straight, bent) = (plain.apply(a.as_ref()), scaler.apply(a.as_ref()));
        assert_eq!(bent.subcols(1, 2), straight.subcols(1, 2));
        let ends = [bent[(0, 0)], bent[(100, 0)]];
        assert!((ends[0] + 0.5).abs() < 1e-15 && (ends[1] - 0.5).abs() < 1e-15);
        // Half of the rows lie on either side of the middle, and not in 0.3 % of the box.
        assert!(straight[(50, 0)] < -0.49 && bent[(50, 0)].abs() < 0.05);
        for (i, v) in a.col(0).iter().enumerate() {
            let u = bent[(i, 0)] * scaler.scale[0] + scaler.shift[0];
            assert!((scaler.unwarped(0, u) / v - 1.0).abs() < 1e-13);
            assert_eq!(scaler.warp_slope(0, *v), warp[0].unwrap().slope(*v));
            assert_eq!((scaler.unwarped(1, u), scaler.warp_slope(1, *v)), (u, 1.0));
        }
        assert_eq!(Scaler::to_box_warped(a.as_ref(), &[None; 3]), plain);
    }

    #[test]
    fn files_without_a_warp_keep_their_bytes_and_unsound_ones_are_found() {
        let text = r#"{"shift":[0.0,1.0],"scale":[1.0,2.0]}"#;
        let scaler: Scaler = serde_json::from_str(text).unwrap();
        assert!(scaler.warp.is_empty() && scaler.is_sound(2) && !scaler.is_sound(1));
        assert_eq!(serde_json::to_string(&scaler).unwrap(), text);
        let with = |warp: &str| {
            let text = text.replace("]}", &format!("],\"warp\":{warp}}}"));
            serde_json::from_str::<Scaler>(&text).unwrap().is_sound(2)
        };
        assert!(with(r#"[null,{"centre":3.0,"width":0.5}]"#));
        for unsound in [
            "[null]",
            r#"[null,{"centre":3.0,"width":0.0}]"#,
            r#"[null,{"centre":3.0,"width":-1.0}]"#,
            r#"[null,{"centre":3.0,"width":1e-310}]"#,
        ] {
            assert!(!with(unsound), "{unsound}");
        }
    }
}
