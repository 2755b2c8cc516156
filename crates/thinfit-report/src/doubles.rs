//! Doubles as compact strings, which JSON holds unescaped and a page decodes to the last bit: half the size of
//! decimals.

use serde::{Serialize, Serializer};

/// Digits of base 85: printable, and none that JSON or HTML escapes.
const DIGITS: &[u8; 85] =
    b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ!#$%()*+,-./:;=?@[]^_{|";

/// Little-endian doubles, each half of which is five digits of base 85.
pub(crate) struct Doubles(pub Vec<f64>);

impl Doubles {
    fn text(&self) -> String {
        let mut text = String::with_capacity(10 * self.0.len());
        for value in &self.0 {
            let bits = value.to_bits();
            for half in [bits & 0xffff_ffff, bits >> 32] {
                for power in [52_200_625, 614_125, 7225, 85, 1] {
                    text.push(char::from(DIGITS[(half / power % 85) as usize]));
                }
            }
        }
        text
    }
}

impl Serialize for Doubles {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digits_are_different_and_need_no_escape() {
        let mut digits = DIGITS.to_vec();
        digits.sort_unstable();
        digits.dedup();
        assert_eq!(digits.len(), 85);
        assert!(
            DIGITS
                .iter()
                .all(|d| d.is_ascii_graphic() && !b"\"\\<>&'".contains(d))
        );
        let script = include_str!("page/interval.js");
        let (_, after) = script.split_once("const DIGITS = \"").unwrap();
        assert_eq!(after.split_once("\";").unwrap().0.as_bytes(), DIGITS);
    }
}
