//! Sanitises untrusted text: the names and texts of tables and model files.
//!
//! A character is *hidden* if it does not simply appear in its place: control characters move the cursor of a
//! terminal or end a comment, bidirectional controls reorder text, and zero-width characters make different names
//! look the same. Letters, symbols and blanks of any language are not hidden.

mod notation;
mod place;
mod suggestion;

pub use notation::{Notation, resembles_number, unusual_number};
pub use place::place;
pub use suggestion::{brief, list, meant, nearest, suggest};

use std::borrow::Cow;

/// Maximum number of characters in the name of a column.
pub const LONGEST_NAME: usize = 1000;

/// Whether the character is hidden: a control, a direction, a separator of lines, or without width.
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{61c}'
            | '\u{180e}'
            | '\u{200b}'
            // U+200C and U+200D, between them, join letters of Persian and of Indian languages.
            | '\u{200e}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}')
}

/// Whether the hidden character separates words, as a line end does.
fn separates(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{1c}'..='\u{1f}')
}

/// The text without hidden characters: those that separate words become a blank, however many there are; the others go.
pub fn clean(text: &str) -> Cow<'_, str> {
    if !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    let (mut cleaned, mut gap) = (String::with_capacity(text.len()), false);
    for c in text.chars() {
        if !is_hidden(c) {
            cleaned.push(c);
        } else if separates(c) && !gap {
            cleaned.push(' ');
        }
        gap = is_hidden(c) && (gap || separates(c));
    }
    Cow::Owned(cleaned)
}

/// The text for a message, with hidden characters as escapes such as `\u{202e}`.
pub fn shown(text: &str) -> Cow<'_, str> {
    if !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match is_hidden(c) {
            true => shown.extend(c.escape_default()),
            false => shown.push(c),
        }
    }
    Cow::Owned(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_and_signs_of_all_languages_stay() {
        for text in [
            "Durchfluß [m³/h]",
            "µ °C ² ‰ Ω → ± 5″",
            "温度　（摄氏）",
            "درجة الحرارة",
            "می\u{200c}خواهم",
            "क्\u{200d}ष",
            "é e\u{301} 👩\u{200d}🔬",
            "a\u{a0}b",
        ] {
            assert_eq!((&*clean(text), &*shown(text)), (text, text));
        }
    }

    #[test]
    fn hidden_characters_are_taken_out_or_shown() {
        for (text, cleaned, escaped) in [
            ("Yield\r\n(%)", "Yield (%)", r"Yield\r\n(%)"),
            ("a\u{202e}b\u{2066}c", "abc", r"a\u{202e}b\u{2066}c"),
            ("\u{1b}[31mred\u{7}", "[31mred", r"\u{1b}[31mred\u{7}"),
            ("a\n\u{200b}\nb", "a b", r"a\n\u{200b}\nb"),
            (
                "\u{feff}id\u{85}\u{2028}x",
                "id x",
                r"\u{feff}id\u{85}\u{2028}x",
            ),
            ("a\u{e0041}b\0", "ab", r"a\u{e0041}b\u{0}"),
        ] {
            assert_eq!((&*clean(text), &*shown(text)), (cleaned, escaped));
        }
    }
}
