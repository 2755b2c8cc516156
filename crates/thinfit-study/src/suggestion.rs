//! Adaptive sampling: the rows that help most.
//!
//! Rows are chosen one by one among candidates, each as if the ones before had been sampled already: the covariance
//! does not depend on measured values, so one more row at p turns the covariance of f at a and b into
//!
//! ```text
//! cov(a, b) − cov(a, p) cov(p, b) / (cov(p, p) + noise)
//! ```
//!
//! To learn f everywhere, the next row is the one that lowers the variance most, summed over a reference set. Maximum
//! variance would choose corners, which say little about the rest. A model assumes the same smoothness everywhere and
//! has larger errors where f is rougher, so reference rows are weighted by the leave-one-out errors of nearby
//! samples.
//!
//! To find the minimum, the next row has the largest expected improvement on the lowest mean among the samples; the
//! minimum of the mean is itself a candidate. Rows chosen before are assumed to take the values that the model
//! predicts, which leaves its mean unchanged. That alone would choose adjacent rows, since a model that is sure of a
//! minimum is as sure of it next to a row: so rows keep a distance, and nearby candidates count for less (a local
//! penalty).

use crate::improvement::improvement;
use crate::minimum::minima;
use crate::survey::{Survey, table};
use crate::{Goal, Region};
use faer::RowRef;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use std::collections::HashSet;
use thinfit::{Error, Mat, MatRef, Result};
use thinfit_design::{Scheme, Space, plan};
use thinfit_methods::{Covariance, InputColumn, Predictor};

/// Number of candidates, and of reference rows.
const CANDIDATES: usize = 1024;
/// The smallest of both.
const LEAST: usize = 64;
/// Maximum number of candidates times points squared that a sum of kernels is asked for.
const WORK: usize = 1 << 34;
/// Candidates exceed the range by this and are moved back to its end, where optima and large uncertainties often are.
const BEYOND: f64 = 0.03;
/// Number of inputs for which the Sobol sequence is available.
const SOBOL: usize = 256;
/// Numbers of the largest covariance (1 GiB).
const MOST_NUMBERS: usize = 1 << 27;
/// How much of the weight of a reference row comes from the errors nearby.
const LOCAL: f64 = 0.5;
/// Candidates around the best mean are as far from it as ten to powers down to this.
const NEAREST: f64 = -4.0;

/// Rows of a batch that search an extremum are at least so far apart in each coordinate, in the root mean square and in parts of the range.
const LEAST_APART: f64 = 0.05;

/// The purpose of new samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aim {
    /// Learn f better everywhere.
    Uncertainty,
    /// Find the minimum of this output.
    Minimum(usize),
    /// Find the maximum of this output.
    Maximum(usize),
}

impl Aim {
    /// The output whose extremum is searched.
    fn sought(self) -> Option<Goal> {
        match self {
            Aim::Uncertainty => None,
            Aim::Minimum(output) => Some(Goal::least(output)),
            Aim::Maximum(output) => Some(Goal::largest(output)),
        }
    }
}

/// `rows` new rows of inputs (rows × d) in the region, the most useful first, at practical values. `taken` are rows (any
/// number × d) that will be sampled or have been since the fit. The same seed gives the same rows. To find an extremum, columns with no
/// detectable effect stay at typical values.
///
/// # Errors
/// A model without uncertainty, an output that does not exist, constraints that cannot hold, or numbers that leave the finite range.
pub fn suggest(
    region: &Region<'_>,
    goal: Aim,
    rows: usize,
    taken: MatRef<'_, f64>,
    seed: u64,
) -> std::result::Result<Mat<f64>, crate::Error> {
    region.check()?;
    let (model, ranges) = (region.model, region.ranges());
    let d = model.inputs().len();
    let Places {
        candidates: mut found,
        reference,
    } = Places::new(model, ranges.factors().len(), rows, seed);
    let count = found.len();
    if let Some(sought) = goal.sought() {
        sought.check(model)?;
        let best = lowest(region, sought, seed)?;
        let first = best.first().cloned();
        found.truncate(count / 2);
        found.extend(best);
        if let Some(first) = first {
            found.extend(around(&first, count.saturating_sub(found.len()), seed));
        }
    }
    let [mut candidates, reference] =
        [found, reference].map(|places| settled(region, goal, &places, d));
    if candidates.nrows() == 0 {
        return Err(region.infeasible());
    }
    // A candidate that was proposed before is recognised by its few digits.
    let rounded = candidates.row_iter().map(|row| {
        let row: Vec<f64> = row.iter().copied().collect();
        region.rounded(&row)
    });
    let rounded: Vec<Vec<f64>> = rounded.collect();
    // Candidates that agree to so few digits are the same row.
    let mut seen = HashSet::new();
    let first = |i: &usize| {
        let bits: Vec<u64> = rounded[*i].iter().map(|v| v.to_bits()).collect();
        seen.insert(bits)
    };
    let distinct: Vec<usize> = (0..rounded.len()).filter(first).collect();
    candidates = Mat::from_fn(distinct.len(), d, |i, j| candidates[(distinct[i], j)]);
    let rounded: Vec<&Vec<f64>> = distinct.iter().map(|i| &rounded[*i]).collect();
    let rounded = table(rounded.into_iter().map(Vec::as_slice));
    let same = |row: RowRef<'_, f64>| (0..rounded.nrows()).find(|&p| rounded.row(p) == row);
    let known: Vec<Option<usize>> = taken.row_iter().map(same).collect();
    let taken = Mat::from_fn(taken.nrows(), d, |i, j| match known[i] {
        Some(p) => candidates[(p, j)],
        None => taken[(i, j)],
    });
    let chosen = choose(
        model,
        goal,
        rows,
        candidates.as_ref(),
        reference.as_ref(),
        taken.as_ref(),
    )?;
    Ok(Mat::from_fn(chosen.len(), d, |i, j| {
        rounded[(chosen[i], j)]
    }))
}

/// The rows (n × d) of the region at places of its factors, as far as there are some near.
fn settled(region: &Region<'_>, goal: Aim, places: &[Vec<f64>], d: usize) -> Mat<f64> {
    let moves =
        |j: &usize| region.is_open(*j) && (goal == Aim::Uncertainty || !region.is_undetected(*j));
    let open: Vec<usize> = (0..region.factors().len()).filter(moves).collect();
    let row = |places: &Vec<f64>| {
        let mut row = region.row();
        for j in &open {
            region.factors()[*j].set(places[*j], &mut row);
        }
        region.settled(row)
    };
    let rows: Vec<Vec<f64>> = places.par_iter().filter_map(row).collect();
    Mat::from_fn(rows.len(), d, |i, j| rows[i][j])
}

/// The `rows` candidates (n × d) that are most useful, the most useful first; `reference` (any number × d) are the rows at which the model should
/// know f, and `taken` those that count as sampled. Each is chosen once; of equal ones there
/// may be fewer than asked for.
///
/// # Errors
/// As [`suggest`].
pub fn choose(
    model: &Predictor,
    goal: Aim,
    rows: usize,
    candidates: MatRef<'_, f64>,
    reference: MatRef<'_, f64>,
    taken: MatRef<'_, f64>,
) -> Result<Vec<usize>> {
    let (n, r) = (candidates.nrows(), reference.nrows());
    let numbers = (n + r + taken.nrows()).saturating_mul(n + taken.nrows());
    if numbers > MOST_NUMBERS {
        return Err(Error::Data {
            what: "rows",
            problem: format!(
                "{} candidate rows and {} existing ones are too many",
                n,
                taken.nrows()
            ),
            advice: "ask for fewer rows, or fit the model to the existing ones",
        });
    }
    let columns = stacked(&[candidates, taken]);
    let all = stacked(&[reference, columns.as_ref()]);
    let mut posterior = model.covariance(all.as_ref(), columns.as_ref())?;
    // Noise far above the variance would select the same row repeatedly, which is useless in a plan.
    let variances = (0..n).map(|p| posterior.between[(r + p, p)].max(0.0));
    let mean = variances.sum::<f64>() / n.max(1) as f64;
    posterior.noise = posterior.noise.min(mean);
    (n..columns.nrows()).for_each(|p| condition(&mut posterior, r, p));
    let means = signed(model, goal, columns.as_ref())?;
    let known = match model.samples() {
        Some(samples) => signed(model, goal, samples.as_ref())?,
        None => means.clone(),
    };
    // Existing rows count with the values that the model predicts.
    let known = known.into_iter().chain(means.iter().skip(n).copied());
    let mut best = known.fold(f64::INFINITY, f64::min);
    let weights: Vec<f64> = match goal {
        Aim::Uncertainty => {
            let doubt = model.local_error_ratio(reference)?.into_iter();
            doubt.map(|doubt| 1.0 - LOCAL + LOCAL * doubt).collect()
        }
        Aim::Minimum(_) | Aim::Maximum(_) => vec![],
    };
    let is_taken = |p: &usize| taken.row_iter().any(|row| row == candidates.row(*p));
    let mut free: Vec<usize> = (0..n).filter(|p| !is_taken(p)).collect();
    let spread = Spread::of(model, candidates);
    let mut nearest = vec![f64::INFINITY; n];
    let mut chosen: Vec<usize> = Vec::new();
    while chosen.len() < rows && !free.is_empty() {
        let gain = |&p: &usize| -> (f64, f64) {
            let column = posterior.between.col_as_slice(p);
            let variance = column[r + p].max(0.0);
            let gain = match goal {
                Aim::Uncertainty => {
                    let terms = column[..r].iter().zip(&weights);
                    let sum: f64 = terms.map(|(cov, weight)| weight * cov * cov).sum();
                    sum / (variance + posterior.noise).max(f64::MIN_POSITIVE)
                }
                Aim::Minimum(o) | Aim::Maximum(o) => {
                    let gain = improvement(best, means[p], posterior.scale[o] * variance.sqrt());
                    gain * spread.penalty(nearest[p])
                }
            };
            (gain, variance)
        };
        let gains: Vec<(f64, f64)> = free.iter().map(gain).collect();
        let apart = |p: usize| goal == Aim::Uncertainty || nearest[p] >= spread.least;
        let larger = |&a: &usize, &b: &usize| {
            let far = apart(free[a]).cmp(&apart(free[b]));
            // If all are near, the farthest.
            let far = far.then_with(|| match apart(free[a]) {
                true => std::cmp::Ordering::Equal,
                false => nearest[free[a]].total_cmp(&nearest[free[b]]),
            });
            let (a, b) = (gains[a], gains[b]);
            far.then(a.0.total_cmp(&b.0)).then(a.1.total_cmp(&b.1))
        };
        let at = (0..free.len()).max_by(larger).unwrap_or(0);
        let p = free.remove(at);
        // Levels and whole numbers make equal rows.
        free.retain(|&q| candidates.row(q) != candidates.row(p));
        condition(&mut posterior, r, p);
        for q in &free {
            nearest[*q] = nearest[*q].min(spread.apart(p, *q));
        }
        if let Some(mean) = means.get(p) {
            best = best.min(*mean);
        }
        chosen.push(p);
    }
    Ok(chosen)
}

/// How far candidates are apart, in parts of the ranges of the samples; columns with no detectable effect do not count.
struct Spread {
    /// Coordinates (n × those that count).
    at: Mat<f64>,
    /// Rows of a batch are no nearer than this, while others are left.
    least: f64,
}

impl Spread {
    fn of(model: &Predictor, x: MatRef<'_, f64>) -> Self {
        let (factors, undetected) = (InputColumn::all(model), model.undetected());
        let counts = |j: &usize| InputColumn::of_input(&factors, *j).is_none_or(|k| !undetected[k]);
        let inputs: Vec<usize> = (0..x.ncols()).filter(counts).collect();
        let scaler = model.input_scaler();
        let at = Mat::from_fn(x.nrows(), inputs.len(), |i, k| {
            let j = inputs[k];
            let [low, high] = model.domain()[j].map(|v| scaler.warped(j, v));
            match high > low {
                true => (scaler.warped(j, x[(i, j)]) - low) / (high - low),
                false => 0.0,
            }
        });
        // Coordinates that are the same everywhere put nothing apart.
        let varies = |k: &usize| at.col(*k).iter().any(|v| *v != at[(0, *k)]);
        let count = (0..at.ncols()).filter(varies).count();
        Spread {
            least: LEAST_APART * (count as f64).sqrt(),
            at,
        }
    }

    fn apart(&self, p: usize, q: usize) -> f64 {
        let each = (0..self.at.ncols()).map(|k| (self.at[(p, k)] - self.at[(q, k)]).powi(2));
        each.sum::<f64>().sqrt()
    }

    /// The remaining fraction of the gain of a row at this distance from the nearest of the batch.
    fn penalty(&self, apart: f64) -> f64 {
        -(-0.5 * (apart / (2.0 * self.least).max(f64::MIN_POSITIVE)).powi(2)).exp_m1()
    }
}

/// The covariances once the row of column `p`, which is row `r` + p, is sampled.
fn condition(posterior: &mut Covariance, r: usize, p: usize) {
    let column = posterior.between.col_as_slice(p).to_vec();
    let total = column[r + p] + posterior.noise;
    if total.is_nan() || total <= 0.0 {
        return;
    }
    for q in 0..posterior.between.ncols() {
        let share = column[r + q] / total;
        let target = posterior.between.col_as_slice_mut(q);
        for (v, c) in target.iter_mut().zip(&column) {
            *v -= share * c;
        }
    }
}

/// The means of the output that is searched, with the sign that makes the best the least.
fn signed(model: &Predictor, goal: Aim, x: MatRef<'_, f64>) -> Result<Vec<f64>> {
    let Some(goal) = goal.sought() else {
        return Ok(vec![]);
    };
    let f = model.predict(x)?;
    let values = f.col(goal.output).iter();
    Ok(values.map(|v| goal.sign() * v).collect())
}

/// The places of the local minima of the mean, the best first.
fn lowest(
    region: &Region<'_>,
    goal: Goal,
    seed: u64,
) -> std::result::Result<Vec<Vec<f64>>, crate::Error> {
    let minima = Survey::take(region, seed).and_then(|survey| minima(&survey, goal));
    let minima = match minima {
        Ok(minima) => minima,
        // A model without finite values has no covariances either, which is an error.
        Err(crate::Error::Model(_)) => vec![],
        Err(error) => return Err(error),
    };
    let places = minima
        .iter()
        .map(|(place, _)| region.ranges().places(&place.row));
    Ok(places.collect())
}

/// Places from 0 to 1 of every factor.
pub struct Places {
    /// Of the candidates, some of them at the ends.
    pub candidates: Vec<Vec<f64>>,
    /// The same for the reference rows.
    pub reference: Vec<Vec<f64>>,
}

impl Places {
    /// As many as the model can be asked for in seconds, but at least `rows`, for so many factors.
    pub fn new(model: &Predictor, factors: usize, rows: usize, seed: u64) -> Self {
        let count = match model {
            Predictor::Network(_) => CANDIDATES,
            Predictor::Kernel(model) => {
                let each = model.body.points.nrows().pow(2).max(1);
                CANDIDATES.min(WORK / each).max(LEAST)
            }
        };
        let mut reference = spread(2 * count.max(rows), factors, seed);
        let mut candidates = reference.split_off(count.max(rows));
        for place in candidates.iter_mut().flatten() {
            *place = ((1.0 + 2.0 * BEYOND) * *place - BEYOND).clamp(0.0, 1.0);
        }
        Places {
            candidates,
            reference,
        }
    }
}

/// Rows that fill the unit cube (count × d).
fn spread(count: usize, d: usize, seed: u64) -> Vec<Vec<f64>> {
    let space = Space::cube(d).expect("a model has inputs");
    let scheme = match d {
        ..=SOBOL => Scheme::Sobol,
        _ => Scheme::Halton,
    };
    plan(&space, scheme, count, &[], seed).expect("there are few rows, and few inputs for Sobol")
}

/// Rows around `place`, at distances of all sizes.
fn around(place: &[f64], count: usize, seed: u64) -> Vec<Vec<f64>> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    (0..count)
        .map(|_| {
            let size = 10f64.powf(NEAREST * random.random::<f64>());
            let moved = place
                .iter()
                .map(|v| v + size * (2.0 * random.random::<f64>() - 1.0));
            moved.map(|v| v.clamp(0.0, 1.0)).collect()
        })
        .collect()
}

/// The rows of tables with the same columns, one below the other.
fn stacked(tables: &[MatRef<'_, f64>]) -> Mat<f64> {
    let rows = tables.iter().map(|table| table.nrows()).sum();
    let mut all = Mat::zeros(rows, tables.first().map_or(0, |table| table.ncols()));
    let mut at = 0;
    for table in tables {
        all.as_mut().subrows_mut(at, table.nrows()).copy_from(table);
        at += table.nrows();
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Ranges;
    use thinfit::{Control, Dataset};
    use thinfit_methods::Method;

    const METHODS: [&str; 3] = ["gaussian-process", "kernel-ridge-validated", "random"];

    /// A model of two inputs on the unit square whose samples leave out the corner above 1/2.
    fn model(method: &str) -> Predictor {
        let all = spread(160, 2, 3);
        let kept: Vec<&Vec<f64>> = all
            .iter()
            .filter(|row| row[0] < 0.5 || row[1] < 0.5)
            .collect();
        let x = Mat::from_fn(kept.len(), 2, |i, j| kept[i][j]);
        let noise = |i: usize| 0.05 * (1000.0 * i as f64).sin();
        let y = Mat::from_fn(kept.len(), 2, |i, o| {
            (4.0 * x[(i, 0)]).sin() + (x[(i, 1)] - 0.3).powi(2) * (1.0 + o as f64) + noise(i)
        });
        let method = Method::named(method).unwrap();
        let data = Dataset::new(x, y).unwrap();
        method.fit(&data, 1, &|_| Control::Continue).unwrap()
    }

    fn filled(count: usize, seed: u64) -> Mat<f64> {
        let rows = spread(count, 2, seed);
        Mat::from_fn(count, 2, |i, j| rows[i][j])
    }

    fn none() -> Mat<f64> {
        Mat::zeros(0, 2)
    }

    #[test]
    fn rows_go_where_there_are_no_samples_and_keep_apart() {
        for name in METHODS {
            let model = model(name);
            let ranges = Ranges::of(&model);
            let rows = |taken: MatRef<'_, f64>, seed| {
                suggest(
                    &Region::within(&model, ranges.clone()),
                    Aim::Uncertainty,
                    6,
                    taken,
                    seed,
                )
                .unwrap()
            };
            let found = rows(none().as_ref(), 5);
            let inside = (0..6).filter(|&i| found[(i, 0)] > 0.45 && found[(i, 1)] > 0.45);
            assert!(inside.count() >= 4, "{name}: {found:?}");
            let apart = |i: usize, k: usize| -> f64 {
                (0..2)
                    .map(|j| (found[(i, j)] - found[(k, j)]).powi(2))
                    .sum()
            };
            assert!((1..6).all(|i| (0..i).all(|k| apart(i, k) > 0.0)), "{name}");
            assert!((1..6).any(|i| apart(i, 0) > 0.04), "{name}: {found:?}");
            assert_eq!(found, rows(none().as_ref(), 5));
            // Planned rows are not proposed again.
            let more = rows(found.as_ref(), 5);
            let first = |rows: &Mat<f64>| [rows[(0, 0)], rows[(0, 1)]];
            assert_ne!(first(&found), first(&more), "{name}");
        }
    }

    #[test]
    fn the_corner_where_the_mean_is_least_is_suggested() {
        // No candidate of a plan lies in a corner of six inputs.
        let rows = spread(80, 6, 3);
        let x = Mat::from_fn(80, 6, |i, j| rows[i][j]);
        let y = Mat::from_fn(80, 1, |i, _| rows[i].iter().map(|v| v + v * v).sum());
        let method = Method::named("gaussian-process").unwrap();
        let data = Dataset::new(x, y).unwrap();
        let model = method.fit(&data, 0, &|_| Control::Continue).unwrap();
        let ranges = Ranges::within(&model, &Space::cube(6).unwrap()).unwrap();
        for (goal, corner) in [(Aim::Minimum(0), 0.0), (Aim::Maximum(0), 1.0)] {
            let taken = Mat::zeros(0, 6);
            let found = suggest(
                &Region::within(&model, ranges.clone()),
                goal,
                3,
                taken.as_ref(),
                5,
            )
            .unwrap();
            let reached = |i: usize| (0..6).all(|j| found[(i, j)] == corner);
            assert!((0..3).any(reached), "{found:?}");
        }
        let none = Mat::zeros(0, 6);
        assert!(
            suggest(
                &Region::within(&model, ranges.clone()),
                Aim::Minimum(1),
                3,
                none.as_ref(),
                5
            )
            .is_err()
        );
    }

    #[test]
    fn of_equal_candidates_one_is_chosen() {
        let model = model("gaussian-process");
        let candidates = Mat::from_fn(9, 2, |i, _| [0.2, 0.9, 0.6][i % 3]);
        let none = none();
        let reference = filled(20, 3);
        let found = choose(
            &model,
            Aim::Uncertainty,
            6,
            candidates.as_ref(),
            reference.as_ref(),
            none.as_ref(),
        );
        let mut places: Vec<usize> = found.unwrap().iter().map(|p| p % 3).collect();
        places.sort_unstable();
        assert_eq!(places, [0, 1, 2]);
    }

    #[test]
    fn the_covariance_after_a_row_is_that_of_a_model_with_the_row() {
        // At one kernel and ridge: the process with one more point, and the rank-one update.
        let model = model("gaussian-process");
        let x = Mat::from_fn(5, 2, |i, j| [0.3, 0.9, 0.7, 0.2, 0.8][(i + 2 * j) % 5]);
        let mut known = model.covariance(x.as_ref(), x.as_ref()).unwrap();
        let before = known.between.clone();
        condition(&mut known, 0, 2);
        let total = before[(2, 2)] + known.noise;
        for (i, j) in (0..25).map(|k| (k / 5, k % 5)) {
            let expected = before[(i, j)] - before[(i, 2)] * before[(2, j)] / total;
            assert!((known.between[(i, j)] - expected).abs() < 1e-12);
        }
        // After many repeats only noise remains.
        (0..50).for_each(|_| condition(&mut known, 0, 2));
        assert!(known.between[(2, 2)].abs() <= known.noise / 20.0 + 1e-12);
    }

    #[test]
    fn deviations_are_the_diagonal() {
        for name in ["gaussian-process", "random"] {
            let model = model(name);
            let x = filled(40, 9);
            let known = model.covariance(x.as_ref(), x.as_ref()).unwrap();
            let deviation = model.deviation(x.as_ref()).unwrap().model;
            let own = |i: usize| known.between[(i, i)].max(0.0).sqrt();
            let largest = (0..40).map(own).fold(0.0, f64::max);
            // Up to the calibration, a factor for each output.
            for o in 0..2 {
                let factor = deviation.col(o).iter().copied().fold(0.0, f64::max) / largest;
                let close = |i: usize| (factor * own(i) - deviation[(i, o)]).abs();
                assert!(
                    (0..40).all(|i| close(i) < 1e-3 * factor * largest),
                    "{name}"
                );
            }
        }
    }

    #[test]
    fn the_search_for_an_extreme_goes_to_it() {
        for name in METHODS {
            let model = model(name);
            let ranges = Ranges::of(&model);
            for (goal, expected) in [(Aim::Minimum(1), true), (Aim::Maximum(0), false)] {
                let found = suggest(
                    &Region::within(&model, ranges.clone()),
                    goal,
                    4,
                    none().as_ref(),
                    2,
                )
                .unwrap();
                let f = model.predict(found.as_ref()).unwrap();
                let all = filled(500, 7);
                let known = model.predict(all.as_ref()).unwrap();
                let o = usize::from(expected);
                let sign = if expected { 1.0 } else { -1.0 };
                let values: Vec<f64> = known.col(o).iter().map(|v| sign * v).collect();
                let least = values.iter().copied().fold(f64::INFINITY, f64::min);
                let found = (0..4)
                    .map(|i| sign * f[(i, o)])
                    .fold(f64::INFINITY, f64::min);
                let range = values.iter().copied().fold(f64::NEG_INFINITY, f64::max) - least;
                assert!(
                    found < least + 0.05 * range,
                    "{name} {goal:?}: {found} {least}"
                );
            }
        }
    }

    #[test]
    fn a_model_without_uncertainty_is_refused() {
        let model = model("rff");
        let rows = suggest(
            &Region::new(&model),
            Aim::Uncertainty,
            2,
            none().as_ref(),
            0,
        );
        assert!(rows.unwrap_err().to_string().contains("`rff`"));
    }
}
