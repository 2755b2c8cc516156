//! Every table format, and `thinfit data`.

use super::*;

/// An NPY file of 8-byte numbers, row by row.
pub fn npy(rows: usize, columns: usize, value: impl Fn(usize, usize) -> f64) -> Vec<u8> {
    let mut header =
        format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({rows}, {columns}), }}");
    while (10 + header.len() + 1) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    for i in 0..rows {
        for j in 0..columns {
            bytes.extend(value(i, j).to_le_bytes());
        }
    }
    bytes
}

#[test]
fn every_format_gives_the_same_model() {
    let folder = fitted("formats");
    let (x, y) = points(80);
    let value = |i: usize, j: usize| if j < 2 { x[(i, j)] } else { y[(i, 0)] };
    let rows = |between: &str| {
        let line = |i| {
            format!(
                "{}\n",
                [0, 1, 2].map(|j| value(i, j).to_string()).join(between)
            )
        };
        (0..80).map(line).collect::<String>()
    };
    write(&folder, "tab.tsv", format!("a\tb\ty\n{}", rows("\t")));
    write(
        &folder,
        "semi.csv",
        format!(
            "\u{feff}\"a\";\"b\";\"y\"\r\n{}",
            rows(";").replace('\n', "\r\n")
        ),
    );
    write(
        &folder,
        "blank.txt",
        format!("# three columns\n  a b y\n{}", rows("   ")),
    );
    write(&folder, "bare.csv", rows(","));
    write(&folder, "array.npy", npy(80, 3, value));
    // The same points, written by numpy.savez and scipy.io.savemat.
    for file in ["points.npz", "points.mat"] {
        let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
        std::fs::copy(data.join(file), folder.join(file)).unwrap();
    }
    let f = |model: &str| {
        let model = Model::load(folder.join(model)).unwrap();
        model.predict(x.as_ref()).unwrap()
    };
    let expected = f("model.json");
    for (file, target) in [
        ("tab.tsv", "y"),
        ("semi.csv", "y"),
        ("blank.txt", "y"),
        ("bare.csv", "c3"),
        ("array.npy", "c3"),
        ("points.npz", "y"),
        ("points.mat", "y"),
    ] {
        succeed(
            &folder,
            &with_short(&["fit", file, "--target", target, "-o", "other.json"]),
        );
        assert_eq!(f("other.json"), expected, "{file}");
        let mse = |model: &str| {
            let score = succeed(&folder, &["score", model, file, "--json"]);
            let score: serde_json::Value = serde_json::from_str(&score).unwrap();
            score["scores"][0]["mse"].as_f64().unwrap()
        };
        let error = f("other.json") - &y;
        let expected = error.squared_norm_l2() / 80.0;
        assert!((mse("other.json") - expected).abs() <= 1e-9 * expected);
    }
}

#[test]
fn a_table_without_names_may_have_its_target_first() {
    let folder = folder("target-first");
    let (x, y) = points(80);
    let line = |i: usize| format!("{},{},{}\n", y[(i, 0)], x[(i, 0)], x[(i, 1)]);
    write(&folder, "bare.csv", (0..80).map(line).collect::<String>());
    succeed(&folder, &with_short(&["fit", "bare.csv", "--target", "c1"]));
    let score = succeed(&folder, &["score", "model.json", "bare.csv", "--json"]);
    let score: serde_json::Value = serde_json::from_str(&score).unwrap();
    assert!(score["scores"][0]["r2"].as_f64().unwrap() > 0.9, "{score}");
}

#[cfg(not(feature = "parquet"))]
#[test]
fn a_build_without_parquet_says_how_to_get_it() {
    let folder = folder("parquet");
    write(&folder, "points.parquet", b"PAR1\0 and so on");
    let fit = ["fit", "points.parquet", "--target=y"];
    fail(
        &folder,
        &fit,
        &["points.parquet", "--features parquet", "CSV"],
    );
}

#[test]
fn the_advice_on_missing_values_works() {
    let folder = folder("missing");
    let (x, y) = points(60);
    let line = |i: usize| match i {
        7 => format!("{},,{}\n", x[(i, 0)], y[(i, 0)]),
        _ => format!("{},{},{}\n", x[(i, 0)], x[(i, 1)], y[(i, 0)]),
    };
    write(
        &folder,
        "gap.csv",
        format!("a,b,y\n{}", (0..60).map(line).collect::<String>()),
    );
    let fit = with_short(&["fit", "gap.csv", "--target=y"]);
    fail(&folder, &fit, &["gap.csv:9", "`b`", "--missing"]);
    let report = succeed(&folder, &[&fit[..], &["--missing=drop"]].concat());
    assert!(
        report.contains("59 samples") && report.contains("1 row"),
        "{report}"
    );
    let report = succeed(&folder, &[&fit[..], &["--missing=mean"]].concat());
    assert!(report.contains("60 samples"), "{report}");
}

#[test]
fn tables_that_cannot_be_read_name_the_options_that_help() {
    let folder = folder("advice");
    write(&folder, "cars.csv", "18,ford\n15,buick\n");
    write(&folder, "ragged.csv", "a,b\n1,2\n1\n");
    write(&folder, "gaps.csv", "a,b\n,1\n2,\n");
    write(
        &folder,
        "word.csv",
        format!("a,b\n{}two,1\n", "2,1\n".repeat(20)),
    );
    write(&folder, "bare.csv", "a,b\ntwo,1\ntwo,2\n");
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    std::fs::copy(data.join("points.npz"), folder.join("points.npz")).unwrap();
    let cases: [(&[&str], &str); 8] = [
        (
            &["cars.csv"],
            "pass --header if it is a header, --no-header if it is the first row",
        ),
        (
            &["ragged.csv"],
            "complete or remove the line, or set the field separator with --delimiter",
        ),
        (
            &["ragged.csv", "--decimal-comma", "--delimiter=,"],
            "remove --decimal-comma, or set the field separator with --delimiter",
        ),
        (
            &["points.npz", "--array=Z"],
            "name the arrays that make up the table, for instance --array X,y",
        ),
        (
            &["gaps.csv"],
            "gaps.csv: 2 of 2 rows have missing values (a: 1, b: 1), the first in line 2; fill them in, pass --missing drop, or pass \
             --missing mean",
        ),
        (
            &["gaps.csv", "--missing=drop"],
            "give complete rows, drop columns with --drop, or pass --missing mean",
        ),
        (
            &["word.csv"],
            "correct it, or drop the column with --drop a",
        ),
        (
            &["bare.csv"],
            "it holds `two` alone); give a table with more columns, or encode some as numbers",
        ),
    ];
    for (arguments, advice) in cases {
        let fit = [&["fit", "--target=b"], arguments].concat();
        let message = fail(&folder, &fit, &[]);
        assert!(message.ends_with(&format!("{advice}\n")), "{message}");
    }
}

#[test]
fn all_problems_of_a_table_are_in_one_message() {
    let folder = folder("problems");
    let lines: String = (0..20)
        .map(|i| format!("{i},{},{}\n", i * i, 2 * i))
        .collect();
    let text = format!("a,b,y\n{lines}oops,3,4\n,5,\n6,inf,good\n");
    write(&folder, "bad.csv", text);
    let message = fail(
        &folder,
        &["fit", "bad.csv", "--target=y"],
        &[
            "4 problems",
            "bad.csv:22: column `a` is `oops`, not a number; correct it, or drop the column with --drop a",
            "bad.csv:24: column `b` is infinite",
            "bad.csv:24: column `y` is `good`, not a number; correct it",
            "1 of 23 rows has missing values (a: 1, y: 1), the first in line 23",
        ],
    );
    assert!(!message.contains("--drop y"), "{message}");
    fail(
        &folder,
        &["fit", "bad.csv", "--target=Y", "--drop=c", "--inputs=a,e"],
        &[
            "3 problems",
            "did you mean `y`?",
            "no column `c`",
            "no column `e`",
        ],
    );
    let lines: String = (0..20)
        .map(|i| format!("{i},{}\n", ["good", "bad"][i % 2]))
        .collect();
    write(&folder, "classes.csv", format!("a,y\n{lines}"));
    let message = fail(
        &folder,
        &["fit", "classes.csv", "--target=y"],
        &[
            "column `y` holds text (good, bad), not numbers",
            "does not classify",
        ],
    );
    assert!(!message.contains("--drop"), "{message}");
}

#[test]
fn a_sheet_of_a_workbook_is_a_table() {
    let folder = folder("sheets");
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../thinfit-table/tests/data/pump.xlsx");
    std::fs::copy(data, folder.join("pump.xlsx")).unwrap();
    let fit = ["fit", "pump.xlsx", "--target=y", "--method=kernel-ridge"];
    let message = fail(&folder, &fit, &["pump.xlsx, Notes"]);
    assert!(message.contains("no column `y`"), "{message}");
    let wrong = [&fit[..], &["--sheet=Pump"]].concat();
    fail(
        &folder,
        &wrong,
        &["found Notes, Pump tests, Bad", "--sheet"],
    );
    let sheet = ["--sheet=Pump tests", "--missing=mean"];
    let report = succeed(&folder, &[&fit[..], &sheet].concat());
    assert!(report.contains("1 missing value replaced"), "{report}");
    assert!(report.contains("--sheet 'Pump tests'"), "{report}");
    let inspected = succeed(&folder, &["inspect", "model.json"]);
    for words in [
        "flow [m3/s]",
        "10\" pipe",
        "day: ignored, it holds dates",
        "metal",
    ] {
        assert!(
            inspected.contains(words) != (words == "metal"),
            "{inspected}"
        );
    }
    let predict = ["predict", "model.json", "pump.xlsx", "--keep=day"];
    let printed = succeed(&folder, &[&predict[..], &sheet].concat());
    assert!(printed.contains("\n\"2024-03-03 14:30:00\","), "{printed}");
    assert_eq!(printed.lines().count(), 13);
}

#[test]
fn names_with_blanks_and_commas_and_decimal_commas_are_read() {
    let folder = folder("names");
    let (x, y) = points(60);
    let comma = |value: f64| format!("{value}").replace('.', ",");
    let line = |i: usize| {
        let missing = if i == 7 {
            String::new()
        } else {
            comma(x[(i, 1)])
        };
        format!("{};S{i};{missing};{}\n", comma(x[(i, 0)]), comma(y[(i, 0)]))
    };
    let lines: String = (0..60).map(line).collect();
    write(
        &folder,
        "my lab.csv",
        format!("a;Sample ID;b, in K;Yield (%)\n{lines}"),
    );
    let fit = with_short(&["fit", "my lab.csv", "--target", "Yield (%)"]);
    fail(&folder, &fit, &["--decimal-comma"]);
    let fit = [&fit[..], &["--decimal-comma", "--missing=drop"]].concat();
    fail(
        &folder,
        &[&fit[..], &["--drop", "Sample"]].concat(),
        &["did you mean `Sample ID`?"],
    );
    let report = succeed(&folder, &[&fit[..], &["--drop", "Sample ID"]].concat());
    // The next command works as printed.
    let next = "thinfit plot model.json 'my lab.csv' --missing drop --decimal-comma";
    assert!(report.contains(next), "{report}");
    succeed(
        &folder,
        &[
            "plot",
            "model.json",
            "my lab.csv",
            "--missing",
            "drop",
            "--decimal-comma",
        ],
    );
    let listed = ["--target= Yield (%) ", "--inputs=b, in K", "--inputs=a"];
    succeed(
        &folder,
        &[
            &with_short(&["fit", "my lab.csv"])[..],
            &listed,
            &fit[fit.len() - 2..],
        ]
        .concat(),
    );
    let model = Model::load(folder.join("model.json")).unwrap();
    assert_eq!(model.inputs, ["b, in K", "a"]);
}

#[test]
fn data_writes_samples_of_the_built_in_problems() {
    let folder = folder("data");
    let printed = succeed(&folder, &["data", "f3", "--rows", "7", "--seed", "4"]);
    succeed(
        &folder,
        &["data", "f3", "--rows", "7", "--seed", "4", "-o", "f3.csv"],
    );
    assert_eq!(read(&folder, "f3.csv"), printed);
    let (names, rows) = numbers(&printed);
    assert_eq!(names, ["x1", "x2", "x3", "x4", "x5", "y"]);
    assert_eq!(rows.len(), 7);
    let x = &rows[3];
    let pi = std::f64::consts::PI;
    let y =
        10.0 * (pi * x[0] * x[1]).sin() + 20.0 * (x[2] - 0.5).powi(2) + 10.0 * x[3] + 5.0 * x[4];
    assert!((x[5] - y).abs() < 1e-12);
    let test = succeed(
        &folder,
        &["data", "f3", "--rows", "7", "--seed", "4", "--test"],
    );
    assert_ne!(test, printed);
    fail(
        &folder,
        &["data", "f3", "--inputs", "3"],
        &["reads 5 inputs"],
    );
    fail(&folder, &["data", "f9"], &["'f9'", "f1, f2, f3"]);
}

#[test]
fn every_shell_gets_completions() {
    let folder = folder("completions");
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        assert!(succeed(&folder, &["completions", shell]).contains("inspect"));
    }
}
