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
            &[&format!("expected `--to {right}` beside it")],
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
