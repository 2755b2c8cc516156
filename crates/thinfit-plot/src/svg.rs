//! A plot as SVG: one element per shape, coordinates rounded to hundredths of a pixel.

use std::fmt::{Display, Formatter, Result, Write};

use thinfit_text::is_hidden;

use crate::canvas::{Anchor, Canvas, Colour, DASH, Pen, Shape};

/// The whole document.
pub fn write(canvas: &Canvas) -> String {
    let (width, height) = (Length(canvas.width), Length(canvas.height));
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" stroke-linejoin=\"round\" \
         font-family=\"'DejaVu Sans', Verdana, Helvetica, Arial, sans-serif\">\n"
    );
    for shape in &canvas.shapes {
        write_shape(&mut svg, shape).expect("writing to a string cannot fail");
    }
    svg.push_str("</svg>\n");
    svg
}

fn write_shape(svg: &mut String, shape: &Shape) -> Result {
    match shape {
        Shape::Line { points, pen } => {
            let (points, pen) = (Points(points), Stroke(*pen));
            writeln!(svg, "<polyline points=\"{points}\" fill=\"none\"{pen}/>")
        }
        Shape::Area { corners, fill } => {
            let (points, fill) = (Points(corners), Fill(*fill));
            writeln!(svg, "<polygon points=\"{points}\"{fill}/>")
        }
        Shape::Rectangle { corner, size, fill } => writeln!(
            svg,
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"{}/>",
            Length(corner.0),
            Length(corner.1),
            Length(size.0),
            Length(size.1),
            Fill(*fill),
        ),
        Shape::Disc {
            centre,
            radius,
            fill,
        } => writeln!(
            svg,
            "<circle cx=\"{}\" cy=\"{}\" r=\"{}\"{}/>",
            Length(centre.0),
            Length(centre.1),
            Length(*radius),
            Fill(*fill),
        ),
        Shape::Text { at, text, style } => {
            let (x, y, size) = (Length(at.0), Length(at.1), Length(style.size));
            write!(svg, "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\"")?;
            match style.anchor {
                Anchor::Start => {}
                Anchor::Middle => svg.push_str(" text-anchor=\"middle\""),
                Anchor::End => svg.push_str(" text-anchor=\"end\""),
            }
            if style.bold {
                svg.push_str(" font-weight=\"bold\"");
            }
            if style.upwards {
                write!(svg, " transform=\"rotate(-90 {x} {y})\"")?;
            }
            write!(svg, "{}>", Fill(style.colour))?;
            if let Some(whole) = &text.whole {
                write!(svg, "<title>{}</title>", escape(whole))?;
            }
            writeln!(svg, "{}</text>", escape(text))
        }
    }
}

/// A length rounded to hundredths, without trailing zeros or a negative zero.
struct Length(f64);

impl Display for Length {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        // Adding zero turns -0 into 0.
        write!(out, "{}", (100.0 * self.0).round() / 100.0 + 0.0)
    }
}

struct Points<'a>(&'a [(f64, f64)]);

impl Display for Points<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        for (index, &(x, y)) in self.0.iter().enumerate() {
            let gap = if index > 0 { " " } else { "" };
            write!(out, "{gap}{},{}", Length(x), Length(y))?;
        }
        Ok(())
    }
}

struct Fill(Colour);

impl Display for Fill {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        paint(out, "fill", self.0)
    }
}

struct Stroke(Pen);

impl Display for Stroke {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        paint(out, "stroke", self.0.colour)?;
        write!(out, " stroke-width=\"{}\"", Length(self.0.width))?;
        match self.0.dashed {
            true => write!(out, " stroke-dasharray=\"{} {}\"", DASH[0], DASH[1]),
            false => Ok(()),
        }
    }
}

fn paint(out: &mut Formatter<'_>, name: &str, colour: Colour) -> Result {
    let [red, green, blue] = colour.rgb;
    write!(out, " {name}=\"#{red:02x}{green:02x}{blue:02x}\"")?;
    match colour.opacity {
        1.0 => Ok(()),
        opacity => write!(out, " {name}-opacity=\"{opacity}\""),
    }
}

fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            // XML allows neither these two nor most control characters, not even escaped; others would reorder the text.
            '\u{fffe}' | '\u{ffff}' => safe.push(' '),
            hidden if is_hidden(hidden) => safe.push(' '),
            other => safe.push(other),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::style::CENTRED;

    #[test]
    fn text_is_escaped() {
        let mut canvas = Canvas::new(10.0, 10.0);
        canvas.text((5.0, 5.0), "a<b & \u{1}c>\u{202e}µ", CENTRED);
        let svg = canvas.to_svg();
        assert!(svg.contains(">a&lt;b &amp;  c&gt; µ</text>"), "{svg}");
    }

    #[test]
    fn lengths_have_neither_trailing_zeros_nor_a_negative_zero() {
        let text = |value: f64| Length(value).to_string();
        assert_eq!(
            [-0.001, 2.0, 0.125, -7.5].map(text),
            ["0", "2", "0.13", "-7.5"]
        );
    }
}
