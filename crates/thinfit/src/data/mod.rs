//! Samples: what enters a fit, how its columns are encoded and scaled, and the rows as the solvers see them.

mod cell_parser;
mod clusters;
mod column;
mod correlation;
pub(crate) mod dataset;
mod dependence;
pub(crate) mod encoding;
pub(crate) mod groups;
pub(crate) mod integer_columns;
mod linkage;
pub(crate) mod names;
mod near_repeats;
pub(crate) mod out_of_core;
pub(crate) mod row_marks;
pub(crate) mod row_ranges;
pub(crate) mod rows;
pub(crate) mod scaling;
pub(crate) mod shared_pass;
pub(crate) mod survey;
mod two_values;
mod warp;

pub use clusters::clustered;
pub use column::{Code, Column, Levels};
pub use correlation::Correlation;
pub use dataset::{Dataset, LARGEST as LARGEST_NUMBER, check_finite};
pub use dependence::{Dependence, autocorrelation};
pub use encoding::{Coded, Encoding, Filling};
pub use groups::{divided, one_group};
pub use near_repeats::near_repeats;
pub use out_of_core::{Block, LEAF, OutOfCoreTable, Visitor};
pub use scaling::{Scaler, Scaling};
pub use shared_pass::{Mergeable, shared_pass};
pub use survey::Survey;
pub use two_values::TwoValues;
pub use warp::Warp;
