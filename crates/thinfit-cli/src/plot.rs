//! The two pictures of a fit: where its features lie, and how well it predicts.
//!
//! Both take plain slices and return a [`Canvas`]. Nothing here knows a model; values that are not finite are left out.

use crate::axis::{FAINT, Labels, Panel, Scale, TEXT, scientific};
use crate::canvas::{Anchor, Canvas, Colour, Pen, Type, text_width};

const BLUE: Colour = Colour::new(33, 94, 150);
const GREY: Colour = Colour::new(160, 165, 172);
const RED: Colour = Colour::new(178, 70, 52);

/// Pairs are drawn for this many inputs at most: those that carry the largest share of the features.
const INPUTS: usize = 5;
/// The radius of the feature with the largest weight.
const RADIUS: f64 = 9.0;

const TITLE: Type = Type {
    size: 15.0,
    bold: true,
    ..TEXT
};
const HEADING: Type = Type {
    size: 12.0,
    bold: true,
    ..TEXT
};
const NOTE: Type = Type {
    size: 10.5,
    colour: FAINT,
    ..TEXT
};
const CENTRED: Type = Type {
    anchor: Anchor::Middle,
    ..TEXT
};
const UPWARDS: Type = Type {
    upwards: true,
    ..CENTRED
};

/// The features of a fitted network.
#[derive(Clone, Copy, Debug)]
pub struct Features<'a> {
    /// The heading.
    pub title: &'a str,
    /// Hidden weights, one row for each feature (width x inputs, row by row), without biases.
    pub w: &'a [f64],
    /// Magnitude of the output weight of each feature.
    pub magnitude: &'a [f64],
    /// Mean size of the partial derivative by each input.
    pub slope: &'a [f64],
    /// Names of the inputs.
    pub inputs: &'a [String],
    /// What a coordinate of `w` measures, such as "cycles per unit of the input".
    pub unit: &'a str,
}

/// The predictions of one method at the test points.
#[derive(Clone, Copy, Debug)]
pub struct Series<'a> {
    /// The method.
    pub label: &'a str,
    /// One value for each test point.
    pub predicted: &'a [f64],
}

/// Draws the features in every pair of inputs, with marker areas by weight, and the share of each input.
///
/// The share of an input is its part of the mean sizes of all partial derivatives. All panels have one scale; features outside it, which together hold at most one hundredth of
/// the weight, are counted in the subtitle.
pub fn features(features: Features<'_>) -> Canvas {
    let Features {
        title,
        w,
        magnitude,
        slope,
        inputs,
        unit,
    } = features;
    let d = inputs.len().max(1);
    let rows: Vec<(&[f64], f64)> = w
        .chunks_exact(d)
        .zip(magnitude.iter().copied())
        .filter(|(row, b)| b.is_finite() && row.iter().all(|value| value.is_finite()))
        .collect();
    let largest = rows
        .iter()
        .fold(0.0, |largest, &(_, b)| f64::max(largest, b));
    let share = shares(slope);
    let mut shown: Vec<usize> = (0..inputs.len()).collect();
    shown.sort_by(|&a, &b| share[b].total_cmp(&share[a]));
    shown.truncate(INPUTS);
    shown.sort_unstable();

    let reach = reach(&rows, &shown);
    let mut inside: Vec<(&[f64], f64)> = rows
        .iter()
        .copied()
        .filter(|(row, _)| shown.iter().all(|&k| row[k].abs() <= reach))
        .collect();
    // The largest first, so that no small one is hidden.
    inside.sort_by(|a, b| b.1.total_cmp(&a.1));

    let side = shown.len().saturating_sub(1).max(1);
    let cell = (640.0 / side as f64).min(300.0);
    let (left, top, gap) = (74.0, 78.0, 10.0);
    // No marker should cross the frame.
    let scale = Scale::symmetric([reach * (1.0 + 2.0 * RADIUS / cell)]);
    let grid = side as f64 * cell - gap;
    // With three inputs or more the upper right of the grid is free; otherwise the shares get a column of their own.
    let beside = side < 2;
    let width = left + grid + if beside { 330.0 } else { 26.0 };
    let mut canvas = Canvas::new(width, top + grid + 58.0);
    canvas.text((20.0, 30.0), title, TITLE);
    canvas.text((20.0, 50.0), subtitle(&rows, inside.len(), unit), NOTE);

    let pen = Pen {
        colour: Colour::new(150, 155, 161),
        width: 1.0,
        dashed: false,
    };
    let count = if cell > 200.0 { 7 } else { 4 };
    for row in 0..side {
        for column in 0..=row {
            let (Some(&across), up) = (shown.get(column), shown.get(row + 1)) else {
                continue;
            };
            let panel = Panel {
                corner: (left + column as f64 * cell, top + row as f64 * cell),
                size: (cell - gap, cell - gap),
                across: scale,
                up: if up.is_some() {
                    scale
                } else {
                    Scale::from_zero([largest])
                },
            };
            let below = row + 1 == side;
            let room = panel.frame(
                &mut canvas,
                Labels {
                    below,
                    left: column == 0,
                    count,
                },
            );
            let (x, y) = panel.corner;
            let zero = panel.place(0.0, 0.0);
            canvas.line(&[(x, zero.1), (x + panel.size.0, zero.1)], pen);
            canvas.line(&[(zero.0, y), (zero.0, y + panel.size.1)], pen);
            for &(w, b) in &inside {
                let centre = panel.place(w[across], up.map_or(b, |&k| w[k]));
                canvas.disc(centre, radius(b, largest), BLUE.with_opacity(0.6));
            }
            let middle = 0.5 * panel.size.0;
            if below {
                let label = format!("w along {}", inputs[across]);
                canvas.text((x + middle, y + panel.size.1 + 34.0), label, CENTRED);
            }
            if column == 0 {
                let label = up.map_or("weight |b|".into(), |&k| format!("w along {}", inputs[k]));
                canvas.text((x - room - 12.0, y + middle), label, UPWARDS);
            }
        }
    }
    if !inputs.is_empty() {
        let room = if beside {
            (left + grid + 40.0, top, 260.0)
        } else {
            let free = side / 2;
            let start = left + free as f64 * cell + 34.0;
            (start, top, left + grid - start)
        };
        let named: Vec<(&str, f64)> = inputs.iter().map(String::as_str).zip(share).collect();
        let bottom = draw_shares(&mut canvas, &named, room);
        draw_sizes(&mut canvas, largest, (room.0, bottom + 34.0));
        if shown.len() < inputs.len() {
            let note = format!("panels: the {INPUTS} inputs with the largest shares");
            canvas.text((room.0, bottom + 82.0), note, NOTE);
        }
    }
    canvas
}

/// Draws predictions against true values, their residuals, and the absolute errors of all methods.
///
/// The first of the series is the one whose predictions and residuals are shown; the others appear in the last panel.
/// `quantity` names the output, with its unit where it has one.
pub fn fit(title: &str, quantity: &str, truth: &[f64], series: &[Series<'_>]) -> Canvas {
    let first = series.first().copied().unwrap_or(Series {
        label: "",
        predicted: &[],
    });
    let residuals: Vec<f64> = difference(first.predicted, truth);
    let mut canvas = Canvas::new(960.0, 500.0);
    canvas.text((20.0, 30.0), title, TITLE);
    let subtitle = format!(
        "{}: {} test points, mean squared error {}, R² = {}",
        first.label,
        residuals.len(),
        scientific(mean_square(&residuals), 2),
        coefficient_of_determination(&residuals, truth),
    );
    canvas.text((20.0, 50.0), subtitle, NOTE);

    let labels = Labels {
        below: true,
        left: true,
        count: 5,
    };
    let both = Scale::around(truth.iter().chain(first.predicted).copied());
    let panel = Panel {
        corner: (74.0, 88.0),
        size: (360.0, 360.0),
        across: both,
        up: both,
    };
    let room = panel.frame(&mut canvas, labels);
    diagonal(&mut canvas, &panel);
    for (&value, &predicted) in truth.iter().zip(first.predicted) {
        canvas.disc(panel.place(value, predicted), 2.4, BLUE.with_opacity(0.6));
    }
    title_panel(
        &mut canvas,
        &panel,
        room,
        [
            "Prediction",
            &format!("true {quantity}"),
            &format!("predicted {quantity}"),
        ],
    );

    let panel = Panel {
        corner: (548.0, 88.0),
        size: (386.0, 140.0),
        across: Scale::around(truth.iter().copied()),
        up: Scale::symmetric(residuals.iter().copied()),
    };
    let room = panel.frame(
        &mut canvas,
        Labels {
            below: false,
            count: 4,
            ..labels
        },
    );
    let zero = panel.place(0.0, 0.0).1;
    let ends = [
        (panel.corner.0, zero),
        (panel.corner.0 + panel.size.0, zero),
    ];
    canvas.line(&ends, REFERENCE);
    for (&value, &residual) in truth.iter().zip(&residuals) {
        canvas.disc(panel.place(value, residual), 2.2, BLUE.with_opacity(0.6));
    }
    let heading = format!("Residuals of {}", first.label);
    title_panel(
        &mut canvas,
        &panel,
        room,
        [&heading, "", "predicted − true"],
    );

    draw_errors(&mut canvas, quantity, truth, series);
    canvas
}

const REFERENCE: Pen = Pen {
    colour: RED,
    width: 1.2,
    dashed: true,
};

fn draw_errors(canvas: &mut Canvas, quantity: &str, truth: &[f64], series: &[Series<'_>]) {
    let errors: Vec<Vec<f64>> = series
        .iter()
        .map(|series| {
            let residuals = difference(series.predicted, truth);
            residuals.into_iter().map(f64::abs).collect()
        })
        .collect();
    let panel = Panel {
        corner: (548.0, 282.0),
        size: (386.0, 166.0),
        across: Scale::around(truth.iter().copied()),
        up: Scale::decades(errors.iter().flatten().copied()),
    };
    let room = panel.frame(
        canvas,
        Labels {
            below: true,
            left: true,
            count: 5,
        },
    );
    let colours = [BLUE, GREY, RED];
    // The first method goes on top; its key comes first all the same.
    for (index, errors) in errors.iter().enumerate().rev() {
        for (&value, &error) in truth.iter().zip(errors) {
            // An error of zero has no place on a logarithmic scale.
            if error > 0.0 {
                let fill = colours[index % colours.len()].with_opacity(0.65);
                canvas.disc(panel.place(value, error), 2.0, fill);
            }
        }
    }
    title_panel(
        canvas,
        &panel,
        room,
        [
            "Absolute errors",
            &format!("true {quantity}"),
            "|predicted − true|",
        ],
    );
    let mut right = panel.corner.0 + panel.size.0;
    for (index, series) in series.iter().enumerate().rev() {
        let y = panel.corner.1 - 8.0;
        let key = Type {
            anchor: Anchor::End,
            ..NOTE
        };
        canvas.text((right, y), series.label, key);
        right -= text_width(series.label, key) + 8.0;
        canvas.disc((right, y - 3.5), 3.5, colours[index % colours.len()]);
        right -= 16.0;
    }
}

/// Heading, label below and label on the left of a panel whose numbers take `room` on the left.
fn title_panel(canvas: &mut Canvas, panel: &Panel, room: f64, [heading, below, left]: [&str; 3]) {
    let ((x, y), (width, height)) = (panel.corner, panel.size);
    canvas.text((x, y - 8.0), heading, HEADING);
    canvas.text((x + 0.5 * width, y + height + 34.0), below, CENTRED);
    canvas.text((x - room - 12.0, y + 0.5 * height), left, UPWARDS);
}

fn diagonal(canvas: &mut Canvas, panel: &Panel) {
    let ((x, y), (width, height)) = (panel.corner, panel.size);
    canvas.line(&[(x, y + height), (x + width, y)], REFERENCE);
}

/// One bar for each input with its share in per cent; returns where the bars end.
fn draw_shares(
    canvas: &mut Canvas,
    named: &[(&str, f64)],
    (left, top, width): (f64, f64, f64),
) -> f64 {
    canvas.text((left, top + 6.0), "Share of each input", HEADING);
    canvas.text(
        (left, top + 22.0),
        "mean |∂f/∂x| on the training points, of the total",
        NOTE,
    );
    let longest = named.iter().map(|(_, share)| *share).fold(0.0, f64::max);
    // A dozen bars fit; of more, the largest.
    let mut order: Vec<usize> = (0..named.len()).collect();
    order.sort_by(|&a, &b| named[b].1.total_cmp(&named[a].1));
    order.truncate(12);
    order.sort_unstable();
    let step = (170.0 / order.len().max(1) as f64).min(26.0);
    let (start, room) = (left + 62.0, width - 62.0 - 48.0);
    let mut y = top + 36.0;
    for index in order {
        let (name, share) = named[index];
        let length = if longest > 0.0 {
            room * share / longest
        } else {
            0.0
        };
        let middle = y + 0.5 * step + 3.5;
        canvas.rectangle((start, y + 2.0), (length.max(0.5), step - 4.0), BLUE);
        let flush = Type {
            anchor: Anchor::End,
            ..TEXT
        };
        canvas.text((start - 8.0, middle), shorten(name, 8), flush);
        canvas.text(
            (start + length + 6.0, middle),
            format!("{:.0} %", 100.0 * share),
            NOTE,
        );
        y += step;
    }
    y
}

/// The key to the marker areas.
fn draw_sizes(canvas: &mut Canvas, largest: f64, (left, y): (f64, f64)) {
    canvas.text((left, y), "Area of a marker", HEADING);
    let mut x = left + RADIUS;
    for part in [1.0, 0.25, 1.0 / 16.0] {
        canvas.disc(
            (x, y + 20.0),
            radius(part * largest, largest),
            BLUE.with_opacity(0.6),
        );
        let label = if part == 1.0 {
            format!("|b| = {}", short(largest))
        } else {
            short(part * largest)
        };
        canvas.text((x + RADIUS + 5.0, y + 24.0), label.clone(), NOTE);
        x += 2.0 * RADIUS + text_width(&label, NOTE) + 16.0;
    }
}

fn subtitle(rows: &[(&[f64], f64)], inside: usize, unit: &str) -> String {
    let outside = rows.len() - inside;
    let hidden = match outside {
        0 => String::new(),
        _ => format!("; {outside} of them outside the panels (1 % of the weight at most)"),
    };
    format!("{} features w in {unit}{hidden}", rows.len())
}

/// Each input's part of the sum.
fn shares(slope: &[f64]) -> Vec<f64> {
    let total: f64 = slope.iter().sum();
    let scale = if total > 0.0 && total.is_finite() {
        1.0 / total
    } else {
        0.0
    };
    slope.iter().map(|slope| slope * scale).collect()
}

/// The smallest bound on the shown coordinates under which features hold 99 % of the weight.
fn reach(rows: &[(&[f64], f64)], shown: &[usize]) -> f64 {
    let mut bounds: Vec<(f64, f64)> = rows
        .iter()
        .map(|(row, b)| {
            let bound = shown.iter().map(|&k| row[k].abs()).fold(0.0, f64::max);
            (bound, *b)
        })
        .collect();
    bounds.sort_by(|a, b| a.0.total_cmp(&b.0));
    let total: f64 = bounds.iter().map(|(_, b)| b).sum();
    let mut held = 0.0;
    for (bound, b) in &bounds {
        held += b;
        if held >= 0.99 * total && *bound > 0.0 {
            return *bound;
        }
    }
    bounds.last().map_or(1.0, |(bound, _)| bound.max(1e-12))
}

fn radius(b: f64, largest: f64) -> f64 {
    if largest > 0.0 {
        (RADIUS * (b / largest).sqrt()).max(1.0)
    } else {
        1.0
    }
}

fn difference(predicted: &[f64], truth: &[f64]) -> Vec<f64> {
    predicted.iter().zip(truth).map(|(p, t)| p - t).collect()
}

fn mean_square(values: &[f64]) -> f64 {
    values.iter().map(|value| value * value).sum::<f64>() / values.len().max(1) as f64
}

/// One minus the residual over the total sum of squares, with as many nines as there are and two digits.
fn coefficient_of_determination(residuals: &[f64], truth: &[f64]) -> String {
    let mean = truth.iter().sum::<f64>() / truth.len().max(1) as f64;
    let total: Vec<f64> = truth.iter().map(|value| value - mean).collect();
    let rest = mean_square(residuals) / mean_square(&total);
    if !rest.is_finite() {
        return "undefined".into();
    }
    if rest > 1e-3 {
        format!("{:.4}", 1.0 - rest).replace('-', "−")
    } else {
        format!("1 − {}", scientific(rest, 1))
    }
}

/// Three digits, with a power of ten where that is shorter.
fn short(value: f64) -> String {
    if (0.01..1e4).contains(&value) {
        let digits = (2.0 - value.log10().floor()).max(0.0);
        format!("{value:.*}", digits as usize)
    } else {
        scientific(value, 1)
    }
}

fn shorten(name: &str, length: usize) -> String {
    if name.chars().count() <= length {
        return name.into();
    }
    name.chars().take(length - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Features as one expects of Friedman-1: waves in the plane of the first two inputs, the others along axes.
    fn expected_features() -> (Vec<f64>, Vec<f64>) {
        let mut state = 1u64;
        let mut uniform = || {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (state >> 11) as f64 / (1u64 << 53) as f64
        };
        let mut w = vec![0.0; 5 * 100];
        let mut magnitude = vec![0.0; 100];
        for l in 0..100 {
            let mut normal = || (0..12).map(|_| uniform()).sum::<f64>() - 6.0;
            let row = &mut w[5 * l..5 * (l + 1)];
            match l % 5 {
                0 | 1 => (row[0], row[1]) = (0.5 * normal(), 0.5 * normal()),
                2 => row[2] = 0.6 * normal(),
                3 => row[3] = 0.2 * normal(),
                _ => (row[3], row[4]) = (0.1 * normal(), 0.15 * normal()),
            }
            for value in row.iter_mut() {
                *value += 0.01 * normal();
            }
            magnitude[l] = (2.0 + 1.5 * normal()).exp();
        }
        w[5 * 7 + 1] = 9.0;
        magnitude[7] = 0.01;
        (w, magnitude)
    }

    fn names(d: usize) -> Vec<String> {
        (1..=d).map(|k| format!("x{k}")).collect()
    }

    fn picture(w: &[f64], magnitude: &[f64], d: usize) -> Canvas {
        features(Features {
            title: "Features",
            w,
            magnitude,
            slope: &vec![1.0; d],
            inputs: &names(d),
            unit: "cycles per unit of the input",
        })
    }

    #[test]
    fn shares_add_up_and_follow_the_slopes() {
        assert_eq!(shares(&[1.0, 3.0]), [0.25, 0.75]);
        assert_eq!(shares(&[0.0, 0.0]), [0.0, 0.0]);
    }

    #[test]
    fn a_far_feature_of_little_weight_does_not_shrink_the_picture() {
        let (w, magnitude) = expected_features();
        let svg = picture(&w, &magnitude, 5).to_svg();
        assert!(svg.contains("; 1 of them outside the panels"));
        // Ten panels of the 99 others, and three discs of the key.
        assert_eq!(svg.matches("<circle").count(), 10 * 99 + 3);
    }

    #[test]
    fn every_number_of_inputs_gets_a_picture() {
        for d in 0..=8 {
            let w: Vec<f64> = (0..d * 6).map(|i| (i as f64).sin()).collect();
            let svg = picture(&w, &[1.0; 6], d).to_svg();
            let shown = d.min(INPUTS);
            let panels = if shown == 1 {
                1
            } else {
                shown * shown.saturating_sub(1) / 2
            };
            let key = if d > 0 { 3 } else { 0 };
            assert_eq!(
                svg.matches("<circle").count(),
                6 * panels + key,
                "{d} inputs"
            );
        }
    }

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
        assert_eq!(coefficient_of_determination(&[0.0], &[5.0]), "undefined");
    }

    #[test]
    fn short_numbers_keep_three_digits() {
        assert_eq!(
            [296.4, 18.53, 0.0464, 0.0].map(short),
            ["296", "18.5", "0.0464", "0"]
        );
        assert_eq!(short(123456.0), "1.2·10⁵");
        assert_eq!(shorten("temperature", 8), "tempera…");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn no_data_panics(
            d in 0usize..7,
            w in prop::collection::vec(any::<f64>(), 0..40),
            b in prop::collection::vec(any::<f64>(), 0..12),
            truth in prop::collection::vec(any::<f64>(), 0..12),
        ) {
            prop_assert!(picture(&w, &b, d).to_png(0.25).is_ok());
            let series = [Series { label: "a", predicted: &b }, Series { label: "b", predicted: &w }];
            prop_assert!(fit("t", "y", &truth, &series).to_png(0.25).is_ok());
            prop_assert!(fit("t", "y", &truth, &[]).to_png(0.25).is_ok());
        }
    }
}
