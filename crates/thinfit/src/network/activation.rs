//! The activation Φ with its first two derivatives (paper §3, list of nonlinearities).
//!
//! Adding an activation starts here; `planes` says how its values are stored, `features` computes them.

use serde::{Deserialize, Serialize};

/// The activation Φ of the hidden layer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Activation {
    /// Φ(t) = exp(2πit), complex output weights, no biases.
    #[default]
    Fourier,
    /// Φ(t) = cos(πt), with biases.
    Cosine,
    /// Φ(t) = 1/(1+e⁻ᵗ), with biases.
    Sigmoid,
    /// Φ(t) = tanh t, with biases.
    Tanh,
    /// Φ(t) = max(t, 0), with biases.
    Relu,
}

impl Activation {
    /// All activations, for grids and help texts.
    pub const ALL: [Activation; 5] = [
        Activation::Fourier,
        Activation::Cosine,
        Activation::Sigmoid,
        Activation::Tanh,
        Activation::Relu,
    ];

    /// The name in a configuration file.
    pub fn name(self) -> &'static str {
        match self {
            Activation::Fourier => "fourier",
            Activation::Cosine => "cosine",
            Activation::Sigmoid => "sigmoid",
            Activation::Tanh => "tanh",
            Activation::Relu => "relu",
        }
    }

    /// Whether the bias trick applies: x is padded by a constant 1 and A by a column of ones.
    pub fn has_bias(self) -> bool {
        self != Activation::Fourier
    }

    /// Entries of one hidden weight w_l for `d` inputs: d, or d + 1 with biases.
    pub fn weights(self, d: usize) -> usize {
        d + usize::from(self.has_bias())
    }

    /// Φ′/n and Φ″/n of a *real* activation from its planes: `phi` = Φ/n and, for the cosine, `sine` = sin(πt)/n.
    #[inline(always)]
    pub(crate) fn derivatives(self, phi: f64, sine: f64, n: f64) -> (f64, f64) {
        use std::f64::consts::PI;
        match self {
            Activation::Sigmoid => {
                let p = phi * n;
                let first = phi * (1.0 - p);
                (first, first * (1.0 - 2.0 * p))
            }
            Activation::Tanh => {
                let p = phi * n;
                let first = (1.0 - p * p) / n;
                (first, -2.0 * p * first)
            }
            Activation::Relu => (if phi > 0.0 { 1.0 / n } else { 0.0 }, 0.0),
            Activation::Cosine => (-PI * sine, -PI * PI * phi),
            Activation::Fourier => {
                unreachable!(
                    "the Fourier feature is complex; its slopes are taken from both planes"
                )
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derivatives_agree_with_differences() {
        let phi = |a: Activation, t: f64| match a {
            Activation::Cosine => (std::f64::consts::PI * t).cos(),
            Activation::Sigmoid => 1.0 / (1.0 + (-t).exp()),
            Activation::Tanh => t.tanh(),
            _ => t.max(0.0),
        };
        let n = 7.0;
        for a in [
            Activation::Cosine,
            Activation::Sigmoid,
            Activation::Tanh,
            Activation::Relu,
        ] {
            for t in [-2.3, -0.4, 0.7, 1.9] {
                let h = 1e-4;
                let (first, second) =
                    a.derivatives(phi(a, t) / n, (std::f64::consts::PI * t).sin() / n, n);
                let numeric = (phi(a, t + h) - phi(a, t - h)) / (2.0 * h) / n;
                let curved = (phi(a, t + h) - 2.0 * phi(a, t) + phi(a, t - h)) / (h * h) / n;
                assert!((first - numeric).abs() < 1e-6, "{a:?} {t}");
                assert!((second - curved).abs() < 1e-5, "{a:?} {t}");
            }
        }
    }
}
