//! A drawing surface for lines, areas, rectangles, discs and text, written as SVG or PNG.
//!
//! Both outputs come from one list of shapes, so they agree. We use no plotting library: the plots need only these
//! few shapes, and the best-looking library doubled the time of a first build. Text in the PNG is DejaVu Sans,
//! compiled in; the SVG names that font and falls back to the viewer's own.
//!
//! Lengths are in SVG pixels, and `y` points down. Shapes whose coordinates are not finite are skipped.

use crate::text::Label;
use crate::{png, svg};

/// A colour with opacity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Colour {
    /// Red, green and blue.
    pub rgb: [u8; 3],
    /// From 0 (invisible) to 1 (opaque).
    pub opacity: f32,
}

impl Colour {
    /// An opaque colour from its three channels.
    pub const fn new(red: u8, green: u8, blue: u8) -> Self {
        Colour {
            rgb: [red, green, blue],
            opacity: 1.0,
        }
    }

    /// The same colour at another opacity.
    pub const fn with_opacity(self, opacity: f32) -> Self {
        Colour { opacity, ..self }
    }

    /// The colour a fraction `part` of the way to `other`: this one at 0, the other at 1.
    pub fn mix(self, other: Colour, part: f64) -> Self {
        let rgb = std::array::from_fn(|channel| {
            let (from, to) = (f64::from(self.rgb[channel]), f64::from(other.rgb[channel]));
            (from + part * (to - from)).round() as u8
        });
        Colour { rgb, ..self }
    }
}

/// How a line is drawn.
#[derive(Clone, Copy, Debug)]
pub struct Pen {
    /// Its colour.
    pub colour: Colour,
    /// Its width.
    pub width: f64,
    /// Whether it is dashed.
    pub dashed: bool,
}

impl Pen {
    /// A pen without dashes.
    pub const fn solid(colour: Colour, width: f64) -> Self {
        Pen {
            colour,
            width,
            dashed: false,
        }
    }

    /// The same pen, dashed.
    pub const fn dashed(self) -> Self {
        Pen {
            dashed: true,
            ..self
        }
    }
}

/// The lengths of a dash and of the gap that follows.
pub const DASH: [f64; 2] = [4.0, 3.0];

/// Which point of a text is placed at its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// Its beginning.
    Start,
    /// Its centre.
    Middle,
    /// Its end.
    End,
}

impl Anchor {
    /// The fraction of a text that lies before its position.
    pub fn before(self) -> f64 {
        match self {
            Anchor::Start => 0.0,
            Anchor::Middle => 0.5,
            Anchor::End => 1.0,
        }
    }
}

/// How a text is set.
#[derive(Clone, Copy, Debug)]
pub struct TextStyle {
    /// Font size: the height of an em.
    pub size: f64,
    /// Whether it is bold.
    pub bold: bool,
    /// Its colour.
    pub colour: Colour,
    /// Which point is placed at its position.
    pub anchor: Anchor,
    /// Whether it is rotated to read upwards.
    pub upwards: bool,
}

impl TextStyle {
    /// The same style with another anchor.
    pub const fn anchored(self, anchor: Anchor) -> Self {
        TextStyle { anchor, ..self }
    }
}

/// One element of a picture, with its place and its looks.
pub enum Shape {
    /// A line through points.
    Line { points: Vec<(f64, f64)>, pen: Pen },
    /// A filled polygon.
    Area {
        corners: Vec<(f64, f64)>,
        fill: Colour,
    },
    /// A filled rectangle from its upper left corner.
    Rectangle {
        corner: (f64, f64),
        size: (f64, f64),
        fill: Colour,
    },
    /// A filled disc.
    Disc {
        centre: (f64, f64),
        radius: f64,
        fill: Colour,
    },
    /// A line of text with its baseline through `at`.
    Text {
        at: (f64, f64),
        text: Label,
        style: TextStyle,
    },
}

/// A picture, ready to be written as SVG or PNG.
pub struct Canvas {
    pub(crate) width: f64,
    pub(crate) height: f64,
    pub(crate) shapes: Vec<Shape>,
}

impl Canvas {
    /// The picture as SVG.
    pub fn to_svg(&self) -> String {
        svg::write(self)
    }

    /// The picture as PNG with `dots` dots per SVG pixel; 2 suits a screen, 4 suits print.
    ///
    /// Fails if the PNG would have no dots or more than a hundred million.
    pub fn to_png(&self, dots: f64) -> Result<Vec<u8>, String> {
        png::write(self, dots)
    }

    /// An empty white surface.
    pub(crate) fn new(width: f64, height: f64) -> Self {
        let mut canvas = Canvas {
            width,
            height,
            shapes: Vec::new(),
        };
        canvas.rectangle((0.0, 0.0), (width, height), Colour::new(255, 255, 255));
        canvas
    }

    /// A line through the points.
    pub(crate) fn line(&mut self, points: &[(f64, f64)], pen: Pen) {
        if points.len() > 1 && points.iter().all(|&point| drawable(point)) {
            let points = points.to_vec();
            self.shapes.push(Shape::Line { points, pen });
        }
    }

    /// A filled polygon.
    pub(crate) fn area(&mut self, corners: &[(f64, f64)], fill: Colour) {
        if corners.len() > 2 && corners.iter().all(|&corner| drawable(corner)) {
            let corners = corners.to_vec();
            self.shapes.push(Shape::Area { corners, fill });
        }
    }

    /// A filled rectangle from its upper left corner.
    pub(crate) fn rectangle(&mut self, corner: (f64, f64), size: (f64, f64), fill: Colour) {
        if drawable(corner) && drawable(size) && size.0 > 0.0 && size.1 > 0.0 {
            self.shapes.push(Shape::Rectangle { corner, size, fill });
        }
    }

    /// A filled disc.
    pub(crate) fn disc(&mut self, centre: (f64, f64), radius: f64, fill: Colour) {
        if drawable(centre) && drawable((radius, radius)) && radius > 0.0 {
            self.shapes.push(Shape::Disc {
                centre,
                radius,
                fill,
            });
        }
    }

    /// A line of text with its baseline through `at`.
    pub(crate) fn text(&mut self, at: (f64, f64), text: impl Into<Label>, style: TextStyle) {
        let text = text.into();
        if drawable(at) && !text.is_empty() {
            self.shapes.push(Shape::Text { at, text, style });
        }
    }
}

/// Whether a point is finite and small enough for the single precision of the PNG.
fn drawable((x, y): (f64, f64)) -> bool {
    x.abs() <= 1e5 && y.abs() <= 1e5
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::style::CENTRED;

    const BLACK: Colour = Colour::new(0, 0, 0);

    #[test]
    fn shapes_that_are_not_finite_are_skipped() {
        let mut canvas = Canvas::new(10.0, 10.0);
        canvas.disc((f64::NAN, 5.0), 1.0, BLACK);
        canvas.disc((5.0, 5.0), f64::INFINITY, BLACK);
        canvas.rectangle((1.0, 1.0), (-1.0, 2.0), BLACK);
        let pen = Pen::solid(BLACK, 1.0).dashed();
        canvas.line(&[(0.0, 0.0), (f64::INFINITY, 1.0)], pen);
        canvas.area(&[(0.0, 0.0), (1.0, 1e300), (1.0, 1.0)], BLACK);
        canvas.text((0.0, f64::NAN), "x", CENTRED);
        assert_eq!(canvas.shapes.len(), 1);
    }

    #[test]
    fn mixed_colours_lie_between() {
        let white = Colour::new(255, 255, 255);
        assert_eq!(white.mix(BLACK, 0.0), white);
        assert_eq!(white.mix(BLACK, 1.0), BLACK);
        assert_eq!(BLACK.mix(white, 0.2).rgb, [51; 3]);
    }
}
