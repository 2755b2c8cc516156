//! Loss and validation error over the steps of a fit.

use crate::canvas::{Canvas, Pen, TextStyle};
use crate::number::short;
use crate::panel::{BELOW, EDGE, Head, Panel, TickLabels, draw_legend, left_room};
use crate::scale::Scale;
use crate::style::{AXIS, BEHIND, BLUE, CENTRED, NOTE, ORANGE};
use crate::text::{Label, elide, width};

/// A line shows no more points than this.
const MAX_POINTS: usize = 1200;

/// The record of a fit.
#[derive(Clone, Copy, Debug)]
pub struct Learning<'a> {
    /// The title.
    pub title: &'a str,
    /// What is measured, such as "mean squared error".
    pub measure: &'a str,
    /// Steps, with the loss at each.
    pub loss: &'a [(f64, f64)],
    /// Steps, with the validation error at each.
    pub validation: &'a [(f64, f64)],
    /// The first step and the name of each phase, in order.
    pub phases: &'a [(f64, &'a str)],
}

/// Draws both curves on a logarithmic scale, the best validation error, and where the phases begin.
///
/// A curve is broken where its values are not positive.
pub fn learning(learning: Learning<'_>) -> Canvas {
    const SIZE: (f64, f64) = (330.0, 220.0);
    let Learning {
        title,
        measure,
        loss,
        validation,
        phases,
    } = learning;
    let both = || loss.iter().chain(validation).copied();
    let drawn = |&(step, value): &(f64, f64)| step.is_finite() && value.is_finite() && value > 0.0;
    let best = validation
        .iter()
        .copied()
        .filter(drawn)
        .min_by(|a, b| a.1.total_cmp(&b.1));
    let note = best.map_or(String::new(), |(step, value)| {
        format!("best validation error {} at step {step:.0}", short(value))
    });
    let head = Head {
        title,
        notes: vec![note],
    };
    let starts = phases.iter().map(|(start, _)| *start);
    let steps = both().map(|(step, _)| step).chain(starts);
    let up = Scale::logarithmic(both().filter(drawn).map(|(_, value)| value));
    let left = left_room(&up, SIZE.1);
    let names_height = if phases.is_empty() { 0.0 } else { 16.0 };
    let top = head.height() + 20.0 + names_height;
    let panel = Panel {
        corner: (left, top),
        size: SIZE,
        across: Scale::around(steps),
        up,
    };
    let (right, bottom) = panel.end();
    let mut canvas = Canvas::new((right + EDGE + 8.0).max(head.width()), bottom + BELOW + 4.0);
    head.draw(&mut canvas);
    panel.frame(&mut canvas, TickLabels::BOTH);
    draw_phases(&mut canvas, &panel, phases);
    if !both().any(|point| drawn(&point)) {
        panel.say_empty(&mut canvas);
    }
    panel.curve(&mut canvas, &thinned(loss), Pen::solid(BLUE, 1.0));
    panel.curve(&mut canvas, &thinned(validation), Pen::solid(ORANGE, 1.6));
    if let Some((step, value)) = best {
        canvas.disc(panel.place(step, value), 3.4, ORANGE);
    }
    panel.titles(&mut canvas, ["", "step", measure]);
    let entries = [("training loss", BLUE), ("validation error", ORANGE)];
    let at = (right, top - 7.0 - names_height);
    draw_legend(&mut canvas, at, SIZE.0, &entries);
    canvas
}

/// Draws a line where each phase begins, and its name above the panel near the middle of the phase.
fn draw_phases(canvas: &mut Canvas, panel: &Panel, phases: &[(f64, &str)]) {
    let ((left, top), (right, bottom)) = (panel.corner, panel.end());
    let starts: Vec<f64> = phases
        .iter()
        .map(|(start, _)| panel.place(*start, 1.0).0)
        .collect();
    let room = (right - left) / phases.len().max(1) as f64 - 8.0;
    let names: Vec<Label> = phases
        .iter()
        .map(|(_, name)| elide(name, NOTE, room))
        .collect();
    let spans = starts.iter().enumerate().map(|(index, start)| {
        let end = starts.get(index + 1).copied().unwrap_or(right);
        let middle = 0.5 * (start + end);
        (
            if middle.is_finite() { middle } else { left },
            width(&names[index], NOTE),
        )
    });
    let centres = apart(&spans.collect::<Vec<_>>(), (left, right));
    let centred = TextStyle {
        size: NOTE.size,
        ..CENTRED
    };
    for ((start, name), centre) in starts.iter().zip(&names).zip(centres) {
        canvas.line(&[(*start, top), (*start, bottom)], BEHIND.dashed());
        canvas.line(&[(*start, top - 4.0), (*start, top)], AXIS);
        canvas.text((centre, top - 8.0), name.clone(), centred);
    }
}

/// Centres near the wanted ones at which texts of the given widths do not touch, in order and within the bounds.
fn apart(wanted: &[(f64, f64)], (low, high): (f64, f64)) -> Vec<f64> {
    const GAP: f64 = 8.0;
    let mut end = low - GAP;
    let mut centres: Vec<f64> = wanted
        .iter()
        .map(|&(centre, width)| {
            let centre = centre.max(end + GAP + 0.5 * width);
            end = centre + 0.5 * width;
            centre
        })
        .collect();
    let mut start = high + GAP;
    for (centre, (_, width)) in centres.iter_mut().zip(wanted).rev() {
        *centre = centre.min(start - GAP - 0.5 * width);
        start = *centre - 0.5 * width;
    }
    centres
}

/// A long curve reduced to the smallest and the largest value of each of equal parts.
fn thinned(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    if points.len() <= MAX_POINTS {
        return points.to_vec();
    }
    let part = points.len().div_ceil(MAX_POINTS / 2);
    points
        .chunks(part)
        .flat_map(|points| {
            let indices = (0..points.len()).filter(|&index| points[index].1.is_finite());
            let by_value = |a: &usize, b: &usize| points[*a].1.total_cmp(&points[*b].1);
            let ends = [indices.clone().min_by(by_value), indices.max_by(by_value)];
            let mut ends: Vec<usize> = ends.into_iter().flatten().collect();
            ends.sort_unstable();
            ends.dedup();
            ends.into_iter().map(|index| points[index])
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_short_phases_do_not_touch() {
        let centres = apart(&[(50.0, 40.0), (98.0, 40.0), (99.0, 20.0)], (-20.0, 100.0));
        assert_eq!(centres[2], 90.0);
        assert_eq!(centres[1], 90.0 - 10.0 - 8.0 - 20.0);
        assert_eq!(centres[0], centres[1] - 20.0 - 8.0 - 20.0);
    }

    #[test]
    fn a_long_curve_keeps_its_extremes() {
        let points: Vec<(f64, f64)> = (0..40_000)
            .map(|step| (f64::from(step), 1.0 + (f64::from(step) * 0.1).sin()))
            .chain([(40_000.0, 9.0), (40_001.0, 1e-9), (40_002.0, f64::NAN)])
            .collect();
        let thin = thinned(&points);
        assert!(thin.len() <= MAX_POINTS);
        assert!(thin.contains(&(40_000.0, 9.0)) && thin.contains(&(40_001.0, 1e-9)));
        assert!(thin.is_sorted_by(|a, b| a.0 < b.0));
    }
}
