//! The features of a network: its hidden weights in every pair of inputs, and which inputs matter.

use crate::canvas::{Anchor, Canvas};
use crate::markers::{Markers, RADIUS, draw_background, scale_for};
use crate::number::{count, short};
use crate::panel::{BELOW, EDGE, Head, Layout, Panel, TickLabels, left_room};
use crate::scale::Scale;
use crate::style::{BLUE, HEADING, NOTE, NUMBER, TEXT};
use crate::text::{Label, elide, widest, width};

/// Pairs are drawn of at most this many inputs, the most important ones.
const MAX_INPUTS: usize = 5;
/// Bars are drawn for at most this many inputs.
const MAX_BARS: usize = 12;

/// The features of a fitted network.
#[derive(Clone, Copy, Debug)]
pub struct Features<'a> {
    /// The title.
    pub title: &'a str,
    /// Hidden weights without biases (width × inputs, row-major).
    pub w: &'a [f64],
    /// Magnitude of the output weight of each feature.
    pub magnitude: &'a [f64],
    /// Importance of each input, not negative, in any unit.
    pub importance: &'a [f64],
    /// What the importance measures, such as "mean |∂f/∂x| on the training points".
    pub measure: &'a str,
    /// Names of the inputs.
    pub inputs: &'a [String],
    /// What `w` counts, before the name of an input, such as "cycles over the range of".
    pub unit: &'a str,
    /// Directions of the lines through the origin on which features are expected; drawn for two inputs only.
    pub support: &'a [[f64; 2]],
}

/// Draws the features in every pair of the five most important inputs, with marker areas by weight, and the importance.
///
/// With one input, the share of the output weights is drawn against `w`. All panels have one scale; a note counts the features outside it, which
/// together hold at most 1 % of the weight.
pub fn features(features: Features<'_>) -> Canvas {
    let inputs = features.inputs;
    let markers = Markers::new(features.w, features.magnitude, inputs.len());
    let importance = known(features.importance, inputs.len());
    let shown = largest(&importance, MAX_INPUTS);
    let reach = markers.reach(&shown);
    let mut notes = vec![summary(
        &markers,
        markers.within(&shown, reach).count(),
        features.unit,
    )];
    if shown.len() < inputs.len() {
        let total = inputs.len();
        notes.push(format!(
            "panels: the {MAX_INPUTS} most important of {total} inputs"
        ));
    }
    let head = Head {
        title: features.title,
        notes,
    };

    // Panels fill the lower left triangle of a square: a row per input but the first, a column per input but the last.
    let side = shown.len().saturating_sub(1).max(1);
    let cell = [300.0, 220.0, 176.0, 152.0][side.min(4) - 1];
    let pairs = Pairs {
        markers: &markers,
        shown: &shown,
        reach,
        weights: scale_for(reach, RADIUS, cell),
        magnitudes: Scale::from_zero([markers.share(markers.largest())]),
    };
    let layout = Layout {
        origin: (
            left_room(&pairs.up(shown.get(1).copied()), cell),
            head.height() + 8.0,
        ),
        size: (cell, cell),
        gap: (10.0, 10.0),
    };
    let (right, bottom) = layout.end(side, side);
    // With three inputs or more the upper right of the square is free; otherwise the bars get a column of their own.
    let beside = match side {
        1 => (right + 30.0, layout.origin.1 + 8.0),
        _ => {
            let free = layout.corner(0, side.div_ceil(2));
            (free.0 + 20.0, free.1 + 8.0)
        }
    };
    let room = (right - beside.0).max(250.0);
    let canvas_width = (beside.0 + room).max(right) + EDGE + 8.0;
    let mut canvas = Canvas::new(canvas_width, bottom + BELOW + 4.0);
    head.draw(&mut canvas);
    for row in 0..side {
        for column in 0..=row {
            pairs.draw(&mut canvas, &layout, &features, (row, column));
        }
    }
    if !inputs.is_empty() {
        let names = inputs.iter().map(String::as_str);
        let bars: Vec<(&str, f64)> = names.zip(importance).collect();
        let bottom = draw_importance(&mut canvas, &bars, features.measure, beside, room);
        draw_area_key(&mut canvas, &markers, (beside.0, bottom + 26.0));
    }
    canvas
}

/// What the panels of all pairs of inputs have in common.
struct Pairs<'a> {
    markers: &'a Markers<'a>,
    /// The inputs that are shown.
    shown: &'a [usize],
    /// The largest coordinate that is shown.
    reach: f64,
    /// The scale of hidden weights.
    weights: Scale,
    /// The scale of output weights, for networks with one input.
    magnitudes: Scale,
}

impl Pairs<'_> {
    /// The upward scale of a panel with this input on its left.
    fn up(&self, input: Option<usize>) -> Scale {
        match input {
            Some(_) => self.weights,
            None => self.magnitudes,
        }
    }

    /// Draws the panel of input `column` against input `row + 1`, or of the share of the output weights if there is only one input.
    fn draw(
        &self,
        canvas: &mut Canvas,
        layout: &Layout,
        features: &Features<'_>,
        (row, column): (usize, usize),
    ) {
        let Some(&across) = self.shown.get(column) else {
            return;
        };
        let up = self.shown.get(row + 1).copied();
        let panel = Panel {
            corner: layout.corner(row, column),
            size: layout.size,
            across: self.weights,
            up: self.up(up),
        };
        let labels = TickLabels {
            below: row + 2 >= self.shown.len(),
            left: column == 0,
            overhang: 3.0,
        };
        panel.frame(canvas, labels);
        let support = match features.inputs.len() {
            2 => features.support,
            _ => &[],
        };
        draw_background(canvas, &panel, support);
        for (w, b) in self.markers.within(self.shown, self.reach) {
            let centre = panel.place(w[across], up.map_or(self.markers.share(b), |k| w[k]));
            self.markers.draw(canvas, centre, b, RADIUS);
        }
        let name = |wanted: bool, k: usize| match wanted {
            // The summary says what is counted.
            true => features.inputs[k].to_owned(),
            false => String::new(),
        };
        let left = up.map_or("share of the output weights".into(), |k| {
            name(labels.left, k)
        });
        panel.titles(canvas, ["", &name(labels.below, across), &left]);
    }
}

/// Draws a bar for the importance of each input; returns where the bars end.
fn draw_importance(
    canvas: &mut Canvas,
    inputs: &[(&str, f64)],
    measure: &str,
    (left, top): (f64, f64),
    room: f64,
) -> f64 {
    canvas.text((left, top), "Importance of each input", HEADING);
    let measure = elide(measure, NOTE, room);
    canvas.text((left, top + 15.0), measure, NOTE);
    let importance: Vec<f64> = inputs.iter().map(|(_, importance)| *importance).collect();
    let shown = largest(&importance, MAX_BARS);
    let most = importance.iter().copied().fold(0.0, f64::max);
    let step = (150.0 / shown.len().max(1) as f64).clamp(13.0, 22.0);
    let names: Vec<Label> = shown
        .iter()
        .map(|&index| elide(inputs[index].0, TEXT, 0.5 * room))
        .collect();
    let names_width = widest(&names, TEXT);
    let start = left + names_width + 7.0;
    let longest_bar = room - names_width - 7.0 - 42.0;
    let flush = TEXT.anchored(Anchor::End);
    let mut y = top + 24.0;
    for (index, name) in shown.iter().zip(names) {
        let part = if most > 0.0 {
            importance[*index] / most
        } else {
            0.0
        };
        let length = longest_bar * part;
        let baseline = y + 0.5 * step + 3.8;
        canvas.rectangle((start, y + 2.0), (length.max(0.5), step - 4.0), BLUE);
        canvas.text((start - 7.0, baseline), name, flush);
        let number = short(importance[*index]);
        canvas.text((start + length + 5.0, baseline), number, NUMBER);
        y += step;
    }
    if shown.len() < inputs.len() {
        let more = format!("and {} less important ones", inputs.len() - shown.len());
        canvas.text((start, y + 12.0), elide(&more, NOTE, room), NOTE);
        y += 14.0;
    }
    y
}

/// Draws the key to the marker areas.
fn draw_area_key(canvas: &mut Canvas, markers: &Markers<'_>, (left, y): (f64, f64)) {
    canvas.text((left, y), "Area: share of the output weights", HEADING);
    let largest = markers.largest();
    let share = 100.0 * markers.share(largest);
    let mut x = left + RADIUS;
    for part in [1.0, 0.25, 1.0 / 16.0] {
        markers.draw(canvas, (x, y + 18.0), part * largest, RADIUS);
        let label = format!("{} %", short(part * share));
        canvas.text((x + RADIUS + 3.0, y + 21.8), label.as_str(), NOTE);
        x += 2.0 * RADIUS + width(&label, NOTE) + 10.0;
    }
}

/// The number of features, and how many of them are not shown.
fn summary(markers: &Markers<'_>, inside: usize, unit: &str) -> String {
    let hidden = match markers.count - inside {
        0 => String::new(),
        outside => format!("; {} of them, of small weight, not shown", count(outside)),
    };
    format!(
        "{} neurons, each a disc at its {unit} two inputs{hidden}",
        count(markers.count)
    )
}

/// The importance of each input, 0 if it is unknown or negative.
fn known(importance: &[f64], inputs: usize) -> Vec<f64> {
    let finite = |k: usize| importance.get(k).copied().filter(|v| v.is_finite());
    (0..inputs)
        .map(|k| finite(k).map_or(0.0, |value| value.max(0.0)))
        .collect()
}

/// The indices of the `count` largest values, ascending.
fn largest(values: &[f64], count: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[b].total_cmp(&values[a]));
    order.truncate(count);
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
            unit: "cycles over the range of",
            support: &[[1.0, 0.0], [1.0, 1.0]],
        })
    }

    #[test]
    fn the_most_important_inputs_are_shown() {
        assert_eq!(known(&[1.0, -1e-9, f64::NAN], 4), [1.0, 0.0, 0.0, 0.0]);
        assert_eq!(largest(&[0.1, 0.4, 0.2, 0.3], 3), [1, 2, 3]);
    }

    #[test]
    fn a_distant_feature_of_small_weight_is_not_shown() {
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
            let shown = d.min(MAX_INPUTS);
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
