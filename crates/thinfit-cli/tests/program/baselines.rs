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
fn kernels_refuse_what_only_a_network_can_do() {
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
