//! A fitted model of any method, and what one asks of it.
//!
//! A [`Predictor`] is a network or a sum of kernels: prediction, intervals, extrapolation, errors at held-out rows, covariances of
//! several rows, and files. [`InputColumn`]s are the columns that a user sets; effects and Sobol' indices refer to them.

mod covariance;
mod description;
mod difference;
mod extrapolation;
mod held_out;
mod input_column;
mod predictor;
mod sensitivity;
#[cfg(test)]
mod tests;

pub use covariance::Covariance;
pub use description::{
    CLEAN, explained, explains_nothing, in_groups, rmse_error, root_error, tried_name,
};
pub use extrapolation::Extrapolation;
pub use held_out::{HeldOut, Seen};
pub use input_column::{InputColumn, Level, Setting};
pub use predictor::Predictor;
pub use sensitivity::effect::Effect;
pub use sensitivity::importance::Dependence;
pub use sensitivity::index_error::IndexErrors;
pub use sensitivity::{Moments, NetworkSensitivity, Sampled, Sensitivity};
