//! The plain network in time slices: Adam on both layers.
//!
//! Such a fit cannot be resumed, but its device can: each slice is a short fit on a device that starts from the
//! weights and moments of the last one.

use crate::device::Pausing;
use crate::session::{Slice, Standing};
use std::sync::atomic::{AtomicUsize, Ordering};
use thinfit::{Config, Control, Dataset, Leaf, Phase, Progress, Result};
use thinfit_methods::PlainNetwork;

/// A plain network in training.
pub struct Plain {
    method: PlainNetwork,
    seed: u64,
    /// Steps done.
    step: usize,
    /// The device, which keeps its state between slices.
    device: Pausing,
}

impl Plain {
    /// A network of the same width, activation and seed as the thin one, and scaled alike, so that only the training differs.
    pub fn new(config: &Config) -> Self {
        Plain {
            method: PlainNetwork {
                activation: config.activation,
                width: config.width,
                scaling: config.scaling,
                ..PlainNetwork::default()
            },
            seed: config.seed,
            step: 0,
            device: Pausing::default(),
        }
    }

    /// Trains for a slice.
    ///
    /// # Errors
    /// As [`PlainNetwork::fit`].
    pub fn advance(&mut self, data: &Dataset, slice: Slice) -> Result<Standing> {
        let taken = AtomicUsize::new(0);
        let observe = |_: &Progress<'_>| {
            let taken = taken.fetch_add(1, Ordering::Relaxed) + 1;
            match slice.is_over(taken) {
                true => Control::Stop,
                false => Control::Continue,
            }
        };
        let rest = PlainNetwork {
            steps: self.method.steps - self.step,
            ..self.method.clone()
        };
        let model = rest.fit_on(&self.device, data, self.seed, &observe)?;
        self.step += taken.into_inner();
        let done = self.step >= self.method.steps;
        Ok(Standing {
            phase: match done {
                true => "done",
                false => Phase::Train(Leaf::Both).name(),
            },
            step: [self.step, self.method.steps],
            model,
        })
    }
}
