//! Residuals against predictions, next to their histogram on the same scale.

use crate::canvas::Canvas;
use crate::number::short;
use crate::panel::{ABOVE, BELOW, EDGE, Head, Panel, TickLabels, left_room};
use crate::prediction::{Prediction, differences, root_mean_square};
use crate::scale::Scale;
use crate::scatter::{note_height, scatter};
use crate::style::{AXIS, BLUE, REFERENCE};

const HEIGHT: f64 = 260.0;

/// Draws the residuals, measured minus predicted, against the predictions, and their histogram.
///
/// The dashed curve is the normal distribution with the same mean and standard deviation.
pub fn residuals(prediction: Prediction<'_>) -> Canvas {
    let pairs = prediction.pairs();
    let residuals = differences(&pairs);
    let up = Scale::symmetric(residuals.iter().copied());
    let (mean, deviation) = moments(&residuals);
    let note = match residuals.len() {
        0 => "no pair of finite values".into(),
        _ => format!(
            "residuals: mean {}, standard deviation {}",
            short(mean),
            short(deviation)
        ),
    };
    let mut head = Head {
        title: prediction.title,
        notes: prediction.notes_and(vec![prediction.summary(&pairs), note]),
    };
    let top = head.height() + note_height(pairs.len()) + ABOVE + 2.0;
    let left = left_room(&up, HEIGHT);
    let scattered = Panel {
        corner: (left, top),
        size: (430.0, HEIGHT),
        across: Scale::around(pairs.iter().map(|(_, p)| *p)),
        up,
    };
    let beside = (scattered.end().0 + 28.0, top);
    let mut canvas = Canvas::new(
        (beside.0 + 200.0 + EDGE + 8.0).max(head.width()),
        top + HEIGHT + BELOW + 4.0,
    );
    scattered.frame(&mut canvas, TickLabels::BOTH);
    let points: Vec<(f64, f64)> = pairs.iter().map(|&(t, p)| (p, t - p)).collect();
    head.notes.push(scatter(&mut canvas, &scattered, &points));
    scattered.level(&mut canvas, 0.0, REFERENCE);
    let below = format!("predicted {}", prediction.quantity);
    scattered.titles(&mut canvas, ["Residuals", &below, "measured − predicted"]);
    draw_histogram(&mut canvas, beside, up, &residuals, (mean, deviation));
    head.draw(&mut canvas);
    canvas
}

/// Draws a bar for the number of residuals in each of equal parts of the scale `up`.
fn draw_histogram(
    canvas: &mut Canvas,
    corner: (f64, f64),
    up: Scale,
    residuals: &[f64],
    (mean, deviation): (f64, f64),
) {
    let bins = bin_count(residuals.len());
    let mut counts = vec![0usize; bins];
    for residual in residuals {
        let bin = (bins as f64 * up.position(*residual)) as usize;
        counts[bin.min(bins - 1)] += 1;
    }
    let values = counts.iter().map(|&count| count as f64);
    // The normal density in counts per bin, at many positions of the scale.
    let spread = up.position(mean + deviation) - up.position(mean);
    let peak = residuals.len() as f64 / bins as f64 / (spread * std::f64::consts::TAU.sqrt());
    let curve: Vec<(f64, f64)> = (0..=200)
        .map(|index| {
            let position = f64::from(index) / 200.0;
            let z = (position - up.position(mean)) / spread;
            (peak * (-0.5 * z * z).exp(), position)
        })
        .collect();
    // A spike narrower than a bar gets no curve.
    let has_curve = spread * bins as f64 > 0.5 && peak.is_finite();
    let panel = Panel {
        corner,
        size: (200.0, HEIGHT),
        across: Scale::from_zero(values.chain(has_curve.then_some(peak))),
        up,
    };
    let numbers_below = TickLabels {
        left: false,
        ..TickLabels::BOTH
    };
    panel.frame(canvas, numbers_below);
    let (left, bottom) = (panel.corner.0, panel.end().1);
    let step = HEIGHT / bins as f64;
    for (bin, &count) in counts.iter().enumerate() {
        let right = panel.place(count as f64, 0.0).0;
        let y = bottom - (bin + 1) as f64 * step;
        let bar = (right - left, (step - 1.0).max(0.5));
        canvas.rectangle((left, y + 0.5), bar, BLUE.with_opacity(0.7));
    }
    if has_curve {
        let points: Vec<(f64, f64)> = curve
            .iter()
            .map(|&(count, position)| (panel.place(count, 0.0).0, bottom - HEIGHT * position))
            .collect();
        canvas.line(&points, REFERENCE);
    }
    // The axis is drawn over the start of the bars.
    canvas.line(&[(left, panel.corner.1), (left, bottom)], AXIS);
    panel.titles(canvas, ["Histogram", "points in each bar", ""]);
}

/// The number of bins: odd, so that one is centred on zero, and larger for more data.
fn bin_count(samples: usize) -> usize {
    2 * ((samples as f64).cbrt().round() as usize).clamp(5, 20) + 1
}

/// Mean and standard deviation.
fn moments(values: &[f64]) -> (f64, f64) {
    let mean = values.iter().map(|v| v / values.len() as f64).sum::<f64>();
    let centred: Vec<f64> = values.iter().map(|value| value - mean).collect();
    (mean, root_mean_square(&centred))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_and_bins_are_right() {
        assert_eq!(moments(&[1.0, 3.0]), (2.0, 1.0));
        assert_eq!([0, 500, 1_000_000].map(bin_count), [11, 17, 41]);
    }

    #[test]
    fn spread_residuals_get_a_normal_curve_and_constant_ones_do_not() {
        let truth: Vec<f64> = (0..500).map(f64::from).collect();
        let draw = |error: &dyn Fn(f64) -> f64| {
            let predicted: Vec<f64> = truth.iter().map(|t| t + error(*t)).collect();
            residuals(Prediction {
                title: "t",
                notes: &[],
                quantity: "y",
                measured: &truth,
                predicted: &predicted,
                bounds: None,
            })
            .to_svg()
        };
        let dashes = |svg: String| svg.matches("stroke-dasharray").count();
        assert_eq!(dashes(draw(&|t| (0.7 * t).sin())), 2);
        assert_eq!(dashes(draw(&|_| 0.0)), 1);
    }
}
