//! Fitted networks in the languages of others: ONNX for runtimes, C and Python without dependencies, LaTeX for papers.
//!
//! All of them write down the same numbers in the same order of operations, those of [`thinfit::Evaluator`], so that
//! they agree with [`thinfit::Model::predict`] up to roundings. Roundings of single terms count in proportion to
//! Σ|b_l|/n, which for a polished model may be a thousand times max |f|.

mod c;
mod latex;
mod message;
mod name;
mod onnx;
mod python;

pub use c::{CSource, c};
pub use latex::latex;
pub use name::identifier;
pub use onnx::onnx;
pub use python::python;

#[cfg(test)]
mod tests;
