//! The outcome of every finished job, one JSON object per line of `cells.jsonl`.
//!
//! A line is written in one piece and synchronised to disk before its job counts as done, so neither an interruption
//! nor a crash loses a finished job. A truncated line is ignored, and the next entry starts a new line. Several
//! programs may write to one ledger. The first entry of a job counts, unless it is a failure.

use std::collections::{HashMap, HashSet};
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::{Error, Job};
use serde::{Deserialize, Serialize};
use thinfit::Selection;

/// The outcome of a job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// The job.
    #[serde(flatten)]
    pub job: Job,
    /// Mean squared error on the test points; none if the fit failed.
    pub mse: Option<f64>,
    /// Mean squared error on the validation rows, if the fit has some.
    pub validation_mse: Option<f64>,
    /// What the polish chose, with the error of the method without it on those rows; none if there was no polish.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selection: Option<Selection>,
    /// λ in use, if there is one.
    pub selected_lambda: Option<f64>,
    /// Number of fitted real numbers.
    pub parameters: Option<usize>,
    /// Seconds of the fit, including those of the fit that it started from; in a batch, its share of them.
    pub seconds: f64,
    /// The GPU that trained the model; `None` for the CPU.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// Number of fits that were trained together; none if it was alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch: Option<usize>,
    /// The commit of the program.
    pub commit: String,
    /// When it was done, in seconds since 1970; 0 if unknown.
    pub finished: u64,
    /// Why there is no test error.
    pub failure: Option<String>,
    /// All settings of the fit.
    pub config: serde_json::Value,
}

/// The entries of a folder.
pub struct Ledger {
    path: PathBuf,
    /// Whether entries are kept in memory alone.
    apart: bool,
    contents: Mutex<Contents>,
}

#[derive(Default)]
struct Contents {
    /// Number of bytes read so far.
    read: u64,
    /// Entries by job.
    entries: HashMap<String, Entry>,
    /// Failed jobs to try again.
    retry: HashSet<String>,
    /// Number of damaged lines.
    damaged: usize,
}

impl Contents {
    fn insert(&mut self, entry: Entry) {
        let key = key(&entry.job);
        self.retry.remove(&key);
        let known = self.entries.get(&key);
        if known.is_none_or(|known| known.mse.is_none()) {
            self.entries.insert(key, entry);
        }
    }
}

impl Ledger {
    /// Opens the ledger of a folder; makes the folder if necessary.
    ///
    /// # Errors
    /// A folder that cannot be made, or a file that cannot be read.
    pub fn open(folder: &Path) -> Result<Self, Error> {
        std::fs::create_dir_all(folder).map_err(|source| Error::io("write", folder, source))?;
        let ledger = Ledger {
            apart: false,
            ..Ledger::apart(folder)
        };
        ledger.refresh(&mut ledger.lock())?;
        Ok(ledger)
    }

    /// An empty ledger that never touches its file, for workers whose entries are written by another rank.
    pub(crate) fn apart(folder: &Path) -> Self {
        Ledger {
            path: folder.join("cells.jsonl"),
            apart: true,
            contents: Mutex::default(),
        }
    }

    /// Whether what is added stays when the program ends.
    pub(crate) fn lasts(&self) -> bool {
        !self.apart
    }

    /// From now on, a failed job does not count as done until it has a new entry.
    pub fn retry(&self) {
        let contents = &mut *self.lock();
        let failed = contents
            .entries
            .iter()
            .filter(|(_, entry)| entry.mse.is_none());
        contents.retry = failed.map(|(key, _)| key.clone()).collect();
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether a job is done, perhaps by another program meanwhile.
    ///
    /// # Errors
    /// A file that can no longer be read.
    pub fn has(&self, job: &Job) -> Result<bool, Error> {
        let mut contents = self.lock();
        self.refresh(&mut contents)?;
        let key = key(job);
        Ok(contents.entries.contains_key(&key) && !contents.retry.contains(&key))
    }

    /// The entry of a job.
    pub fn get(&self, job: &Job) -> Option<Entry> {
        self.lock().entries.get(&key(job)).cloned()
    }

    /// All entries, in no order.
    pub fn entries(&self) -> Vec<Entry> {
        self.lock().entries.values().cloned().collect()
    }

    /// Number of damaged lines, for instance the last one after a crash.
    pub fn damaged(&self) -> usize {
        self.lock().damaged
    }

    /// Writes an entry.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn add(&self, entry: &Entry) -> Result<(), Error> {
        let failed = |source| Error::io("write", &self.path, source);
        let mut contents = self.lock();
        if self.apart {
            contents.insert(entry.clone());
            return Ok(());
        }
        let mut line = serde_json::to_string(entry).expect("an entry holds texts and numbers");
        line.push('\n');
        let mut options = OpenOptions::new();
        let options = options.create(true).append(true).read(true);
        let mut file = options.open(&self.path).map_err(failed)?;
        if ends_inside_a_line(&mut file).map_err(failed)? {
            line.insert(0, '\n');
        }
        file.write_all(line.as_bytes())
            .and_then(|()| file.sync_all())
            .map_err(failed)?;
        self.refresh(&mut contents)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Contents> {
        self.contents.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads the complete lines added since the last time.
    fn refresh(&self, contents: &mut Contents) -> Result<(), Error> {
        if self.apart {
            return Ok(());
        }
        let failed = |source| Error::io("read", &self.path, source);
        let mut file = match File::open(&self.path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            file => file.map_err(failed)?,
        };
        let mut bytes = Vec::new();
        let size = file.metadata().map_err(failed)?.len();
        file.seek(SeekFrom::Start(contents.read)).map_err(failed)?;
        file.read_to_end(&mut bytes).map_err(failed)?;
        if contents.read + (bytes.len() as u64) < size {
            // Fits whose lines are missed would be repeated, and would be missing in the report.
            let flaw = std::io::ErrorKind::UnexpectedEof;
            return Err(failed(flaw.into()));
        }
        let whole = bytes
            .iter()
            .rposition(|&byte| byte == b'\n')
            .map_or(0, |i| i + 1);
        for line in bytes[..whole].split(|&byte| byte == b'\n') {
            if line.trim_ascii().is_empty() {
                continue;
            }
            match serde_json::from_slice::<Entry>(line) {
                Ok(entry) => contents.insert(entry),
                Err(_) => contents.damaged += 1,
            }
        }
        contents.read += whole as u64;
        Ok(())
    }
}

fn ends_inside_a_line(file: &mut File) -> std::io::Result<bool> {
    if file.seek(SeekFrom::End(0))? == 0 {
        return Ok(false);
    }
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last[0] != b'\n')
}

fn key(job: &Job) -> String {
    serde_json::to_string(job).expect("a job holds texts and numbers")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::tests::{no_ledger, plan};
    use crate::{Exhibit, Settings};

    fn entry(seed: u64) -> Entry {
        let plan = plan(Exhibit::Table(4).cells(), &[seed]);
        Entry {
            job: plan.jobs(&Settings::paper(), &no_ledger()).remove(0),
            mse: Some(0.1 + seed as f64 / 3.0),
            validation_mse: None,
            selection: None,
            selected_lambda: Some(1e-4),
            parameters: Some(700),
            seconds: 1.5,
            device: None,
            batch: None,
            commit: "abc".into(),
            finished: 7,
            failure: None,
            config: serde_json::json!({ "width": 50 }),
        }
    }

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("thinfit-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        folder
    }

    #[test]
    fn entries_survive_and_the_first_of_a_job_counts() {
        let folder = folder("ledger");
        let ledger = Ledger::open(&folder).unwrap();
        let other = Ledger::open(&folder).unwrap();
        ledger.add(&entry(1)).unwrap();
        ledger
            .add(&Entry {
                mse: None,
                ..entry(1)
            })
            .unwrap();
        assert!(other.has(&entry(1).job).unwrap() && !other.has(&entry(2).job).unwrap());
        let again = Ledger::open(&folder).unwrap();
        assert_eq!(again.get(&entry(1).job), Some(entry(1)));
        assert_eq!((again.entries().len(), again.damaged()), (1, 0));
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_failure_gives_way_to_a_later_success() {
        let folder = folder("retry");
        let ledger = Ledger::open(&folder).unwrap();
        let failed = Entry {
            mse: None,
            failure: Some("the loss is not finite".into()),
            ..entry(1)
        };
        ledger.add(&failed).unwrap();
        assert!(ledger.has(&failed.job).unwrap());
        ledger.retry();
        assert!(!ledger.has(&failed.job).unwrap());
        ledger.add(&failed).unwrap();
        assert!(ledger.has(&failed.job).unwrap());
        ledger.add(&entry(1)).unwrap();
        ledger.add(&failed).unwrap();
        assert!(ledger.has(&failed.job).unwrap());
        assert_eq!(ledger.get(&failed.job), Some(entry(1)));
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_last_line_cut_short_costs_that_line_only() {
        let folder = folder("damaged");
        let ledger = Ledger::open(&folder).unwrap();
        ledger.add(&entry(1)).unwrap();
        ledger.add(&entry(2)).unwrap();
        let bytes = std::fs::read(ledger.path()).unwrap();
        std::fs::write(ledger.path(), &bytes[..bytes.len() - 20]).unwrap();
        let ledger = Ledger::open(&folder).unwrap();
        assert!(ledger.has(&entry(1).job).unwrap() && !ledger.has(&entry(2).job).unwrap());
        ledger.add(&entry(3)).unwrap();
        let again = Ledger::open(&folder).unwrap();
        assert!(again.has(&entry(1).job).unwrap() && again.has(&entry(3).job).unwrap());
        assert_eq!((again.entries().len(), again.damaged()), (2, 1));
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
