//! The experiments of the paper: its problems, its published numbers, and the runs that reproduce them.
//!
//! *Generative feature training of thin 2-layer networks*, Hertrich and Neumayer, TMLR 2025, compares methods on
//! functions with known formulas ([`functions`]) and on six measured data sets ([`uci`]), and prints the errors in
//! Tables 1 to 6 ([`published`]). A table is an [`Exhibit`]: in each [`Cell`] a [`Row`], that is, a method with its
//! settings, learns a [`Column`], that is, a problem. A [`Job`] is one fit for a cell, and a [`Ledger`] has an [`Entry`]
//! for every finished job. [`run`] does the jobs that are missing, and a [`Report`] compares the ledger with the paper.
//!
//! In addition, the default fit is benchmarked on published functions ([`engineering`]) and on small and odd tables
//! ([`stress`]); both give a [`Trial`].

mod attempt;
mod column;
mod comparison;
pub mod engineering;
mod error;
mod exhibit;
mod figure1;
mod file;
pub mod functions;
mod job;
mod job_lock;
mod ledger;
mod mpi_workers;
mod notes;
mod page;
pub mod published;
mod queue;
mod remark;
mod report;
mod row;
mod run;
mod settings;
mod spectrum;
pub mod stress;
mod trial;
pub mod uci;

pub use column::{Column, UnknownColumn};
pub use comparison::{Comparison, Count, Ours};
pub use engineering::Formula;
pub use error::Error;
pub use exhibit::{Cell, Exhibit, UnknownExhibit};
pub use figure1::Figure1;
pub use functions::{Indices, Problem, Sample, Split, TooFewInputs};
pub use job::{Choice, Job, Plan};
pub use ledger::{Entry, Ledger};
pub use mpi_workers::MpiWorkers;
pub use page::page;
pub use report::{Report, time};
pub use row::{Row, UnknownRow};
pub use run::{Event, Means, Outcome, run};
pub use settings::Settings;
pub use spectrum::Spectrum;
pub use stress::Stress;
pub use trial::Trial;
pub use uci::{Measured, UciError};

/// The commit that this library was built from, with a `+` if the sources had changed since.
pub const COMMIT: &str = env!("THINFIT_COMMIT");
