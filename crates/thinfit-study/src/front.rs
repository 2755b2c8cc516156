//! The Pareto front of several outputs.
//!
//! With the ideal point z and the widths r of the front, each reference point q on the plane Σ q_i = 1 of the unit cube gives a
//! point of the front, the end of a line from q along the diagonal:
//!
//! which reaches fronts of any shape, concave ones included; ρ excludes points where one output could improve at no
//! cost to the others.
//!
//! which reaches parts of any shape, hollow ones as well; ρ keeps the ends off places where one output could be had better for
//! nothing.

use crate::minimum::minima;
use crate::region::{Goal, Region};
use crate::survey::{Place, Scalar, Survey, table};
use crate::{Error, Point};
use rayon::prelude::*;
use serde::Serialize;

/// Reference points that are wanted, at least.
const POINTS: usize = 60;
/// Descents for each reference point.
const STARTS: usize = 4;
/// ρ.
const TOGETHER: f64 = 1e-3;

/// A point of a front.
#[derive(Clone, Debug, Serialize)]
pub struct Tradeoff {
    /// The values of the columns.
    pub point: Point,
    /// The same, rounded to practical digits within ranges, fixed values and constraints.
    pub rounded: Point,
    /// The inputs of the model (d).
    #[serde(skip)]
    pub row: Vec<f64>,
    /// The outputs of the front there.
    pub values: Vec<f64>,
}

/// Points of which none is better than another in every output.
#[derive(Clone, Debug, Serialize)]
pub struct Front {
    /// Names of the outputs.
    pub outputs: Vec<String>,
    /// Which of them were maximised.
    pub maximised: Vec<bool>,
    /// The points, by the first output.
    pub points: Vec<Tradeoff>,
    /// Columns with no detectable effect, left at typical values unless a constraint moves them.
    pub undetected: Vec<String>,
    /// Columns restricted to integers because their samples are.
    pub integers: Vec<String>,
    /// Those of them that are either 0 or 1.
    pub switches: Vec<String>,
}

/// A point, and the outputs there with signs such that all are minimised.
struct Candidate {
    place: Place,
    goals: Vec<f64>,
}

/// The Pareto front of two outputs or more over the region; the same seed gives the same points.
///
/// # Errors
/// As [`minimise`](crate::minimise), and fewer than two goals.
pub fn front(region: &Region<'_>, goals: &[Goal], seed: u64) -> Result<Front, Error> {
    if goals.len() < 2 {
        return Err(Error::Model(thinfit::Error::Shape {
            what: "front",
            expected: "two goals or more".into(),
            found: goals.len().to_string(),
        }));
    }
    goals.iter().try_for_each(|goal| goal.check(region.model))?;
    let survey = Survey::take(region, seed)?;
    let model = region.model;
    let signed = |f: &[f64]| -> Vec<f64> { goals.iter().map(|g| g.sign() * f[g.output]).collect() };
    let valued = |place: Place| -> Result<Candidate, Error> {
        let row = table(std::iter::once(place.row.as_slice()));
        let f = model.predict(row.as_ref())?;
        let f: Vec<f64> = f.row(0).iter().copied().collect();
        let goals = signed(&f);
        Ok(Candidate { place, goals })
    };
    // The optimum of each output, and all points of the survey.
    let (mut pool, mut found) = (Vec::new(), Vec::new());
    for goal in goals {
        for (k, (place, _)) in minima(&survey, *goal)?.into_iter().enumerate() {
            if k == 0 {
                found.push(valued(place.clone())?);
            }
            pool.push(valued(place)?);
        }
    }
    let surveyed = survey.places.iter().zip(&survey.values);
    pool.extend(surveyed.map(|(place, f)| Candidate {
        place: place.clone(),
        goals: signed(f),
    }));
    let pool = undominated(pool);
    let least = |i: usize| {
        pool.iter()
            .map(|c| c.goals[i])
            .fold(f64::INFINITY, f64::min)
    };
    let most = |i: usize| {
        pool.iter()
            .map(|c| c.goals[i])
            .fold(f64::NEG_INFINITY, f64::max)
    };
    let ideal: Vec<f64> = (0..goals.len()).map(least).collect();
    let widths: Vec<f64> = (0..goals.len()).map(|i| most(i) - ideal[i]).collect();
    // With a width of zero there is a place that is best in everything.
    if widths.iter().all(|width| *width > 0.0) {
        let towards = |reference: &Vec<f64>| {
            let scalar = scalar(goals, model.outputs().len(), (&ideal, &widths), reference);
            let range = survey.range(&scalar);
            let unsigned = |c: &Candidate| {
                let mut f = vec![0.0; model.outputs().len()];
                for (goal, value) in goals.iter().zip(&c.goals) {
                    f[goal.output] = goal.sign() * value;
                }
                scalar.value(&f)
            };
            let mut order: Vec<usize> = (0..pool.len()).collect();
            order.sort_by(|a, b| unsigned(&pool[*a]).total_cmp(&unsigned(&pool[*b])));
            let ends = order.into_iter().take(STARTS);
            let ends = ends.filter_map(|k| survey.descend(&pool[k].place, &scalar, range));
            ends.min_by(|a, b| a.1.total_cmp(&b.1))
        };
        let references = references(goals.len());
        let ends: Vec<(Place, f64)> = references.par_iter().filter_map(towards).collect();
        for (place, _) in ends {
            found.push(valued(place)?);
        }
    }
    found.retain(|candidate| region.admits(&candidate.place.row));
    let mut points = distinct(undominated(found), &widths);
    if points.is_empty() {
        return Err(region.infeasible());
    }
    points.sort_by(|a, b| a.goals[0].total_cmp(&b.goals[0]));
    Ok(Front {
        outputs: goals
            .iter()
            .map(|g| model.outputs()[g.output].clone())
            .collect(),
        maximised: goals.iter().map(|goal| goal.maximise).collect(),
        undetected: region.undetected(),
        integers: region.integers(),
        switches: region.switches(),
        points: points
            .into_iter()
            .map(|candidate| Tradeoff {
                point: Point::of(region.factors(), &candidate.place.row),
                rounded: Point::of(region.factors(), &region.rounded(&candidate.place.row)),
                row: candidate.place.row,
                values: goals
                    .iter()
                    .zip(&candidate.goals)
                    .map(|(g, v)| g.sign() * v)
                    .collect(),
            })
            .collect(),
    })
}

/// The way from a reference point along the diagonal.
fn scalar(
    goals: &[Goal],
    outputs: usize,
    (ideal, widths): (&[f64], &[f64]),
    reference: &[f64],
) -> Scalar {
    let part = |i: usize, j: usize| if i == j { 1.0 + TOGETHER } else { TOGETHER };
    let weights = |i: usize| {
        let mut weights = vec![0.0; outputs];
        for (j, goal) in goals.iter().enumerate() {
            weights[goal.output] += part(i, j) * goal.sign() / widths[j];
        }
        weights
    };
    let offset = |i: usize| {
        let shift = (0..goals.len()).map(|j| part(i, j) * ideal[j] / widths[j]);
        shift.sum::<f64>() + reference[i]
    };
    Scalar {
        weights: (0..goals.len()).map(weights).collect(),
        offsets: (0..goals.len()).map(offset).collect(),
    }
}

/// Even points of the simplex Σ q_i = 1, q ≥ 0 in `c` dimensions: all whose coordinates are multiples of the same fraction.
fn references(c: usize) -> Vec<Vec<f64>> {
    fn compositions(parts: usize, whole: usize) -> Vec<Vec<usize>> {
        match parts {
            1 => vec![vec![whole]],
            _ => (0..=whole)
                .flat_map(|first| {
                    let rest = compositions(parts - 1, whole - first);
                    rest.into_iter()
                        .map(move |rest| [&[first], &rest[..]].concat())
                })
                .collect(),
        }
    }
    // (whole + c − 1 over c − 1) points.
    let count = |whole: usize| {
        (1..c)
            .map(|k| (whole + k) as f64 / k as f64)
            .product::<f64>()
    };
    let whole = (1..)
        .find(|whole| count(*whole) >= POINTS as f64)
        .unwrap_or(1);
    let point = |parts: Vec<usize>| {
        parts
            .iter()
            .map(|part| *part as f64 / whole as f64)
            .collect()
    };
    compositions(c, whole).into_iter().map(point).collect()
}

/// The candidates that no other one is at least as good as in everything; of equal ones the first.
fn undominated(candidates: Vec<Candidate>) -> Vec<Candidate> {
    let beats = |a: &Candidate, b: &Candidate| {
        let pairs = || a.goals.iter().zip(&b.goals);
        pairs().all(|(a, b)| a <= b) && pairs().any(|(a, b)| a < b)
    };
    let keep: Vec<bool> = (0..candidates.len())
        .map(|i| {
            let worse = |j: usize| {
                beats(&candidates[j], &candidates[i])
                    || (j < i && candidates[j].goals == candidates[i].goals)
            };
            !(0..candidates.len()).any(worse)
        })
        .collect();
    let kept = candidates.into_iter().zip(keep);
    kept.filter_map(|(candidate, keep)| keep.then_some(candidate))
        .collect()
}

/// The candidates without those whose outputs are the same to a thousandth of the front.
fn distinct(candidates: Vec<Candidate>, widths: &[f64]) -> Vec<Candidate> {
    let mut kept: Vec<Candidate> = Vec::new();
    for candidate in candidates {
        let same = |other: &Candidate| {
            let pairs = candidate.goals.iter().zip(&other.goals).zip(widths);
            pairs.fold(true, |same, ((a, b), width)| {
                same && (a - b).abs() <= 1e-3 * width
            })
        };
        if !kept.iter().any(same) {
            kept.push(candidate);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reference_points_are_even_and_enough() {
        for (c, count) in [(2, 60), (3, 66), (4, 84)] {
            let points = references(c);
            assert_eq!(points.len(), count);
            for point in points {
                assert!((point.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            }
        }
    }
}
