//! The CPU as a device that can suspend a training run and continue it later.
//!
//! GFT fits save their own state, so it is enough to refuse the next step. The plain network has no saved state: the
//! device keeps its weights and moments and starts from them in the next slice.

use crate::locked;
use std::ops::Range;
use std::sync::{Arc, Mutex};
use thinfit::pieces::{Backend, Batch, Processor, Snapshot, Task};
use thinfit::{Config, Error, Leaf, Loss, Mat, Result};

/// What a fit and its device share.
#[derive(Default)]
pub struct Pause {
    /// Whether no more steps are to be taken.
    pub now: bool,
    /// The hidden weights at the step that was refused.
    pub hidden: Option<Mat<f64>>,
    /// Both layers of a plain network, where it was left.
    both: Option<Snapshot>,
}

/// The processor, with a pause.
#[derive(Default)]
pub struct Pausing {
    processor: Processor,
    /// The pause.
    pub pause: Arc<Mutex<Pause>>,
}

impl Backend for Pausing {
    fn start(&self, config: &Config, runs: &[(u64, Task<'_>)]) -> Result<Box<dyn Batch>> {
        Ok(Box::new(Runs {
            batch: self.processor.start(config, runs)?,
            pause: Arc::clone(&self.pause),
        }))
    }
}

/// Runs on the processor; here always one.
struct Runs {
    batch: Box<dyn Batch>,
    pause: Arc<Mutex<Pause>>,
}

impl Batch for Runs {
    fn begin(&mut self, run: usize, leaf: Leaf, from: Option<&Snapshot>) -> Result<()> {
        let pause = locked(&self.pause);
        let left = pause.both.as_ref().filter(|_| leaf == Leaf::Both);
        self.batch.begin(run, leaf, left.or(from))
    }

    fn advance(&mut self, runs: &[usize], steps: Range<usize>, rate: f64) -> Vec<Result<Loss>> {
        let mut pause = locked(&self.pause);
        if !pause.now {
            drop(pause);
            return self.batch.advance(runs, steps, rate);
        }
        let refused = |hidden: Result<Mat<f64>>| {
            pause.hidden = Some(hidden?);
            Err(Error::Device {
                device: "the processor".into(),
                problem: "the slice is over".into(),
                advice: "resume it",
            })
        };
        let hidden = runs.iter().map(|&run| self.batch.weights(run));
        hidden.map(refused).collect()
    }

    fn validate(&mut self, runs: &[usize], step: usize) -> Vec<Result<f64>> {
        self.batch.validate(runs, step)
    }

    fn weights(&mut self, run: usize) -> Result<Mat<f64>> {
        self.batch.weights(run)
    }

    fn snapshot(&self, run: usize, moments: bool) -> Result<Snapshot> {
        let snapshot = self.batch.snapshot(run, moments)?;
        // A plain network is asked for once, when it is left.
        if !snapshot.b.is_empty() {
            locked(&self.pause).both = Some(self.batch.snapshot(run, true)?);
        }
        Ok(snapshot)
    }
}
