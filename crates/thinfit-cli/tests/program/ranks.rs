//! Work shared between processes of a real `mpirun`: all tests of the program that need MPI, and fits of a whole
//! table. `test.sh --mpi` runs them.

mod long;
mod reproduce;

use super::*;
use std::time::{Duration, Instant};

/// The program as so many ranks of MPI, to be run in a folder.
fn mpirun(folder: &Path, ranks: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new("mpirun");
    command.args(["--allow-run-as-root", "--oversubscribe", "-n", ranks]);
    command.arg(env!("CARGO_BIN_EXE_thinfit")).args(arguments);
    command.current_dir(folder);
    command
}

#[test]
fn ranks_share_lambdas_starts_and_candidates_of_a_whole_table() {
    let folder = folder("ranks");
    write(&folder, "data.csv", csv(80));
    write(&folder, "gaps.csv", csv(80) + "0.3,gap,,1.2\n");
    let network = |words: &[&'static str]| with_short(&[&["--drop=name"], words].concat());
    let auto = |words: &[&'static str]| {
        let auto = ["--drop=name", "--budget=0.5", "--width=16", "--quiet"];
        [words, &auto].concat()
    };
    let fits = [
        ("data.csv", network(&["--method=gft-r", "--lambda=auto"])),
        ("data.csv", network(&["--method=gft", "--lambda=auto"])),
        ("data.csv", network(&["--method=random"])),
        ("data.csv", auto(&[])),
        ("data.csv", auto(&["--thin"])),
        ("gaps.csv", auto(&["--missing=mean"])),
    ];
    for (data, words) in fits {
        let fit = |model| [&["fit", data, "--target=y", "-o", model], &words[..]].concat();
        succeed(&folder, &fit("one.json"));
        for ranks in ["2", "3", "8"] {
            let _ = std::fs::remove_file(folder.join("ranks.json"));
            let output = mpirun(&folder, ranks, &fit("ranks.json")).output().unwrap();
            assert!(output.status.success(), "{}", text(&output.stderr));
            assert_eq!(text(&output.stdout).matches("wrote ranks.json").count(), 1);
            assert!(
                read(&folder, "ranks.json") == read(&folder, "one.json"),
                "{ranks} ranks, {words:?}"
            );
        }
    }
}

#[test]
fn what_ranks_cannot_share_is_refused_with_what_they_can() {
    let folder = folder("ranks-refused");
    write(&folder, "data.csv", csv(40));
    let fit = ["fit", "data.csv", "--target=y", "--drop=name"];
    let refused = [
        (vec!["--method=gft"], "--lambda auto"),
        (vec!["--method=rff"], "cannot share `rff`"),
        (
            vec!["--method=gft-r", "--checkpoint=a.state"],
            "run without mpirun",
        ),
        (vec!["--method=gft-r", "--inputs=name"], "name"),
    ];
    for (words, word) in refused {
        let start = Instant::now();
        let output = mpirun(&folder, "3", &[&fit[..], &words].concat()).output();
        let output = output.unwrap();
        assert!(!output.status.success() && start.elapsed() < Duration::from_secs(10));
        let told = text(&output.stderr);
        assert!(told.contains(word), "{told}");
        assert_eq!(told.matches("error: ").count(), 1, "{told}");
    }
    assert_eq!(files(&folder), ["data.csv"]);
}
