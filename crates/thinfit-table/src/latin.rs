//! Text that is not UTF-8: Windows-1252, which Excel writes in Western Europe and which contains Latin-1.

use std::borrow::Cow;

/// The characters of the bytes 0x80 to 0x9f; those of the others are their own numbers. Five bytes stand for nothing and
/// become controls.
const HIGH: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}',
    '\u{90}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
];

/// The text of these bytes: UTF-8, or else Windows-1252, which is then owned.
pub(crate) fn decoded(bytes: &[u8]) -> Cow<'_, str> {
    match str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(bytes.iter().copied().map(character).collect()),
    }
}

fn character(byte: u8) -> char {
    match byte {
        0x80..=0x9f => HIGH[usize::from(byte - 0x80)],
        byte => char::from(byte),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_are_not_utf_8_are_windows_1252() {
        assert_eq!(decoded("grün".as_bytes()), "grün");
        assert_eq!(decoded(b"gr\xfcn"), "grün");
        assert_eq!(decoded(b"\x80 5, 20 \xb0C, \x96\xff"), "€ 5, 20 °C, –ÿ");
    }
}
