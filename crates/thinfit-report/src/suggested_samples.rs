//! The next samples: the proposal of `thinfit-study`, rounded to practical values.

use crate::control::Control;
use crate::uncertainty::LEVEL;
use serde::Serialize;
use thinfit::pieces::upper_median;
use thinfit::{Mat, six_digits};
use thinfit_methods::Predictor;
use thinfit_study::{Aim, Places, choose};

/// How many samples are proposed.
const PROPOSED: usize = 6;
/// Widths that differ by less than this factor from their median are the same.
const SAME: f64 = 1.1;

/// Proposed samples.
#[derive(Serialize)]
pub(crate) struct SuggestedSamples {
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
pub(crate) fn suggested_samples(
    model: &Predictor,
    controls: &[Control],
) -> Option<SuggestedSamples> {
    let (d, c) = (model.inputs().len(), model.outputs().len());
    if let Predictor::Kernel(model) = model {
        model.body.signal.as_deref()?;
    }
    let Places {
        candidates,
        reference,
    } = Places::new(model, controls.len(), PROPOSED, 0);
    let [x, reference] = [candidates, reference].map(|places| settled(&places, controls, d));
    let candidates = x.nrows();
    let interval = model.interval_inside(x.as_ref(), LEVEL).ok()?;
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
            let widths = half.col_as_slice(o).to_vec();
            upper_median(widths).map_or(f64::MIN_POSITIVE, |width| width.max(f64::MIN_POSITIVE))
        })
        .collect();
    let width = |i: usize| (0..c).map(|o| half[(i, o)] / medians[o]).sum::<f64>() / c as f64;
    let widest = (0..candidates).map(width).fold(0.0, f64::max);
    if widest < SAME {
        return Some(SuggestedSamples {
            words: "The interval is about as wide everywhere: noise sets it, not a lack of rows in some place. No place \
                    needs rows more than another."
                .into(),
            rows: vec![],
            widths: vec![],
            level,
        });
    }
    let none = Mat::zeros(0, d);
    let chosen = choose(
        model,
        Aim::Uncertainty,
        PROPOSED,
        x.as_ref(),
        reference.as_ref(),
        none.as_ref(),
    );
    let mut chosen = chosen.ok()?;
    chosen.sort_by(|&a, &b| width(b).total_cmp(&width(a)));
    Some(SuggestedSamples {
        words: format!(
            "Of {candidates} places over the ranges, rows at these together would make the model surest everywhere. Its \
             uncertainty is up to {widest:.1} times the median."
        ),
        rows: chosen
            .iter()
            .map(|&i| x.row(i).iter().copied().collect())
            .collect(),
        // More digits than the page shows would only make it larger.
        widths: (chosen.iter())
            .map(|&i| (0..c).map(|o| six_digits(half[(i, o)])).collect())
            .collect(),
        level,
    })
}

/// The rows of inputs (n × d) at places of the controls, at values that a person would set.
fn settled(places: &[Vec<f64>], controls: &[Control], d: usize) -> Mat<f64> {
    let mut x = Mat::zeros(places.len(), d);
    for (i, place) in places.iter().enumerate() {
        let mut row = vec![0.0; d];
        for (control, &place) in controls.iter().zip(place) {
            control.factor.set(place, &mut row);
            control.round(&mut row);
        }
        (0..d).for_each(|j| x[(i, j)] = row[j]);
    }
    x
}
