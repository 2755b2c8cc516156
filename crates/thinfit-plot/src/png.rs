//! A plot as PNG: shapes drawn with anti-aliasing, text drawn from glyph outlines.

use tiny_skia::{
    FillRule, LineJoin, Paint, Path, PathBuilder, Pixmap, Rect, Stroke, StrokeDash, Transform,
};

use crate::canvas::{Canvas, Colour, DASH, Pen, Shape};
use crate::text;

/// A larger picture would take gigabytes.
const MAX_DOTS: f64 = 1e8;

/// The whole file.
pub fn write(canvas: &Canvas, dots: f64) -> Result<Vec<u8>, String> {
    let (width, height) = ((canvas.width * dots).ceil(), (canvas.height * dots).ceil());
    let pixmap = match width >= 1.0 && height >= 1.0 && width * height <= MAX_DOTS {
        true => Pixmap::new(width as u32, height as u32),
        false => None,
    };
    let mut pixmap = pixmap.ok_or_else(|| {
        format!(
            "expected a picture of 1 to {MAX_DOTS:.0} dots, found {width} x {height}; \
             change the dots per pixel"
        )
    })?;
    let view = Transform::from_scale(dots as f32, dots as f32);
    for shape in &canvas.shapes {
        draw(&mut pixmap, view, shape);
    }
    pixmap
        .encode_png()
        .map_err(|error| format!("cannot encode the picture as PNG: {error}"))
}

fn draw(pixmap: &mut Pixmap, view: Transform, shape: &Shape) {
    match shape {
        Shape::Line { points, pen } => {
            if let Some(path) = trace(points).finish() {
                pixmap.stroke_path(&path, &paint(pen.colour), &stroke(*pen), view, None);
            }
        }
        Shape::Area { corners, fill } => {
            let mut path = trace(corners);
            path.close();
            fill_path(pixmap, view, path.finish(), *fill);
        }
        Shape::Rectangle { corner, size, fill } => {
            let (x, y) = (corner.0 as f32, corner.1 as f32);
            let rectangle = Rect::from_xywh(x, y, size.0 as f32, size.1 as f32);
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
        Shape::Text { at, text, style } => {
            let (face, scale) = text::face(*style);
            let (glyphs, advance) = text::outline(face, text);
            let turn = if style.upwards { -90.0 } else { 0.0 };
            let place = view
                .pre_translate(at.0 as f32, at.1 as f32)
                .pre_rotate(turn)
                .pre_scale(scale as f32, -scale as f32)
                .pre_translate(-style.anchor.before() as f32 * advance, 0.0);
            fill_path(pixmap, place, glyphs, style.colour);
        }
    }
}

fn trace(points: &[(f64, f64)]) -> PathBuilder {
    let mut path = PathBuilder::new();
    for (index, &(x, y)) in points.iter().enumerate() {
        match index {
            0 => path.move_to(x as f32, y as f32),
            _ => path.line_to(x as f32, y as f32),
        }
    }
    path
}

fn stroke(pen: Pen) -> Stroke {
    let dash = DASH.map(|length| length as f32).to_vec();
    Stroke {
        width: pen.width as f32,
        line_join: LineJoin::Round,
        dash: pen.dashed.then(|| StrokeDash::new(dash, 0.0)).flatten(),
        ..Stroke::default()
    }
}

fn fill_path(pixmap: &mut Pixmap, view: Transform, path: Option<Path>, fill: Colour) {
    if let Some(path) = path {
        pixmap.fill_path(&path, &paint(fill), FillRule::Winding, view, None);
    }
}

fn paint(colour: Colour) -> Paint<'static> {
    let [red, green, blue] = colour.rgb;
    let mut paint = Paint::default();
    paint.set_color_rgba8(red, green, blue, (colour.opacity * 255.0).round() as u8);
    paint.anti_alias = true;
    paint
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canvas::TextStyle;
    use crate::style::CENTRED;

    const BLACK: Colour = Colour::new(0, 0, 0);

    /// The mean darkness of a box of dots, from 0 to 1.
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
    fn shapes_are_drawn_in_place() {
        let mut canvas = Canvas::new(40.0, 40.0);
        canvas.rectangle((10.0, 10.0), (10.0, 10.0), BLACK);
        canvas.disc((30.0, 30.0), 5.0, BLACK.with_opacity(0.5));
        canvas.area(&[(0.0, 40.0), (10.0, 40.0), (0.0, 30.0)], BLACK);
        assert_eq!(ink(&canvas, (10, 10), (20, 20)), 1.0);
        assert_eq!(ink(&canvas, (20, 0), (40, 20)), 0.0);
        let disc = ink(&canvas, (25, 25), (35, 35));
        assert!(
            (disc - 0.5 * std::f64::consts::PI / 4.0).abs() < 0.02,
            "{disc}"
        );
        let triangle = ink(&canvas, (0, 30), (10, 40));
        assert!((triangle - 0.5).abs() < 0.02, "{triangle}");
    }

    #[test]
    fn text_is_drawn_around_its_anchor() {
        let small = TextStyle {
            size: 10.0,
            ..CENTRED
        };
        let mut canvas = Canvas::new(60.0, 40.0);
        canvas.text((30.0, 20.0), "HHH", small);
        assert!(ink(&canvas, (18, 12), (42, 20)) > 0.1);
        let width = text::width("HHH", small);
        assert!((20.0..25.0).contains(&width), "{width}");
        assert_eq!(ink(&canvas, (0, 0), (15, 40)), 0.0);
        assert_eq!(ink(&canvas, (45, 0), (60, 40)), 0.0);
        assert_eq!(ink(&canvas, (0, 22), (60, 40)), 0.0);
    }

    #[test]
    fn pictures_without_dots_or_with_too_many_are_refused() {
        assert!(Canvas::new(0.0, 0.0).to_png(1.0).is_err());
        for dots in [f64::NAN, -1.0, 0.0, 1e4, f64::INFINITY] {
            assert!(Canvas::new(100.0, 100.0).to_png(dots).is_err(), "{dots}");
        }
    }
}
