//! The effect of a factor: the mean of f with the factor fixed and all others distributed over their ranges, with its
//! uncertainty.
//!
//! The mean is that of `importance`. Deviations are averaged over points that set every factor, because a point
//! between two levels does not exist.

use crate::{InputColumn, Predictor};
use thinfit::pieces::lattice;
use thinfit::{Mat, Result};

/// Points over which deviations are averaged.
const SURE: usize = 32;
/// Places of a number at which deviations are averaged; between them they are interpolated.
const STATIONS: usize = 21;

/// The effect of a column on an output.
#[derive(Clone, Debug)]
pub struct Effect {
    /// Places of the column, from 0 to 1: evenly for a number, the middle of its part for a whole number or a level.
    pub places: Vec<f64>,
    /// The mean of f at each place.
    pub mean: Vec<f64>,
    /// The mean over the points of the standard deviation of f at each place, which that of the mean cannot exceed; of Gaussian
    /// processes only.
    pub deviation: Option<Vec<f64>>,
}

impl Predictor {
    /// The effect of column `k` of `columns`, as in [`Predictor::sensitivity_over`], on output `o`: at `count` places of a number, or at its
    /// whole numbers or levels.
    ///
    /// # Errors
    /// As [`Predictor::effect`].
    pub fn column_effect(
        &self,
        o: usize,
        columns: &[InputColumn],
        k: usize,
        count: usize,
    ) -> Result<Effect> {
        let column = &columns[k];
        let levels = column.levels.len();
        let choices = match column.choices() {
            // So many integers are treated as a range.
            Some(whole) if levels == 0 && whole > count => 0,
            choices => choices.unwrap_or(0),
        };
        let even = |count: usize| -> Vec<f64> {
            let last = (count - 1).max(1) as f64;
            (0..count).map(|i| i as f64 / last).collect()
        };
        let places = match choices {
            0 => even(count),
            _ => (0..choices)
                .map(|l| (l as f64 + 0.5) / choices as f64)
                .collect(),
        };
        let at: Vec<f64> = match levels {
            0 => {
                let mut row = vec![0.0; self.inputs().len()];
                let value = |place: &f64| {
                    column.set(*place, &mut row);
                    row[column.first]
                };
                places.iter().map(value).collect()
            }
            _ => (0..levels).map(|level| level as f64).collect(),
        };
        let mean = self.effect_over(o, columns, k, &at)?;
        let stations = if choices == 0 {
            even(STATIONS)
        } else {
            places.clone()
        };
        // The covariance of a network ignores the uncertainty of its hidden weights.
        let sure = match self {
            Predictor::Network(_) => None,
            Predictor::Kernel(model) => {
                let x = self.spread(columns, k, &stations, SURE);
                model.deviation(x.as_ref()).ok()
            }
        };
        let deviation = sure.map(|deviation| {
            let known = means(deviation.model.col_as_slice(o), SURE);
            match choices {
                0 => places.iter().map(|&place| between(&known, place)).collect(),
                _ => known,
            }
        });
        Ok(Effect {
            places,
            mean,
            deviation,
        })
    }

    /// For each place of column `k`, the same `points` points of all other columns.
    fn spread(&self, columns: &[InputColumn], k: usize, places: &[f64], points: usize) -> Mat<f64> {
        let others = lattice(points, columns.len(), &[]);
        let mut x = Mat::zeros(places.len() * points, self.inputs().len());
        let mut row = vec![0.0; x.ncols()];
        for (at, place) in places.iter().enumerate() {
            for i in 0..points {
                for (j, column) in columns.iter().enumerate() {
                    match j == k {
                        true => column.set(*place, &mut row),
                        false => column.quantile(others[(i, j)], &mut row),
                    }
                }
                for (j, value) in row.iter().enumerate() {
                    x[(at * points + i, j)] = *value;
                }
            }
        }
        x
    }
}

/// Means of groups of `points` values.
fn means(values: &[f64], points: usize) -> Vec<f64> {
    let groups = values.chunks(points);
    groups
        .map(|group| group.iter().sum::<f64>() / points as f64)
        .collect()
}

/// The value at a place from 0 to 1 of a list that is even between.
fn between(known: &[f64], place: f64) -> f64 {
    let at = place * (known.len() - 1) as f64;
    let low = (at as usize).min(known.len() - 2);
    known[low] + (at - low as f64) * (known[low + 1] - known[low])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::fitted;
    use thinfit::{Column, Dataset, Encoding, Levels};

    #[test]
    fn effects_of_levels_are_means_over_points_that_set_every_column() {
        let m = 60;
        let numbers: Vec<f64> = (0..m).map(|i| ((i * 23) % 60) as f64 / 60.0).collect();
        let codes: Vec<f64> = (0..m).map(|i| ((i * 7) % 3) as f64).collect();
        let levels = ["a", "b", "c"].map(str::to_owned).to_vec();
        let table = [
            Column::Numbers(&numbers),
            Column::Text {
                levels: &levels,
                codes: &codes,
                levels_are: Levels::Found,
            },
        ];
        let encoding = Encoding::learn(&["t", "kind"].map(str::to_owned), &table, false);
        let x = encoding.apply(&table).unwrap();
        let y = Mat::from_fn(m, 1, |i, _| 3.0 * numbers[i] + codes[i]);
        let mut data = Dataset::new(x, y).unwrap();
        data.inputs = encoding.inputs();
        let mut model = fitted("gaussian-process", &data, 0);
        model.set_encoding(encoding);
        let columns = InputColumn::all(&model);
        let kind = model.column_effect(0, &columns, 1, 5).unwrap();
        assert_eq!(kind.mean.len(), 3);
        for (level, mean) in kind.mean.iter().enumerate() {
            let expected = 1.475 + level as f64;
            assert!((mean - expected).abs() < 0.05, "{mean} {expected}");
        }
        let t = model.column_effect(0, &columns, 0, 5).unwrap();
        for (place, mean) in t.places.iter().zip(&t.mean) {
            let expected = 1.0 + 2.95 * place;
            assert!((mean - expected).abs() < 0.05, "{mean} {expected}");
        }
        let deviation = t.deviation.unwrap();
        assert!(deviation.len() == 5 && deviation.iter().all(|d| *d >= 0.0));
    }

    #[test]
    fn deviations_are_interpolated() {
        assert_eq!(between(&[0.0, 1.0, 4.0], 0.75), 2.5);
        assert_eq!(between(&[0.0, 1.0, 4.0], 1.0), 4.0);
    }
}
