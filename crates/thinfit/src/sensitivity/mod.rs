//! Which inputs matter: variance-based sensitivity indices of a model over a box.
//!
//! Dimensions: `d` inputs. The inputs are independent and uniform on the box, warped inputs in their
//! warped units (where they are spread like the samples, and not nearly all in the tail). Sums of waves are integrated in closed
//! form (`waves`); for other activations, and where rounding would spoil the closed form, the moments are estimated at
//! the points of a lattice. Correlations between inputs in the samples are ignored.

mod lattice;
mod waves;

use crate::data::check_finite;
use crate::{Error, Model, Result};
use faer::{Mat, MatRef};
use lattice::lattice;
use waves::{Moments, Waves};

/// Points of the lattice from which indices are estimated.
const POINTS: usize = 1 << 14;
/// Points of the lattice over which each value of an effect is averaged.
const EFFECT_POINTS: usize = 1 << 12;
/// Largest rounding error of the closed form, relative to the variance.
const ROUNDING: f64 = 1e-7;

/// Variance-based indices of one output f over a box with independent inputs, uniform in the units of the data or, where
/// an input is warped, in its warped units.
#[derive(Clone, Debug, PartialEq)]
pub struct Sensitivity {
    /// E f.
    pub mean: f64,
    /// Var f; 0 where it is no more than the rounding of predictions, and then all indices are 0.
    pub variance: f64,
    /// First-order Sobol' indices S_j = Var E\[f | x_j\] / Var f: what x_j does alone (d).
    pub first: Vec<f64>,
    /// Total indices S_Tj = E Var(f | all inputs but x_j) / Var f: what x_j does alone and together with others (d).
    pub total: Vec<f64>,
    /// What x_i and x_j do together beyond what each does alone, as a share of Var f: d × d, symmetric, 0 on the
    /// diagonal. Σ_j S_j + Σ_{i<j} S_ij = 1 where no three inputs interact.
    pub second: Mat<f64>,
    /// E (∂f/∂x_j)², in the units of the data (d). Times (high − low)²/(π² Var f) it is a bound on S_Tj, and it sees
    /// fast, small ripples that the indices do not. For a warped input, derivative and range are in its warped units.
    pub derivative: Vec<f64>,
    /// Whether the integrals are exact up to rounding. If not, they were estimated from a fixed set of points: expect
    /// errors of 1e-3 in the indices, less where f is smooth.
    pub closed_form: bool,
}

impl Model {
    /// Sensitivity indices of output `o` over the ranges of the samples, [`Model::domain`].
    ///
    /// # Errors
    /// As [`Model::sensitivity_on`].
    pub fn sensitivity(&self, o: usize) -> Result<Sensitivity> {
        self.sensitivity_on(o, &self.domain)
    }

    /// Sensitivity indices of output `o` over the box `domain`, d pairs of low ≤ high in the units of the data.
    ///
    /// # Errors
    /// An output that does not exist, a domain that does not fit the inputs, or numbers that leave the finite range.
    pub fn sensitivity_on(&self, o: usize, domain: &[[f64; 2]]) -> Result<Sensitivity> {
        self.check_box(o, domain)?;
        let magnitudes = self.magnitudes();
        let size: f64 = (0..self.width()).map(|l| magnitudes[(l, o)]).sum();
        // The variance of predictions from rounding alone; with 32 digits, also about the error of the closed form.
        let noise = (f64::EPSILON * size).powi(2);
        let sound = |moments: &Moments| {
            moments.variance <= noise || self.dim() as f64 * noise <= ROUNDING * moments.variance
        };
        let exact = Waves::new(self, o, domain)
            .map(|waves| waves.moments())
            .filter(sound);
        let closed_form = exact.is_some();
        let moments = match exact {
            Some(moments) => moments,
            None => self.estimate(o, domain)?,
        };
        moments.indices(noise, closed_form)
    }

    /// The main effect of input `j` on output `o`: E\[f | x_j = v\] for every v of `at`, with the other inputs as in
    /// [`Sensitivity`], on [`Model::domain`]. Its variance over x_j is S_j Var f.
    ///
    /// # Errors
    /// An output or input that does not exist, or values that are not finite.
    pub fn effect(&self, o: usize, j: usize, at: &[f64]) -> Result<Vec<f64>> {
        self.check_box(o, &self.domain)?;
        if j >= self.dim() {
            return Err(Error::Shape {
                what: "input of the effect",
                expected: format!("an input below {}", self.dim()),
                found: j.to_string(),
            });
        }
        check_finite("at", MatRef::from_column_major_slice(at, at.len(), 1))?;
        if let Some(waves) = Waves::new(self, o, &self.domain) {
            let effect: Vec<f64> = at
                .iter()
                .map(|&v| waves.effect(j, self.input_scaler.warped(j, v)))
                .collect();
            if effect.iter().all(|v| v.is_finite()) {
                return Ok(effect);
            }
        }
        let mut x = self.to_box(lattice(EFFECT_POINTS, self.dim()).as_ref(), &self.domain);
        at.iter()
            .map(|&v| {
                x.col_as_slice_mut(j).fill(v);
                Ok(mean(self.predict(x.as_ref())?.col_as_slice(o)))
            })
            .collect()
    }

    fn check_box(&self, o: usize, domain: &[[f64; 2]]) -> Result<()> {
        let shape = |what, expected, found| {
            Err(Error::Shape {
                what,
                expected,
                found,
            })
        };
        let (c, d) = (self.outputs.len(), self.dim());
        if o >= c {
            let expected = format!("an output below {c}");
            return shape("output of the sensitivity", expected, o.to_string());
        }
        if domain.len() != d {
            let expected = format!("{d} ranges ({})", self.inputs.join(", "));
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
                    self.inputs[j], domain[j][0], domain[j][1]
                ),
                advice: "give the lower end first",
            }),
        }
    }

    /// The moments from values at points A and B and at those with one coordinate exchanged (pick-freeze).
    ///
    /// With p_j = f(A, x_j of B) − f(A) and q_j = f(B, x_j of A) − f(B): E p_j² = E q_j² = 2 × total, E p_j q_j = −2 ×
    /// first and E p_i q_j = second. The estimates keep |first| ≤ total.
    fn estimate(&self, o: usize, domain: &[[f64; 2]]) -> Result<Moments> {
        let d = self.dim();
        let points = lattice(POINTS, 2 * d);
        let [a, b] = [0, d].map(|from| self.to_box(points.as_ref().subcols(from, d), domain));
        let values = |x: &Mat<f64>| -> Result<Vec<f64>> {
            Ok(self.predict(x.as_ref())?.col_as_slice(o).to_vec())
        };
        let (at_a, at_b) = (values(&a)?, values(&b)?);
        let exchanged = |x: &Mat<f64>, other: &Mat<f64>, at_x: &[f64]| {
            (0..d)
                .map(|j| {
                    let mut x = x.clone();
                    x.col_as_slice_mut(j).copy_from_slice(other.col_as_slice(j));
                    let changed = values(&x)?;
                    Ok(changed.iter().zip(at_x).map(|(f, g)| f - g).collect())
                })
                .collect::<Result<Vec<Vec<f64>>>>()
        };
        let (p, q) = (exchanged(&a, &b, &at_a)?, exchanged(&b, &a, &at_b)?);
        let product =
            |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>() / POINTS as f64;
        let in_warped_units = |x: &Mat<f64>| -> Result<Mat<f64>> {
            let slopes = self.gradient(x.as_ref(), o)?;
            Ok(Mat::from_fn(POINTS, d, |i, j| {
                slopes[(i, j)] / self.input_scaler.warp_slope(j, x[(i, j)])
            }))
        };
        let slopes = [in_warped_units(&a)?, in_warped_units(&b)?];
        let both = [at_a, at_b].concat();
        let middle = mean(&both);
        let centred: Vec<f64> = both.iter().map(|f| f - middle).collect();
        Ok(Moments {
            mean: middle,
            variance: 0.5 * product(&centred, &centred),
            first: (0..d).map(|j| -0.5 * product(&p[j], &q[j])).collect(),
            total: (0..d)
                .map(|j| 0.25 * (product(&p[j], &p[j]) + product(&q[j], &q[j])))
                .collect(),
            second: (0..d)
                .map(|i| {
                    let pair = |j: usize| 0.5 * (product(&p[i], &q[j]) + product(&p[j], &q[i]));
                    (0..i).map(pair).collect()
                })
                .collect(),
            derivative: (0..d)
                .map(|j| {
                    let square = |s: &Mat<f64>| product(s.col_as_slice(j), s.col_as_slice(j));
                    0.5 * slopes.iter().map(square).sum::<f64>()
                })
                .collect(),
        })
    }

    /// Points of the unit cube (rows), mapped to the box, evenly in warped units.
    fn to_box(&self, points: MatRef<'_, f64>, domain: &[[f64; 2]]) -> Mat<f64> {
        let inputs = &self.input_scaler;
        Mat::from_fn(points.nrows(), points.ncols(), |i, j| {
            let [low, high] = domain[j].map(|v| inputs.warped(j, v));
            inputs.unwarped(j, low + (high - low) * points[(i, j)])
        })
    }
}

impl Moments {
    /// Shares of the variance; all zero where the variance is at most `noise`.
    fn indices(self, noise: f64, closed_form: bool) -> Result<Sensitivity> {
        let d = self.first.len();
        let constant = self.variance <= noise;
        let share = |v: f64| {
            if constant {
                0.0
            } else {
                (v / self.variance).max(0.0)
            }
        };
        let shares = |v: &[f64]| v.iter().copied().map(share).collect::<Vec<f64>>();
        let all = [&self.first, &self.total, &self.derivative];
        let mut numbers = all.into_iter().chain(&self.second).flatten();
        if !(numbers.all(|v| v.is_finite()) && self.mean.is_finite() && self.variance.is_finite()) {
            return Err(Error::Data {
                what: "sensitivity",
                problem: "the moments of the model leave the finite range".into(),
                advice: "use a smaller domain or other units",
            });
        }
        Ok(Sensitivity {
            mean: self.mean,
            variance: if constant { 0.0 } else { self.variance },
            first: shares(&self.first),
            total: shares(&self.total),
            second: Mat::from_fn(d, d, |i, j| match i.cmp(&j) {
                std::cmp::Ordering::Equal => 0.0,
                _ => share(self.second[i.max(j)][i.min(j)]),
            }),
            derivative: self.derivative.iter().map(|v| v.max(0.0)).collect(),
            closed_form,
        })
    }
}

/// The mean as an offset from the first value, which is exact for equal values.
fn mean(values: &[f64]) -> f64 {
    let from = values[0];
    from + values.iter().map(|v| v - from).sum::<f64>() / values.len() as f64
}
