//! The training step of [`thinfit`] on an NVIDIA GPU.
//!
//! [`Cuda`] is a [`Backend`]: many fits of one shape (λ × seeds) advance together, with one graph launch per step.
//! The driver and NVIDIA's libraries are loaded at run time; a program that uses this crate builds and runs without
//! them.

mod batch;
mod compiler;
mod device;
mod driver_lock;
mod generator;
mod parameters;
mod shape;
mod table;

use batch::Fits;
use device::Device;
use driver_lock::{Ordered, alone};
use std::sync::Arc;
use thinfit::pieces::{Backend, Batch, Task};
use thinfit::{Config, Precision, Result};

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
        let _alone = alone();
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
        let _alone = alone();
        let batch: Box<dyn Batch> = match config.generator.precision {
            Precision::F32 => Box::new(Fits::<f32>::new(&self.device, config, runs)?),
            Precision::F64 => Box::new(Fits::<f64>::new(&self.device, config, runs)?),
        };
        Ok(Box::new(Ordered::new(batch)))
    }
}
