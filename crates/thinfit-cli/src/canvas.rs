//! A drawing surface of lines, rectangles, discs and text that is written as SVG or as PNG.
//!
//! Both outputs come from one list of shapes, so they agree. Plotting libraries were tried and left out: the one that
//! looked best doubled the time of a first build, and these few shapes are all that the pictures need. Text in the PNG
//! is DejaVu Sans, which is compiled in; the SVG names that font and falls back on the viewer's own.
//!
//! Lengths are in pixels of the SVG, `y` points down. Shapes at positions that are not finite are left out.

use std::fmt::Write;

use tiny_skia::{
    FillRule, LineCap, Paint, Path, PathBuilder, Pixmap, Rect, Stroke, StrokeDash, Transform,
};
use ttf_parser::{Face, OutlineBuilder};

/// A colour with opacity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Colour {
    rgb: [u8; 3],
    opacity: f32,
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

    fn hex(self) -> String {
        let [red, green, blue] = self.rgb;
        format!("#{red:02x}{green:02x}{blue:02x}")
    }

    fn paint(self) -> Paint<'static> {
        let [red, green, blue] = self.rgb;
        let mut paint = Paint::default();
        paint.set_color_rgba8(red, green, blue, (self.opacity * 255.0).round() as u8);
        paint.anti_alias = true;
        paint
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

enum Shape {
    Line {
        points: Vec<(f64, f64)>,
        pen: Pen,
    },
    Rectangle {
        corner: (f64, f64),
        size: (f64, f64),
        fill: Colour,
    },
    Disc {
        centre: (f64, f64),
        radius: f64,
        fill: Colour,
    },
    Text {
        at: (f64, f64),
        text: String,
        set: Type,
    },
}

/// The surface; see the [module documentation](self).
pub struct Canvas {
    width: f64,
    height: f64,
    shapes: Vec<Shape>,
}

impl Canvas {
    /// An empty white surface.
    pub fn new(width: f64, height: f64) -> Self {
        let mut canvas = Canvas {
            width,
            height,
            shapes: Vec::new(),
        };
        canvas.rectangle((0.0, 0.0), (width, height), Colour::new(255, 255, 255));
        canvas
    }

    /// A line through the points.
    pub fn line(&mut self, points: &[(f64, f64)], pen: Pen) {
        if points.iter().all(|&point| finite(point)) {
            self.shapes.push(Shape::Line {
                points: points.to_vec(),
                pen,
            });
        }
    }

    /// A filled rectangle from its upper left corner.
    pub fn rectangle(&mut self, corner: (f64, f64), size: (f64, f64), fill: Colour) {
        if finite(corner) && finite(size) && size.0 > 0.0 && size.1 > 0.0 {
            self.shapes.push(Shape::Rectangle { corner, size, fill });
        }
    }

    /// A filled disc.
    pub fn disc(&mut self, centre: (f64, f64), radius: f64, fill: Colour) {
        if finite(centre) && radius.is_finite() && radius > 0.0 {
            self.shapes.push(Shape::Disc {
                centre,
                radius,
                fill,
            });
        }
    }

    /// A line of text whose baseline goes through `at`.
    pub fn text(&mut self, at: (f64, f64), text: impl Into<String>, set: Type) {
        if finite(at) {
            self.shapes.push(Shape::Text {
                at,
                text: text.into(),
                set,
            });
        }
    }

    /// The picture as SVG.
    pub fn to_svg(&self) -> String {
        let (width, height) = (self.width, self.height);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" \
             font-family=\"'DejaVu Sans', Verdana, Helvetica, Arial, sans-serif\">\n"
        );
        for shape in &self.shapes {
            write_svg(&mut svg, shape).expect("writing to a string cannot fail");
        }
        svg.push_str("</svg>\n");
        svg
    }

    /// The picture as PNG with `scale` dots a pixel of the SVG; fails if the picture is empty or does not fit in memory.
    pub fn to_png(&self, scale: f64) -> Result<Vec<u8>, String> {
        let (width, height) = ((self.width * scale).ceil(), (self.height * scale).ceil());
        let mut pixmap = Pixmap::new(width as u32, height as u32)
            .ok_or_else(|| format!("a picture of {width} x {height} dots cannot be drawn"))?;
        let regular = face(dejavu::sans::regular())?;
        let bold = face(dejavu::sans::bold())?;
        let view = Transform::from_scale(scale as f32, scale as f32);
        for shape in &self.shapes {
            draw(&mut pixmap, view, shape, [&regular, &bold]);
        }
        pixmap
            .encode_png()
            .map_err(|error| format!("the picture cannot be encoded: {error}"))
    }
}

/// The length of a line of text in DejaVu Sans; another font of the viewer may need a little more or less.
pub fn text_width(text: &str, set: Type) -> f64 {
    let font = if set.bold {
        dejavu::sans::bold()
    } else {
        dejavu::sans::regular()
    };
    // Without the font there is no PNG, and for the SVG an estimate serves.
    face(font).map_or(0.6 * set.size * text.chars().count() as f64, |face| {
        set.size * f64::from(outline(&face, text).1) / f64::from(face.units_per_em())
    })
}

fn finite((x, y): (f64, f64)) -> bool {
    x.is_finite() && y.is_finite()
}

fn face(font: &'static [u8]) -> Result<Face<'static>, String> {
    Face::parse(font, 0).map_err(|error| format!("the built-in font cannot be read: {error}"))
}

fn write_svg(svg: &mut String, shape: &Shape) -> std::fmt::Result {
    match shape {
        Shape::Line { points, pen } => {
            svg.push_str("<polyline fill=\"none\" points=\"");
            for (index, (x, y)) in points.iter().enumerate() {
                let gap = if index > 0 { " " } else { "" };
                write!(svg, "{gap}{x:.2},{y:.2}")?;
            }
            let (stroke, opacity, width) = (pen.colour.hex(), pen.colour.opacity, pen.width);
            let dash = if pen.dashed {
                " stroke-dasharray=\"4 3\""
            } else {
                ""
            };
            writeln!(
                svg,
                "\" stroke=\"{stroke}\" stroke-opacity=\"{opacity}\" stroke-width=\"{width}\"{dash}/>"
            )
        }
        Shape::Rectangle {
            corner: (x, y),
            size: (width, height),
            fill,
        } => writeln!(
            svg,
            "<rect x=\"{x:.2}\" y=\"{y:.2}\" width=\"{width:.2}\" height=\"{height:.2}\" \
             fill=\"{}\" fill-opacity=\"{}\"/>",
            fill.hex(),
            fill.opacity
        ),
        Shape::Disc {
            centre: (x, y),
            radius,
            fill,
        } => writeln!(
            svg,
            "<circle cx=\"{x:.2}\" cy=\"{y:.2}\" r=\"{radius:.2}\" fill=\"{}\" fill-opacity=\"{}\"/>",
            fill.hex(),
            fill.opacity
        ),
        Shape::Text {
            at: (x, y),
            text,
            set,
        } => {
            let anchor = match set.anchor {
                Anchor::Start => "start",
                Anchor::Middle => "middle",
                Anchor::End => "end",
            };
            let weight = if set.bold {
                " font-weight=\"bold\""
            } else {
                ""
            };
            let turn = if set.upwards {
                format!(" transform=\"rotate(-90 {x:.2} {y:.2})\"")
            } else {
                String::new()
            };
            writeln!(
                svg,
                "<text x=\"{x:.2}\" y=\"{y:.2}\" font-size=\"{}\" text-anchor=\"{anchor}\" \
                 fill=\"{}\"{weight}{turn}>{}</text>",
                set.size,
                set.colour.hex(),
                escape(text)
            )
        }
    }
}

fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            // No other control character may stand in XML, escaped or not.
            control if control.is_control() => safe.push(' '),
            other => safe.push(other),
        }
    }
    safe
}

fn draw(pixmap: &mut Pixmap, view: Transform, shape: &Shape, [regular, bold]: [&Face<'_>; 2]) {
    match shape {
        Shape::Line { points, pen } => {
            let mut path = PathBuilder::new();
            for (index, &(x, y)) in points.iter().enumerate() {
                match index {
                    0 => path.move_to(x as f32, y as f32),
                    _ => path.line_to(x as f32, y as f32),
                }
            }
            let stroke = Stroke {
                width: pen.width as f32,
                line_cap: LineCap::Butt,
                dash: if pen.dashed {
                    StrokeDash::new(vec![4.0, 3.0], 0.0)
                } else {
                    None
                },
                ..Stroke::default()
            };
            if let Some(path) = path.finish() {
                pixmap.stroke_path(&path, &pen.colour.paint(), &stroke, view, None);
            }
        }
        Shape::Rectangle { corner, size, fill } => {
            let rectangle = Rect::from_xywh(
                corner.0 as f32,
                corner.1 as f32,
                size.0 as f32,
                size.1 as f32,
            );
            fill_path(pixmap, view, rectangle.map(PathBuilder::from_rect), *fill);
        }
        Shape::Disc {
            centre,
            radius,
            fill,
        } => {
            let disc = PathBuilder::from_circle(centre.0 as f32, centre.1 as f32, *radius as f32);
            fill_path(pixmap, view, disc, *fill);
        }
        Shape::Text { at, text, set } => {
            let face = if set.bold { bold } else { regular };
            let (glyphs, advance) = outline(face, text);
            let scale = (set.size / f64::from(face.units_per_em())) as f32;
            let shift = match set.anchor {
                Anchor::Start => 0.0,
                Anchor::Middle => -0.5 * advance,
                Anchor::End => -advance,
            };
            let turn = if set.upwards { -90.0 } else { 0.0 };
            let place = view
                .pre_translate(at.0 as f32, at.1 as f32)
                .pre_rotate(turn)
                .pre_scale(scale, -scale)
                .pre_translate(shift, 0.0);
            fill_path(pixmap, place, glyphs, set.colour);
        }
    }
}

fn fill_path(pixmap: &mut Pixmap, view: Transform, path: Option<Path>, fill: Colour) {
    if let Some(path) = path {
        pixmap.fill_path(&path, &fill.paint(), FillRule::Winding, view, None);
    }
}

/// The outline of a text in font units, `y` up, and its length.
fn outline(face: &Face<'_>, text: &str) -> (Option<Path>, f32) {
    struct Pencil {
        path: PathBuilder,
        advance: f32,
    }
    impl OutlineBuilder for Pencil {
        fn move_to(&mut self, x: f32, y: f32) {
            self.path.move_to(self.advance + x, y);
        }
        fn line_to(&mut self, x: f32, y: f32) {
            self.path.line_to(self.advance + x, y);
        }
        fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
            self.path
                .quad_to(self.advance + x1, y1, self.advance + x, y);
        }
        fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
            let shift = self.advance;
            self.path
                .cubic_to(shift + x1, y1, shift + x2, y2, shift + x, y);
        }
        fn close(&mut self) {
            self.path.close();
        }
    }
    let mut pencil = Pencil {
        path: PathBuilder::new(),
        advance: 0.0,
    };
    for character in text.chars() {
        let glyph = face.glyph_index(character).unwrap_or_default();
        face.outline_glyph(glyph, &mut pencil);
        pencil.advance += f32::from(face.glyph_hor_advance(glyph).unwrap_or(0));
    }
    (pencil.path.finish(), pencil.advance)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLACK: Colour = Colour::new(0, 0, 0);
    const SMALL: Type = Type {
        size: 10.0,
        bold: false,
        colour: BLACK,
        anchor: Anchor::Middle,
        upwards: false,
    };

    /// The darkness of the picture in a box of dots, from 0 to 1.
    fn ink(canvas: &Canvas, from: (u32, u32), to: (u32, u32)) -> f64 {
        let pixmap = Pixmap::decode_png(&canvas.to_png(1.0).unwrap()).unwrap();
        let mut sum = 0.0;
        for y in from.1..to.1 {
            for x in from.0..to.0 {
                sum += 1.0 - f64::from(pixmap.pixel(x, y).unwrap().red()) / 255.0;
            }
        }
        sum / f64::from((to.0 - from.0) * (to.1 - from.1))
    }

    #[test]
    fn shapes_land_where_they_are_put() {
        let mut canvas = Canvas::new(40.0, 40.0);
        canvas.rectangle((10.0, 10.0), (10.0, 10.0), BLACK);
        canvas.disc((30.0, 30.0), 5.0, BLACK.with_opacity(0.5));
        assert_eq!(ink(&canvas, (10, 10), (20, 20)), 1.0);
        assert_eq!(ink(&canvas, (20, 0), (40, 20)), 0.0);
        let disc = ink(&canvas, (25, 25), (35, 35));
        assert!(
            (disc - 0.5 * std::f64::consts::PI / 4.0).abs() < 0.02,
            "{disc}"
        );
    }

    #[test]
    fn text_is_drawn_around_its_anchor() {
        let mut canvas = Canvas::new(60.0, 40.0);
        canvas.text((30.0, 20.0), "HHH", SMALL);
        assert!(ink(&canvas, (18, 12), (42, 20)) > 0.1);
        let width = text_width("HHH", SMALL);
        assert!((20.0..25.0).contains(&width), "{width}");
        assert_eq!(ink(&canvas, (0, 0), (15, 40)), 0.0);
        assert_eq!(ink(&canvas, (45, 0), (60, 40)), 0.0);
        assert_eq!(ink(&canvas, (0, 22), (60, 40)), 0.0);
    }

    #[test]
    fn svg_escapes_what_users_name_their_columns() {
        let mut canvas = Canvas::new(10.0, 10.0);
        canvas.text((5.0, 5.0), "a<b & \u{1}c>", SMALL);
        assert!(canvas.to_svg().contains(">a&lt;b &amp;  c&gt;</text>"));
    }

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
        canvas.text((0.0, f64::NAN), "x", SMALL);
        assert_eq!(canvas.shapes.len(), 1);
        assert!(Canvas::new(0.0, 0.0).to_png(1.0).is_err());
    }
}
