//! Many points in a panel: as discs, and where they would be too many, as the density of points in small squares.
//!
//! The density loses no point, however far off, and the picture stays small.

use std::collections::BTreeMap;

use crate::canvas::{Canvas, Colour};
use crate::number;
use crate::panel::Panel;
use crate::style::{BLUE, LIGHT};

/// More points than this are drawn as density.
pub const MOST: usize = 5000;

/// Draws the points and says how to read them where they are not drawn one by one.
pub fn scatter(canvas: &mut Canvas, panel: &Panel, points: &[(f64, f64)]) -> String {
    let placed: Vec<(f64, f64)> = points
        .iter()
        .map(|&(x, y)| panel.place(x, y))
        .filter(|(x, y)| x.is_finite() && y.is_finite())
        .collect();
    match placed.len() {
        0 => panel.nothing(canvas),
        1..=MOST => {
            let opacity = if placed.len() > 1000 { 0.35 } else { 0.55 };
            let radius = if placed.len() > 1000 { 1.6 } else { 2.2 };
            for centre in placed {
                canvas.disc(centre, radius, BLUE.with_opacity(opacity));
            }
        }
        _ => {
            let largest = density(canvas, panel, &placed);
            return format!(
                "darker: more points, at most {} in a square",
                number::count(largest)
            );
        }
    }
    String::new()
}

/// Draws the number of points in each square on a logarithmic scale of shades; returns the largest.
fn density(canvas: &mut Canvas, panel: &Panel, placed: &[(f64, f64)]) -> usize {
    const DARK: Colour = Colour::new(0, 34, 74);
    let mut side = 3.0;
    let mut squares = squares(panel, placed, side);
    // The smallest squares of which there are not too many; whole pixels leave no seams.
    while squares.len() > MOST {
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

/// How many points lie in each square that has any, by row and column.
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
    fn every_one_of_many_points_is_in_the_density() {
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
