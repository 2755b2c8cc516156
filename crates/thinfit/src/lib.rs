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

/// The pieces that training is made of, for methods that combine them otherwise and for other devices.
pub mod pieces {
    pub use crate::error::require;
    pub use crate::network::features::planes;
    pub use crate::train::adam::Adam;
    pub use crate::train::generator::{Generator, Real};
    pub use crate::train::objective::Joint;
    pub use crate::train::processor::Processor;
    pub use crate::train::ranks::{Entries, Ranks, Solo};
    pub use crate::train::step::{Backend, Snapshot, Task, TrainingStep, Values};
}

pub use config::{Config, GeneratorConfig, Keep, Lambda, Polish, Schedule, Start, Training};
pub use data::{Dataset, Scaler, Scaling, check_finite};
pub use error::{Error, Result};
pub use faer::{Mat, MatRef};
pub use fit::{fit, fit_on, on_threads, resume, resume_on};
pub use math::{elementary, row_list};
pub use model::file;
pub use model::model::{Deviation, Model};
pub use model::record::Record;
pub use network::{Activation, Evaluator, Feature, Network, Support, Variation};
pub use sensitivity::Sensitivity;
pub use solve::{Form, OutputWeights, Ridge, linear_leave_one_out};
pub use train::checkpoint::State;
pub use train::generator::Precision;
pub use train::objective::Loss;
pub use train::phases::Check;
pub use train::progress::{Control, Observer, Phase, Progress};
pub use train::step::Leaf;
pub use train::timing::{Stage, Timing};
pub use train::trainer::Trainer;
