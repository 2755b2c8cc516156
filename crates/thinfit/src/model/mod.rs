//! A fitted model: a body that predicts, with scaling, calibration and record.

pub(crate) mod body;
pub(crate) mod calibration;
pub(crate) mod diagnosis;
pub(crate) mod header;
#[allow(clippy::module_inception)]
pub(crate) mod model;
pub(crate) mod network;
pub(crate) mod posterior;
pub(crate) mod prediction;
pub(crate) mod record;
pub(crate) mod texts;
pub(crate) mod training_rows;
