//! Samples: what enters a fit, how its columns are scaled, and the rows as the solvers see them.

pub(crate) mod dataset;
pub(crate) mod rows;
pub(crate) mod scaling;
mod warp;

pub use dataset::{Dataset, check_finite};
pub use scaling::{Scaler, Scaling};
pub use warp::Warp;
