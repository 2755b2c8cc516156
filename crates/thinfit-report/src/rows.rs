//! The rows of a table beside the predictions, and whether the model knows them.

use crate::doubles::Doubles;
use crate::uncertainty::LEVEL;
use serde::Serialize;
use std::collections::HashMap;
use thinfit::{Mat, Result};
use thinfit_methods::{KernelModel, Predictor, explained, four_digits};

/// Outputs that differ by less than this share of their scale are the same.
const SAME: f64 = 1e-4;

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
    /// Whether the errors may be smaller than on new rows.
    flattered: bool,
    /// Whether a network was fitted to them, as far as one can tell.
    #[serde(skip)]
    pub alike: bool,
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

/// The rows beside the predictions.
pub(crate) fn compared(model: &Predictor, rows: &Rows) -> Result<Compared> {
    let f = model.predict(rows.x.as_ref())?;
    let bounds = model.interval_inside(rows.x.as_ref(), LEVEL).ok();
    let bounds = bounds.filter(|bounds| bounds.is_finite());
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
    let seen = Seen::new(model, rows, &f);
    Ok(Compared {
        seen: seen.words(m),
        flattered: seen.flatters(),
        alike: matches!(seen, Seen::Alike),
        count: m,
        numbers: rows.numbers.clone(),
        x: columns(&rows.x),
        y: columns(&rows.y),
        f: columns(&f),
        words: (0..f.ncols()).map(words).collect(),
    })
}

/// How the rows stand to those of the fit.
enum Seen {
    /// As many as in the fit, with the same ranges: more cannot be told of a network, which does not keep its rows.
    Alike,
    /// Nothing can be told.
    Perhaps,
    /// So many of them were fitted, and so many others have inputs of the fit, but other outputs.
    Kept { fitted: usize, inputs: usize },
}

impl Seen {
    fn new(model: &Predictor, rows: &Rows, f: &Mat<f64>) -> Self {
        match model {
            Predictor::Network(_) if alike(model, rows) => Seen::Alike,
            Predictor::Network(_) => Seen::Perhaps,
            Predictor::Kernel(model) => kept(model, rows, f),
        }
    }

    /// In words, about `m` rows.
    fn words(&self, m: usize) -> String {
        let follows =
            "the errors here say how closely it follows them, not how good it is on new rows.";
        match *self {
            Seen::Alike => format!(
                "These are the rows that the model was fitted to, as far as a network can tell (as many, with the same ranges): {follows}"
            ),
            Seen::Perhaps => "Some of these rows may have been used for the fit: a network does not keep its rows. On those its \
                              errors are smaller than on new rows."
                .into(),
            Seen::Kept { fitted: 0, inputs: 0 } => {
                "The model was fitted to none of these rows.".into()
            }
            Seen::Kept { fitted: 0, inputs } => format!(
                "{} the same inputs as in the fit, but other outputs: the errors here say how good the model is at inputs \
                 that it has seen, not at others.",
                match inputs == m {
                    true => "These rows have".into(),
                    false => format!("Of these {m} rows, {inputs} have"),
                }
            ),
            Seen::Kept { fitted, .. } if fitted == m => {
                format!("These are the rows that the model was fitted to: {follows}")
            }
            Seen::Kept { fitted, .. } => format!(
                "The model was fitted to {fitted} of these {m} rows: on those its errors are smaller than on new rows."
            ),
        }
    }

    /// Whether the errors may be smaller than on new rows.
    fn flatters(&self) -> bool {
        !matches!(
            self,
            Seen::Kept {
                fitted: 0,
                inputs: 0
            }
        )
    }
}

/// Whether there are as many rows as in the fit, with the same ranges to the last bit.
fn alike(model: &Predictor, rows: &Rows) -> bool {
    let same_range = |(j, range): (usize, &[f64; 2])| {
        let column = rows.x.col_as_slice(j);
        let low = column.iter().copied().fold(f64::INFINITY, f64::min);
        let high = column.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        [low, high] == *range
    };
    rows.x.nrows() == model.record().samples && model.domain().iter().enumerate().all(same_range)
}

/// Compares the rows with the points of the model, and their outputs with those that its coefficients tell, from
/// (K + ridge I)α = y − mean: y = f + ridge α. Where large terms cancel, rounding hides the outputs; then the inputs decide.
fn kept(model: &KernelModel, rows: &Rows, f: &Mat<f64>) -> Seen {
    let bits = |row: &mut dyn Iterator<Item = f64>| row.map(f64::to_bits).collect::<Vec<u64>>();
    let (points, alpha) = (model.points(), model.coefficients());
    let mut known: HashMap<Vec<u64>, Vec<usize>> = HashMap::new();
    for k in 0..points.nrows() {
        let inputs = bits(&mut points.row(k).iter().copied());
        known.entry(inputs).or_default().push(k);
    }
    let rounding = |o: usize| {
        let size: f64 = alpha.col(o).iter().map(|a| a.abs()).sum();
        f64::EPSILON * model.kernel().diagonal() * size
    };
    let same: Vec<f64> = (0..f.ncols()).map(|o| SAME + rounding(o)).collect();
    let scaled = model.input_scaler.apply(rows.x.as_ref());
    let (mut fitted, mut inputs) = (0, 0);
    for i in 0..scaled.nrows() {
        let agrees = |&k: &usize| {
            (0..f.ncols()).all(|o| {
                let scale = model.output_scaler.scale[o];
                let y = f[(i, o)] + scale * model.record.ridge * alpha[(k, o)];
                (rows.y[(i, o)] - y).abs() <= same[o] * scale
            })
        };
        match known.get(&bits(&mut scaled.row(i).iter().copied())) {
            Some(points) if points.iter().any(agrees) => fitted += 1,
            Some(_) => inputs += 1,
            None => {}
        }
    }
    Seen::Kept { fitted, inputs }
}
