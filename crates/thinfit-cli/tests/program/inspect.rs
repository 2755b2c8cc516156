//! `thinfit inspect`.

use super::*;

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
