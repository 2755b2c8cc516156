//! A lock on a chain of jobs, by which other programs know that somebody is at it.

use std::fs::File;
use std::path::{Path, PathBuf};

use crate::attempt::state_path;
use crate::{Error, Job};

/// A lock on a chain of jobs, by which other programs know that somebody is at it.
pub(crate) struct Claim {
    path: PathBuf,
    /// Open as long as it is locked.
    _file: File,
}

impl Claim {
    /// The lock, none if another program has it. GFT-r is locked with the GFT that it goes on from.
    pub fn of(job: &Job, folder: &Path) -> Result<Option<Claim>, Error> {
        let path = state_path(folder, &job.root()).with_extension("lock");
        loop {
            let create = || {
                std::fs::create_dir_all(folder.join("states")).and_then(|()| File::create(&path))
            };
            // Another program that ends may take the empty folder away in between.
            let file = create().or_else(|_| create());
            let file = file.map_err(|source| Error::io("write", &path, source))?;
            match file.try_lock() {
                Err(std::fs::TryLockError::WouldBlock) => return Ok(None),
                // Who had the lock may have removed the file before we got it, and a third may have made a new one.
                Ok(()) if !is_at(&file, &path) => {}
                // A file system without locks has one program at a time, or does some work twice.
                _ => return Ok(Some(Claim { path, _file: file })),
            }
        }
    }
}

/// Whether an open file is the one that has this name.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let number = |metadata: std::fs::Metadata| (metadata.dev(), metadata.ino());
    let (open, named) = (
        file.metadata().map(number),
        std::fs::metadata(path).map(number),
    );
    matches!((open, named), (Ok(open), Ok(named)) if open == named)
}

/// Elsewhere an open file keeps its name.
#[cfg(not(unix))]
fn is_at(_: &File, _: &Path) -> bool {
    true
}

impl Drop for Claim {
    fn drop(&mut self) {
        // What stays is an empty file.
        let _ = std::fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Row;
    use crate::job::tests::jobs;

    #[test]
    fn gft_r_shares_the_lock_of_the_gft_that_it_begins_with() {
        let folder = std::env::temp_dir().join(format!("thinfit-claim-{}", std::process::id()));
        let (gft, gft_r, other) = (jobs(Row::Gft), jobs(Row::GftR), jobs(Row::Swim));
        let claim = Claim::of(&gft[0], &folder).unwrap();
        assert!(claim.is_some() && Claim::of(&gft_r[0], &folder).unwrap().is_none());
        let free = Claim::of(&other[0], &folder).unwrap();
        assert!(free.is_some());
        drop((claim, free));
        assert!(Claim::of(&gft_r[0], &folder).unwrap().is_some());
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
