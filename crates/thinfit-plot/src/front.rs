//! The Pareto front of several outputs, pair by pair.

use crate::canvas::{Canvas, Pen};
use crate::number::count;
use crate::panel::{ABOVE, BELOW, EDGE, Head, Layout, Panel, TickLabels, left_room};
use crate::scale::Scale;
use crate::style::{BLUE, LIGHT};

/// Maximum number of outputs; more pairs would be unreadable.
const MOST: usize = 4;

/// The points of a front.
#[derive(Clone, Copy, Debug)]
pub struct Tradeoffs<'a> {
    /// The title.
    pub title: &'a str,
    /// The outputs, with the goal of each, such as `cost (least)`.
    pub outputs: &'a [String],
    /// The points, each with a value for every output, by the first one.
    pub points: &'a [Vec<f64>],
}

/// Draws every pair of outputs; two alone are joined by a line.
pub fn tradeoffs(front: Tradeoffs<'_>) -> Canvas {
    let shown = front.outputs.len().min(MOST);
    let pairs: Vec<(usize, usize)> = (0..shown)
        .flat_map(|i| (i + 1..shown).map(move |j| (i, j)))
        .collect();
    let more = match front.outputs.len() - shown {
        0 => String::new(),
        more => format!("; {} more outputs are not drawn", count(more)),
    };
    let head = Head {
        title: front.title,
        notes: vec![format!("{} points{more}", count(front.points.len()))],
    };
    let columns = pairs.len().clamp(1, 3);
    let side = if columns == 1 { 320.0 } else { 190.0 };
    let values = |o: usize| {
        front
            .points
            .iter()
            .filter_map(move |point| point.get(o).copied())
    };
    let scales: Vec<Scale> = (0..shown).map(|o| Scale::around(values(o))).collect();
    let left = scales.iter().map(|scale| left_room(scale, side));
    let left = left.fold(left_room(&Scale::around([]), side), f64::max);
    let layout = Layout {
        origin: (left, head.height() + ABOVE),
        size: (side, side),
        gap: (left + 4.0, BELOW + ABOVE),
    };
    let rows = pairs.len().div_ceil(columns).max(1);
    let end = layout.end(rows, columns);
    let mut canvas = Canvas::new((end.0 + EDGE + 8.0).max(head.width()), end.1 + BELOW + 4.0);
    head.draw(&mut canvas);
    for (k, &(i, j)) in pairs.iter().enumerate() {
        let panel = Panel {
            corner: layout.corner(k / columns, k % columns),
            size: layout.size,
            across: scales[i],
            up: scales[j],
        };
        panel.frame(&mut canvas, TickLabels::BOTH);
        let points: Vec<(f64, f64)> = values(i).zip(values(j)).collect();
        if points.is_empty() {
            panel.say_empty(&mut canvas);
        }
        if front.outputs.len() == 2 {
            panel.curve(&mut canvas, &points, Pen::solid(LIGHT, 1.6));
        }
        for &(x, y) in &points {
            let centre = panel.place(x, y);
            canvas.disc(centre, 2.6, BLUE.with_opacity(0.8));
        }
        panel.titles(&mut canvas, ["", &front.outputs[i], &front.outputs[j]]);
    }
    canvas
}
