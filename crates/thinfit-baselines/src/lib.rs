//! Methods that thinfit is compared with, one file each: [`KernelRidge`], [`Salsa`], [`GaussianProcess`].
//!
//! A method is a struct of settings with documented defaults and a function `fit(data, seed, observe)`. `observe` is told
//! the fraction of the work that is done and may stop the fit, which then returns the best model so far.

mod cholesky;
mod gaussian_process;
mod kernel;
mod kernel_model;
mod kernel_ridge;
mod lbfgs;
mod salsa;

pub use gaussian_process::GaussianProcess;
pub use kernel::{Kernel, Shape};
pub use kernel_model::{KernelModel, KernelRecord};
pub use kernel_ridge::KernelRidge;
pub use salsa::Salsa;
pub use thinfit::{Error, Result};
