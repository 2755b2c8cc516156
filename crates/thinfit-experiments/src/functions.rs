//! Test functions: formulas, settings and samples. Nine are the paper's, two have known sensitivity indices.
//!
//! Inputs are uniform on the cube `[0, 1]^d`, those of `ishigami` on `[-π, π]^d`; outputs have no noise. $h_1$ and
//! $h_2$ read all inputs, every other function only its first few; the rest are irrelevant. Indices start at one.
//!
//! | name | formula | inputs read | settings $(d, M)$ |
//! |---|---|---|---|
//! | `f1` | $x_4^2 + x_2 x_3 + x_1 x_2 + x_4$ | 4 | (5, 300), (10, 500) |
//! | `f2` | $\sin x_1 + 7 \sin^2 x_2 + 0.1\, x_3^4 \sin x_1$ | 3 | (5, 500), (10, 1000) |
//! | `f3` | $10 \sin(\pi x_1 x_2) + 20 (x_3 - \frac12)^2 + 10 x_4 + 5 x_5$ (Friedman-1) | 5 | (5, 500), (10, 200) |
//! | `h1` | $\sin(\sum_k x_k) + \lVert x\rVert_2^4$ | all | (10, 1000) |
//! | `h1-text` | $\sin(\sum_k x_k) + \lVert x\rVert_2^2$ | all | (10, 1000) |
//! | `h2` | $\sqrt{\lVert x - \frac12\rVert_1}$ | all | (20, 1000) |
//! | `h3` | $\sqrt{f_3(x)}$ | 5 | (5, 500) |
//! | `g1`, `g2`, `g3` | $g(A_i^T x)$, $g(x) = \sin(4\pi x_1^2 + 1) + \cos(4\pi(x_2^4 + x_2))$ | 2 | (2, 2000) |
//! | `ishigami` | $\sin x_1 + 7 \sin^2 x_2 + 0.1\, x_3^4 \sin x_1$ on $[-\pi, \pi]^d$ | 3 | (5, 1000) |
//! | `sobol-g` | $\prod_k (\lvert 4 x_k - 2\rvert + a_k)/(1 + a_k)$, $a = (0, 1, 4.5, 9, 99, 99, 99, 99)$ | 8 | (8, 1000) |
//!
//! The last two are not the paper's; [`Problem::indices`] gives their sensitivity indices.
//!
//! Two formulas differ from the text of the paper, because the published numbers belong to these. The text has
//! $\lVert x\rVert_2^2$ in $h_1$, kept here as `h1-text`; the errors of Table 2 fit the fourth power. The text has
//! $g(A_i x)$; the numbers belong to $g(A_i^T x)$, which turns $g_2$ the other way and leaves $g_1$ and $g_3$ alone,
//! with $A_1 = I$, $A_2$ the rotation by $\pi/4$ and $A_3$ = [[1, 0.3], [0.3, 1]].

use std::f64::consts::{FRAC_1_SQRT_2, PI};
use std::fmt;
use std::str::FromStr;

use faer::Mat;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;

/// A test function; see the table in the [module documentation](self).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Problem {
    /// Polynomial with two products.
    F1,
    /// Ishigami function on the unit cube.
    F2,
    /// Friedman-1.
    F3,
    /// $\sin(\sum x) + \lVert x\rVert^4$, to which the published numbers belong.
    H1,
    /// $\sin(\sum x) + \lVert x\rVert^2$, as the paper prints $h_1$.
    H1Text,
    /// Root of a distance: not differentiable at the centre of the cube.
    H2,
    /// Root of Friedman-1.
    H3,
    /// Two oscillations along the axes.
    G1,
    /// The same, rotated by $-\pi/4$.
    G2,
    /// The same, sheared.
    G3,
    /// Ishigami function on its usual box: a strong interaction, and an input that acts only through it.
    Ishigami,
    /// Sobol's g-function: a product with kinks, two strong inputs, two weak ones and four of almost no effect.
    SobolG,
}

/// The numbers $a_k$ of the g-function; the larger, the weaker input $k$.
const SOBOL_G: [f64; 8] = [0.0, 1.0, 4.5, 9.0, 99.0, 99.0, 99.0, 99.0];

/// Which of the two independent samples of a seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Split {
    /// For the fit.
    Train,
    /// For the test error.
    Test,
}

/// Points and values of a function.
#[derive(Clone, Debug)]
pub struct Sample {
    /// Points, one a row (samples x inputs).
    pub x: Mat<f64>,
    /// Values (samples x 1).
    pub y: Mat<f64>,
}

/// Variance-based sensitivity indices of a function, one per input.
#[derive(Clone, Debug, PartialEq)]
pub struct Indices {
    /// Variance over the domain.
    pub variance: f64,
    /// First-order Sobol indices.
    pub first: Vec<f64>,
    /// Total indices.
    pub total: Vec<f64>,
}

/// A function was asked for in fewer dimensions than its formula reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{problem} reads {needed} inputs, but {got} were asked for; choose d >= {needed}")]
pub struct TooFewInputs {
    /// The function.
    pub problem: Problem,
    /// The inputs its formula reads.
    pub needed: usize,
    /// The inputs it was given.
    pub got: usize,
}

/// No function has this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown test function `{0}`; expected one of f1, f2, f3, h1, h1-text, h2, h3, g1, g2, g3, ishigami, sobol-g"
)]
pub struct UnknownProblem(pub String);

impl Problem {
    /// Every function, the paper's first and in its order.
    pub const ALL: [Problem; 12] = [
        Problem::F1,
        Problem::F2,
        Problem::F3,
        Problem::H1,
        Problem::H1Text,
        Problem::H2,
        Problem::H3,
        Problem::G1,
        Problem::G2,
        Problem::G3,
        Problem::Ishigami,
        Problem::SobolG,
    ];

    /// Short name, as in the tables and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Problem::F1 => "f1",
            Problem::F2 => "f2",
            Problem::F3 => "f3",
            Problem::H1 => "h1",
            Problem::H1Text => "h1-text",
            Problem::H2 => "h2",
            Problem::H3 => "h3",
            Problem::G1 => "g1",
            Problem::G2 => "g2",
            Problem::G3 => "g3",
            Problem::Ishigami => "ishigami",
            Problem::SobolG => "sobol-g",
        }
    }

    /// The formula in one line of plain text, for headings.
    pub fn formula(self) -> &'static str {
        match self {
            Problem::F1 => "x4² + x2 x3 + x1 x2 + x4",
            Problem::F2 | Problem::Ishigami => "sin x1 + 7 sin² x2 + 0.1 x3⁴ sin x1",
            Problem::F3 => "10 sin(π x1 x2) + 20 (x3 − ½)² + 10 x4 + 5 x5",
            Problem::H1 => "sin(Σ x) + ‖x‖⁴",
            Problem::H1Text => "sin(Σ x) + ‖x‖²",
            Problem::H2 => "√(Σ |x − ½|)",
            Problem::H3 => "√(10 sin(π x1 x2) + 20 (x3 − ½)² + 10 x4 + 5 x5)",
            Problem::G1 => "sin(4π x1² + 1) + cos(4π (x2⁴ + x2))",
            Problem::G2 => "g1 after a rotation by −π/4",
            Problem::G3 => "g1 after the shear [[1, 0.3], [0.3, 1]]",
            Problem::SobolG => "Π (|4x − 2| + a)/(1 + a)",
        }
    }

    /// Directions of the lines through the origin on which the Fourier transform lies, where it does.
    pub fn directions(self) -> &'static [[f64; 2]] {
        match self {
            Problem::G1 => &[[1.0, 0.0], [0.0, 1.0]],
            Problem::G2 => &[[1.0, 1.0], [-1.0, 1.0]],
            Problem::G3 => &[[1.0, 0.3], [0.3, 1.0]],
            _ => &[],
        }
    }

    /// The pairs (inputs $d$, training points $M$) of the paper, or ours; a test has as many fresh points.
    pub fn settings(self) -> &'static [(usize, usize)] {
        match self {
            Problem::F1 => &[(5, 300), (10, 500)],
            Problem::F2 => &[(5, 500), (10, 1000)],
            Problem::F3 => &[(5, 500), (10, 200)],
            Problem::H1 | Problem::H1Text => &[(10, 1000)],
            Problem::H2 => &[(20, 1000)],
            Problem::H3 => &[(5, 500)],
            Problem::G1 | Problem::G2 | Problem::G3 => &[(2, 2000)],
            Problem::Ishigami => &[(5, 1000)],
            Problem::SobolG => &[(8, 1000)],
        }
    }

    /// Minimum number of inputs that the formula needs.
    pub fn inputs_read(self) -> usize {
        match self {
            Problem::F1 => 4,
            Problem::F2 | Problem::Ishigami => 3,
            Problem::F3 | Problem::H3 => 5,
            Problem::H1 | Problem::H1Text | Problem::H2 => 1,
            Problem::G1 | Problem::G2 | Problem::G3 => 2,
            Problem::SobolG => SOBOL_G.len(),
        }
    }

    /// The interval that every input is drawn from.
    pub fn interval(self) -> [f64; 2] {
        match self {
            Problem::Ishigami => [-PI, PI],
            _ => [0.0, 1.0],
        }
    }

    /// Sensitivity indices over the whole domain in `dim` inputs, if they are known.
    ///
    /// Ishigami, with $a = 7$, $b = 0.1$: $V_1 = \frac12 (1 + b\pi^4/5)^2$, $V_2 = a^2/8$, $V_{13} = 8 b^2\pi^8/225$.
    /// The g-function: $V_k = \frac13 (1 + a_k)^{-2}$, $1 + V = \prod_k (1 + V_k)$, and the total part of input $k$ is
    /// $V_k \prod_{i \ne k} (1 + V_i)$.
    pub fn indices(self, dim: usize) -> Option<Indices> {
        let (mut first, mut total) = (vec![0.0; dim], vec![0.0; dim]);
        let variance = match self {
            Problem::Ishigami => {
                let (alone, second) = (0.5 * (1.0 + 0.02 * PI.powi(4)).powi(2), 49.0 / 8.0);
                let together = 0.08 * PI.powi(8) / 225.0;
                first[..2].copy_from_slice(&[alone, second]);
                total[..3].copy_from_slice(&[alone + together, second, together]);
                alone + second + together
            }
            Problem::SobolG => {
                let part = |a: f64| (1.0 + a).powi(-2) / 3.0;
                let product: f64 = SOBOL_G.iter().map(|&a| 1.0 + part(a)).product();
                for (k, &a) in SOBOL_G.iter().enumerate() {
                    first[k] = part(a);
                    total[k] = part(a) * product / (1.0 + part(a));
                }
                product - 1.0
            }
            _ => return None,
        };
        let parts = [&mut first, &mut total];
        parts.into_iter().flatten().for_each(|v| *v /= variance);
        Some(Indices {
            variance,
            first,
            total,
        })
    }

    /// The value at `x`.
    ///
    /// # Panics
    ///
    /// If `x` is shorter than [`inputs_read`](Problem::inputs_read).
    pub fn evaluate(self, x: &[f64]) -> f64 {
        assert!(
            x.len() >= self.inputs_read(),
            "{self} reads {} inputs, got {}",
            self.inputs_read(),
            x.len()
        );
        match self {
            Problem::F1 => x[3] * x[3] + x[1] * x[2] + x[0] * x[1] + x[3],
            Problem::F2 | Problem::Ishigami => {
                let (first, second) = (x[0].sin(), x[1].sin());
                first + 7.0 * second * second + 0.1 * x[2].powi(4) * first
            }
            Problem::F3 => friedman(x),
            Problem::H1 => x.iter().sum::<f64>().sin() + squared_norm(x).powi(2),
            Problem::H1Text => x.iter().sum::<f64>().sin() + squared_norm(x),
            Problem::H2 => x.iter().map(|v| (v - 0.5).abs()).sum::<f64>().sqrt(),
            // Non-negative on the cube, where its sine is; outside, the root of a negative number is NaN.
            Problem::H3 => friedman(x).sqrt(),
            Problem::G1 => two_waves(x[0], x[1]),
            Problem::G2 => two_waves(FRAC_1_SQRT_2 * (x[0] + x[1]), FRAC_1_SQRT_2 * (x[1] - x[0])),
            Problem::G3 => two_waves(x[0] + 0.3 * x[1], 0.3 * x[0] + x[1]),
            Problem::SobolG => SOBOL_G
                .iter()
                .zip(x)
                .map(|(a, x)| ((4.0 * x - 2.0).abs() + a) / (1.0 + a))
                .product(),
        }
    }

    /// Draws `samples` points uniformly, every input from [`interval`](Problem::interval), and evaluates the function there.
    ///
    /// The two splits of a seed are independent, and the points of a longer sample begin with those of a shorter one.
    /// Points depend on the seed, the split, `dim` and the interval only, not on the function.
    ///
    /// # Errors
    ///
    /// [`TooFewInputs`] if the formula reads more than `dim` inputs.
    pub fn sample(
        self,
        dim: usize,
        samples: usize,
        seed: u64,
        split: Split,
    ) -> Result<Sample, TooFewInputs> {
        if dim < self.inputs_read() {
            return Err(TooFewInputs {
                problem: self,
                needed: self.inputs_read(),
                got: dim,
            });
        }
        let ranges = vec![self.interval(); dim];
        Ok(sample(|x| self.evaluate(x), &ranges, samples, seed, split))
    }
}

/// Draws `samples` points uniformly, input k from `ranges[k]`, and evaluates `f` there.
///
/// The two splits of a seed are independent, and a longer sample begins with a shorter one.
pub(crate) fn sample(
    f: impl Fn(&[f64]) -> f64,
    ranges: &[[f64; 2]],
    samples: usize,
    seed: u64,
    split: Split,
) -> Sample {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(match split {
        Split::Train => 0,
        Split::Test => 1,
    });
    let mut x = Mat::zeros(samples, ranges.len());
    let mut y = Mat::zeros(samples, 1);
    let mut point = vec![0.0; ranges.len()];
    for i in 0..samples {
        for (k, (value, [low, high])) in point.iter_mut().zip(ranges).enumerate() {
            *value = low + (high - low) * rng.random::<f64>();
            x[(i, k)] = *value;
        }
        y[(i, 0)] = f(&point);
    }
    Sample { x, y }
}

/// Adds normal noise to values, of `level` times their standard deviation, from the stream of [`noise`].
pub fn add_noise(y: &mut [f64], level: f64, seed: u64) {
    if level == 0.0 {
        return;
    }
    let count = y.len() as f64;
    let mean = y.iter().sum::<f64>() / count;
    let deviation = (y.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / count).sqrt();
    let noise = noise(y.len(), seed);
    let noisy = y.iter_mut().zip(noise);
    noisy.for_each(|(y, z)| *y += level * deviation * z);
}

/// `count` standard normal numbers, from a stream that no sample of the same seed uses.
pub fn noise(count: usize, seed: u64) -> Vec<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(2);
    (0..count).map(|_| rng.sample(StandardNormal)).collect()
}

/// Names of the inputs: `x1` to `xd`.
pub fn input_names(dim: usize) -> Vec<String> {
    (1..=dim).map(|k| format!("x{k}")).collect()
}

impl fmt::Display for Problem {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

impl FromStr for Problem {
    type Err = UnknownProblem;

    fn from_str(name: &str) -> Result<Self, UnknownProblem> {
        Problem::ALL
            .into_iter()
            .find(|problem| problem.name() == name)
            .ok_or_else(|| UnknownProblem(name.into()))
    }
}

fn friedman(x: &[f64]) -> f64 {
    10.0 * (PI * x[0] * x[1]).sin() + 20.0 * (x[2] - 0.5).powi(2) + 10.0 * x[3] + 5.0 * x[4]
}

fn squared_norm(x: &[f64]) -> f64 {
    x.iter().map(|v| v * v).sum()
}

fn two_waves(x1: f64, x2: f64) -> f64 {
    (4.0 * PI * x1 * x1 + 1.0).sin() + (4.0 * PI * (x2.powi(4) + x2)).cos()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(got: f64, expected: f64) {
        assert!(
            (got - expected).abs() <= 1e-14 * expected.abs().max(1.0),
            "got {got}, expected {expected}"
        );
    }

    #[test]
    fn values_worked_out_by_hand() {
        // 0.16 + 0.06 + 0.02 + 0.4
        close(Problem::F1.evaluate(&[0.1, 0.2, 0.3, 0.4, 0.9]), 0.64);
        // sin 0 = 0 and sin² (π/2) = 1; then sin(π/6) = sin²(π/4) = 1/2 with x3⁴ = 16
        close(Problem::F2.evaluate(&[0.0, PI / 2.0, 1.0]), 7.0);
        close(
            Problem::F2.evaluate(&[PI / 6.0, PI / 4.0, 2.0]),
            0.5 + 3.5 + 0.8,
        );
        // sin(π/2) = 1, then every term at the far corner: sin π = 0, 20/4, 10, 5
        close(
            Problem::F3.evaluate(&[0.5, 1.0, 0.5, 0.1, 0.2]),
            10.0 + 0.0 + 1.0 + 1.0,
        );
        close(Problem::F3.evaluate(&[1.0; 5]), 20.0);
        close(
            Problem::H3.evaluate(&[0.5, 1.0, 0.0, 0.1, 0.8]),
            (10.0f64 + 5.0 + 1.0 + 4.0).sqrt(),
        );
        // squared norm 2, sum 2
        close(Problem::H1.evaluate(&[1.0, 1.0]), 2f64.sin() + 4.0);
        close(Problem::H1Text.evaluate(&[1.0, 1.0]), 2f64.sin() + 2.0);
        // 0.5 + 0.25 + 0.25
        close(Problem::H2.evaluate(&[0.0, 0.75, 0.25, 0.5]), 1.0);
        // x1² = 1/4 and x2⁴ + x2 = 1/16 + 1/2
        close(
            Problem::G1.evaluate(&[0.5, 0.5]),
            (PI + 1.0).sin() + (2.25 * PI).cos(),
        );
        // the transposed rotation takes (1, 1)/√2 to (1, 0); the rotation itself would give (0, 1)
        close(
            Problem::G2.evaluate(&[FRAC_1_SQRT_2, FRAC_1_SQRT_2]),
            1f64.sin() + 1.0,
        );
        close(
            Problem::G3.evaluate(&[1.0, 0.0]),
            1f64.sin() + (4.0 * PI * (0.3f64.powi(4) + 0.3)).cos(),
        );
        // at the centre every factor but the first is a/(1 + a), and that one is 0; at a corner (2 + a)/(1 + a)
        close(Problem::SobolG.evaluate(&[0.5; 8]), 0.0);
        close(
            Problem::SobolG.evaluate(&[1.0; 8]),
            2.0 * 1.5 * (6.5 / 5.5) * 1.1 * 1.01f64.powi(4),
        );
    }

    #[test]
    fn indices_are_the_published_ones_and_belong_to_the_variance() {
        let ishigami = Problem::Ishigami.indices(4).unwrap();
        let rounded = |v: &[f64]| {
            v.iter()
                .map(|v| (v * 1e4).round() / 1e4)
                .collect::<Vec<_>>()
        };
        assert_eq!(rounded(&ishigami.first), [0.3139, 0.4424, 0.0, 0.0]);
        assert_eq!(rounded(&ishigami.total), [0.5576, 0.4424, 0.2437, 0.0]);
        let g = Problem::SobolG.indices(8).unwrap();
        assert_eq!(rounded(&g.first[..3]), [0.7162, 0.1790, 0.0237]);
        assert_eq!(rounded(&g.total[..3]), [0.7871, 0.2422, 0.0343]);
        for (problem, indices) in [(Problem::Ishigami, ishigami), (Problem::SobolG, g)] {
            let y = problem.sample(8, 40_000, 7, Split::Test).unwrap().y;
            let mean = y.sum() / 40_000.0;
            let variance = y
                .col_as_slice(0)
                .iter()
                .map(|v| (v - mean).powi(2))
                .sum::<f64>()
                / 40_000.0;
            assert!(
                (variance / indices.variance - 1.0).abs() < 0.03,
                "{problem}: {variance}"
            );
        }
        assert_eq!(Problem::F3.indices(5), None);
    }

    #[test]
    fn variances_on_the_cube_are_the_known_ones() {
        // The first is 43/90; the others are means over a million points of a separate program.
        let known = [
            (Problem::F1, 5, 43.0 / 90.0),
            (Problem::F2, 5, 2.494),
            (Problem::F3, 5, 23.84),
            (Problem::H1, 10, 46.5),
            (Problem::H2, 20, 0.02113),
            (Problem::H3, 5, 0.457),
        ];
        for (problem, dim, expected) in known {
            let y = problem.sample(dim, 40_000, 7, Split::Test).unwrap().y;
            let values = y.col_as_slice(0);
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            let variance =
                values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / values.len() as f64;
            assert!(
                (variance / expected - 1.0).abs() < 0.03,
                "{problem}: variance {variance}, expected {expected}"
            );
        }
    }

    #[test]
    fn samples_repeat_lie_in_the_cube_and_differ_between_splits_and_seeds() {
        let train = Problem::F3.sample(5, 50, 1, Split::Train).unwrap();
        let longer = Problem::F3.sample(5, 80, 1, Split::Train).unwrap();
        let test = Problem::F3.sample(5, 50, 1, Split::Test).unwrap();
        let other = Problem::F3.sample(5, 50, 2, Split::Train).unwrap();
        assert_eq!(train.x.as_ref(), longer.x.get(..50, ..));
        assert_eq!(train.y.as_ref(), longer.y.get(..50, ..));
        for i in 0..50 {
            for k in 0..5 {
                assert!((0.0..1.0).contains(&train.x[(i, k)]));
                assert_ne!(train.x[(i, k)], test.x[(i, k)]);
                assert_ne!(train.x[(i, k)], other.x[(i, k)]);
            }
            let point: Vec<f64> = (0..5).map(|k| train.x[(i, k)]).collect();
            assert_eq!(train.y[(i, 0)], Problem::F3.evaluate(&point));
        }
    }

    #[test]
    fn every_setting_of_every_problem_can_be_sampled() {
        for problem in Problem::ALL {
            assert_eq!(problem.name().parse(), Ok(problem));
            for &(dim, samples) in problem.settings() {
                let sample = problem.sample(dim, samples, 0, Split::Train).unwrap();
                assert_eq!(
                    (sample.x.nrows(), sample.x.ncols(), sample.y.nrows()),
                    (samples, dim, samples)
                );
                assert!(sample.y.col_as_slice(0).iter().all(|v| v.is_finite()));
            }
        }
    }

    #[test]
    fn too_few_inputs_and_unknown_names_are_refused_with_the_remedy() {
        let error = Problem::F3.sample(4, 10, 0, Split::Train).unwrap_err();
        assert_eq!(
            error.to_string(),
            "f3 reads 5 inputs, but 4 were asked for; choose d >= 5"
        );
        assert!(
            "f9".parse::<Problem>()
                .unwrap_err()
                .to_string()
                .contains("h1-text")
        );
        assert_eq!(input_names(2), ["x1", "x2"]);
    }
}
