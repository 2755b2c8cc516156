//! Methods whose result is a sum of kernels over the samples, and the model they share.

pub(crate) mod cholesky;
pub(crate) mod edge;
pub(crate) mod evidence;
pub(crate) mod gaussian_process;
pub(crate) mod kernel;
pub(crate) mod kernel_model;
pub(crate) mod kernel_ridge;
pub(crate) mod lbfgs;
pub(crate) mod leave_one_out;
pub(crate) mod part;
pub(crate) mod salsa;
