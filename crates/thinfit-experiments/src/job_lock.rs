//! A lock that keeps other programs away from a job.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

use crate::attempt::state_path;
use crate::{Error, Job};

/// A lock on a job and those that start from it. In rare races two programs may both hold one, and repeat some work.
pub(crate) struct JobLock {
    path: PathBuf,
    /// Locked as long as it is open.
    _file: File,
}

impl JobLock {
    /// Locks a job and those that share its [root](Job::root); none if another program has locked it.
    pub fn of(job: &Job, folder: &Path) -> Result<Option<JobLock>, Error> {
        let path = state_path(folder, &job.root()).with_extension("lock");
        let create =
            || std::fs::create_dir_all(folder.join("states")).and_then(|()| File::create(&path));
        // A program that ends may remove the empty folder in between.
        let file = create().or_else(|_| create());
        let file = file.map_err(|source| Error::io("write", &path, source))?;
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => Ok(None),
            // Some file systems have no locks.
            Ok(()) | Err(TryLockError::Error(_)) => Ok(Some(JobLock { path, _file: file })),
        }
    }
}

impl Drop for JobLock {
    fn drop(&mut self) {
        // One that stays is empty and unlocked.
        let _ = std::fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Row;
    use crate::job::tests::jobs;

    #[test]
    fn gft_r_shares_the_lock_of_the_gft_that_it_starts_from() {
        let folder = std::env::temp_dir().join(format!("thinfit-lock-{}", std::process::id()));
        let (gft, gft_r, other) = (jobs(Row::Gft), jobs(Row::GftR), jobs(Row::Swim));
        let lock = JobLock::of(&gft[0], &folder).unwrap();
        assert!(lock.is_some() && JobLock::of(&gft_r[0], &folder).unwrap().is_none());
        let free = JobLock::of(&other[0], &folder).unwrap();
        assert!(free.is_some());
        drop((lock, free));
        assert!(JobLock::of(&gft_r[0], &folder).unwrap().is_some());
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
