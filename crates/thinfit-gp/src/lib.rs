//! Gaussian processes: kernels, their likelihood, and the model that they make.
//!
//! A [`Kernel`] is a sum of [`KernelTerm`]s, which may see [`Edge`]s. [`GaussianProcess`] finds the lengths and weights of a kernel by
//! maximum likelihood. The fitted [`KernelModel`] is a [`thinfit::Model`] whose body is a sum of kernels over the samples; kernel
//! ridge regression and SALSA make such models as well.

mod cholesky;
mod edge;
mod evidence;
mod gaussian_process;
mod kernel;
mod kernel_model;
mod kernel_term;
mod lbfgs;
mod shape;

/// The pieces that a Gaussian process is made of, for methods that combine them otherwise.
pub mod pieces {
    pub use crate::cholesky::{cholesky, factor, inverse, solve, with_ridge};
    pub use crate::evidence::{Evidence, evidence_of_sum};
    pub use crate::gaussian_process::threads;
    pub use crate::kernel_model::calibration::leave_one_out;
    pub use crate::kernel_model::held_out::{group_folds, judged_by_folds};
    pub use crate::kernel_model::{Expansion, check_data, kernel_model};
    pub use crate::lbfgs::Lbfgs;
    pub use crate::shape::additive::additive_grams;
    pub use crate::shape::distances::squares;
}

pub use edge::{Crossing, Edge};
pub use gaussian_process::GaussianProcess;
pub use kernel::Kernel;
pub use kernel_model::edges::FoundEdge;
pub use kernel_model::{KernelBody, KernelModel};
pub use kernel_term::KernelTerm;
pub use shape::Shape;
