//! A fit that advances in slices, and the questions a page may ask about it.

use crate::answer::Answer;
use crate::frame::View;
use crate::plain::Plain;
use crate::request::{Learn, Network};
use crate::samples::{Samples, text};
use crate::thin::Thin;
use serde_json::{Map, Value, json};
use thinfit::{Config, Model, Polish};
use thinfit_methods::NetworkSensitivity;

/// Points of an effect.
const EFFECT: usize = 41;

/// When a slice is over.
#[derive(Clone, Copy)]
pub struct Slice {
    /// By the clock of the host, in milliseconds.
    pub until: f64,
    /// Maximum number of steps.
    pub steps: usize,
}

impl Slice {
    /// Whether it is over after `taken` steps.
    pub fn is_over(&self, taken: usize) -> bool {
        taken >= self.steps || crate::host::now() >= self.until
    }
}

/// Where training stands after a slice.
pub struct Standing {
    /// The name of the phase; `done` after the last step.
    pub phase: &'static str,
    /// Steps done in this phase, and in all.
    pub step: [usize; 2],
    /// The network as it is.
    pub model: Model,
}

enum Training {
    Thin(Box<Thin>),
    Plain(Box<Plain>),
}

/// A fit that advances in slices.
pub struct Session {
    samples: Samples,
    view: View,
    training: Training,
    /// The model, once it is finished.
    finished: Option<Model>,
}

impl Session {
    /// Starts a fit; returns what a page needs to know about the samples.
    ///
    /// # Errors
    /// Samples or settings that cannot be fitted.
    pub fn new(learn: Learn) -> Result<(Self, Value), String> {
        let Learn {
            source,
            network,
            settings,
        } = learn;
        let samples = Samples::new(&source, settings.seed)?;
        let fast = Config::fast();
        let config = Config {
            width: settings.width,
            activation: settings.activation,
            seed: settings.seed,
            polish: Polish {
                steps: if settings.polish {
                    fast.polish.steps
                } else {
                    0
                },
                ..fast.polish
            },
            ..fast
        };
        config.check().map_err(text)?;
        let data = &samples.data;
        let (_, held_out) = data.split(config.validation, config.seed).map_err(text)?;
        let view = View::new(&samples, &held_out);
        let opening = view.opening(&samples);
        let training = match network {
            Network::Thin => Training::Thin(Box::new(Thin::new(config, data).map_err(text)?)),
            Network::Plain => Training::Plain(Box::new(Plain::new(&config))),
        };
        let session = Session {
            samples,
            view,
            training,
            finished: None,
        };
        Ok((session, opening))
    }

    /// Goes on for about as long, and at most as many steps; a frame.
    ///
    /// # Errors
    /// Those of the fit, and a fit that is finished.
    pub fn advance(&mut self, milliseconds: f64, steps: Option<usize>) -> Answer {
        if self.finished.is_some() {
            return Err("the fit is finished".into());
        }
        let slice = Slice {
            until: crate::host::now() + milliseconds,
            steps: steps.unwrap_or(usize::MAX).max(1),
        };
        let data = &self.samples.data;
        let Standing { phase, step, model } = match &mut self.training {
            Training::Thin(thin) => thin.advance(data, slice),
            Training::Plain(plain) => plain.advance(data, slice),
        }
        .map_err(text)?;
        let frame = self.view.frame(&model, &self.samples)?;
        let standing = json!({ "phase": phase, "step": step[0], "steps": step[1] });
        if phase == "done" {
            self.finished = Some(model);
        }
        Ok(joined(standing, frame))
    }

    fn done(&self) -> Result<&Model, String> {
        let advice = "the fit is not finished; wait until its phase is `done`";
        self.finished.as_ref().ok_or_else(|| advice.into())
    }

    /// The file of the model.
    ///
    /// # Errors
    /// A fit that is not finished.
    pub fn model(&self) -> Answer {
        Ok(json!({ "model": self.done()?.to_json() }))
    }

    /// Sensitivity indices and main effects.
    ///
    /// # Errors
    /// A fit that is not finished, or numbers that leave the finite range.
    pub fn findings(&self) -> Answer {
        let model = self.done()?;
        let found = model.sensitivity(0).map_err(text)?;
        let mut effects = Vec::new();
        for (j, [low, high]) in model.domain.iter().enumerate() {
            let step = (high - low) / (EFFECT - 1) as f64;
            let at: Vec<f64> = (0..EFFECT).map(|k| low + step * k as f64).collect();
            let effect = model.effect(0, j, &at).map_err(text)?;
            effects.push(json!({ "at": at, "effect": effect }));
        }
        Ok(json!({
            "first": found.first,
            "total": found.total,
            "exact": found.closed_form,
            "effects": effects,
        }))
    }
}

/// An object with more fields.
fn joined(object: Value, more: Map<String, Value>) -> Value {
    match object {
        Value::Object(mut fields) => {
            fields.extend(more);
            Value::Object(fields)
        }
        other => other,
    }
}
