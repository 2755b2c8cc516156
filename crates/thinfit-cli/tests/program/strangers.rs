//! Untrusted files and failing machines: no hidden character is printed, no file is overwritten or lost.

use super::*;
use serde_json::{Value, json};

/// A model in which a value is another one, as a file.
fn changed(folder: &Path, name: &str, pointer: &str, value: Value) {
    let mut model: Value = serde_json::from_str(&read(folder, "model.json")).unwrap();
    let place = model.pointer_mut(pointer);
    *place.unwrap_or_else(|| panic!("{pointer} is missing")) = value;
    write(folder, name, model.to_string());
}

#[test]
fn a_model_with_code_in_a_text_is_refused_by_every_command() {
    let folder = fitted("strangers-text");
    for (pointer, value, words) in [
        ("/record/version", "0.1 */ int x; /*", "a version"),
        ("/record/version", "0.1\n\\write18{x}", "a version"),
        ("/record/method", "gft \u{1b}[2J", "a method"),
        ("/inputs/0", "a\n#", "a name with a control"),
        ("/outputs/0", "y\u{202e}", "a name with a control"),
        ("/inputs/1", "a", "the same name twice"),
    ] {
        changed(&folder, "hostile.json", pointer, value.into());
        for command in [
            &["inspect", "hostile.json"][..],
            &["export", "hostile.json", "--to=c"],
            &["plot", "hostile.json"],
            &["predict", "hostile.json", "train.csv"],
            &["score", "hostile.json", "train.csv"],
        ] {
            fail(&folder, command, &[words]);
        }
    }
    changed(
        &folder,
        "new.json",
        "/format",
        "thinfit/9\u{1b}[31m\u{202e}".into(),
    );
    let message = fail(&folder, &["inspect", "new.json"], &[r"\u{1b}[31m\u{202e}"]);
    assert!(!message.contains('\u{1b}') && !message.contains('\u{202e}'));
}

#[test]
fn names_of_columns_and_files_print_nothing_hidden() {
    let folder = folder("strangers-names");
    let (x, y) = points(40);
    let line = |i: usize| format!("{},{},{}\n", x[(i, 0)], x[(i, 1)], y[(i, 0)]);
    let rows: String = (0..40).map(line).collect();
    let header = "\"\u{1b}[31ma\u{202e}\",\"Druck\r\n[µbar]\",温度";
    write(&folder, "t.csv", format!("{header}\n{rows}"));
    let output = "m\u{1b}[31m\u{202e}.json";
    let fit = [
        "fit",
        "t.csv",
        "--target=温度",
        "-o",
        output,
        "--method=rff",
    ];
    let printed = thinfit(&folder, &fit);
    assert_eq!(printed.status.code(), Some(0), "{}", text(&printed.stderr));
    for printed in [printed.stdout, printed.stderr].map(|bytes| text(&bytes)) {
        assert!(
            !printed.contains(['\u{1b}', '\u{202e}', '\r']),
            "{printed:?}"
        );
    }
    let report = succeed(&folder, &["inspect", output]);
    assert!(
        report.contains("Druck [µbar]") && report.contains("[31ma"),
        "{report}"
    );
    assert!(!report.contains(['\u{1b}', '\u{202e}']), "{report:?}");
    let object = succeed(&folder, &["inspect", output, "--json"]);
    let object_read: Value = serde_json::from_str(&object).unwrap();
    assert!(object_read["model"] == output && !object.contains('\u{202e}'));
    succeed(&folder, &["plot", output, "t.csv", "--out=figures"]);
    for name in files(&folder.join("figures"))
        .iter()
        .filter(|name| name.ends_with("svg"))
    {
        let drawn = std::fs::read_to_string(folder.join("figures").join(name)).unwrap();
        assert!(!drawn.contains(['\u{1b}', '\u{202e}']), "{name}");
    }
    let predicted = succeed(&folder, &["predict", output, "t.csv"]);
    assert!(predicted.starts_with("温度\n"), "{predicted}");
}

#[test]
fn no_command_overwrites_a_file_that_it_reads() {
    let folder = fitted("strangers-outputs");
    write(&folder, "fit.toml", "target = \"y\"\ndrop = \"name\"\n");
    std::fs::hard_link(folder.join("model.json"), folder.join("hard.json")).unwrap();
    std::fs::hard_link(folder.join("train.csv"), folder.join("hard.csv")).unwrap();
    let mut same = vec!["model.json", "./model.json", "hard.json"];
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("model.json", folder.join("soft.json")).unwrap();
        same.push("soft.json");
    }
    std::fs::create_dir(folder.join("figures")).unwrap();
    for picture in ["features.svg", "learning.png", "residuals.png"] {
        std::fs::copy(
            folder.join("model.json"),
            folder.join("figures").join(picture),
        )
        .unwrap();
    }
    std::fs::copy(folder.join("model.json"), folder.join("m.c")).unwrap();
    std::fs::copy(folder.join("model.json"), folder.join("m.h")).unwrap();
    let state = with_short(&[
        "fit",
        "train.csv",
        "--target=y",
        "--drop=name",
        "--checkpoint=s",
        "-o=other.json",
    ]);
    succeed(&folder, &state);
    let before: Vec<String> = ["model.json", "train.csv", "fit.toml", "s", "m.c", "m.h"]
        .iter()
        .map(|name| read(&folder, name))
        .collect();
    let refuse = |arguments: &[&str]| {
        fail(&folder, arguments, &["uses it for something else"]);
    };
    for same in same {
        for language in ["onnx", "c", "python", "latex"] {
            refuse(&["export", "model.json", "--to", language, "-o", same]);
        }
        refuse(&["predict", "model.json", "train.csv", "-o", same]);
    }
    refuse(&["export", "m.c", "--to=c"]);
    refuse(&["export", "m.h", "--to=c"]);
    refuse(&["predict", "model.json", "train.csv", "-o", "hard.csv"]);
    for picture in ["features.svg", "learning.png"] {
        let model = format!("figures/{picture}");
        refuse(&["plot", &model, "--out=figures"]);
    }
    refuse(&[
        "plot",
        "figures/residuals.png",
        "train.csv",
        "--out=figures",
    ]);
    let fit = ["fit", "train.csv", "--target=y", "--drop=name"];
    for more in [
        &["-o=hard.csv"][..],
        &["--config=fit.toml", "-o=fit.toml"],
        &["--config=fit.toml", "--checkpoint=fit.toml"],
        &["--resume=s", "-o=s"],
        &["--checkpoint=same", "-o=same"],
        &["--checkpoint=train.csv"],
    ] {
        refuse(&[&fit[..], more].concat());
    }
    let after = ["model.json", "train.csv", "fit.toml", "s", "m.c", "m.h"];
    assert!(after.iter().map(|name| read(&folder, name)).eq(before));
    // A state is both, as it has to be.
    let resume = [&fit[..], &["--resume=s", "--checkpoint=./s", "--quiet"]].concat();
    succeed(&folder, &resume);
}

#[test]
fn numbers_in_a_model_that_cannot_be_are_errors() {
    let folder = fitted("strangers-numbers");
    let model: Value = serde_json::from_str(&read(&folder, "model.json")).unwrap();
    changed(
        &folder,
        "negative.json",
        "/record/validation_mse",
        json!([-1.0]),
    );
    fail(
        &folder,
        &["inspect", "negative.json"],
        &["errors that are negative"],
    );
    let numbers = model["body"]["output"].as_array().unwrap();
    let extreme = vec![json!([1e300]); numbers.len()];
    changed(&folder, "extreme.json", "/body/output", extreme.into());
    fail(
        &folder,
        &["score", "extreme.json", "train.csv"],
        &["expected errors of `y`"],
    );
    let covariance = model["body"]["posterior"]["covariance"].as_array().unwrap();
    let negated: Vec<f64> = covariance
        .iter()
        .map(|v| -v.as_f64().unwrap().abs())
        .collect();
    let place = "/body/posterior/covariance";
    changed(&folder, "negated.json", place, json!(negated));
    let large = covariance
        .iter()
        .map(|v| v.as_f64().unwrap().abs())
        .fold(0.0, f64::max);
    // Variances are as they were; of two equal inputs, one takes away what the other adds.
    let k = (0..).find(|k| k * (k + 1) / 2 == covariance.len()).unwrap();
    let entries = (0..k).flat_map(|i| (0..=i).map(move |j| (i, j)));
    let alternating: Vec<f64> = entries
        .map(|(i, j)| if i == j { 1.0 } else { -0.9 })
        .map(|v| v * large)
        .collect();
    changed(&folder, "alternating.json", place, json!(alternating));
    for name in ["negated.json", "alternating.json"] {
        let predict = ["predict", name, "train.csv", "--interval=0.8"];
        fail(&folder, &predict, &["covariance"]);
    }
}

#[cfg(unix)]
#[test]
fn a_table_for_a_closed_output_is_an_error() {
    let folder = fitted("strangers-closed");
    let program = env!("CARGO_BIN_EXE_thinfit");
    let shell = |command: &str| {
        let command = format!("'{program}' {command}");
        let output = Command::new("sh")
            .args(["-c", &command])
            .current_dir(&folder)
            .output();
        let output = output.unwrap();
        (output.status.code(), text(&output.stderr))
    };
    for command in ["predict model.json train.csv", "data f3 --rows 5"] {
        let (code, message) = shell(&format!("{command} >&-"));
        assert!(code == Some(2) && message.contains("closed"), "{message}");
        assert_eq!(shell(&format!("{command} > /dev/null")).0, Some(0));
    }
    assert_eq!(
        shell("predict model.json train.csv -o out.csv >&-").0,
        Some(0)
    );
    let before = read(&folder, "train.csv");
    let (code, message) = shell("predict model.json train.csv >> train.csv");
    assert!(
        code == Some(2) && message.contains("standard output"),
        "{message}"
    );
    assert_eq!(read(&folder, "train.csv"), before);
}

#[cfg(unix)]
#[test]
fn a_limit_on_the_size_of_files_is_an_error_and_leaves_no_part() {
    let folder = fitted("strangers-limit");
    let before = files(&folder);
    let program = env!("CARGO_BIN_EXE_thinfit");
    for command in [
        "data f3 --rows 5000 -o table.csv",
        "export model.json --to c",
        "fit train.csv --target y --drop name --method kernel-ridge -o other.json",
    ] {
        let command = format!("ulimit -f 1; '{program}' {command}");
        let output = Command::new("sh")
            .args(["-c", &command])
            .current_dir(&folder)
            .output();
        let output = output.unwrap();
        let message = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{command}: {message}");
        assert!(message.contains("File too large"), "{message}");
        assert_eq!(files(&folder), before, "{command}");
    }
}

#[test]
fn a_variable_that_asks_for_100000_threads_is_refused() {
    let folder = fitted("strangers-threads");
    for (count, code) in [("100000", 2), ("2", 0), ("", 0)] {
        let output = program(&folder, &["predict", "model.json", "train.csv"])
            .env("RAYON_NUM_THREADS", count)
            .output()
            .unwrap();
        let message = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{count}: {message}");
        assert_eq!(
            message.contains("RAYON_NUM_THREADS"),
            code == 2,
            "{message}"
        );
    }
}
