//! `--groups`: no split divides a group.

use super::*;
use crate::input::npy;

/// Twelve settings, each read eight times with jitter, whose readings share an error; `run` names them.
fn readings(run: impl Fn(usize) -> String) -> String {
    let at = |i: usize, k: f64| (k * (i + 1) as f64).fract();
    let row = |i: usize| {
        let setting = i % 12;
        let a = at(setting, 0.618_033_988_7) + 1e-3 * at(i, 0.381);
        let b = at(setting, 0.754_877_666_2) + 1e-3 * at(i, 0.217);
        let shared = 2.0 * at(setting, 0.569_840_290_998_1);
        format!(
            "{a},{b},{},{}\n",
            run(setting),
            a + shared + 0.01 * at(i, 0.83)
        )
    };
    format!("a,b,run,y\n{}", (0..96).map(row).collect::<String>())
}

fn record(folder: &Path, model: &str) -> serde_json::Value {
    let model: serde_json::Value = serde_json::from_str(&read(folder, model)).unwrap();
    model["record"].clone()
}

const FIT: [&str; 4] = ["fit", "runs.csv", "--target=y", "--quiet"];

#[test]
fn readings_of_one_setting_do_not_judge_each_other() {
    let folder = folder("groups");
    write(&folder, "runs.csv", readings(|i| format!("run {i}")));
    // SALSA's sums predict these readings badly, their own repeats included.
    for (method, times) in [
        ("gaussian-process", 3.0),
        ("kernel-ridge-validated", 3.0),
        ("salsa", 1.3),
    ] {
        let method = format!("--method={method}");
        let alone = [&FIT[..], &[&method, "--drop=run", "-o=alone.json"]].concat();
        succeed(&folder, &alone);
        let together = [&FIT[..], &[&method, "--groups=run"]].concat();
        let report = succeed(&folder, &together);
        assert!(
            report.contains("96 samples in 12 groups by run"),
            "{report}"
        );
        let (alone, together) = (record(&folder, "alone.json"), record(&folder, "model.json"));
        assert_eq!(together["groups"]["column"], "run");
        assert_eq!(together["groups"]["count"], 12);
        assert!(alone.get("groups").is_none());
        let mse = |record: &serde_json::Value| record["validation_mse"][0].as_f64().unwrap();
        assert!(mse(&together) > times * mse(&alone), "{method}");
    }
    let inspected = succeed(&folder, &["inspect", "model.json"]);
    assert!(inspected.contains("in 12 groups by run"), "{inspected}");
}

#[test]
fn the_column_of_groups_is_no_input_and_may_be_there_or_not() {
    let folder = folder("groups-column");
    write(&folder, "runs.csv", readings(|i| format!("run {i}")));
    let bare = readings(|i| i.to_string());
    let bare: String = (bare.lines())
        .map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            format!("{},{},{}\n", cells[0], cells[1], cells[3])
        })
        .collect();
    write(&folder, "bare.csv", bare);
    let fit = with_short(&[
        "fit",
        "runs.csv",
        "--target=y",
        "--groups=run",
        "--method=gft-r",
    ]);
    succeed(&folder, &fit);
    for command in [&["predict", "model.json"][..], &["score", "model.json"]] {
        let of = |table| succeed(&folder, &[command, &[table]].concat());
        assert_eq!(of("runs.csv"), of("bare.csv"));
    }
    // Numbers name the same groups, and so does a configuration file.
    let model = record(&folder, "model.json");
    write(
        &folder,
        "numbers.csv",
        readings(|i| (0.5 * i as f64).to_string()),
    );
    write(
        &folder,
        "fit.toml",
        "target = \"y\"\ngroups = \"run\"\nmethod = \"gft-r\"\n",
    );
    let fit = with_short(&["fit", "numbers.csv", "--config=fit.toml"]);
    succeed(&folder, &fit);
    assert_eq!(record(&folder, "model.json"), model);
}

#[test]
fn groups_that_cannot_be_used_are_refused() {
    let folder = folder("groups-refused");
    write(&folder, "runs.csv", readings(|i| format!("run {i}")));
    let refused = |words: &[&str], parts: &[&str]| {
        fail(&folder, &[&FIT[..], words].concat(), parts);
    };
    refused(&["--groups=round"], &["round", "run"]);
    refused(&["--groups=y"], &["`y`", "twice"]);
    refused(&["--groups=run", "--drop=run"], &["`run`", "--groups"]);
    write(&folder, "runs.csv", readings(|_| "one".into()));
    refused(&["--groups=run"], &["at least 2 groups"]);
    write(
        &folder,
        "runs.csv",
        readings(|i| i.to_string()).replace(",11,", ",,"),
    );
    refused(&["--groups=run"], &["run", "--missing drop"]);
    let report = succeed(
        &folder,
        &[
            &FIT[..],
            &["--groups=run", "--missing=drop", "--method=kernel-ridge"],
        ]
        .concat(),
    );
    assert!(report.contains("88 samples in 11 groups"), "{report}");
}

#[test]
fn a_table_that_is_read_in_blocks_has_no_groups() {
    let folder = folder("groups-long");
    write(
        &folder,
        "long.npy",
        npy(20_000, 3, |i, j| ((i * (7 + j)) % 101) as f64),
    );
    let fit = [
        "--memory=1MB",
        "fit",
        "long.npy",
        "--target=c3",
        "--groups=c1",
    ];
    fail(&folder, &fit, &["--groups", "gft-r"]);
}

#[test]
fn comparison_divides_no_group() {
    let folder = folder("groups-compare");
    write(&folder, "runs.csv", readings(|i| format!("run {i}")));
    let compare = |words: &[&str]| -> f64 {
        let call = [
            "compare",
            "runs.csv",
            "--target=y",
            "--methods=gaussian-process",
            "--json",
        ];
        let found = succeed(&folder, &[&call[..], words, &["--quiet"]].concat());
        let found: serde_json::Value = serde_json::from_str(&found).unwrap();
        found["methods"][0]["rmse"][0].as_f64().unwrap()
    };
    assert!(compare(&["--groups=run"]) > 2.0 * compare(&["--drop=run"]));
}
