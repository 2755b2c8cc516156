//! Samples: the data of a fit, the encoding and scaling of columns, and views of rows for the solvers.

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
pub(crate) mod long;
pub(crate) mod names;
mod near_repeats;
pub(crate) mod pass;
pub(crate) mod row_marks;
pub(crate) mod row_ranges;
pub(crate) mod rows;
pub(crate) mod scaling;
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
pub use long::{Block, LEAF, LongTable, Visitor};
pub use near_repeats::near_repeats;
pub use pass::{Finding, shared_pass};
pub use scaling::{Scaler, Scaling};
pub use survey::Survey;
pub use two_values::TwoValues;
pub use warp::Warp;
