//! Merges layers of settings. The methods define which settings exist.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use thinfit::{Error, Result};

/// Puts `over` on top of `under`: merges objects key by key and replaces anything else.
///
/// An object with a key that the other lacks replaces it whole: either it is another variant (`absolute` for
/// `relative`), or it is wrong, and reading it will say so.
pub(crate) fn lay(under: &mut Value, over: Value) {
    match (under, over) {
        (Value::Object(under), Value::Object(over))
            if over.keys().all(|key| under.contains_key(key)) =>
        {
            for (key, value) in over {
                lay(&mut under[&key], value);
            }
        }
        (under, over) => *under = over,
    }
}

/// The same settings with some changed.
///
/// # Errors
/// An unknown setting or a value of the wrong type; the error names the setting.
pub(crate) fn changed<T: Serialize + DeserializeOwned>(
    settings: &T,
    changes: &Map<String, Value>,
) -> Result<T> {
    let unreadable = |error: serde_json::Error| Error::Setting {
        field: "settings".into(),
        problem: error.to_string(),
    };
    let mut all = serde_json::to_value(settings).map_err(unreadable)?;
    for (key, change) in changes {
        match all.get_mut(key) {
            Some(under) => lay(under, change.clone()),
            None => all[key] = change.clone(),
        }
    }
    serde_path_to_error::deserialize(all).map_err(|error| Error::Setting {
        field: error.path().to_string(),
        problem: plain(&error.inner().to_string()),
    })
}

/// The message of the parser in the user's terms rather than those of Rust.
fn plain(problem: &str) -> String {
    let words = [
        ("expected usize", "expected a whole number from 0 on"),
        ("expected u64", "expected a whole number from 0 on"),
        ("expected u32", "expected a whole number from 0 on"),
        ("expected u8", "expected a whole number from 0 on"),
        ("expected f64", "expected a number"),
        ("expected a boolean", "expected true or false"),
        ("expected a sequence", "expected a list such as [1, 2]"),
        ("invalid type: floating point ", "found the number "),
        ("invalid type: integer ", "found the number "),
        ("invalid value: integer ", "found the number "),
        ("invalid type: string ", "found the text "),
        ("invalid type: boolean ", "found "),
        ("invalid type: sequence", "found a list"),
    ];
    words.iter().fold(problem.to_owned(), |text, (from, to)| {
        text.replace(from, to)
    })
}
