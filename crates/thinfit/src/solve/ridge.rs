//! The ridge ε of min |A b − y|² + ε|b|², wherever output weights are solved for.
//!
//! A training step knows AᴴA but not its eigenvalues, so there a relative ridge is relative to the trace. The final
//! solve has the singular values s of A and chooses κ = √ε/s_max among [`KAPPAS`] by held-out error; an absolute ridge
//! is the same number in both.

use serde::{Deserialize, Serialize};

/// The ridge of the training steps.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ridge {
    /// ε = ρ · trace(AᴴA)/n over the n hidden columns: the same strength for any width, scale and number of rows. The
    /// final output weights choose their own ε.
    Relative(f64),
    /// ε itself, as in the paper (where A carries the factor 1/n), for the final output weights as well.
    Absolute(f64),
}

/// κ that the final ridge is chosen from: the small ones for exact data, the large ones for noisy data.
pub(crate) const KAPPAS: [f64; 8] = [1e-13, 1e-12, 1e-11, 1e-10, 1e-8, 1e-6, 1e-4, 1e-2];
