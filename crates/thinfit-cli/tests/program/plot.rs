//! `thinfit plot`.

use super::*;

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
        &["--out DIR"],
    );
    fail(
        &folder,
        &["plot", "model.json", "absent.csv", "--out", "other"],
        &["absent.csv"],
    );
}
