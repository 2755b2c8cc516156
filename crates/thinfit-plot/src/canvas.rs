//! A drawing surface of lines, areas, rectangles, discs and text that is written as SVG or as PNG.
//!
//! Both outputs come from one list of shapes, so they agree. Plotting libraries were tried and left out: the one that
//! looked best doubled the time of a first build, and these few shapes are all that the pictures need. Text in the PNG
//! is DejaVu Sans, which is compiled in; the SVG names that font and falls back on the viewer's own.
//!
//! Lengths are in pixels of the SVG, `y` points down. Shapes at positions that are not finite are left out.

use crate::{png, svg};

/// A colour with opacity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Colour {
    /// Red, green and blue.
    pub rgb: [u8; 3],
    /// From 0, not seen, to 1.
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

    /// The same colour, seen through.
    pub const fn with_opacity(self, opacity: f32) -> Self {
        Colour { opacity, ..self }
    }

    /// A colour between this, at 0, and another, at 1.
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

/// The lengths of a dash and of the gap after it.
pub const DASH: [f64; 2] = [4.0, 3.0];

/// Which point of a text its position refers to.
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
    /// The part of a text that lies before its position.
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
pub struct Type {
    /// Height of an em.
    pub size: f64,
    /// Bold face.
    pub bold: bool,
    /// Its colour.
    pub colour: Colour,
    /// Which point its position refers to.
    pub anchor: Anchor,
    /// Turned to read upwards.
    pub upwards: bool,
}

/// What is drawn, in order; `fill` and `pen` are the looks, the rest is the place.
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
    /// A line of text whose baseline goes through `at`.
    Text {
        at: (f64, f64),
        text: String,
        set: Type,
    },
}

/// A picture, to be written as SVG or PNG.
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

    /// The picture as PNG with `dots` dots for each pixel of the SVG; 2 suits a screen, 4 print.
    ///
    /// Fails where that makes no dots at all or more than a hundred million.
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

    /// A line of text whose baseline goes through `at`.
    pub(crate) fn text(&mut self, at: (f64, f64), text: impl Into<String>, set: Type) {
        let text = text.into();
        if drawable(at) && !text.is_empty() {
            self.shapes.push(Shape::Text { at, text, set });
        }
    }
}

/// Whether a point may be drawn: it is finite, and near enough for the single precision of the PNG.
fn drawable((x, y): (f64, f64)) -> bool {
    x.abs() <= 1e5 && y.abs() <= 1e5
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::style::CENTRED;

    const BLACK: Colour = Colour::new(0, 0, 0);

    #[test]
    fn what_is_not_finite_is_left_out() {
        let mut canvas = Canvas::new(10.0, 10.0);
        canvas.disc((f64::NAN, 5.0), 1.0, BLACK);
        canvas.disc((5.0, 5.0), f64::INFINITY, BLACK);
        canvas.rectangle((1.0, 1.0), (-1.0, 2.0), BLACK);
        let pen = Pen {
            colour: BLACK,
            width: 1.0,
            dashed: true,
        };
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
