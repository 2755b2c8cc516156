//! Mathematics independent of the method: elementary functions, products, columns, random numbers, matrices in files.

pub(crate) mod chunks;
pub(crate) mod columns;
pub(crate) mod digits;
pub(crate) mod dot;
pub mod elementary;
pub(crate) mod fma;
pub(crate) mod lattice;
pub(crate) mod product;
pub(crate) mod quantile;
pub(crate) mod random;
pub mod row_list;
pub(crate) mod wire;
