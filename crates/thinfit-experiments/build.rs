//! Tells the crate which commit it is built from, and its tests whether the measured data are available.

use std::process::Command;

fn main() {
    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        (output.status.success() && !text.trim().is_empty()).then(|| text.trim().to_owned())
    };
    // There may be no git, or no checkout.
    let mut commit = git(&["rev-parse", "--short=7", "HEAD"]).unwrap_or("unknown".into());
    // The sources, including new files, but not the records of runs.
    let sources = ["..", "../../Cargo.toml", "../../Cargo.lock"];
    if git(&[&["status", "--porcelain", "--"], &sources[..]].concat()).is_some() {
        commit.push('+');
    }
    println!("cargo::rustc-env=THINFIT_COMMIT={commit}");
    // Both an edit and a commit change the answer.
    for source in sources {
        println!("cargo::rerun-if-changed={source}");
    }
    if let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"]) {
        println!("cargo::rerun-if-changed={log}");
    }
    // Tests on measured data are compiled as ignored, with the reason, when they cannot run.
    println!("cargo::rustc-check-cfg=cfg(measured_data)");
    println!("cargo::rerun-if-env-changed=THINFIT_DATA");
    if std::env::var_os("THINFIT_DATA").is_some() {
        println!("cargo::rustc-cfg=measured_data");
    }
}
