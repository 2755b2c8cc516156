//! How well a fit predicts: predictions and residuals, and errors compared with those of other methods.

use crate::canvas::{Canvas, Colour};
use crate::number::{count, scientific};
use crate::panel::{
    ABOVE, BELOW, BELOW_UNLABELLED, EDGE, Head, Panel, TickLabels, draw_legend, left_room,
};
use crate::prediction::{
    coefficient_of_determination, differences, draw_prediction, finite_pairs, root_mean_square,
};
use crate::scale::Scale;
use crate::scatter::{MAX_DISCS, note_height, scatter};
use crate::style::{BLUE, GREY, ORANGE, REFERENCE};

const COLOURS: [Colour; 3] = [BLUE, GREY, ORANGE];
const SIDE: f64 = 330.0;
const WIDTH: f64 = 330.0;

/// The predictions of one method at the test points.
#[derive(Clone, Copy, Debug)]
pub struct Series<'a> {
    /// The method.
    pub label: &'a str,
    /// One value for each test point.
    pub predicted: &'a [f64],
}

/// Draws the predictions and residuals of the first series, and the absolute errors of all.
///
/// `quantity` is the output, with its unit if it has one.
pub fn fit(title: &str, quantity: &str, truth: &[f64], series: &[Series<'_>]) -> Canvas {
    let pairs = |series: &Series<'_>| finite_pairs(truth, series.predicted);
    let first = series.first().map(pairs).unwrap_or_default();
    let label = series.first().map_or("", |first| first.label);
    let mut head = Head {
        title,
        notes: vec![format!(
            "{label}: {} test points, mean squared error {}, R² = {}",
            count(first.len()),
            scientific(root_mean_square(&differences(&first)).powi(2), 2),
            coefficient_of_determination(&first),
        )],
    };
    let both = Scale::around(first.iter().flat_map(|&(t, p)| [t, p]));
    let across = Scale::around(first.iter().map(|(t, _)| *t));
    let residual = Scale::symmetric(differences(&first));
    let errors: Vec<Vec<(f64, f64)>> = series
        .iter()
        .map(|series| {
            pairs(series)
                .iter()
                .map(|(t, p)| (*t, (p - t).abs()))
                .collect()
        })
        .collect();
    let error = Scale::logarithmic(errors.iter().flatten().map(|(_, e)| *e));

    let height = 0.5 * (SIDE - BELOW_UNLABELLED - ABOVE);
    let top = head.height() + note_height(first.len()) + ABOVE + 2.0;
    let left = left_room(&both, SIDE);
    let middle = left + SIDE + left_room(&residual, height).max(left_room(&error, height));
    let mut canvas = Canvas::new(
        (middle + WIDTH + EDGE + 8.0).max(head.width()),
        top + SIDE + BELOW + 4.0,
    );
    let panel = Panel {
        corner: (left, top),
        size: (SIDE, SIDE),
        across: both,
        up: both,
    };
    let note = draw_prediction(
        &mut canvas,
        &panel,
        ["Prediction", quantity],
        &first,
        |_| (),
    );
    head.notes.push(note);
    head.draw(&mut canvas);

    let panel = Panel {
        corner: (middle, top),
        size: (WIDTH, height),
        across,
        up: residual,
    };
    draw_residuals(&mut canvas, &panel, label, &first);

    let panel = Panel {
        corner: (middle, top + SIDE - height),
        size: (WIDTH, height),
        across,
        up: error,
    };
    let labels: Vec<&str> = series.iter().map(|series| series.label).collect();
    draw_errors(&mut canvas, &panel, quantity, &labels, &errors);
    canvas
}

fn draw_residuals(canvas: &mut Canvas, panel: &Panel, label: &str, pairs: &[(f64, f64)]) {
    panel.frame(canvas, TickLabels::BOTH);
    let points: Vec<(f64, f64)> = pairs.iter().map(|&(t, p)| (t, t - p)).collect();
    scatter(canvas, panel, &points);
    panel.level(canvas, 0.0, REFERENCE);
    let heading = format!("Residuals of {label}");
    panel.titles(canvas, [&heading, "", "measured − predicted"]);
}

fn draw_errors(
    canvas: &mut Canvas,
    panel: &Panel,
    quantity: &str,
    labels: &[&str],
    errors: &[Vec<(f64, f64)>],
) {
    panel.frame(canvas, TickLabels::BOTH);
    let colour = |index: usize| COLOURS[index % COLOURS.len()];
    // The first method is drawn last, on top of the others.
    for (index, errors) in errors.iter().enumerate().rev() {
        // Every few of many points show as much.
        for &(value, error) in errors
            .iter()
            .step_by(errors.len().div_ceil(MAX_DISCS).max(1))
        {
            let fill = colour(index).with_opacity(0.6);
            canvas.disc(panel.place(value, error), 1.9, fill);
        }
    }
    let below = format!("measured {quantity}");
    panel.titles(
        canvas,
        ["Absolute errors", &below, "|measured − predicted|"],
    );
    let entries: Vec<(&str, Colour)> = labels.iter().copied().zip((0..).map(colour)).collect();
    let at = (panel.end().0, panel.corner.1 - 7.0);
    draw_legend(canvas, at, panel.size.0 - 105.0, &entries);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_and_error_are_named() {
        let series = [
            Series {
                label: "ours",
                predicted: &[1.0, 2.5, 3.0],
            },
            Series {
                label: "theirs",
                predicted: &[0.0, 2.0, 4.0],
            },
        ];
        let svg = fit("Title", "y", &[1.0, 2.0, 3.0], &series).to_svg();
        for text in [
            "Title",
            ">ours<",
            ">theirs<",
            "error 8.33·10⁻², R² = 0.8750",
        ] {
            assert!(svg.contains(text), "{text} is missing");
        }
    }
}
