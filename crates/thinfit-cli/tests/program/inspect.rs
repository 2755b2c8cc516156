//! `thinfit inspect`.

use super::*;
use thinfit_methods::NetworkSensitivity;

#[test]
fn inspect_tells_what_the_model_is_and_which_inputs_matter() {
    let folder = fitted("inspect");
    let report = succeed(&folder, &["inspect", "model.json"]);
    for words in [
        "12 fourier neurons",
        "80 samples",
        "gft-r",
        "Sobol",
        "closed form",
        "largest features",
    ] {
        assert!(report.contains(words), "`{words}` is missing in\n{report}");
    }
    let object = succeed(
        &folder,
        &["inspect", "model.json", "--json", "--features", "3"],
    );
    let object: serde_json::Value = serde_json::from_str(&object).unwrap();
    let output = &object["outputs"][0];
    assert_eq!(output["features"].as_array().unwrap().len(), 3);
    let model = fitted_by_the_library(80, None);
    let sensitivity = model.sensitivity(0).unwrap();
    let index = |name: &str| {
        let lines = output["importance"].as_array().unwrap();
        let line = lines.iter().find(|line| line["input"] == name).unwrap();
        line["total"].as_f64().unwrap()
    };
    assert_eq!([index("a"), index("b")], sensitivity.total[..]);
    fail(
        &folder,
        &["inspect", "train.csv"],
        &["train.csv", "not JSON"],
    );
}

#[test]
fn a_ridge_is_told_where_there_is_one() {
    let folder = folder("inspect-ridge");
    write(&folder, "train.csv", csv(20));
    let fit = ["fit", "train.csv", "--target=y", "--drop=name"];
    succeed(&folder, &[&fit[..], &["--method=kernel-ridge"]].concat());
    let report = succeed(&folder, &["inspect", "model.json"]);
    assert!(report.contains(", ridge 1.0e-"), "{report}");
    let mut model: serde_json::Value = serde_json::from_str(&read(&folder, "model.json")).unwrap();
    model["record"]["ridge"] = 0.0.into();
    write(&folder, "model.json", model.to_string());
    let report = succeed(&folder, &["inspect", "model.json"]);
    assert!(
        !report.contains(", ridge") && report.contains(", seed"),
        "{report}"
    );
}

#[test]
fn text_and_long_names_are_told_as_the_users_columns() {
    const LONG: &str = "temperature of the cooling water at the inlet of the exchanger";
    let folder = folder("inspect-text");
    let mut table = format!("{LONG},site,material,y\n");
    for i in 0..90 {
        let wave = |k: usize| ((i * k) % 89) as f64 / 89.0;
        let (site, material) = (["A", "B", "C"][i * 7 % 11 % 3], ["steel", "brass"][i % 2]);
        let level = [0.0, 0.5, -0.4][i * 7 % 11 % 3] * (1 + i % 2) as f64;
        let y = (5.0 * wave(13)).sin() + level + 0.01 * wave(31);
        table += &format!("{},{site},{material},{y}\n", wave(13));
    }
    write(&folder, "train.csv", table);
    let fit = [
        "fit",
        "train.csv",
        "--target=y",
        "-q",
        "--thin",
        "--budget=5",
    ];
    let told = succeed(&folder, &fit);
    let report = succeed(&folder, &["inspect", "model.json", "train.csv"]);
    assert!(report.contains("; 3 inputs, 1 output\n"), "{report}");
    // The numbers of a long name stand below it, in their columns.
    let lines: Vec<&str> = report.lines().collect();
    let head = lines
        .iter()
        .find(|line| line.contains("Sobol first"))
        .unwrap();
    let start = head.find("Sobol first").unwrap();
    let at = lines.iter().position(|line| line.trim() == LONG).unwrap();
    let (blanks, numbers) = lines[at + 1].split_at(start);
    assert!(
        blanks.trim().is_empty() && numbers.starts_with("0."),
        "{report}"
    );
    let site = lines
        .iter()
        .find(|line| line.starts_with("  site "))
        .unwrap();
    assert!(site[start..].starts_with("0.") && site.ends_with("3 levels"));
    for words in ["site = ", "material = steel: "] {
        assert!(report.contains(words), "`{words}` is missing in\n{report}");
    }
    // Terms are of columns, and a candidate that is best has the lowest error.
    assert!(!told.contains("f(site="), "{told}");
    let json: serde_json::Value = serde_json::from_str(&read(&folder, "model.json")).unwrap();
    let best = json["record"]["diagnosis"]["choice"] == "lowest_error";
    let tried = json["record"]["diagnosis"]["tried"].as_array().unwrap();
    let error = |k: usize| tried[k]["mse"][0].as_f64().unwrap();
    assert!(
        !best || (1..tried.len()).all(|k| error(0) <= error(k)),
        "{told}"
    );
}

/// A table in which b follows a, and a text says what stone it is.
fn dependent(rows: usize) -> String {
    let mut table = "a,b,stone,y\n".to_owned();
    for i in 0..rows {
        let wave = |k: usize| ((i * k) % 83) as f64 / 83.0;
        let (a, stone) = (wave(7), ["granite", "marble", "slate"][i * 5 % 7 % 3]);
        let b = a + 0.3 * wave(29);
        let y = a + b + if stone == "slate" { 1.0 } else { 0.0 };
        table += &format!("{a},{b},{stone},{y}\n");
    }
    table
}

#[test]
fn text_is_one_input_and_inputs_that_go_together_are_warned_of() {
    let folder = folder("inspect-dependent");
    write(&folder, "train.csv", dependent(80));
    let fit = ["fit", "train.csv", "--target=y"];
    succeed(
        &folder,
        &[&fit[..], &["--method=gaussian-process"]].concat(),
    );
    let report = succeed(&folder, &["inspect", "model.json"]);
    for words in [
        "a and b correlate at 0.9",
        "Shapley",
        "3 levels",
        "closed form",
        "standard error",
        "thinfit inspect model.json TABLE",
    ] {
        assert!(report.contains(words), "`{words}` is missing in\n{report}");
    }
    assert!(!report.contains("\n  stone="), "{report}");
    let json = succeed(&folder, &["inspect", "model.json", "train.csv", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let output = &json["outputs"][0];
    let importance = output["importance"].as_array().unwrap();
    assert_eq!(importance.len(), 3);
    let stone = importance.iter().find(|line| line["input"] == "stone");
    let stone = stone.unwrap();
    assert!(stone["mean_squared_derivative"].is_null());
    let number = |value: &serde_json::Value| value.as_f64().unwrap();
    assert!(number(&stone["total_error"]) < 0.1);
    assert!(number(&output["second_order"]["a"]["stone"]) < 0.01);
    // Alone on the box a and b explain as much as each other; on the rows they share what they have in common.
    let effects = output["shapley"]["effects"].as_array().unwrap();
    let sum: f64 = effects.iter().map(|line| number(&line["effect"])).sum();
    assert!((sum - 1.0).abs() < 1e-9 && effects.len() == 3);
    assert_eq!(output["shapley"]["rows"], 80);
    let report = succeed(&folder, &["inspect", "model.json", "train.csv"]);
    assert!(report.contains("Shapley effect") && report.contains("all sets of inputs"));
    succeed(&folder, &["plot", "model.json", "train.csv", "--out=p"]);
    let picture = read(&folder, "p/importance.svg");
    assert!(picture.contains(">stone<") && picture.contains("a and b correlate"));
}
