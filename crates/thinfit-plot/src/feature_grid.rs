//! Features of several networks with two inputs, as in Figure 1 of the paper: a row per method, a column per problem.

use crate::canvas::{Anchor, Canvas, TextStyle};
use crate::markers::{Markers, draw_background, scale_for};
use crate::number::count;
use crate::panel::{EDGE, Head, Layout, Panel, TickLabels, left_room};
use crate::style::{HEADING, NOTE};
use crate::text::elide;

/// Side of a panel.
const SIDE: f64 = 150.0;
/// Radius of the largest marker of a panel.
const RADIUS: f64 = 6.0;
/// Both weights of a feature are shown.
const SHOWN: [usize; 2] = [0, 1];

/// The weights of one network.
#[derive(Clone, Copy, Debug, Default)]
pub struct Weights<'a> {
    /// Hidden weights, a pair per feature.
    pub w: &'a [f64],
    /// Magnitude of the output weight of each feature.
    pub magnitude: &'a [f64],
}

/// Networks of two inputs in rows and columns.
#[derive(Clone, Copy, Debug)]
pub struct FeatureGrid<'a> {
    /// The title.
    pub title: &'a str,
    /// The title of each row, such as a method.
    pub rows: &'a [&'a str],
    /// The title of each column, such as a problem.
    pub columns: &'a [&'a str],
    /// The networks row by row; panels without one stay empty.
    pub networks: &'a [Weights<'a>],
    /// For each column, the directions of the lines through the origin on which features are expected.
    pub support: &'a [&'a [[f64; 2]]],
    /// The largest coordinate shown; if `None`, the smallest that keeps 99 % of the weight of every network.
    pub reach: Option<f64>,
}

/// Draws the features of each network as discs with areas proportional to their weights, the largest alike in all panels.
///
/// All panels have one scale. A note says how many features lie outside it.
pub fn feature_grid(grid: FeatureGrid<'_>) -> Canvas {
    let (rows, columns) = (grid.rows.len(), grid.columns.len());
    let networks: Vec<Markers<'_>> = (0..rows * columns)
        .map(|index| grid.networks.get(index).copied().unwrap_or_default())
        .map(|network| Markers::new(network.w, network.magnitude, 2))
        .collect();
    let wanted = grid.reach.filter(|reach| reach.is_finite() && *reach > 0.0);
    let reach = wanted.unwrap_or_else(|| {
        let filled = networks.iter().filter(|markers| markers.count > 0);
        filled
            .map(|markers| markers.reach(&SHOWN))
            .fold(0.0, f64::max)
    });
    let scale = scale_for(reach, RADIUS, SIDE);

    let head = Head {
        title: grid.title,
        notes: vec![],
    };
    // Row titles go to the left of the labels of the axes.
    let row_title = HEADING.size + 6.0;
    let layout = Layout {
        origin: (left_room(&scale, SIDE) + row_title, head.height() + 20.0),
        size: (SIDE, SIDE),
        gap: (10.0, 10.0),
    };
    let (right, bottom) = layout.end(rows.max(1), columns.max(1));
    let mut canvas = Canvas::new((right + EDGE + 8.0).max(head.width()), bottom + 60.0);
    head.draw(&mut canvas);
    for (index, markers) in networks.iter().enumerate() {
        let (row, column) = (index / columns, index % columns);
        let panel = Panel {
            corner: layout.corner(row, column),
            size: layout.size,
            across: scale,
            up: scale,
        };
        let labels = TickLabels {
            below: row + 1 == rows,
            left: column == 0,
            overhang: 3.0,
        };
        panel.frame(&mut canvas, labels);
        let support = grid.support.get(column).copied().unwrap_or_default();
        draw_background(&mut canvas, &panel, support);
        for (w, b) in markers.within(&SHOWN, reach) {
            markers.draw(&mut canvas, panel.place(w[0], w[1]), b, RADIUS);
        }
        let below = if labels.below { "w₁" } else { "" };
        let left = if labels.left { "w₂" } else { "" };
        panel.titles(&mut canvas, ["", below, left]);
    }
    draw_titles(&mut canvas, &layout, &grid);
    let room = canvas.width - 2.0 * EDGE;
    let note = elide(&note(&networks, reach), NOTE, room);
    canvas.text((EDGE, bottom + 50.0), note, NOTE);
    canvas
}

/// Writes the titles of the columns above the first row, and those of the rows on the left.
fn draw_titles(canvas: &mut Canvas, layout: &Layout, grid: &FeatureGrid<'_>) {
    let centred = HEADING.anchored(Anchor::Middle);
    let upwards = TextStyle {
        upwards: true,
        ..centred
    };
    for (column, title) in grid.columns.iter().enumerate() {
        let (x, y) = layout.corner(0, column);
        let title = elide(title, centred, SIDE);
        canvas.text((x + 0.5 * SIDE, y - 7.0), title, centred);
    }
    for (row, title) in grid.rows.iter().enumerate() {
        let y = layout.corner(row, 0).1 + 0.5 * SIDE;
        let title = elide(title, upwards, SIDE);
        canvas.text((EDGE + 0.8 * HEADING.size, y), title, upwards);
    }
}

/// What the area of a marker shows, and how many features lie outside the scale.
fn note(networks: &[Markers<'_>], reach: f64) -> String {
    let inside = |markers: &Markers<'_>| markers.within(&SHOWN, reach).count();
    let shown: usize = networks.iter().map(inside).sum();
    let total: usize = networks.iter().map(|markers| markers.count).sum();
    let outside = match total - shown {
        0 => String::new(),
        some => format!("; {} of {} features lie outside", count(some), count(total)),
    };
    format!("area of a marker: |b|, relative to the largest of its panel{outside}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_network_gets_a_panel_with_its_support() {
        let (w, magnitude) = ([1.0, 0.0, 0.0, 1.0, 7.0, 7.0], [1.0, 2.0, 1e-3]);
        let network = Weights {
            w: &w,
            magnitude: &magnitude,
        };
        let svg = feature_grid(FeatureGrid {
            title: "",
            rows: &["GFT", "F-Opt"],
            columns: &["g1", "g2", "g3"],
            networks: &[network; 5],
            support: &[&[[1.0, 0.0], [0.0, 1.0]], &[[1.0, 1.0]], &[[0.0, 0.0]]],
            reach: None,
        })
        .to_svg();
        assert_eq!(svg.matches("<circle").count(), 5 * 2);
        assert_eq!(svg.matches("stroke-width=\"2\"").count(), 2 * 3);
        assert!(svg.contains("5 of 15 features lie outside"));
    }
}
