//! The distributions of uncertain inputs.

use crate::Error;
use crate::region::{level, position};
use rand::{Rng, RngExt};
use rand_distr::{Distribution as _, StandardNormal};
use serde::Deserialize;
use std::collections::BTreeMap;
use thinfit_design::{Input, Range, Space, Value};
use thinfit_methods::{InputColumn, Predictor};

/// By how much the sum of probabilities may differ from 1.
const ROUNDING: f64 = 1e-6;

/// A distribution as users write it.
///
/// A number or the name of a level is fixed. `[low, high]`, levels in brackets and `{ low, high }` with `log` or `whole` are uniform,
/// as in a design. `{ normal = [mean, deviation] }`, `{ uniform = [low, high] }`, `{ triangular = [low, mode, high] }` and
/// `{ lognormal = [median, factor] }`, of which 68 % lie between median/factor and median·factor, are for numbers;
/// `{ steel = 0.7, brass = 0.3 }` are probabilities of levels, which add up to 1.
#[derive(Clone, Debug, Deserialize)]
#[serde(
    untagged,
    expecting = "expected a number, a level, `[low, high]`, `{ normal = [mean, deviation] }`, `{ uniform = [low, high] }`, \
                 `{ lognormal = [median, factor] }`, `{ triangular = [low, mode, high] }`, or probabilities such as \
                 `{ steel = 0.7, brass = 0.3 }`"
)]
pub enum Given {
    /// A fixed number.
    Number(f64),
    /// A fixed level.
    Level(String),
    /// Uniform over a range.
    Range(Range),
    /// Probabilities of levels.
    Shares(BTreeMap<String, f64>),
    /// A distribution by name.
    Shape(BTreeMap<String, Vec<f64>>),
}

/// A distribution of one factor.
#[derive(Clone, Debug)]
enum Distribution {
    /// The inputs of a number or level, always the same.
    Fixed(Vec<f64>),
    Range(Range),
    Normal {
        mean: f64,
        deviation: f64,
    },
    /// The logarithm is normal.
    Lognormal {
        middle: f64,
        deviation: f64,
    },
    Triangular {
        low: f64,
        mode: f64,
        high: f64,
    },
    /// Levels, by the sum of the probabilities up to each.
    Levels(Vec<(f64, usize)>),
}

/// The distributions of all columns of a model, which are independent of each other.
#[derive(Clone, Debug)]
pub struct Inputs {
    pub(crate) factors: Vec<InputColumn>,
    distributions: Vec<Distribution>,
    /// The columns without a given distribution, uniform over the ranges of the samples.
    pub unnamed: Vec<String>,
}

impl Inputs {
    /// The distributions of the columns of a model, by name; columns without one are uniform over the ranges of the samples.
    ///
    /// # Errors
    /// A column that the model does not have, or a distribution that its values cannot have.
    pub fn new(model: &Predictor, given: &[(String, Given)]) -> Result<Self, Error> {
        let factors = InputColumn::all(model);
        let mut distributions: Vec<Option<Distribution>> = vec![None; factors.len()];
        for (column, given) in given {
            let j = position(&factors, column)?;
            distributions[j] = Some(Distribution::new(&factors[j], given)?);
        }
        let unnamed = factors.iter().zip(&distributions);
        let unnamed = unnamed.filter(|(_, found)| found.is_none());
        Ok(Inputs {
            unnamed: unnamed.map(|(factor, _)| factor.name.clone()).collect(),
            distributions: factors
                .iter()
                .zip(distributions)
                .map(|(factor, found)| found.unwrap_or_else(|| Distribution::even(factor)))
                .collect(),
            factors,
        })
    }

    /// Draws a row (d) of inputs.
    pub(crate) fn draw(&self, random: &mut impl Rng, row: &mut [f64]) {
        for (factor, distribution) in self.factors.iter().zip(&self.distributions) {
            distribution.draw(random, factor, &mut row[factor.first..][..factor.inputs()]);
        }
    }
}

fn flaw(column: &str, expected: &str, found: impl Into<String>, advice: &str) -> Error {
    Error::Column {
        column: column.into(),
        expected: expected.into(),
        found: found.into(),
        advice: advice.into(),
    }
}

impl Distribution {
    /// Uniform over the range of the samples.
    fn even(factor: &InputColumn) -> Self {
        match factor.levels.len() {
            0 if factor.whole && factor.range[0] < factor.range[1] => {
                Distribution::Range(Range::Whole {
                    low: factor.range[0] as i64,
                    high: factor.range[1] as i64,
                })
            }
            0 if factor.range[0] < factor.range[1] => Distribution::Range(Range::Real {
                low: factor.range[0],
                high: factor.range[1],
            }),
            0 => Distribution::Fixed(vec![factor.range[0]]),
            count => {
                let share = |k: usize| ((k + 1) as f64 / count as f64, k);
                Distribution::Levels((0..count).map(share).collect())
            }
        }
    }

    fn new(factor: &InputColumn, given: &Given) -> Result<Self, Error> {
        match factor.levels.is_empty() {
            true => Self::of_numbers(factor, given),
            false => Self::of_levels(factor, given),
        }
    }

    fn of_numbers(factor: &InputColumn, given: &Given) -> Result<Self, Error> {
        let flaw = |expected: &str, found: String, advice: &str| {
            Err(flaw(&factor.name, expected, found, advice))
        };
        let number = "give a number, `[low, high]` or `{ normal = [mean, deviation] }`";
        let shape = match given {
            Given::Number(value) if value.is_finite() => {
                return Ok(Distribution::Fixed(vec![*value]));
            }
            Given::Number(value) => {
                return flaw("a finite number", value.to_string(), "give one");
            }
            Given::Range(Range::Levels(_)) | Given::Level(_) => {
                return flaw("numbers", "levels".into(), number);
            }
            Given::Range(range) => return Self::range(&factor.name, range.clone()),
            Given::Shares(_) => {
                return flaw("a distribution of numbers", "other words".into(), number);
            }
            Given::Shape(shape) => shape,
        };
        let mut names = shape.iter();
        let (Some((name, values)), None) = (names.next(), names.next()) else {
            let found = format!("{} of them", shape.len());
            return flaw("one distribution", found, "give one");
        };
        let found = format!("{values:?}");
        let sound = values.iter().all(|value| value.is_finite());
        match (name.as_str(), values.as_slice()) {
            ("normal", [mean, deviation]) if sound && *deviation >= 0.0 => {
                Ok(Distribution::Normal {
                    mean: *mean,
                    deviation: *deviation,
                })
            }
            ("normal", _) => flaw(
                "`normal = [mean, deviation]` with a deviation from 0 on",
                found,
                "correct it",
            ),
            ("uniform", [low, high]) => Self::range(
                &factor.name,
                Range::Real {
                    low: *low,
                    high: *high,
                },
            ),
            ("uniform", _) => flaw("`uniform = [low, high]`", found, "correct it"),
            ("lognormal", [median, by]) if sound && *median > 0.0 && *by >= 1.0 => {
                Ok(Distribution::Lognormal {
                    middle: median.ln(),
                    deviation: by.ln(),
                })
            }
            ("lognormal", _) => flaw(
                "`lognormal = [median, factor]` with a median above 0 and a factor from 1 on",
                found,
                "two thirds of the values lie between median/factor and median·factor",
            ),
            ("triangular", [low, mode, high])
                if sound
                    && low <= mode
                    && mode <= high
                    && low < high
                    && (high - low).is_finite() =>
            {
                Ok(Distribution::Triangular {
                    low: *low,
                    mode: *mode,
                    high: *high,
                })
            }
            ("triangular", _) => flaw(
                "`triangular = [low, mode, high]`, in this order",
                found,
                "correct it",
            ),
            (other, _) => flaw(
                "normal, uniform, lognormal or triangular",
                format!("`{}`", thinfit_text::brief(other)),
                "take one of these",
            ),
        }
    }

    fn range(column: &str, range: Range) -> Result<Self, Error> {
        let input = Input {
            name: column.into(),
            range: range.clone(),
        };
        match Space::new(vec![input]) {
            Err(thinfit_design::Error::Range {
                expected,
                found,
                advice,
                ..
            }) => Err(flaw(column, expected, found, advice)),
            // The name is one of the model's.
            _ => Ok(Distribution::Range(range)),
        }
    }

    fn of_levels(factor: &InputColumn, given: &Given) -> Result<Self, Error> {
        let fixed = |name: &str| {
            let inputs = &factor.levels[level(factor, name)?].inputs;
            Ok(Distribution::Fixed(inputs.clone()))
        };
        let shares: Vec<(String, f64)> = match given {
            Given::Level(name) => return fixed(name),
            Given::Number(number) => return fixed(&number.to_string()),
            Given::Range(Range::Levels(names)) => {
                names.iter().map(|name| (name.clone(), 1.0)).collect()
            }
            Given::Shares(shares) => shares.iter().map(|(name, p)| (name.clone(), *p)).collect(),
            // Levels of these names are read as the ends of a range.
            Given::Range(Range::Real { low, high }) => {
                vec![("low".into(), *low), ("high".into(), *high)]
            }
            Given::Range(_) | Given::Shape(_) => {
                return Err(flaw(
                    &factor.name,
                    "levels",
                    "a distribution of numbers",
                    "give one level, some in brackets, or probabilities such as `{ steel = 0.7, brass = 0.3 }`",
                ));
            }
        };
        let total: f64 = shares.iter().map(|(_, share)| share).sum();
        if !(total > 0.0 && total.is_finite()) || shares.iter().any(|(_, share)| *share < 0.0) {
            let found = format!("{:?}", shares.iter().map(|(_, p)| p).collect::<Vec<_>>());
            let advice = "give each level a number from 0 to 1";
            return Err(flaw(&factor.name, "probabilities of levels", found, advice));
        }
        if let (Given::Shares(_) | Given::Range(Range::Real { .. }), true) =
            (given, (total - 1.0).abs() > ROUNDING)
        {
            return Err(flaw(
                &factor.name,
                "probabilities that add up to 1",
                thinfit::six_digits(total).to_string(),
                "correct them, or add the levels that are missing",
            ));
        }
        let mut reached = 0.0;
        let mut sums = Vec::new();
        for (name, share) in &shares {
            reached += share / total;
            sums.push((reached, level(factor, name)?));
        }
        Ok(Distribution::Levels(sums))
    }

    /// Draws the inputs of the factor.
    fn draw(&self, random: &mut impl Rng, factor: &InputColumn, inputs: &mut [f64]) {
        match self {
            Distribution::Fixed(fixed) => inputs.copy_from_slice(fixed),
            Distribution::Range(range) => {
                if let Value::Number(number) = range.at(random.random()) {
                    inputs[0] = number;
                }
            }
            Distribution::Normal { mean, deviation } => {
                let z: f64 = StandardNormal.sample(random);
                inputs[0] = mean + deviation * z;
            }
            Distribution::Lognormal { middle, deviation } => {
                let z: f64 = StandardNormal.sample(random);
                inputs[0] = (middle + deviation * z).exp();
            }
            Distribution::Triangular { low, mode, high } => {
                let u: f64 = random.random();
                let (width, left) = (high - low, mode - low);
                inputs[0] = match u * width < left {
                    true => low + (u * width * left).sqrt(),
                    false => high - ((1.0 - u) * width * (high - mode)).sqrt(),
                };
            }
            Distribution::Levels(sums) => {
                let u: f64 = random.random();
                let found = sums.iter().find(|(reached, _)| u < *reached);
                // Rounding may leave a gap below 1.
                if let Some((_, k)) = found.or(sums.last()) {
                    inputs.copy_from_slice(&factor.levels[*k].inputs);
                }
            }
        }
    }
}
