//! Sobol indices of the controls, for each output.

use serde::Serialize;
use thinfit::Result;
use thinfit_methods::{InputColumn, Predictor, explains_nothing};
use thinfit_text::clean;

/// The indices of one output.
#[derive(Serialize)]
pub(crate) struct Importance {
    first: Vec<f64>,
    total: Vec<f64>,
    /// Standard errors of both; none where they are not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    errors: Option<[Vec<f64>; 2]>,
    /// None where pairs would take minutes.
    second: Vec<Vec<f64>>,
    /// The smallest share of a pair that is worth reporting.
    least: f64,
    closed_form: bool,
    /// Whether the model explains so little that its indices tell nothing of the function.
    idle: bool,
    /// The controls with no detectable effect, whatever their share in the model.
    undetected: Vec<usize>,
    /// A sentence on inputs that depend on each other.
    #[serde(skip_serializing_if = "Option::is_none")]
    warning: Option<String>,
}

/// The indices of output `o`. `watch` receives the progress from 0 to 1.
pub(crate) fn importance(model: &Predictor, o: usize, watch: &dyn Fn(f64)) -> Result<Importance> {
    let factors = InputColumn::all(model);
    let indices = model.sensitivity_over(o, &factors, watch)?;
    let of_indices = model.index_errors(o, &factors, &indices).ok();
    let second = indices.second.as_ref();
    // More digits than the page shows would only make it larger.
    let rounded = |share: &f64| (share * 1e5).round() / 1e5;
    let row = |i: usize| second.row(i).iter().map(rounded).collect();
    let record = model.record();
    let errors = (record.validation_mse.get(o)).zip(record.validation_variance.get(o));
    Ok(Importance {
        first: indices.first.iter().map(rounded).collect(),
        total: indices.total.iter().map(rounded).collect(),
        errors: of_indices.map(|errors| {
            [errors.first, errors.total].map(|errors| errors.iter().map(rounded).collect())
        }),
        second: (0..second.nrows()).map(row).collect(),
        least: rounded(&indices.least_pair()),
        closed_form: indices.closed_form,
        idle: errors.is_some_and(|(mse, variance)| explains_nothing(*mse, *variance)),
        undetected: (model.undetected().iter().enumerate())
            .filter_map(|(k, undetected)| undetected.then_some(k))
            .collect(),
        warning: model.warning().map(|words| clean(&words).into_owned()),
    })
}
