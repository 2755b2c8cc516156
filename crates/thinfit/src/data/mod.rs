//! Samples: what enters a fit, how its columns are encoded and scaled, and the rows as the solvers see them.

mod column;
mod correlation;
pub(crate) mod dataset;
pub(crate) mod encoding;
mod meaning;
pub(crate) mod names;
pub(crate) mod rows;
pub(crate) mod scaling;
mod warp;

pub use column::{Code, Column, Levels};
pub use correlation::Correlation;
pub use dataset::{Dataset, check_finite};
pub use encoding::{Coded, Encoding, Filling};
pub use scaling::{Scaler, Scaling};
pub use warp::Warp;
