//! A short run over every target: the corpus, which has all past findings, and some thousands of mutated files.

#![allow(clippy::unwrap_used)] // Helpers of tests fail as tests do.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A folder that is removed at the end of the test.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn folder(name: &str) -> Folder {
    let name = format!("fuzz-{name}-{}", std::process::id());
    Folder(Path::new(env!("CARGO_TARGET_TMPDIR")).join(name))
}

fn command(folder: &Folder, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_thinfit-fuzz"));
    command
        .arg("run")
        .args(words)
        .arg("--folder")
        .arg(&folder.0);
    command
}

/// Runs the program; the record of the run.
fn run(folder: &Folder, words: &[&str]) -> Value {
    let output = command(folder, words).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let record = std::fs::read(folder.0.join("record.json")).unwrap();
    serde_json::from_slice(&record).unwrap()
}

#[test]
fn damaged_files_are_read_or_refused_and_nothing_else() {
    let folder = folder("bounded");
    let record = run(&folder, &["--inputs", "60000", "--seed", "1"]);
    let targets = record["targets"].as_object().unwrap();
    assert_eq!(
        targets.len(),
        if cfg!(feature = "parquet") { 10 } else { 9 }
    );
    for (name, progress) in targets {
        let count = |key: &str| progress[key].as_u64().unwrap();
        let (inputs, accepted, refused) = (count("inputs"), count("accepted"), count("refused"));
        assert!(inputs >= count("wanted"), "{name}");
        // Some of either kind, or the changes reach nothing; exports are too slow for more than the corpus here.
        let share = inputs / 50;
        assert!(
            name == "export" || accepted > share && refused > share,
            "{name}: {accepted} of {inputs}"
        );
    }
    assert_eq!(record["findings"], Value::Array(vec![]));
}

#[cfg(unix)]
#[test]
fn the_same_seed_gives_the_same_inputs_and_a_run_that_was_killed_goes_on() {
    use std::os::unix::process::CommandExt;
    let tried = |record: &Value| {
        let text = &record["targets"]["text"];
        ["inputs", "accepted", "refused", "bytes"].map(|key| text[key].as_u64().unwrap())
    };
    let (one, other) = (folder("one"), folder("other"));
    let words = ["--targets", "text", "--seed", "5", "--inputs", "25000"];
    let whole = run(&one, &words);
    let mut first = command(&other, &words).process_group(0).spawn().unwrap();
    // In its second batch, with some luck.
    while !other.0.join("grown").join("text").is_dir() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    std::thread::sleep(std::time::Duration::from_millis(300));
    let group = format!("-{}", first.id());
    let killed = Command::new("kill").args(["-9", "--", &group]).status();
    assert!(killed.unwrap().success());
    first.wait().unwrap();
    assert_eq!(tried(&run(&other, &words)), tried(&whole));
}
