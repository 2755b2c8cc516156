//! Everything that is skipped, interpreted or ignored in a table is reported, and nothing else is.

use super::*;

const FIT: [&str; 2] = ["fit", "--method=kernel-ridge-validated"];

/// The line of sample `i` with these cells before it.
fn line(before: &str, i: usize) -> String {
    let (x, y) = points(60);
    format!("{before}{},{},{}\n", x[(i, 0)], x[(i, 1)], y[(i, 0)])
}

fn lines(before: impl Fn(usize) -> String) -> String {
    (0..60).map(|i| line(&before(i), i)).collect()
}

/// What the program says on standard error, and the report that it prints as JSON.
fn fit(folder: &Path, arguments: &[&str]) -> (String, serde_json::Value) {
    let arguments = [&FIT, arguments, &["--target=y", "--json"]].concat();
    let output = thinfit(folder, &arguments);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {said}");
    (said, serde_json::from_slice(&output.stdout).unwrap())
}

#[test]
fn a_column_of_row_numbers_is_ignored_whatever_its_name_and_said_to_quiet_users() {
    let folder = folder("tables-numbers");
    let table = format!("Versuch,a,b,y\n{}", lines(|i| format!("{},", i + 1)));
    write(&folder, "lab.csv", table);
    for quiet in [&[][..], &["--quiet"]] {
        let (said, report) = fit(&folder, &[&["lab.csv"], quiet].concat());
        assert_eq!(report["inputs"], serde_json::json!(["a", "b"]));
        for words in [
            "Versuch: ignored, it numbers the rows",
            "list all inputs with --inputs",
        ] {
            assert!(said.contains(words), "{said}");
        }
    }
    let (said, report) = fit(&folder, &["lab.csv", "--inputs=Versuch,a,b"]);
    assert_eq!(report["inputs"], serde_json::json!(["Versuch", "a", "b"]));
    assert!(!said.contains("Versuch"), "{said}");
    // In another order and with gaps, too.
    let order = |i: usize| match i % 9 {
        4 => ",".to_owned(),
        _ => format!("{},", 17 * (i + 1) % 61),
    };
    write(
        &folder,
        "order.csv",
        format!("Versuch,a,b,y\n{}", lines(order)),
    );
    let (said, report) = fit(&folder, &["order.csv"]);
    assert_eq!(report["inputs"], serde_json::json!(["a", "b"]));
    assert!(
        said.contains("Versuch: ignored, it numbers the rows"),
        "{said}"
    );
    // A function of it alone is one.
    let (said, report) = fit(&folder, &["lab.csv", "--drop=a,b"]);
    assert_eq!(report["inputs"], serde_json::json!(["Versuch"]));
    assert!(said.contains("Versuch: consecutive integers"), "{said}");
}

#[test]
fn lines_that_are_skipped_are_reported_and_no_row_vanishes() {
    let folder = folder("tables-skipped");
    let level = |i: usize| format!("#{},", i % 2);
    let table = format!("# by hand\n\nkind,a,b,y\n{}\n\n", lines(level));
    write(&folder, "lab.csv", table);
    let (said, report) = fit(&folder, &["lab.csv", "--quiet"]);
    assert_eq!(report["samples"], 60);
    assert_eq!(report["inputs"][0], "kind=#1");
    for words in [
        "lab.csv: skipped 1 line, comments above the table",
        "skipped 1 blank line (from",
    ] {
        assert!(said.contains(words), "{said}");
    }
    assert!(!said.contains("below the last row"), "{said}");
    for command in [
        &["score", "model.json", "lab.csv"][..],
        &["predict", "model.json", "lab.csv"],
    ] {
        let output = thinfit(&folder, command);
        assert!(
            text(&output.stderr).contains("2 blank lines below the last row"),
            "{command:?}"
        );
    }
    let predicted = succeed(&folder, &["predict", "model.json", "lab.csv"]);
    assert_eq!(predicted.lines().count(), 61);
}

#[test]
fn files_of_a_folder_that_are_not_read_are_named_to_quiet_users() {
    let folder = folder("tables-unread");
    std::fs::create_dir_all(folder.join("lab")).unwrap();
    write(
        &folder,
        "lab/1.csv",
        format!("a,b,y\n{}", lines(|_| String::new())),
    );
    write(&folder, "lab/2.xls", "no table");
    write(&folder, "lab/3.csv.bak", "no table");
    let (said, report) = fit(&folder, &["lab", "--quiet"]);
    assert_eq!(report["samples"], 60);
    let words = "lab: skipped 2.xls, 3.csv.bak: not tables by their extensions";
    assert_eq!(said.matches(words).count(), 1, "{said}");
    for command in ["score", "predict"] {
        let output = thinfit(&folder, &[command, "model.json", "lab"]);
        let said = text(&output.stderr);
        assert_eq!(said.matches(words).count(), 1, "{command}: {said}");
    }
}

#[test]
fn a_table_of_one_column_has_a_prediction_or_an_empty_line_for_every_row() {
    let folder = folder("tables-one-column");
    let table: String = (0..30).map(|i| format!("{},{}\n", i * i, i)).collect();
    write(&folder, "train.csv", format!("x,y\n{table}"));
    fit(&folder, &["train.csv"]);
    write(&folder, "new.csv", "x\n1\n\n3\n\n5\n");
    fail(
        &folder,
        &["predict", "model.json", "new.csv"],
        &["2 of 5 rows have missing values", "line 3"],
    );
    let predict = [
        "predict",
        "model.json",
        "new.csv",
        "--missing=drop",
        "--quiet",
    ];
    let output = thinfit(&folder, &predict);
    let predicted = text(&output.stdout);
    let lines: Vec<&str> = predicted.lines().collect();
    assert_eq!((lines.len(), lines[2], lines[4]), (6, "\"\"", "\"\""));
    let said = text(&output.stderr);
    assert!(said.contains("2 of 5 rows have missing values"), "{said}");
}

#[test]
fn titles_units_and_odd_numbers_of_a_laboratory_are_read_with_a_note() {
    let folder = folder("tables-odd");
    let price = |i: usize| format!("${}.5,", 7 * i % 23);
    let table = format!("Series 12\nprice,a,b,y\n,[mm],m/s,-\n{}", lines(price));
    write(&folder, "lab.csv", table);
    let (said, report) = fit(&folder, &["lab.csv"]);
    assert_eq!(report["samples"], 60);
    assert_eq!(report["inputs"], serde_json::json!(["price", "a", "b"]));
    for words in [
        "skipped 1 line, a title above the names (from line 1)",
        "line 3 holds units (a: mm, b: m/s, y: -)",
        "column `price`: read 60 cells with the currency sign $ as numbers (the first is `$0.5`, line 4)",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
    let predicted = succeed(&folder, &["predict", "model.json", "lab.csv"]);
    assert_eq!(predicted.lines().count(), 61);
    let hex = format!("code,a,b,y\n{}", lines(|i| format!("0x{i:x},")));
    write(&folder, "hex.csv", hex);
    let fit = [&FIT[..], &["hex.csv", "--target=y"]].concat();
    fail(
        &folder,
        &fit,
        &["hex.csv:2: column `code` is `0x0`", "--drop code"],
    );
}

#[test]
fn a_row_of_units_is_forgotten_by_no_model_report_or_picture() {
    let folder = folder("tables-units");
    let table = |units: &str| format!("a,b,y\n{units}\n{}", lines(|_| String::new()));
    write(&folder, "lab.csv", table("mm,[m/s],bar"));
    let (said, _) = fit(&folder, &["lab.csv"]);
    assert!(said.contains("line 2 holds units"), "{said}");
    let model = read(&folder, "model.json");
    let units = r#""units":{"a":"mm","b":"m/s","y":"bar"}"#;
    assert!(model.contains(units), "{model}");
    succeed(&folder, &["report", "model.json", "-o", "report.html"]);
    let page = read(&folder, "report.html");
    for part in [
        r#""name":"a","unit":"mm""#,
        r#""name":"b","unit":"m/s""#,
        r#""units":["bar"]"#,
    ] {
        assert!(page.contains(part), "{part}");
    }
    succeed(
        &folder,
        &["plot", "model.json", "lab.csv", "--out=pictures"],
    );
    let effects = read(&folder, "pictures/effects.svg");
    for label in ["a [mm]", "b [m/s]", "y [bar]"] {
        assert!(effects.contains(label), "{label}");
    }
    let inspected = succeed(&folder, &["inspect", "model.json"]);
    assert!(inspected.contains(" mm\n"), "{inspected}");
    // Cells without a unit stay as they were measured.
    let proposed = succeed(&folder, &["suggest", "model.json", "--rows=1"]);
    assert!(!proposed.contains("mm"), "{proposed}");

    for unit in ["m\\u0007m", "", &"m".repeat(65)] {
        let spoilt = model.replace(r#""a":"mm""#, &format!(r#""a":"{unit}""#));
        assert_ne!(spoilt, model);
        write(&folder, "spoilt.json", spoilt);
        fail(&folder, &["inspect", "spoilt.json"], &["spoilt.json"]);
    }
    let unknown = model.replace(r#"{"a":"mm""#, r#"{"z":"mm""#);
    write(&folder, "unknown.json", unknown);
    let why = "units of unknown columns";
    fail(
        &folder,
        &["inspect", "unknown.json"],
        &["unknown.json", why],
    );

    // Files that contradict each other leave the unit open.
    write(&folder, "other.csv", table("cm,m/s,bar"));
    fit(&folder, &["lab.csv", "other.csv"]);
    let model = read(&folder, "model.json");
    assert!(model.contains(r#""units":{"b":"m/s","y":"bar"}"#));
}

#[test]
fn rows_above_a_table_are_skipped_by_every_command_that_reads_one() {
    let folder = folder("tables-skip");
    let table = format!(
        "1,2,3,4\nnot,the,names,here\na,b,c,y\n{}",
        lines(|i| format!("{},", i * i))
    );
    write(&folder, "lab.csv", table);
    write(
        &folder,
        "ranges.toml",
        "a = [0, 3500]\nb = [0, 1]\nc = [0, 1]\n",
    );
    write(&folder, "fit.toml", "skip_rows = 2\n");
    let (said, _) = fit(&folder, &["lab.csv", "--skip-rows=2"]);
    assert!(said.contains("skipped 2 lines, by --skip-rows"), "{said}");
    fit(&folder, &["lab.csv", "--config=fit.toml"]);
    for command in [
        &["predict", "model.json", "lab.csv"][..],
        &["score", "model.json", "lab.csv"],
        &["inspect", "model.json", "lab.csv"],
        &["plot", "model.json", "lab.csv", "--out=pictures"],
        &["report", "model.json", "lab.csv"],
        &["compare", "lab.csv", "--target=y", "--methods=linear"],
        &["suggest", "model.json", "--add-to=lab.csv", "--rows=1"],
        &["design", "ranges.toml", "--add-to=lab.csv", "--rows=1"],
    ] {
        succeed(&folder, &[command, &["--skip-rows=2"]].concat());
    }
    let printed = succeed(
        &folder,
        &[&FIT[..], &["lab.csv", "--target=y", "--skip-rows=2"]].concat(),
    );
    assert!(
        printed.contains("plot model.json lab.csv --skip-rows 2"),
        "{printed}"
    );
}

#[test]
fn a_table_of_german_excel_is_read() {
    let folder = folder("tables-latin");
    let kinds = |i: usize| format!("{},", ["grün", "blau"][i % 2]);
    let table = format!("Farbe,Länge,Größe,y\n{}", lines(kinds));
    let latin: Vec<u8> = table.chars().map(|c| c as u8).collect();
    write(&folder, "lab.csv", latin);
    let (said, report) = fit(&folder, &["lab.csv"]);
    assert_eq!(
        report["inputs"],
        serde_json::json!(["Farbe=grün", "Länge", "Größe"])
    );
    assert!(
        said.contains("not UTF-8 (from line 1); read as Windows-1252"),
        "{said}"
    );
}

#[test]
fn outputs_too_small_to_square_are_refused_and_not_reported_as_perfect() {
    let folder = folder("tables-tiny");
    let table: String = (0..40)
        .map(|i| format!("{},{}e-155\n", i * i, i % 7))
        .collect();
    write(&folder, "tiny.csv", format!("x,y\n{table}"));
    let fit = [&FIT[..], &["tiny.csv", "--target=y"]].concat();
    fail(&folder, &fit, &["`y` differ by 6e-155", "use other units"]);
}
