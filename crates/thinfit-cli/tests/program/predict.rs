//! `thinfit predict`.

use std::io::Write;
use std::process::Stdio;

use super::*;

#[test]
fn predictions_are_those_of_the_library_to_the_last_bit() {
    let folder = fitted("predict-bits");
    let model = fitted_by_the_library(80, None);
    let (x, _) = points(80);
    let f = model.predict(x.as_ref()).unwrap();
    let printed = succeed(&folder, &["predict", "model.json", "train.csv"]);
    let (names, rows) = numbers(&printed);
    assert_eq!(names, ["y"]);
    assert_eq!(
        rows.iter().flatten().copied().collect::<Vec<_>>(),
        f.col_as_slice(0)
    );
    assert_eq!(
        succeed(
            &folder,
            &["predict", "model.json", "train.csv", "-o", "out.csv"]
        ),
        "wrote out.csv\n"
    );
    assert_eq!(read(&folder, "out.csv"), printed);
    let one = succeed(
        &folder,
        &["predict", "model.json", "train.csv", "--threads", "1"],
    );
    assert_eq!(one, printed);
}

#[test]
fn derivatives_deviations_and_bounds_are_columns() {
    let folder = fitted("predict-more");
    let model = fitted_by_the_library(80, None);
    let (x, _) = points(80);
    let printed = succeed(
        &folder,
        &[
            "predict",
            "model.json",
            "train.csv",
            "--gradient",
            "--std",
            "--interval",
            "0.9",
        ],
    );
    let (names, rows) = numbers(&printed);
    assert_eq!(
        names,
        ["y", "y_std", "y_low", "y_high", "d(y)/d(a)", "d(y)/d(b)"]
    );
    let slope = model.gradient(x.as_ref(), 0).unwrap();
    let deviation = model.deviation(x.as_ref()).unwrap().observation;
    let thinfit::Interval { low, high, .. } = model.interval(x.as_ref(), 0.9).unwrap();
    for (i, row) in rows.iter().enumerate() {
        let rest = [
            deviation[(i, 0)],
            low[(i, 0)],
            high[(i, 0)],
            slope[(i, 0)],
            slope[(i, 1)],
        ];
        assert_eq!(row[1..], rest);
    }
}

#[test]
fn columns_are_matched_by_name_or_without_names_by_position() {
    let folder = fitted("predict-columns");
    let (x, _) = points(80);
    let expected = succeed(&folder, &["predict", "model.json", "train.csv"]);
    let line = |i: usize| format!("{};{};text\n", x[(i, 1)], x[(i, 0)]);
    write(
        &folder,
        "swapped.csv",
        format!("b;a;c\n{}", (0..80).map(line).collect::<String>()),
    );
    assert_eq!(
        succeed(&folder, &["predict", "model.json", "swapped.csv"]),
        expected
    );
    let line = |i: usize| format!("{} {}\n", x[(i, 0)], x[(i, 1)]);
    write(&folder, "bare.txt", (0..80).map(line).collect::<String>());
    assert_eq!(
        succeed(&folder, &["predict", "model.json", "bare.txt"]),
        expected
    );
    write(&folder, "less.csv", "a,c\n1,2\n");
    fail(
        &folder,
        &["predict", "model.json", "less.csv"],
        &["less.csv", "`b`"],
    );
}

#[test]
fn standard_input_is_read_like_a_file() {
    let folder = fitted("predict-stdin");
    let expected = succeed(&folder, &["predict", "model.json", "train.csv"]);
    let mut child = program(&folder, &["predict", "model.json", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    input
        .write_all(read(&folder, "train.csv").as_bytes())
        .unwrap();
    drop(input);
    assert_eq!(text(&child.wait_with_output().unwrap().stdout), expected);
}

#[test]
fn bad_rows_and_bad_models_leave_no_file() {
    let folder = fitted("predict-errors");
    write(&folder, "text.csv", "a,b\n1,2\n1,two\n");
    write(&folder, "gap.csv", "a,b\n1,2\n,2\n");
    write(&folder, "ragged.csv", "a,b\n1,2\n1\n");
    write(&folder, "cut.json", &read(&folder, "model.json")[..300]);
    write(&folder, "other.json", "{\"format\": \"thinfit/9\"}");
    write(&folder, "note.json", "not a model");
    let predict = |model, data| ["predict", model, data, "-o", "out.csv"];
    fail(
        &folder,
        &predict("model.json", "text.csv"),
        &["text.csv:3", "`b`", "two"],
    );
    fail(
        &folder,
        &predict("model.json", "gap.csv"),
        &["gap.csv:3", "`a`"],
    );
    fail(
        &folder,
        &predict("model.json", "ragged.csv"),
        &["ragged.csv:3"],
    );
    fail(
        &folder,
        &predict("model.json", "absent.csv"),
        &["absent.csv"],
    );
    fail(
        &folder,
        &predict("cut.json", "train.csv"),
        &["cut.json", "a truncated file"],
    );
    fail(
        &folder,
        &predict("other.json", "train.csv"),
        &["other.json", "thinfit/9", "update"],
    );
    fail(
        &folder,
        &predict("note.json", "train.csv"),
        &["note.json", "not JSON"],
    );
    fail(
        &folder,
        &predict("train.csv", "model.json"),
        &["train.csv", "before the table"],
    );
    fail(
        &folder,
        &predict("model.json", "model.json"),
        &["expected a table, found JSON"],
    );
    write(&folder, "text.csv", "a,b\n1,x\n");
    let message = fail(&folder, &predict("model.json", "text.csv"), &["text.csv:2"]);
    assert!(!message.contains("--drop"), "{message}");
    fail(
        &folder,
        &["predict", "model.json", "train.csv", "--interval", "1.5"],
        &["between 0 and 1"],
    );
    fail(
        &folder,
        &["score", "model.json", "train.csv", "--target", "z"],
        &["`z`"],
    );
    fail(
        &folder,
        &["score", "model.json", "train.csv", "--target", "y,a"],
        &["expected 1"],
    );
}

#[test]
fn rows_with_missing_values_have_a_line_without_a_prediction() {
    let folder = fitted("predict-missing");
    write(&folder, "gap.csv", "a,b\n0.1,0.2\n,0.2\n0.3,0.4\n");
    let output = thinfit(
        &folder,
        &["predict", "model.json", "gap.csv", "--missing=drop"],
    );
    assert_eq!(text(&output.stdout).lines().count(), 4);
    assert_eq!(text(&output.stdout).lines().nth(2), Some("\"\""));
    assert!(text(&output.stderr).contains("1 of 3 rows"));
    fail(
        &folder,
        &[
            "predict",
            "model.json",
            "gap.csv",
            "--missing=mean",
            "-o=o.csv",
        ],
        &["--missing drop"],
    );
}

#[test]
fn columns_are_kept_and_extrapolation_is_reported() {
    let folder = fitted("predict-keep");
    write(
        &folder,
        "new.csv",
        "id,a,b\n7,0.1,0.2\n8,3.0,0.2\n9,0.3,0.4\n",
    );
    let output = thinfit(
        &folder,
        &["predict", "model.json", "new.csv", "--keep", "id, b"],
    );
    let (names, rows) = numbers(&text(&output.stdout));
    assert_eq!(names, ["id", "b", "y"]);
    let kept: Vec<&[f64]> = rows.iter().map(|row| &row[..2]).collect();
    assert_eq!(kept, [[7.0, 0.2], [8.0, 0.2], [9.0, 0.4]]);
    let warning = text(&output.stderr);
    assert!(
        warning.contains("1 of 3 rows") && warning.contains("a in 1"),
        "{warning}"
    );
    write(
        &folder,
        "named.csv",
        "run,a,b\nr-01,0.1,0.2\n\"x, y\",0.3,0.2\n3,0.3,0.4\n",
    );
    let named = succeed(
        &folder,
        &["predict", "model.json", "named.csv", "--keep=run"],
    );
    let runs: Vec<&str> = named
        .lines()
        .map(|line| line.rsplit_once(',').unwrap().0)
        .collect();
    assert_eq!(runs, ["run", "r-01", "\"x, y\"", "3"]);
    // The true value beside the prediction: two names.
    write(&folder, "true.csv", "y,a,b\n5,0.1,0.2\n");
    let both = succeed(&folder, &["predict", "model.json", "true.csv", "--keep=y"]);
    assert_eq!(numbers(&both).0, ["y", "y_predicted"]);
    let plain = succeed(&folder, &["predict", "model.json", "new.csv"]);
    let predicted = |rows: &[Vec<f64>]| rows.iter().map(|r| r[r.len() - 1]).collect::<Vec<_>>();
    assert_eq!(predicted(&numbers(&plain).1), predicted(&rows));
    // Quiet users are told what changes how the numbers are to be read.
    let quiet = thinfit(&folder, &["predict", "model.json", "new.csv", "--quiet"]);
    assert_eq!(text(&quiet.stderr), warning);
}

#[test]
fn rows_outside_are_refused_clipped_or_without_bounds() {
    let folder = fitted("predict-outside");
    write(&folder, "new.csv", "a,b\n0.5,0.2\n30,0.2\n");
    let arguments = ["predict", "model.json", "new.csv", "--interval=0.5"];
    let (_, warned) = numbers(&succeed(&folder, &arguments));
    assert!(warned[0][1].is_finite() && warned[0][2].is_finite());
    assert_eq!(warned[1][1..], [f64::NEG_INFINITY, f64::INFINITY]);
    let words = ["1 of 2 rows outside", "a in 1", "--outside warn or clip"];
    fail(
        &folder,
        &[&arguments[..], &["--outside=error"]].concat(),
        &words,
    );
    let clip = [&arguments[..], &["--outside=clip", "-q"]].concat();
    let clipped = thinfit(&folder, &clip);
    assert_eq!(
        text(&clipped.stderr),
        "warning: 1 of 2 rows outside the ranges of the training samples (a in 1), predicted at the nearest place inside\n"
    );
    let (_, clipped) = numbers(&text(&clipped.stdout));
    assert_eq!(clipped[0], warned[0]);
    assert!(clipped[1].iter().all(|value| value.is_finite()));
}

#[test]
fn a_reader_that_leaves_early_is_not_an_error() {
    let folder = fitted("predict-pipe");
    let many = |rows: usize| {
        (0..rows)
            .map(|i| format!("0.{i},0.5\n"))
            .collect::<String>()
    };
    write(&folder, "many.csv", format!("a,b\n{}", many(100_000)));
    let mut child = program(&folder, &["predict", "model.json", "many.csv"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    assert!(child.wait().unwrap().success());
}

#[test]
fn rows_with_gaps_keep_their_lines_and_means_fill_them_as_in_the_fit() {
    let folder = folder("predict-gaps");
    let (x, y) = points(60);
    let line = |i: usize| match i % 10 {
        3 => format!("{},,{}\n", x[(i, 0)], y[(i, 0)]),
        _ => format!("{},{},{}\n", x[(i, 0)], x[(i, 1)], y[(i, 0)]),
    };
    let lines: String = (0..60).map(line).collect();
    write(&folder, "gaps.csv", format!("a,b,y\n{lines}"));
    let fit = with_short(&["fit", "gaps.csv", "--target=y", "--missing=drop"]);
    succeed(&folder, &fit);
    let predict = ["predict", "model.json", "gaps.csv", "--missing=drop"];
    let more = ["--interval=0.9", "--gradient", "--keep=a"];
    let output = thinfit(&folder, &[&predict[..], &more].concat());
    let said = text(&output.stderr);
    let expected = "6 of 60 rows have missing values and no prediction (row 4, 14, 24, 34, 44, …): their cells are empty";
    assert!(said.contains(expected), "{said}");
    let printed = text(&output.stdout);
    let lines: Vec<&str> = printed.lines().skip(1).collect();
    assert_eq!(lines.len(), 60);
    for (i, line) in lines.iter().enumerate() {
        let a = format!("{},", x[(i, 0)]);
        assert!(line.starts_with(&a), "{line}");
        assert_eq!(line[a.len()..] == *",,,,", i % 10 == 3, "{line}");
    }
    // Without means in the model there is nothing to fill in.
    let mean = ["predict", "model.json", "gaps.csv", "--missing=mean"];
    fail(
        &folder,
        &mean,
        &["fitted with --missing mean", "--missing drop"],
    );
    let fit = with_short(&["fit", "gaps.csv", "--target=y", "--missing=mean"]);
    succeed(&folder, &fit);
    let (_, rows) = numbers(&succeed(&folder, &mean));
    let present = (0..60).filter(|i| i % 10 != 3).map(|i| x[(i, 1)]);
    let filled = Mat::from_fn(1, 2, |_, j| match j {
        0 => x[(3, 0)],
        _ => present.clone().sum::<f64>() / 54.0,
    });
    let model = Model::load(folder.join("model.json")).unwrap();
    let expected = model.predict(filled.as_ref()).unwrap()[(0, 0)];
    assert!((rows[3][0] - expected).abs() < 1e-9 * expected.abs().max(1.0));
    // Whoever does not know of it is told.
    fail(
        &folder,
        &["predict", "model.json", "gaps.csv"],
        &[
            "6 of 60 rows have missing values",
            "--missing drop",
            "--missing mean",
        ],
    );
    let score = [
        "score",
        "model.json",
        "gaps.csv",
        "--missing=mean",
        "--json",
    ];
    let output = thinfit(&folder, &score);
    let said = text(&output.stderr);
    assert!(
        said.contains("6 missing values replaced as in training"),
        "{said}"
    );
    let score: serde_json::Value = serde_json::from_str(&text(&output.stdout)).unwrap();
    let squares = (0..60).map(|i| (y[(i, 0)] - rows[i][0]).powi(2));
    let mse = score["scores"][0]["mse"].as_f64().unwrap();
    assert!((mse * 60.0 / squares.sum::<f64>() - 1.0).abs() < 1e-9);
    // What was not measured is not scored.
    write(&folder, "unmeasured.csv", "a,b,y\n0.2,,0.3\n0.3,0.2,\n");
    let score = ["score", "model.json", "unmeasured.csv", "--missing=mean"];
    let output = thinfit(&folder, &score);
    assert!(text(&output.stdout).ends_with(" 1\n"));
    assert!(text(&output.stderr).contains("dropped 1 row"));
}

#[test]
fn the_line_of_a_bad_row_is_right_after_rows_that_were_left_out() {
    let folder = fitted("predict-place");
    write(
        &folder,
        "new.csv",
        "a,b,y\n0.1,0.2,1\n,0.2,1\n0.1,0.2,\n0.3,1e200,1\n",
    );
    for command in ["predict", "score"] {
        let arguments = [command, "model.json", "new.csv", "--missing=drop"];
        let output = thinfit(&folder, &arguments);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(
            said.contains("new.csv:5: column `b` has the value 1e200"),
            "{said}"
        );
    }
}
