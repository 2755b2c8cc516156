//! Calls that would exceed the memory or time limit are refused in advance, with the size and how to proceed.

use std::io::Write;
use std::process::Stdio;

use crate::{fail, fitted_by_the_library, folder, program, succeed, text, write};

/// The header of an NPY file of doubles.
fn npy(rows: u64, columns: u64) -> Vec<u8> {
    let header =
        format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({rows}, {columns}), }}\n");
    let mut bytes = b"\x93NUMPY\x01\0".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes
}

#[test]
fn a_sparse_file_of_96_gb_is_refused_with_its_size() {
    let folder = folder("sparse");
    let bytes = npy(6_000_000_000, 2);
    write(&folder, "hole.npy", &bytes);
    let file = std::fs::OpenOptions::new()
        .write(true)
        .open(folder.join("hole.npy"))
        .unwrap();
    file.set_len(bytes.len() as u64 + 96_000_000_000).unwrap();
    let words = [
        "6000000000 rows of 2 columns take about 96.0 GB in memory",
        "the limit of 1.0 GB",
        "--memory 288GB",
    ];
    // The default would read it in blocks.
    let method = "--method=gaussian-process";
    fail(
        &folder,
        &["fit", "hole.npy", "-t", "c2", method, "--memory", "3GB"],
        &words,
    );
}

#[test]
#[cfg(unix)]
fn a_device_without_an_end_is_no_model_no_state_and_no_configuration() {
    let folder = folder("zero");
    write(&folder, "a.csv", "x,y\n1,2\n2,3\n3,4\n4,5\n5,6\n");
    for command in ["inspect", "predict", "score", "plot", "export"] {
        let mut words = vec![command, "/dev/zero"];
        words.extend(match command {
            "predict" | "score" => vec!["a.csv"],
            "export" => vec!["--to", "c", "-o", "a.c"],
            _ => vec![],
        });
        fail(&folder, &words, &["text that is not JSON"]);
    }
    let fit = ["fit", "a.csv", "-t", "y"];
    let with = |more: &[&'static str]| [&fit[..], more].concat();
    let expected = ["/dev/zero", "at most 1 MB, found a stream of more"];
    fail(&folder, &with(&["--config", "/dev/zero"]), &expected);
    let expected = ["/dev/zero", "expected a regular file", "--checkpoint"];
    fail(&folder, &with(&["--resume", "/dev/zero"]), &expected);
}

#[test]
fn a_stream_that_does_not_end_is_refused_at_the_limit() {
    let folder = folder("endless");
    for row in ["1,2\n", "some text,2\n"] {
        let command = ["fit", "-", "-t", "y", "--memory", "6MB"];
        let mut child = program(&folder, &command)
            .stdin(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = child.stdin.take().unwrap();
        input.write_all(b"x,y\n").unwrap();
        let rows = row.repeat(1 << 15);
        // It ends by itself: the reader goes.
        while input.write_all(rows.as_bytes()).is_ok() {}
        let output = child.wait_with_output().unwrap();
        let message = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{message}");
        let expected = "more than 2.";
        assert!(
            message.contains(expected) && message.contains("--memory"),
            "{message}"
        );
    }
}

#[test]
fn a_fit_that_does_not_fit_into_memory_is_refused_before_it_starts() {
    let folder = folder("forecast");
    let rows: String = (0..3000).map(|i| format!("{i},{}\n", i % 7)).collect();
    write(&folder, "a.csv", format!("x,y\n{rows}"));
    let fit = ["fit", "a.csv", "-t", "y", "--memory=100MB", "--method"];
    let expected = ["of 3000 rows and 1 inputs takes about", "--memory"];
    fail(&folder, &[&fit[..], &["kernel-ridge"]].concat(), &expected);
    let compare = [
        "compare",
        "a.csv",
        "-t",
        "y",
        "--memory=100MB",
        "--methods=salsa",
    ];
    fail(&folder, &compare, &expected);
    let data = [
        "data",
        "f3",
        "--rows",
        "100000000",
        "--inputs",
        "1000",
        "--memory=1GB",
    ];
    fail(
        &folder,
        &data,
        &["100000000 rows of 1000 inputs take about 2.4 TB"],
    );
    fail(&folder, &["inspect", "a.csv", "--memory", "much"], &["4GB"]);
}

#[test]
fn a_model_above_the_limit_is_refused_and_below_it_is_read() {
    let folder = folder("large-model");
    let model = fitted_by_the_library(40, None);
    model.save(folder.join("model.json")).unwrap();
    let words = ["model.json: reading it takes about", "--memory"];
    fail(&folder, &["inspect", "model.json", "--memory=1kB"], &words);
    succeed(&folder, &["inspect", "model.json", "--memory=10MB"]);
}

#[test]
fn a_hundred_thousand_columns_are_named_in_a_moment() {
    let folder = folder("columns");
    let names: Vec<String> = (0..100_000).map(|j| format!("x{j}")).collect();
    let row = vec!["1"; 100_000].join(",");
    write(&folder, "wide.csv", format!("{}\n{row}\n", names.join(",")));
    let start = std::time::Instant::now();
    let twice = ["fit", "wide.csv", "-t", "x1", "--inputs", "x2,x2"];
    fail(&folder, &twice, &["`x2` is named twice"]);
    let few = ["fit", "wide.csv", "-t", "x7", "--memory=100MB"];
    fail(
        &folder,
        &few,
        &["of 1 rows and 99999 inputs takes about 6.4 GB"],
    );
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
}

/// The program under a limit of the shell, such as `-v 400000`.
#[cfg(target_os = "linux")]
fn limited(folder: &std::path::Path, limit: &str, words: &str) -> std::process::Output {
    let program = env!("CARGO_BIN_EXE_thinfit");
    let script = format!("ulimit {limit} && exec '{program}' {words}");
    let mut shell = std::process::Command::new("sh");
    shell
        .args(["-c", &script])
        .current_dir(folder)
        .output()
        .unwrap()
}

#[test]
#[cfg(target_os = "linux")]
fn memory_that_runs_out_is_an_error_with_advice_and_not_an_abort() {
    let folder = folder("ulimit");
    succeed(
        &folder,
        &["data", "f3", "--rows=2500", "--noise=0.1", "-o", "a.csv"],
    );
    let (mut done, mut refused) = (0, 0);
    for megabytes in [60, 90, 120, 200, 300, 400, 600, 800, 1000, 8000] {
        for (attempt, words) in [
            "fit a.csv -t y --budget 1",
            "fit a.csv -t y --method gaussian-process --set starts=1 --set iterations=2",
        ]
        .iter()
        .enumerate()
        {
            let model = folder.join(format!("{megabytes}-{attempt}.json"));
            let words = format!("{words} --threads 2 --quiet -o {megabytes}-{attempt}.json");
            let output = limited(&folder, &format!("-v {}", 1000 * megabytes), &words);
            let said = text(&output.stderr);
            match output.status.code() {
                Some(0) => done += 1,
                Some(2) => {
                    refused += 1;
                    let advised = ["raise the limit", "pass --memory"];
                    assert!(advised.iter().any(|words| said.contains(words)), "{said}");
                    assert!(!model.exists());
                }
                // The shell cannot even load it.
                Some(127) if megabytes < 100 => refused += 1,
                code => panic!("{megabytes} MB: {code:?} {:?}: {said}", output.status),
            }
        }
    }
    assert!(done > 2 && refused > 2, "{done} {refused}");
}

#[test]
#[cfg(target_os = "linux")]
fn a_small_stack_is_enough() {
    let folder = folder("stack");
    succeed(&folder, &["data", "f3", "--rows=60", "-o", "a.csv"]);
    for kilobytes in [64, 100, 256, 1024] {
        let words = "fit a.csv -t y --budget 0.5 --quiet -o a.json";
        let output = limited(&folder, &format!("-s {kilobytes}"), words);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{kilobytes} kB: {said}");
    }
}
