//! Fitted models in other languages: ONNX for runtimes, C, Python and JavaScript without dependencies, LaTeX for papers.
//!
//! Exports of networks use the numbers of [`thinfit::Evaluator`] and its order of operations, so they agree with
//! [`thinfit::Model::predict`] up to rounding. Rounding errors scale with Σ|b_l|/n, which for a polished model may be a
//! thousand times max |f|. Those of sums of kernels scale with Σ|α_i|, which is as large where there is little noise.

mod c;
mod files;
mod javascript;
mod kernels;
mod latex;
mod message;
mod name;
mod onnx;
mod python;

pub use c::{CSource, c};
pub use files::{Language, files};
pub use javascript::{JavaScript, javascript};
pub use latex::latex;
pub use name::identifier;
pub use onnx::onnx;
pub use python::python;

/// What a network is, in words.
fn described(model: &thinfit::Model) -> String {
    format!(
        "a thin two-layer network of {} neurons ({})",
        model.width(),
        model.activation().name()
    )
}

#[cfg(test)]
mod tests;
