//! The rows of a table beside the predictions, and whether the model knows them.

use crate::doubles::Doubles;
use crate::uncertainty::LEVEL;
use serde::Serialize;
use std::collections::HashSet;
use thinfit::{Mat, Result};
use thinfit_methods::{Predictor, explained, four_digits};

/// Rows with known outputs.
#[derive(Clone, Debug)]
pub struct Rows {
    /// Inputs of the model (m × d).
    pub x: Mat<f64>,
    /// Outputs (m × c).
    pub y: Mat<f64>,
    /// The number of each row in the table, from 1; its place if there are none.
    pub numbers: Option<Vec<usize>>,
}

/// What the page shows of them.
#[derive(Serialize)]
pub(crate) struct Compared {
    /// Whether they are the rows that the model was fitted to, in words.
    seen: String,
    /// Whether it was fitted to all or some of them.
    trained: bool,
    count: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    numbers: Option<Vec<usize>>,
    /// Columns of the inputs.
    x: Vec<Doubles>,
    /// Columns of the outputs, and of the predictions.
    y: Vec<Doubles>,
    f: Vec<Doubles>,
    /// Sentences for each output.
    words: Vec<Vec<String>>,
}

impl Compared {
    /// Whether the model was fitted to all or some of the rows.
    pub fn are_fitted(&self) -> bool {
        self.trained
    }
}

/// The rows beside the predictions.
pub(crate) fn compared(model: &Predictor, rows: &Rows) -> Result<Compared> {
    let f = model.predict(rows.x.as_ref())?;
    let bounds = model.interval(rows.x.as_ref(), LEVEL).ok();
    let bounds = bounds.filter(|bounds| bounds.is_finite());
    let m = rows.x.nrows();
    let words = |o: usize| {
        let mean = |value: &dyn Fn(usize) -> f64| (0..m).map(value).sum::<f64>() / m as f64;
        let mse = mean(&|i| (rows.y[(i, o)] - f[(i, o)]).powi(2));
        let centre = mean(&|i| rows.y[(i, o)]);
        let variance = mean(&|i| (rows.y[(i, o)] - centre).powi(2));
        let mut words = vec![format!(
            "On these {m} rows the model errs by {} in the root mean square; r² is {:.6}.",
            four_digits(mse.sqrt()),
            explained(mse, variance)
        )];
        if let Some(bounds) = &bounds {
            let inside =
                |i: &usize| (bounds.low[(*i, o)]..=bounds.high[(*i, o)]).contains(&rows.y[(*i, o)]);
            let share = 100.0 * (0..m).filter(inside).count() as f64 / m as f64;
            words.push(format!(
                "{share:.0} % of them lie in their {:.0} % interval.",
                100.0 * LEVEL
            ));
        }
        words
    };
    let columns = |a: &Mat<f64>| -> Vec<Doubles> {
        let column = |j: usize| Doubles(a.col_as_slice(j).to_vec());
        (0..a.ncols()).map(column).collect()
    };
    let (seen, trained) = seen(model, rows);
    Ok(Compared {
        seen,
        trained,
        count: m,
        numbers: rows.numbers.clone(),
        x: columns(&rows.x),
        y: columns(&rows.y),
        f: columns(&f),
        words: (0..f.ncols()).map(words).collect(),
    })
}

/// Whether the model was fitted to these rows, in words, and whether it was.
fn seen(model: &Predictor, rows: &Rows) -> (String, bool) {
    let (m, record) = (rows.x.nrows(), model.record());
    let fitted = "These are the rows that the model was fitted to: the errors here say how closely it follows them, not \
                  how good it is on new rows.";
    // A table of as many rows and of the same ranges, to the last bit, is the same.
    let same_range = |(j, range): (usize, &[f64; 2])| {
        let column = rows.x.col_as_slice(j);
        let low = column.iter().copied().fold(f64::INFINITY, f64::min);
        let high = column.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        [low, high] == *range
    };
    if m == record.samples && model.domain().iter().enumerate().all(same_range) {
        return (fitted.into(), true);
    }
    let Predictor::Kernel(model) = model else {
        return (
            "These are not the rows that the model was fitted to, as far as a network can tell: their number or their \
             ranges differ."
                .into(),
            false,
        );
    };
    let bits = |row: &mut dyn Iterator<Item = f64>| row.map(f64::to_bits).collect::<Vec<u64>>();
    let points = model.points();
    let known: HashSet<Vec<u64>> = (0..points.nrows())
        .map(|i| bits(&mut points.row(i).iter().copied()))
        .collect();
    let scaled = model.input_scaler.apply(rows.x.as_ref());
    let count = (0..m)
        .filter(|&i| known.contains(&bits(&mut scaled.row(i).iter().copied())))
        .count();
    match count {
        0 => ("The model was fitted to none of these rows.".into(), false),
        count if count == m => (fitted.into(), true),
        count => (
            format!(
                "The model was fitted to {count} of these {m} rows: on those its errors are smaller than on new rows."
            ),
            true,
        ),
    }
}
