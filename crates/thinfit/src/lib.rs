#![doc = include_str!("../README.md")]
#![deny(clippy::print_stdout)]

mod activation;
mod adam;
mod config;
mod data;
pub mod elementary;
mod error;
mod features;
pub mod file;
mod fit;
mod generator;
mod householder;
mod laps;
mod lattice;
mod linear;
mod model;
mod objective;
mod orthogonal;
mod output;
mod polish;
mod predict;
mod race;
mod random;
mod record;
mod ridge;
mod rows;
mod sensitivity;
mod state;
#[cfg(test)]
mod tests;
mod train;
mod uncertainty;
mod variation;
mod waves;

/// The pieces that training is made of, for methods that combine them otherwise.
pub mod parts {
    pub use crate::adam::Adam;
    pub use crate::features::planes;
    pub use crate::generator::{Generator, Real};
    pub use crate::objective::Joint;
}

pub use activation::Activation;
pub use config::{Config, GeneratorConfig, Keep, Lambda, Method, Polish, Schedule, Start};
pub use data::{Dataset, Scaler, Scaling, check_finite};
pub use error::{Error, Result};
pub use faer::{Mat, MatRef};
pub use fit::{fit, resume};
pub use generator::Precision;
pub use laps::{Laps, Part};
pub use linear::linear_leave_one_out;
pub use model::{Deviation, Model, Network};
pub use objective::Loss;
pub use output::OutputWeights;
pub use predict::{Evaluator, Feature};
pub use record::Record;
pub use ridge::Ridge;
pub use rows::Form;
pub use sensitivity::Sensitivity;
pub use state::{Control, Phase, Progress, State};
pub use train::{Check, Leaf, Trainer};
pub use variation::Variation;
