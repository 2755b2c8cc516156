//! Fitted models in other languages: ONNX for runtimes, C, Python and JavaScript without dependencies, LaTeX for papers.
//!
//! A model is described once, as a formula of expressions, and each language writes formulas.
//!
//! Exports of networks use the numbers of [`thinfit::Evaluator`] and its order of operations, so they agree with
//! [`thinfit::Model::predict`] up to rounding. Rounding errors scale with Σ|b_l|/n, which for a polished model may be a
//! thousand times max |f|. Those of sums of kernels scale with Σ|α_i|, which is as large where there is little noise. So every
//! export is compared with the model before it is written ([`Difference`]), and refused where it is too far from it.

mod c;
mod derivative;
mod difference;
mod evaluation;
mod expression;
mod files;
mod formula;
mod graph;
mod javascript;
mod kernel;
mod latex;
mod lowering;
mod message;
mod name;
mod network;
mod notation;
mod onnx;
mod phase;
mod python;
mod real;
mod script;

pub use c::{CSource, c};
pub use difference::{Difference, Inaccurate, TOLERANCE, difference, difference_of_functions};
pub use files::{Exported, Language, files};
pub use javascript::{JavaScript, javascript};
pub use latex::latex;
pub use name::identifier;
pub use onnx::{Onnx, onnx};
pub use python::python;

#[cfg(test)]
mod tests;
