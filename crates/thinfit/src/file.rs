//! Files read and written as a whole, and JSON with a field for its format and version.

use crate::{Error, Result};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use thinfit_text::shown;

/// The most characters of what was found in a message.
const MOST_SHOWN: usize = 200;

/// The field that tells whether the rest can be read.
#[derive(Deserialize)]
pub(crate) struct Header {
    pub format: String,
}

/// All bytes of a file.
///
/// # Errors
/// A file that cannot be read.
pub fn read_whole(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).map_err(|source| Error::Io {
        action: "read",
        path: path.into(),
        source,
    })
}

/// Writes under a temporary name next to `path`, then renames: there is never half a file at `path`.
///
/// # Errors
/// A file that cannot be written; an old file at `path` is then intact.
pub fn write_whole(path: &Path, content: &[u8]) -> Result<()> {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let failed = |source| Error::Io {
        action: "write",
        path: path.into(),
        source,
    };
    // A link is kept and its target replaced; a pipe or a device is written to directly.
    let place = std::fs::canonicalize(path);
    let path = place.as_deref().unwrap_or(path);
    if std::fs::metadata(path).is_ok_and(|file| !file.is_file() && !file.is_dir()) {
        return std::fs::write(path, content).map_err(failed);
    }
    let mut partial = path.as_os_str().to_owned();
    // Several threads may write one file at a time; the last to rename wins.
    partial.push(format!(
        ".{}-{}.partial",
        std::process::id(),
        COUNT.fetch_add(1, Ordering::Relaxed)
    ));
    let written = std::fs::File::create(&partial)
        .and_then(|mut file| file.write_all(content).and_then(|()| file.sync_all()))
        .and_then(|()| std::fs::rename(&partial, path));
    written.map_err(|source| {
        // Clean up; if it was never created, that is no second error.
        let _ = std::fs::remove_file(&partial);
        failed(source)
    })
}

/// The hash FNV-1a: the same on every machine and in every version.
pub fn fnv1a(bytes: impl IntoIterator<Item = u8>) -> u64 {
    bytes.into_iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// The field `format` of JSON text, if it has one.
pub fn format(text: &str) -> Option<String> {
    let header = serde_json::from_str::<Header>(text);
    header.ok().map(|header| header.format)
}

/// Reads JSON text whose field `format` is `family/version`; `name` is its file name in errors.
///
/// `flaw` names the first inconsistency of the value read.
///
/// # Errors
/// Text that is not JSON, is cut off, is of another family or version, or has a flaw.
pub fn parse<T: DeserializeOwned>(
    text: &str,
    name: &Path,
    format: &str,
    flaw: impl Fn(&T) -> Option<&'static str>,
) -> Result<T> {
    let again = "fit the model again";
    let other = "give a model that thinfit wrote";
    let wrong = |found: String, advice| Error::Format {
        path: name.into(),
        expected: format!("a model of format `{format}`"),
        // It may quote the file.
        found: shown(&found.chars().take(MOST_SHOWN).collect::<String>()).into_owned(),
        advice,
    };
    let header = serde_json::from_str::<Header>(text).map_err(|error| {
        if error.is_eof() {
            let found = format!("a file that ends too early ({error})");
            wrong(found, "copy or write the file again")
        } else if error.is_syntax() {
            wrong(format!("text that is not JSON ({error})"), other)
        } else {
            wrong("JSON without a format".into(), other)
        }
    })?;
    if header.format != format {
        let family = |format: &str| format.split('/').next().map(str::to_owned);
        let advice = if family(&header.format) == family(format) {
            "update thinfit, or fit the model again"
        } else {
            other
        };
        return Err(wrong(format!("format `{}`", header.format), advice));
    }
    let read: T = serde_json::from_str(text)
        .map_err(|error| wrong(format!("parts that cannot be read ({error})"), again))?;
    match flaw(&read) {
        None => Ok(read),
        Some(flaw) => Err(wrong(flaw.into(), again)),
    }
}
