//! The minimum of an output over a region, and how far to trust it.

use crate::region::{Goal, Region, notes};
use crate::survey::{Place, Scalar, Survey, table};
use crate::{Error, Point};
use rayon::prelude::*;
use serde::Serialize;
use thinfit::Mat;
use thinfit::pieces::upper_median;
use thinfit_methods::{InputColumn, Predictor, four_digits, two_digits};

/// Descents over all combinations of levels, and the fewest of one of them.
const STARTS: [usize; 2] = [32, 3];
/// Probability that the interval contains a new observation.
const LEVEL: f64 = 0.9;
/// Two minima are one if nothing higher than this part of the output's range lies between them.
const BARRIER: f64 = 1e-3;
/// Other minima that are listed.
const OTHERS: usize = 5;
/// Points that define what is usual.
const USUAL: usize = 200;
/// Data are sparse if the interval or the distance to the nearest sample is this many times the usual one.
const THIN: f64 = 2.0;
/// Without any error of the model, values are about as good within this part of the output's range.
const ALIKE: f64 = 0.01;

/// Rounding errors of values, as a part of the output's range.
const ROUNDING: f64 = 1e-9;

/// A local minimum, or maximum.
#[derive(Clone, Debug, Serialize)]
pub struct Minimum {
    /// The values of the columns.
    pub point: Point,
    /// The same, rounded to practical digits within ranges, fixed values and constraints.
    pub rounded: Point,
    /// The inputs of the model (d).
    #[serde(skip)]
    pub row: Vec<f64>,
    /// The output there.
    pub value: f64,
    /// Interval that contains a new observation there with probability 0.9; `None` if the model has none.
    pub interval: Option<[f64; 2]>,
}

/// An end of a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum End {
    /// The smallest value.
    Lower,
    /// The largest value.
    Upper,
}

/// A column at an end of its range.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Border {
    /// The column.
    pub column: String,
    /// The end.
    pub end: End,
    /// The value there.
    pub value: f64,
    /// Whether the range was given by the user rather than by the samples.
    pub given: bool,
}

/// A column outside the range of its samples.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Beyond {
    /// The column.
    pub column: String,
    /// By how much, as a share of the range of its samples.
    pub by: f64,
}

/// Sparsity of the data at the minimum, in multiples of the usual values in the region.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Thin {
    /// The width of the interval; `None` if the model has none.
    pub width: Option<f64>,
    /// The distance to the nearest sample; `None` for a network, which keeps no samples.
    pub distance: Option<f64>,
    /// Whether either is well above what is usual.
    pub thin: bool,
}

/// The minimum or maximum of an output.
#[derive(Clone, Debug, Serialize)]
pub struct Optimum {
    /// Name of the output.
    pub output: String,
    /// Whether it was maximised.
    pub maximised: bool,
    /// The best place.
    #[serde(flatten)]
    pub best: Minimum,
    /// Columns at an end of their range: the true minimum may lie beyond.
    pub borders: Vec<Border>,
    /// Columns outside the ranges of the samples, if wider ranges were given.
    pub beyond: Vec<Beyond>,
    /// Columns between two whole numbers, though their samples are whole numbers.
    pub split: Vec<String>,
    /// Columns with no detectable effect, left at typical values unless a constraint moves them.
    pub undetected: Vec<String>,
    /// Columns restricted to integers because their samples are.
    pub integers: Vec<String>,
    /// Those of them that are either 0 or 1.
    pub switches: Vec<String>,
    /// Constraints that limit the minimum.
    pub held_by: Vec<String>,
    /// How sparse data are there.
    pub thin: Thin,
    /// Other local minima that are about as good, the best first: the 90 % interval of the difference to the best holds zero.
    pub others: Vec<Minimum>,
    /// How many more there are.
    pub more: usize,
}

/// The minimum or maximum of an output over the region; the same seed gives the same point.
///
/// A survey of the region finds points better than their neighbours, from which descents with exact gradients start, for
/// every combination of levels and whole numbers where there are at most 64; otherwise descents take turns with exchanges of these.
///
/// # Errors
/// Constraints that cannot hold, an output that does not exist, or a model whose values leave the finite range.
pub fn minimise(region: &Region<'_>, goal: Goal, seed: u64) -> Result<Optimum, Error> {
    goal.check(region.model)?;
    let survey = Survey::take(region, seed)?;
    let found = minima(&survey, goal)?;
    let values = survey.values.iter().map(|f| f[goal.output]);
    let range =
        values.clone().fold(f64::NEG_INFINITY, f64::max) - values.fold(f64::INFINITY, f64::min);
    let mut minima = region.described(&found, goal)?.into_iter();
    let first = minima.next().ok_or_else(unbounded)?;
    let rows = table(found.iter().map(|(place, _)| place.row.as_slice()));
    let widths = region.model.difference_widths(rows.as_ref(), goal.output)?;
    let width = |k: usize| widths.as_ref().map_or(ALIKE * range, |widths| widths[k]);
    let good = |(k, minimum): &(usize, Minimum)| {
        (minimum.value - first.value).abs() <= width(k + 1).max(ROUNDING * range)
    };
    let others = minima.enumerate().filter(good);
    let mut others: Vec<Minimum> = others.map(|(_, minimum)| minimum).collect();
    let more = others.len().saturating_sub(OTHERS);
    others.truncate(OTHERS);
    let best_place = &found[0].0;
    Ok(Optimum {
        output: region.model.outputs()[goal.output].clone(),
        maximised: goal.maximise,
        borders: region.borders(&best_place.row),
        beyond: region.beyond(&best_place.row),
        split: region.split(&best_place.row),
        undetected: region.undetected(),
        integers: region.integers(),
        switches: region.switches(),
        held_by: region.held_by(&best_place.row),
        thin: thin(&survey, goal, &first),
        best: first,
        others,
        more,
    })
}

/// The distinct local minima that descents from the survey find, the best first.
pub(crate) fn minima(survey: &Survey<'_>, goal: Goal) -> Result<Vec<(Place, f64)>, Error> {
    let scalar = Scalar::of(goal, survey.region.model.outputs().len());
    let range = survey.range(&scalar);
    let most = (STARTS[0] / survey.combinations).max(STARTS[1]);
    let starts = survey.starts(&scalar, most);
    let mut found: Vec<(Place, f64)> = starts
        .par_iter()
        .filter_map(|start| survey.descend(start, &scalar, range))
        .collect();
    let any = !found.is_empty();
    found.retain(|(place, _)| survey.region.admits(&place.row));
    if any && found.is_empty() {
        return Err(survey.region.infeasible());
    }
    found.sort_by(|a, b| a.1.total_cmp(&b.1));
    let mut distinct: Vec<(Place, f64)> = Vec::new();
    for (place, value) in found {
        let known = |other: &(Place, f64)| {
            survey.joined(
                (&place, value),
                (&other.0, other.1),
                &scalar,
                BARRIER * range,
            )
        };
        if !distinct.iter().any(known) {
            distinct.push((place, value));
        }
    }
    match distinct.is_empty() {
        true => Err(unbounded()),
        false => Ok(distinct),
    }
}

/// No descent found a finite value.
fn unbounded() -> Error {
    Error::Model(thinfit::Error::Data {
        what: "model",
        problem: "its values leave the finite range".into(),
        advice: "fit it again",
    })
}

impl Region<'_> {
    /// The points in the user's columns, with values and intervals.
    fn described(&self, found: &[(Place, f64)], goal: Goal) -> Result<Vec<Minimum>, Error> {
        let rows = table(found.iter().map(|(place, _)| place.row.as_slice()));
        let f = self.model.predict(rows.as_ref())?;
        let bounds = bounds(self.model, &rows, goal.output);
        let minimum = |(i, (place, _)): (usize, &(Place, f64))| Minimum {
            point: Point::of(self.factors(), &place.row),
            rounded: Point::of(self.factors(), &self.rounded(&place.row)),
            row: place.row.clone(),
            value: f[(i, goal.output)],
            interval: bounds[i],
        };
        Ok(found.iter().enumerate().map(minimum).collect())
    }

    /// The columns of numbers that `row` (d) has at an end of their range.
    fn borders(&self, row: &[f64]) -> Vec<Border> {
        // Nothing lies beyond the ends of a switch, and nothing is known to be gained beyond those of a column with no detectable effect.
        let ends = |j: &usize| {
            let factor = &self.factors()[*j];
            factor.levels.is_empty() && !factor.is_switch() && !self.is_undetected(*j)
        };
        let numbers = self.moving().filter(ends);
        let border = |j: usize| {
            let factor = &self.factors()[j];
            let ([low, high], value) = (factor.range, row[factor.first]);
            let near = 1e-9 * (high - low);
            let end = match value {
                value if value <= low + near => End::Lower,
                value if value >= high - near => End::Upper,
                _ => return None,
            };
            Some(Border {
                column: factor.name.clone(),
                end,
                value,
                given: self.given()[j],
            })
        };
        numbers.filter_map(border).collect()
    }

    /// The columns of numbers that `row` (d) has beyond their samples.
    fn beyond(&self, row: &[f64]) -> Vec<Beyond> {
        let numbers = (0..self.factors().len()).filter(|j| !self.is_undetected(*j));
        let numbers = numbers.map(|j| &self.factors()[j]);
        let numbers = numbers.filter(|factor| factor.levels.is_empty());
        let beyond = |factor: &InputColumn| {
            let ([low, high], value) = (self.model.domain()[factor.first], row[factor.first]);
            let by = (low - value).max(value - high) / (high - low);
            (by > 0.0).then(|| Beyond {
                column: factor.name.clone(),
                by,
            })
        };
        numbers.filter_map(beyond).collect()
    }

    /// The columns that `row` (d) has between two whole numbers, though their samples are whole numbers.
    fn split(&self, row: &[f64]) -> Vec<String> {
        let whole = &self.model.record().whole;
        let numbers = self.moving().map(|j| &self.factors()[j]);
        let split = numbers.filter(|factor| {
            let number = factor.levels.is_empty() && whole.contains(&factor.first);
            number && row[factor.first].fract() != 0.0
        });
        split.map(|factor| factor.name.clone()).collect()
    }
}

/// The interval of an output at each of the rows, where there is a finite one.
fn bounds(model: &Predictor, rows: &Mat<f64>, output: usize) -> Vec<Option<[f64; 2]>> {
    let interval = model.interval(rows.as_ref(), LEVEL).ok();
    let at = |i: usize| {
        let interval = interval.as_ref()?;
        let bounds = [interval.low[(i, output)], interval.high[(i, output)]];
        bounds.iter().all(|v| v.is_finite()).then_some(bounds)
    };
    (0..rows.nrows()).map(at).collect()
}

/// How sparse data are at the minimum, compared with points all over the region.
fn thin(survey: &Survey<'_>, goal: Goal, best: &Minimum) -> Thin {
    let model = survey.region.model;
    let step = survey.places.len().div_ceil(USUAL);
    let usual = survey.places.iter().step_by(step);
    let usual = table(usual.map(|place| place.row.as_slice()));
    let width = best.interval.and_then(|[low, high]| {
        let known = bounds(model, &usual, goal.output).into_iter().flatten();
        let usual = upper_median(known.map(|[low, high]| high - low).collect()).unwrap_or(0.0);
        (usual > 0.0).then(|| (high - low) / usual)
    });
    let distance = match model {
        Predictor::Network(_) => None,
        Predictor::Kernel(model) => {
            let points = model.body.points.as_ref();
            let nearest = |rows: &Mat<f64>| -> Vec<f64> {
                let scaled = model.input_scaler.apply(rows.as_ref());
                let square = |i: usize, k: usize| -> f64 {
                    (0..scaled.ncols())
                        .map(|j| (scaled[(i, j)] - points[(k, j)]).powi(2))
                        .sum()
                };
                let near = |i| {
                    (0..points.nrows())
                        .map(|k| square(i, k))
                        .fold(f64::INFINITY, f64::min)
                };
                (0..scaled.nrows()).map(near).map(f64::sqrt).collect()
            };
            let here = nearest(&table(std::iter::once(best.row.as_slice())))[0];
            let usual = upper_median(nearest(&usual)).unwrap_or(0.0);
            (usual > 0.0).then(|| here / usual)
        }
    };
    let above = |part: Option<f64>| part.is_some_and(|part| part > THIN);
    Thin {
        width,
        distance,
        thin: above(width) || above(distance),
    }
}

impl Optimum {
    /// Notes on how far to trust it, as sentences.
    pub fn words(&self) -> Vec<String> {
        let extremum = if self.maximised { "maximum" } else { "minimum" };
        let mut words = Vec::new();
        let end = |border: &Border| {
            let end = match border.end {
                End::Lower => "lower",
                End::Upper => "upper",
            };
            format!(
                "{} ({end} end, {})",
                border.column,
                four_digits(border.value)
            )
        };
        for given in [false, true] {
            let borders = self.borders.iter().filter(|border| border.given == given);
            let ends: Vec<String> = borders.map(end).collect();
            let (lie, their) = match ends.len() {
                0 => continue,
                1 => ("lies", "its range"),
                _ => ("lie", "their ranges"),
            };
            let what = match given {
                true => ", as given".into(),
                false => format!(": the true {extremum} may lie beyond; take samples there"),
            };
            words.push(format!(
                "{} {lie} on the border of {their}{what}",
                ends.join(", ")
            ));
        }
        if !self.beyond.is_empty() {
            let columns: Vec<&str> = self.beyond.iter().map(|b| b.column.as_str()).collect();
            let most = self.beyond.iter().fold(0.0, |most, b| b.by.max(most));
            let (lie, at_most) = match columns.len() {
                1 => ("lies", ""),
                _ => ("lie", " at most"),
            };
            // Samples that are all the same have no range.
            let by = match most.is_finite() {
                true => format!(
                    ", by {} % of their range{at_most}",
                    two_digits(100.0 * most)
                ),
                false => String::new(),
            };
            words.push(format!(
                "{} {lie} beyond the samples{by}: the model extrapolates there, and the interval widens; take a sample there",
                columns.join(", ")
            ));
        }
        if !self.split.is_empty() {
            let (of, takes) = match self.split.len() {
                1 => ("its", "it takes"),
                _ => ("their", "they take"),
            };
            words.push(format!(
                "all samples of {} are integers: if {takes} no others, set `whole = true` in {of} range",
                self.split.join(", ")
            ));
        }
        words.extend(notes(&self.undetected, &self.integers, &self.switches));
        if !self.held_by.is_empty() {
            words.push(format!(
                "the {extremum} is limited by {}",
                self.held_by.join(", ")
            ));
        }
        if self.thin.thin {
            let width = self.thin.width.filter(|width| *width > THIN);
            let width =
                width.map(|w| format!("the interval is {} times as wide as usual", two_digits(w)));
            let distance = self.thin.distance.filter(|distance| *distance > THIN);
            let distance = distance.map(|d| {
                format!(
                    "the nearest sample is {} times as far as usual",
                    two_digits(d)
                )
            });
            let found: Vec<String> = [width, distance].into_iter().flatten().collect();
            words.push(format!(
                "few samples nearby: {}; take some there before relying on it",
                found.join(", and ")
            ));
        }
        match self.others.len() + self.more {
            0 => (),
            1 => words.push(format!("another {extremum} is about as good")),
            count => words.push(format!(
                "{count} other {} are about as good",
                if self.maximised { "maxima" } else { "minima" }
            )),
        }
        words
    }
}
