//! Features as markers: a disc at the hidden weights `w_l`, its area proportional to the output weight `|b_l|`.

use crate::canvas::{Canvas, Pen};
use crate::panel::Panel;
use crate::scale::Scale;
use crate::style::{BEHIND, BLUE};

/// The radius of the feature with the largest weight.
pub const RADIUS: f64 = 8.0;
/// More markers than this would hide each other.
const MAX_MARKERS: usize = 2000;

/// The features of a network with finite weights, by falling output weight.
pub struct Markers<'a> {
    rows: Vec<(&'a [f64], f64)>,
    /// How many features there are.
    pub count: usize,
}

impl<'a> Markers<'a> {
    /// From hidden weights (width × inputs, row-major) and the output weights or their magnitudes.
    pub fn new(w: &'a [f64], magnitude: &[f64], inputs: usize) -> Self {
        let magnitudes = magnitude.iter().map(|b| b.abs());
        let mut rows: Vec<(&[f64], f64)> = w
            .chunks_exact(inputs.max(1))
            .zip(magnitudes)
            .filter(|(row, b)| b.is_finite() && row.iter().all(|value| value.is_finite()))
            .collect();
        let count = rows.len();
        // The largest are drawn first, so that they hide no small one.
        rows.sort_by(|a, b| b.1.total_cmp(&a.1));
        rows.truncate(MAX_MARKERS);
        Markers { rows, count }
    }

    /// The largest output weight.
    pub fn largest(&self) -> f64 {
        self.rows.first().map_or(0.0, |(_, b)| *b)
    }

    /// The share of the output weight `b` in the sum of all that are drawn.
    pub fn share(&self, b: f64) -> f64 {
        let largest = self.largest();
        let total: f64 = (self.rows.iter()).map(|(_, b)| relative(*b, largest)).sum();
        relative(b, largest) / total.max(1.0)
    }

    /// The smallest bound on the shown coordinates such that the features within it hold 99 % of the weight.
    pub fn reach(&self, shown: &[usize]) -> f64 {
        let mut bounds: Vec<(f64, f64)> = self
            .rows
            .iter()
            .map(|(row, b)| {
                let bound = shown.iter().map(|&k| row[k].abs()).fold(0.0, f64::max);
                (bound, relative(*b, self.largest()))
            })
            .collect();
        bounds.sort_by(|a, b| a.0.total_cmp(&b.0));
        let total: f64 = bounds.iter().map(|(_, b)| b).sum();
        let mut held = 0.0;
        let most = bounds.iter().find(|(bound, b)| {
            held += b;
            held >= 0.99 * total && *bound > 0.0
        });
        most.map_or(1.0, |(bound, _)| bound.clamp(1e-300, 1e300))
    }

    /// The features within a bound on the shown coordinates, by falling weight.
    pub fn within(&self, shown: &[usize], reach: f64) -> impl Iterator<Item = (&'a [f64], f64)> {
        self.rows
            .iter()
            .copied()
            .filter(move |(row, _)| shown.iter().all(|&k| row[k].abs() <= reach))
    }

    /// Draws the marker of a feature with weight `b`; the largest weight gets `radius`.
    pub fn draw(&self, canvas: &mut Canvas, centre: (f64, f64), b: f64, radius: f64) {
        let radius = (radius * relative(b, self.largest()).sqrt()).max(0.9);
        canvas.disc(centre, radius, BLUE.with_opacity(0.55));
    }
}

fn relative(b: f64, largest: f64) -> f64 {
    if largest > 0.0 { b / largest } else { 0.0 }
}

/// A scale on which markers within `reach` do not cross the frame of a panel with this side.
pub fn scale_for(reach: f64, radius: f64, side: f64) -> Scale {
    Scale::symmetric([reach * (1.0 + 2.0 * radius / side)])
}

/// Draws the lines through zero along both axes, and those of the support along its directions.
pub fn draw_background(canvas: &mut Canvas, panel: &Panel, support: &[[f64; 2]]) {
    let ((left, top), (right, bottom)) = (panel.corner, panel.end());
    let zero = panel.place(0.0, 0.0);
    let faint = Pen::solid(BEHIND.colour, 0.6).dashed();
    canvas.line(&[(left, zero.1), (right, zero.1)], faint);
    canvas.line(&[(zero.0, top), (zero.0, bottom)], faint);
    let thick = Pen::solid(BEHIND.colour, 2.0);
    let half = (0.5 * panel.size.0, 0.5 * panel.size.1);
    for direction in support {
        let length = direction[0].abs().max(direction[1].abs());
        // The zero direction gives points that are not finite, which the canvas skips.
        let step = (
            half.0 * direction[0] / length,
            half.1 * direction[1] / length,
        );
        let ends = [
            (zero.0 - step.0, zero.1 + step.1),
            (zero.0 + step.0, zero.1 - step.1),
        ];
        canvas.line(&ends, thick);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_distant_feature_of_small_weight_does_not_stretch_the_reach() {
        let w = [1.0, 0.0, 0.0, 2.0, 90.0, 0.0];
        let markers = Markers::new(&w, &[10.0, -10.0, 0.01], 2);
        assert_eq!(markers.reach(&[0, 1]), 2.0);
        assert_eq!(markers.reach(&[0]), 1.0);
        assert_eq!(markers.within(&[0, 1], 2.0).count(), 2);
        assert_eq!(markers.largest(), 10.0);
    }
}
