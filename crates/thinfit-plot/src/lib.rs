//! Plots: slices and names in, a [`Canvas`] out, to be written as SVG or PNG.
//!
//! One plot is one function and one file:
//!
//! | function | shows |
//! |---|---|
//! | [`features`] | hidden weights, and which inputs matter |
//! | [`feature_grid`] | hidden weights of several methods on several problems of two inputs |
//! | [`importance`] | first-order and total sensitivity indices |
//! | [`learning`] | loss and validation error over the steps of a fit |
//! | [`prediction`] | predicted against measured values |
//! | [`residuals`] | residuals against predictions, and their histogram |
//! | [`effects`] | the effect of each input alone |
//! | [`distributions`] | histograms of outputs, with marks at their quantiles |
//! | [`tradeoffs`] | the Pareto front of several outputs |
//! | [`fit`] | one method's predictions, and its errors beside those of others |
//!
//! The crate knows nothing of models. Drawing is deterministic and never fails: values that are not finite are skipped,
//! long names are cut, and where not everything fits the picture says what it leaves out. An empty title takes no room,
//! for figures that have a caption.
//!
//! ```
//! use thinfit_plot::{Prediction, prediction};
//!
//! let picture = prediction(Prediction {
//!     title: "Test points",
//!     notes: &["none of the fit"],
//!     quantity: "strength [MPa]",
//!     measured: &[1.0, 2.0, 3.0],
//!     predicted: &[1.1, 2.0, 2.8],
//!     bounds: None,
//! });
//! assert!(picture.to_svg().starts_with("<svg"));
//! ```

mod canvas;
mod distribution;
mod effects;
mod feature_grid;
mod features;
mod fit;
mod front;
mod importance;
mod learning;
mod level_names;
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
pub use distribution::{Histogram, distributions};
pub use effects::{Effect, Effects, effects};
pub use feature_grid::{FeatureGrid, Weights, feature_grid};
pub use features::{Features, features};
pub use fit::{Series, fit};
pub use front::{Tradeoffs, tradeoffs};
pub use importance::{Importance, importance};
pub use learning::{Learning, learning};
pub use prediction::{Prediction, prediction};
pub use residuals::residuals;
