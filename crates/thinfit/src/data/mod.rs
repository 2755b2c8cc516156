//! Samples: what enters a fit, how its columns are encoded and scaled, and the rows as the solvers see them.

mod column;
mod correlation;
pub(crate) mod dataset;
pub(crate) mod encoding;
pub(crate) mod long;
mod meaning;
pub(crate) mod names;
pub(crate) mod pass;
pub(crate) mod rows;
pub(crate) mod scaling;
pub(crate) mod survey;
mod warp;
pub(crate) mod whole;

pub use column::{Code, Column, Levels};
pub use correlation::Correlation;
pub use dataset::{Dataset, check_finite};
pub use encoding::{Coded, Encoding, Filling};
pub use long::{Block, LEAF, LongTable, Visitor};
pub use pass::{Finding, shared_pass};
pub use scaling::{Scaler, Scaling};
pub use survey::Survey;
pub use warp::Warp;
