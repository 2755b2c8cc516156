//! Text in DejaVu Sans, which is compiled in: its width, its outline, and cutting it to fit.

use std::sync::LazyLock;

use tiny_skia::{Path, PathBuilder};
use ttf_parser::{Face, OutlineBuilder};

use crate::canvas::TextStyle;

static REGULAR: LazyLock<Face<'static>> = LazyLock::new(|| parse(dejavu::sans::regular()));
static BOLD: LazyLock<Face<'static>> = LazyLock::new(|| parse(dejavu::sans::bold()));

fn parse(font: &'static [u8]) -> Face<'static> {
    Face::parse(font, 0).expect("the font is compiled in, and the tests parse it")
}

/// The font of a text, and the length of a font unit.
pub fn face(style: TextStyle) -> (&'static Face<'static>, f64) {
    let face: &Face<'_> = if style.bold { &BOLD } else { &REGULAR };
    (face, style.size / f64::from(face.units_per_em()))
}

/// The width of a line of text; a fallback font of the viewer may need a little more or less.
pub fn width(text: &str, style: TextStyle) -> f64 {
    let (face, scale) = face(style);
    scale * text.chars().map(|c| advance(face, c)).sum::<f64>()
}

/// The width of the widest text, 0 if there is none.
pub fn widest(texts: &[impl AsRef<str>], style: TextStyle) -> f64 {
    let widths = texts.iter().map(|text| width(text.as_ref(), style));
    widths.fold(0.0, f64::max)
}

/// The text, cut and ended by an ellipsis if it is wider than `room`.
pub fn elide(text: &str, style: TextStyle, room: f64) -> String {
    const ELLIPSIS: char = '…';
    let (face, scale) = face(style);
    let ellipsis = scale * advance(face, ELLIPSIS);
    let (mut end, mut cut) = (0.0, 0);
    for (index, character) in text.char_indices() {
        if end + ellipsis <= room {
            cut = index;
        }
        end += scale * advance(face, character);
        if end > room {
            return format!("{}{ELLIPSIS}", text[..cut].trim_end());
        }
    }
    text.into()
}

/// The outline of a text and its width, in font units with `y` up.
pub fn outline(face: &Face<'_>, text: &str) -> (Option<Path>, f32) {
    let mut pencil = Pencil {
        path: PathBuilder::new(),
        start: 0.0,
    };
    for character in text.chars() {
        let glyph = face.glyph_index(character).unwrap_or_default();
        face.outline_glyph(glyph, &mut pencil);
        pencil.start += advance(face, character) as f32;
    }
    (pencil.path.finish(), pencil.start)
}

fn advance(face: &Face<'_>, character: char) -> f64 {
    let glyph = face.glyph_index(character).unwrap_or_default();
    f64::from(face.glyph_hor_advance(glyph).unwrap_or(0))
}

/// Collects the outlines of glyphs, each shifted to its start.
struct Pencil {
    path: PathBuilder,
    start: f32,
}

impl OutlineBuilder for Pencil {
    fn move_to(&mut self, x: f32, y: f32) {
        self.path.move_to(self.start + x, y);
    }
    fn line_to(&mut self, x: f32, y: f32) {
        self.path.line_to(self.start + x, y);
    }
    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        self.path.quad_to(self.start + x1, y1, self.start + x, y);
    }
    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let start = self.start;
        self.path
            .cubic_to(start + x1, y1, start + x2, y2, start + x, y);
    }
    fn close(&mut self) {
        self.path.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::style::{HEADING, TEXT};

    #[test]
    fn long_texts_end_in_an_ellipsis_and_short_ones_stay() {
        let room = width("temperat", TEXT);
        assert_eq!(elide("temperat", TEXT, room), "temperat");
        assert_eq!(elide("temperature", TEXT, room), "temper…");
        assert_eq!(elide("two words", TEXT, width("two w", TEXT)), "two…");
        assert_eq!(elide("é", TEXT, 0.0), "…");
        assert_eq!(elide("", TEXT, -1.0), "");
    }

    #[test]
    fn bold_text_is_wider() {
        assert!(width("weight", HEADING) > width("weight", TEXT));
    }
}
