//! The default fit: candidates are searched within a planned budget, cross-validation ranks them, and the record keeps the diagnosis.
//!
//! Gaussian processes with several kernels come first: they are quick, and their length scales tell which inputs
//! matter and how fast the function varies. If the function turns out to be a sum of functions of few inputs, a
//! process with that structure follows. Networks come last: fitted to the rows if these are noise-free, with features
//! scaled by the length scales and terms of the process, otherwise distilled from the best process. Every candidate
//! is cross-validated, and the best becomes the model; a thin network wins if it is as good.

mod auto;
mod diagnosis;
mod distillation;
mod edge_search;
mod edges;
mod message;
mod network;
mod noise;
mod out_of_core;
mod outliers;
mod plan;
mod process;
mod samples;
mod screening;
mod state;
mod structure;
mod successive_halving;
#[cfg(test)]
mod tests;

pub use auto::{Auto, model_rows};
pub use out_of_core::Learned;
pub use state::LongState;
