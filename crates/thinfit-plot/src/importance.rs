//! Bars for the share of the variance of the prediction that each input explains.

use crate::canvas::{Anchor, Canvas};
use crate::number::short;
use crate::panel::{BELOW, EDGE, Head, Panel, TickLabels, WIDEST, draw_legend};
use crate::scale::Scale;
use crate::style::{AXIS, BLUE, LIGHT, NOTE, NUMBER, TEXT};
use crate::text::{Label, elide, widest};

/// Nobody reads more bars than this.
const MAX_BARS: usize = 20;
/// Distance between the tops of two bars.
const STEP: f64 = 18.0;
/// Distance between two lines below the bars.
const LINE: f64 = 16.0;
/// Room for the names of the inputs.
const NAME_ROOM: f64 = 240.0;

/// Sensitivity indices of the inputs, in the order to show them: the largest first.
#[derive(Clone, Copy, Debug)]
pub struct Importance<'a> {
    /// The title.
    pub title: &'a str,
    /// Names of the inputs.
    pub inputs: &'a [String],
    /// First-order Sobol index of each input: the share of the variance it explains alone.
    pub first: &'a [f64],
    /// Total Sobol index of each input: its share including all interactions with others.
    pub total: &'a [f64],
    /// What else to say below, a line each: which inputs act together.
    pub notes: &'a [String],
}

/// Draws a bar for each input: the first-order index in a dark shade over the total index in a light one.
///
/// Beyond twenty inputs a line sums up the rest. Estimates below zero are drawn as zero.
pub fn importance(importance: Importance<'_>) -> Canvas {
    let Importance {
        title,
        inputs,
        first,
        total,
        notes,
    } = importance;
    let bars: Vec<(&str, [f64; 2])> = inputs
        .iter()
        .zip(first.iter().zip(total))
        .map(|(name, (&first, &total))| (name.as_str(), [first, total]))
        .collect();
    let (shown, rest) = bars.split_at(bars.len().min(MAX_BARS));
    let names: Vec<Label> = shown
        .iter()
        .map(|(name, _)| elide(name, TEXT, NAME_ROOM))
        .collect();
    let names_width = widest(&names, TEXT).max(40.0);

    let head = Head {
        title,
        notes: vec![],
    };
    let top = head.height() + 18.0;
    let left = (EDGE + names_width + 8.0).ceil();
    let mut lines = Vec::new();
    if !rest.is_empty() {
        let totals = rest.iter().map(|(_, [_, total])| *total);
        lines.push(format!(
            "and {} more, each with a total of at most {}",
            rest.len(),
            short(totals.fold(0.0, f64::max))
        ));
    }
    lines.extend_from_slice(notes);
    let foot = LINE * lines.len() as f64;
    let panel = Panel {
        corner: (left, top),
        size: (250.0, STEP * shown.len().max(1) as f64 + 6.0),
        across: Scale::from_zero(shown.iter().flat_map(|(_, indices)| *indices)),
        up: Scale::around([]),
    };
    let (right, bottom) = panel.end();
    // The number of the longest bar needs room on the right.
    let below = widest(&lines, NOTE).min(WIDEST) + 2.0 * EDGE;
    let width = (right + 50.0).max(head.width()).max(below);
    let mut canvas = Canvas::new(width, bottom + BELOW + foot + 4.0);
    head.draw(&mut canvas);
    let entries = [
        ("alone (first order)", BLUE),
        ("with others (total)", LIGHT),
    ];
    draw_legend(&mut canvas, (right, top - 7.0), panel.size.0, &entries);
    panel.axis_across(&mut canvas, TickLabels::BOTH);
    if shown.is_empty() {
        panel.say_empty(&mut canvas);
    }
    for (index, (name, (_, indices))) in names.iter().zip(shown).enumerate() {
        let y = top + 3.0 + STEP * index as f64;
        draw_bar(&mut canvas, &panel, y, name, *indices);
    }
    canvas.line(&[(left, top), (left, bottom)], AXIS);
    panel.titles(&mut canvas, ["", "share of the variance", ""]);
    for (line, number) in lines.iter().zip(0..) {
        let y = bottom + BELOW + 8.0 + LINE * f64::from(number);
        let text = elide(line, NOTE, canvas.width - 2.0 * EDGE);
        canvas.text((EDGE, y), text, NOTE);
    }
    canvas
}

/// Draws the bar of an input from `y` down, with its name before it and its total index behind it.
fn draw_bar(canvas: &mut Canvas, panel: &Panel, y: f64, name: &Label, [first, total]: [f64; 2]) {
    let left = panel.corner.0;
    let length = |value: f64| panel.place(value, f64::NAN).0 - left;
    canvas.rectangle((left, y + 3.0), (length(total), STEP - 6.0), LIGHT);
    canvas.rectangle((left, y + 3.0), (length(first), STEP - 6.0), BLUE);
    let baseline = y + 0.5 * STEP + 3.8;
    canvas.text(
        (left - 7.0, baseline),
        name.clone(),
        TEXT.anchored(Anchor::End),
    );
    let (number, longest) = match total.is_finite() {
        true => (short_index(total), length(total).max(length(first))),
        false => ("undefined".into(), 0.0),
    };
    let x = left + longest + 5.0;
    let number = elide(&number, NUMBER, canvas.width - 4.0 - x);
    canvas.text((x, baseline), number, NUMBER);
}

/// An index to three decimals, or in short if it is far outside the range of indices.
fn short_index(value: f64) -> String {
    if value.abs() < 10.0 {
        format!("{value:.3}").replace('-', "−")
    } else {
        short(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_beyond_twenty_are_summed_up() {
        let inputs: Vec<String> = (1..=60).map(|k| format!("input {k}")).collect();
        let total: Vec<f64> = (0..60).map(|k| 0.5 * 0.8f64.powi(k)).collect();
        let first: Vec<f64> = total.iter().map(|total| 0.7 * total).collect();
        let svg = importance(Importance {
            title: "Importance",
            inputs: &inputs,
            first: &first,
            total: &total,
            notes: &["input 1 and input 2 do 0.1 together".to_owned()],
        })
        .to_svg();
        assert!(svg.contains(">input 1 and input 2 do 0.1 together<"));
        assert!(svg.contains("and 40 more, each with a total of at most 0.00576"));
        // The background, two in the legend, and two bars for each input shown.
        assert_eq!(svg.matches("<rect").count(), 3 + 2 * MAX_BARS);
        assert!(svg.contains(">input 20<") && !svg.contains(">input 21<"));
    }
}
