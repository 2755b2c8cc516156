//! Sums of waves on a box: mean, variance and the parts of the variance in closed form.
//!
//! Dimensions: `n` waves, `d` inputs. With x uniform on a box of centre c and half widths h,
//!
//! f(x) = const + Re Σ_l a_l exp(i Σ_j ω_lj (x_j − c_j)),  E exp(i ω_j (x_j − c_j)) = sinc θ_j,  θ_j = ω_j h_j,
//!
//! so every second moment is a sum over pairs of waves of products of sincs (`docs/method.md`, section 8). The sums
//! lose the relative precision (Σ|a|)²/Var f, and strong cancellation would leave none of 16 digits, so all numbers
//! here have 32, sines included. Only Fourier and cosine features are waves; `sensitivity` estimates the rest.

use super::Moments;
use faer::fx128;
use rayon::prelude::*;
use thinfit::{Activation, Model};

/// The largest angle that has digits left when it is reduced modulo π.
const LARGEST_ANGLE: f64 = 1e12;

/// Maximum number of products of all inputs but two, n d², and pairs of waves and inputs, (n d)²: 0.3 GB and about ten seconds on two
/// cores.
const MOST_PRODUCTS: usize = 1 << 24;
const MOST_PAIRS: usize = 1 << 31;
/// Waves whose sums are kept at a time.
const CHUNK: usize = 64;

/// f as a sum of waves, in the units of the data; warped inputs in warped units, where f is a sum of waves.
pub(crate) struct Waves {
    constant: fx128,
    /// a_l: real and imaginary part, with the phase at the centre of the box.
    amplitude: Vec<[fx128; 2]>,
    /// ω, n × d, in radians per unit of the input.
    frequency: Vec<Vec<fx128>>,
    /// θ = ω h, n × d.
    angle: Vec<Vec<fx128>>,
    /// sinc θ, n × d.
    factor: Vec<Vec<fx128>>,
    /// Π_k sinc θ_lk over all inputs k but j, n × d.
    others: Vec<Vec<fx128>>,
    /// c.
    centre: Vec<fx128>,
}

impl Waves {
    /// Output `o` of a model on a box, or none if the activation is no wave.
    pub(crate) fn new(model: &Model, o: usize, domain: &[[f64; 2]]) -> Option<Self> {
        let (n, d) = (model.width(), model.dim());
        let (inputs, outputs) = (&model.input_scaler, &model.output_scaler);
        let (hidden, output) = (model.scaled_hidden(), model.scaled_output());
        let (turn, constant) = match model.activation() {
            Activation::Fourier => (fx128::PI * real(2.0), fx128::ZERO),
            Activation::Cosine => (fx128::PI, real(output[(n, o)])),
            _ => return None,
        };
        let half = real(0.5);
        let ends = |j: usize| {
            let [low, high] = domain[j].map(|v| real(inputs.warped(j, v)));
            (low, high)
        };
        let centre: Vec<fx128> = (0..d).map(|j| (ends(j).0 + ends(j).1) * half).collect();
        let frequency: Vec<Vec<fx128>> = (0..n)
            .map(|l| {
                let per_unit = |j: usize| turn * real(hidden[(l, j)]) / real(inputs.scale[j]);
                (0..d).map(per_unit).collect()
            })
            .collect();
        let angle: Vec<Vec<fx128>> = frequency
            .iter()
            .map(|w| {
                let to_face = |j: usize| w[j] * (ends(j).1 - ends(j).0) * half;
                (0..d).map(to_face).collect()
            })
            .collect();
        let size = real(outputs.scale[o]) / real(n as f64);
        let amplitude: Vec<[fx128; 2]> = (0..n)
            .map(|l| {
                let bias = match model.activation().has_bias() {
                    true => turn * real(hidden[(l, d)]),
                    false => fx128::ZERO,
                };
                let phase = (0..d).fold(bias, |sum, j| {
                    sum + frequency[l][j] * (centre[j] - real(inputs.shift[j]))
                });
                let imaginary = match model.activation() {
                    Activation::Fourier => output[(n + l, o)],
                    _ => 0.0,
                };
                turned([size * real(output[(l, o)]), size * real(imaginary)], phase)
            })
            .collect();
        let factor: Vec<Vec<fx128>> = angle
            .iter()
            .map(|angle| angle.iter().map(|&angle| sinc(angle)).collect())
            .collect();
        let others = factor.iter().map(|factor| without_one(factor)).collect();
        Some(Waves {
            constant: real(outputs.shift[o]) + real(outputs.scale[o]) * constant,
            amplitude,
            frequency,
            angle,
            factor,
            others,
            centre,
        })
    }

    /// E[f | x_j = at], `at` in warped units if x_j is warped.
    pub(crate) fn effect(&self, j: usize, at: f64) -> f64 {
        let term = |l: usize| {
            let angle = self.frequency[l][j] * (real(at) - self.centre[j]);
            self.others[l][j] * turned(self.amplitude[l], angle)[0]
        };
        (0..self.amplitude.len())
            .fold(self.constant, |sum, l| sum + term(l))
            .0
    }

    /// All moments; the variance and its parts have rounding errors of about d (ε Σ|a|)², ε that of a double. Those of
    /// pairs of inputs are left out where they would take too much time or memory. `watch` receives the progress.
    pub(crate) fn moments(&self, watch: &dyn Fn(f64)) -> Moments {
        let (n, d) = (self.amplitude.len(), self.centre.len());
        let (squares, all) = (n.saturating_mul(d * d), n.saturating_mul(d).pow(2));
        let pairs = (squares <= MOST_PRODUCTS && all <= MOST_PAIRS)
            .then(|| self.factor.iter().map(|factor| without_pairs(factor)));
        let pairs: Option<Vec<Vec<fx128>>> = pairs.map(Iterator::collect);
        let mut sums = Sums::new(d, pairs.is_some());
        // Collected by wave and added in their order: the same sums for any number of threads.
        for first in (0..n).step_by(CHUNK) {
            let rows: Vec<Sums> = (first..n.min(first + CHUNK))
                .into_par_iter()
                .map(|l| {
                    let mut sums = Sums::new(d, pairs.is_some());
                    (0..=l).for_each(|k| self.add_pair(l, k, pairs.as_deref(), &mut sums));
                    sums
                })
                .collect();
            sums = rows.iter().fold(sums, Sums::plus);
            watch((n.min(first + CHUNK) as f64 / n as f64).powi(2));
        }
        let mean = (0..n).fold(self.constant, |sum, l| {
            let product = self.factor[l].iter().fold(fx128::ONE, |a, &b| a * b);
            sum + self.amplitude[l][0] * product
        });
        let rounded = |values: &[fx128]| values.iter().map(|v| v.0).collect::<Vec<f64>>();
        Moments {
            mean: mean.0,
            variance: sums.variance.0,
            first: rounded(&sums.first),
            total: rounded(&sums.total),
            second: sums.second.iter().map(|row| rounded(row)).collect(),
            second_error: 0.0,
            derivative: rounded(&sums.derivative),
        }
    }

    /// Adds the terms of the pairs (l, k) and (k, l) of waves, k ≤ l, to all sums; `pairs` are Π sinc θ_l over all inputs
    /// but i and j, n times d × d.
    ///
    /// The product of two waves is two waves, with the sums and the differences of the angles.
    fn add_pair(&self, l: usize, k: usize, pairs: Option<&[Vec<fx128>]>, sums: &mut Sums) {
        let d = self.centre.len();
        let ([x, y], [u, v]) = (self.amplitude[l], self.amplitude[k]);
        let count = real(if k < l { 1.0 } else { 0.5 });
        for (sign, weight) in [(1.0, x * u - y * v), (-1.0, x * u + y * v)] {
            let weight = weight * count;
            // g = E of the joint factor, p = product of the means, r = their difference: the covariance.
            let apart = |j: usize| self.factor[l][j] * self.factor[k][j];
            let joint = |j: usize| sinc(self.angle[l][j] + real(sign) * self.angle[k][j]);
            let p: Vec<fx128> = (0..d).map(apart).collect();
            let g: Vec<fx128> = (0..d).map(joint).collect();
            let r: Vec<fx128> = (0..d).map(|j| g[j] - p[j]).collect();

            let (mut before, mut difference) = (vec![weight], fx128::ZERO);
            for j in 0..d {
                difference = difference * p[j] + before[j] * r[j];
                before.push(before[j] * g[j]);
            }
            sums.variance += difference;
            let mut after = fx128::ONE;
            for j in (0..d).rev() {
                sums.total[j] += before[j] * r[j] * after;
                after *= g[j];
                let squared = self.frequency[l][j] * self.frequency[k][j] * before[d];
                sums.derivative[j] -= real(sign) * squared;
            }
            for (i, part) in sums.first.iter_mut().enumerate() {
                *part += weight * r[i] * (self.others[l][i] * self.others[k][i]);
            }
            let Some(pairs) = pairs else {
                continue;
            };
            for (i, row) in sums.second.iter_mut().enumerate() {
                for (j, part) in row.iter_mut().enumerate() {
                    let others = pairs[l][i * d + j] * pairs[k][i * d + j];
                    *part += weight * r[i] * r[j] * others;
                }
            }
        }
    }
}

/// Sums over pairs of waves, as in [`Moments`].
struct Sums {
    variance: fx128,
    total: Vec<fx128>,
    derivative: Vec<fx128>,
    first: Vec<fx128>,
    second: Vec<Vec<fx128>>,
}

impl Sums {
    fn new(d: usize, pairs: bool) -> Self {
        let rows = if pairs { 0..d } else { 0..0 };
        Sums {
            variance: fx128::ZERO,
            total: vec![fx128::ZERO; d],
            derivative: vec![fx128::ZERO; d],
            first: vec![fx128::ZERO; d],
            second: rows.map(|i| vec![fx128::ZERO; i]).collect(),
        }
    }

    fn plus(mut self, other: &Sums) -> Self {
        self.variance += other.variance;
        let add = |a: &mut Vec<fx128>, b: &[fx128]| a.iter_mut().zip(b).for_each(|(a, b)| *a += *b);
        add(&mut self.total, &other.total);
        add(&mut self.derivative, &other.derivative);
        add(&mut self.first, &other.first);
        let rows = self.second.iter_mut().zip(&other.second);
        rows.for_each(|(a, b)| add(a, b));
        self
    }
}

/// Π_k f_k over all k but j (d).
fn without_one(f: &[fx128]) -> Vec<fx128> {
    let mut others = vec![fx128::ONE; f.len()];
    let mut after = fx128::ONE;
    for (other, factor) in others.iter_mut().zip(f).rev() {
        *other = after;
        after = *factor * after;
    }
    let mut before = fx128::ONE;
    for (other, factor) in others.iter_mut().zip(f) {
        *other = before * *other;
        before *= *factor;
    }
    others
}

/// Π_k f_k over all k but i and j, d × d.
fn without_pairs(f: &[fx128]) -> Vec<fx128> {
    let d = f.len();
    let mut after = vec![fx128::ONE; d + 1];
    (0..d).rev().for_each(|k| after[k] = f[k] * after[k + 1]);
    let (mut others, mut before) = (vec![fx128::ONE; d * d], fx128::ONE);
    for i in 0..d {
        others[i * d + i] = before * after[i + 1];
        let mut inner = before;
        for j in i + 1..d {
            others[i * d + j] = inner * after[j + 1];
            others[j * d + i] = others[i * d + j];
            inner *= f[j];
        }
        before *= f[i];
    }
    others
}

fn real(value: f64) -> fx128 {
    fx128::from_f64(value)
}

/// a e^{i angle}.
fn turned([x, y]: [fx128; 2], angle: fx128) -> [fx128; 2] {
    let (cos, sin) = (sin(angle + fx128::PI * real(0.5)), sin(angle));
    [x * cos - y * sin, x * sin + y * cos]
}

/// (−1)^k/(2k + 1)!, enough of them for 32 digits on [−π/2, π/2].
const SERIES: [fx128; 17] = {
    let mut series = [fx128::ONE; 17];
    let mut k = 1;
    while k < series.len() {
        let factors = -((2 * k * (2 * k + 1)) as f64);
        series[k] = series[k - 1].const_div(fx128::from_f64(factors));
        k += 1;
    }
    series
};

/// sin t/t for |t| ≤ π/2.
fn series(t: fx128) -> fx128 {
    let square = t * t;
    let terms = SERIES.iter().rev();
    terms.fold(fx128::ZERO, |sum, &term| sum * square + term)
}

/// sin t, or NaN where t is too large to know its place in the period.
fn sin(t: fx128) -> fx128 {
    if t.0.abs() > LARGEST_ANGLE {
        return fx128::NAN;
    }
    let half_turns = (t.0 / std::f64::consts::PI).round();
    let rest = t - fx128::PI * real(half_turns);
    let sine = rest * series(rest);
    if half_turns % 2.0 == 0.0 { sine } else { -sine }
}

/// sin t/t.
fn sinc(t: fx128) -> fx128 {
    if t.0.abs() < 1.5 {
        series(t)
    } else {
        sin(t) / t
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_leave_out_what_they_should() {
        let f = [2.0, 3.0, 5.0, 7.0].map(real);
        let others = without_pairs(&f);
        let diagonal: Vec<f64> = (0..4).map(|i| others[5 * i].0).collect();
        let alone: Vec<f64> = without_one(&f).iter().map(|v| v.0).collect();
        assert_eq!(alone, diagonal);
        for (i, j) in (0..16).map(|ij| (ij / 4, ij % 4)) {
            let kept = (0..4).filter(|k| ![i, j].contains(k));
            let product: f64 = kept.map(|k| f[k].0).product();
            assert_eq!(others[4 * i + j].0, product, "{i}, {j}");
        }
    }

    #[test]
    fn sines_have_thirty_digits() {
        for step in -400..400 {
            let t = real(0.37 * f64::from(step)) + real(1e-17);
            let (sine, cosine) = (sin(t), sin(t + fx128::PI * real(0.5)));
            let one = sine * sine + cosine * cosine - fx128::ONE;
            let double = sin(t + t) - real(2.0) * sine * cosine;
            let slack = 1e-31 * (1.0 + t.0.abs());
            assert!(one.0.abs() < slack && double.0.abs() < slack, "{step}");
            assert!((sine.0 - t.0.sin()).abs() < 1e-15);
            assert!((sinc(t) * t - sine).0.abs() < slack);
        }
        // 1 − t²/6 + t⁴/120 is exact to 32 digits here, and its second term is far below one double.
        let t = real(1e-6);
        let short = fx128::ONE - t * t / real(6.0) + t * t * t * t / real(120.0);
        assert!((sinc(t) - short).0.abs() < 1e-32);
    }
}
