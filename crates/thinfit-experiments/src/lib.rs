//! The experiments of the paper: its problems, its published numbers, and the runs that produce ours beside them.
//!
//! *Generative feature training of thin 2-layer networks*, Hertrich and Neumayer, TMLR 2025, compares methods on
//! functions with known formulas ([`functions`]) and on six measured data sets ([`uci`]), and prints the errors in
//! Tables 1 to 6 ([`published`]). Here a [`Column`] is what is learned, a [`Row`] learns it, a [`Job`] is one fit, and
//! a [`Ledger`] keeps the record of every fit that is done. [`run`] does what is missing, and a [`Report`] shows what is there.

mod bench;
mod claim;
mod column;
mod error;
mod figure;
pub mod functions;
mod job;
mod ledger;
mod page;
pub mod published;
mod report;
mod row;
mod run;
mod settings;
pub mod uci;

pub use column::{Column, UnknownColumn};
pub use error::Error;
pub use figure::{Features, Figure1, support};
pub use functions::{Indices, Problem, Sample, Split, TooFewInputs};
pub use job::{Cell, Choice, Job, Plan, What};
pub use ledger::{Ledger, Record};
pub use row::{Row, UnknownRow};
// The old name of a row, which `thinfit demo` still uses.
pub use page::page;
pub use report::{Entry, Ours, Report, time};
#[doc(hidden)]
pub use row::Row as Method;
pub use run::{Event, Outcome, run};
pub use settings::Settings;
pub use uci::{Measured, UciError};

/// The commit that this library was built from, `+` behind it where the sources had changed since.
pub const COMMIT: &str = env!("THINFIT_COMMIT");
