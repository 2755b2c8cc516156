//! `thinfit minimise` and `thinfit propagate`.

use super::*;

/// A table of numbers and text with two outputs, and a Gaussian process of them in `model.json`.
fn fitted(name: &str) -> PathBuf {
    let folder = folder(name);
    let mut table = String::from("width,v [m/s],kind,cost,noise\n");
    for i in 0..91 {
        let (x, v) = (
            f64::from(i * 37 % 91) / 90.0 * 4.0,
            1.0 + f64::from(i * 29 % 91) / 90.0,
        );
        let kind = ["steel", "brass", "lead"][i as usize % 3];
        let dear = [0.0, 0.5, 1.0][i as usize % 3];
        let cost = (x - 1.0).powi(2) + v + dear;
        let noise = (x - 3.0).powi(2) + 2.0 - v + 0.3 * dear;
        table += &format!("{x},{v},{kind},{cost},{noise}\n");
    }
    write(&folder, "table.csv", table);
    let fit = [
        "fit",
        "table.csv",
        "--target=cost,noise",
        "--method=gaussian-process",
        "--quiet",
    ];
    succeed(&folder, &fit);
    folder
}

#[test]
fn a_minimum_is_told_with_its_border_and_written_as_rows_to_predict() {
    let folder = fitted("minimise");
    let arguments = ["minimise", "model.json", "--target=cost", "-o=best.csv"];
    let told = succeed(&folder, &arguments);
    assert!(told.starts_with("minimum of cost: "), "{told}");
    assert!(told.contains("  kind     steel\n"), "{told}");
    assert!(
        told.contains("v [m/s] (lower end, 1.000) lies on the border of its range"),
        "{told}"
    );
    assert!(
        told.contains("90 % interval of a new observation"),
        "{told}"
    );
    assert_eq!(succeed(&folder, &arguments), told);
    let best = read(&folder, "best.csv");
    assert!(
        best.starts_with("width,\"v [m/s]\",kind,cost,cost_low,cost_high\n"),
        "{best}"
    );
    let json = succeed(
        &folder,
        &["minimise", "model.json", "--target=cost", "--json"],
    );
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert!(
        (json["point"]["width"].as_f64().unwrap() - 1.0).abs() < 0.02,
        "{json}"
    );
    let value = json["value"].as_f64().unwrap();
    assert!((value - 1.0).abs() < 0.05, "{json}");
    let predicted = succeed(&folder, &["predict", "model.json", "best.csv"]);
    let cells = predicted.lines().nth(1).unwrap();
    let cost: f64 = cells.split(',').next().unwrap().parse().unwrap();
    assert!((cost - value).abs() < 1e-9, "{predicted} {value}");

    let within = [
        "minimise",
        "model.json",
        "-t=cost",
        "--within",
        "2*width + v [m/s] >= 5.5",
        "--fix=kind=lead",
        "--json",
    ];
    let json: serde_json::Value = serde_json::from_str(&succeed(&folder, &within)).unwrap();
    assert_eq!(json["point"]["kind"], "lead");
    let [width, v] = ["width", "v [m/s]"].map(|name| json["point"][name].as_f64().unwrap());
    assert!((2.0 * width + v - 5.5).abs() < 1e-13, "{json}");
    assert_eq!(json["held_by"][0], "2*width + v [m/s] >= 5.5");
    let most = succeed(
        &folder,
        &["minimise", "model.json", "--target=cost", "--maximise"],
    );
    assert!(most.starts_with("maximum of cost: "), "{most}");
}

/// A table of a count near a million, seconds since 1970, and two outputs, and a Gaussian process of them in `model.json`.
fn far_from_zero(name: &str) -> PathBuf {
    let folder = folder(name);
    let mut table = String::from("n,t,x,cost,noise\n");
    for i in 0..80 {
        let (n, t) = (1_000_000 + i * 37 % 40, 1_700_000_000 + i * 29 % 80 * 7);
        let (u, v, x) = (
            f64::from(n - 1_000_000) / 80.0,
            f64::from(t - 1_700_000_000) / 560.0,
            f64::from(i * 11 % 80) / 79.0,
        );
        let (cost, noise) = (u + v + (x - 0.3).powi(2), (u - 1.0).powi(2) - v * x);
        table += &format!("{n},{t},{x},{cost},{noise}\n");
    }
    write(&folder, "table.csv", table);
    let fit = ["fit", "table.csv", "--target=cost,noise", "-q"];
    succeed(
        &folder,
        &[&fit[..], &["--method=gaussian-process"]].concat(),
    );
    folder
}

#[test]
fn a_printed_minimum_or_front_broke_its_constraints() {
    let folder = far_from_zero("printed");
    let ranges = "n = [999990.5, 1000100.5]\nt = [1699999999.5, 1700000600]\n";
    write(&folder, "ranges.toml", ranges);
    for ranges in [&[][..], &["--ranges=ranges.toml"]] {
        let asked = ["--fix=n=1000027", "--within", "t>=1700000207.3", "--within"];
        let asked = [
            &["minimise", "model.json"],
            ranges,
            &asked[..],
            &["x + t<=1700000300.7"],
        ]
        .concat();
        let told = succeed(&folder, &[&asked[..], &["--target=cost"]].concat());
        let found = |name: &str| -> f64 {
            let lines = told
                .lines()
                .map(|line| line.split_whitespace().collect::<Vec<_>>());
            let mut of_name = lines.filter(|words| words.first() == Some(&name) && words.len() > 1);
            of_name.next().unwrap()[1].parse().unwrap()
        };
        let allowed = |n: f64, t: f64, x: f64| {
            n == 1_000_027.0 && t >= 1_700_000_207.3 - 2e-4 && x + t <= 1_700_000_300.7 + 2e-4
        };
        assert!(allowed(found("n"), found("t"), found("x")), "{told}");
        assert!((found("t") - 1_700_000_207.3).abs() < 1.0, "{told}");
        let told = succeed(&folder, &asked);
        let rows = told.lines().map(|line| {
            let cells = line.split_whitespace().map(|cell| cell.parse().ok());
            cells.collect::<Option<Vec<f64>>>()
        });
        let rows: Vec<Vec<f64>> = rows.flatten().filter(|row| row.len() == 5).collect();
        assert!(rows.len() > 3, "{told}");
        assert!(
            rows.iter().all(|row| allowed(row[0], row[1], row[2])),
            "{told}"
        );
    }
}

#[test]
fn minima_and_indices_are_found_in_given_ranges() {
    let folder = fitted("ranges");
    let ranges = "width = { low = 2, high = 5, whole = true }\n\"v [m/s]\" = [0.95, 1.5]\nkind = [\"brass\", \"lead\"]\n";
    write(&folder, "ranges.toml", ranges);
    let minimise = ["minimise", "model.json", "--ranges=ranges.toml"];
    let told = succeed(&folder, &[&minimise[..], &["--target=cost"]].concat());
    assert!(
        told.contains("  width    2\n") && told.contains("  kind     brass\n"),
        "{told}"
    );
    assert!(
        told.contains("width (lower end, 2.000), v [m/s] (lower end, 0.9500) lie on the border of their ranges, as given"),
        "{told}"
    );
    assert!(
        told.contains(
            "v [m/s] lies beyond the samples, by 5.0 % of their range: the model extrapolates there"
        ),
        "{told}"
    );
    let json: serde_json::Value =
        serde_json::from_str(&succeed(&folder, &[&minimise[..], &["--json"]].concat())).unwrap();
    for point in json["points"].as_array().unwrap() {
        let width = point["point"]["width"].as_f64().unwrap();
        assert!([2.0, 3.0, 4.0, 5.0].contains(&width) && point["point"]["kind"] != "steel");
    }
    let report = succeed(&folder, &["inspect", "model.json", "--ranges=ranges.toml"]);
    for words in [
        "whole, 2 to 5",
        "0.9500 to 1.500",
        "2 levels",
        "uniform over the ranges given)",
    ] {
        assert!(report.contains(words), "`{words}` is missing in\n{report}");
    }
    let json = ["inspect", "model.json", "--ranges=ranges.toml", "--json"];
    let json: serde_json::Value = serde_json::from_str(&succeed(&folder, &json)).unwrap();
    assert_eq!(json["domain"][0], serde_json::json!([2.0, 5.0]));
    // Of the cost: (x − 1)² at 2, 3, 4 and 5, v over 0.55, and half a coin of 0.5.
    let parts = [32.25, 0.55 * 0.55 / 12.0, 0.0625];
    let importance = json["outputs"][0]["importance"].as_array().unwrap();
    let width = importance.iter().find(|line| line["input"] == "width");
    let share = width.unwrap()["first_order"].as_f64().unwrap();
    assert!((share - parts[0] / parts.iter().sum::<f64>()).abs() < 5e-3);
    succeed(
        &folder,
        &["plot", "model.json", "--ranges=ranges.toml", "-o=p"],
    );
    assert!(!read(&folder, "p/effects-1-cost.svg").contains("steel"));
    write(&folder, "wrong.toml", "widht = [1, 2]\n");
    for command in ["minimise", "inspect", "plot"] {
        let words = ["`widht`", "an input of the model"];
        fail(
            &folder,
            &[command, "model.json", "--ranges=wrong.toml"],
            &words,
        );
    }
    let over = ["minimise", "model.json", "--ranges=ranges.toml"];
    let over = [&over[..], &["-t=cost", "-o=ranges.toml"]].concat();
    fail(&folder, &over, &["ranges.toml"]);
}

#[test]
fn a_leading_minus_is_read_and_a_column_fixed_twice_is_refused() {
    let folder = fitted("minus");
    let minimise = ["minimise", "model.json", "-t=cost", "--json", "--within"];
    let json = succeed(&folder, &[&minimise[..], &["-width>=-0.5"]].concat());
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert!(
        json["point"]["width"].as_f64().unwrap() <= 0.5 + 1e-9,
        "{json}"
    );
    for command in ["minimise", "suggest"] {
        let twice = [command, "model.json", "--fix=width=1", "--fix=width=2"];
        fail(&folder, &twice, &["--fix width=2", "`width`"]);
    }
    let suggest = [
        "suggest",
        "model.json",
        "--fix=kind=lead",
        "--within",
        "-width>=-0.5",
    ];
    let rows = succeed(&folder, &suggest);
    for line in rows.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        assert!(
            cells[0].parse::<f64>().unwrap() <= 0.5 && cells[2] == "lead",
            "{line}"
        );
    }
    // A single level is a range.
    write(&folder, "ranges.toml", "kind = [\"lead\"]\n");
    let rows = succeed(&folder, &["suggest", "model.json", "--ranges=ranges.toml"]);
    assert!(
        rows.lines().skip(1).all(|line| line.ends_with(",lead")),
        "{rows}"
    );
}

#[test]
fn a_column_whose_name_starts_with_a_minus_was_taken_for_an_option() {
    let folder = folder("minus-name");
    let mut table = String::from("-t,w,-y,-z\n");
    for i in 0..40 {
        let (t, w) = (f64::from(i * 7 % 40) / 8.0, f64::from(i * 11 % 40) / 39.0);
        table += &format!("{t},{w},{},{}\n", (t - 2.0).powi(2) + w, t - w);
    }
    write(&folder, "table.csv", table);
    let fit = [
        "fit",
        "table.csv",
        "-q",
        "--method=gaussian-process",
        "--inputs",
        "-t,w",
    ];
    succeed(
        &folder,
        &[&fit[..], &["--target", "-y", "--target", "-z"]].concat(),
    );
    let minimise = [
        "minimise",
        "model.json",
        "--target",
        "-y",
        "--fix",
        "-t=3",
        "--json",
    ];
    let json: serde_json::Value = serde_json::from_str(&succeed(&folder, &minimise)).unwrap();
    assert_eq!(json["point"]["-t"], 3.0, "{json}");
    let suggest = [
        "suggest",
        "model.json",
        "--goal=minimum",
        "--target",
        "-y",
        "--fix",
        "-t=3",
    ];
    let rows = succeed(&folder, &suggest);
    assert!(
        rows.lines().skip(1).all(|line| line.starts_with("3,")),
        "{rows}"
    );
}

#[test]
fn all_commands_mean_the_same_by_no_detectable_effect() {
    let folder = fitted("undetected");
    let mut json: serde_json::Value = serde_json::from_str(&read(&folder, "model.json")).unwrap();
    json["record"]["diagnosis"] = serde_json::json!({
        "choice": "lowest_error", "standard_error": [], "folds": 10, "nested": true, "noise": [], "inputs": [0, 2, 3, 4],
        "terms": null, "outliers": [], "tried": [{ "candidate": "matern", "mse": [0.01, 0.01] }]
    });
    write(&folder, "model.json", json.to_string());
    let report = succeed(&folder, &["inspect", "model.json"]);
    assert!(
        report.contains("1.000 to 2.000; no detectable effect"),
        "{report}"
    );
    let json = |arguments: &[&str]| -> serde_json::Value {
        serde_json::from_str(&succeed(&folder, arguments)).unwrap()
    };
    let found = json(&["inspect", "model.json", "--json"]);
    for line in found["outputs"][0]["importance"].as_array().unwrap() {
        assert_eq!(line["no_detectable_effect"], line["input"] == "v [m/s]");
    }
    let found = json(&["minimise", "model.json", "-t=cost", "--json"]);
    assert_eq!(found["undetected"], serde_json::json!(["v [m/s]"]));
    assert!(found["borders"].as_array().unwrap().is_empty(), "{found}");
    let told = succeed(&folder, &["minimise", "model.json", "-t=cost"]);
    assert!(
        told.contains("no detectable effect: v [m/s]") && !told.contains("beyond"),
        "{told}"
    );
    succeed(&folder, &["report", "model.json", "-o=page.html"]);
    assert!(read(&folder, "page.html").contains("\"undetected\":[1]"));
}

#[test]
fn a_front_is_printed_written_and_drawn() {
    let folder = fitted("front");
    let told = succeed(
        &folder,
        &["minimise", "model.json", "-o=front.csv", "--plot=front.svg"],
    );
    assert!(told.contains("points on the Pareto front"), "{told}");
    let front = read(&folder, "front.csv");
    let mut lines = front.lines();
    assert_eq!(lines.next(), Some("width,\"v [m/s]\",kind,cost,noise"));
    let values: Vec<[f64; 2]> = lines
        .map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            [cells[3].parse().unwrap(), cells[4].parse().unwrap()]
        })
        .collect();
    assert!(values.len() > 30, "{front}");
    assert!(
        values
            .windows(2)
            .all(|pair| pair[0][0] < pair[1][0] && pair[0][1] > pair[1][1])
    );
    assert!(read(&folder, "front.svg").contains("cost (small)"));
    let maximised = succeed(
        &folder,
        &["minimise", "model.json", "--maximise", "noise", "--json"],
    );
    let json: serde_json::Value = serde_json::from_str(&maximised).unwrap();
    assert_eq!(json["maximised"], serde_json::json!([false, true]));
    succeed(&folder, &["minimise", "model.json", "--plot=front.png"]);
    assert!(
        std::fs::read(folder.join("front.png"))
            .unwrap()
            .starts_with(b"\x89PNG")
    );
}

#[test]
fn what_cannot_be_minimised_is_named() {
    let folder = fitted("minimise-errors");
    for (options, words) in [
        (
            &["--fix=widht=1"][..],
            &["--fix widht=1", "did you mean `width`?"][..],
        ),
        (&["--fix=width"], &["expected a column and its value"]),
        (
            &["--fix=width=7"],
            &["`width`: expected a number in the range of the samples, 0 to 4, found 7"],
        ),
        (
            &["--fix=kind=wood"],
            &["expected one of its levels, found `wood`"],
        ),
        (
            &["--fix=width=wide"],
            &["0 to 4, found `wide`, which is not a number"],
        ),
        (
            &["--within=2 width <= 3"],
            &["found `width <= 3`; write a product with `*`"],
        ),
        (&["-o=best.xlsx"], &["such as table.csv"]),
        (
            &["--within=width >= 9"],
            &["--within `width >= 9`", "missed by at least 5"],
        ),
        (&["--within=kind <= 2"], &["found `kind`, which has levels"]),
        (&["--within=width"], &["expected `<=`, `>=` or `=`"]),
        (
            &["--target=costs"],
            &["--target: expected an output of the model, found `costs`; did you mean `cost`?"],
        ),
        (
            &["--maximise"],
            &["--maximise: name which of the 2 outputs"],
        ),
        (
            &["--target=cost", "--maximise=noise"],
            &["not among the outputs of --target"],
        ),
        (
            &["--target=cost", "--plot=a.svg"],
            &["--plot draws the Pareto front of several outputs"],
        ),
        (&["--plot=a.pdf"], &["ends in .svg or .png"]),
        (&["-o=model.json"], &["model.json"]),
    ] {
        fail(
            &folder,
            &[&["minimise", "model.json"], options].concat(),
            words,
        );
    }
}

#[test]
fn uncertain_inputs_are_propagated() {
    let folder = fitted("propagate");
    let inputs = "width = { normal = [2, 0.1] }\nkind = { steel = 0.5, brass = 0.5 }\n";
    write(&folder, "inputs.toml", inputs);
    let arguments = [
        "propagate",
        "model.json",
        "inputs.toml",
        "--rows=5000",
        "--above=cost=2.7",
        "-o=draws.csv",
        "--plot=spread.svg",
    ];
    let told = succeed(&folder, &arguments);
    let written = "\n\nwrote draws.csv\nwrote spread.svg\n";
    assert!(told.ends_with(written), "{told}");
    assert!(
        told.starts_with(
            "5000 draws\nnot specified, so uniform over the ranges of the samples: v [m/s]\n"
        ),
        "{told}"
    );
    assert!(
        told.contains("standard deviation") && told.contains("\nabove 2.7 "),
        "{told}"
    );
    assert!(!told.contains("warning"), "{told}");
    let draws = read(&folder, "draws.csv");
    assert_eq!(draws.lines().count(), 5001);
    assert!(draws.starts_with("width,\"v [m/s]\",kind,cost,noise\n") && !draws.contains("lead"));
    let picture = read(&folder, "spread.svg");
    assert!(picture.contains("5,000 draws; up to 0."), "{picture}");
    assert!(picture.contains("% above: 2.70"), "{picture}");
    let json = [&arguments[..4], &["--json", "--below=noise=2"]].concat();
    let json: serde_json::Value = serde_json::from_str(&succeed(&folder, &json)).unwrap();
    // (x − 1)² + v + dear: 1.01 + 1.5 + 0.25.
    let mean = json["outputs"][0]["model"]["mean"]["value"]
        .as_f64()
        .unwrap();
    assert!((mean - 2.76).abs() < 0.05, "{mean}");
    assert_eq!(json["beyond"][0]["side"], "below");
    assert_eq!(
        json["outputs"][0]["model"]["quantiles"]
            .as_array()
            .unwrap()
            .len(),
        7
    );
    write(&folder, "inputs.toml", "width = { normal = [4, 1] }");
    let told = succeed(&folder, &arguments[..4]);
    assert!(
        told.contains("\nwarning: ")
            && told.contains(" % of the draws lie outside the ranges of the samples (width "),
        "{told}"
    );
}

#[test]
fn distributions_that_are_none_are_named() {
    let folder = fitted("propagate-errors");
    let arguments = ["propagate", "model.json", "inputs.toml", "--rows=100"];
    fail(&folder, &arguments, &["cannot read the inputs inputs.toml"]);
    for (text, words) in [
        (
            "widht = 1",
            &["inputs.toml: expected a column of the model, found `widht`; did you mean `width`?"]
                [..],
        ),
        (
            "width = { normal = [1] }",
            &["inputs.toml: `width`: expected `normal = [mean, deviation]`"],
        ),
        ("width = true", &["`width`: expected a number, a level"]),
        ("width = 'steel'", &["expected numbers, found levels"]),
        (
            "kind = { wood = 1 }",
            &["expected one of its levels, found `wood`"],
        ),
        (
            "kind = { steel = 0.7, brass = 0.2 }",
            &["`kind`: expected probabilities that add up to 1, found 0.9"],
        ),
        ("kind = { normal = [1, 1] }", &["`kind`: expected levels"]),
        (
            "width = [",
            &["expected TOML such as `speed = { normal = [5, 0.2] }`"],
        ),
    ] {
        write(&folder, "inputs.toml", text);
        fail(&folder, &arguments, words);
    }
    write(&folder, "inputs.toml", "");
    for (option, words) in [
        ("--above=3", "name one of the 2 outputs, such as cost=3"),
        ("--above=cost=x", "expected a number such as 3"),
        ("--below=costs=1", "did you mean `cost`?"),
        ("--plot=a.gif", "ends in .svg or .png"),
    ] {
        fail(&folder, &[&arguments[..], &[option]].concat(), &[words]);
    }
}
