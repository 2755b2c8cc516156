//! Reads and writes whole files, and JSON with a field for format and version.

use crate::{Error, Result};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use thinfit_text::{place, shown};

/// Maximum number of characters of what was found in a message.
const MOST_SHOWN: usize = 200;

/// The field with format and version.
#[derive(Deserialize)]
pub(crate) struct Header {
    pub format: String,
}

/// Maximum number of bytes that are read from a file by default.
pub const LARGEST: u64 = 4_000_000_000;
/// Bytes from which a file is recognised as JSON.
const HEAD: u64 = 1 << 12;

/// All bytes of a file.
///
/// # Errors
/// A file that cannot be read, or is larger than [`LARGEST`].
pub fn read_whole(path: &Path) -> Result<Vec<u8>> {
    read(path, LARGEST, false)
}

/// All bytes of a file of at most `most` bytes; a pipe or a device may not have an end.
///
/// # Errors
/// A file that cannot be read, or is larger.
pub fn read_within(path: &Path, most: u64) -> Result<Vec<u8>> {
    read(path, most, false)
}

/// The same for a JSON object. If a file does not begin like one, only its first bytes are read, which suffice for the
/// error message.
///
/// # Errors
/// As [`read_within`].
pub fn read_json(path: &Path, most: u64) -> Result<Vec<u8>> {
    read(path, most, true)
}

fn read(path: &Path, most: u64, json: bool) -> Result<Vec<u8>> {
    let failed = |source| Error::Io {
        action: "read",
        path: path.into(),
        source,
    };
    let too_large = |found| Error::TooLarge {
        path: path.into(),
        most,
        found,
        advice: "give another file, or read it with a higher limit",
    };
    let mut file = File::open(path).map_err(failed)?;
    let size = file.metadata().map_err(failed)?.len();
    if size > most {
        return Err(too_large(Some(size)));
    }
    let mut bytes = Vec::new();
    if json {
        let mut head = Read::by_ref(&mut file).take(HEAD);
        head.read_to_end(&mut bytes).map_err(failed)?;
        let first = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
        if first.is_some_and(|byte| *byte != b'{') {
            return Ok(bytes);
        }
    }
    let left = (most + 1).saturating_sub(bytes.len() as u64);
    file.take(left).read_to_end(&mut bytes).map_err(failed)?;
    let read = bytes.len() as u64;
    if read < size {
        // Settings that are cut off may be settings all the same.
        let flaw = format!("{} bytes are missing at its end", size - read);
        return Err(failed(std::io::Error::new(ErrorKind::UnexpectedEof, flaw)));
    }
    match read > most {
        true => Err(too_large(None)),
        false => Ok(bytes),
    }
}

/// Writes under a temporary name next to `path`, then renames, so that there is never a partial file at `path`.
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
    let path = &*place(path);
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
    let written = File::create(&partial)
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

/// The content of a file for a message: at most a few lines, without hidden characters.
pub(crate) fn quoted(found: &str) -> String {
    shown(&found.chars().take(MOST_SHOWN).collect::<String>()).into_owned()
}

/// The field `format` of JSON text, if it has one.
pub fn format(text: &str) -> Option<String> {
    let header = serde_json::from_str::<Header>(text);
    header.ok().map(|header| header.format)
}

/// `family` of a format `family/version`.
pub fn family(format: &str) -> Option<&str> {
    format.split('/').next()
}

/// Whether a file begins with a field `format` like this one, of any version, as files written by thinfit do; false for pipes and devices.
///
/// # Errors
/// A file that cannot be read.
pub fn begins_like(path: &Path, format: &str) -> Result<bool> {
    // A pipe would wait for a writer.
    if !std::fs::metadata(path).is_ok_and(|entry| entry.is_file()) {
        return Ok(false);
    }
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(HEAD).read_to_end(&mut head));
    read.map_err(|source| Error::Io {
        action: "read",
        path: path.into(),
        source,
    })?;
    let head = String::from_utf8_lossy(&head);
    let found = || {
        let mut words = head.trim_start().strip_prefix('{')?.split('"').skip(1);
        let field = words.next().filter(|word| *word == "format");
        family(field.and(words.nth(1))?)
    };
    Ok(found() == family(format))
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
        found: quoted(&found),
        advice,
    };
    let header = serde_json::from_str::<Header>(text).map_err(|error| {
        if error.is_eof() {
            let found = format!("a truncated file ({error})");
            wrong(found, "copy or write the file again")
        } else if error.is_syntax() {
            wrong(format!("text that is not JSON ({error})"), other)
        } else {
            wrong("JSON without a format".into(), other)
        }
    })?;
    if header.format != format {
        let advice = if family(&header.format) == family(format) {
            "update thinfit, or fit the model again"
        } else {
            other
        };
        return Err(wrong(format!("format `{}`", header.format), advice));
    }
    let read: T = serde_json::from_str(text)
        .map_err(|error| wrong(format!("invalid content ({error})"), again))?;
    match flaw(&read) {
        None => Ok(read),
        Some(flaw) => Err(wrong(flaw.into(), again)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn a_device_without_an_end_is_refused_before_it_fills_the_memory() {
        let zero = Path::new("/dev/zero");
        assert_eq!(read_json(zero, LARGEST).unwrap().len() as u64, HEAD);
        let error = read_within(zero, 10_000_000).unwrap_err().to_string();
        let expected = "at most 10 MB, found a stream of more";
        assert!(error.contains(expected), "{error}");
        let error = crate::Model::load(zero).unwrap_err().to_string();
        assert!(error.contains("text that is not JSON"), "{error}");
    }

    #[test]
    fn a_file_with_a_hole_of_gigabytes_is_refused_by_its_size() {
        let path = std::env::temp_dir().join(format!("thinfit-hole-{}", std::process::id()));
        let file = File::create(&path).unwrap();
        file.set_len(96_000_000_000).unwrap();
        let read = [read_whole(&path), read_json(&path, LARGEST)];
        std::fs::remove_file(&path).unwrap();
        for read in read {
            let error = read.unwrap_err().to_string();
            assert!(error.contains("at most 4000 MB, found 96000 MB"), "{error}");
        }
    }
}
