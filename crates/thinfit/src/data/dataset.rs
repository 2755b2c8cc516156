//! Samples (x_k, y_k) with optional weights and groups.
//!
//! All data enter a fit through [`Dataset::new`], which rejects what cannot be fitted. Matrices have one row per
//! sample.

use super::names::check_names;
use crate::{Error, Result, Scaler};
use faer::{ColRef, Mat, MatRef};

/// Largest magnitude whose squares and sums stay finite.
pub const LARGEST: f64 = 1e150;
/// Minimum spread of a column whose squares do not underflow.
pub(crate) const LEAST_SPREAD: f64 = 1e-150;

/// Samples of a function: inputs x (m × d), outputs y (m × c), optional weights and groups (m), and names.
#[derive(Clone, Debug)]
pub struct Dataset {
    /// Inputs, m × d.
    pub x: Mat<f64>,
    /// Outputs, m × c.
    pub y: Mat<f64>,
    /// One weight per sample; a weight of 2 counts as the row twice.
    pub weights: Option<Vec<f64>>,
    /// The group of each sample; no split divides a group. None where every row is independent of the others.
    pub groups: Option<Vec<u64>>,
    /// Names of the inputs, d of them.
    pub inputs: Vec<String>,
    /// Names of the outputs, c of them.
    pub outputs: Vec<String>,
}

impl Dataset {
    /// Samples with names x1…xd and y1…yc (y alone if there is one).
    ///
    /// # Errors
    /// No rows, no columns, rows that do not match, a value that is not finite or beyond 1e150, or a column whose values differ
    /// by less than 1e-150.
    pub fn new(x: Mat<f64>, y: Mat<f64>) -> Result<Self> {
        let (d, c) = (x.ncols(), y.ncols());
        let inputs = (1..=d).map(|j| format!("x{j}")).collect();
        let outputs = if c == 1 {
            vec!["y".into()]
        } else {
            (1..=c).map(|j| format!("y{j}")).collect()
        };
        let data = Dataset {
            x,
            y,
            weights: None,
            groups: None,
            inputs,
            outputs,
        };
        data.check()?;
        Ok(data)
    }

    /// Rejects data that cannot be fitted; the fields are public and may have changed since [`Dataset::new`].
    ///
    /// # Errors
    /// As [`Dataset::new`].
    pub fn check(&self) -> Result<()> {
        let (m, d, c) = (self.x.nrows(), self.x.ncols(), self.y.ncols());
        let advice = "give at least one row, one input and one output";
        for (what, found) in [("samples", m), ("inputs", d), ("outputs", c)] {
            if found == 0 {
                return Err(Error::TooFew {
                    what,
                    needed: 1,
                    found,
                    advice,
                });
            }
        }
        let same = |what, expected: usize, found: usize, unit: &str| match expected == found {
            true => Ok(()),
            false => Err(Error::Shape {
                what,
                expected: format!("{expected} {unit}"),
                found: format!("{found} {unit}"),
            }),
        };
        same("y", m, self.y.nrows(), "rows, as in x")?;
        same("input names", d, self.inputs.len(), "names")?;
        same("output names", c, self.outputs.len(), "names")?;
        check_names("input names", &self.inputs)?;
        check_names("output names", &self.outputs)?;
        check_finite("x", self.x.as_ref())?;
        check_finite("y", self.y.as_ref())?;
        if let Some(groups) = &self.groups {
            same("groups", m, groups.len(), "values")?;
        }
        for (what, names, values) in [("x", &self.inputs, &self.x), ("y", &self.outputs, &self.y)] {
            for (name, column) in names.iter().zip(values.col_iter()) {
                check_spread(what, name, range(column.iter()))?;
            }
        }
        let Some(weights) = &self.weights else {
            return Ok(());
        };
        same("weights", m, weights.len(), "values")?;
        check_finite("weights", MatRef::from_column_major_slice(weights, m, 1))?;
        let advice = "weights count rows: use numbers of at least 0, some of them positive";
        if let Some(row) = weights.iter().position(|&weight| weight < 0.0) {
            let problem = format!("row {row} has the weight {}", weights[row]);
            return Err(Error::Data {
                what: "weights",
                problem,
                advice,
            });
        }
        if weights.iter().sum::<f64>() <= 0.0 {
            return Err(Error::Data {
                what: "weights",
                problem: "all are zero".into(),
                advice,
            });
        }
        Ok(())
    }

    /// [`Dataset::check`], for a method that takes no sample weights.
    ///
    /// # Errors
    /// As [`Dataset::check`], or weights.
    pub fn check_unweighted(&self) -> Result<()> {
        self.check()?;
        match self.weights {
            None => Ok(()),
            Some(_) => Err(Error::Data {
                what: "weights",
                problem: "this method does not support sample weights".into(),
                advice: "remove them, repeat rows, or use gft-r",
            }),
        }
    }

    /// The same samples with weights.
    ///
    /// # Errors
    /// A number of weights other than m, a weight that is negative or not finite, or weights that sum to zero.
    pub fn with_weights(mut self, weights: Vec<f64>) -> Result<Self> {
        self.weights = Some(weights);
        self.check()?;
        Ok(self)
    }

    /// The same samples with column names.
    ///
    /// # Errors
    /// A number of names other than the number of columns, a name twice, one with hidden characters, or one that is too long.
    pub fn with_names(mut self, inputs: Vec<String>, outputs: Vec<String>) -> Result<Self> {
        (self.inputs, self.outputs) = (inputs, outputs);
        self.check()?;
        Ok(self)
    }

    /// Number of samples, m.
    pub fn samples(&self) -> usize {
        self.x.nrows()
    }

    /// Number of inputs, d.
    pub fn dim(&self) -> usize {
        self.x.ncols()
    }

    /// Smallest and largest value of each input (d).
    pub fn domain(&self) -> Vec<[f64; 2]> {
        self.x.col_iter().map(|x| range(x.iter())).collect()
    }

    /// The same samples with scaled columns, by the scalers of the inputs and of the outputs.
    pub fn scaled(&self, (inputs, outputs): &(Scaler, Scaler)) -> Dataset {
        Dataset {
            x: inputs.apply(self.x.as_ref()),
            y: outputs.apply(self.y.as_ref()),
            weights: self.weights.clone(),
            groups: self.groups.clone(),
            inputs: self.inputs.clone(),
            outputs: self.outputs.clone(),
        }
    }

    /// The given rows, in the given order.
    pub fn rows(&self, rows: &[usize]) -> Dataset {
        fn picked<T: Copy>(values: &Option<Vec<T>>, rows: &[usize]) -> Option<Vec<T>> {
            let values = values.as_ref()?;
            Some(rows.iter().map(|&i| values[i]).collect())
        }
        Dataset {
            x: Mat::from_fn(rows.len(), self.dim(), |i, j| self.x[(rows[i], j)]),
            y: Mat::from_fn(rows.len(), self.y.ncols(), |i, j| self.y[(rows[i], j)]),
            weights: picked(&self.weights, rows),
            groups: picked(&self.groups, rows),
            inputs: self.inputs.clone(),
            outputs: self.outputs.clone(),
        }
    }
}

/// Rejects values that are not finite or too large to square, and reports the first, row by row.
///
/// # Errors
/// Such a value, with its place in the table `what`.
pub fn check_finite(what: &'static str, a: MatRef<'_, f64>) -> Result<()> {
    // Most tables are fine, and checking in memory order is fastest.
    let by_columns = a.row_stride().unsigned_abs() <= a.col_stride().unsigned_abs();
    let along = if by_columns { a } else { a.transpose() };
    let usable = |column: ColRef<'_, f64>| {
        let values = column.iter();
        values.fold(true, |usable, v| usable & (v.abs() <= LARGEST))
    };
    if along.col_iter().all(usable) {
        return Ok(());
    }
    for row in 0..a.nrows() {
        for column in 0..a.ncols() {
            let value = a[(row, column)];
            // Not the other way round: NaN is never larger.
            let usable = value.abs() <= LARGEST;
            if !usable {
                return Err(Error::NotFinite {
                    what,
                    row,
                    column,
                    value,
                });
            }
        }
    }
    Ok(())
}

/// Rejects a column whose values differ by so little that squares of the differences underflow.
///
/// # Errors
/// Such a range of the column `name`.
pub(crate) fn check_spread(what: &'static str, name: &str, [low, high]: [f64; 2]) -> Result<()> {
    let spread = high - low;
    match spread > 0.0 && spread < LEAST_SPREAD {
        false => Ok(()),
        true => Err(Error::Data {
            what,
            problem: format!(
                "the values of `{name}` differ by {spread:e} at most, and squares below 1e-300 are lost"
            ),
            advice: "use other units",
        }),
    }
}

/// Smallest and largest of some values.
pub(crate) fn range<'a>(values: impl Iterator<Item = &'a f64>) -> [f64; 2] {
    values.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], &v| {
        [low.min(v), high.max(v)]
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(m: usize) -> Dataset {
        let x = Mat::from_fn(m, 3, |i, j| (i * (j + 1)) as f64);
        let y = Mat::from_fn(m, 1, |i, _| i as f64);
        Dataset::new(x, y).unwrap()
    }

    #[test]
    fn a_value_that_is_not_finite_is_named_by_row_and_column() {
        let mut x = Mat::from_fn(5, 2, |i, _| i as f64);
        x[(3, 1)] = f64::NAN;
        let error = Dataset::new(x, Mat::zeros(5, 1)).unwrap_err().to_string();
        assert!(
            error.contains("x has the value NaN at row 3, column 1"),
            "{error}"
        );
    }

    #[test]
    fn values_whose_squares_underflow_are_refused_and_not_fitted_perfectly() {
        let data = |x: f64, y: f64| {
            let column = |size: f64| Mat::from_fn(20, 1, |i, _| size * (i * i % 7) as f64);
            Dataset::new(column(x), column(y))
        };
        for tiny in [1e-155, 1e-170, 5e-324] {
            for (x, y, name) in [(1.0, tiny, "`y`"), (tiny, 1.0, "`x1`")] {
                let error = data(x, y).unwrap_err().to_string();
                assert!(
                    error.contains(name) && error.contains("other units"),
                    "{error}"
                );
            }
        }
        // A constant is not measured by its spread, nor are small numbers too small.
        assert!(data(1.0, 0.0).is_ok() && data(1e-140, 1e-149).is_ok());
        let constant = Mat::from_fn(20, 1, |_, _| 1e-200);
        assert!(Dataset::new(Mat::from_fn(20, 1, |i, _| i as f64), constant).is_ok());
    }

    #[test]
    fn split_is_a_partition_and_depends_on_the_seed() {
        let all = data(50);
        let (train, validation) = all.split(0.1, 1).unwrap();
        assert_eq!((train.samples(), validation.samples()), (45, 5));
        let mut seen: Vec<f64> = train
            .y
            .col_as_slice(0)
            .iter()
            .chain(validation.y.col_as_slice(0))
            .copied()
            .collect();
        seen.sort_by(f64::total_cmp);
        assert_eq!(seen, (0..50).map(f64::from).collect::<Vec<_>>());
        assert_ne!(all.split(0.1, 2).unwrap().1.y, validation.y);
    }

    #[test]
    fn rows_of_weight_zero_never_validate() {
        let mut weights = vec![0.0; 50];
        weights[..20].fill(1.0);
        let (_, validation) = data(50)
            .with_weights(weights)
            .unwrap()
            .split(0.5, 3)
            .unwrap();
        assert!(validation.y.col_as_slice(0).iter().all(|&y| y < 20.0));
    }
}
