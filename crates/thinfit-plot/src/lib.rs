//! The pictures of thinfit: slices and names in, a [`Canvas`] out, which writes itself as SVG or PNG.
//!
//! One picture is one function and one file:
//!
//! | function | shows |
//! |---|---|
//! | [`features`] | where the hidden weights lie, and which inputs matter |
//! | [`feature_grid`] | hidden weights of several methods on several problems of two inputs |
//! | [`importance`] | first-order and total sensitivity indices |
//! | [`learning`] | loss and validation error over the steps of a fit |
//! | [`prediction`] | predicted against true values |
//! | [`residuals`] | residuals against predictions, and their histogram |
//! | [`effects`] | the effect of each input alone |
//! | [`fit`] | one method's predictions, and its errors beside those of others |
//!
//! Nothing here knows a model, draws at random or fails: values that are not finite are left out, names that are too long
//! are cut, and what there is too much of is summed up and said so. An empty title takes no room, which suits a figure
//! with a caption.
//!
//! ```
//! use thinfit_plot::{Prediction, prediction};
//!
//! let picture = prediction(Prediction {
//!     title: "Test points",
//!     quantity: "strength [MPa]",
//!     truth: &[1.0, 2.0, 3.0],
//!     predicted: &[1.1, 2.0, 2.8],
//! });
//! assert!(picture.to_svg().starts_with("<svg"));
//! ```

mod canvas;
mod effects;
mod feature_grid;
mod features;
mod fit;
mod importance;
mod learning;
mod markers;
mod number;
mod panel;
mod png;
mod prediction;
mod residuals;
mod scale;
mod scatter;
mod style;
mod svg;
#[cfg(test)]
mod tests;
mod text;

pub use canvas::Canvas;
pub use effects::{Effect, Effects, effects};
pub use feature_grid::{FeatureGrid, Weights, feature_grid};
pub use features::{Features, features};
pub use fit::{Series, fit};
pub use importance::{Importance, importance};
pub use learning::{Learning, learning};
pub use prediction::{Prediction, prediction};
pub use residuals::residuals;
