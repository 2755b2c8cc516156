//! Output weights for given hidden weights: normal equations for speed, orthogonal factorisations for accuracy.

pub(crate) mod damped;
mod decomposition;
pub(crate) mod householder;
pub(crate) mod linear;
pub(crate) mod normal;
pub(crate) mod orthogonal;
pub(crate) mod output_weights;
pub(crate) mod ridge;
pub(crate) mod stacked;
pub(crate) mod tsqr;
mod tsqr_triangle;

pub use linear::linear_leave_one_out;
pub use output_weights::OutputWeights;
pub use ridge::Ridge;
pub use stacked::Form;
pub use tsqr::TsqrFactor;
