//! GFT-r in time slices.
//!
//! At the end of a slice the observer saves the state of the fit, and the device refuses the next step, which ends
//! the call without the final work of a fit. The next slice resumes the state. The polish cannot be resumed: it runs
//! in one slice of any length and reports its progress to the host.

use crate::device::Pausing;
use crate::host;
use crate::locked;
use crate::session::{Slice, Standing};
use serde_json::json;
use std::sync::Mutex;
use thinfit::pieces::glance;
use thinfit::{
    Config, Control, Dataset, Leaf, Mat, Model, Phase, Progress, Record, Result, Scaler, State,
    fit_on, resume_on,
};

/// Milliseconds between two words on the polish.
const PAUSE: f64 = 100.0;

/// A GFT-r fit in training.
pub struct Thin {
    config: Config,
    scalers: (Scaler, Scaler),
    /// Scaled rows that train it, and those that are held out.
    train: Dataset,
    held_out: Dataset,
    /// Where it stands; none before the first slice.
    state: Option<State>,
    /// The leaf and the steps of the last slice.
    reached: (Leaf, usize),
}

impl Thin {
    /// A fit at its beginning.
    ///
    /// # Errors
    /// Samples that cannot be split.
    pub fn new(config: Config, data: &Dataset) -> Result<Self> {
        let scalers = config.scaling.scalers(data.x.as_ref(), data.y.as_ref());
        let scaled = data.scaled(&scalers);
        let (train, held_out) = scaled.split(config.validation, config.seed)?;
        Ok(Thin {
            config,
            scalers,
            train,
            held_out,
            state: None,
            reached: (Leaf::Parameters, 0),
        })
    }

    /// Trains for a slice.
    ///
    /// # Errors
    /// As [`thinfit::fit`].
    pub fn advance(&mut self, data: &Dataset, slice: Slice) -> Result<Standing> {
        let device = Pausing::default();
        let kept = Mutex::new((None, self.reached, 0));
        let said = Mutex::new(0.0);
        let observe = |at: &Progress<'_>| {
            if let Phase::Train(leaf) = at.phase {
                let mut kept = locked(&kept);
                kept.2 += 1;
                if slice.is_over(kept.2) {
                    (kept.0, kept.1) = (at.state(), (leaf, at.step));
                    locked(&device.pause).now = true;
                }
            } else if host::now() - *locked(&said) > PAUSE {
                *locked(&said) = host::now();
                host::say(
                    json!({ "phase": at.phase.name(), "step": at.step, "steps": at.steps })
                        .to_string(),
                );
            }
            Control::Continue
        };
        let fitted = match self.state.take() {
            None => fit_on(&device, data, &self.config, &observe),
            Some(state) => resume_on(&device, data, state, &observe),
        };
        let (state, reached, _) = kept.into_inner().unwrap_or_else(|e| e.into_inner());
        let hidden = locked(&device.pause).hidden.take();
        match (fitted, hidden) {
            (Err(_), Some(hidden)) => {
                (self.state, self.reached) = (state, reached);
                self.standing(data, hidden)
            }
            (fitted, _) => Ok(Standing {
                phase: "done",
                step: [0, 0],
                model: fitted?,
            }),
        }
    }

    /// The network of hidden weights between two slices.
    fn standing(&self, data: &Dataset, hidden: Mat<f64>) -> Result<Standing> {
        let (leaf, step) = self.reached;
        let schedule = match leaf {
            Leaf::Latents => self.config.refine,
            _ => self.config.generate,
        };
        let Config {
            activation, ridge, ..
        } = self.config;
        let network = glance(&self.train, activation, ridge, hidden)?;
        let predicted = network.values(self.held_out.x.as_ref());
        let record = Record::of("gft-r", json!(null), self.config.seed, data.samples());
        let scale = &self.scalers.1.scale;
        let record = record.validated(&self.train, &self.held_out, predicted.as_ref(), scale);
        Ok(Standing {
            phase: Phase::Train(leaf).name(),
            step: [step, schedule.steps],
            model: Model::from_network(network, data, self.scalers.clone(), record)?,
        })
    }
}
