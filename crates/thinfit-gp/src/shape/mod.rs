//! The shapes of kernels. A shape is a function of the distance, or is made of such functions: each has a file that implements
//! [`Profile`], and all are listed here alone.

pub(crate) mod additive;
pub(crate) mod anova;
pub(crate) mod distances;
pub(crate) mod gaussian;
pub(crate) mod matern52;

use serde::{Deserialize, Deserializer, Serialize};

/// The function of the distances.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shape {
    /// exp(−q/2), for smooth functions.
    #[default]
    Gaussian,
    /// (1 + r + r²/3) e⁻ʳ, for twice differentiable functions.
    Matern52,
    /// The elementary symmetric polynomial of this order of one-dimensional Gaussian kernels.
    Additive(usize),
    /// Π_j (1 − c_j + c_j κ_j), for functions that are nearly sums of functions of few inputs.
    Anova,
    /// The same with κ_j the Matérn 5/2 function of one input.
    AnovaMatern52,
}

/// How the inputs come together in a shape.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Kind {
    /// A function of the distance in all inputs.
    Radial,
    /// The sum over all sets of so many inputs of products of functions of one input.
    Additive(usize),
    /// The product over inputs with shares.
    Product,
}

/// A function κ of the squared distance q, in units of the lengths.
pub(crate) trait Profile {
    /// Whether −2 ∂κ/∂q is κ.
    const IS_ITS_SLOPE: bool;
    /// What the other functions take q times.
    const FACTOR: f64;

    /// κ in the place of factor · q; `decay` gets what the derivatives below need.
    fn values(q: &mut [f64], decay: &mut [f64]);

    /// −2 ∂κ/∂q in the place of factor · q.
    fn slopes(q: &mut [f64], decay: &mut [f64]);

    /// −∂κ/∂t of one input, where q = t².
    fn slope(t: f64, kappa: f64, decay: f64) -> f64;

    /// ∂κ/∂ ln ℓ of one input, where q = t².
    fn length_slope(t2: f64, kappa: f64, decay: f64) -> f64;
}

/// An expression in the [`Profile`] that a shape is made of.
macro_rules! with_profile {
    ($shape:expr, $profile:ident => $value:expr) => {
        match $shape {
            $crate::Shape::Gaussian | $crate::Shape::Anova | $crate::Shape::Additive(_) => {
                type $profile = $crate::shape::gaussian::Gaussian;
                $value
            }
            $crate::Shape::Matern52 | $crate::Shape::AnovaMatern52 => {
                type $profile = $crate::shape::matern52::Matern52;
                $value
            }
        }
    };
}
pub(crate) use with_profile;

impl Shape {
    /// The names of those that a Gaussian process can have, for people.
    pub(crate) const OF_PROCESSES: &str = "`gaussian`, `matern52`, `anova` or `anova-matern52`";

    pub(crate) fn kind(self) -> Kind {
        match self {
            Shape::Gaussian | Shape::Matern52 => Kind::Radial,
            Shape::Additive(order) => Kind::Additive(order),
            Shape::Anova | Shape::AnovaMatern52 => Kind::Product,
        }
    }

    /// Whether it is a product over inputs with shares.
    pub fn has_shares(self) -> bool {
        self.kind() == Kind::Product
    }

    /// The shape of the same kind for smooth functions.
    pub fn smooth(self) -> Self {
        match self.kind() {
            Kind::Radial => Shape::Gaussian,
            Kind::Additive(_) => self,
            Kind::Product => Shape::Anova,
        }
    }

    /// What it is called in a sentence, such as "Gaussian kernel".
    pub fn name(self) -> String {
        match self {
            Shape::Gaussian => "Gaussian kernel".into(),
            Shape::Matern52 => "Matérn 5/2 kernel".into(),
            Shape::Additive(order) => format!("additive kernel of order {order}"),
            Shape::Anova => "ANOVA kernel".into(),
            Shape::AnovaMatern52 => "ANOVA kernel (Matérn 5/2)".into(),
        }
    }
}

/// Reads a shape that a Gaussian process can have; a model's file may also have the additive one.
pub(crate) fn of_process<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Shape, D::Error> {
    #[derive(Deserialize)]
    #[serde(rename_all = "kebab-case")]
    enum OfProcess {
        Gaussian,
        Matern52,
        Anova,
        AnovaMatern52,
    }
    Ok(match OfProcess::deserialize(deserializer)? {
        OfProcess::Gaussian => Shape::Gaussian,
        OfProcess::Matern52 => Shape::Matern52,
        OfProcess::Anova => Shape::Anova,
        OfProcess::AnovaMatern52 => Shape::AnovaMatern52,
    })
}
