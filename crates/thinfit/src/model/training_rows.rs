//! What a model stores of its training rows: enough to recognise them in a table, and their cross-validated
//! residuals.

use crate::data::Dataset;
use crate::data::row_marks::{MARKS, mark};
use crate::math::digits::six_digits;
use faer::MatRef;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// Number of rows above which only the whole table can be recognised.
const MOST: usize = 5000;

/// Fingerprints of the training rows, and their cross-validated residuals.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TrainingRows {
    /// Sum of all marks modulo 2⁵³, which identifies the whole table in any order.
    sum: u64,
    /// A mark for each row; none of more than 5000.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    marks: Vec<u64>,
    /// Cross-validated residuals, measured minus predicted: for each output a list over the training rows, in the units
    /// of the data and to six digits. Empty if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    left_out: Vec<Vec<f64>>,
}

/// Which rows of a table are training rows.
#[derive(Clone, Debug, PartialEq)]
pub enum Recognised {
    /// The training row that each is, if any.
    Each(Vec<Option<usize>>),
    /// They are the training rows, in any order.
    All,
    /// The fit had too many rows to keep a mark of each, and these are not all of them: some may be among them.
    Unknown,
}

impl TrainingRows {
    /// The rows of `data`.
    pub fn new(data: &Dataset) -> Self {
        let mut marks = marks(data.x.as_ref(), data.y.as_ref());
        let sum = sum(&marks);
        if marks.len() > MOST {
            marks.clear();
        }
        TrainingRows {
            sum,
            marks,
            left_out: vec![],
        }
    }

    /// For too many rows, only the sum of their marks.
    pub(crate) fn of_sum(sum: u64) -> Self {
        TrainingRows {
            sum,
            ..TrainingRows::default()
        }
    }

    /// The same with cross-validated residuals (rows × c), measured minus predicted.
    pub fn with_left_out(mut self, errors: MatRef<'_, f64>) -> Self {
        if errors.nrows() == self.marks.len() && errors.is_all_finite() {
            let column =
                |column: faer::ColRef<'_, f64>| column.iter().copied().map(six_digits).collect();
            self.left_out = errors.col_iter().map(column).collect();
        }
        self
    }

    /// The cross-validated residual of output `o` at this training row, measured minus predicted, if known.
    pub fn left_out(&self, row: usize, o: usize) -> Option<f64> {
        self.left_out.get(o)?.get(row).copied()
    }

    /// Which of the rows (x, y) are rows of the fit, which had `samples`. Rows that are equal count as one another.
    pub fn recognise(&self, x: MatRef<'_, f64>, y: MatRef<'_, f64>, samples: usize) -> Recognised {
        let found = marks(x, y);
        if self.marks.is_empty() {
            return match found.len() == samples && sum(&found) == self.sum {
                true => Recognised::All,
                false => Recognised::Unknown,
            };
        }
        let known: HashMap<u64, usize> = self.marks.iter().copied().zip(0..).collect();
        let places = found.iter().map(|mark| known.get(mark).copied());
        Recognised::Each(places.collect())
    }

    /// Whether a file may contain this for a fit with this many rows and outputs.
    pub(crate) fn is_sound(&self, samples: usize, outputs: usize) -> bool {
        let counts = [0, samples].contains(&self.marks.len());
        let rows = |column: &Vec<f64>| {
            column.len() == self.marks.len() && column.iter().all(|v| v.is_finite())
        };
        counts && [0, outputs].contains(&self.left_out.len()) && self.left_out.iter().all(rows)
    }
}

/// The sum of marks modulo [`MARKS`].
fn sum(marks: &[u64]) -> u64 {
    marks.iter().fold(0, |sum, mark| (sum + mark) % MARKS)
}

/// A mark for each row, made from the bits of its inputs and outputs.
fn marks(x: MatRef<'_, f64>, y: MatRef<'_, f64>) -> Vec<u64> {
    let rows = 0..x.nrows();
    rows.map(|i| mark(x.row(i).iter().chain(y.row(i).iter())))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use faer::Mat;

    fn data(m: usize) -> Dataset {
        let x = Mat::from_fn(m, 2, |i, j| ((i * (7 + 4 * j)) % 4099) as f64 / 41.0);
        let y = Mat::from_fn(m, 2, |i, o| x[(i, o)].sin());
        Dataset::new(x, y).unwrap()
    }

    #[test]
    fn rows_are_known_again_in_any_order_and_part() {
        let all = data(40);
        let errors = Mat::from_fn(40, 2, |i, o| 0.1234567891 * (i + 40 * o) as f64);
        let rows = TrainingRows::new(&all).with_left_out(errors.as_ref());
        assert!(rows.is_sound(40, 2) && !rows.is_sound(41, 2) && !rows.is_sound(40, 1));
        let text = serde_json::to_string(&rows).unwrap();
        assert_eq!(serde_json::from_str::<TrainingRows>(&text).unwrap(), rows);
        assert!(text.len() < 40 * (17 + 2 * 10) + 60, "{}", text.len());
        let mut part = all.rows(&[7, 3, 11]);
        part.y[(2, 1)] += 1e-9;
        let found = rows.recognise(part.x.as_ref(), part.y.as_ref(), 40);
        assert_eq!(found, Recognised::Each(vec![Some(7), Some(3), None]));
        assert_eq!(rows.left_out(7, 1), Some(5.80247));
    }

    #[test]
    fn of_many_rows_the_whole_table_is_known_again() {
        let all = data(MOST + 1);
        let rows = TrainingRows::new(&all);
        assert!(serde_json::to_string(&rows).unwrap().len() < 40);
        let turned: Vec<usize> = (0..=MOST).rev().collect();
        let turned = all.rows(&turned);
        let found = |data: &Dataset| rows.recognise(data.x.as_ref(), data.y.as_ref(), MOST + 1);
        assert_eq!(found(&turned), Recognised::All);
        assert_eq!(found(&all.rows(&[1, 2])), Recognised::Unknown);
    }
}
