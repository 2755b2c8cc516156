//! Mathematics without a method: elementary functions, matrices by columns and in files, random numbers.

pub(crate) mod columns;
pub(crate) mod dot;
pub mod elementary;
pub(crate) mod product;
pub(crate) mod random;
pub mod row_list;
