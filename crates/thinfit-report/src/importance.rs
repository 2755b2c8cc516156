//! Which controls matter for an output: Sobol indices, where a column of text counts as one input, however many it becomes.

use crate::control::Control;
use serde::Serialize;
use thinfit::{Mat, MatRef, Result, Sampled, Scaler, Sensitivity};
use thinfit_methods::{Predictor, explained};

/// Work that an estimate may take, in products of a parameter and a value: some seconds on two cores.
const WORK: u64 = 1 << 33;
/// Share of the variance below which nothing is explained.
const NOTHING: f64 = 0.05;

/// The indices of one output.
#[derive(Serialize)]
pub(crate) struct Importance {
    first: Vec<f64>,
    total: Vec<f64>,
    /// None where pairs would take minutes.
    second: Vec<Vec<f64>>,
    closed_form: bool,
    /// Whether the model explains so little that its indices tell nothing of the function.
    idle: bool,
}

/// The indices of output `o`. `watch` is told how far it is, from 0 to 1.
pub(crate) fn importance(
    model: &Predictor,
    controls: &[Control],
    o: usize,
    watch: &dyn Fn(f64),
) -> Result<Importance> {
    let indices = match controls
        .iter()
        .all(|control| control.factor.levels.is_empty())
    {
        true => model.sensitivity_watched(o, watch)?,
        false => with_levels(model, controls, o, watch)?,
    };
    let second = indices.second.as_ref();
    let row = |i: usize| second.row(i).iter().copied().collect();
    let record = model.record();
    let errors = (record.validation_mse.get(o)).zip(record.validation_variance.get(o));
    Ok(Importance {
        first: indices.first,
        total: indices.total,
        second: (0..second.nrows()).map(row).collect(),
        closed_form: indices.closed_form,
        idle: errors.is_some_and(|(mse, variance)| explained(*mse, *variance) < NOTHING),
    })
}

/// Indices of the controls, numbers uniform over their ranges and levels equally likely.
fn with_levels(
    model: &Predictor,
    controls: &[Control],
    o: usize,
    watch: &dyn Fn(f64),
) -> Result<Sensitivity> {
    let (d, k) = (model.inputs().len(), controls.len());
    let value = |places: MatRef<'_, f64>| {
        let (mut x, mut row) = (Mat::zeros(places.nrows(), d), vec![0.0; d]);
        for i in 0..places.nrows() {
            for (j, control) in controls.iter().enumerate() {
                control.factor.set(places[(i, j)], &mut row);
            }
            (0..d).for_each(|j| x[(i, j)] = row[j]);
        }
        Ok(model.predict(x.as_ref())?.col_as_slice(o).to_vec())
    };
    let cost = model.parameters().saturating_mul(2 * k + 2);
    let scale = match model {
        Predictor::Network(model) => model.output_scaler.scale[o],
        Predictor::Kernel(model) => model.output_scaler.scale[o],
    };
    Sampled {
        domain: &vec![[0.0, 1.0]; k],
        inputs: &Scaler::identity(k),
        value: &value,
        // Levels have no slopes, and the page shows none.
        gradient: &|places| Ok(Mat::zeros(places.nrows(), k)),
        points: Sampled::points_within(WORK, cost),
    }
    .sensitivity((1e-10 * scale).powi(2), watch)
}
