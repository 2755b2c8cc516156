//! Mathematics without a method: elementary functions, columns of matrices, random numbers.

pub(crate) mod columns;
pub mod elementary;
pub(crate) mod random;
