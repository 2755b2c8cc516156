//! The fit without settings, and the comparison of methods.

use super::*;

/// A folder with the points and some noise as train.csv.
fn noisy(name: &str) -> PathBuf {
    let folder = folder(name);
    let (x, y) = points(60);
    let noise = |i: usize| 0.1 * ((i * 29 % 53) as f64 / 53.0 - 0.5);
    let line = |i: usize| format!("{},{},{}\n", x[(i, 0)], x[(i, 1)], y[(i, 0)] + noise(i));
    let lines: String = (0..60).map(line).collect();
    write(&folder, "train.csv", format!("a,b,y\n{lines}"));
    folder
}

#[test]
fn a_fit_without_settings_says_what_it_chose_and_how_good_it_is() {
    let folder = noisy("auto");
    let fit = ["fit", "train.csv", "--target=y", "--budget=1", "-q"];
    let report = succeed(&folder, &fit);
    for words in [
        "parameters",
        "cross-validation on 60 rows",
        "this model",
        "rmse ±",
        "linear fit",
        "noise: standard deviation 0.0",
        "tried; the first was chosen",
        "wrote model.json",
    ] {
        assert!(report.contains(words), "`{words}` is missing in\n{report}");
    }
    let inspected = succeed(&folder, &["inspect", "model.json"]);
    for words in [
        "auto",
        "noise: standard deviation 0.0",
        "tried; the first was chosen",
    ] {
        assert!(
            inspected.contains(words),
            "`{words}` is missing in\n{inspected}"
        );
    }
    for more in [
        &["predict", "model.json", "train.csv", "--interval=0.9"][..],
        &["score", "model.json", "train.csv"],
    ] {
        succeed(&folder, more);
    }
    let json = succeed(&folder, &[&fit[..], &["--json"]].concat());
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["method"], "auto");
    let tried = json["diagnosis"]["tried"].as_array().unwrap();
    let error = |k: usize| tried[k]["mse"][0].as_f64().unwrap();
    // The first was chosen; the others are in order.
    assert!((2..tried.len()).all(|k| error(k - 1) <= error(k)) && tried.len() > 2);
    let (rmse, spread) = (
        error(0).sqrt(),
        json["validation"]["rmse_error"][0].as_f64().unwrap(),
    );
    assert!(spread > 0.0 && spread < rmse, "{rmse} {spread}");
}

#[test]
fn outliers_are_numbered_as_the_rows_of_the_file() {
    let folder = folder("auto-outliers");
    let (x, y) = points(60);
    let line = |i: usize| {
        // Two rows have a gap, and one behind them is wild.
        let wild = if i == 41 { 50.0 } else { 0.0 };
        let b = match i {
            3 | 20 => String::new(),
            _ => x[(i, 1)].to_string(),
        };
        let noise = 0.05 * ((i * 29 % 53) as f64 / 53.0 - 0.5);
        format!("{},{b},{}\n", x[(i, 0)], y[(i, 0)] + noise + wild)
    };
    let lines: String = (0..60).map(line).collect();
    write(&folder, "train.csv", format!("a,b,y\n{lines}"));
    let fit = [
        "fit",
        "train.csv",
        "--target=y",
        "--budget=0.2",
        "--missing=drop",
        "-q",
    ];
    let report = succeed(&folder, &fit);
    let words = "1 outlier set aside: row 42;";
    assert!(report.contains(words), "{report}");
    assert!(succeed(&folder, &["inspect", "model.json"]).contains(words));
}

#[test]
fn thin_gives_a_network_no_wider_than_asked() {
    let folder = noisy("auto-thin");
    let fit = [
        "fit",
        "train.csv",
        "--target=y",
        "--budget=1",
        "-q",
        "--thin",
    ];
    let report = succeed(&folder, &[&fit[..], &["--width=20"]].concat());
    assert!(report.contains("neurons"), "{report}");
    let model = Model::load(folder.join("model.json")).unwrap();
    assert!(model.width() <= 20 && model.record.method == "auto");
    succeed(&folder, &["inspect", "model.json"]);
}

#[test]
fn options_that_contradict_each_other_are_refused() {
    let folder = noisy("auto-errors");
    let fit = ["fit", "train.csv", "--target=y"];
    for (more, words) in [
        (&["--thin", "--lambda=auto"][..], &["--thin", "lambda"][..]),
        (&["--budget=5", "--method=gft"], &["--budget", "`gft`"]),
        (&["--method=auto", "--preset=paper"], &["--preset", "auto"]),
    ] {
        fail(&folder, &[&fit[..], more].concat(), words);
    }
    for budget in ["0", "-1", "nan", "soon"] {
        let output = thinfit(&folder, &[&fit[..], &["--budget", budget]].concat());
        assert_eq!(output.status.code(), Some(2), "{budget}");
    }
}

#[test]
fn methods_are_compared_on_rows_that_they_had_not_seen() {
    let folder = noisy("compare");
    let compare = ["compare", "train.csv", "--target=y", "--folds=3", "-q"];
    let some = "--methods=linear,gaussian-process,rff";
    let table = succeed(&folder, &[&compare[..], &[some]].concat());
    let order: Vec<Option<usize>> = (["gaussian-process", "linear"].iter())
        .map(|name| table.find(name))
        .collect();
    assert!(order[0].is_some() && order[0] < order[1], "{table}");
    assert!(
        table.contains("60 rows") && table.contains("3 folds"),
        "{table}"
    );
    let json = succeed(&folder, &[&compare[..], &[some, "--json"]].concat());
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let methods = json["methods"].as_array().unwrap();
    let named = |name: &str| methods.iter().find(|one| one["method"] == name).unwrap();
    assert_eq!(methods.len(), 3);
    assert!(named("rff")["coverage"].is_null());
    let coverage = named("gaussian-process")["coverage"][0].as_f64().unwrap();
    assert!((0.7..=1.0).contains(&coverage), "{coverage}");
    assert!(
        named("linear")["r2"][0].as_f64().unwrap()
            < named("gaussian-process")["r2"][0].as_f64().unwrap()
    );
    let output = thinfit(&folder, &[&compare[..], &["--methods=magic"]].concat());
    assert_eq!(output.status.code(), Some(2));
    fail(&folder, &["compare", "train.csv"], &["--target", "a, b, y"]);
}

#[test]
fn a_comparison_names_what_won_in_the_folds_of_a_polished_method() {
    let folder = noisy("compare-winner");
    let compare = [
        "compare",
        "train.csv",
        "--target=y",
        "--folds=2",
        "-q",
        "--methods=gft-r,linear",
    ];
    let table = succeed(&folder, &compare);
    let line = table
        .lines()
        .find(|line| line.starts_with("gft-r: selected "));
    let line = line.unwrap_or_else(|| panic!("{table}"));
    assert!(
        line.contains(" of 2 folds; rmse on its own validation rows"),
        "{line}"
    );
    let json = succeed(&folder, &[&compare[..], &["--json"]].concat());
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    for one in json["methods"].as_array().unwrap() {
        let winners = one["winners"].as_array();
        assert_eq!(
            winners.map_or(0, Vec::len),
            if one["method"] == "gft-r" { 2 } else { 0 }
        );
        if winners.is_some() {
            let [with, without] =
                ["validation_rmse", "trained_rmse"].map(|key| one[key][0].as_f64().unwrap());
            assert!(with <= without, "{one}");
        }
    }
}
