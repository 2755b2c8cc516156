//! Methods that thinfit is compared with, one file each. So far: [`kernel_ridge`].

mod error;
pub mod kernel_ridge;

pub use error::{Error, Result};
pub use kernel_ridge::{FittedKernelRidge, KernelRidge};
