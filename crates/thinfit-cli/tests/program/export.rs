//! `thinfit export`.

use super::*;

#[test]
fn every_language_gives_a_file() {
    let folder = fitted("export");
    for (language, file, words) in [
        ("onnx", "model.onnx", "thinfit"),
        ("c", "model.c", "#include"),
        ("python", "model.py", "def model("),
        ("js", "model.js", "export { model };"),
        ("latex", "model.tex", "\\cos"),
    ] {
        let printed = succeed(&folder, &["export", "model.json", "--to", language]);
        assert!(printed.contains(file), "{printed}");
        let measured = printed.contains("difference from predict");
        assert_eq!(measured, language != "latex", "{printed}");
        let content = text(&std::fs::read(folder.join(file)).unwrap());
        assert!(content.contains(words), "`{words}` is missing in {file}");
    }
    assert!(folder.join("model.h").exists());
    succeed(
        &folder,
        &["export", "model.json", "--to", "c", "-o", "pump.c"],
    );
    assert!(read(&folder, "pump.c").contains("pump("));
    succeed(
        &folder,
        &["export", "model.json", "--to", "c", "-o", "my-model.c"],
    );
    assert!(read(&folder, "my-model.c").contains("#include \"my_model.h\""));
    assert!(folder.join("my_model.h").exists());
    fail(
        &folder,
        &["export", "model.json", "--to", "c", "-o", "pump.h"],
        &["pump.h", ".c"],
    );
    for (language, option, right) in [("c", "--f32", "onnx"), ("onnx", "--digits=3", "latex")] {
        fail(
            &folder,
            &["export", "model.json", "--to", language, option],
            &[&format!("needs `--to {right}`")],
        );
    }
    fail(
        &folder,
        &["export", "absent.json", "--to", "c"],
        &["absent.json"],
    );
    fail(
        &folder,
        &["export", "model.json", "--to", "c", "-o", "no/such/m.c"],
        &["no/such/m.c"],
    );
}

#[test]
fn single_precision_that_is_off_by_deviations_is_refused() {
    let folder = folder("export-single");
    // Single precision has one value for all rows.
    let rows = (0..30).map(|i| {
        format!(
            "{},{}\n",
            1e9 + f64::from(i) / 7.0,
            (f64::from(i) / 9.0).sin()
        )
    });
    write(
        &folder,
        "train.csv",
        format!("x,y\n{}", rows.collect::<String>()),
    );
    let fit = [
        "fit",
        "train.csv",
        "--target=y",
        "--method=gaussian-process",
        "--quiet",
    ];
    succeed(&folder, &fit);
    succeed(&folder, &["export", "model.json", "--to=onnx"]);
    std::fs::remove_file(folder.join("model.onnx")).unwrap();
    let single = ["export", "model.json", "--to=onnx", "--f32"];
    fail(
        &folder,
        &single,
        &["at most 0.001 standard deviations", "remove --f32"],
    );
}

#[test]
fn the_python_function_gives_the_predictions() {
    let folder = fitted("export-python");
    succeed(&folder, &["export", "model.json", "--to", "python"]);
    let script = "import model\nprint(repr(model.model(0.25, 0.5)))";
    let Ok(output) = Command::new("python3")
        .args(["-c", script])
        .current_dir(&folder)
        .output()
    else {
        eprintln!("skipped: there is no python3");
        return;
    };
    let found: f64 = text(&output.stdout).trim().parse().unwrap();
    let x = Mat::from_fn(1, 2, |_, j| [0.25, 0.5][j]);
    let expected = fitted_by_the_library(80, None).predict(x.as_ref()).unwrap()[(0, 0)];
    assert!((found - expected).abs() < 1e-11, "{found} {expected}");
}
