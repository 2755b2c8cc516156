//! How accurate the model is on held-out rows.

use serde::Serialize;
use thinfit_methods::{
    Predictor, explained, explains_nothing, four_digits, rmse_error, two_digits,
};

/// The quality of one output.
#[derive(Serialize)]
pub(crate) struct Quality {
    /// One word for people in a hurry.
    pub verdict: &'static str,
    /// Sentences.
    pub words: Vec<String>,
    /// Root mean squared errors: name, error, and the standard error of the first.
    pub errors: Vec<(String, String)>,
}

/// The quality of output `o`.
pub(crate) fn quality(model: &Predictor, o: usize) -> Quality {
    let record = model.record();
    let errors = record
        .validation_mse
        .get(o)
        .zip(record.validation_variance.get(o));
    let Some((&mse, &variance)) = errors else {
        let known = match model {
            Predictor::Network(_) => "the error on new rows is unknown.",
            Predictor::Kernel(_) => "the cross-validated interval below is the only indication.",
        };
        return Quality {
            verdict: "untested",
            words: vec![format!(
                "No rows were held out to measure the error: {known}"
            )],
            errors: vec![],
        };
    };
    let (rmse, sure) = (
        four_digits(mse.sqrt()),
        rmse_error(record, o).map(two_digits),
    );
    let sure = sure.map_or(String::new(), |error| format!(" ± {error}"));
    let mut words = vec![format!(
        "The RMS error is {rmse}{sure}, by {}.",
        model.validation()
    )];
    if variance > 0.0 {
        words.push(match explains_nothing(mse, variance) {
            false => format!(
                "It leaves {} % of the variance unexplained.",
                two_digits(100.0 * mse / variance)
            ),
            true => "That is no better than always predicting the mean.".into(),
        });
    }
    let mut table = vec![("this model".into(), format!("{rmse}{sure}"))];
    if let Some(linear) = record.validation_linear.get(o) {
        table.push(("a linear fit".into(), four_digits(linear.sqrt())));
    }
    table.push(("always the mean".into(), four_digits(variance.sqrt())));
    Quality {
        verdict: verdict(explained(mse, variance), model.has_doubts()),
        words,
        errors: table,
    }
}

/// A word for an r²; with doubts about the error itself it is at most "good".
fn verdict(r2: f64, doubts: bool) -> &'static str {
    match r2 {
        0.99.. if doubts => "good",
        0.9999.. => "nearly exact",
        0.99.. => "very good",
        0.9.. => "good",
        0.5.. => "rough",
        _ => "poor",
    }
}
