//! A fitted model: the network with its scaling, uncertainty and record.

pub(crate) mod diagnosis;
#[allow(clippy::module_inception)]
pub(crate) mod model;
mod prediction;
pub(crate) mod record;
pub(crate) mod texts;
pub(crate) mod training_rows;
pub(crate) mod uncertainty;
