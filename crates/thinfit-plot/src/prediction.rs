//! Predicted against measured values of one output, and how well they agree.

use crate::canvas::Canvas;
use crate::number::{count, scientific, short};
use crate::panel::{BELOW, EDGE, Head, Panel, TickLabels, left_room};
use crate::scale::Scale;
use crate::scatter::{note_height, scatter};
use crate::style::{BAR, REFERENCE};

/// Predictions of one output.
#[derive(Clone, Copy, Debug)]
pub struct Prediction<'a> {
    /// The title.
    pub title: &'a str,
    /// Lines below the title, such as which rows these are.
    pub notes: &'a [&'a str],
    /// The output, with its unit if it has one.
    pub quantity: &'a str,
    /// The measured values.
    pub measured: &'a [f64],
    /// The predicted values, one for each measured value.
    pub predicted: &'a [f64],
    /// Lower and upper bounds around the predicted values.
    pub bounds: Option<(&'a [f64], &'a [f64])>,
}

/// Rows beyond which bars would hide the points.
const MAX_BARS: usize = 300;

impl Prediction<'_> {
    /// Measured and predicted values where both are finite.
    pub(crate) fn pairs(&self) -> Vec<(f64, f64)> {
        finite_pairs(self.measured, self.predicted)
    }

    /// The measured value and the bounds of each row, if there are few enough to draw.
    fn bars(&self) -> Vec<(f64, [f64; 2])> {
        let Some((low, high)) = self.bounds.filter(|_| self.measured.len() <= MAX_BARS) else {
            return vec![];
        };
        let bounds = low.iter().zip(high).map(|(low, high)| [*low, *high]);
        let bars = self.measured.iter().copied().zip(bounds);
        bars.filter(|(t, [low, high])| (t + low + high).is_finite())
            .collect()
    }

    /// The notes, and others after them.
    pub(crate) fn notes_and(&self, others: Vec<String>) -> Vec<String> {
        let notes = self.notes.iter().map(|&note| note.to_owned());
        notes.chain(others).collect()
    }

    /// The number of finite pairs, and how well they agree.
    pub(crate) fn summary(&self, pairs: &[(f64, f64)]) -> String {
        let left_out = match self.measured.len().min(self.predicted.len()) - pairs.len() {
            0 => String::new(),
            some => format!(" ({} more not finite)", count(some)),
        };
        let error = root_mean_square(&differences(pairs));
        format!(
            "{} points{left_out}, RMSE {}, R² = {}",
            count(pairs.len()),
            if pairs.is_empty() {
                "undefined".into()
            } else {
                short(error)
            },
            coefficient_of_determination(pairs)
        )
    }
}

/// Measured and predicted values where both are finite.
pub fn finite_pairs(measured: &[f64], predicted: &[f64]) -> Vec<(f64, f64)> {
    let pairs = measured.iter().copied().zip(predicted.iter().copied());
    pairs
        .filter(|(t, p)| t.is_finite() && p.is_finite())
        .collect()
}

/// Draws predicted against measured values, with the line on which they agree, and the bounds of up to three hundred rows.
///
/// A note gives the root mean squared error and
/// $R^2 = 1 - \sum_i (p_i - t_i)^2 / \sum_i (t_i - \bar t)^2$.
pub fn prediction(prediction: Prediction<'_>) -> Canvas {
    const SIDE: f64 = 320.0;
    let pairs = prediction.pairs();
    let bars = prediction.bars();
    let ends = bars.iter().flat_map(|(_, ends)| *ends);
    let both = Scale::around(pairs.iter().flat_map(|&(t, p)| [t, p]).chain(ends));
    let bars_are = match bars.is_empty() {
        true => "",
        false => "bars: 90 % interval of a new measurement",
    };
    let mut head = Head {
        title: prediction.title,
        notes: prediction.notes_and(vec![prediction.summary(&pairs), bars_are.into()]),
    };
    let left = left_room(&both, SIDE);
    let top = head.height() + 8.0 + note_height(pairs.len());
    let mut canvas = Canvas::new(
        (left + SIDE + EDGE + 8.0).max(head.width()),
        top + SIDE + BELOW + 4.0,
    );
    let panel = Panel {
        corner: (left, top),
        size: (SIDE, SIDE),
        across: both,
        up: both,
    };
    let heading = ["", prediction.quantity];
    let draw_bars = |canvas: &mut Canvas| {
        for &(t, [low, high]) in &bars {
            canvas.line(&[panel.place(t, low), panel.place(t, high)], BAR);
        }
    };
    head.notes.push(draw_prediction(
        &mut canvas,
        &panel,
        heading,
        &pairs,
        draw_bars,
    ));
    head.draw(&mut canvas);
    canvas
}

/// Draws the panel, with something `behind` the points; returns the note of [`scatter`].
pub fn draw_prediction(
    canvas: &mut Canvas,
    panel: &Panel,
    [heading, quantity]: [&str; 2],
    pairs: &[(f64, f64)],
    behind: impl FnOnce(&mut Canvas),
) -> String {
    panel.frame(canvas, TickLabels::BOTH);
    behind(canvas);
    let note = scatter(canvas, panel, pairs);
    let ((left, top), (right, bottom)) = (panel.corner, panel.end());
    if !pairs.is_empty() {
        canvas.line(&[(left, bottom), (right, top)], REFERENCE);
    }
    let [below, beside] = ["measured", "predicted"].map(|which| format!("{which} {quantity}"));
    panel.titles(canvas, [heading, &below, &beside]);
    note
}

/// Measured minus predicted values.
pub fn differences(pairs: &[(f64, f64)]) -> Vec<f64> {
    pairs.iter().map(|(t, p)| t - p).collect()
}

/// The root mean square, computed without overflow.
pub fn root_mean_square(values: &[f64]) -> f64 {
    let largest = values
        .iter()
        .fold(0.0, |largest, v| f64::max(largest, v.abs()));
    if largest == 0.0 || !largest.is_finite() {
        return largest;
    }
    let squares = values.iter().map(|value| (value / largest).powi(2));
    largest * (squares.sum::<f64>() / values.len() as f64).sqrt()
}

/// R² to four decimals, or as one minus a small number if it is close to 1.
pub fn coefficient_of_determination(pairs: &[(f64, f64)]) -> String {
    let mean = pairs
        .iter()
        .map(|(t, _)| t / pairs.len() as f64)
        .sum::<f64>();
    let total: Vec<f64> = pairs.iter().map(|(t, _)| t - mean).collect();
    let rest = (root_mean_square(&differences(pairs)) / root_mean_square(&total)).powi(2);
    if !rest.is_finite() {
        return "undefined".into();
    }
    match rest {
        0.0 => "1".into(),
        1e-3..1e4 => format!("{:.4}", 1.0 - rest).replace('-', "−"),
        1e4.. => scientific(1.0 - rest, 1),
        _ => format!("1 − {}", scientific(rest, 1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_and_r_squared_are_right() {
        let pairs = [(1.0, 1.0), (2.0, 2.5), (3.0, 3.0)];
        assert_eq!(coefficient_of_determination(&pairs), "0.8750");
        assert!((root_mean_square(&differences(&pairs)).powi(2) - 0.25 / 3.0).abs() < 1e-15);
        assert_eq!(root_mean_square(&[3e200, 4e200]), 1e200 * 12.5f64.sqrt());
        assert_eq!(coefficient_of_determination(&[(5.0, 1.0)]), "undefined");
        assert_eq!(coefficient_of_determination(&[]), "undefined");
        assert_eq!(
            coefficient_of_determination(&[(0.0, 1e-4), (1.0, 1.0)]),
            "1 − 2.0·10⁻⁸"
        );
    }

    #[test]
    fn a_hundred_thousand_points_make_a_small_picture() {
        let truth: Vec<f64> = (0..100_000).map(|i| (f64::from(i) * 0.37).sin()).collect();
        let noisy = truth.iter().enumerate();
        let predicted: Vec<f64> = noisy
            .map(|(i, t)| t + 0.1 * (i as f64 * 0.911).sin())
            .collect();
        let svg = prediction(Prediction {
            title: "",
            notes: &[],
            quantity: "y",
            measured: &truth,
            predicted: &predicted,
            bounds: Some((&predicted, &predicted)),
        })
        .to_svg();
        assert!(svg.len() < 1_000_000, "{}", svg.len());
        assert!(svg.contains("100,000 points, RMSE 0.0707, R² = 0.99"));
        assert!(svg.contains("darker: more points"));
        assert!(!svg.contains("90 % interval"));
        let few = prediction(Prediction {
            title: "",
            notes: &["5 rows, none of them training rows"],
            quantity: "y",
            measured: &truth[..5],
            predicted: &predicted[..5],
            bounds: Some((&truth[..5], &predicted[..5])),
        })
        .to_svg();
        assert!(few.contains("bars: 90 % interval") && few.contains("none of them training rows"));
    }
}
