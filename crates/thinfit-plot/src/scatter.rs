//! Scatter plots: points as discs or, if there are too many, as their density in small squares.
//!
//! The density keeps every point, however far out, and the file stays small.

use std::collections::BTreeMap;

use crate::canvas::{Canvas, Colour};
use crate::number;
use crate::panel::{NOTE_LINE, Panel};
use crate::style::{BLUE, LIGHT};

/// More points than this are drawn as a density.
pub const MAX_DISCS: usize = 5000;

/// Height of the note that [`scatter`] returns for this many points.
pub fn note_height(points: usize) -> f64 {
    if points > MAX_DISCS { NOTE_LINE } else { 0.0 }
}

/// Draws the points; returns a note on how to read the density, empty if every point is drawn.
pub fn scatter(canvas: &mut Canvas, panel: &Panel, points: &[(f64, f64)]) -> String {
    let placed: Vec<(f64, f64)> = points
        .iter()
        .map(|&(x, y)| panel.place(x, y))
        .filter(|(x, y)| x.is_finite() && y.is_finite())
        .collect();
    match placed.len() {
        0 => panel.say_empty(canvas),
        1..=MAX_DISCS => {
            let opacity = if placed.len() > 1000 { 0.35 } else { 0.55 };
            let radius = if placed.len() > 1000 { 1.6 } else { 2.2 };
            for centre in placed {
                canvas.disc(centre, radius, BLUE.with_opacity(opacity));
            }
        }
        _ => {
            let largest = draw_density(canvas, panel, &placed);
            return format!(
                "darker: more points, at most {} in a square",
                number::count(largest)
            );
        }
    }
    String::new()
}

/// Shades each square by the logarithm of its number of points; returns the largest number.
fn draw_density(canvas: &mut Canvas, panel: &Panel, placed: &[(f64, f64)]) -> usize {
    const DARK: Colour = Colour::new(0, 34, 74);
    let mut side = 3.0;
    let mut squares = squares(panel, placed, side);
    // The smallest squares that are not too many; whole pixels leave no seams.
    while squares.len() > MAX_DISCS {
        side += 1.0;
        squares = self::squares(panel, placed, side);
    }
    let largest = squares.values().copied().max().unwrap_or(0);
    let end = panel.end();
    for ((row, column), count) in squares {
        let x = panel.corner.0 + side * column as f64;
        let y = panel.corner.1 + side * row as f64;
        let part = (count as f64).ln() / (largest as f64).ln().max(1e-9);
        let fill = if part < 0.5 {
            LIGHT.mix(BLUE, 2.0 * part)
        } else {
            BLUE.mix(DARK, 2.0 * part - 1.0)
        };
        let size = (side.min(end.0 - x), side.min(end.1 - y));
        canvas.rectangle((x, y), size, fill);
    }
    largest
}

/// The number of points in each square that has any, by row and column.
fn squares(panel: &Panel, placed: &[(f64, f64)], side: f64) -> BTreeMap<(usize, usize), usize> {
    let mut squares = BTreeMap::new();
    for (x, y) in placed {
        // A point on the right or lower edge belongs to the last square.
        let column = ((x - panel.corner.0).min(panel.size.0 - 0.5) / side) as usize;
        let row = ((y - panel.corner.1).min(panel.size.1 - 0.5) / side) as usize;
        *squares.entry((row, column)).or_insert(0) += 1;
    }
    squares
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scale::Scale;

    #[test]
    fn the_density_keeps_every_point() {
        let points: Vec<(f64, f64)> = (0..100_000)
            .map(|i| ((f64::from(i) * 0.7).sin(), (f64::from(i) * 0.3).cos()))
            .chain([(30.0, 30.0)])
            .collect();
        let panel = Panel {
            corner: (0.0, 0.0),
            size: (300.0, 300.0),
            across: Scale::around(points.iter().map(|point| point.0)),
            up: Scale::around(points.iter().map(|point| point.1)),
        };
        let mut canvas = Canvas::new(300.0, 300.0);
        let note = scatter(&mut canvas, &panel, &points);
        assert!(note.starts_with("darker: more points"), "{note}");
        let svg = canvas.to_svg();
        assert!(svg.len() < 500_000);
        // The lone point has a square of the lightest shade.
        assert_eq!(svg.matches("#9ecae6").count(), 1);
    }
}
