//! Bare training steps on given samples, without phases, validation or scaling: for research and timing.

use super::objective::Loss;
use super::processor::{self, Steps};
use super::step::{Leaf, Task};
use super::timing::Timing;
use crate::{Config, Dataset, Error, Lambda, Result};
use faer::Mat;

/// Training steps that move one leaf.
///
/// They run on the current rayon pool; call them inside [`rayon::ThreadPool::install`] to choose the threads.
pub struct Trainer {
    run: Box<dyn Steps>,
    step: usize,
}

impl Trainer {
    /// Starts to move `leaf` on the samples, unscaled.
    ///
    /// # Errors
    /// A setting out of range; λ must be a number.
    pub fn new(data: &Dataset, config: &Config, leaf: Leaf) -> Result<Self> {
        config.check()?;
        data.check()?;
        let Lambda::Fixed(lambda) = config.lambda else {
            return Err(Error::Config {
                field: "lambda",
                expected: "a number",
                found: "auto".into(),
            });
        };
        let task = Task {
            train: data,
            validation: data,
            lambda,
            domain: &data.domain(),
        };
        let mut run = processor::run(config, config.seed, &task);
        run.begin(leaf, None)?;
        Ok(Trainer { run, step: 0 })
    }

    /// One step at learning rate `rate`; returns the loss before it.
    ///
    /// # Errors
    /// Numbers that are no longer finite.
    pub fn step(&mut self, rate: f64) -> Result<Loss> {
        self.step += 1;
        let loss = self.run.step(self.step - 1, rate)?;
        if loss.total.is_finite() {
            return Ok(loss);
        }
        Err(Error::Diverged {
            what: "the loss",
            step: self.step - 1,
            advice: "lower the learning rate or scale the data",
        })
    }

    /// Where the time of all steps so far went.
    pub fn timing(&self) -> Timing {
        self.run.timing()
    }

    /// The hidden weights (n × d′) that the leaf gives.
    pub fn weights(&mut self) -> Mat<f64> {
        self.run.weights()
    }
}
