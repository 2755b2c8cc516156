//! Panels: rectangles of the canvas with a scale on each side, what is written around them, and how they share a page.

use crate::canvas::{Anchor, Canvas, Colour, Pen, Type};
use crate::scale::{Scale, Tick};
use crate::style::{AXIS, CENTRED, GRIDLINE, HEADING, NOTE, NUMBER, TEXT, TITLE, UPWARDS};
use crate::text::{elide, width};

/// Free space at the edges of a picture.
pub const EDGE: f64 = 12.0;
/// Room below a panel for its numbers.
pub const NUMBERS: f64 = 20.0;
/// Room below a panel for its numbers and the label of the axis.
pub const BELOW: f64 = 38.0;
/// Room above a panel for its heading.
pub const ABOVE: f64 = 20.0;
/// Ticks are about this far apart, on both sides, so that equal sides have equal ticks.
const TICK: f64 = 48.0;

/// A rectangle of the canvas with a scale on each side.
pub struct Panel {
    /// Upper left corner.
    pub corner: (f64, f64),
    /// Width and height.
    pub size: (f64, f64),
    /// The scale from left to right.
    pub across: Scale,
    /// The scale from bottom to top.
    pub up: Scale,
}

/// Which sides of a panel have numbers.
#[derive(Clone, Copy, Debug)]
pub struct Labels {
    /// Numbers below the panel.
    pub below: bool,
    /// Numbers to the left of it.
    pub left: bool,
    /// How far a number below may stand out beyond the corners; one that would meet a neighbour's is left out.
    pub overhang: f64,
}

impl Labels {
    /// Numbers on both sides.
    pub const BOTH: Labels = Labels {
        below: true,
        left: true,
        overhang: 12.0,
    };
}

impl Panel {
    /// The place of a point on the canvas.
    pub fn place(&self, x: f64, y: f64) -> (f64, f64) {
        (
            self.corner.0 + self.size.0 * self.across.position(x),
            self.corner.1 + self.size.1 * (1.0 - self.up.position(y)),
        )
    }

    /// The coordinates of the right and of the lower side.
    pub fn end(&self) -> (f64, f64) {
        (self.corner.0 + self.size.0, self.corner.1 + self.size.1)
    }

    /// Grid lines, frame, ticks and numbers.
    pub fn frame(&self, canvas: &mut Canvas, labels: Labels) {
        let ((left, top), (right, bottom)) = (self.corner, self.end());
        let up = ticks_up(&self.up, self.size.1);
        for tick in &up {
            let y = bottom - self.size.1 * tick.position;
            canvas.line(&[(left, y), (right, y)], GRIDLINE);
        }
        self.axis_across(canvas, labels);
        let outline = [
            (left, top),
            (right, top),
            (right, bottom),
            (left, bottom),
            (left, top),
        ];
        canvas.line(&outline, AXIS);
        if !labels.left {
            return;
        }
        let flush = Type {
            anchor: Anchor::End,
            ..NUMBER
        };
        for tick in up {
            let y = bottom - self.size.1 * tick.position;
            canvas.line(&[(left - 4.0, y), (left, y)], AXIS);
            canvas.text((left - 6.5, y + 3.6), tick.label, flush);
        }
        for position in self.up.minor_ticks(self.size.1) {
            let y = bottom - self.size.1 * position;
            canvas.line(&[(left - 2.2, y), (left, y)], AXIS);
        }
    }

    /// The lower side alone: grid lines, and ticks and numbers where wanted.
    pub fn axis_across(&self, canvas: &mut Canvas, labels: Labels) {
        let ((left, top), (right, bottom)) = (self.corner, self.end());
        let ticks = self.ticks_across(labels.overhang);
        for tick in &ticks {
            let x = left + self.size.0 * tick.position;
            canvas.line(&[(x, top), (x, bottom)], GRIDLINE);
        }
        if !labels.below {
            return;
        }
        canvas.line(&[(left, bottom), (right, bottom)], AXIS);
        let centred = Type {
            anchor: Anchor::Middle,
            ..NUMBER
        };
        for tick in ticks {
            let x = left + self.size.0 * tick.position;
            canvas.line(&[(x, bottom), (x, bottom + 4.0)], AXIS);
            canvas.text((x, bottom + 14.5), tick.label, centred);
        }
        for position in self.across.minor_ticks(self.size.0) {
            let x = left + self.size.0 * position;
            canvas.line(&[(x, bottom), (x, bottom + 2.2)], AXIS);
        }
    }

    /// The heading above, and the labels of the axes below and on the left; an empty one takes no place.
    pub fn titles(&self, canvas: &mut Canvas, [heading, below, left]: [&str; 3]) {
        let ((x, y), (width, height)) = (self.corner, self.size);
        canvas.text((x, y - 7.0), elide(heading, HEADING, width), HEADING);
        let below = elide(below, CENTRED, width);
        canvas.text((x + 0.5 * width, self.end().1 + 31.0), below, CENTRED);
        let left = elide(left, UPWARDS, height);
        let at = x - numbers_left(&self.up, height) - 8.0;
        canvas.text((at, y + 0.5 * height), left, UPWARDS);
    }

    /// A line through the points, broken where they have no place.
    pub fn curve(&self, canvas: &mut Canvas, points: &[(f64, f64)], pen: Pen) {
        let placed: Vec<(f64, f64)> = points.iter().map(|&(x, y)| self.place(x, y)).collect();
        for run in placed.split(|(x, y)| !(x.is_finite() && y.is_finite())) {
            match run {
                [alone] => canvas.disc(*alone, pen.width, pen.colour),
                _ => canvas.line(run, pen),
            }
        }
    }

    /// A line from the left to the right side at a height of the scale.
    pub fn level(&self, canvas: &mut Canvas, y: f64, pen: Pen) {
        let y = self.place(f64::NAN, y).1;
        canvas.line(&[(self.corner.0, y), (self.end().0, y)], pen);
    }

    /// Says so in the middle of a panel that has nothing to show.
    pub fn nothing(&self, canvas: &mut Canvas) {
        let centred = Type {
            anchor: Anchor::Middle,
            ..NOTE
        };
        let ((x, y), (width, height)) = (self.corner, self.size);
        let text = elide("no finite values", centred, width);
        canvas.text((x + 0.5 * width, y + 0.5 * height), text, centred);
    }

    /// Ticks of the lower side: as many as leave a gap between their labels.
    fn ticks_across(&self, overhang: f64) -> Vec<Tick> {
        let wanted = (self.size.0 / TICK) as usize;
        let crowded = |ticks: &[Tick]| {
            ticks.windows(2).any(|pair| {
                let distance = self.size.0 * (pair[1].position - pair[0].position);
                let [left, right] =
                    [&pair[0].label, &pair[1].label].map(|label| width(label, NUMBER));
                0.5 * (left + right) + 8.0 > distance
            })
        };
        let mut ticks = (1..=wanted.clamp(3, 7))
            .rev()
            .map(|count| self.across.ticks(count))
            .find(|ticks| !crowded(ticks))
            .unwrap_or_else(|| self.across.ticks(1).into_iter().take(1).collect());
        // What stands out too far at a corner would meet the numbers of the next panel, or the edge.
        ticks.retain(|tick| {
            let end = self.size.0 * tick.position.max(1.0 - tick.position);
            end + 0.5 * width(&tick.label, NUMBER) <= self.size.0 + overhang
        });
        ticks
    }
}

/// Ticks of a side of this height: three at least, where round numbers allow.
fn ticks_up(scale: &Scale, height: f64) -> Vec<Tick> {
    let wanted = ((height / TICK) as usize).clamp(2, 7);
    (wanted..wanted + 3)
        .map(|count| scale.ticks(count))
        .find(|ticks| ticks.len() > 2)
        .unwrap_or_else(|| scale.ticks(wanted))
}

/// How far the numbers on the left of a panel reach.
fn numbers_left(scale: &Scale, height: f64) -> f64 {
    let ticks = ticks_up(scale, height);
    let widths = ticks.iter().map(|tick| width(&tick.label, NUMBER));
    widths.fold(0.0, f64::max) + 6.5
}

/// Room on the left of a panel of this height for its numbers and the label of the axis; a whole number.
pub fn left_room(scale: &Scale, height: f64) -> f64 {
    (EDGE + TEXT.size + 6.0 + numbers_left(scale, height)).ceil()
}

/// Where the panels of a grid lie.
#[derive(Clone, Copy, Debug)]
pub struct Grid {
    /// Upper left corner of the first panel.
    pub origin: (f64, f64),
    /// Width and height of each panel.
    pub size: (f64, f64),
    /// Space between neighbours, across and down.
    pub gap: (f64, f64),
}

impl Grid {
    /// The upper left corner of a panel.
    pub fn corner(&self, row: usize, column: usize) -> (f64, f64) {
        (
            self.origin.0 + column as f64 * (self.size.0 + self.gap.0),
            self.origin.1 + row as f64 * (self.size.1 + self.gap.1),
        )
    }

    /// The right and lower ends of a grid of so many panels.
    pub fn end(&self, rows: usize, columns: usize) -> (f64, f64) {
        let (right, bottom) = self.corner(rows, columns);
        (right - self.gap.0, bottom - self.gap.1)
    }
}

/// The lines above the panels of a picture; an empty one takes no room.
pub struct Head<'a> {
    /// Its title.
    pub title: &'a str,
    /// What is said below the title.
    pub notes: Vec<String>,
}

impl Head<'_> {
    /// The height that the lines take.
    pub fn height(&self) -> f64 {
        let notes = self.notes.iter().filter(|note| !note.is_empty()).count();
        let title = if self.title.is_empty() { 0.0 } else { 18.0 };
        EDGE + title + 14.0 * notes as f64
    }

    /// Writes the lines.
    pub fn draw(&self, canvas: &mut Canvas) {
        let room = canvas.width - 2.0 * EDGE;
        let mut y = EDGE;
        if !self.title.is_empty() {
            canvas.text((EDGE, y + 10.0), elide(self.title, TITLE, room), TITLE);
            y += 18.0;
        }
        for note in self.notes.iter().filter(|note| !note.is_empty()) {
            canvas.text((EDGE, y + 9.0), elide(note, NOTE, room), NOTE);
            y += 14.0;
        }
    }
}

/// Names of colours in one line that ends at `right` and takes at most `room`.
pub fn key(canvas: &mut Canvas, (right, y): (f64, f64), room: f64, entries: &[(&str, Colour)]) {
    const SPACE: f64 = 26.0;
    let widths = entries.iter().map(|(label, _)| width(label, NOTE) + SPACE);
    let each = match widths.sum::<f64>() <= room {
        true => room,
        false => (room / entries.len() as f64 - SPACE).max(0.0),
    };
    let mut x = right;
    for &(label, colour) in entries.iter().rev() {
        let label = elide(label, NOTE, each);
        x -= width(&label, NOTE);
        canvas.text((x, y), label, NOTE);
        canvas.rectangle((x - 13.0, y - 8.0), (9.0, 9.0), colour);
        x -= SPACE;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_below_a_panel_do_not_touch() {
        let ticks = |width: f64| {
            let panel = Panel {
                corner: (0.0, 0.0),
                size: (width, 100.0),
                across: Scale::symmetric([1.3]),
                up: Scale::symmetric([1.3]),
            };
            panel.ticks_across(12.0).len()
        };
        assert_eq!(ticks(400.0), 5);
        assert_eq!(ticks(130.0), 3);
        assert!(ticks(10.0) <= 1);
    }

    #[test]
    fn a_curve_breaks_where_it_has_no_value() {
        let panel = Panel {
            corner: (0.0, 0.0),
            size: (100.0, 100.0),
            across: Scale::around([0.0, 9.0]),
            up: Scale::around([0.0, 9.0]),
        };
        let mut canvas = Canvas::new(100.0, 100.0);
        let y = [1.0, 2.0, f64::NAN, 3.0, f64::INFINITY, 3.0, 4.0];
        let points: Vec<(f64, f64)> = (0..).map(f64::from).zip(y).collect();
        panel.curve(&mut canvas, &points, AXIS);
        let svg = canvas.to_svg();
        assert_eq!(svg.matches("<polyline").count(), 2);
        assert_eq!(svg.matches("<circle").count(), 1);
    }
}
