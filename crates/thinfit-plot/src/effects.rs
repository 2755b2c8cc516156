//! The effect of each input alone, in small panels with a common scale.

use crate::canvas::{Canvas, Pen};
use crate::level_names::LevelNames;
use crate::panel::{EDGE, Head, Layout, Panel, TickLabels, left_room};
use crate::scale::Scale;
use crate::style::{BEHIND, BLUE, CENTRED, INK, UPWARDS};
use crate::text::{Label, elide, wrap};

/// Maximum number of panels.
const MAX_PANELS: usize = 24;

/// Height of a line of the name of an input.
const LINE: f64 = 13.0;

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
    /// Lines below the title, such as what the bands are.
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
        notes: bands.lines().map(str::to_owned).chain([note]).collect(),
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
    // Long names of levels read upwards, if they are not too long for a picture of many rows.
    let longest = if columns > 3 { 70.0 } else { 150.0 };
    let feet: Vec<Foot> = (shown.iter())
        .map(|effect| Foot {
            levels: LevelNames::new(effect.levels, size.0, longest),
            input: wrap(effect.input, CENTRED, size.0, 2),
        })
        .collect();
    // Each row has the room that it needs below.
    let rooms: Vec<f64> = (0..rows)
        .map(|row| {
            let feet = feet.iter().skip(row * columns).take(columns);
            feet.map(Foot::height).fold(0.0, f64::max)
        })
        .collect();
    let layout = Layout {
        origin: (left_room(&up, size.1), head.height() + 8.0),
        size,
        gap: (18.0, 48.0),
    };
    let top = |row: usize| layout.corner(row, 0).1 + rooms[..row].iter().sum::<f64>();
    let (right, bottom) = (layout.end(1, columns).0, top(rows - 1) + size.1);
    let width = (right + EDGE + 8.0).max(head.width());
    let mut canvas = Canvas::new(width, bottom + 42.0 + rooms[rows - 1]);
    head.draw(&mut canvas);
    let zero = Pen::solid(BEHIND.colour, 0.8);
    for (index, (effect, foot)) in shown.iter().zip(&feet).enumerate() {
        let column = index % columns;
        let values = effect.x.iter().zip(effect.y);
        let drawn = values.filter(|(_, y)| y.is_finite()).map(|(x, _)| *x);
        let panel = Panel {
            corner: (layout.corner(0, column).0, top(index / columns)),
            size,
            across: match (effect.levels.len(), effect.warp) {
                (0, None) => Scale::around(drawn),
                (0, Some(warp)) => Scale::warped(drawn, warp),
                (count, _) => LevelNames::scale(count),
            },
            up,
        };
        let labels = TickLabels {
            below: effect.levels.is_empty(),
            left: column == 0,
            overhang: 6.0,
        };
        panel.frame(&mut canvas, labels);
        foot.draw(&mut canvas, &panel);
        // If all effects are far from zero, its line would lie on the frame.
        if (0.001..0.999).contains(&up.position(0.0)) {
            panel.level(&mut canvas, 0.0, zero);
        }
        draw_effect(&mut canvas, &panel, effect);
    }
    // One label for all rows; the title also names the output.
    let height = bottom - layout.origin.1;
    let label = match elide(&format!("effect on {quantity}"), UPWARDS, height) {
        cut if cut.whole.is_some() => elide("effect", UPWARDS, height),
        whole => whole,
    };
    let at = (EDGE + 0.8 * UPWARDS.size, layout.origin.1 + 0.5 * height);
    canvas.text(at, label, UPWARDS);
    canvas
}

/// What stands below a panel: the names of levels, if it has some, and the name of the input.
struct Foot {
    levels: LevelNames,
    input: Vec<Label>,
}

impl Foot {
    /// Its height beyond that of two lines.
    fn height(&self) -> f64 {
        self.levels.height() + LINE * (self.input.len() - 1) as f64
    }

    fn draw(&self, canvas: &mut Canvas, panel: &Panel) {
        self.levels.draw(canvas, panel);
        let middle = panel.corner.0 + 0.5 * panel.size.0;
        let start = panel.end().1 + self.levels.height() + 31.0;
        for (line, number) in self.input.iter().zip(0..) {
            let y = start + LINE * f64::from(number);
            canvas.text((middle, y), line.clone(), CENTRED);
        }
    }
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
