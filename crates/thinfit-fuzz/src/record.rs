//! The record of a run: a JSON file from which the run can be continued, and a readable summary.

use crate::worker::Tally;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use thinfit::file::write_whole;

/// What a run has done so far.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Record {
    /// The commit, and whether files have changed since.
    pub commit: String,
    /// A checksum of the program.
    pub build: String,
    pub seed: u64,
    /// Inputs wanted in all.
    pub wanted: u64,
    /// Seconds that it has run, in all its parts.
    pub seconds: f64,
    pub targets: BTreeMap<String, Progress>,
    pub findings: Vec<Finding>,
}

/// What a run has done with one target.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Progress {
    pub wanted: u64,
    pub batches: u64,
    /// Seconds of its batches.
    pub seconds: f64,
    /// Inputs whose batch did not end: neither accepted nor refused, but for the last of each these were harmless.
    pub unfinished: u64,
    #[serde(flatten)]
    pub tally: Tally,
}

impl Progress {
    /// Inputs that have been tried.
    pub fn tried(&self) -> u64 {
        self.tally.inputs + self.unfinished
    }
}

/// An input that broke a promise.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Finding {
    pub target: String,
    /// Where the input is kept, in the folder of the run.
    pub file: PathBuf,
    pub words: String,
}

impl Record {
    fn path(folder: &Path) -> PathBuf {
        folder.join("record.json")
    }

    /// The record of an earlier part of the run with this seed and build, if there is one.
    pub fn read(folder: &Path, seed: u64, build: &str) -> Option<Record> {
        let text = std::fs::read(Record::path(folder)).ok()?;
        let record: Record = serde_json::from_slice(&text).ok()?;
        (record.seed == seed && record.build == build).then_some(record)
    }

    /// Writes the record and the page.
    pub fn write(&self, folder: &Path) -> Result<(), String> {
        let json = serde_json::to_string_pretty(self).map_err(|error| error.to_string())?;
        let files = [("record.json", json + "\n"), ("summary.md", self.page())];
        let write =
            |(name, text): &(&str, String)| write_whole(&folder.join(name), text.as_bytes());
        files
            .iter()
            .try_for_each(write)
            .map_err(|error| error.to_string())
    }

    /// Inputs tried so far.
    pub fn tried(&self) -> u64 {
        self.targets.values().map(Progress::tried).sum()
    }

    fn page(&self) -> String {
        let mut page = format!(
            "# Summary\n\n{} of {} inputs in {:.2} hours, {} findings. Seed {}, commit {}.\n\n",
            grouped(self.tried()),
            grouped(self.wanted),
            self.seconds / 3600.0,
            self.findings.len(),
            self.seed,
            self.commit,
        );
        page += "| target | inputs | accepted | refused | unfinished | mean bytes | minutes | slowest, s | most allocated, MB | most resident, MB |\n";
        page += "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n";
        for (name, progress) in &self.targets {
            let tally = &progress.tally;
            page += &format!(
                "| {name} | {} | {} | {} | {} | {} | {:.1} | {:.3} | {:.1} | {:.1} |\n",
                grouped(progress.tried()),
                grouped(tally.accepted),
                grouped(tally.refused),
                grouped(progress.unfinished),
                grouped(tally.bytes / tally.inputs.max(1)),
                progress.seconds / 60.0,
                tally.slowest,
                tally.memory as f64 / 1e6,
                tally.resident as f64 / 1e6,
            );
        }
        for finding in &self.findings {
            let (file, first) = (finding.file.display(), finding.words.lines().next());
            page += &format!(
                "\n- {}: `{file}`: {}",
                finding.target,
                first.unwrap_or_default()
            );
        }
        page.trim_end().to_owned() + "\n"
    }
}

/// A number with commas between thousands.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let groups = digits.as_bytes().rchunks(3).rev();
    let groups: Vec<_> = groups.map(String::from_utf8_lossy).collect();
    groups.join(",")
}
