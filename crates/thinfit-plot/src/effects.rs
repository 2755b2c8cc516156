//! The effect of each input alone: small panels with a common scale.

use crate::canvas::{Canvas, Pen};
use crate::panel::{EDGE, Grid, Head, Labels, Panel, left_room};
use crate::scale::Scale;
use crate::style::{BEHIND, BLUE, INK, UPWARDS};
use crate::text::elide;

/// More panels than this are not read.
const MOST: usize = 24;

/// The effect of one input.
#[derive(Clone, Copy, Debug)]
pub struct Effect<'a> {
    /// The name of the input.
    pub input: &'a str,
    /// Values of the input, ascending.
    pub x: &'a [f64],
    /// The effect at each.
    pub y: &'a [f64],
    /// A lower and an upper bound on the effect at each.
    pub band: Option<(&'a [f64], &'a [f64])>,
    /// Values of the input in the data, such as their quantiles, marked on the axis; may be empty.
    pub rug: &'a [f64],
}

/// The effects of the inputs on one output, in the order in which they are to be shown.
#[derive(Clone, Copy, Debug)]
pub struct Effects<'a> {
    /// The title.
    pub title: &'a str,
    /// The output, with its unit where it has one.
    pub quantity: &'a str,
    /// One for each input.
    pub effects: &'a [Effect<'a>],
}

/// Draws a curve for each input with its band; all panels have one scale of the output.
///
/// Twenty-four inputs at most are shown; a line says how many are not.
pub fn effects(effects: Effects<'_>) -> Canvas {
    let Effects {
        title,
        quantity,
        effects,
    } = effects;
    let (shown, rest) = effects.split_at(effects.len().min(MOST));
    let bounds = |effect: &Effect<'_>| {
        let (low, high) = effect.band.unwrap_or((&[], &[]));
        [effect.y, low, high].concat()
    };
    let up = Scale::around(shown.iter().flat_map(bounds));
    let note = match rest.len() {
        0 => String::new(),
        rest => format!("the first {MOST} inputs; {rest} more are not shown"),
    };
    let head = Head {
        title,
        notes: vec![note],
    };
    let columns = match shown.len() {
        0..=3 => shown.len().max(1),
        4 => 2,
        5..=9 => 3,
        _ => 4,
    };
    let rows = shown.len().div_ceil(columns).max(1);
    let size = match columns {
        4 => (152.0, 104.0),
        3 => (198.0, 132.0),
        _ => (240.0, 160.0),
    };
    let grid = Grid {
        origin: (left_room(&up, size.1), head.height() + 8.0),
        size,
        gap: (18.0, 48.0),
    };
    let (right, bottom) = grid.end(rows, columns);
    let mut canvas = Canvas::new(right + EDGE + 8.0, bottom + 42.0);
    head.draw(&mut canvas);
    let zero = Pen {
        width: 0.8,
        ..BEHIND
    };
    for (index, effect) in shown.iter().enumerate() {
        let column = index % columns;
        let values = effect.x.iter().zip(effect.y);
        let drawn = values.filter(|(_, y)| y.is_finite()).map(|(x, _)| *x);
        let panel = Panel {
            corner: grid.corner(index / columns, column),
            size,
            across: Scale::around(drawn),
            up,
        };
        let labels = Labels {
            below: true,
            left: column == 0,
            overhang: 6.0,
        };
        panel.frame(&mut canvas, labels);
        // Where all effects are far from zero, its line would lie on the frame.
        if (0.001..0.999).contains(&up.position(0.0)) {
            panel.level(&mut canvas, 0.0, zero);
        }
        draw_effect(&mut canvas, &panel, effect);
        panel.titles(&mut canvas, ["", effect.input, ""]);
    }
    // One label serves all rows.
    let (top, height) = (grid.origin.1, bottom - grid.origin.1);
    let label = elide(&format!("effect on {quantity}"), UPWARDS, height);
    let at = (EDGE + 0.8 * UPWARDS.size, top + 0.5 * height);
    canvas.text(at, label, UPWARDS);
    canvas
}

fn draw_effect(canvas: &mut Canvas, panel: &Panel, effect: &Effect<'_>) {
    if let Some((low, high)) = effect.band {
        let bounds: Vec<[(f64, f64); 2]> = effect
            .x
            .iter()
            .zip(low.iter().zip(high))
            .map(|(&x, (&low, &high))| [panel.place(x, low), panel.place(x, high)])
            .collect();
        let whole = |bound: &[(f64, f64); 2]| bound.iter().all(|(x, y)| (x + y).is_finite());
        for run in bounds.split(|bound| !whole(bound)) {
            let low = run.iter().map(|[low, _]| *low);
            let high = run.iter().rev().map(|[_, high]| *high);
            let corners: Vec<(f64, f64)> = low.chain(high).collect();
            canvas.area(&corners, BLUE.with_opacity(0.18));
        }
    }
    let points: Vec<(f64, f64)> = effect
        .x
        .iter()
        .copied()
        .zip(effect.y.iter().copied())
        .collect();
    let pen = Pen {
        colour: BLUE,
        width: 1.8,
        dashed: false,
    };
    panel.curve(canvas, &points, pen);
    if !points.iter().any(|(x, y)| x.is_finite() && y.is_finite()) {
        panel.nothing(canvas);
    }
    let mark = Pen {
        colour: INK.with_opacity(0.7),
        width: 0.7,
        dashed: false,
    };
    let bottom = panel.end().1;
    for &value in effect.rug {
        let position = panel.across.position(value);
        // What lies beyond the curve is not marked at its end.
        if position > 0.0 && position < 1.0 {
            let x = panel.corner.0 + panel.size.0 * position;
            canvas.line(&[(x, bottom - 5.0), (x, bottom)], mark);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_most_twenty_four_inputs_are_shown() {
        let names: Vec<String> = (1..=30).map(|k| format!("x{k}")).collect();
        let x = [0.0, 0.5, 1.0];
        let each: Vec<Effect<'_>> = names
            .iter()
            .map(|input| Effect {
                input,
                x: &x,
                y: &[0.0, 1.0, f64::NAN],
                band: Some((&[-1.0, 0.5, 1.0], &[1.0, 1.5, 2.0])),
                rug: &[0.2, 0.8],
            })
            .collect();
        let svg = effects(Effects {
            title: "Effects",
            quantity: "y",
            effects: &each,
        })
        .to_svg();
        assert!(svg.contains("the first 24 inputs; 6 more are not shown"));
        assert!(svg.contains(">x24<") && !svg.contains(">x25<"));
    }
}
