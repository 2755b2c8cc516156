//! Tells the crate which commit it is built from, so that a record can name it.

use std::process::Command;

fn main() {
    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        (output.status.success() && !text.trim().is_empty()).then(|| text.trim().to_owned())
    };
    // Without git, or outside a checkout, nobody knows.
    let mut commit = git(&["rev-parse", "--short=7", "HEAD"]).unwrap_or("unknown".into());
    // Sources, new ones too, not the records of runs.
    let sources = ["..", "../../Cargo.toml", "../../Cargo.lock"];
    if git(&[&["status", "--porcelain", "--"], &sources[..]].concat()).is_some() {
        commit.push('+');
    }
    println!("cargo::rustc-env=THINFIT_COMMIT={commit}");
    // Any source may turn a clean checkout into another one; so may a commit.
    for source in sources {
        println!("cargo::rerun-if-changed={source}");
    }
    if let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"]) {
        println!("cargo::rerun-if-changed={log}");
    }
}
