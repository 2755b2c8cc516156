//! Where the next samples would help most: the widest intervals of a space-filling set of candidates, far from each other.

use crate::control::Control;
use crate::uncertainty::LEVEL;
use serde::Serialize;
use thinfit::Mat;
use thinfit_methods::Predictor;

/// Candidates, and how many of them are proposed.
const CANDIDATES: usize = 2048;
const PROPOSED: usize = 6;
/// Most candidates times points squared that a sum of kernels is asked for.
const WORK: usize = 1 << 34;
/// Widths that differ by less than this factor from their median are the same.
const SAME: f64 = 1.1;

/// Proposed samples.
#[derive(Serialize)]
pub(crate) struct Next {
    /// A sentence.
    words: String,
    /// Inputs of the model at each sample.
    rows: Vec<Vec<f64>>,
    /// Half the width of the interval at each sample, per output; the standard deviation where there is no level.
    widths: Vec<Vec<f64>>,
    /// The probability of the interval; none where it has too few rows.
    level: Option<f64>,
}

/// The proposals for a model with these controls; none for one without deviations.
pub(crate) fn next(model: &Predictor, controls: &[Control]) -> Option<Next> {
    let (d, c) = (model.inputs().len(), model.outputs().len());
    let candidates = match model {
        Predictor::Network(_) => CANDIDATES,
        Predictor::Kernel(model) => {
            model.signal()?;
            let each = model.points().nrows().pow(2).max(1);
            CANDIDATES.min(WORK / each).max(PROPOSED)
        }
    };
    let places = places(candidates, controls.len());
    let mut x = Mat::zeros(candidates, d);
    for (i, place) in places.iter().enumerate() {
        let mut row = vec![0.0; d];
        for (control, &place) in controls.iter().zip(place) {
            control.factor.set(place, &mut row);
            control.round(&mut row);
        }
        (0..d).for_each(|j| x[(i, j)] = row[j]);
    }
    let interval = model.interval(x.as_ref(), LEVEL).ok()?;
    let level = interval.is_finite().then_some(LEVEL);
    let half = match level {
        Some(_) => {
            let half = |i, o| 0.5 * (interval.high[(i, o)] - interval.low[(i, o)]);
            Mat::from_fn(candidates, c, half)
        }
        None => model.deviation(x.as_ref()).ok()?.observation,
    };
    let medians: Vec<f64> = (0..c)
        .map(|o| {
            let mut widths = half.col_as_slice(o).to_vec();
            widths.sort_by(f64::total_cmp);
            widths[candidates / 2].max(f64::MIN_POSITIVE)
        })
        .collect();
    let width = |i: usize| (0..c).map(|o| half[(i, o)] / medians[o]).sum::<f64>() / c as f64;
    let mut order: Vec<usize> = (0..candidates).collect();
    order.sort_by(|&a, &b| width(b).total_cmp(&width(a)));
    let widest = width(order[0]);
    if widest < SAME {
        return Some(Next {
            words: "The interval is about as wide everywhere: noise sets it, not a lack of rows in some place. No place \
                    needs rows more than another."
                .into(),
            rows: vec![],
            widths: vec![],
            level,
        });
    }
    order.retain(|&i| width(i) >= SAME);
    let chosen = spread_out(&order, &places);
    Some(Next {
        words: format!(
            "Of {candidates} places spread evenly over the ranges, the model is least sure at these: its uncertainty is up \
             to {widest:.1} times their median."
        ),
        rows: chosen
            .iter()
            .map(|&i| x.row(i).iter().copied().collect())
            .collect(),
        widths: (chosen.iter())
            .map(|&i| (0..c).map(|o| half[(i, o)]).collect())
            .collect(),
        level,
    })
}

/// The first of `order` that lie apart by half the mean distance in the cube.
fn spread_out(order: &[usize], places: &[Vec<f64>]) -> Vec<usize> {
    let d = places.first().map_or(0, Vec::len) as f64;
    let apart = 0.25 * d / 6.0;
    let mut chosen: Vec<usize> = Vec::new();
    for &i in order {
        let square = |&k: &usize| -> f64 {
            let pairs = places[i].iter().zip(&places[k]);
            pairs.map(|(a, b)| (a - b).powi(2)).sum()
        };
        if chosen.len() < PROPOSED && chosen.iter().map(square).all(|square| square >= apart) {
            chosen.push(i);
        }
    }
    chosen
}

/// Points that fill the unit cube: multiples of the powers of 1/φ modulo one, where φ^(d+1) = φ + 1.
fn places(count: usize, d: usize) -> Vec<Vec<f64>> {
    let mut phi: f64 = 2.0;
    for _ in 0..60 {
        phi = (1.0 + phi).powf(1.0 / (d as f64 + 1.0));
    }
    let place = |i: usize, j: usize| (0.5 + i as f64 * phi.powi(-(j as i32 + 1))).fract();
    (1..=count)
        .map(|i| (0..d).map(|j| place(i, j)).collect())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_fill_the_cube() {
        for d in [1, 2, 5, 41] {
            let places = places(CANDIDATES, d);
            for j in 0..d {
                for tenth in 0..10 {
                    let inside = |p: &&Vec<f64>| (10.0 * p[j]) as usize == tenth;
                    let count = places.iter().filter(inside).count();
                    assert!((150..260).contains(&count), "{d} {j} {tenth}: {count}");
                }
            }
            let order: Vec<usize> = (0..CANDIDATES).collect();
            assert!(spread_out(&order, &places).len() >= 2);
        }
    }
}
