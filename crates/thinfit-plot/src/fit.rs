//! How well a fit predicts: its predictions and residuals, and its errors beside those of other methods.

use crate::canvas::{Canvas, Colour};
use crate::number::{count, scientific};
use crate::panel::{ABOVE, BELOW, EDGE, Head, Labels, NUMBERS, Panel, key, left_room};
use crate::prediction::{
    Prediction, coefficient_of_determination, differences, draw_prediction, root_mean_square,
};
use crate::scale::Scale;
use crate::scatter::{MOST, scatter};
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

/// Draws predictions against true values, their residuals, and the absolute errors of all methods.
///
/// The first of the series is the one whose predictions and residuals are shown; the others appear in the last panel.
/// `quantity` names the output, with its unit where it has one.
pub fn fit(title: &str, quantity: &str, truth: &[f64], series: &[Series<'_>]) -> Canvas {
    let pairs = |series: &Series<'_>| {
        let predicted = series.predicted;
        Prediction {
            title,
            quantity,
            truth,
            predicted,
        }
        .pairs()
    };
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

    let height = 0.5 * (SIDE - NUMBERS - ABOVE);
    let foot = if first.len() > MOST { 14.0 } else { 0.0 };
    let top = head.height() + foot + ABOVE + 2.0;
    let left = left_room(&both, SIDE);
    let middle = left + SIDE + left_room(&residual, height).max(left_room(&error, height));
    let mut canvas = Canvas::new(middle + WIDTH + EDGE + 8.0, top + SIDE + BELOW + 4.0);
    let panel = Panel {
        corner: (left, top),
        size: (SIDE, SIDE),
        across: both,
        up: both,
    };
    let note = draw_prediction(&mut canvas, &panel, ["Prediction", quantity], &first);
    head.notes.push(note);
    head.draw(&mut canvas);

    let panel = Panel {
        corner: (middle, top),
        size: (WIDTH, height),
        across,
        up: residual,
    };
    panel.frame(&mut canvas, Labels::BOTH);
    let points: Vec<(f64, f64)> = first.iter().map(|&(t, p)| (t, p - t)).collect();
    scatter(&mut canvas, &panel, &points);
    panel.level(&mut canvas, 0.0, REFERENCE);
    let heading = format!("Residuals of {label}");
    panel.titles(&mut canvas, [&heading, "", "predicted − true"]);

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

fn draw_errors(
    canvas: &mut Canvas,
    panel: &Panel,
    quantity: &str,
    labels: &[&str],
    errors: &[Vec<(f64, f64)>],
) {
    panel.frame(canvas, Labels::BOTH);
    let colour = |index: usize| COLOURS[index % COLOURS.len()];
    // The first method goes on top; its key comes first all the same.
    for (index, errors) in errors.iter().enumerate().rev() {
        // Of many points, some at equal distances show as much.
        for &(value, error) in errors.iter().step_by(errors.len().div_ceil(MOST).max(1)) {
            let fill = colour(index).with_opacity(0.6);
            canvas.disc(panel.place(value, error), 1.9, fill);
        }
    }
    let below = format!("true {quantity}");
    panel.titles(canvas, ["Absolute errors", &below, "|predicted − true|"]);
    let entries: Vec<(&str, Colour)> = labels.iter().copied().zip((0..).map(colour)).collect();
    let at = (panel.end().0, panel.corner.1 - 7.0);
    key(canvas, at, panel.size.0 - 105.0, &entries);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fit_names_its_methods_and_its_error() {
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
