//! Methods that thinfit is compared with, one file each.
//!
//! A method is a struct of settings with documented defaults and a function `fit(data, seed, observe)`. `observe` is told
//! the fraction of the work that is done and may stop the fit, which then returns the best that it has. Where the result
//! is a two-layer network, it is a [`thinfit::Model`], which predicts, saves and exports as any other; where it is a sum
//! of kernels over the samples, it is a [`KernelModel`]. [`Method`] is the choice between the methods and [`Predictor`]
//! what any of them returns.
//!
//! | name | struct | result | idea |
//! |---|---|---|---|
//! | `shrimp` | [`Shrimp`] | network | prune random features that act on few inputs by magnitude |
//! | `harfe` | [`Harfe`] | network | hard thresholding pursuit over such features |
//! | `anova-rff` | [`AnovaRff`] | network | find the sets of inputs that act together, prune on these |
//! | `swim` | [`Swim`] | network | neurons between pairs of samples |
//! | `arff` | [`Arff`] | network | frequencies walk at random by Metropolis steps |
//! | `rff` | [`RandomFourier`] | network | random frequencies, ridge |
//! | `plain` | [`PlainNetwork`] | network | Adam on both layers |
//! | `noisy-gradients` | [`NoisyGradients`] | network | gradient descent with noise on both layers |
//! | `fully-sampled` | [`FullySampled`] | network | a generator of both layers, nothing solved for |
//! | `kernel-ridge` | [`KernelRidge`] | kernels | Gaussian kernel, median rule |
//! | `kernel-ridge-validated` | [`KernelRidge::validated`] | kernels | bandwidth and ridge by leave-one-out |
//! | `salsa` | [`Salsa`] | kernels | additive kernel of a validated order |
//! | `gaussian-process` | [`GaussianProcess`] | kernels | a length per input by the marginal likelihood |
//!
//! None of them takes sample weights.
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

mod anova_rff;
mod arff;
mod cholesky;
mod fourier;
mod fully_sampled;
mod gaussian_process;
mod harfe;
mod kernel;
mod kernel_model;
mod kernel_ridge;
mod lbfgs;
mod least_squares;
mod lsqr;
mod method;
mod noisy_gradients;
mod plain_network;
mod predictor;
mod problem;
mod random;
mod random_fourier;
mod salsa;
mod shrimp;
mod swim;

pub use anova_rff::AnovaRff;
pub use arff::Arff;
pub use fourier::Density;
pub use fully_sampled::FullySampled;
pub use gaussian_process::GaussianProcess;
pub use harfe::Harfe;
pub use kernel::{Kernel, Shape};
pub use kernel_model::{KernelModel, KernelRecord};
pub use kernel_ridge::KernelRidge;
pub use method::{Method, Observer};
pub use noisy_gradients::NoisyGradients;
pub use plain_network::PlainNetwork;
pub use predictor::Predictor;
pub use random_fourier::RandomFourier;
pub use salsa::Salsa;
pub use shrimp::{Shrimp, Variant};
pub use swim::Swim;
pub use thinfit::{Error, Result};
