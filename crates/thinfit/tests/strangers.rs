//! Untrusted model files and tables: which names are accepted, and what happens to hidden characters.

#![allow(clippy::unwrap_used)] // Helpers of tests fail as tests do.

use serde_json::{Value, json};
use std::path::Path;
use thinfit::{
    Code, Column, Config, Control, Dataset, Encoding, Levels, Mat, Model, Ridge, State, Training,
    fit,
};

fn data() -> Dataset {
    let x = Mat::from_fn(30, 2, |i, j| ((i * (7 + 4 * j)) % 31) as f64 / 31.0);
    let y = Mat::from_fn(30, 1, |i, _| (2.0 * x[(i, 0)]).sin() + x[(i, 1)]);
    Dataset::new(x, y).unwrap()
}

fn model() -> Value {
    let config = Config {
        training: Training::Random,
        width: 4,
        ..Config::fast()
    };
    let model = fit(&data(), &config, &|_| Control::Continue).unwrap();
    serde_json::from_str(&model.to_json()).unwrap()
}

/// What is wrong with the model whose value at `pointer` is another one; none if it is read.
fn flaw(model: &Value, pointer: &str, value: Value) -> Option<String> {
    let mut changed = model.clone();
    *changed.pointer_mut(pointer).unwrap() = value;
    let read = <Model>::from_json(&changed.to_string(), Path::new("m.json"));
    read.err().map(|error| error.to_string())
}

#[test]
fn names_of_all_languages_are_read_and_hidden_characters_are_not() {
    let mut model = model();
    model["record"]["device"] = "a GPU".into();
    for name in [
        "µ", "°C ²", "温度", "درجة", "a b", "x*/", "\"\"\"", "a=b", "", "\\",
    ] {
        assert_eq!(flaw(&model, "/inputs/0", name.into()), None, "{name}");
    }
    for name in [
        "a\nb",
        "a\0",
        "\u{1b}[31m",
        "a\u{202e}b",
        "\u{200b}",
        "a\u{85}",
    ] {
        for pointer in ["/inputs/0", "/outputs/0"] {
            let flaw = flaw(&model, pointer, name.into()).unwrap();
            assert!(flaw.contains("a name with a control"), "{flaw}");
        }
        let flaw = flaw(&model, "/record/device", name.into()).unwrap();
        assert!(flaw.contains("in the record"), "{flaw}");
    }
    assert!(flaw(&model, "/inputs/0", "a".repeat(2001).into()).is_none());
    assert!(flaw(&model, "/inputs/0", "a".repeat(2002).into()).is_some());
}

#[test]
fn a_version_and_a_method_are_words() {
    let model = model();
    for (word, fits) in [
        ("0.1.0", true),
        ("1.2.3-rc.1+build_5", true),
        ("0.1.0 ", false),
        ("0.1*/", false),
        ("\\write18", false),
        ("\"\"\"", false),
        ("µ", false),
    ] {
        for pointer in ["/record/version", "/record/method"] {
            let flaw = flaw(&model, pointer, word.into());
            assert_eq!(flaw.is_none(), fits, "{pointer} {word}: {flaw:?}");
        }
    }
    assert!(flaw(&model, "/record/version", "1".repeat(65).into()).is_some());
}

#[test]
fn the_same_name_twice_is_refused_in_files_and_in_samples() {
    let flaw = flaw(&model(), "/inputs", json!(["a", "a"])).unwrap();
    assert!(flaw.contains("the same name twice"), "{flaw}");
    let names = |inputs: [&str; 2]| {
        let named = data().with_names(inputs.map(String::from).to_vec(), vec!["y".into()]);
        named.err().map(|error| error.to_string())
    };
    assert_eq!(names(["a", "y"]), None);
    let error = names(["a", "a"]).unwrap();
    assert!(
        error.contains("the same name twice, `a`; rename"),
        "{error}"
    );
    let error = names(["a", "b\u{202e}c"]).unwrap();
    assert!(error.contains(r"`b\u{202e}c`"), "{error}");
}

#[test]
fn negative_errors_and_variances_are_refused() {
    let model = model();
    for pointer in [
        "/record/validation_mse",
        "/record/validation_variance",
        "/record/validation_linear",
    ] {
        assert!(flaw(&model, pointer, json!([-1e-9])).is_some(), "{pointer}");
        assert!(flaw(&model, pointer, json!([0.0])).is_none(), "{pointer}");
    }
    assert!(flaw(&model, "/record/ridge", json!(-1.0)).is_some());
    assert!(flaw(&model, "/body/posterior/covariance/0", json!(-1.0)).is_some());
    // Far above what the variances allow.
    assert!(flaw(&model, "/body/posterior/covariance/1", json!(1e12)).is_some());
}

#[test]
fn a_scale_that_would_make_deviations_negative_is_refused() {
    let model = model();
    for pointer in ["/output_scaler/scale/0", "/input_scaler/scale/1"] {
        let flaw = flaw(&model, pointer, json!(-0.5)).unwrap();
        assert!(flaw.contains("put scaling that does not fit"), "{flaw}");
    }
}

#[test]
fn a_ridge_beyond_all_numbers_does_not_make_a_fit_without_end() {
    for training in [Training::Direct, Training::Refined] {
        let config = Config {
            training,
            width: 4,
            ridge: Ridge::Relative(1e308),
            ..Config::fast()
        };
        // The training fails; random features are left.
        let model = fit(&data(), &config, &|_| Control::Continue).unwrap();
        let f = model.predict(data().x.as_ref()).unwrap();
        assert!(f.is_all_finite());
        assert!(model.record.start_scale.is_some(), "{:?}", model.record);
    }
}

#[test]
fn hidden_characters_in_cells_change_no_category_and_reach_no_file() {
    let column = |levels: &[String], codes: &[f64]| {
        let text = Column::Text {
            levels,
            codes,
            levels_are: Levels::Found,
        };
        Encoding::learn(&["kind\u{200b}".into()], &[text], false)
    };
    let levels = ["a", "b\u{202e}", "b", "a\u{feff}"].map(String::from);
    let codes: Vec<f64> = (0..16).map(|i| f64::from(i % 4)).collect();
    let encoding = column(&levels, &codes);
    let Code::OneHot { levels: found } = &encoding.columns()[0].code else {
        panic!("{encoding:?}");
    };
    assert_eq!(found, &["a", "b"]);
    let cells = Column::Text {
        levels: &levels,
        codes: &[0.0, 1.0, 2.0, 3.0],
        levels_are: Levels::Found,
    };
    let x = encoding.apply(&[cells]).unwrap();
    assert_eq!(x.col_as_slice(0), [0.0, 1.0, 1.0, 0.0]);
    let long = ["a".repeat(2000), "b".into()];
    let codes: Vec<f64> = (0..16).map(|i| f64::from(i % 2)).collect();
    let encoding = column(&long, &codes);
    assert_eq!(encoding.notes(), ["kind: ignored, it holds long text"]);
    let units = ["1 \u{200b}mm", "2 mm\u{200e}"].map(String::from);
    let encoding = column(&units, &codes);
    assert!(
        matches!(&encoding.columns()[0].code, Code::Quantity { unit } if unit == "mm"),
        "{encoding:?}"
    );
    let ordered = Column::Text {
        levels: &["s".into(), "s ".into(), "l".into()],
        codes: &[0.0, 1.0, 2.0, 0.0],
        levels_are: Levels::Ordered,
    };
    let encoding = Encoding::learn(&["size".into()], &[ordered], false);
    assert!(encoding.fits(&["size".into()]));
}

#[test]
fn hidden_characters_and_long_texts_of_a_state_do_not_reach_the_error() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let path = folder.join(format!("strange-state-{}.json", std::process::id()));
    for format in ["\u{1b}[31m\u{202e}".to_owned(), "a".repeat(100_000)] {
        std::fs::write(&path, json!({ "format": format }).to_string()).unwrap();
        let error = State::load(&path).unwrap_err().to_string();
        std::fs::remove_file(&path).unwrap();
        assert!(!error.contains(char::is_control), "{error:?}");
        assert!(
            !error.contains('\u{202e}') && error.len() < 1000,
            "{error:?}"
        );
    }
}
