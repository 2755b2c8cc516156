//! The record of every finished job, one JSON object a line in `cells.jsonl`.
//!
//! A line is written in one piece and reaches the disk before the job counts as done, so a stop or a crash loses no
//! finished job. A last line that was cut short is left where it is and ignored; the next record begins a line of its own.
//! Several programs may write to one ledger. Of several records of one job the first counts, unless it is one of a failure.

use std::collections::{HashMap, HashSet};
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::{Error, Job};
use serde::{Deserialize, Serialize};

/// What a job gave.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// The job.
    #[serde(flatten)]
    pub job: Job,
    /// Mean squared error on the test points; none if the fit left the finite range.
    pub mse: Option<f64>,
    /// Mean squared error on the validation rows, where the fit has some.
    pub validation_mse: Option<f64>,
    /// λ in use, where there is one.
    pub selected_lambda: Option<f64>,
    /// Real numbers that were fitted.
    pub parameters: Option<usize>,
    /// Seconds that the fit took, those of the fit that it continues included.
    pub seconds: f64,
    /// The commit of the program.
    pub commit: String,
    /// When it was done, in seconds since 1970; 0 if nobody wrote it down.
    pub finished: u64,
    /// Why there is no error.
    pub failure: Option<String>,
    /// All settings of the fit.
    pub config: serde_json::Value,
}

/// All records of a folder.
pub struct Ledger {
    path: PathBuf,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Bytes that were read.
    read: u64,
    /// Records by job.
    entries: HashMap<String, Entry>,
    /// Jobs that failed and are to be tried again.
    retry: HashSet<String>,
    /// Lines that are no records.
    damaged: usize,
}

impl Ledger {
    /// Opens the ledger of a folder, which is made if it is not there.
    ///
    /// # Errors
    /// A folder or file that cannot be made or read.
    pub fn open(folder: &Path) -> Result<Self, Error> {
        std::fs::create_dir_all(folder).map_err(|source| Error::io("write", folder, source))?;
        let ledger = Ledger {
            path: folder.join("cells.jsonl"),
            state: Mutex::default(),
        };
        ledger.refresh(&mut ledger.lock())?;
        Ok(ledger)
    }

    /// From now on, jobs that failed do not count as done until there is a new record of them.
    pub fn retry(&self) {
        let state = &mut *self.lock();
        let failed = state
            .entries
            .iter()
            .filter(|(_, entry)| entry.mse.is_none());
        state.retry = failed.map(|(key, _)| key.clone()).collect();
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether a job is done, perhaps by another program meanwhile.
    ///
    /// # Errors
    /// A file that cannot be read any more.
    pub fn has(&self, job: &Job) -> Result<bool, Error> {
        let mut state = self.lock();
        self.refresh(&mut state)?;
        let key = key(job);
        Ok(state.entries.contains_key(&key) && !state.retry.contains(&key))
    }

    /// The record of a job.
    pub fn get(&self, job: &Job) -> Option<Entry> {
        self.lock().entries.get(&key(job)).cloned()
    }

    /// All records, in no order.
    pub fn entries(&self) -> Vec<Entry> {
        self.lock().entries.values().cloned().collect()
    }

    /// Lines that are no records, for instance the last one after a crash.
    pub fn damaged(&self) -> usize {
        self.lock().damaged
    }

    /// Writes a record.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn add(&self, entry: &Entry) -> Result<(), Error> {
        let failed = |source| Error::io("write", &self.path, source);
        let state = self.lock();
        let mut line = serde_json::to_string(entry).expect("an entry holds texts and numbers");
        line.push('\n');
        let open = || {
            OpenOptions::new()
                .create(true)
                .append(true)
                .read(true)
                .open(&self.path)
        };
        let mut file = open().map_err(failed)?;
        if ends_inside_a_line(&mut file).map_err(failed)? {
            line.insert(0, '\n');
        }
        file.write_all(line.as_bytes())
            .and_then(|()| file.sync_all())
            .map_err(failed)?;
        drop(state);
        self.refresh(&mut self.lock())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads the whole lines that were added since the last time.
    fn refresh(&self, state: &mut State) -> Result<(), Error> {
        let failed = |source| Error::io("read", &self.path, source);
        let mut file = match File::open(&self.path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            file => file.map_err(failed)?,
        };
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(state.read)).map_err(failed)?;
        file.read_to_end(&mut bytes).map_err(failed)?;
        let whole = bytes
            .iter()
            .rposition(|&byte| byte == b'\n')
            .map_or(0, |i| i + 1);
        for line in bytes[..whole].split(|&byte| byte == b'\n') {
            if line.trim_ascii().is_empty() {
                continue;
            }
            match serde_json::from_slice::<Entry>(line) {
                Ok(entry) => {
                    let key = key(&entry.job);
                    state.retry.remove(&key);
                    let known = state.entries.entry(key);
                    let known = known.or_insert_with(|| entry.clone());
                    if known.mse.is_none() {
                        *known = entry;
                    }
                }
                Err(_) => state.damaged += 1,
            }
        }
        state.read += whole as u64;
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
    use crate::{Choice, Exhibit, Plan, Settings};

    fn entry(seed: u64) -> Entry {
        let plan = Plan {
            cells: Exhibit::Table(4).cells(),
            seeds: vec![seed],
            lambda: Choice::Published,
        };
        Entry {
            job: plan.jobs(&Settings::paper()).remove(0),
            mse: Some(0.1 + seed as f64 / 3.0),
            validation_mse: None,
            selected_lambda: Some(1e-4),
            parameters: Some(700),
            seconds: 1.5,
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
    fn records_survive_and_the_first_of_a_job_counts() {
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
