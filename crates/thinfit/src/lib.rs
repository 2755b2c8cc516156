#![doc = include_str!("../README.md")]
#![deny(clippy::print_stdout)]

mod config;
mod data;
mod error;
mod fit;
mod math;
mod model;
mod network;
mod polish;
mod sensitivity;
mod solve;
#[cfg(test)]
mod tests;
mod train;

/// The pieces that training is made of, for methods that combine them otherwise.
pub mod parts {
    pub use crate::network::features::planes;
    pub use crate::train::adam::Adam;
    pub use crate::train::generator::{Generator, Real};
    pub use crate::train::objective::Joint;
}

pub use config::{Config, GeneratorConfig, Keep, Lambda, Method, Polish, Schedule, Start};
pub use data::{Dataset, Scaler, Scaling, check_finite};
pub use error::{Error, Result};
pub use faer::{Mat, MatRef};
pub use fit::{fit, resume};
pub use math::elementary;
pub use model::file;
pub use model::model::{Deviation, Model, Network};
pub use model::record::Record;
pub use network::{Activation, Evaluator, Feature, Variation};
pub use sensitivity::Sensitivity;
pub use solve::{Form, OutputWeights, Ridge, linear_leave_one_out};
pub use train::checkpoint::{Control, Phase, Progress, State};
pub use train::generator::Precision;
pub use train::objective::Loss;
pub use train::processor::{Check, Leaf, Trainer};
pub use train::timing::{Laps, Part};
