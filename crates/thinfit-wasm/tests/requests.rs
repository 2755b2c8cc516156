//! Requests and their answers, without a browser.

#![allow(clippy::unwrap_used)]

use serde_json::{Value, json};
use std::path::Path;
use std::sync::{Mutex, MutexGuard};
use thinfit::{Config, Control, Dataset, Mat, Model, Polish};
use thinfit_wasm::{answer, input, keep};

/// An instance holds one fit, so these tests go one by one.
static ALONE: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(|error| error.into_inner())
}

fn ask(request: Value) -> Value {
    serde_json::from_str(&answer(&request.to_string())).unwrap()
}

fn error(request: Value) -> String {
    ask(request)["error"].as_str().unwrap().to_owned()
}

fn settings(width: usize, polish: bool) -> Value {
    json!({ "width": width, "activation": "fourier", "seed": 1, "polish": polish })
}

fn function(name: &str) -> Value {
    json!({ "function": { "name": name, "samples": 120, "noise": 0.0 } })
}

fn learn(source: Value, network: &str, width: usize) -> Value {
    let settings = settings(width, false);
    ask(json!({ "do": "learn", "source": source, "network": network, "settings": settings }))
}

/// Keeps a file, as the page does, but without pointers.
fn keep_text(text: &str) {
    thinfit_wasm::keep_bytes(text.as_bytes().to_vec());
}

fn table(rows: usize) -> String {
    let row = |i: usize| {
        let [a, b] = [(i * 7) % 101, (i * 13) % 101].map(|v| v as f64 / 101.0);
        format!("{a},{b},{}\n", (3.0 * a).sin() + a * b)
    };
    "a,b,y\n".to_owned() + &(0..rows).map(row).collect::<String>()
}

fn from_table(target: &str, inputs: &[&str]) -> Value {
    json!({ "table": { "name": "mine.csv", "target": target, "inputs": inputs } })
}

#[test]
fn a_fit_in_slices_is_the_fit_in_one_go() {
    let _alone = alone();
    let rows = table(80);
    keep_text(&rows);
    let opening = learn(from_table("y", &["a", "b"]), "thin", 5);
    assert_eq!(opening["inputs"], json!(["a", "b"]));
    // Slices end in the middle of phases, at checks and at the last step of a phase.
    let (mut seen, mut frame) = (Vec::new(), Value::Null);
    for steps in [1, 199, 300, 1000, 1, 700, 1799] {
        frame = ask(json!({ "do": "advance", "milliseconds": 1e9, "steps": steps }));
        assert_eq!(frame["hidden"].as_array().unwrap().len(), 5, "{frame}");
        seen.push((
            frame["phase"].as_str().unwrap().to_owned(),
            frame["step"].clone(),
        ));
    }
    assert_eq!(frame["phase"], "done");
    assert_eq!(seen[3], ("generator".into(), json!(1500)));
    assert_eq!(seen[4], ("refinement".into(), json!(1)));
    let more = json!({ "do": "advance", "milliseconds": 1.0, "steps": null });
    assert_eq!(error(more), "the fit is finished");
    let sliced = ask(json!({ "do": "model" }))["model"]
        .as_str()
        .unwrap()
        .to_owned();
    let fast = Config::fast();
    let config = Config {
        width: 5,
        polish: Polish {
            steps: 0,
            ..fast.polish
        },
        ..fast
    };
    let numbers: Vec<f64> = rows
        .lines()
        .skip(1)
        .flat_map(|row| row.split(','))
        .map(|v| v.parse().unwrap())
        .collect();
    let column =
        |from: usize, count: usize| Mat::from_fn(80, count, |i, j| numbers[3 * i + from + j]);
    let data = Dataset::new(column(0, 2), column(2, 1)).unwrap();
    let data = data
        .with_names(vec!["a".into(), "b".into()], vec!["y".into()])
        .unwrap();
    let whole = thinfit::fit(&data, &config, &|_| Control::Continue).unwrap();
    assert_eq!(sliced, whole.to_json());
    assert_eq!(
        Model::from_json(&sliced, Path::new("model.json")).unwrap(),
        whole
    );
}

#[test]
fn the_plain_network_in_slices_is_the_one_in_one_go() {
    let _alone = alone();
    let train = |slices: &[usize]| {
        learn(function("g1"), "plain", 4);
        let mut last = Value::Null;
        for steps in slices {
            last = ask(json!({ "do": "advance", "milliseconds": 1e9, "steps": steps }));
        }
        assert_eq!(
            (last["phase"].as_str(), last["step"].as_u64()),
            (Some("both layers"), Some(50))
        );
        last
    };
    assert_eq!(train(&[50]), train(&[1, 20, 29]));
}

#[test]
fn a_function_of_two_inputs_is_seen_on_a_grid_and_has_findings_once_it_is_done() {
    let _alone = alone();
    let opening = learn(function("g3"), "thin", 3);
    assert_eq!(opening["lines"], json!([[1.0, 0.3], [0.3, 1.0]]));
    let side = opening["side"].as_u64().unwrap();
    assert_eq!(
        opening["truth"].as_array().unwrap().len() as u64,
        side * side
    );
    assert!(error(json!({ "do": "findings" })).contains("not finished"));
    let frame = ask(json!({ "do": "advance", "milliseconds": 1e9, "steps": null }));
    assert_eq!(frame["phase"], "done");
    assert_eq!(frame["seen"].as_array().unwrap().len() as u64, side * side);
    let findings = ask(json!({ "do": "findings" }));
    assert_eq!(findings["total"].as_array().unwrap().len(), 2);
    assert_eq!(findings["effects"].as_array().unwrap().len(), 2);
}

#[test]
fn bad_requests_are_refused_in_words() {
    let _alone = alone();
    assert!(error(json!({ "do": "dance" })).contains("dance"));
    let wide = json!({ "do": "learn", "source": function("g1"), "network": "thin", "settings": settings(0, true) });
    assert!(error(wide).contains("`width`: expected 1 to 10000, found 0"));
    assert!(
        learn(function("g9"), "thin", 3)["error"]
            .as_str()
            .unwrap()
            .contains("unknown test function `g9`")
    );
    let few = json!({ "function": { "name": "g1", "samples": 3, "noise": 0.0 } });
    assert!(
        learn(few, "thin", 3)["error"]
            .as_str()
            .unwrap()
            .contains("10 to 20000")
    );
    keep_text("a,b,y\n1,2,3\n4,five,6\n");
    assert_eq!(
        ask(json!({ "do": "columns", "name": "mine.csv" }))["columns"],
        json!(["a", "b", "y"])
    );
    let message = learn(from_table("y", &["a", "b"]), "thin", 3)["error"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(
        message.starts_with("mine.csv:3: ") && message.contains("`five`"),
        "{message}"
    );
    assert!(
        learn(from_table("z", &["a"]), "thin", 3)["error"]
            .as_str()
            .unwrap()
            .contains("no column `z`")
    );
    assert!(
        learn(from_table("y", &[]), "thin", 3)["error"]
            .as_str()
            .unwrap()
            .contains("no input columns are left")
    );
    keep_text("");
    assert!(error(json!({ "do": "columns", "name": "mine.csv" })).contains("an empty file"));
    // What a page hands over in place of text is bytes.
    let _ = (input(4), keep());
    assert!(error(json!({ "do": "columns", "name": "mine.csv" })).contains("binary content"));
}
