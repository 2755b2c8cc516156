//! Uncertainty propagation: random inputs are passed through the model.
//!
//! Rows are drawn in chunks, each from a stream of its own, so that the draws do not depend on threads; only the outputs
//! of each row are kept. A new observation is f(x) plus a normal error, independent from row to row, whose standard deviation is half
//! the width of the model's calibrated 68 % interval at x.

use crate::{Error, Inputs};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::*;
use serde::Serialize;
use thinfit::Mat;
use thinfit::pieces::at_place;
use thinfit_methods::Predictor;

/// Rows of a chunk.
const CHUNK: usize = 1024;
/// Chunks that are computed side by side.
const TOGETHER: usize = 16;
/// Probability within one standard deviation of a normal distribution.
const ONE_DEVIATION: f64 = 0.682_689_492_137_086;
/// The quantiles of a summary.
const LEVELS: [f64; 7] = [0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99];

/// A number with its standard error from random draws.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// The number.
    pub value: f64,
    /// Its standard error.
    pub error: f64,
}

/// A quantile.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Quantile {
    /// The probability below it.
    pub level: f64,
    /// The quantile.
    #[serde(flatten)]
    pub at: Estimate,
}

/// Summary statistics of a distribution.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// The mean.
    pub mean: Estimate,
    /// The standard deviation.
    pub deviation: Estimate,
    /// Quantiles, in ascending order.
    pub quantiles: Vec<Quantile>,
}

/// The distribution of an output.
#[derive(Clone, Debug, Serialize)]
pub struct Spread {
    /// Name of the output.
    pub output: String,
    /// Of the model's prediction.
    pub model: Summary,
    /// Of a new observation, including the model error; `None` if the model has no intervals.
    pub observation: Option<Summary>,
    /// The model's values, sorted.
    #[serde(skip)]
    pub values: Vec<f64>,
    /// New observations, sorted.
    #[serde(skip)]
    pub observations: Vec<f64>,
}

/// How many draws lie outside the ranges of the samples.
#[derive(Clone, Debug, Serialize)]
pub struct Outside {
    /// The share of draws with any column outside.
    pub share: f64,
    /// The columns outside their range, with their shares, the largest first.
    pub columns: Vec<(String, f64)>,
}

/// The distributions of the outputs.
#[derive(Clone, Debug, Serialize)]
pub struct Propagation {
    /// Number of draws.
    pub rows: usize,
    /// The outputs.
    pub outputs: Vec<Spread>,
    /// Draws where the model extrapolates.
    pub outside: Outside,
    /// Columns without a given distribution, uniform over the ranges of the samples.
    pub unnamed: Vec<String>,
}

/// Draws, in the order of their rows.
pub struct Block<'a> {
    /// The inputs of the model (rows × d).
    pub x: &'a Mat<f64>,
    /// The model's values (rows × c).
    pub f: &'a Mat<f64>,
}

/// One chunk of draws.
struct Chunk {
    x: Mat<f64>,
    f: Mat<f64>,
    observations: Option<Mat<f64>>,
}

/// Draws `rows` rows of the inputs and computes the distribution of the outputs. `watch` sees all draws in order; an error of its
/// own ends the work. The same seed gives the same draws for any number of threads.
///
/// # Errors
/// A model whose values leave the finite range, or an error of `watch`.
///
/// # Panics
/// No rows.
pub fn propagate<E: From<Error>>(
    model: &Predictor,
    inputs: &Inputs,
    rows: usize,
    seed: u64,
    mut watch: impl FnMut(Block<'_>) -> Result<(), E>,
) -> Result<Propagation, E> {
    assert!(rows > 0, "rows are drawn");
    let c = model.outputs().len();
    let (mut values, mut observations) = (vec![Vec::new(); c], vec![Vec::new(); c]);
    let (mut outside, mut left) = (0, vec![0; inputs.factors.len()]);
    let chunks = rows.div_ceil(CHUNK);
    for first in (0..chunks).step_by(TOGETHER) {
        let these = first..(first + TOGETHER).min(chunks);
        let size = |chunk: usize| CHUNK.min(rows - chunk * CHUNK);
        let drawn = these.into_par_iter();
        let drawn: Result<Vec<Chunk>, Error> = drawn
            .map(|chunk| Chunk::draw(model, inputs, size(chunk), (seed, chunk)))
            .collect();
        for Chunk {
            x,
            f,
            observations: seen,
        } in drawn?
        {
            for i in 0..x.nrows() {
                let mut any = false;
                for (factor, left) in inputs.factors.iter().zip(&mut left) {
                    let [low, high] = factor.range;
                    let out =
                        factor.levels.is_empty() && !(low..=high).contains(&x[(i, factor.first)]);
                    *left += usize::from(out);
                    any |= out;
                }
                outside += usize::from(any);
            }
            for o in 0..c {
                values[o].extend(f.col(o).iter());
                if let Some(seen) = &seen {
                    observations[o].extend(seen.col(o).iter());
                }
            }
            watch(Block { x: &x, f: &f })?;
        }
    }
    let share = |count: usize| count as f64 / rows as f64;
    let columns = inputs
        .factors
        .iter()
        .zip(&left)
        .filter(|(_, left)| **left > 0);
    let mut columns: Vec<(String, f64)> = columns
        .map(|(factor, left)| (factor.name.clone(), share(*left)))
        .collect();
    columns.sort_by(|a, b| b.1.total_cmp(&a.1));
    let outputs = model
        .outputs()
        .iter()
        .zip(values.into_iter().zip(observations));
    let spread = |(output, (mut values, mut observations)): (&String, (Vec<f64>, Vec<f64>))| {
        values.par_sort_unstable_by(f64::total_cmp);
        observations.par_sort_unstable_by(f64::total_cmp);
        Spread {
            output: output.clone(),
            model: Summary::of(&values),
            observation: (!observations.is_empty()).then(|| Summary::of(&observations)),
            values,
            observations,
        }
    };
    Ok(Propagation {
        rows,
        outputs: outputs.map(spread).collect(),
        outside: Outside {
            share: share(outside),
            columns,
        },
        unnamed: inputs.unnamed.clone(),
    })
}

impl Chunk {
    fn draw(
        model: &Predictor,
        inputs: &Inputs,
        rows: usize,
        (seed, chunk): (u64, usize),
    ) -> Result<Self, Error> {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(chunk as u64);
        let d = model.inputs().len();
        let (mut x, mut row) = (Mat::zeros(rows, d), vec![0.0; d]);
        for i in 0..rows {
            inputs.draw(&mut random, &mut row);
            for (j, value) in row.iter().enumerate() {
                x[(i, j)] = *value;
            }
        }
        let f = model.predict(x.as_ref())?;
        let interval = model.interval_inside(x.as_ref(), ONE_DEVIATION).ok();
        let interval = interval.filter(|interval| interval.is_finite());
        let observations = interval.map(|interval| {
            Mat::from_fn(rows, f.ncols(), |i, o| {
                let deviation = 0.5 * (interval.high[(i, o)] - interval.low[(i, o)]);
                let z: f64 = StandardNormal.sample(&mut random);
                f[(i, o)] + deviation * z
            })
        });
        Ok(Chunk { x, f, observations })
    }
}

impl Summary {
    /// Of sorted values, at least one.
    fn of(values: &[f64]) -> Self {
        let m = values.len() as f64;
        let mean = values.iter().map(|v| v / m).sum::<f64>();
        let moment = |power: i32| {
            let powers = values.iter().map(|v| (v - mean).powi(power));
            powers.sum::<f64>() / m
        };
        let variance = moment(2) * m / (m - 1.0).max(1.0);
        let deviation = variance.sqrt();
        // The variance of the variance, by the delta method for its root.
        let spread = ((moment(4) - moment(2).powi(2)).max(0.0) / m).sqrt();
        Summary {
            mean: Estimate {
                value: mean,
                error: deviation / m.sqrt(),
            },
            deviation: Estimate {
                value: deviation,
                error: match deviation > 0.0 {
                    true => spread / (2.0 * deviation),
                    false => 0.0,
                },
            },
            quantiles: LEVELS.map(|level| quantile(values, level)).to_vec(),
        }
    }
}

/// The quantile of sorted values. How many of m values lie below the true one has a standard deviation of √(m p (1 − p)): a quarter
/// of the distance between the values two of these away on both sides is its standard error.
fn quantile(values: &[f64], level: f64) -> Quantile {
    let m = values.len() as f64;
    let at = |rank: f64| at_place(values, rank.clamp(0.0, m - 1.0));
    let (rank, ranks) = (level * (m - 1.0), (m * level * (1.0 - level)).sqrt());
    Quantile {
        level,
        at: Estimate {
            value: at(rank),
            error: 0.25 * (at(rank + 2.0 * ranks) - at(rank - 2.0 * ranks)),
        },
    }
}

impl Spread {
    /// The probability of a value above the limit, of sorted values.
    pub fn above(values: &[f64], limit: f64) -> Estimate {
        let count = values.len() - values.partition_point(|v| *v <= limit);
        Self::probability(count, values.len())
    }

    /// The probability of a value below the limit, of sorted values.
    pub fn below(values: &[f64], limit: f64) -> Estimate {
        Self::probability(values.partition_point(|v| *v < limit), values.len())
    }

    fn probability(count: usize, of: usize) -> Estimate {
        let (p, m) = (count as f64 / of as f64, of as f64);
        Estimate {
            value: p,
            error: (p * (1.0 - p) / m).sqrt(),
        }
    }
}
