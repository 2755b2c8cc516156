//! Which inputs matter: variance-based sensitivity indices of a model over a box.
//!
//! Dimensions: `d` inputs. The inputs are independent and uniform on the box in the units of the data, warped inputs
//! included. Sums of waves are integrated in closed form (`waves`). For other activations, for warped inputs, and if
//! rounding would spoil the closed form, the moments are estimated at the points of a lattice (`sampled`).
//! Correlations between inputs in the samples are ignored.

pub(crate) mod detected;
pub(crate) mod effect;
pub(crate) mod importance;
pub(crate) mod index_error;
mod integrals;
mod kernel;
mod moments;
mod sampled;
mod waves;

pub use moments::Moments;
pub use sampled::Sampled;
use thinfit::{Error, Mat, MatRef, Model, Result, Scaler, check_finite};
use waves::Waves;

/// Work that an estimate may take with more than the fewest points, in products of a weight and an input.
const WORK: u64 = 1 << 37;
/// Largest closed form, in sincs: n² d; about twenty seconds on two cores.
const MOST_SINCS: usize = 1 << 28;
/// Points of the lattice over which each value of an effect is averaged.
const EFFECT_POINTS: usize = 1 << 12;
/// Largest rounding error of the closed form, relative to the variance.
const ROUNDING: f64 = 1e-7;

/// Variance-based indices of one output f over a box with independent inputs, uniform in the units of the data.
#[derive(Clone, Debug, PartialEq)]
pub struct Sensitivity {
    /// E f.
    pub mean: f64,
    /// Var f; 0 where it is no more than the rounding of predictions, and then all indices are 0.
    pub variance: f64,
    /// First-order Sobol indices S_j = Var E\[f | x_j\] / Var f: the effect of x_j alone (d).
    pub first: Vec<f64>,
    /// Total indices S_Tj = E Var(f | all inputs but x_j) / Var f: the effect of x_j including interactions (d).
    pub total: Vec<f64>,
    /// Second-order indices S_ij, the interaction of x_i and x_j as a share of Var f: d × d, symmetric, 0 on the
    /// diagonal. Σ_j S_j + Σ_{i<j} S_ij = 1 where no three inputs interact. Empty (0 × 0) for networks and tables so wide
    /// that the pairs would take minutes.
    pub second: Mat<f64>,
    /// The standard error of a share in `second`, from the difference of two estimates of each; 0 in closed form. Shares not well
    /// above it may be zero.
    pub second_error: f64,
    /// E (∂f/∂x_j)², in the units of the data (d). Times (high − low)²/(π² Var f) it is a bound on S_Tj, and it sees
    /// fast, small ripples that the indices do not.
    pub derivative: Vec<f64>,
    /// Whether the integrals are exact up to rounding. If not, they were estimated from a fixed set of points: expect
    /// errors of 1e-3 in the indices, less where f is smooth.
    pub closed_form: bool,
}

/// The smallest share of a pair that is worth reporting.
const LEAST_PAIR: f64 = 5e-4;

impl Sensitivity {
    /// The smallest share in [`Sensitivity::second`] that is worth reporting, and that chance in the points does not explain.
    pub fn least_pair(&self) -> f64 {
        LEAST_PAIR.max(2.0 * self.second_error)
    }
}

/// Sensitivity indices and effects of a network over a box of its inputs. Those over the columns that a user sets are functions of
/// [`Predictor`](crate::Predictor).
pub trait NetworkSensitivity {
    /// Sensitivity indices of output `o` over the ranges of the samples, [`Header::domain`](thinfit::Header::domain).
    ///
    /// # Errors
    /// As [`NetworkSensitivity::sensitivity_on`].
    fn sensitivity(&self, o: usize) -> Result<Sensitivity>;

    /// Sensitivity indices of output `o` over the box `domain`, d pairs of low ≤ high in the units of the data.
    ///
    /// # Errors
    /// An output that does not exist, a domain that does not fit the inputs, or numbers that leave the finite range.
    fn sensitivity_on(&self, o: usize, domain: &[[f64; 2]]) -> Result<Sensitivity>;

    /// [`NetworkSensitivity::sensitivity_on`], which tells `watch` how far it is, from 0 to 1.
    ///
    /// # Errors
    /// As [`NetworkSensitivity::sensitivity_on`].
    fn sensitivity_watched(
        &self,
        o: usize,
        domain: &[[f64; 2]],
        watch: &dyn Fn(f64),
    ) -> Result<Sensitivity>;

    /// The main effect of input `j` on output `o`: E\[f | x_j = v\] for every v of `at`, with the other inputs as in
    /// [`Sensitivity`], on [`Header::domain`](thinfit::Header::domain). Its variance over x_j is S_j Var f.
    ///
    /// # Errors
    /// An output or input that does not exist, or values that are not finite.
    fn effect(&self, o: usize, j: usize, at: &[f64]) -> Result<Vec<f64>>;

    /// [`NetworkSensitivity::effect`] with the other inputs on the box `domain`, d pairs of low ≤ high in the units of the data.
    ///
    /// # Errors
    /// As [`NetworkSensitivity::effect`], and a domain that does not fit the inputs.
    fn effect_on(&self, o: usize, j: usize, at: &[f64], domain: &[[f64; 2]]) -> Result<Vec<f64>>;
}

impl NetworkSensitivity for Model {
    fn sensitivity(&self, o: usize) -> Result<Sensitivity> {
        self.sensitivity_on(o, &self.domain)
    }

    fn sensitivity_on(&self, o: usize, domain: &[[f64; 2]]) -> Result<Sensitivity> {
        self.sensitivity_watched(o, domain, &|_| ())
    }

    fn sensitivity_watched(
        &self,
        o: usize,
        domain: &[[f64; 2]],
        watch: &dyn Fn(f64),
    ) -> Result<Sensitivity> {
        check_box(self, o, domain)?;
        let (n, d) = (self.width(), self.dim());
        let quick = n.saturating_mul(n).saturating_mul(d) <= MOST_SINCS;
        let magnitudes = self.magnitudes();
        let size: f64 = (0..self.width()).map(|l| magnitudes[(l, o)]).sum();
        // The variance of predictions from rounding alone; with 32 digits, also about the error of the closed form.
        let noise = (f64::EPSILON * size).powi(2);
        let sound = |moments: &Moments| {
            moments.variance <= noise || self.dim() as f64 * noise <= ROUNDING * moments.variance
        };
        // In the units of the data a warped input makes no waves.
        let warped = (0..self.dim()).any(|j| self.input_scaler.warp_of(j).is_some());
        let waves = (quick && !warped)
            .then(|| Waves::new(self, o, domain))
            .flatten();
        let exact = waves.map(|waves| waves.moments(watch)).filter(sound);
        let each = n.saturating_mul(d).saturating_mul(2 * d + 4);
        let points = Sampled::points_within(WORK, each);
        match exact {
            Some(moments) => moments.indices(noise, true),
            None => sampled(self, o, domain, points, |sampled| {
                sampled.sensitivity(noise, watch)
            }),
        }
    }

    fn effect(&self, o: usize, j: usize, at: &[f64]) -> Result<Vec<f64>> {
        self.effect_on(o, j, at, &self.domain)
    }

    fn effect_on(&self, o: usize, j: usize, at: &[f64], domain: &[[f64; 2]]) -> Result<Vec<f64>> {
        check_box(self, o, domain)?;
        sampled::check_effect(j, self.dim(), at)?;
        let mut others = (0..self.dim()).filter(|i| *i != j);
        let warped = others.any(|i| self.input_scaler.warp_of(i).is_some());
        let waves = (!warped).then(|| Waves::new(self, o, domain)).flatten();
        if let Some(waves) = waves {
            let effect: Vec<f64> = at
                .iter()
                .map(|&v| waves.effect(j, self.input_scaler.warped(j, v)))
                .collect();
            if effect.iter().all(|v| v.is_finite()) {
                return Ok(effect);
            }
        }
        sampled(self, o, domain, EFFECT_POINTS, |sampled| {
            sampled.effect(j, at)
        })
    }
}

/// Output `o` on the box `domain`, through its values only.
fn sampled<T>(
    model: &Model,
    o: usize,
    domain: &[[f64; 2]],
    points: usize,
    of: impl Fn(Sampled<'_>) -> T,
) -> T {
    of(Sampled {
        domain,
        inputs: &Scaler::identity(model.dim()),
        value: &|x: MatRef<'_, f64>| Ok(model.predict(x)?.col_as_slice(o).to_vec()),
        gradient: &|x: MatRef<'_, f64>| model.gradient(x, o),
        points,
    })
}

fn check_box(model: &Model, o: usize, domain: &[[f64; 2]]) -> Result<()> {
    let shape = |what, expected, found| {
        Err(Error::Shape {
            what,
            expected,
            found,
        })
    };
    let (c, d) = (model.outputs.len(), model.dim());
    if o >= c {
        let expected = format!("an output below {c}");
        return shape("output of the sensitivity", expected, o.to_string());
    }
    if domain.len() != d {
        let expected = format!("{d} ranges ({})", model.inputs.join(", "));
        return shape("domain", expected, format!("{} ranges", domain.len()));
    }
    check_finite(
        "domain",
        Mat::from_fn(d, 2, |j, end| domain[j][end]).as_ref(),
    )?;
    match domain.iter().position(|[low, high]| low > high) {
        None => Ok(()),
        Some(j) => Err(Error::Data {
            what: "domain",
            problem: format!(
                "the range of `{}` goes from {} to {}",
                model.inputs[j], domain[j][0], domain[j][1]
            ),
            advice: "give the lower end first",
        }),
    }
}
