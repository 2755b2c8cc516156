//! The training step of [`thinfit`] on an NVIDIA GPU.
//!
//! [`Cuda`] is a [`Backend`]: many fits of one shape (λ × seeds) advance together, one graph launch a step. The driver and
//! NVIDIA's libraries are looked for at run time; a program with this crate builds and runs without them.

mod batch;
mod compiler;
mod device;
mod generator;
mod parameters;
mod shape;
mod table;

use device::Device;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use thinfit::pieces::{Backend, Batch, Snapshot, Task};
use thinfit::{Config, Leaf, Loss, Mat, Precision, Result};

/// The first GPU of this machine.
#[derive(Clone)]
pub struct Cuda {
    device: Arc<Device>,
}

impl Cuda {
    /// Opens the first GPU.
    ///
    /// # Errors
    /// [`thinfit::Error::Device`]: no driver, no GPU, or one that is too old.
    pub fn open() -> Result<Self> {
        let _turn = turn();
        Ok(Cuda {
            device: Device::open()?,
        })
    }

    /// The name of the GPU.
    pub fn name(&self) -> &str {
        &self.device.name
    }
}

impl Backend for Cuda {
    fn start(&self, config: &Config, runs: &[(u64, Task<'_>)]) -> Result<Box<dyn Batch>> {
        let _turn = turn();
        let batch: Box<dyn Batch> = match config.generator.precision {
            Precision::F32 => Box::new(batch::Fits::<f32>::new(&self.device, config, runs)?),
            Precision::F64 => Box::new(batch::Fits::<f64>::new(&self.device, config, runs)?),
        };
        Ok(Box::new(Turns(Some(batch))))
    }
}

/// The right to call the driver: calls of other threads while a graph is recorded can spoil it.
fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A batch that takes turns with the other batches of this program. It is there until it is dropped.
struct Turns(Option<Box<dyn Batch>>);

impl Turns {
    fn batch(&self) -> &dyn Batch {
        self.0.as_deref().expect("it is not dropped")
    }

    fn batch_mut(&mut self) -> &mut dyn Batch {
        self.0.as_deref_mut().expect("it is not dropped")
    }
}

impl Drop for Turns {
    fn drop(&mut self) {
        let _turn = turn();
        self.0 = None;
    }
}

impl Batch for Turns {
    fn begin(&mut self, run: usize, leaf: Leaf, from: Option<&Snapshot>) -> Result<()> {
        let _turn = turn();
        self.batch_mut().begin(run, leaf, from)
    }

    fn advance(&mut self, runs: &[usize], steps: Range<usize>, rate: f64) -> Vec<Result<Loss>> {
        let _turn = turn();
        self.batch_mut().advance(runs, steps, rate)
    }

    fn validate(&mut self, runs: &[usize], step: usize) -> Vec<Result<f64>> {
        let _turn = turn();
        self.batch_mut().validate(runs, step)
    }

    fn weights(&mut self, run: usize) -> Result<Mat<f64>> {
        let _turn = turn();
        self.batch_mut().weights(run)
    }

    fn snapshot(&self, run: usize, moments: bool) -> Result<Snapshot> {
        let _turn = turn();
        self.batch().snapshot(run, moments)
    }

    fn stride(&self) -> usize {
        self.batch().stride()
    }
}
