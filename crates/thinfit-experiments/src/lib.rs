//! The test problems of the paper, and its published figures to compare with.
//!
//! *Generative feature training of thin 2-layer networks*, Hertrich and Neumayer, TMLR 2025, compares methods on
//! functions with known formulas ([`functions`]) and prints the errors in Tables 1 to 6 ([`published`]). It also uses six
//! measured data sets ([`uci`]). This crate holds them; it fits nothing itself.

pub mod functions;
pub mod published;
pub mod uci;

pub use functions::{Indices, Problem, Sample, Split, TooFewInputs};
pub use uci::{Measured, UciError};
