//! The rows of a table next to the predictions, and whether the model was fitted to them.

use crate::doubles::Doubles;
use crate::uncertainty::LEVEL;
use serde::Serialize;
use thinfit::{Mat, Result};
use thinfit_methods::{Predictor, Seen, explained, four_digits};

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
    /// A sentence on whether they are training rows.
    seen: String,
    /// Whether the errors may be smaller than on new rows.
    flattered: bool,
    /// Whether they are all rows of the fit.
    #[serde(skip)]
    pub complete: bool,
    count: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    numbers: Option<Vec<usize>>,
    /// Columns of the inputs.
    x: Vec<Doubles>,
    /// Columns of the outputs and of the predictions, cross-validated if possible.
    y: Vec<Doubles>,
    f: Vec<Doubles>,
    /// Sentences for each output.
    words: Vec<Vec<String>>,
}

/// The rows next to the predictions.
pub(crate) fn compared(model: &Predictor, rows: &Rows) -> Result<Compared> {
    let held_out = model.held_out(rows.x.as_ref(), rows.y.as_ref())?;
    let bounds = held_out.interval(model, rows.x.as_ref(), LEVEL);
    let (f, seen) = (held_out.predicted, held_out.seen);
    let m = rows.x.nrows();
    let words = |o: usize| {
        let mean = |value: &dyn Fn(usize) -> f64| (0..m).map(value).sum::<f64>() / m as f64;
        let mse = mean(&|i| (rows.y[(i, o)] - f[(i, o)]).powi(2));
        let centre = mean(&|i| rows.y[(i, o)]);
        let variance = mean(&|i| (rows.y[(i, o)] - centre).powi(2));
        let error = four_digits(mse.sqrt());
        let mut words = vec![match m {
            1 => format!("On this row the error is {error}."),
            _ if variance == 0.0 => format!("On these {m} rows the RMS error is {error}."),
            _ => format!(
                "On these {m} rows the RMS error is {error}; r² is {:.6}.",
                explained(mse, variance)
            ),
        }];
        if let Some(bounds) = &bounds {
            let inside =
                |i: &usize| (bounds.low[(*i, o)]..=bounds.high[(*i, o)]).contains(&rows.y[(*i, o)]);
            let (count, level) = ((0..m).filter(inside).count(), 100.0 * LEVEL);
            words.push(match (m, count) {
                (1, 0) => format!("It lies outside its {level:.0} % interval."),
                (1, _) => format!("It lies in its {level:.0} % interval."),
                _ => format!(
                    "{:.0} % of them lie in their {level:.0} % interval.",
                    100.0 * count as f64 / m as f64
                ),
            });
        }
        words
    };
    let columns = |a: &Mat<f64>| -> Vec<Doubles> {
        let column = |j: usize| Doubles(a.col_as_slice(j).to_vec());
        (0..a.ncols()).map(column).collect()
    };
    let all = model.record().samples;
    Ok(Compared {
        seen: seen.words(m),
        flattered: seen.flatters(),
        complete: matches!(seen, Seen::LeftOut(count) | Seen::Fitted(count) if count == all),
        count: m,
        numbers: rows.numbers.clone(),
        x: columns(&rows.x),
        y: columns(&rows.y),
        f: columns(&f),
        words: (0..f.ncols()).map(words).collect(),
    })
}
