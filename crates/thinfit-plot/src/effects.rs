//! The effect of each input alone, in small panels with a common scale.

use crate::canvas::{Anchor, Canvas, Pen};
use crate::panel::{EDGE, Head, Layout, Panel, TickLabels, left_room};
use crate::scale::Scale;
use crate::style::{AXIS, BEHIND, BLUE, INK, NUMBER, UPWARDS};
use crate::text::elide;

/// Nobody reads more panels than this.
const MAX_PANELS: usize = 24;

/// Room for the name of a level.
const SHORTEST: f64 = 34.0;

/// The effect of one input.
#[derive(Clone, Copy, Debug)]
pub struct Effect<'a> {
    /// The name of the input.
    pub input: &'a str,
    /// Values of the input, ascending; 0, 1, … for levels.
    pub x: &'a [f64],
    /// Names of the levels of an input that is not a number; empty for numbers.
    pub levels: &'a [String],
    /// The effect at each value.
    pub y: &'a [f64],
    /// A lower and an upper bound on the effect at each value.
    pub band: Option<(&'a [f64], &'a [f64])>,
    /// Centre and width of an axis that is even in asinh((x − centre)/width); none for a linear one.
    pub warp: Option<[f64; 2]>,
    /// Values to mark on the axis, such as quantiles of the input in the data; may be empty.
    pub rug: &'a [f64],
}

/// The effects of the inputs on one output, in the order to show them.
#[derive(Clone, Copy, Debug)]
pub struct Effects<'a> {
    /// The title.
    pub title: &'a str,
    /// A line below the title, such as what the bands are.
    pub note: &'a str,
    /// The output, with its unit if it has one.
    pub quantity: &'a str,
    /// One for each input.
    pub effects: &'a [Effect<'a>],
}

/// Draws a curve with its band for each input; all panels share the scale of the output.
///
/// Shows at most twenty-four inputs, and a note says how many more there are.
pub fn effects(effects: Effects<'_>) -> Canvas {
    let Effects {
        title,
        note: bands,
        quantity,
        effects,
    } = effects;
    let (shown, rest) = effects.split_at(effects.len().min(MAX_PANELS));
    let bounds = |effect: &Effect<'_>| {
        let (low, high) = effect.band.unwrap_or((&[], &[]));
        [effect.y, low, high].concat()
    };
    let up = Scale::around(shown.iter().flat_map(bounds));
    let note = match rest.len() {
        0 => String::new(),
        rest => format!("the first {MAX_PANELS} inputs; {rest} more are not shown"),
    };
    let head = Head {
        title,
        notes: vec![bands.into(), note],
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
    let layout = Layout {
        origin: (left_room(&up, size.1), head.height() + 8.0),
        size,
        gap: (18.0, 48.0),
    };
    let (right, bottom) = layout.end(rows, columns);
    let mut canvas = Canvas::new(right + EDGE + 8.0, bottom + 42.0);
    head.draw(&mut canvas);
    let zero = Pen::solid(BEHIND.colour, 0.8);
    for (index, effect) in shown.iter().enumerate() {
        let column = index % columns;
        let values = effect.x.iter().zip(effect.y);
        let drawn = values.filter(|(_, y)| y.is_finite()).map(|(x, _)| *x);
        let panel = Panel {
            corner: layout.corner(index / columns, column),
            size,
            across: match (effect.levels.len(), effect.warp) {
                (0, None) => Scale::around(drawn),
                (0, Some(warp)) => Scale::warped(drawn, warp),
                (count, _) => Scale::around([-0.5, count as f64 - 0.5]),
            },
            up,
        };
        let labels = TickLabels {
            below: effect.levels.is_empty(),
            left: column == 0,
            overhang: 6.0,
        };
        panel.frame(&mut canvas, labels);
        name_levels(&mut canvas, &panel, effect.levels);
        // If all effects are far from zero, its line would lie on the frame.
        if (0.001..0.999).contains(&up.position(0.0)) {
            panel.level(&mut canvas, 0.0, zero);
        }
        draw_effect(&mut canvas, &panel, effect);
        panel.titles(&mut canvas, ["", effect.input, ""]);
    }
    // One label for all rows.
    let (top, height) = (layout.origin.1, bottom - layout.origin.1);
    let label = elide(&format!("effect on {quantity}"), UPWARDS, height);
    let at = (EDGE + 0.8 * UPWARDS.size, top + 0.5 * height);
    canvas.text(at, label, UPWARDS);
    canvas
}

fn draw_effect(canvas: &mut Canvas, panel: &Panel, effect: &Effect<'_>) {
    match effect.band {
        Some(band) if effect.levels.is_empty() => draw_band(canvas, panel, effect.x, band),
        Some((low, high)) => {
            for ((&x, &low), &high) in effect.x.iter().zip(low).zip(high) {
                if (low + high).is_finite() {
                    let ends = [panel.place(x, low), panel.place(x, high)];
                    canvas.line(&ends, Pen::solid(BLUE.with_opacity(0.35), 5.0));
                }
            }
        }
        None => {}
    }
    let points: Vec<(f64, f64)> = effect
        .x
        .iter()
        .copied()
        .zip(effect.y.iter().copied())
        .collect();
    match effect.levels.is_empty() {
        true => panel.curve(canvas, &points, Pen::solid(BLUE, 1.8)),
        false => draw_levels(canvas, panel, &points),
    }
    if !points.iter().any(|(x, y)| x.is_finite() && y.is_finite()) {
        panel.say_empty(canvas);
    }
    let mark = Pen::solid(INK.with_opacity(0.7), 0.7);
    let bottom = panel.end().1;
    for &value in effect.rug {
        let position = panel.across.position(value);
        // Values beyond the curve would all be marked at its end.
        if position > 0.0 && position < 1.0 {
            let x = panel.corner.0 + panel.size.0 * position;
            canvas.line(&[(x, bottom - 5.0), (x, bottom)], mark);
        }
    }
}

/// Draws a disc at each level.
fn draw_levels(canvas: &mut Canvas, panel: &Panel, points: &[(f64, f64)]) {
    for &(x, y) in points.iter().filter(|(_, y)| y.is_finite()) {
        canvas.disc(panel.place(x, y), 3.2, BLUE);
    }
}

/// Writes the names of levels below the axis, as many as there is room for.
fn name_levels(canvas: &mut Canvas, panel: &Panel, levels: &[String]) {
    let room = panel.place(1.0, 0.0).0 - panel.place(0.0, 0.0).0;
    // Of many levels every second, third, … has a name of a few letters.
    let every = (SHORTEST / room).ceil().max(1.0) as usize;
    let bottom = panel.end().1;
    let centred = NUMBER.anchored(Anchor::Middle);
    for (k, name) in levels.iter().enumerate().step_by(every) {
        let x = panel.place(k as f64, 0.0).0;
        canvas.line(&[(x, bottom), (x, bottom + 4.0)], AXIS);
        // Not into the panel beside.
        let edge = (x - panel.corner.0).min(panel.end().0 - x) + 6.0;
        let name = elide(name, NUMBER, (every as f64 * room - 6.0).min(2.0 * edge));
        canvas.text((x, bottom + 14.5), name, centred);
    }
}

/// Fills the area between the bounds, broken where they are not finite.
fn draw_band(canvas: &mut Canvas, panel: &Panel, x: &[f64], (low, high): (&[f64], &[f64])) {
    let bounds: Vec<[(f64, f64); 2]> = x
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
                levels: &[],
                x: &x,
                y: &[0.0, 1.0, f64::NAN],
                band: Some((&[-1.0, 0.5, 1.0], &[1.0, 1.5, 2.0])),
                warp: Some([0.0, 0.1]),
                rug: &[0.2, 0.8],
            })
            .collect();
        let svg = effects(Effects {
            title: "Effects",
            note: "",
            quantity: "y",
            effects: &each,
        })
        .to_svg();
        assert!(svg.contains("the first 24 inputs; 6 more are not shown"));
        assert!(svg.contains(">x24<") && !svg.contains(">x25<"));
    }

    #[test]
    fn levels_have_names_and_discs() {
        let draw = |count: usize| {
            let levels: Vec<String> = (0..count).map(|k| format!("L{k}")).collect();
            let x: Vec<f64> = (0..count).map(|k| k as f64).collect();
            let one = Effect {
                input: "material",
                levels: &levels,
                x: &x,
                y: &x,
                band: Some((&x, &x)),
                warp: None,
                rug: &[],
            };
            effects(Effects {
                title: "",
                note: "",
                quantity: "y",
                effects: &[one],
            })
            .to_svg()
        };
        let few = draw(3);
        assert!((0..3).all(|k| few.contains(&format!(">L{k}<"))));
        assert_eq!(few.matches("<circle").count(), 3);
        let many = draw(40);
        assert!(many.contains(">L0<") && !many.contains(">L1<"));
    }
}
