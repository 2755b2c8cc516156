//! Generative feature training and the methods it is compared with, all with the same interface.
//!
//! A [`Method`] holds its settings, all with defaults. A [`Request`] adds a seed and a number of threads, and can be
//! read from a settings file. Fitting either gives a [`Predictor`]: a two-layer network ([`thinfit::Model`]) or a sum
//! of kernels over the samples ([`KernelModel`]). Both carry a [`Record`](thinfit::Record) with errors on held-out
//! rows. An observer follows the fit and may stop it; the fit then returns the best model so far.
//!
//! | names | struct | result |
//! |---|---|---|
//! | `random`, `f-opt`, `gft`, `gft-r` | [`thinfit::Config`] | network |
//! | `shrimp`, `harfe`, `anova-rff` | [`Shrimp`], [`Harfe`], [`AnovaRff`] | network |
//! | `swim`, `arff`, `rff` | [`Swim`], [`Arff`], [`RandomFourier`] | network |
//! | `plain`, `noisy-gradients`, `fully-sampled` | [`PlainNetwork`], [`NoisyGradients`], [`FullySampled`] | network |
//! | `kernel-ridge`, `kernel-ridge-validated` | [`KernelRidge`] | kernels |
//! | `salsa`, `gaussian-process` | [`Salsa`], [`GaussianProcess`] | kernels |
//! | `auto` | [`Auto`] | either |
//!
//! [`Method::IDEAS`] has a line on each.
//!
//! Only thinfit's own methods take sample weights.
//!
//! # Examples
//! ```
//! use thinfit::{Control, Dataset, Mat};
//! use thinfit_methods::{Method, Shrimp};
//! let x = Mat::from_fn(60, 2, |i, j| ((i * (7 + 4 * j)) % 61) as f64 / 61.0);
//! let y = Mat::from_fn(60, 1, |i, _| (2.0 * x[(i, 0)]).sin() + x[(i, 1)]);
//! let data = Dataset::new(x.clone(), y)?;
//! for method in [Method::named("kernel-ridge").unwrap(), Method::Shrimp(Shrimp { features: 100, ..Shrimp::default() })] {
//!     let model = method.fit(&data, 1, &|_| Control::Continue)?;
//!     let error = model.predict(x.as_ref())? - &data.y;
//!     assert!(error.norm_max() < 1e-2, "{}", method.name());
//! }
//! # Ok::<(), thinfit::Error>(())
//! ```

mod auto;
mod choice;
mod comparison;
mod covariance;
mod detected;
mod device;
mod difference;
mod effect;
mod extrapolation;
mod factor;
mod held_out;
mod importance;
mod index_error;
mod kernels;
mod memory;
mod method;
mod networks;
mod predictor;
mod prepared;
mod random;
mod range;
mod report;
mod request;
mod settings;

pub use auto::{Auto, Learned, LongState};
pub use comparison::{CONTENDERS, Compared, Comparison, Contender, contenders};
pub use covariance::Covariance;
pub use device::{Device, Placement};
pub use effect::Effect;
pub use extrapolation::Extrapolation;
pub use factor::{Factor, Level, Setting};
pub use held_out::{HeldOut, Seen};
pub use importance::Dependence;
pub use index_error::IndexErrors;
pub use kernels::edge::{Crossing, Edge};
pub use kernels::gaussian_process::GaussianProcess;
pub use kernels::kernel::Kernel;
pub use kernels::kernel_model::edges::FoundEdge;
pub use kernels::kernel_model::{KernelBody, KernelModel};
pub use kernels::kernel_ridge::KernelRidge;
pub use kernels::part::{Part, Shape};
pub use kernels::salsa::Salsa;
pub use method::Method;
pub use networks::anova_rff::AnovaRff;
pub use networks::arff::Arff;
pub use networks::fourier::Density;
pub use networks::fully_sampled::FullySampled;
pub use networks::harfe::Harfe;
pub use networks::noisy_gradients::NoisyGradients;
pub use networks::plain_network::{PlainFit, PlainNetwork};
pub use networks::random_fourier::RandomFourier;
pub use networks::shrimp::{Shrimp, ShrimpVariant};
pub use networks::swim::Swim;
pub use predictor::Predictor;
pub use report::{
    explained, explains_nothing, four_digits, in_groups, r2_digits, rmse_error, tried_name,
    two_digits,
};
pub use request::Request;
pub use thinfit::{Error, Result};
