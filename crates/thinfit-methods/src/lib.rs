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

mod comparison;
mod device;
mod memory;
mod method;
mod request;
mod settings;

pub use comparison::{CONTENDERS, Compared, Comparison, Contender, contenders};
pub use device::{Device, Placement};
pub use method::Method;
pub use request::Request;
pub use thinfit::{Error, Result, four_digits, r2_digits, two_digits};
pub use thinfit_auto::{Auto, Learned, LongState};
pub use thinfit_baselines::{
    AnovaRff, Arff, Density, FullySampled, Harfe, KernelRidge, NoisyGradients, PlainFit,
    PlainNetwork, RandomFourier, Salsa, Shrimp, ShrimpVariant, Swim,
};
pub use thinfit_gp::{
    Crossing, Edge, FoundEdge, GaussianProcess, Kernel, KernelBody, KernelModel, KernelTerm, Shape,
};
pub use thinfit_model::{
    Covariance, Dependence, Effect, Extrapolation, HeldOut, IndexErrors, InputColumn, Level,
    Moments, NetworkSensitivity, Predictor, Sampled, Seen, Sensitivity, Setting, explained,
    explains_nothing, in_groups, rmse_error, tried_name,
};
