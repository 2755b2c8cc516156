//! The colours, pens and text styles shared by all plots.
//!
//! A plot with one panel is about 400 pixels wide, one with several about 760, so that text prints at 6.5 to 8 points
//! in a column or across a page of a journal. The colours stay distinct in grey and with any kind of colour
//! blindness.

use crate::canvas::{Anchor, Colour, Pen, TextStyle};

/// Text and the lines of axes.
pub const INK: Colour = Colour::new(38, 41, 46);
/// Secondary text.
pub const FAINT: Colour = Colour::new(95, 100, 107);
/// The first series.
pub const BLUE: Colour = Colour::new(0, 94, 162);
/// A lighter shade of [`BLUE`].
pub const LIGHT: Colour = Colour::new(158, 202, 230);
/// The second series, and reference lines.
pub const ORANGE: Colour = Colour::new(208, 88, 0);
/// The third series.
pub const GREY: Colour = Colour::new(150, 155, 162);

/// Ordinary text, from its start.
pub const TEXT: TextStyle = TextStyle {
    size: 11.0,
    bold: false,
    colour: INK,
    anchor: Anchor::Start,
    upwards: false,
};
/// The title of a picture.
pub const TITLE: TextStyle = TextStyle {
    size: 13.0,
    bold: true,
    ..TEXT
};
/// The heading of a panel.
pub const HEADING: TextStyle = TextStyle { bold: true, ..TEXT };
/// Notes and legends.
pub const NOTE: TextStyle = TextStyle {
    size: 10.0,
    colour: FAINT,
    ..TEXT
};
/// Tick labels.
pub const NUMBER: TextStyle = TextStyle {
    size: 10.0,
    colour: INK,
    ..TEXT
};
/// The label of an axis below a panel.
pub const CENTRED: TextStyle = TEXT.anchored(Anchor::Middle);
/// The label of an axis on the left.
pub const UPWARDS: TextStyle = TextStyle {
    upwards: true,
    ..CENTRED
};

/// Frames and ticks.
pub const AXIS: Pen = Pen::solid(INK, 0.8);
/// Lines at the ticks, behind everything else.
pub const GRIDLINE: Pen = Pen::solid(Colour::new(234, 236, 239), 0.8);
/// Lines through zero and supports, behind the data.
pub const BEHIND: Pen = Pen::solid(GREY, 1.0);
/// An interval around a point.
pub const BAR: Pen = Pen::solid(LIGHT, 0.9);
/// What a perfect fit would give.
pub const REFERENCE: Pen = Pen::solid(ORANGE, 1.2).dashed();
