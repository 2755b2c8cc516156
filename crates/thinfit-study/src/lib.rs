//! Studies of a fitted model: optimisation, uncertainty propagation, adaptive sampling and Shapley effects.
//!
//! All of them vary [`InputColumn`](thinfit_methods::InputColumn)s, the columns of the user's table, inside the ranges of the
//! samples or inside [`Ranges`] given by the user.
//!
//! | question | function |
//! |---|---|
//! | Where is an output smallest, or largest? | [`minimise`] |
//! | Which trade-offs between several outputs are possible? | [`front`] |
//! | How uncertain are the outputs if the inputs are? | [`propagate`] |
//! | Where do new samples help most? | [`suggest`] |
//! | Which inputs matter if they depend on each other? | [`Shapley`] |
//!
//! A [`Region`] limits [`minimise`], [`front`] and [`suggest`]: some columns are fixed, the others stay within their
//! ranges and linear constraints.
//!
//! ```
//! use thinfit::{Control, Dataset, Mat};
//! use thinfit_methods::Method;
//! use thinfit_study::{Goal, Region, minimise};
//!
//! let x = Mat::from_fn(60, 2, |i, j| ((i * (7 + 4 * j)) % 61) as f64 / 60.0);
//! let y = Mat::from_fn(60, 1, |i, _| (x[(i, 0)] - 0.3).powi(2) + x[(i, 1)]);
//! let data = Dataset::new(x, y)?;
//! let method = Method::named("gaussian-process").unwrap();
//! let model = method.fit(&data, 1, &|_| Control::Continue)?;
//! let mut region = Region::new(&model);
//! region.require("x1 + x2 >= 0.5")?;
//! let found = minimise(&region, Goal::least(0), 0)?;
//! assert!((found.best.value - 0.04).abs() < 1e-3);
//! # Ok::<(), thinfit_study::Error>(())
//! ```

mod constraint;
mod distribution;
mod error;
mod feasible;
mod front;
mod improvement;
mod minimum;
mod point;
mod propagation;
mod quadratic;
mod ranges;
mod region;
mod search;
mod shapley;
mod suggestion;
mod survey;

pub use distribution::{Given, Inputs};
pub use error::Error;
pub use front::{Front, Tradeoff, front};
pub use minimum::{Beyond, Border, End, Minimum, Optimum, Thin, minimise};
pub use point::{Point, Value};
pub use propagation::{
    Block, Estimate, Outside, Propagation, Quantile, Spread, Summary, propagate,
};
pub use ranges::Ranges;
pub use region::{Goal, Region, notes};
pub use shapley::Shapley;
pub use suggestion::{Aim, Places, choose, suggest};
