//! The texts of a model other than column names, in its record and its encoding. Model files are untrusted and their
//! texts go into reports, code and plots, so each is checked when it is read.

use serde::Serialize;
use serde_json::Value;
use thinfit_text::is_hidden;

/// Maximum number of bytes in a version, the name of a method or a unit.
const LONGEST_WORD: usize = 64;
/// Maximum number of bytes in any other text.
const LONGEST: usize = 1 << 20;

/// Whether the text is a word such as `gft-r`, `leave-one-out` or `0.1.0-rc.1+5`: ASCII letters, digits and `.+-_`.
pub(crate) fn is_word(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || ".+-_".contains(c);
    text.len() <= LONGEST_WORD && text.chars().all(plain)
}

/// Whether the text may be a unit of measurement: short, and without hidden characters.
pub(crate) fn is_unit(text: &str) -> bool {
    !text.trim().is_empty() && text.len() <= LONGEST_WORD && !text.contains(is_hidden)
}

/// Whether no text anywhere in the value is too long or has a hidden character.
pub(crate) fn are_plain(value: &impl Serialize) -> bool {
    fn plain(value: &Value) -> bool {
        let text = |text: &str| text.len() <= LONGEST && !text.contains(is_hidden);
        match value {
            Value::String(found) => text(found),
            Value::Array(values) => values.iter().all(plain),
            Value::Object(fields) => fields.iter().all(|(key, value)| text(key) && plain(value)),
            _ => true,
        }
    }
    serde_json::to_value(value).is_ok_and(|value| plain(&value))
}
