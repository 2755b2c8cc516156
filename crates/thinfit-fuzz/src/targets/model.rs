//! Model files: all results of an accepted model are finite and consistently ordered.

use super::check_message;
use crate::target::Outcome;
use std::path::Path;
use thinfit::Mat;
use thinfit::file::fnv1a;
use thinfit_methods::Predictor;

/// Reads a model and asks it everything.
pub fn survive(input: &[u8]) -> Outcome {
    let text = String::from_utf8_lossy(input);
    let model = match Predictor::from_json(&text, Path::new("a.json")) {
        Ok(model) => model,
        Err(error) => {
            check_message(&error.to_string());
            return Outcome::refused(error);
        }
    };
    check(&model);
    // Integrals take a hundred times as long as all else.
    if fnv1a(input.iter().copied()) % 128 == 0 {
        check_integrals(&model);
    }
    let again = Predictor::from_json(&model.to_json(), Path::new("a.json"));
    assert!(again.is_ok(), "written but not read: {:?}", again.err());
    Outcome::accepted(model.kind())
}

/// Points in the ranges of the inputs, and one beyond.
pub fn points(model: &Predictor) -> Mat<f64> {
    let place = |row: usize, [low, high]: [f64; 2]| match row {
        0 => low,
        1 => 0.5 * low + 0.5 * high,
        _ => high + (0.25 * high - 0.25 * low),
    };
    let domain = model.domain();
    Mat::from_fn(3, domain.len(), |i, j| place(i, domain[j]))
}

/// All results of a model are finite, except for intervals with too few rows and for points far outside.
pub fn check(model: &Predictor) {
    let x = points(model);
    let mut answers = vec![model.predict(x.as_ref())];
    let last = model.outputs().len() - 1;
    answers.push(model.gradient(x.as_ref(), last));
    if let Ok(deviation) = model.deviation(x.as_ref()) {
        for sizes in [&deviation.model, &deviation.observation] {
            // Nothing is known at the point beyond.
            let sound = |(i, size): (usize, &f64)| *size >= 0.0 && (i == 2 || size.is_finite());
            assert!(
                (sizes.col_iter()).all(|column| column.iter().enumerate().all(sound)),
                "{sizes:?}"
            );
        }
    }
    for answer in answers {
        match answer {
            Ok(f) => assert!(f.is_all_finite(), "an answer that is not finite"),
            Err(error) => check_message(&error.to_string()),
        }
    }
    for level in [0.3, 0.9] {
        let Ok(interval) = model.interval(x.as_ref(), level) else {
            continue;
        };
        for o in 0..=last {
            let pairs = || (0..3).map(|i| (interval.low[(i, o)], interval.high[(i, o)]));
            let finite = |low: f64, high: f64| low <= high && low.is_finite() && high.is_finite();
            let infinite = |low: f64, high: f64| low == -high && high == f64::INFINITY;
            assert!(
                pairs().all(|(low, high)| finite(low, high) || infinite(low, high)),
                "an interval that is none"
            );
        }
    }
    let report = [Some(model.report()), model.diagnosis()];
    for text in report.into_iter().flatten() {
        assert!(!text.replace('\n', "").contains(thinfit_text::is_hidden));
    }
}

/// Indices and effects are finite, where there are any.
fn check_integrals(model: &Predictor) {
    let last = model.outputs().len() - 1;
    if let Ok(indices) = model.sensitivity(last) {
        let lists = [&indices.first, &indices.total, &indices.derivative].into_iter();
        let numbers = lists.flatten().chain([&indices.mean, &indices.variance]);
        let finite = numbers.into_iter().all(|number| number.is_finite());
        assert!(finite && indices.second.is_all_finite(), "{indices:?}");
    }
    if let Ok(effect) = model.effect(last, 0, &model.domain()[0]) {
        assert!(effect.iter().all(|value| value.is_finite()), "{effect:?}");
    }
}
