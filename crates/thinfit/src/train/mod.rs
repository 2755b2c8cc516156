//! Algorithm 1: the training step, what it is made of, and the phases made of it.

pub(crate) mod adam;
pub(crate) mod checkpoint;
pub(crate) mod generator;
pub(crate) mod objective;
pub(crate) mod processor;
pub(crate) mod timing;
