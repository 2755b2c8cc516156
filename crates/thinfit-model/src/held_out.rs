//! Predictions to compare with known outputs. Training rows get cross-validated predictions if the model stores their
//! errors, because its own errors are smaller there than on new rows.

use crate::Predictor;
use std::collections::HashMap;
use thinfit::{Interval, Mat, MatRef, Recognised, Result};
use thinfit_gp::KernelModel;
use thinfit_gp::pieces::leave_one_out;

/// Outputs that differ by less than this share of their scale are the same.
const SAME: f64 = 1e-4;

/// Predictions to compare with the outputs of rows, and how these relate to the training rows.
#[derive(Clone, Debug)]
pub struct HeldOut {
    /// Predictions (m × c); cross-validated ones for training rows, if they are known.
    pub predicted: Mat<f64>,
    /// How the rows relate to the training rows.
    pub seen: Seen,
}

impl HeldOut {
    /// Bounds of `level` around the predictions at the rows `x`; none where the model has none, and for rows of the fit, where those of the
    /// model are too narrow for predictions without the row.
    pub fn interval(&self, model: &Predictor, x: MatRef<'_, f64>, level: f64) -> Option<Interval> {
        if matches!(self.seen, Seen::LeftOut(_) | Seen::Fitted(_)) {
            return None;
        }
        let bounds = model.interval_inside(x, level).ok();
        bounds.filter(Interval::is_finite)
    }
}

/// How rows relate to the training rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Seen {
    /// None of them is a training row.
    New,
    /// None of them is a training row, but this many have the inputs of one, with other outputs.
    Inputs(usize),
    /// This many are training rows, with cross-validated predictions.
    LeftOut(usize),
    /// This many are training rows, predicted by the model itself.
    Fitted(usize),
    /// Unknown.
    Perhaps,
}

impl Seen {
    /// Whether the errors may be smaller than on new rows.
    pub fn flatters(self) -> bool {
        !matches!(self, Seen::New | Seen::LeftOut(_))
    }

    /// The caption of a plot of `m` rows.
    pub fn caption(self, m: usize) -> String {
        match self {
            Seen::New => format!("{m} rows, none of them training rows"),
            Seen::Inputs(count) => {
                format!("{m} rows, {count} at training inputs: errors are too small")
            }
            Seen::LeftOut(count) if count == m => {
                format!("{m} training rows, cross-validated predictions")
            }
            Seen::LeftOut(count) => {
                format!("{m} rows, {count} of them training rows, predicted by cross-validation")
            }
            Seen::Fitted(count) if count == m => {
                format!("{m} training rows: errors are too small")
            }
            Seen::Fitted(count) => {
                format!("{m} rows, {count} of them training rows: errors are too small")
            }
            Seen::Perhaps => format!("{m} rows, perhaps training rows: errors may be too small"),
        }
    }

    /// Sentences about `m` rows.
    pub fn words(self, m: usize) -> String {
        let part = |count: usize| match count == m {
            true => "These are the rows that the model was fitted to".to_owned(),
            false => format!("The model was fitted to {count} of these {m} rows"),
        };
        match self {
            Seen::New => "The model was fitted to none of these rows.".into(),
            Seen::Inputs(count) => format!(
                "{} the same inputs as training rows, but other outputs: the errors here are those at known inputs, not at \
                 new ones.",
                match count == m {
                    true => "These rows have".into(),
                    false => format!("Of these {m} rows, {count} have"),
                }
            ),
            Seen::LeftOut(count) => format!(
                "{}. Their predictions here are cross-validated, so that the errors are those of new rows.",
                part(count)
            ),
            Seen::Fitted(count) if count == m => format!(
                "{}: the errors here show how closely it follows them, not how accurate it is on new rows.",
                part(count)
            ),
            Seen::Fitted(count) => {
                format!("{}: their errors are smaller than those of new rows.", part(count))
            }
            Seen::Perhaps => "Some of these rows may be training rows, whose errors are smaller than those of new rows: this \
                              model file does not say which rows it was fitted to."
                .into(),
        }
    }
}

impl Predictor {
    /// How many of the rows `x` (m × d) with outputs `y` (m × c), at which the model is `f` (m × c), it was fitted to; 0 where it does not
    /// know.
    pub fn fitted_among(
        &self,
        x: MatRef<'_, f64>,
        y: MatRef<'_, f64>,
        f: MatRef<'_, f64>,
    ) -> usize {
        match recognised(self, x, y, f) {
            Recognised::All => x.nrows(),
            Recognised::Unknown => 0,
            Recognised::Each(places) => places.iter().flatten().count(),
        }
    }

    /// What to compare the outputs `y` (m × c) of the rows `x` (m × d) with.
    ///
    /// # Errors
    /// As [`Predictor::predict`].
    pub fn held_out(&self, x: MatRef<'_, f64>, y: MatRef<'_, f64>) -> Result<HeldOut> {
        let own = self.predict(x)?;
        let mut predicted = own.clone();
        let recognised = recognised(self, x, y, own.as_ref());
        let seen = match &recognised {
            Recognised::All => Seen::Fitted(x.nrows()),
            Recognised::Unknown => Seen::Perhaps,
            Recognised::Each(places) => match places.iter().flatten().count() {
                0 => match points_among(self, x) {
                    0 => Seen::New,
                    count => Seen::Inputs(count),
                },
                count => match self.replace(&mut predicted, y, places) {
                    Some(()) => Seen::LeftOut(count),
                    None => Seen::Fitted(count),
                },
            },
        };
        Ok(HeldOut { predicted, seen })
    }

    /// Replaces predictions of training rows by cross-validated ones; `None`, and nothing changed, if there are none.
    fn replace(
        &self,
        predicted: &mut Mat<f64>,
        y: MatRef<'_, f64>,
        places: &[Option<usize>],
    ) -> Option<()> {
        let rows = self.record().rows.as_ref();
        let closed = match (self, rows.and_then(|rows| rows.left_out(0, 0))) {
            (Predictor::Kernel(model), None) => Some(leave_one_out(model).ok()?),
            _ => None,
        };
        let error = |row: usize, o: usize| match &closed {
            Some(errors) => (row < errors.nrows()).then(|| errors[(row, o)]),
            None => rows?.left_out(row, o),
        };
        let mut replaced = predicted.clone();
        for (i, row) in places.iter().enumerate() {
            let Some(row) = *row else { continue };
            for o in 0..y.ncols() {
                replaced[(i, o)] = y[(i, o)] - error(row, o)?;
            }
        }
        if !replaced.is_all_finite() {
            return None;
        }
        *predicted = replaced;
        Some(())
    }
}

/// Which rows were fitted. A model from an older file has no marks, and one of very many rows has none of each: then the points of a
/// sum of kernels tell, and of a network nothing does.
fn recognised(
    model: &Predictor,
    x: MatRef<'_, f64>,
    y: MatRef<'_, f64>,
    f: MatRef<'_, f64>,
) -> Recognised {
    let rows = model.record().rows.as_ref();
    let found = rows.map(|rows| rows.recognise(x, y, model.record().samples));
    match (found.unwrap_or(Recognised::Unknown), model) {
        (Recognised::Unknown | Recognised::All, Predictor::Kernel(model)) => {
            Recognised::Each(kept(model, x, y, f))
        }
        (found, _) => found,
    }
}

/// The points of the model with the inputs of each row.
fn points_of(model: &KernelModel, x: MatRef<'_, f64>) -> Vec<Vec<usize>> {
    let bits = |row: &mut dyn Iterator<Item = f64>| row.map(f64::to_bits).collect::<Vec<u64>>();
    let points = model.body.points.as_ref();
    let mut known: HashMap<Vec<u64>, Vec<usize>> = HashMap::new();
    for k in 0..points.nrows() {
        let inputs = bits(&mut points.row(k).iter().copied());
        known.entry(inputs).or_default().push(k);
    }
    let scaled = model.input_scaler.apply(x);
    let found = |i: usize| known.get(&bits(&mut scaled.row(i).iter().copied()));
    let rows = (0..scaled.nrows()).map(|i| found(i).cloned().unwrap_or_default());
    rows.collect()
}

/// How many rows have inputs of the fit, as far as the model can tell.
fn points_among(model: &Predictor, x: MatRef<'_, f64>) -> usize {
    match model {
        Predictor::Network(_) => 0,
        Predictor::Kernel(model) => {
            let points = points_of(model, x);
            points.iter().filter(|points| !points.is_empty()).count()
        }
    }
}

/// The point that each row is, by its inputs and by the outputs that the coefficients tell, from (K + ridge I)α = y − mean:
/// y = f + ridge α. Where large terms cancel, rounding hides the outputs; then the inputs decide.
fn kept(
    model: &KernelModel,
    x: MatRef<'_, f64>,
    y: MatRef<'_, f64>,
    f: MatRef<'_, f64>,
) -> Vec<Option<usize>> {
    let alpha = model.body.coefficients.as_ref();
    let rounding = |o: usize| {
        let size: f64 = alpha.col(o).iter().map(|a| a.abs()).sum();
        f64::EPSILON * model.body.kernel.diagonal() * size
    };
    let same: Vec<f64> = (0..f.ncols()).map(|o| SAME + rounding(o)).collect();
    let agrees = |i: usize, k: usize| {
        (0..f.ncols()).all(|o| {
            let scale = model.output_scaler.scale[o];
            let told = f[(i, o)] + scale * model.record.ridge * alpha[(k, o)];
            (y[(i, o)] - told).abs() <= same[o] * scale
        })
    };
    let points = points_of(model, x).into_iter().enumerate();
    points
        .map(|(i, points)| points.into_iter().find(|&k| agrees(i, k)))
        .collect()
}
