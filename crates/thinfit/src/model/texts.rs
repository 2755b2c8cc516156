//! The texts of a model: the names of its columns, and what its record and its encoding say. A file may come from a
//! stranger, and its texts go into reports, code and pictures, so each is checked when it is read.

use crate::{Error, Result};
use serde::Serialize;
use serde_json::Value;
use std::collections::HashSet;
use thinfit_text::{LONGEST_NAME, is_hidden, shown};

/// The most characters in the name of an input, which may be that of a column, a sign and a level.
const LONGEST_INPUT: usize = 2 * LONGEST_NAME + 1;
/// The most characters in a version or the name of a method.
const LONGEST_WORD: usize = 64;
/// The most bytes in any other text.
const LONGEST: usize = 1 << 20;

/// What is wrong with the name of a column, if anything.
fn flaw_of_name(name: &str) -> Option<&'static str> {
    if name.contains(is_hidden) {
        return Some("a name with a control or invisible character");
    }
    (name.chars().nth(LONGEST_INPUT).is_some()).then_some("a name of more than 2001 characters")
}

/// What is wrong with the names of columns, if anything, and the first name that is.
fn flaw_of_names(names: &[String]) -> Option<(&'static str, &str)> {
    let mut known = HashSet::new();
    names.iter().find_map(|name| {
        let flaw = flaw_of_name(name);
        let twice = || (!known.insert(name)).then_some("the same name twice");
        flaw.or_else(twice).map(|flaw| (flaw, name.as_str()))
    })
}

/// What is wrong with the names of inputs and outputs from a file, if anything.
pub(crate) fn flaw_of_columns(inputs: &[String], outputs: &[String]) -> Option<&'static str> {
    let flaw = flaw_of_names(inputs).or_else(|| flaw_of_names(outputs));
    flaw.map(|(flaw, _)| flaw)
}

/// Refuses names that a file could not be read with.
pub(crate) fn check_names(what: &'static str, names: &[String]) -> Result<()> {
    match flaw_of_names(names) {
        None => Ok(()),
        Some((flaw, name)) => {
            let start: String = name.chars().take(40).collect();
            Err(Error::Data {
                what,
                problem: format!("{flaw}, `{}`", shown(&start)),
                advice: "rename the column",
            })
        }
    }
}

/// Whether the text is a word such as `gft-r`, `leave-one-out` or `0.1.0-rc.1+5`: ASCII letters, digits and `.+-_`.
pub(crate) fn is_word(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || ".+-_".contains(c);
    text.len() <= LONGEST_WORD && text.chars().all(plain)
}

/// Whether no text in the value, whatever field it is in, is endless or has a hidden character.
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
