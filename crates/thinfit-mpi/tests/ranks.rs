//! Real ranks: `mpirun` starts the example `share`, whose model must have the same bytes for any number of ranks.

#![allow(clippy::unwrap_used)] // also in the helper, which is a test too

use std::process::{Command, Output};
use std::time::{Duration, Instant};

/// What `mpirun -n RANKS share WORDS` prints.
fn share(ranks: &str, words: &[&str]) -> Output {
    let mut program = std::env::current_exe().unwrap();
    program.pop();
    program.pop();
    let program = program.join("examples/share");
    Command::new("mpirun")
        .args(["--allow-run-as-root", "--oversubscribe", "-n", ranks])
        .arg(program)
        .args(words)
        // Ranks of one machine, without a network.
        .env("OMPI_MCA_btl", "self,vader")
        .output()
        .unwrap()
}

#[test]
fn ranks_and_their_threads_change_no_byte() {
    let alone = share("1", &["20000", "1"]);
    assert!(
        alone.status.success(),
        "{}",
        String::from_utf8_lossy(&alone.stderr)
    );
    let model = String::from_utf8(alone.stdout).unwrap();
    assert!(model.contains(r#""output":20000"#));
    for (ranks, threads) in [("1", "2"), ("2", "1"), ("3", "2"), ("4", "1")] {
        let other = share(ranks, &["20000", threads]);
        assert!(other.status.success());
        assert!(other.stdout == model.as_bytes(), "{ranks} ranks");
    }
}

#[test]
fn a_rank_that_dies_ends_the_job_with_a_word() {
    let start = Instant::now();
    let job = share("3", &["20000", "1", "1"]);
    assert!(!job.status.success());
    assert!(start.elapsed() < Duration::from_secs(10));
    let words = String::from_utf8_lossy(&job.stderr);
    assert!(words.contains("rank 1"), "{words}");
}
