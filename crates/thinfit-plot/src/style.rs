//! Colours, pens and type of every picture.
//!
//! A picture of one panel is about 400 pixels wide and one of several about 760, so that on a column or a page of a
//! journal the text comes out at 6.5 to 8 points. The colours are told apart by readers with any kind of colour
//! blindness, and in grey.

use crate::canvas::{Anchor, Colour, Pen, Type};

/// Text and the lines of axes.
pub const INK: Colour = Colour::new(38, 41, 46);
/// Secondary text.
pub const FAINT: Colour = Colour::new(95, 100, 107);
/// The first series.
pub const BLUE: Colour = Colour::new(0, 94, 162);
/// A lighter shade of it.
pub const LIGHT: Colour = Colour::new(158, 202, 230);
/// The second series, and lines to compare with.
pub const ORANGE: Colour = Colour::new(208, 88, 0);
/// The third series.
pub const GREY: Colour = Colour::new(150, 155, 162);

const GRID: Colour = Colour::new(234, 236, 239);

/// Text of the usual size, at the start of its position.
pub const TEXT: Type = Type {
    size: 11.0,
    bold: false,
    colour: INK,
    anchor: Anchor::Start,
    upwards: false,
};
/// The title of a picture.
pub const TITLE: Type = Type {
    size: 13.0,
    bold: true,
    ..TEXT
};
/// The heading of a panel.
pub const HEADING: Type = Type { bold: true, ..TEXT };
/// Remarks and keys.
pub const NOTE: Type = Type {
    size: 10.0,
    colour: FAINT,
    ..TEXT
};
/// Numbers at the axes.
pub const NUMBER: Type = Type {
    size: 10.0,
    colour: INK,
    ..TEXT
};
/// The label of an axis below a panel.
pub const CENTRED: Type = Type {
    anchor: Anchor::Middle,
    ..TEXT
};
/// The label of an axis on the left.
pub const UPWARDS: Type = Type {
    upwards: true,
    ..CENTRED
};

/// Frames and ticks.
pub const AXIS: Pen = Pen {
    colour: INK,
    width: 0.8,
    dashed: false,
};
/// Lines at round numbers, behind everything.
pub const GRIDLINE: Pen = Pen {
    colour: GRID,
    ..AXIS
};
/// Zero and supports, behind the data.
pub const BEHIND: Pen = Pen {
    colour: GREY,
    width: 1.0,
    dashed: false,
};
/// What a perfect fit would show.
pub const REFERENCE: Pen = Pen {
    colour: ORANGE,
    width: 1.2,
    dashed: true,
};
