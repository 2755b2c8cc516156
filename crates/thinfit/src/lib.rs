//! Thin two-layer networks with exact output weights: generative feature training.
//!
//! The model is a network with one hidden layer of about a hundred neurons,
//!
//! ```text
//! f(x) = Re Σ_l b_l Φ(⟨w_l, x⟩) / n        l = 1 … n
//! ```
//!
//! For given hidden weights w the best output weights b(w) solve a linear least squares problem. So training moves w
//! alone, down the gradient of L(w) = |A_w b(w) − y|²: the weights themselves (F-Opt), the parameters θ of a generator
//! network w = G_θ(z) with fresh latents z in every step (GFT), or the latents of one draw (the refinement of GFT-r). The
//! method is that of Hertrich and Neumayer, *Generative Feature Training of Thin 2-Layer Networks*, TMLR 2025; the polish
//! by variable projection, the uncertainty and the numerics are ours. `docs/method.md` in the repository derives it all.
//!
//! # Examples
//! ```
//! use thinfit::{Config, Control, Dataset, Mat, fit};
//! let x = Mat::from_fn(80, 2, |i, j| ((i * (7 + 6 * j)) % 101) as f64 / 101.0);
//! let y = Mat::from_fn(80, 1, |i, _| (3.0 * x[(i, 0)]).sin() + x[(i, 0)] * x[(i, 1)]);
//! let config = Config { width: 8, ..Config::fast() };
//! let model = fit(&Dataset::new(x.clone(), y)?, &config, &|_| Control::Continue)?;
//! let f = model.predict(x.as_ref())?; // samples × outputs
//! # assert_eq!(f.nrows(), 80);
//! # Ok::<(), thinfit::Error>(())
//! ```
//!
//! # Rooms
//!
//! | room | what is in it | where the paper has it |
//! |---|---|---|
//! | `data` | samples, their split, warps and scaling, rows as the solvers see them | |
//! | `network` | Φ, the design matrix A_w and its backward pass, the variation R(w), evaluation | §3, §3.4 |
//! | `solve` | b(w): normal equations in training, orthogonal factorisations at the end | §3.1 |
//! | `train` | the objective L + λR, the generator G_θ, Adam, the training step and the phases made of it | §3.2, §3.3, Algorithm 1 |
//! | `polish` | Levenberg-Marquardt on the projected problem, and the race of several starts | ours |
//! | `model` | the fitted network: prediction, intervals and its record | |
//! | `sensitivity` | Sobol indices and effects, in closed form for sums of waves | ours |
//! | `math` | elementary functions on slices, columns of matrices, random numbers by place | |
//! | `fit` | conducts: scale, split, train, polish, solve, calibrate | |
//!
//! `config` holds every choice of a fit, `error` everything that can go wrong, [`mod@file`] how files are read and written. Two seams are open to other crates
//! ([`pieces`]): a [`pieces::Backend`] runs the training step on another device, and [`pieces::Executor`] spreads
//! independent work over several processes.
//!
//! # Symbols
//!
//! | paper | in formulas | in names |
//! |---|---|---|
//! | M points, d inputs | `m`, `d` | `samples`, `dim` |
//! | N features | `n` | `width` |
//! | w_l | `w`, `dw` (n × d′; d′ = d + 1 with biases) | `hidden` |
//! | b_l | `b`, `db` (planes, k × c) | `output` |
//! | A_w, as real planes | `e` | `planes` |
//! | G_θ, θ, z | `theta`, `z` | `Generator`, latents |
//! | ε, λ | `eps`, `lambda` | `Ridge`, `Lambda` |

#![deny(clippy::print_stdout)]

mod clock;
mod config;
mod data;
mod error;
mod executor;
pub mod file;
mod fit;
mod math;
mod model;
mod network;
mod polish;
mod solve;
#[cfg(test)]
mod tests;
mod train;

/// The building blocks of training, for other methods and devices.
pub mod pieces {
    pub use crate::data::{divided, folds, one_group};
    pub use crate::error::require;
    pub use crate::executor::{Executor, Merge, SingleProcess};
    pub use crate::math::chunks::row_chunks;
    pub use crate::math::dot::dot;
    pub use crate::math::lattice::lattice;
    pub use crate::math::product::{adjoint_product, lower_product, product};
    pub use crate::math::quantile::{at_place, quantile, upper_median};
    pub use crate::math::random::{Purpose, Stream, random_subset, stream};
    pub use crate::network::features::planes;
    pub use crate::network::support::Support;
    pub use crate::train::adam::{Adam, COEFFICIENTS};
    pub use crate::train::generator::{Generator, Real};
    pub use crate::train::layers::Layers;
    pub use crate::train::objective::{Joint, glance};
    pub use crate::train::processor::{Processor, VALIDATION_DRAWS, initial};
    pub use crate::train::step::{Backend, Batch, Snapshot, Task, Values, foreign_state};
}

pub use config::{Config, GeneratorConfig, Keep, Lambda, Polish, Schedule, Start, Training};
pub use data::{
    Block, Code, Coded, Column, Correlation, Dataset, Dependence, Encoding, Filling,
    LARGEST_NUMBER, LEAF, Levels, Mergeable, OutOfCoreTable, Scaler, Scaling, Survey, TwoValues,
    Visitor, Warp, autocorrelation, check_finite, clustered, near_repeats, shared_pass,
};
pub use error::{Error, Result};
pub use faer::{Mat, MatRef};
pub use fit::{
    Draft, Features, Job, TsqrBlock, TsqrPass, fit, fit_features, fit_many_on, fit_on, fit_over,
    on_threads, polish_many, resume, resume_on,
};
pub use math::digits::{four_digits, r2_digits, six_digits, two_digits};
pub use math::{elementary, row_list};
pub use model::body::Body;
pub use model::calibration::{Calibration, conformal_quantile};
pub use model::diagnosis::{Candidate, Caution, Choice, Diagnosis, Subset, SubsetReason, Tried};
pub use model::header::{Header, check_result};
pub use model::model::Model;
pub use model::network::NetworkBody;
pub use model::posterior::Posterior;
pub use model::prediction::{Deviation, Interval, Prediction};
pub use model::record::{Grouping, Record, Selection, Winner};
pub use model::training_rows::{Recognised, TrainingRows};
pub use network::{Activation, Evaluator, Feature, Network, Variation};
pub use solve::{Form, OutputWeights, Ridge, TsqrFactor, linear_leave_one_out};
pub use train::checkpoint::State;
pub use train::generator::Precision;
pub use train::objective::Loss;
pub use train::phases::Check;
pub use train::progress::{Control, Observer, Phase, Progress};
pub use train::step::Leaf;
pub use train::timing::{Stage, Timing};
pub use train::trainer::Trainer;

/// The Rust page of the book: its examples are tested.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/rust.md")]
struct Book;
