//! Predicted against true values of one output, and how well they agree.

use crate::canvas::Canvas;
use crate::number::{count, scientific, short};
use crate::panel::{BELOW, EDGE, Head, Panel, TickLabels, left_room};
use crate::scale::Scale;
use crate::scatter::{note_height, scatter};
use crate::style::REFERENCE;

/// Predictions of one output.
#[derive(Clone, Copy, Debug)]
pub struct Prediction<'a> {
    /// The title.
    pub title: &'a str,
    /// The output, with its unit if it has one.
    pub quantity: &'a str,
    /// The true values.
    pub truth: &'a [f64],
    /// The predicted values, one for each true value.
    pub predicted: &'a [f64],
}

impl Prediction<'_> {
    /// True and predicted values where both are finite.
    pub(crate) fn pairs(&self) -> Vec<(f64, f64)> {
        finite_pairs(self.truth, self.predicted)
    }

    /// The number of finite pairs, and how well they agree.
    pub(crate) fn summary(&self, pairs: &[(f64, f64)]) -> String {
        let left_out = match self.truth.len().min(self.predicted.len()) - pairs.len() {
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

/// True and predicted values where both are finite.
pub fn finite_pairs(truth: &[f64], predicted: &[f64]) -> Vec<(f64, f64)> {
    let pairs = truth.iter().copied().zip(predicted.iter().copied());
    pairs
        .filter(|(t, p)| t.is_finite() && p.is_finite())
        .collect()
}

/// Draws predicted against true values, with the line on which they agree.
///
/// A note gives the root mean squared error and
/// $R^2 = 1 - \sum_i (p_i - t_i)^2 / \sum_i (t_i - \bar t)^2$.
pub fn prediction(prediction: Prediction<'_>) -> Canvas {
    const SIDE: f64 = 320.0;
    let pairs = prediction.pairs();
    let both = Scale::around(pairs.iter().flat_map(|&(t, p)| [t, p]));
    let mut head = Head {
        title: prediction.title,
        notes: vec![prediction.summary(&pairs)],
    };
    let left = left_room(&both, SIDE);
    let top = head.height() + 8.0 + note_height(pairs.len());
    let mut canvas = Canvas::new(left + SIDE + EDGE + 8.0, top + SIDE + BELOW + 4.0);
    let panel = Panel {
        corner: (left, top),
        size: (SIDE, SIDE),
        across: both,
        up: both,
    };
    head.notes.push(draw_prediction(
        &mut canvas,
        &panel,
        ["", prediction.quantity],
        &pairs,
    ));
    head.draw(&mut canvas);
    canvas
}

/// Draws the panel; returns the note of [`scatter`].
pub fn draw_prediction(
    canvas: &mut Canvas,
    panel: &Panel,
    [heading, quantity]: [&str; 2],
    pairs: &[(f64, f64)],
) -> String {
    panel.frame(canvas, TickLabels::BOTH);
    let note = scatter(canvas, panel, pairs);
    let ((left, top), (right, bottom)) = (panel.corner, panel.end());
    if !pairs.is_empty() {
        canvas.line(&[(left, bottom), (right, top)], REFERENCE);
    }
    let [below, beside] = ["true", "predicted"].map(|which| format!("{which} {quantity}"));
    panel.titles(canvas, [heading, &below, &beside]);
    note
}

/// Predicted minus true values.
pub fn differences(pairs: &[(f64, f64)]) -> Vec<f64> {
    pairs.iter().map(|(t, p)| p - t).collect()
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
            quantity: "y",
            truth: &truth,
            predicted: &predicted,
        })
        .to_svg();
        assert!(svg.len() < 1_000_000, "{}", svg.len());
        assert!(svg.contains("100,000 points, RMSE 0.0707, R² = 0.99"));
        assert!(svg.contains("darker: more points"));
    }
}
