//! `thinfit plot`.

use super::*;
use thinfit::{Scaler, Warp};

#[test]
fn every_picture_is_drawn_in_both_formats() {
    let folder = fitted("plot");
    let printed = succeed(
        &folder,
        &["plot", "model.json", "train.csv", "--out", "figures"],
    );
    let pictures = [
        "effects",
        "features",
        "importance",
        "learning",
        "prediction",
        "residuals",
    ];
    let expected: Vec<String> = pictures
        .iter()
        .flat_map(|name| [format!("{name}.png"), format!("{name}.svg")])
        .collect();
    assert_eq!(files(&folder.join("figures")), expected);
    assert_eq!(printed.lines().count(), expected.len());
    for name in expected {
        let bytes = std::fs::read(folder.join("figures").join(&name)).unwrap();
        let start: &[u8] = if name.ends_with("png") {
            b"\x89PNG"
        } else {
            b"<svg"
        };
        assert!(bytes.starts_with(start), "{name}");
    }
}

#[test]
fn rows_of_the_fit_are_told_or_predicted_by_models_that_had_not_seen_them() {
    let folder = fitted("plot-honest");
    let auto = [
        "fit",
        "train.csv",
        "--target",
        "y",
        "--drop",
        "name",
        "--budget",
        "0.5",
    ];
    succeed(
        &folder,
        &[&auto[..], &["-o", "auto.json", "--quiet"]].concat(),
    );
    for (model, words) in [
        ("model.json", "training rows: errors are too small"),
        ("auto.json", "training rows, cross-validated predictions"),
    ] {
        let plot = [
            "plot",
            model,
            "train.csv",
            "--out",
            model.trim_end_matches(".json"),
        ];
        let done = thinfit(&folder, &plot);
        assert!(String::from_utf8_lossy(&done.stderr).contains(words));
        for picture in ["prediction", "residuals"] {
            let file = folder.join(plot[4]).join(format!("{picture}.svg"));
            let drawn = std::fs::read_to_string(file).unwrap();
            assert!(drawn.contains(words), "{picture} of {model}");
        }
        let page = thinfit(&folder, &["report", model, "train.csv", "-o", "page.html"]);
        assert!(String::from_utf8_lossy(&page.stderr).contains(words));
    }
}

#[test]
fn a_warped_input_is_drawn_and_told() {
    let folder = fitted("plot-warped");
    let said = |folder: &Path| succeed(folder, &["inspect", "model.json"]).contains("a is warped");
    assert!(!said(&folder));
    let mut model = Model::load(folder.join("model.json")).unwrap();
    // A range of 2000 in `a`, dense at its lower end.
    let [low, width] = [model.domain[0][0], 0.1];
    let warp = Warp { centre: low, width };
    model.domain[0][1] = low + 2000.0;
    let ends = Mat::from_fn(2, 2, |i, j| model.domain[j][i]);
    model.input_scaler = Scaler::to_box_warped(ends.as_ref(), &[Some(warp), None]);
    model.save(folder.join("model.json")).unwrap();
    assert!(said(&folder));
    succeed(&folder, &["plot", "model.json", "--out", "figures"]);
    let drawn = std::fs::read_to_string(folder.join("figures/effects.svg")).unwrap();
    for tick in ["0.2", "10", "500"] {
        assert!(drawn.contains(&format!(">{tick}<")), "{tick} in {drawn}");
    }
}

#[test]
fn without_data_only_the_model_is_drawn() {
    let folder = fitted("plot-model");
    succeed(&folder, &["plot", "model.json"]);
    let names = files(&folder.join("thinfit-plots"));
    let expected = ["effects", "features", "importance", "learning"];
    let expected = expected.map(|name| [format!("{name}.png"), format!("{name}.svg")]);
    assert_eq!(names, expected.concat());
    fail(
        &folder,
        &["plot", "model.json", "--out", "model.json"],
        &["-o DIR"],
    );
    fail(
        &folder,
        &["plot", "model.json", "absent.csv", "--out", "other"],
        &["absent.csv"],
    );
}
