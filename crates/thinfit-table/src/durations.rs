//! Durations in Parquet: Arrow writes them as plain integers and marks them only in its own schema, a FlatBuffer in
//! Base64 in the metadata of the file.

use parquet::file::metadata::FileMetaData;
use std::collections::HashMap;

/// The key of Arrow's schema.
const KEY: &str = "ARROW:schema";
/// The number of a duration among the types of Arrow.
const DURATION: u8 = 18;
/// How many of its units a second has: seconds, milliseconds, microseconds, nanoseconds.
const PER_SECOND: [f64; 4] = [1.0, 1e3, 1e6, 1e9];
/// The unit that is not written.
const DEFAULT: u16 = 1;

/// The columns of a file that are durations, and how many of their units a second has.
pub(crate) fn durations(file: &FileMetaData) -> HashMap<String, f64> {
    let entries = file.key_value_metadata().into_iter().flatten();
    let mut schemas = entries.filter(|entry| entry.key == KEY);
    let schema = schemas.find_map(|entry| entry.value.as_deref());
    schema
        .and_then(|text| of_schema(&from_base64(text)?))
        .unwrap_or_default()
}

/// The durations in a message with a schema.
fn of_schema(message: &[u8]) -> Option<HashMap<String, f64>> {
    // A mark and the length come first, in old files the length alone.
    let mark = message.starts_with(&[0xff; 4]);
    let buffer = Buffer(message.get(if mark { 8 } else { 4 }..)?);
    let message = buffer.pointed(0)?;
    let schema = buffer.pointed(buffer.field(message, 2)?)?;
    let fields = buffer.pointed(buffer.field(schema, 1)?)?;
    let mut found = HashMap::new();
    for k in 0..buffer.number(fields)? as usize {
        let field = buffer.pointed(fields + 4 + 4 * k)?;
        let kind = buffer
            .field(field, 2)
            .and_then(|at| buffer.0.get(at).copied());
        if kind != Some(DURATION) {
            continue;
        }
        let name = buffer.pointed(buffer.field(field, 0)?)?;
        let length = buffer.number(name)? as usize;
        let name = buffer.0.get(name + 4..(name + 4).checked_add(length)?)?;
        let kind = buffer.pointed(buffer.field(field, 3)?)?;
        let unit = match buffer.field(kind, 0) {
            None => DEFAULT,
            Some(at) => buffer.short(at)?,
        };
        let per_second = PER_SECOND.get(usize::from(unit))?;
        found.insert(String::from_utf8(name.to_vec()).ok()?, *per_second);
    }
    Some(found)
}

/// The bytes of a FlatBuffer.
struct Buffer<'a>(&'a [u8]);

impl Buffer<'_> {
    fn number(&self, at: usize) -> Option<u32> {
        let bytes = self.0.get(at..at.checked_add(4)?)?;
        Some(u32::from_le_bytes(bytes.try_into().ok()?))
    }

    fn short(&self, at: usize) -> Option<u16> {
        let bytes = self.0.get(at..at.checked_add(2)?)?;
        Some(u16::from_le_bytes(bytes.try_into().ok()?))
    }

    /// What the offset at a place points to.
    fn pointed(&self, at: usize) -> Option<usize> {
        at.checked_add(self.number(at)? as usize)
    }

    /// The place of the field of this number in a table; none if it is not written.
    fn field(&self, table: usize, field: usize) -> Option<usize> {
        let back = self.number(table)? as i32;
        let offsets = usize::try_from(table as i64 - i64::from(back)).ok()?;
        let at = 4 + 2 * field;
        if at + 2 > usize::from(self.short(offsets)?) {
            return None;
        }
        let offset = self.short(offsets.checked_add(at)?)?;
        (offset > 0).then_some(table + usize::from(offset))
    }
}

/// The bytes of a text in Base64; none if it is not one.
fn from_base64(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut count) = (0u32, 0);
    for c in text.bytes().filter(|c| *c != b'=') {
        let digit = match c {
            b'A'..=b'Z' => c - b'A',
            b'a'..=b'z' => c - b'a' + 26,
            b'0'..=b'9' => c - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(digit);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_read() {
        assert_eq!(from_base64("VGhpbg==").unwrap(), b"Thin");
        assert_eq!(from_base64("+/8=").unwrap(), [0xfb, 0xff]);
        assert_eq!(from_base64("a b"), None);
    }

    #[test]
    fn damaged_schemas_hold_no_durations() {
        let message: Vec<u8> = (0..200u8).collect();
        for cut in 0..message.len() {
            assert!(of_schema(&message[..cut]).unwrap_or_default().is_empty());
        }
        let far = [&[0xff; 4][..], &[16, 0, 0, 0], &[0xf0; 16]].concat();
        assert_eq!(of_schema(&far), None);
    }
}
