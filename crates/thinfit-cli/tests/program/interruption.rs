//! Fits that are killed or interrupted.

use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use super::*;

/// A fit of a few seconds.
const FIT: [&str; 11] = [
    "fit",
    "train.csv",
    "--target=y",
    "--drop=name",
    "--width=30",
    "--set=generate.steps=6000",
    "--set=refine.steps=6000",
    "--set=generator.hidden=[64,64]",
    "--set=polish.steps=3",
    "--threads=1",
    "--quiet",
];

/// Starts a fit and waits until it has saved its state `times` times.
fn start(folder: &Path, more: &[&str], times: usize) -> Child {
    let child = program(folder, &[&FIT[..], more].concat())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let (state, begin) = (folder.join("fit.state"), Instant::now());
    let stamp = || std::fs::metadata(&state).and_then(|m| m.modified()).ok();
    let (mut seen, mut last) = (0, stamp());
    while seen < times {
        assert!(
            begin.elapsed() < Duration::from_secs(120),
            "no state was saved"
        );
        std::thread::sleep(Duration::from_millis(5));
        let now = stamp();
        seen += usize::from(now != last);
        last = now;
    }
    child
}

#[test]
fn a_killed_fit_resumes_to_the_same_model() {
    let folder = folder("kill");
    write(&folder, "train.csv", csv(300));
    succeed(&folder, &[&FIT[..], &["-o", "whole.json"]].concat());
    for times in [1, 2] {
        let mut child = start(&folder, &["--checkpoint=fit.state"], times);
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!folder.join("model.json").exists());
        succeed(
            &folder,
            &[
                "fit",
                "train.csv",
                "--target=y",
                "--drop=name",
                "--resume=fit.state",
                "-q",
            ],
        );
        assert_eq!(read(&folder, "model.json"), read(&folder, "whole.json"));
        std::fs::remove_file(folder.join("model.json")).unwrap();
        std::fs::remove_file(folder.join("fit.state")).unwrap();
    }
    write(&folder, "other.csv", csv(301));
    let mut child = start(&folder, &["--checkpoint=fit.state"], 1);
    child.kill().unwrap();
    child.wait().unwrap();
    let resume = |data| {
        [
            "fit",
            data,
            "--target=y",
            "--drop=name",
            "--resume=fit.state",
        ]
    };
    fail(&folder, &resume("other.csv"), &["same data"]);
    let wider = [&resume("train.csv")[..], &["--width=31"]].concat();
    fail(&folder, &wider, &["other settings"]);
    fail(
        &folder,
        &[
            "fit",
            "train.csv",
            "--target=y",
            "--drop=name",
            "--resume=whole.json",
        ],
        &["a finished model"],
    );
    write(&folder, "fit.state", "{");
    fail(&folder, &resume("train.csv"), &["fit.state"]);
}

#[cfg(unix)]
#[test]
fn ctrl_c_saves_the_best_model_and_the_state() {
    let folder = folder("interrupt");
    write(&folder, "train.csv", csv(300));
    succeed(&folder, &[&FIT[..], &["-o", "whole.json"]].concat());
    let child = start(&folder, &["--checkpoint=fit.state"], 1);
    let signal = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(signal.unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", text(&output.stderr));
    let report = text(&output.stdout);
    assert!(report.contains("interrupted"), "{report}");
    assert!(
        report.contains("--target=y") && report.contains("--resume fit.state"),
        "{report}"
    );
    assert!(!report.contains("--checkpoint"), "{report}");
    assert!(
        Model::load(folder.join("model.json"))
            .unwrap()
            .record
            .stopped
    );
    succeed(
        &folder,
        &[
            "fit",
            "train.csv",
            "--target=y",
            "--drop=name",
            "--resume=fit.state",
            "-q",
        ],
    );
    assert_eq!(read(&folder, "model.json"), read(&folder, "whole.json"));
}

#[cfg(unix)]
#[test]
fn ctrl_c_leaves_no_half_written_predictions() {
    use std::io::Write;
    let folder = fitted("interrupted-predictions");
    for signal in ["-INT", "-TERM"] {
        let mut child = program(&folder, &["predict", "model.json", "-", "-o", "out.csv"])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = child.stdin.take().unwrap();
        // It waits for more rows, though there is a file already.
        input.write_all(b"a,b\n").unwrap();
        input.write_all(&b"0.1,0.2\n".repeat(100_000)).unwrap();
        // The program listens before the first rows are in the file.
        let begin = Instant::now();
        let written = |name: &String| {
            let file = std::fs::metadata(folder.join(name));
            name.ends_with(".partial") && file.is_ok_and(|file| file.len() > 0)
        };
        while !files(&folder).iter().any(written) {
            assert!(begin.elapsed() < Duration::from_secs(60), "no rows");
            std::thread::sleep(Duration::from_millis(5));
        }
        let sent = Command::new("kill")
            .args([signal, &child.id().to_string()])
            .status();
        assert!(sent.unwrap().success());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(130), "{}", text(&output.stderr));
        assert_eq!(files(&folder).len(), 2, "{:?}", files(&folder));
    }
}
