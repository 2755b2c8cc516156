//! The range of each factor: that of its samples, or one given by the user.

use thinfit::{Error, Result, Warp};
use thinfit_design::{Range, Space};
use thinfit_methods::{InputColumn, Level, Predictor};

/// The factors of a model, with their ranges.
#[derive(Clone, Debug)]
pub struct Ranges {
    factors: Vec<InputColumn>,
    /// Which ranges were given by the user.
    given: Vec<bool>,
}

impl Ranges {
    /// The ranges of the samples.
    pub fn of(model: &Predictor) -> Self {
        let factors = InputColumn::all(model);
        let given = vec![false; factors.len()];
        Ranges { factors, given }
    }

    /// The ranges of `space` for the factors that it names, those of the samples for the others.
    ///
    /// # Errors
    /// An unknown factor, a level that the model does not have, or levels for a numeric factor and vice versa.
    pub fn within(model: &Predictor, space: &Space) -> Result<Self> {
        let mut ranges = Ranges::of(model);
        for input in space.inputs() {
            let name = &input.name;
            let refuse = |(expected, advice): (String, &'static str)| Error::Data {
                what: "ranges",
                problem: format!("`{name}`: expected {expected}"),
                advice,
            };
            let Some(k) = ranges.factors.iter().position(|f| f.name == *name) else {
                let names: Vec<&str> = ranges.factors.iter().map(|f| f.name.as_str()).collect();
                let expected = format!("an input of the model ({})", names.join(", "));
                return Err(refuse((expected, "leave the others out")));
            };
            ranges.factors[k] = limited(&ranges.factors[k], &input.range).map_err(refuse)?;
            ranges.given[k] = true;
        }
        Ok(ranges)
    }

    /// The factors.
    pub fn factors(&self) -> &[InputColumn] {
        &self.factors
    }

    /// For which factors the user gave a range.
    pub fn given(&self) -> &[bool] {
        &self.given
    }

    /// The place of every factor in a row of inputs (d); that of the nearest end for a number beyond its range.
    pub(crate) fn places(&self, row: &[f64]) -> Vec<f64> {
        self.factors
            .iter()
            .map(|factor| factor.place(row))
            .collect()
    }
}

/// A number of the factor rounded to practical digits: to a millionth of the range, or to six digits where a range is long in the tail;
/// still in the range.
pub(crate) fn rounded(factor: &InputColumn, value: f64) -> f64 {
    let [low, high] = factor.range;
    let range = match factor.warp {
        // A long tail needs digits of the number itself, as one even in its logarithm does.
        Some(_) => Range::Log { low, high },
        None => Range::Real { low, high },
    };
    range.rounded(value)
}

/// The factor in a range; what was expected, and what to do, where the range is not one of the factor's.
fn limited(
    factor: &InputColumn,
    range: &Range,
) -> std::result::Result<InputColumn, (String, &'static str)> {
    if let Some(range) = switched(range).filter(|_| factor.is_switch()) {
        return Ok(InputColumn {
            range,
            ..factor.clone()
        });
    }
    if !factor.levels.is_empty() && !matches!(range, Range::Levels(_)) {
        return Err(("a list of levels".into(), "give names of levels"));
    }
    let numbers = |range: [f64; 2], warp: Option<Warp>, whole: bool| InputColumn {
        range,
        warp,
        log: warp.is_some(),
        whole,
        ..factor.clone()
    };
    Ok(match range {
        Range::Real { low, high } => numbers([*low, *high], None, false),
        Range::Log { low, high } => {
            let warp = Warp::logarithm(*low);
            if !(warp.is_sound() && warp.value(*high).is_finite()) {
                return Err(("fewer powers of ten".into(), "give a smaller range"));
            }
            numbers([*low, *high], Some(warp), false)
        }
        Range::Whole { low, high } => numbers([*low as f64, *high as f64], None, true),
        Range::Levels(names) => {
            let known = |name: &String| factor.levels.iter().find(|level| level.name == *name);
            let levels: Option<Vec<Level>> = names.iter().map(|n| known(n).cloned()).collect();
            let levels = levels.ok_or_else(|| {
                let known: Vec<&str> = factor.levels.iter().map(|l| l.name.as_str()).collect();
                let expected = match known.is_empty() {
                    true => "the ends of a range of numbers".into(),
                    false => format!("levels among {}", known.join(", ")),
                };
                (expected, "give values that the model knows")
            })?;
            InputColumn {
                levels,
                ..factor.clone()
            }
        }
    })
}

/// The ends of a list of `false` and `true`, as numbers.
fn switched(range: &Range) -> Option<[f64; 2]> {
    let Range::Levels(names) = range else {
        return None;
    };
    let value = |name: &String| match name.to_ascii_lowercase().as_str() {
        "false" => Some(0.0),
        "true" => Some(1.0),
        _ => None,
    };
    let values: Option<Vec<f64>> = names.iter().map(value).collect();
    let low = values
        .as_ref()?
        .iter()
        .copied()
        .fold(f64::INFINITY, f64::min);
    let high = values?.into_iter().fold(f64::NEG_INFINITY, f64::max);
    Some([low, high])
}
