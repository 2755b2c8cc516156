//! JSON files next to the ledger: saved states and spectra.

use std::path::Path;

use crate::Error;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Writes a value in one piece, with the folder that it belongs in.
pub(crate) fn write(path: &Path, value: &impl Serialize) -> Result<(), Error> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(|source| Error::io("write", folder, source))?;
    }
    let text = serde_json::to_string(value).expect("states and spectra are texts and numbers");
    Ok(thinfit::file::write_whole(path, text.as_bytes())?)
}

/// Reads a value; none if the file is missing or damaged.
pub(crate) fn read<T: DeserializeOwned>(path: &Path) -> Option<T> {
    serde_json::from_slice(&std::fs::read(path).ok()?).ok()
}
