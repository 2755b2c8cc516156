//! stub
mod activation;
mod elementary;
mod error;
mod features;
pub use activation::Activation;
pub use error::{Error, Result};
