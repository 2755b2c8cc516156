//! stub
mod activation;
mod adam;
mod config;
mod data;
pub mod elementary;
mod error;
mod features;
mod generator;
mod objective;
mod orthogonal;
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
pub use generator::Precision;
pub use objective::Loss;
pub use orthogonal::Form;
pub use ridge::Ridge;
pub use train::{Check, Leaf, Trainer};
pub use variation::Variation;
