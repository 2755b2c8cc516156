//! The data from which a page computes intervals, as `predict --interval` does.

use crate::doubles::Doubles;
use serde::Serialize;
use thinfit::Error;
use thinfit_methods::Predictor;

/// Probabilities of the intervals that a reader can choose between.
pub(crate) const LEVELS: [f64; 5] = [0.5, 0.8, 0.9, 0.95, 0.99];
/// The one that is shown first, and that the texts of the page refer to.
pub(crate) const LEVEL: f64 = 0.9;
/// Maximum number of points of a sum of kernels whose covariance a page factorises: half a minute, and 100 MB.
const MOST_POINTS: usize = 5000;

/// What intervals are made from.
#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(crate) enum Uncertainty {
    /// Of a network: σ² = scale² noise (e M eᵀ + 1) with the planes e of a row.
    Network {
        activation: &'static str,
        /// Lower triangle of M, row by row.
        covariance: Doubles,
        noise: Vec<f64>,
        scale: Vec<f64>,
        quantiles: Quantiles,
    },
    /// Of a Gaussian process: σ² = scale² signal (k(x, x) − kᵀC⁻¹k + (1 − 1ᵀC⁻¹k)²/1ᵀC⁻¹1 + ridge).
    Process {
        signal: Vec<f64>,
        ridge: f64,
        diagonal: f64,
        scale: Vec<f64>,
        quantiles: Quantiles,
    },
    /// The same width everywhere.
    Constant { quantiles: Quantiles },
    /// There are none.
    None { why: String },
}

/// Half the width of an interval in σ, per output and level; none where there are too few rows for the level.
type Quantiles = Vec<Vec<Option<f64>>>;

/// What the intervals of the model are made from.
pub(crate) fn uncertainty(model: &Predictor) -> Uncertainty {
    known(model).unwrap_or_else(|error| Uncertainty::None {
        why: error.to_string(),
    })
}

fn known(model: &Predictor) -> Result<Uncertainty, Error> {
    let quantiles = || {
        let of = |o: usize| {
            let each = LEVELS.iter().map(|&level| model.quantile(o, level));
            each.map(|q| Ok(Some(q?).filter(|q| q.is_finite())))
                .collect()
        };
        (0..model.outputs().len())
            .map(of)
            .collect::<Result<Quantiles, Error>>()
    };
    let scale = model.output_scaler().scale.clone();
    Ok(match model {
        Predictor::Network(model) => {
            let posterior = model.body.posterior(model)?;
            Uncertainty::Network {
                activation: model.activation().name(),
                covariance: Doubles(posterior.covariance.clone()),
                noise: posterior.noise.clone(),
                scale,
                quantiles: quantiles()?,
            }
        }
        Predictor::Kernel(model) => match &model.body.signal {
            Some(_) if model.body.points.nrows() > MOST_POINTS => Uncertainty::None {
                why: format!(
                    "the covariance of {} points is too large for a page; compute intervals with thinfit",
                    model.body.points.nrows()
                ),
            },
            Some(signal) => Uncertainty::Process {
                signal: signal.clone(),
                ridge: model.record.ridge,
                diagonal: model.body.kernel.diagonal(),
                scale,
                quantiles: quantiles()?,
            },
            None => Uncertainty::Constant {
                quantiles: quantiles()?,
            },
        },
    })
}
