//! Files that are read and written whole.

use crate::{Error, Result};
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

/// All bytes of a file.
pub(crate) fn read_whole(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).map_err(|source| Error::Io {
        action: "read",
        path: path.into(),
        source,
    })
}

/// Writes under a temporary name beside `path`, then renames: there is never half a file at `path`.
///
/// # Errors
/// A file that cannot be written; what was at `path` is still there then.
pub fn write_whole(path: &Path, content: &[u8]) -> Result<()> {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let failed = |source| Error::Io {
        action: "write",
        path: path.into(),
        source,
    };
    // A link stays and the file it names is replaced; a pipe or a device is written to as it is.
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
        // What is left of it is of no use; that it may not be there is no second error.
        let _ = std::fs::remove_file(&partial);
        failed(source)
    })
}
