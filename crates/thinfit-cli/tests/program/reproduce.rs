//! `thinfit reproduce`, with settings that make its fits short.

use std::process::Stdio;
use std::time::{Duration, Instant};

use super::*;

/// Settings with which a fit of the core library takes milliseconds.
const TINY: [&str; 6] = [
    "--set=generate.steps=4",
    "--set=refine.steps=4",
    "--set=direct.steps=4",
    "--set=generator.hidden=[8]",
    "--set=check_every=2",
    "--out=runs",
];

pub fn tiny<'a>(arguments: &[&'a str]) -> Vec<&'a str> {
    [&["reproduce"], arguments, &TINY].concat()
}

/// Test errors by job, from the ledger.
fn errors(folder: &Path) -> Vec<(String, f64)> {
    let lines = read(folder, "runs/cells.jsonl");
    let error = |line: &str| -> Option<(String, f64)> {
        let entry: serde_json::Value = serde_json::from_str(line).ok()?;
        let field = |key: &str| entry[key].to_string();
        let keys = ["column", "method", "activation", "lambda", "seed"];
        Some((keys.map(field).join(" "), entry["mse"].as_f64()?))
    };
    let mut errors: Vec<(String, f64)> = lines.lines().filter_map(error).collect();
    errors.sort_by(|a, b| a.0.cmp(&b.0));
    errors
}

#[test]
fn a_second_call_fits_only_what_is_missing_and_reports_everything() {
    let folder = folder("reproduce");
    let methods = "--methods=f-opt,gft,gft-r,kernel-ridge";
    let call = tiny(&[
        "table1",
        "--columns=f1-5,f3-5",
        methods,
        "--activations=fourier",
        "--seeds=2",
        "--lambda=paper",
    ]);
    let printed = succeed(&folder, &call);
    for count in [
        "table1      8 of 78 published cells, ",
        "all tables  8 of 300 published cells, ",
    ] {
        assert!(printed.contains(count), "{printed}");
    }
    let first = errors(&folder);
    assert_eq!(first.len(), 16);
    let expected = ["cells.jsonl", "results.csv", "results.html", "results.md"];
    assert_eq!(files(&folder.join("runs")), expected);

    let again = thinfit(&folder, &call);
    let told = text(&again.stderr);
    assert!(told.contains("16 of 16 fits are already in"), "{told}");
    assert_eq!(errors(&folder), first);

    // The last line is cut short, as by a power failure.
    let ledger = read(&folder, "runs/cells.jsonl");
    write(&folder, "runs/cells.jsonl", &ledger[..ledger.len() - 200]);
    let third = thinfit(&folder, &call);
    let told = text(&third.stderr);
    assert!(told.contains("15 of 16 fits are already in"), "{told}");
    assert_eq!(errors(&folder), first);
    let fourth = thinfit(&folder, &call);
    assert!(text(&fourth.stderr).contains("damaged lines ignored: 1"));

    let csv = read(&folder, "runs/results.csv");
    let rows: Vec<&str> = csv.lines().collect();
    assert!(
        rows[0].starts_with("table,width,problem,d,M,method,activation,mse,highlighted,lambda,")
    );
    assert_eq!(rows.len(), 1 + 140);
    let row = |start: &str| *rows.iter().find(|row| row.starts_with(start)).unwrap();
    assert!(row("table1,100,f3,5,500,GFT,fourier,5.87e-5,0,1e-4,1e-4,").contains(",2,0,"));
    assert!(row("table1,100,f2,5,500,GFT,fourier,1.03e-7,0,0e0,").contains(",0,0,"));
    let markdown = read(&folder, "runs/results.md");
    assert!(markdown.contains("| GFT | sigmoid | (0) | missing | – | – | 3.18e-6 | – | – |"));
    let page = read(&folder, "runs/results.html");
    assert!(page.contains("<b>missing</b><small>paper <span>3.18e-6</span></small>"));
    assert_eq!(
        page.matches("<td").count() - page.matches("<td class=\"none\"").count(),
        140
    );
}

#[test]
fn lambda_is_chosen_first_and_all_seeds_have_it() {
    let folder = folder("reproduce-validated");
    let call = tiny(&[
        "table1",
        "--columns=f1-5",
        "--methods=gft,gft-r,kernel-ridge",
        "--activations=fourier",
        "--seeds=2",
    ]);
    succeed(&folder, &call);
    let lines = read(&folder, "runs/cells.jsonl");
    let entries: Vec<serde_json::Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    for method in ["gft", "gft-r"] {
        let of = |seeds: std::ops::RangeInclusive<u64>| {
            let mine = move |entry: &&serde_json::Value| {
                entry["method"] == method && seeds.contains(&entry["seed"].as_u64().unwrap())
            };
            entries.iter().filter(mine)
        };
        let error = |entry: &serde_json::Value| entry["validation_mse"].as_f64().unwrap();
        let best = of(0..=0).min_by(|a, b| error(a).total_cmp(&error(b)));
        let lambda = &best.unwrap()["lambda"];
        assert_eq!((of(0..=0).count(), of(1..=2).count()), (6, 2), "{method}");
        assert!(
            of(1..=2).all(|entry| &entry["lambda"] == lambda),
            "{method}"
        );
    }
    assert_eq!(entries.len(), 12 + 4 + 2);
    assert!(succeed(&folder, &call).contains("3 of 78 published cells"));
    assert_eq!(read(&folder, "runs/cells.jsonl"), lines);
    // What chose λ is not among the seeds of a cell.
    let csv = read(&folder, "runs/results.csv");
    let row = csv.lines().find(|row| row.contains(",GFT,fourier,"));
    assert!(row.unwrap().contains(",2,0,"), "{csv}");
}

#[test]
fn gft_r_after_gft_ends_where_it_does_alone() {
    let folder = folder("reproduce-chain");
    for lambda in ["--lambda=paper", "--lambda=auto"] {
        let call = |methods| {
            tiny(&[
                "table1",
                "--columns=f1-5",
                methods,
                lambda,
                "--activations=fourier",
                "--seeds=1",
                "-q",
            ])
        };
        succeed(&folder, &call("--methods=gft,gft-r"));
        let both = errors(&folder);
        std::fs::remove_dir_all(folder.join("runs")).unwrap();
        succeed(&folder, &call("--methods=gft-r"));
        assert_eq!(errors(&folder)[0], both[1], "{lambda}");
        assert!(!folder.join("runs/states").exists());
        std::fs::remove_dir_all(folder.join("runs")).unwrap();
    }
}

#[test]
fn a_failed_fit_is_tried_again_only_when_asked() {
    let folder = folder("reproduce-retry");
    let call = [
        "reproduce",
        "table1",
        "--columns=f1-5",
        "--methods=gaussian-process",
        "--seeds=1",
        "--set=starts=0",
        "--out=runs",
    ];
    let entries = || read(&folder, "runs/cells.jsonl").lines().count();
    let told = |more: &[&str]| text(&thinfit(&folder, &[&call[..], more].concat()).stderr);
    let first = told(&[]);
    assert!(
        first.contains("no result: ") && first.contains("`starts`"),
        "{first}"
    );
    assert!(succeed(&folder, &[&call[..], &["--list"]].concat()).contains("no result: "));
    let again = told(&[]);
    assert!(again.contains("1 of 1 fits are already in"), "{again}");
    assert!(
        again.contains("1 of them failed") && again.contains("--retry"),
        "{again}"
    );
    assert_eq!(entries(), 1);
    assert!(told(&["--retry"]).contains("0 of 1 fits are already in"));
    assert_eq!(entries(), 2);
}

#[cfg(unix)]
#[test]
fn ctrl_c_loses_nothing_and_the_next_call_ends_where_an_uninterrupted_one_does() {
    let folder = folder("reproduce-interrupt");
    let call = |out| {
        let methods = "--methods=kernel-ridge,gft";
        let mut call = vec![
            "reproduce",
            "table1",
            "--columns=f1-5",
            methods,
            "--activations=fourier",
        ];
        call.extend([
            "--seeds=1",
            "--lambda=paper",
            "--jobs=1",
            "--set=generate.steps=1500",
            "--set=generator.hidden=[16]",
            out,
        ]);
        call
    };
    let child = program(&folder, &call("--out=runs"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let (ledger, begin) = (folder.join("runs/cells.jsonl"), Instant::now());
    while !ledger.exists() {
        assert!(
            begin.elapsed() < Duration::from_secs(120),
            "no fit was recorded"
        );
        std::thread::sleep(Duration::from_millis(5));
    }
    std::thread::sleep(Duration::from_millis(200));
    let signal = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(signal.unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", text(&output.stderr));
    assert_eq!(errors(&folder).len(), 1);
    assert_eq!(files(&folder.join("runs/states")).len(), 1);
    assert!(read(&folder, "runs/results.md").contains("missing"));

    succeed(&folder, &call("--out=runs"));
    let resumed = errors(&folder);
    assert!(!folder.join("runs/states").exists());
    std::fs::remove_dir_all(folder.join("runs")).unwrap();
    succeed(&folder, &call("--out=runs"));
    assert_eq!(errors(&folder), resumed);
}

#[test]
fn missing_data_are_named_and_the_rest_goes_on() {
    let folder = folder("reproduce-data");
    let call = [
        "reproduce",
        "table2",
        "table3",
        "--columns=h3,airfoil",
        "--methods=kernel-ridge",
        "--seeds=1",
    ];
    let quiet = [&call[..], &["-q"]].concat();
    let output = program(&folder, &quiet)
        .env_remove("THINFIT_DATA")
        .output()
        .unwrap();
    let told = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{told}");
    for word in ["skipped: airfoil (41, 750)", "THINFIT_DATA", "airfoil.txt"] {
        assert!(told.contains(word), "`{word}` is missing in: {told}");
    }
    assert!(
        read(&folder, "thinfit-runs/results.csv")
            .contains("h3,5,500,kernel ridge reg,,5.55e-3,0,,,")
    );
}

#[test]
fn figure_1_is_drawn_and_the_shares_are_printed() {
    let folder = folder("reproduce-figure");
    let printed = succeed(
        &folder,
        &tiny(&[
            "figure1",
            "--methods=gft,gft-r,plain",
            "--seeds=1",
            "--set=steps=4",
            "-q",
        ]),
    );
    let line = |start: &str| {
        printed
            .lines()
            .find(|line| line.starts_with(start))
            .unwrap()
    };
    assert_eq!(line("GFT-r").matches('%').count(), 3, "{printed}");
    assert_eq!(line("ANOVA-RFF").matches('-').count(), 1 + 3, "{printed}");
    let svg = read(&folder, "runs/figure1.svg");
    assert!(svg.starts_with("<svg") && folder.join("runs/figure1.png").exists());
    assert!(read(&folder, "runs/results.html").contains(&svg));
}

#[test]
fn a_gpu_that_is_not_there_is_an_error_and_nothing_is_fitted() {
    let folder = folder("reproduce-device");
    let call = ["reproduce", "table1", "--columns=f1-5", "--device=cuda"];
    let run = |more: &[&str]| {
        let mut program = program(&folder, &[&call[..], more].concat());
        program.env("CUDA_VISIBLE_DEVICES", "-1").output().unwrap()
    };
    let output = run(&[]);
    let told = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(
        told.contains("cuda: ") && told.contains("use device cpu"),
        "{told}"
    );
    assert!(files(&folder).is_empty());
    // What was recorded elsewhere can be shown here.
    assert_eq!(run(&["--list"]).status.code(), Some(0));
    fail(
        &folder,
        &[&call[..3], &["--device=auto"]].concat(),
        &["cpu, cuda"],
    );
}

#[test]
fn unknown_words_are_answered_with_the_known_ones() {
    let folder = folder("reproduce-wrong");
    let cases: [(&[&str], &[&str]); 15] = [
        (&["table1", "--report", "--out=none"], &["none", "--out"]),
        (&["table7"], &["`table7`", "table1 to table6"]),
        (&["table1", "--columns=f9"], &["`f9`", "f1-5, f1-10"]),
        (
            &["table1", "--methods=magic"],
            &["`magic`", "gft-r", "salsa"],
        ),
        (&["table1", "--columns=h3"], &["no cell", "--columns h3"]),
        (
            &["table1", "--columns=f1-5,h3"],
            &["no cell", "--columns h3"],
        ),
        (&["table6", "--methods=gft"], &["no cell", "--methods gft"]),
        (&["table1", "--jobs=100000"], &["1024"]),
        (&["table1", "--set=starts=-1"], &["starts", "-1"]),
        (
            &["table1", "--lambda=much"],
            &["--lambda", "`much`", "auto"],
        ),
        (&["table1", "--seeds=0"], &["a number of seeds such as 5"]),
        (&["table1", "--seeds=0-4"], &["from 1 on"]),
        (&["table1", "--set=magic=1"], &["`magic`"]),
        (
            &["table1", "--set=width=3"],
            &["`width`", "cell of a table"],
        ),
        (&["table1", "--preset=slow"], &["fast", "paper"]),
    ];
    for (arguments, words) in cases {
        fail(&folder, &[&["reproduce"], arguments].concat(), words);
    }
}
