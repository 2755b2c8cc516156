//! The content of a page, as data.

use crate::control::{Control, controls};
use crate::features::{Features, features};
use crate::importance::{Importance, importance};
use crate::languages::{Language, languages};
use crate::quality::{Quality, quality};
use crate::rows::{Compared, Rows, compared};
use crate::suggested_samples::{SuggestedSamples, suggested_samples};
use crate::thin::thin;
use crate::uncertainty::{LEVEL, LEVELS, Uncertainty, uncertainty};
use serde::Serialize;
use thinfit::Result;
use thinfit_export::{JavaScript, TOLERANCE, difference_of_functions};
use thinfit_methods::{Predictor, four_digits, tried_name, two_digits};
use thinfit_text::clean;

/// What differs between pages.
#[derive(Serialize)]
pub(crate) struct Content {
    /// Names of the inputs and outputs of the model.
    inputs: Vec<String>,
    outputs: Vec<String>,
    /// Units of the outputs, where they are known.
    units: Vec<Option<String>>,
    /// What the model is, in a line.
    kind: String,
    /// How it was made.
    made: String,
    controls: Vec<Control>,
    quality: Vec<Quality>,
    /// What the fit found out, in sentences.
    words: Vec<String>,
    /// What became of the columns of the table.
    notes: Vec<String>,
    /// What each control does to each output.
    sensitivity: Vec<Importance>,
    levels: [f64; 5],
    level: f64,
    uncertainty: Uncertainty,
    tried: Vec<Tried>,
    features: Features,
    /// Where samples are few; nothing is known of a network without its rows.
    thin: Option<Vec<String>>,
    next: Option<SuggestedSamples>,
    rows: Option<Compared>,
    languages: Vec<Language>,
    /// The name of the function in the script.
    function: String,
}

/// A candidate and its errors.
#[derive(Serialize)]
struct Tried {
    name: String,
    rmse: Vec<f64>,
    shown: Vec<String>,
}

impl Content {
    /// The content of the page of a model, whose script the page contains, and of some rows. `watch` is told how far it is,
    /// from 0 to 1.
    pub fn new(
        model: &Predictor,
        rows: Option<&Rows>,
        script: &JavaScript,
        watch: &dyn Fn(f64),
    ) -> Result<Self> {
        let (mut controls, c) = (controls(model), model.outputs().len());
        let importance =
            |o: usize| importance(model, o, &|part| watch((o as f64 + part) / c as f64));
        let sensitivity = (0..c).map(importance).collect::<Result<_>>()?;
        let compared = rows.map(|rows| compared(model, rows)).transpose()?;
        // Of a table of other rows it does not matter where they are thin.
        let fitted = rows.filter(|_| compared.as_ref().is_some_and(|compared| compared.complete));
        let samples = model
            .samples()
            .or_else(|| fitted.map(|rows| rows.x.clone()));
        if let Some(x) = &samples {
            controls
                .iter_mut()
                .for_each(|control| control.find_values(x));
        }
        let off = difference_of_functions(model);
        let mut words = model.words();
        let languages = match off.largest <= TOLERANCE {
            true => languages(model, script),
            false => {
                words.push(match off.rows {
                    0 => "the script of this page could not be compared with `predict`".into(),
                    _ => format!(
                        "this page computes in JavaScript, where rounding changes predictions of {} by up to {} standard \
                         deviations: `predict` is more accurate, and other languages are left out",
                        clean(&off.output),
                        two_digits(off.largest)
                    ),
                });
                vec![]
            }
        };
        let record = model.record();
        let names = |names: &[String]| names.iter().map(|name| clean(name).into_owned()).collect();
        let unit = |name: &String| model.unit(name).map(|unit| clean(unit).into_owned());
        Ok(Content {
            inputs: names(model.inputs()),
            outputs: names(model.outputs()),
            units: model.outputs().iter().map(unit).collect(),
            kind: format!(
                "{}, {} parameters, fitted to {} samples",
                clean(&model.kind()),
                model.parameters(),
                record.samples
            ),
            made: format!(
                "Made by thinfit {} from {} samples: {}, seed {}{}.",
                clean(&record.version),
                record.samples,
                clean(&record.method),
                record.seed,
                if record.stopped { ", interrupted" } else { "" }
            ),
            quality: (0..c).map(|o| quality(model, o)).collect(),
            words,
            notes: model.encoding().map_or(vec![], |encoding| encoding.notes()),
            sensitivity,
            levels: LEVELS,
            level: LEVEL,
            uncertainty: uncertainty(model),
            tried: tried(model),
            features: features(model),
            thin: samples.map(|x| thin(model, &controls, &x)),
            next: suggested_samples(model, &controls),
            rows: compared,
            languages,
            function: script.name.clone(),
            controls,
        })
    }
}

fn tried(model: &Predictor) -> Vec<Tried> {
    let found = model.record().diagnosis.as_ref();
    let tried = found.map_or(&[][..], |found| &found.tried);
    let c = model.outputs().len();
    let complete = tried.iter().filter(|tried| tried.mse.len() == c);
    complete
        .map(|tried| {
            let rmse: Vec<f64> = tried.mse.iter().map(|mse| mse.sqrt()).collect();
            Tried {
                name: tried_name(tried),
                shown: rmse.iter().map(|&rmse| four_digits(rmse)).collect(),
                rmse,
            }
        })
        .collect()
}
