//! The commands, one file each: arguments in, library calls, a file or a report out.

pub mod data;
pub mod demo;
pub mod export;
pub mod fit;
pub mod inspect;
pub mod plot;
pub mod predict;
pub mod reproduce;
pub mod score;
