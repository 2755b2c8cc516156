//! stub
mod activation;
mod adam;
mod config;
mod data;
pub mod elementary;
mod error;
mod features;
mod fit;
mod generator;
mod householder;
mod laps;
mod model;
mod objective;
mod orthogonal;
mod polish;
mod product;
mod random;
mod ridge;
#[cfg(test)]
mod tests;
mod train;
mod variation;

pub use activation::Activation;
pub use config::{Config, GeneratorConfig, Keep, Lambda, Method, Polish, Schedule};
pub use data::{Dataset, Scaler, Scaling};
pub use error::{Error, Result};
pub use faer::{Mat, MatRef};
pub use fit::{Control, Phase, Progress, State, fit, resume};
pub use generator::Precision;
pub use laps::{Laps, Part};
pub use model::{Deviation, Model, Record};
pub use objective::Loss;
pub use orthogonal::Form;
pub use ridge::Ridge;
pub use train::{Check, Leaf, Trainer};
pub use variation::Variation;
