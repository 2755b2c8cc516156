//! `thinfit fit --method NAME` for the other methods, and every command on their models.

use super::*;
use thinfit_methods::{Method, Predictor};

/// Settings that make a method fast on eighty points.
fn quick(method: &str) -> &'static [&'static str] {
    match method {
        "shrimp" => &["--set=features=200"],
        "arff" => &["--width=20", "--set=rounds=2"],
        "rff" | "swim" => &["--width=20"],
        "plain" | "noisy-gradients" => &["--width=12", "--set=steps=200"],
        "fully-sampled" => &["--width=12", "--set=steps=20", "--set=hidden=[8]"],
        "gaussian-process" => &["--set=starts=1", "--set=iterations=30"],
        _ => &[],
    }
}

fn fit(folder: &Path, method: &str) -> String {
    let start = [
        "fit",
        "train.csv",
        "--target=y",
        "--drop=name",
        "-q",
        "--method",
        method,
    ];
    succeed(folder, &[&start[..], quick(method)].concat())
}

#[test]
fn every_command_works_with_every_method() {
    let folder = folder("baselines");
    write(&folder, "train.csv", csv(80));
    for method in Method::ALL {
        let report = fit(&folder, method);
        assert!(report.contains("fitted y in"), "{report}");
        let model = Predictor::load(folder.join("model.json")).unwrap();
        assert_eq!(model.record().method, method);
        let predicted = succeed(&folder, &["predict", "model.json", "train.csv", "-q"]);
        let (_, rows) = numbers(&predicted);
        let expected = model.predict(points(80).0.as_ref()).unwrap();
        assert_eq!(rows[7][0], expected[(7, 0)], "{method}");
        let score = succeed(&folder, &["score", "model.json", "train.csv"]);
        assert!(score.ends_with(" 80\n"), "{score}");
        let report = succeed(&folder, &["inspect", "model.json"]);
        assert!(report.contains(method), "{report}");
        let object = succeed(&folder, &["inspect", "model.json", "--json"]);
        let object: serde_json::Value = serde_json::from_str(&object).unwrap();
        assert_eq!(object["record"]["method"], method, "{object}");
        succeed(
            &folder,
            &["plot", "model.json", "train.csv", "--out=figures"],
        );
        assert!(folder.join("figures/prediction.svg").exists());
        std::fs::remove_dir_all(folder.join("figures")).unwrap();
    }
}

#[test]
fn kernels_do_what_networks_do() {
    let folder = folder("kernels");
    write(&folder, "train.csv", csv(80));
    for method in ["kernel-ridge", "salsa", "gaussian-process"] {
        fit(&folder, method);
        let model = Predictor::load(folder.join("model.json")).unwrap();
        let predict = ["predict", "model.json", "train.csv", "-q"];
        let more = ["--gradient", "--interval=0.9"];
        let predicted = succeed(&folder, &[&predict[..], &more].concat());
        let (names, rows) = numbers(&predicted);
        assert_eq!(names[..3], ["y", "y_low", "y_high"], "{method}");
        let x = points(80).0;
        let bounds = model.interval(x.as_ref(), 0.9).unwrap();
        let slopes = model.gradient(x.as_ref(), 0).unwrap();
        assert_eq!(rows[7][1..3], [bounds.low[(7, 0)], bounds.high[(7, 0)]]);
        assert_eq!(rows[7][3], slopes[(7, 0)]);

        let report = succeed(&folder, &["inspect", "model.json"]);
        // Sums over sets of inputs have no closed form.
        let integrated = match method {
            "salsa" => "estimated by sampling",
            _ => "integrated in closed form",
        };
        for words in ["Sobol total", integrated, "length scales", "kernel at"] {
            assert!(report.contains(words), "{report}");
        }
        let object = succeed(&folder, &["inspect", "model.json", "--json"]);
        let object: serde_json::Value = serde_json::from_str(&object).unwrap();
        assert!(object["outputs"][0]["importance"][0]["total"].as_f64() > Some(0.3));
        assert!(
            object["kernel"]["lengths"].is_array() && object["outputs"][0]["features"].is_null()
        );

        succeed(&folder, &["plot", "model.json", "--out=figures"]);
        for (picture, drawn) in [("importance", true), ("effects", true), ("features", false)] {
            let file = folder.join(format!("figures/{picture}.svg"));
            assert_eq!(file.exists(), drawn, "{method} {picture}");
        }
        std::fs::remove_dir_all(folder.join("figures")).unwrap();
        for (language, file) in [
            ("c", "model.c"),
            ("python", "model.py"),
            ("onnx", "model.onnx"),
            ("latex", "model.tex"),
        ] {
            succeed(&folder, &["export", "model.json", "--to", language]);
            assert!(folder.join(file).exists(), "{method} {language}");
        }
    }
    let predicted = succeed(
        &folder,
        &["predict", "model.json", "train.csv", "--std", "-q"],
    );
    assert!(predicted.starts_with("y,y_std\n"), "{predicted}");
    fit(&folder, "kernel-ridge");
    fail(
        &folder,
        &["predict", "model.json", "train.csv", "--std"],
        &["kernel-ridge", "no standard deviations"],
    );
}

#[test]
fn a_level_beyond_the_rows_gives_infinite_bounds_and_a_warning() {
    let folder = folder("infinite");
    write(&folder, "train.csv", csv(80));
    fit(&folder, "kernel-ridge");
    let predict = ["predict", "model.json", "train.csv", "--interval=0.99"];
    let output = thinfit(&folder, &predict);
    assert!(output.status.success());
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(
        printed.lines().nth(1).unwrap().ends_with(",-inf,inf"),
        "{printed}"
    );
    let warned = String::from_utf8(output.stderr).unwrap();
    assert!(
        warned.contains("80 calibration rows are too few for this level"),
        "{warned}"
    );
}

#[test]
fn an_option_that_a_method_lacks_is_named() {
    let folder = folder("baseline-options");
    write(&folder, "train.csv", csv(80));
    let cases: [(&[&str], &[&str]); 5] = [
        (
            &["--method=salsa", "--width=7"],
            &["salsa", "width", "patience"],
        ),
        (&["--method=swim", "--preset=paper"], &["--preset", "swim"]),
        (
            &["--method=swim", "--checkpoint=s"],
            &["--checkpoint", "swim"],
        ),
        (&["--method=swim", "--set=width=many"], &["swim", "width"]),
        (&["--method=magic"], &["magic", "gft-r", "gaussian-process"]),
    ];
    for (arguments, words) in cases {
        let start = ["fit", "train.csv", "--target=y", "--drop=name"];
        fail(&folder, &[&start[..], arguments].concat(), words);
    }
}
