//! Where the features of a network lie: its hidden weights in every pair of inputs, and which inputs matter.

use crate::canvas::{Anchor, Canvas, Type};
use crate::markers::{Markers, RADIUS, draw_behind, scale_for};
use crate::number::{count, short};
use crate::panel::{BELOW, EDGE, Grid, Head, Labels, Panel, left_room};
use crate::scale::Scale;
use crate::style::{BLUE, HEADING, NOTE, NUMBER, TEXT};
use crate::text::{elide, width};

/// Pairs are drawn for this many inputs at most: the most important ones.
const INPUTS: usize = 5;
/// Bars are drawn for this many inputs at most.
const BARS: usize = 12;

/// The features of a fitted network.
#[derive(Clone, Copy, Debug)]
pub struct Features<'a> {
    /// The title.
    pub title: &'a str,
    /// Hidden weights, one row for each feature (width x inputs, row by row), without biases.
    pub w: &'a [f64],
    /// Magnitude of the output weight of each feature.
    pub magnitude: &'a [f64],
    /// Importance of each input, on any scale from 0.
    pub importance: &'a [f64],
    /// What the importance is, such as "mean |∂f/∂x| on the training points".
    pub measure: &'a str,
    /// Names of the inputs.
    pub inputs: &'a [String],
    /// What a coordinate of `w` measures, such as "cycles per unit of the input".
    pub unit: &'a str,
    /// Directions of lines through the origin on which features are expected; drawn for two inputs only.
    pub support: &'a [[f64; 2]],
}

/// Draws the features in every pair of the five most important inputs, with marker areas by weight, and the importance.
///
/// With one input the weights `|b|` are drawn against `w`. All panels have one scale; features outside it, which
/// together hold at most one hundredth of the weight, are counted below the title.
pub fn features(features: Features<'_>) -> Canvas {
    let Features { w, inputs, .. } = features;
    let markers = Markers::new(w, features.magnitude, inputs.len());
    let size = sizes(features.importance, inputs.len());
    let shown = largest(&size, INPUTS);
    let reach = markers.reach(&shown);
    let inside = markers.within(&shown, reach).count();

    let side = shown.len().saturating_sub(1).max(1);
    let head = Head {
        title: features.title,
        notes: vec![
            summary(&markers, inside, features.unit),
            match shown.len() < inputs.len() {
                true => format!(
                    "panels: the {INPUTS} most important of {} inputs",
                    inputs.len()
                ),
                false => String::new(),
            },
        ],
    };
    let cell = [300.0, 220.0, 176.0, 152.0][side.min(4) - 1];
    let scale = scale_for(reach, RADIUS, cell);
    let weight = Scale::from_zero([markers.largest()]);
    let up = if shown.len() > 1 { scale } else { weight };
    let grid = Grid {
        origin: (left_room(&up, cell), head.height() + 8.0),
        size: (cell, cell),
        gap: (10.0, 10.0),
    };
    let (right, bottom) = grid.end(side, side);
    // With three inputs or more the upper right of the grid is free; otherwise the bars get a column of their own.
    let beside = match side {
        1 => (right + 30.0, grid.origin.1 + 8.0),
        _ => {
            let free = grid.corner(0, side.div_ceil(2));
            (free.0 + 20.0, free.1 + 8.0)
        }
    };
    let room = (right - beside.0).max(250.0);
    let canvas_width = (beside.0 + room).max(right) + EDGE + 8.0;
    let mut canvas = Canvas::new(canvas_width, bottom + BELOW + 4.0);
    head.draw(&mut canvas);
    for row in 0..side {
        for column in 0..=row {
            let Some(&across) = shown.get(column) else {
                continue;
            };
            let up = shown.get(row + 1).copied();
            let panel = Panel {
                corner: grid.corner(row, column),
                size: grid.size,
                across: scale,
                up: if up.is_some() { scale } else { weight },
            };
            let labels = Labels {
                below: row + 1 == side,
                left: column == 0,
                overhang: 3.0,
            };
            panel.frame(&mut canvas, labels);
            let support = if inputs.len() == 2 {
                features.support
            } else {
                &[]
            };
            draw_behind(&mut canvas, &panel, support);
            for (w, b) in markers.within(&shown, reach) {
                let centre = panel.place(w[across], up.map_or(b, |k| w[k]));
                markers.draw(&mut canvas, centre, b, RADIUS);
            }
            let name = |wanted: bool, k: usize| match wanted {
                true => format!("w along {}", inputs[k]),
                false => String::new(),
            };
            let left = up.map_or("|b|/n".into(), |k| name(labels.left, k));
            panel.titles(&mut canvas, ["", &name(labels.below, across), &left]);
        }
    }
    if !inputs.is_empty() {
        let named: Vec<(&str, f64)> = inputs.iter().map(String::as_str).zip(size).collect();
        let bottom = draw_importance(&mut canvas, &named, features.measure, beside, room);
        draw_sizes(&mut canvas, &markers, (beside.0, bottom + 26.0));
    }
    canvas
}

/// One bar for each input with its importance; returns where the bars end.
fn draw_importance(
    canvas: &mut Canvas,
    named: &[(&str, f64)],
    measure: &str,
    (left, top): (f64, f64),
    room: f64,
) -> f64 {
    canvas.text((left, top), "Importance of each input", HEADING);
    let measure = elide(measure, NOTE, room);
    canvas.text((left, top + 15.0), measure, NOTE);
    let size: Vec<f64> = named.iter().map(|(_, size)| *size).collect();
    let shown = largest(&size, BARS);
    let longest = size.iter().copied().fold(0.0, f64::max);
    let step = (150.0 / shown.len().max(1) as f64).clamp(13.0, 22.0);
    let names: Vec<String> = shown
        .iter()
        .map(|&index| elide(named[index].0, TEXT, 0.5 * room))
        .collect();
    let widest = names
        .iter()
        .map(|name| width(name, TEXT))
        .fold(0.0, f64::max);
    let start = left + widest + 7.0;
    let longest_bar = room - widest - 7.0 - 42.0;
    let flush = Type {
        anchor: Anchor::End,
        ..TEXT
    };
    let mut y = top + 24.0;
    for (index, name) in shown.iter().zip(names) {
        let part = if longest > 0.0 {
            size[*index] / longest
        } else {
            0.0
        };
        let length = longest_bar * part;
        let baseline = y + 0.5 * step + 3.8;
        canvas.rectangle((start, y + 2.0), (length.max(0.5), step - 4.0), BLUE);
        canvas.text((start - 7.0, baseline), name, flush);
        let number = short(size[*index]);
        canvas.text((start + length + 5.0, baseline), number, NUMBER);
        y += step;
    }
    if shown.len() < named.len() {
        let more = format!("and {} less important ones", named.len() - shown.len());
        canvas.text((start, y + 12.0), elide(&more, NOTE, room), NOTE);
        y += 14.0;
    }
    y
}

/// The key to the marker areas.
fn draw_sizes(canvas: &mut Canvas, markers: &Markers<'_>, (left, y): (f64, f64)) {
    canvas.text((left, y), "Area of a marker", HEADING);
    let largest = markers.largest();
    let mut x = left + RADIUS;
    for part in [1.0, 0.25, 1.0 / 16.0] {
        markers.draw(canvas, (x, y + 18.0), part * largest, RADIUS);
        let label = match part {
            1.0 => format!("|b|/n = {}", short(largest)),
            _ => short(part * largest),
        };
        canvas.text((x + RADIUS + 3.0, y + 21.8), label.as_str(), NOTE);
        x += 2.0 * RADIUS + width(&label, NOTE) + 10.0;
    }
}

fn summary(markers: &Markers<'_>, inside: usize, unit: &str) -> String {
    let hidden = match markers.count - inside {
        0 => String::new(),
        outside => format!("; {} of them, of small weight, not shown", count(outside)),
    };
    format!("{} features w in {unit}{hidden}", count(markers.count))
}

/// The importance of each input, 0 where it is not known.
fn sizes(importance: &[f64], inputs: usize) -> Vec<f64> {
    let size = |k: usize| importance.get(k).copied().filter(|v| v.is_finite());
    (0..inputs)
        .map(|k| size(k).map_or(0.0, |size| size.max(0.0)))
        .collect()
}

/// The indices of the largest, in the order of the inputs.
fn largest(size: &[f64], most: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..size.len()).collect();
    order.sort_by(|&a, &b| size[b].total_cmp(&size[a]));
    order.truncate(most);
    order.sort_unstable();
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(w: &[f64], magnitude: &[f64], d: usize) -> Canvas {
        let inputs: Vec<String> = (1..=d).map(|k| format!("x{k}")).collect();
        features(Features {
            title: "Features",
            w,
            magnitude,
            importance: &vec![1.0; d],
            measure: "mean |∂f/∂x|",
            inputs: &inputs,
            unit: "cycles per unit of the input",
            support: &[[1.0, 0.0], [1.0, 1.0]],
        })
    }

    #[test]
    fn the_most_important_are_shown() {
        assert_eq!(sizes(&[1.0, -1e-9, f64::NAN], 4), [1.0, 0.0, 0.0, 0.0]);
        assert_eq!(largest(&[0.1, 0.4, 0.2, 0.3], 3), [1, 2, 3]);
    }

    #[test]
    fn a_far_feature_of_little_weight_does_not_shrink_the_picture() {
        let mut w: Vec<f64> = (0..500).map(|i| f64::from(i).sin()).collect();
        w[36] = 9.0;
        let mut magnitude = vec![1.0; 100];
        magnitude[7] = 0.01;
        let svg = picture(&w, &magnitude, 5).to_svg();
        assert!(svg.contains("of them, of small weight, not shown"));
    }

    #[test]
    fn every_number_of_inputs_gets_a_picture() {
        for d in 0..=8 {
            let w: Vec<f64> = (0..d * 6).map(|i| (i as f64).sin()).collect();
            let svg = picture(&w, &[1.0; 6], d).to_svg();
            let shown = d.min(INPUTS);
            let panels = match shown {
                1 => 1,
                _ => shown * shown.saturating_sub(1) / 2,
            };
            let key = if d > 0 { 3 } else { 0 };
            let discs = svg.matches("<circle").count();
            assert_eq!(discs, 6 * panels + key, "{d} inputs");
        }
    }

    #[test]
    fn supports_are_drawn_for_two_inputs_only() {
        let lines = |d: usize| {
            let svg = picture(&[0.5; 12], &[1.0; 2], d).to_svg();
            svg.matches("stroke-width=\"2\"").count()
        };
        assert_eq!([1, 2, 3].map(lines), [0, 2, 0]);
    }
}
