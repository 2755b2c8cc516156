//! Predictions to compare with known outputs. Training rows get cross-validated predictions if the model stores their
//! errors, because its own errors are smaller there than on new rows.

use crate::kernels::kernel_model::calibration::leave_one_out;
use crate::{KernelModel, Predictor};
use std::collections::HashMap;
use thinfit::{Interval, Mat, MatRef, Recognised, Result};

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Auto, GaussianProcess, KernelRidge, Method, Salsa};
    use thinfit::{Control, Dataset};

    fn data() -> Dataset {
        let x = Mat::from_fn(40, 2, |i, j| ((i * (7 + 4 * j)) % 41) as f64 / 41.0);
        let noise = |i: usize| ((i * 29) % 37) as f64 / 100.0;
        let y = Mat::from_fn(40, 1, |i, _| (6.0 * x[(i, 0)]).sin() + x[(i, 1)] + noise(i));
        Dataset::new(x, y).unwrap()
    }

    fn fitted(name: &str) -> Predictor {
        let method = Method::named(name).unwrap();
        let quick = serde_json::json!({ "budget": 0.5, "generate": { "steps": 5 }, "refine": { "steps": 5 } });
        let known = quick.as_object().unwrap().iter();
        let known = known.filter(|(key, _)| method.has(key));
        let known = known.map(|(key, value)| (key.clone(), value.clone()));
        let method = method.changed(&known.collect()).unwrap();
        method.fit(&data(), 3, &|_| Control::Continue).unwrap()
    }

    fn square(a: &Mat<f64>, b: &Mat<f64>) -> f64 {
        (a - b).squared_norm_l2() / a.nrows() as f64
    }

    #[test]
    fn rows_of_the_fit_are_predicted_by_models_that_had_not_seen_them() {
        let data = data();
        for name in [
            Auto::NAME,
            GaussianProcess::NAME,
            Salsa::NAME,
            KernelRidge::NAMES[1],
        ] {
            let model = fitted(name);
            let all = model.held_out(data.x.as_ref(), data.y.as_ref()).unwrap();
            assert_eq!(all.seen, Seen::LeftOut(40), "{name}");
            let own = model.predict(data.x.as_ref()).unwrap();
            let (honest, own) = (square(&all.predicted, &data.y), square(&own, &data.y));
            assert!(honest > own, "{name}: {honest} {own}");
            // But for salsa, whose error is that of larger folds, it is the error that the record states.
            let stated = model.record().validation_mse[0];
            let close = (honest / stated - 1.0).abs() < 1e-3;
            assert!(
                close || [Salsa::NAME, GaussianProcess::NAME].contains(&name),
                "{name}: {honest} {stated}"
            );
            // A part in another order, with a row that was not there.
            let mut part = data.rows(&[9, 2, 5]);
            part.y[(1, 0)] += 0.5;
            let some = model.held_out(part.x.as_ref(), part.y.as_ref()).unwrap();
            assert_eq!(some.seen, Seen::LeftOut(2), "{name}");
            assert_eq!(some.predicted[(0, 0)], all.predicted[(9, 0)]);
            let f = model.predict(part.x.as_ref()).unwrap();
            assert_eq!(some.predicted[(1, 0)], f[(1, 0)]);
            assert_eq!(some.predicted[(2, 0)], all.predicted[(5, 0)]);
        }
    }

    #[test]
    fn of_an_older_file_the_points_of_kernels_tell_and_networks_nothing() {
        let data = data();
        for (name, expected) in [
            ("gaussian-process", Seen::LeftOut(40)),
            ("gft-r", Seen::Perhaps),
        ] {
            let mut model = fitted(name);
            model.record_mut().rows = None;
            let all = model.held_out(data.x.as_ref(), data.y.as_ref()).unwrap();
            assert_eq!(all.seen, expected);
        }
        let model = fitted("gft-r");
        let all = model.held_out(data.x.as_ref(), data.y.as_ref()).unwrap();
        assert_eq!(all.seen, Seen::Fitted(40));
        assert!(all.seen.flatters());
        let other = Mat::from_fn(40, 1, |i, _| data.y[(i, 0)] + 1.0);
        let held_out = |name: &str| {
            fitted(name)
                .held_out(data.x.as_ref(), other.as_ref())
                .unwrap()
        };
        assert_eq!(held_out("gft-r").seen, Seen::New);
        assert_eq!(held_out("gaussian-process").seen, Seen::Inputs(40));
    }
}
