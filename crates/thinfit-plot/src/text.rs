//! Text in DejaVu Sans, which is compiled in: width, outlines, and truncation to a given width.

use std::ops::Deref;
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

/// A text as it is drawn, and the whole of it where it was cut.
#[derive(Clone, Debug, PartialEq)]
pub struct Label {
    shown: String,
    /// The whole text, which an SVG shows under the pointer.
    pub whole: Option<String>,
}

impl Deref for Label {
    type Target = str;

    fn deref(&self) -> &str {
        &self.shown
    }
}

impl AsRef<str> for Label {
    fn as_ref(&self) -> &str {
        self
    }
}

impl<T: Into<String>> From<T> for Label {
    fn from(text: T) -> Self {
        Label {
            shown: text.into(),
            whole: None,
        }
    }
}

/// The text, cut and ended by an ellipsis if it is wider than `room`.
pub fn elide(text: &str, style: TextStyle, room: f64) -> Label {
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
            return Label {
                shown: format!("{}{ELLIPSIS}", text[..cut].trim_end()),
                whole: Some(text.into()),
            };
        }
    }
    text.into()
}

/// The text, with an ellipsis in the place of its middle if it is wider than `room`: names often differ at their ends.
pub fn elide_middle(text: &str, style: TextStyle, room: f64) -> Label {
    if width(text, style) <= room {
        return text.into();
    }
    let (face, scale) = face(style);
    let size = |letter: char| scale * advance(face, letter);
    let (mut front, mut back) = (String::new(), Vec::new());
    let (mut letters, mut left) = (text.chars(), room - size('…'));
    // Letters from either end in turn, as long as they fit.
    loop {
        let at_front = front.chars().count() <= back.len();
        let next = if at_front {
            letters.next()
        } else {
            letters.next_back()
        };
        let Some(letter) = next.filter(|letter| size(*letter) <= left) else {
            break;
        };
        left -= size(letter);
        match at_front {
            true => front.push(letter),
            false => back.push(letter),
        }
    }
    let back: String = back.into_iter().rev().collect();
    Label {
        shown: format!("{}…{}", front.trim_end(), back.trim_start()),
        whole: Some(text.into()),
    }
}

/// The text in at most `most` lines, broken at blanks, the last of them cut if the rest is wider than `room`.
pub fn wrap(text: &str, style: TextStyle, room: f64, most: usize) -> Vec<Label> {
    let (face, scale) = face(style);
    let mut lines: Vec<Label> = Vec::new();
    let mut rest = text.trim();
    while lines.len() + 1 < most {
        // The last blank before the text gets too wide, if it does.
        let (mut end, mut blank, mut fits) = (0.0, None, true);
        for (index, letter) in rest.char_indices() {
            if letter == ' ' {
                blank = Some(index);
            }
            end += scale * advance(face, letter);
            if end > room {
                fits = false;
                break;
            }
        }
        let Some(blank) = blank.filter(|_| !fits) else {
            break;
        };
        lines.push(rest[..blank].into());
        rest = rest[blank..].trim_start();
    }
    lines.push(elide(rest, style, room));
    lines
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
        assert_eq!(&*elide("temperat", TEXT, room), "temperat");
        assert_eq!(&*elide("temperature", TEXT, room), "temper…");
        assert_eq!(&*elide("two words", TEXT, width("two w", TEXT)), "two…");
        assert_eq!(&*elide("é", TEXT, 0.0), "…");
        assert_eq!(&*elide("", TEXT, -1.0), "");
        assert_eq!(
            elide("temperature", TEXT, room).whole.as_deref(),
            Some("temperature")
        );
        assert_eq!(elide("temp", TEXT, room).whole, None);
    }

    #[test]
    fn bold_text_is_wider() {
        assert!(width("weight", HEADING) > width("weight", TEXT));
    }

    #[test]
    fn long_texts_are_broken_at_blanks_and_cut_in_the_last_line() {
        let room = width("depth below the", TEXT);
        let lines = |text: &str| -> Vec<String> {
            let lines = wrap(text, TEXT, room, 2);
            lines.iter().map(|line| line.to_string()).collect()
        };
        assert_eq!(lines("depth below the sea"), ["depth below the", "sea"]);
        assert_eq!(lines("depth"), ["depth"]);
        let long = lines("depth below the surface of the sea");
        assert!(long.len() == 2 && long[1].ends_with('…'), "{long:?}");
        assert_eq!(lines("incomprehensibilities").len(), 1);
    }
}
