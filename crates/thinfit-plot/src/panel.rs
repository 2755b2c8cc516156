//! Panels: rectangles with an axis on two sides, the text around them, and their arrangement in a plot.

use crate::canvas::{Anchor, Canvas, Colour, Pen};
use crate::scale::{Scale, Tick};
use crate::style::{AXIS, CENTRED, GRIDLINE, HEADING, NOTE, NUMBER, TEXT, TITLE, UPWARDS};
use crate::text::{elide, widest, width};

/// Free space at the edges of a picture.
pub const EDGE: f64 = 12.0;
/// Room below a panel for its tick labels.
pub const BELOW_UNLABELLED: f64 = 20.0;
/// Room below a panel for its tick labels and the label of the axis.
pub const BELOW: f64 = 38.0;
/// Room above a panel for its heading.
pub const ABOVE: f64 = 20.0;
/// Wanted distance between ticks; one for both axes, so that a square panel has equal ticks.
const TICK_DISTANCE: f64 = 48.0;
/// Widest line of text above or below the panels: about that of a page.
pub const WIDEST: f64 = 740.0;
/// Height of the title of a picture.
const TITLE_LINE: f64 = 18.0;
/// Height of a line of notes.
pub const NOTE_LINE: f64 = 14.0;

/// A rectangle of the canvas with a scale in each direction.
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

/// Which sides of a panel have tick labels.
#[derive(Clone, Copy, Debug)]
pub struct TickLabels {
    /// Whether there are any below the panel.
    pub below: bool,
    /// Whether there are any to its left.
    pub left: bool,
    /// How far a label below may reach beyond a corner; those that reach further are left out.
    pub overhang: f64,
}

impl TickLabels {
    /// On both sides.
    pub const BOTH: TickLabels = TickLabels {
        below: true,
        left: true,
        overhang: 12.0,
    };
}

impl Panel {
    /// Where a point lies on the canvas.
    pub fn place(&self, x: f64, y: f64) -> (f64, f64) {
        (
            self.corner.0 + self.size.0 * self.across.position(x),
            self.corner.1 + self.size.1 * (1.0 - self.up.position(y)),
        )
    }

    /// Lower right corner.
    pub fn end(&self) -> (f64, f64) {
        (self.corner.0 + self.size.0, self.corner.1 + self.size.1)
    }

    /// Draws grid lines, frame, ticks and tick labels.
    pub fn frame(&self, canvas: &mut Canvas, labels: TickLabels) {
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
        let flush = NUMBER.anchored(Anchor::End);
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

    /// Draws the lower axis alone: grid lines, and ticks and labels if wanted.
    pub fn axis_across(&self, canvas: &mut Canvas, labels: TickLabels) {
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
        let centred = NUMBER.anchored(Anchor::Middle);
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

    /// Writes the heading above the panel and the labels of its axes, below and on the left; any may be empty.
    pub fn titles(&self, canvas: &mut Canvas, [heading, below, left]: [&str; 3]) {
        let ((x, y), (width, height)) = (self.corner, self.size);
        canvas.text((x, y - 7.0), elide(heading, HEADING, width), HEADING);
        let below = elide(below, CENTRED, width);
        canvas.text((x + 0.5 * width, self.end().1 + 31.0), below, CENTRED);
        let left = elide(left, UPWARDS, height);
        let at = x - tick_label_room(&self.up, height) - 8.0;
        canvas.text((at, y + 0.5 * height), left, UPWARDS);
    }

    /// Draws a line through the points, broken where they have no position.
    pub fn curve(&self, canvas: &mut Canvas, points: &[(f64, f64)], pen: Pen) {
        let placed: Vec<(f64, f64)> = points.iter().map(|&(x, y)| self.place(x, y)).collect();
        for run in placed.split(|(x, y)| !(x.is_finite() && y.is_finite())) {
            match run {
                [alone] => canvas.disc(*alone, pen.width, pen.colour),
                _ => canvas.line(run, pen),
            }
        }
    }

    /// Draws a horizontal line at `y`.
    pub fn level(&self, canvas: &mut Canvas, y: f64, pen: Pen) {
        let y = self.place(f64::NAN, y).1;
        canvas.line(&[(self.corner.0, y), (self.end().0, y)], pen);
    }

    /// Says in the middle of the panel that there is nothing to show.
    pub fn say_empty(&self, canvas: &mut Canvas) {
        let centred = NOTE.anchored(Anchor::Middle);
        let ((x, y), (width, height)) = (self.corner, self.size);
        let text = elide("no finite values", centred, width);
        canvas.text((x + 0.5 * width, y + 0.5 * height), text, centred);
    }

    /// Ticks of the lower axis: as many as leave gaps between their labels.
    fn ticks_across(&self, overhang: f64) -> Vec<Tick> {
        let wanted = (self.size.0 / TICK_DISTANCE) as usize;
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
        // A label too far beyond a corner would touch that of the next panel, or the edge.
        ticks.retain(|tick| {
            let end = self.size.0 * tick.position.max(1.0 - tick.position);
            end + 0.5 * width(&tick.label, NUMBER) <= self.size.0 + overhang
        });
        ticks
    }
}

/// Ticks of an axis of this height: at least three if round numbers allow.
fn ticks_up(scale: &Scale, height: f64) -> Vec<Tick> {
    let wanted = ((height / TICK_DISTANCE) as usize).clamp(2, 7);
    (wanted..wanted + 3)
        .map(|count| scale.ticks(count))
        .find(|ticks| ticks.len() > 2)
        .unwrap_or_else(|| scale.ticks(wanted))
}

/// How far the tick labels on the left of a panel reach.
fn tick_label_room(scale: &Scale, height: f64) -> f64 {
    let labels = ticks_up(scale, height).into_iter().map(|tick| tick.label);
    widest(&labels.collect::<Vec<_>>(), NUMBER) + 6.5
}

/// Room on the left of a panel of this height for its tick labels and the label of the axis, in whole pixels.
pub fn left_room(scale: &Scale, height: f64) -> f64 {
    (EDGE + TEXT.size + 6.0 + tick_label_room(scale, height)).ceil()
}

/// Equal panels in rows and columns.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// Upper left corner of the first panel.
    pub origin: (f64, f64),
    /// Width and height of each panel.
    pub size: (f64, f64),
    /// Space between neighbours, across and down.
    pub gap: (f64, f64),
}

impl Layout {
    /// The upper left corner of a panel.
    pub fn corner(&self, row: usize, column: usize) -> (f64, f64) {
        (
            self.origin.0 + column as f64 * (self.size.0 + self.gap.0),
            self.origin.1 + row as f64 * (self.size.1 + self.gap.1),
        )
    }

    /// The lower right corner of the last panel.
    pub fn end(&self, rows: usize, columns: usize) -> (f64, f64) {
        let (right, bottom) = self.corner(rows, columns);
        (right - self.gap.0, bottom - self.gap.1)
    }
}

/// The title and notes above the panels; empty ones take no room.
pub struct Head<'a> {
    /// The title.
    pub title: &'a str,
    /// The lines below the title.
    pub notes: Vec<String>,
}

impl Head<'_> {
    /// Height of the lines and of the edge above them.
    pub fn height(&self) -> f64 {
        let notes = self.notes.iter().filter(|note| !note.is_empty()).count();
        let title = if self.title.is_empty() {
            0.0
        } else {
            TITLE_LINE
        };
        EDGE + title + NOTE_LINE * notes as f64
    }

    /// The width of a picture that shows the lines whole, or as much of them as is sensible.
    pub fn width(&self) -> f64 {
        let widest = widest(&self.notes, NOTE).max(width(self.title, TITLE));
        (widest.min(WIDEST) + 2.0 * EDGE).ceil()
    }

    /// Writes the lines.
    pub fn draw(&self, canvas: &mut Canvas) {
        let room = canvas.width - 2.0 * EDGE;
        let mut y = EDGE;
        if !self.title.is_empty() {
            canvas.text((EDGE, y + 10.0), elide(self.title, TITLE, room), TITLE);
            y += TITLE_LINE;
        }
        for note in self.notes.iter().filter(|note| !note.is_empty()) {
            canvas.text((EDGE, y + 9.0), elide(note, NOTE, room), NOTE);
            y += NOTE_LINE;
        }
    }
}

/// Draws what the colours stand for, in one line that ends at `right` and is at most `room` wide.
pub fn draw_legend(
    canvas: &mut Canvas,
    (right, y): (f64, f64),
    room: f64,
    entries: &[(&str, Colour)],
) {
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
