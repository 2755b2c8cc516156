//! Tells the crate which commit it is built from, so that a record can name it.

use std::process::Command;

fn main() {
    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        (output.status.success() && !text.trim().is_empty()).then(|| text.trim().to_owned())
    };
    // Without git, or outside a checkout, nobody knows.
    let commit = git(&[
        "describe",
        "--always",
        "--dirty=+",
        "--abbrev=7",
        "--exclude=*",
    ]);
    println!(
        "cargo::rustc-env=THINFIT_COMMIT={}",
        commit.as_deref().unwrap_or("unknown")
    );
    // Any source may turn a clean checkout into another one; so may a commit.
    println!("cargo::rerun-if-changed=..");
    if let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"]) {
        println!("cargo::rerun-if-changed={log}");
    }
}
