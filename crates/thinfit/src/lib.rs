//! stub
mod activation;
mod adam;
mod data;
pub mod elementary;
mod error;
mod features;
mod generator;
mod objective;
mod random;
mod ridge;
#[cfg(test)]
mod tests;
mod variation;

pub use activation::Activation;
pub use data::{Dataset, Scaler, Scaling};
pub use error::{Error, Result};
pub use generator::Precision;
pub use objective::Loss;
pub use ridge::Ridge;
pub use variation::Variation;
