//! The GPU of this machine.

use thinfit_cuda::Cuda;
use thinfit_methods::Device;

/// Opens the first GPU.
///
/// # Errors
/// No GPU that can be used.
pub fn gpu() -> thinfit::Result<Device> {
    let cuda = Cuda::open()?;
    Ok(Device::new(cuda.name().to_owned(), cuda))
}
