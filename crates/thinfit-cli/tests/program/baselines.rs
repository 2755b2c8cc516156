//! `thinfit fit --method NAME` with the methods to compare with, and what can be done with their models.

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
fn every_method_fits_predicts_and_is_scored_inspected_and_drawn() {
    let folder = folder("baselines");
    write(&folder, "train.csv", csv(80));
    for method in Method::ALL {
        let report = fit(&folder, method);
        assert!(report.contains("fitted y in"), "{report}");
        let model = Predictor::load(folder.join("model.json")).unwrap();
        assert_eq!(model.method(), method);
        let predicted = succeed(&folder, &["predict", "model.json", "train.csv", "-q"]);
        let (_, rows) = numbers(&predicted);
        let expected = model.predict(points(80).0.as_ref()).unwrap();
        assert_eq!(rows[7][0], expected[(7, 0)], "{method}");
        assert!(succeed(&folder, &["score", "model.json", "train.csv"]).contains("80"));
        let told = succeed(&folder, &["inspect", "model.json"]);
        assert!(told.contains(method) || model.network().is_ok(), "{told}");
        let json = succeed(&folder, &["inspect", "model.json", "--json"]);
        assert!(serde_json::from_str::<serde_json::Value>(&json).is_ok());
        succeed(
            &folder,
            &["plot", "model.json", "train.csv", "--out=figures"],
        );
        assert!(folder.join("figures/prediction.svg").exists());
        std::fs::remove_dir_all(folder.join("figures")).unwrap();
    }
}

#[test]
fn what_only_a_network_has_is_refused_for_kernels() {
    let folder = folder("kernels");
    write(&folder, "train.csv", csv(80));
    fit(&folder, "kernel-ridge");
    let words = ["expected a network", "kernel-ridge", "gft-r"];
    fail(&folder, &["export", "model.json", "--to=c"], &words);
    fail(
        &folder,
        &["predict", "model.json", "train.csv", "--gradient"],
        &words,
    );
    fail(
        &folder,
        &["predict", "model.json", "train.csv", "--interval=0.9"],
        &words,
    );
    fail(
        &folder,
        &["plot", "model.json"],
        &["no features", "give a table"],
    );
    fail(
        &folder,
        &["predict", "model.json", "train.csv", "--std"],
        &["deviation"],
    );
    fit(&folder, "gaussian-process");
    let predicted = succeed(
        &folder,
        &["predict", "model.json", "train.csv", "--std", "-q"],
    );
    assert!(predicted.starts_with("y,y_std\n"), "{predicted}");
    fit(&folder, "rff");
    succeed(&folder, &["export", "model.json", "--to=c"]);
}

#[test]
fn options_that_a_method_does_not_have_are_named() {
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
