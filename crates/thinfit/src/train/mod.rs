//! Algorithm 1: the training step, its parts, and the phases that repeat it.

pub(crate) mod adam;
pub(crate) mod checkpoint;
pub(crate) mod generator;
pub(crate) mod layers;
pub(crate) mod objective;
pub(crate) mod phases;
pub(crate) mod processor;
pub(crate) mod progress;
pub(crate) mod step;
pub(crate) mod timing;
pub(crate) mod trainer;
