//! Tables in several files, and tables that are fitted block by block.

use super::*;
use crate::input::npy;

/// A number from 0 to 1 that looks random.
fn at(i: usize, k: f64) -> f64 {
    (k * (i + 1) as f64).fract()
}

/// Two inputs, one of them of whole numbers, and a noisy output.
fn value(i: usize, j: usize) -> f64 {
    let x = [
        at(i, 0.618_033_988_7),
        (8.0 * at(i, 0.754_877_666_2)).floor() / 8.0,
    ];
    if j == 1 {
        return 8.0 * x[1];
    }
    match j {
        2 => (5.0 * x[0] * x[1]).sin() + x[1] + at(i, 0.569_840_290_998_1) - 0.5,
        _ => x[j],
    }
}

pub fn csv(rows: std::ops::Range<usize>) -> String {
    let line = |i| format!("{},{},{}\n", value(i, 0), value(i, 1), value(i, 2));
    format!("a,b,y\n{}", rows.map(line).collect::<String>())
}

const FIT: [&str; 4] = ["--target=c3", "--budget=0.5", "--width=20", "--quiet"];

#[test]
fn a_table_read_in_blocks_gives_the_model_of_a_table_in_memory() {
    let folder = folder("long");
    write(&folder, "all.npy", npy(20_000, 3, value));
    succeed(
        &folder,
        &[&["fit", "all.npy", "-o", "whole.json"], &FIT[..]].concat(),
    );
    let words = [
        &["--memory=1MB", "fit", "all.npy", "-o", "blocks.json"],
        &FIT[..],
    ]
    .concat();
    let report = succeed(&folder, &words);
    assert!(report.contains("from 20000 samples"), "{report}");
    let model: serde_json::Value = serde_json::from_str(&read(&folder, "blocks.json")).unwrap();
    let choice = &model["record"]["diagnosis"]["choice"];
    assert_eq!(choice["grown"]["output"], 20_000, "{choice}");
    assert_eq!(read(&folder, "blocks.json"), read(&folder, "whole.json"));
    // Also from several files of any kind, in whatever pieces.
    std::fs::create_dir(folder.join("parts")).unwrap();
    write(&folder, "parts/1.npy", npy(7001, 3, value));
    write(
        &folder,
        "parts/2.npy",
        npy(12_999, 3, |i, j| value(7001 + i, j)),
    );
    let words = [
        &["--memory=1MB", "fit", "parts", "-o", "parts.json"],
        &FIT[..],
    ]
    .concat();
    succeed(&folder, &words);
    assert_eq!(read(&folder, "parts.json"), read(&folder, "whole.json"));
    for words in [
        vec!["score", "whole.json", "parts", "-t", "c3", "--json"],
        vec![
            "score",
            "whole.json",
            "parts/1.npy",
            "parts/2.npy",
            "-t",
            "c3",
            "--json",
        ],
    ] {
        let score: serde_json::Value = serde_json::from_str(&succeed(&folder, &words)).unwrap();
        assert_eq!(score["rows"], 20_000);
    }
    let predicted = succeed(&folder, &["predict", "whole.json", "parts"]);
    assert_eq!(predicted.lines().count(), 20_001);
}

#[test]
fn a_long_fit_goes_on_from_its_state() {
    let folder = folder("long-state");
    write(&folder, "all.npy", npy(20_000, 3, value));
    let long = ["--memory=1MB", "fit", "all.npy"];
    let fit = |words: &[&str]| succeed(&folder, &[&long, words, &FIT[..]].concat());
    fit(&["-o", "plain.json"]);
    fit(&["-o", "saved.json", "--checkpoint", "fit.state"]);
    assert_eq!(read(&folder, "saved.json"), read(&folder, "plain.json"));
    // The last state is that before the second pass; it holds the settings, and goes on where there is more memory.
    let resumed = ["-o", "resumed.json", "--resume", "fit.state"];
    succeed(&folder, &[&long[1..], &resumed, &["-t", "c3"]].concat());
    assert_eq!(read(&folder, "resumed.json"), read(&folder, "plain.json"));
    // Other settings, another table, another kind of state, and a table that is not long are told.
    let refused = |words: &[&str], part: &str| fail(&folder, words, &[part]);
    let resume = ["fit", "all.npy", "--resume=fit.state", "-t", "c3", "-q"];
    let other = [&resume[..], &["--budget=2"]].concat();
    refused(&other, "a fit with other settings");
    write(&folder, "all.npy", npy(20_001, 3, value));
    refused(&resume, "a fit to another table");
    let short = [
        "fit",
        "all.npy",
        "-t",
        "c3",
        "--method=auto",
        "--checkpoint=a",
    ];
    refused(&short, "for a table that fits into memory");
    std::fs::write(
        folder.join("fit.state"),
        "{\"format\":\"thinfit-long/3\"}\n",
    )
    .unwrap();
    refused(&resume, "a state of format");
}

#[test]
fn rows_with_gaps_are_left_out_of_a_long_table() {
    let folder = folder("long-gaps");
    let gap = |i: usize, j: usize| {
        if (i % 100, j) == (3, 1) {
            f64::NAN
        } else {
            value(i, j)
        }
    };
    write(&folder, "gaps.npy", npy(20_000, 3, gap));
    let words = [&["--memory=1MB", "fit", "gaps.npy"], &FIT[..]].concat();
    fail(
        &folder,
        &words,
        &["gaps.npy", "200 of 20000 rows", "--missing drop"],
    );
    let report = succeed(&folder, &[&words[..], &["--missing=drop"]].concat());
    assert!(
        report.contains("from 19800 samples (200 rows with missing values dropped)"),
        "{report}"
    );
}

#[test]
fn a_long_table_says_what_is_wrong_and_where() {
    let folder = folder("long-wrong");
    write(&folder, "1.npy", npy(15_000, 3, value));
    write(&folder, "2.npy", npy(15_000, 2, value));
    let words = [&["--memory=1MB", "fit", "1.npy", "2.npy"], &FIT[..]].concat();
    fail(
        &folder,
        &words,
        &["2.npy", "the columns of the first file", "c3"],
    );
    let bytes = npy(15_000, 3, value);
    write(&folder, "cut.npy", &bytes[..bytes.len() - 800]);
    let words = [&["--memory=1MB", "fit", "1.npy", "cut.npy"], &FIT[..]].concat();
    fail(&folder, &words, &["cut.npy", "truncated"]);
    let same = [&["fit", "1.npy", "2.npy", "-o", "2.npy"], &FIT[..]].concat();
    fail(&folder, &same, &["2.npy"]);
}

#[test]
fn several_small_files_are_one_table_for_every_method() {
    let folder = folder("several");
    write(&folder, "all.csv", csv(0..120));
    write(&folder, "1.csv", csv(0..50));
    write(&folder, "2.csv", csv(50..120));
    let fit = |files: &[&str], model: &str| {
        let words = [&["fit"], files, &["--target=y", "-o", model]].concat();
        succeed(&folder, &with_short(&words));
        read(&folder, model)
    };
    assert_eq!(
        fit(&["1.csv", "2.csv"], "two.json"),
        fit(&["all.csv"], "one.json")
    );
}

#[test]
fn a_build_without_mpi_does_not_fit_one_model_many_times() {
    if cfg!(feature = "mpi") {
        return;
    }
    let folder = folder("ranks");
    write(&folder, "all.csv", csv(0..120));
    let mut command = program(&folder, &["fit", "all.csv", "--target=y"]);
    let output = command.env("OMPI_COMM_WORLD_SIZE", "4").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let message = text(&output.stderr);
    assert!(message.contains("--features mpi"), "{message}");
}
