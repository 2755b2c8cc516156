//! Fits of the paper's tables distributed over the ranks.

use std::process::Stdio;

use super::*;
use crate::reproduce::tiny;

/// The lines of the ledger without times, sorted.
fn timeless(folder: &Path) -> Vec<String> {
    let lines = read(folder, "runs/cells.jsonl");
    let timeless = |line: &str| {
        let mut entry: serde_json::Value = serde_json::from_str(line).unwrap();
        for time in ["seconds", "finished"] {
            entry.as_object_mut().unwrap().remove(time).unwrap();
        }
        entry.to_string()
    };
    let mut lines: Vec<String> = lines.lines().map(timeless).collect();
    lines.sort();
    lines
}

#[test]
fn ranks_fill_the_ledger_and_the_tables_of_one_process() {
    let call = tiny(&[
        "table1",
        "--columns=f1-5,f3-5",
        "--methods=gft,gft-r,kernel-ridge",
        "--activations=fourier",
        "--seeds=2",
        "--jobs=1",
    ]);
    let alone = folder("reproduce-alone");
    let printed = succeed(&alone, &call);
    let (lines, csv) = (timeless(&alone), read(&alone, "runs/results.csv"));
    // Two columns; two methods choose among six λ, and three have two seeds.
    assert_eq!(lines.len(), 2 * (2 * 6 + 3 * 2));
    let seconds = csv.lines().next().unwrap().split(',');
    let seconds = seconds.clone().position(|name| name == "seconds").unwrap();
    let untimed = |csv: &str| -> Vec<String> {
        let line = |line: &str| {
            let mut cells: Vec<&str> = line.split(',').collect();
            cells.remove(seconds);
            cells.join(",")
        };
        csv.lines().map(line).collect()
    };
    let shared = folder("reproduce-ranks");
    for (ranks, kept) in [("3", 0), ("2", 25), ("8", 7)] {
        // What is in the ledger stays, from however many ranks it is.
        std::fs::create_dir_all(shared.join("runs")).unwrap();
        let ledger = read(&alone, "runs/cells.jsonl");
        let ledger: String = ledger.split_inclusive('\n').take(kept).collect();
        write(&shared, "runs/cells.jsonl", ledger);
        let output = mpirun(&shared, ranks, &call).output().unwrap();
        let told = text(&output.stderr);
        assert!(output.status.success(), "{told}");
        assert_eq!(text(&output.stdout), printed, "{ranks} ranks");
        assert_eq!(timeless(&shared), lines, "{ranks} ranks");
        let shared = read(&shared, "runs/results.csv");
        assert_eq!(untimed(&shared), untimed(&csv), "{ranks} ranks");
        assert_eq!(told.matches("fits are already in").count(), 1, "{told}");
        let finished = told.lines().filter(|line| line.contains(" done")).count();
        assert_eq!(finished, lines.len() - kept, "{told}");
    }
    let expected = ["cells.jsonl", "results.csv", "results.html", "results.md"];
    assert_eq!(files(&shared.join("runs")), expected);
    let list = [&call[..], &["--list"]].concat();
    let output = mpirun(&shared, "3", &list).output().unwrap();
    let states = |list: String| -> Vec<String> {
        let state = |line: &str| line.split(" in ").next().unwrap_or_default().to_owned();
        list.lines().map(state).collect()
    };
    assert_eq!(states(text(&output.stdout)), states(succeed(&alone, &list)));
    // What is wrong is said once.
    let output = mpirun(&shared, "3", &tiny(&["table9"])).output().unwrap();
    let told = text(&output.stderr);
    assert!(!output.status.success());
    assert_eq!(told.matches("table9").count(), 1, "{told}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_killed_rank_ends_the_job_and_keeps_what_was_done() {
    let folder = folder("reproduce-killed");
    let call = |steps: &'static str| {
        let short = ["table1", "--columns=f1-5", "--activations=fourier"];
        let others = [steps, "--seeds=2", "--lambda=paper", "--jobs=1"];
        let methods = ["--methods=gft,kernel-ridge"];
        [
            &["reproduce"],
            &short[..],
            &methods,
            &others,
            &["--out=runs"],
        ]
        .concat()
    };
    let long = call("--set=generate.steps=100000000");
    let child = mpirun(&folder, "3", &long).stderr(Stdio::piped()).spawn();
    let mut child = child.unwrap();
    let start = Instant::now();
    let lines = || std::fs::read_to_string(folder.join("runs/cells.jsonl")).unwrap_or_default();
    // Two fits never end; the others go around them.
    while lines().lines().count() < 2 {
        if start.elapsed() > Duration::from_secs(60) {
            child.kill().unwrap();
            panic!("{}", lines());
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    let killed = std::fs::read_dir("/proc").unwrap().flatten().find(|entry| {
        let read = |name: &str| std::fs::read(entry.path().join(name)).unwrap_or_default();
        let variable = |text: &str| {
            let environment = read("environ");
            let mut variables = environment.split(|byte| *byte == 0);
            variables.any(|variable| variable == text.as_bytes())
        };
        std::fs::read_link(entry.path().join("cwd")).is_ok_and(|path| path == folder)
            && variable("OMPI_COMM_WORLD_RANK=2")
    });
    let process = killed.unwrap().file_name().into_string().unwrap();
    let status = Command::new("kill").args(["-9", &process]).status();
    assert!(status.unwrap().success());
    let killed = Instant::now();
    let output = child.wait_with_output().unwrap();
    assert!(!output.status.success() && killed.elapsed() < Duration::from_secs(10));
    let told = text(&output.stderr);
    assert!(told.contains("rank 2") || told.contains("PID"), "{told}");
    let kept = lines();
    assert_eq!(kept.lines().count(), 2, "{kept}");
    let output = mpirun(&folder, "2", &call("--set=generate.steps=4"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(lines().starts_with(&kept) && lines().lines().count() == 4);
}
