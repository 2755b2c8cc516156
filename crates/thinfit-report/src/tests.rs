//! Pages of every kind of model: their parts, their size, and that their intervals equal those of `interval`.

#![allow(clippy::unwrap_used)]

mod intervals;
#[path = "../../thinfit-export/src/tests/random.rs"]
#[allow(dead_code, reason = "models of the tests of exports")]
mod random;

use crate::{Rows, page};
use serde_json::Value;
use std::path::Path;
use thinfit::{Activation, Column, Control, Dataset, Encoding, Levels, Mat};
use thinfit_methods::{Method, Predictor};

fn inputs(rows: usize) -> Mat<f64> {
    Mat::from_fn(rows, 3, |i, j| {
        let uniform = ((i + 1) as f64 * [0.618_034, 0.754_877, 0.569_840][j]).fract();
        [uniform, 1e3 + 40.0 * uniform, 1e-3 * (uniform - 0.5)][j]
    })
}

fn data(outputs: usize) -> Dataset {
    let x = inputs(80);
    let y = Mat::from_fn(80, outputs, |i, o| {
        let noise = 0.1 * ((i + o) as f64 * 0.819_173).fract();
        (3.0 * x[(i, 0)] + o as f64).sin() + (x[(i, 1)] - 1e3) / 40.0 + noise
    });
    let names = (0..outputs).map(|o| format!("y{o}")).collect();
    let inputs = ["x1", "<script>alert(1)</script>", "a & b"].map(String::from);
    let data = Dataset::new(x, y).unwrap();
    data.with_names(inputs.to_vec(), names).unwrap()
}

fn fit(method: &str, settings: Value, outputs: usize) -> Predictor {
    let method = Method::named(method).unwrap();
    let method = method.changed(settings.as_object().unwrap()).unwrap();
    method
        .fit(&data(outputs), 1, &|_| Control::Continue)
        .unwrap()
}

/// Few neurons: of many, smooth ones are so alike that their covariance is all rounding.
fn network(activation: Activation, outputs: usize) -> Predictor {
    let settings = serde_json::json!({ "width": 8, "activation": activation.name(), "polish": { "steps": 0 } });
    fit("random", settings, outputs)
}

fn process(outputs: usize) -> Predictor {
    fit("gaussian-process", serde_json::json!({}), outputs)
}

/// The page, and the content in it.
fn made(model: &Predictor, rows: Option<&Rows>) -> (String, Value) {
    let page = page(model, rows, &|_| ()).unwrap();
    let (_, after) = page.split_once("id=\"content\">").unwrap();
    let (content, _) = after.split_once("</script>").unwrap();
    let content = serde_json::from_str(content).unwrap();
    (page, content)
}

fn rows(data: &Dataset) -> Rows {
    Rows {
        x: data.x.clone(),
        y: data.y.clone(),
        numbers: None,
    }
}

#[test]
fn a_page_is_one_small_file_that_asks_for_nothing() {
    let hundred = serde_json::json!({ "width": 100, "polish": { "steps": 0 } });
    for model in [fit("random", hundred, 1), process(2)] {
        let (page, content) = made(&model, None);
        assert!(page.len() < 310_000, "{} bytes", page.len());
        let addresses = page.replace("http://www.w3.org/2000/svg", "");
        for word in [
            "http:",
            "https:",
            "//www",
            " src=",
            "@import",
            "url(",
            "<link",
            "{{script}}",
        ] {
            assert!(!addresses.contains(word), "{word}");
        }
        assert!(page.contains("content=\"default-src 'none'; script-src 'sha256-"));
        // Three scripts and one style, and nothing of a name that opens or ends one.
        assert_eq!(page.matches("<script").count(), 3);
        assert_eq!(page.matches("</script").count(), 3);
        assert_eq!(page.matches("<style").count(), 1);
        assert_eq!(content["inputs"][1], "<script>alert(1)</script>");
        assert_eq!(content["rows"], Value::Null);
        assert_eq!(content["languages"].as_array().unwrap().len(), 4);
    }
}

#[test]
fn rows_that_were_fitted_are_told_from_others() {
    let data = data(2);
    let others = Rows {
        x: inputs(200).as_ref().subrows(100, 50).to_owned(),
        y: Mat::zeros(50, 2),
        numbers: Some((1..=50).collect()),
    };
    let half = Rows {
        x: data.x.as_ref().subrows(0, 40).to_owned(),
        y: data.y.as_ref().subrows(0, 40).to_owned(),
        numbers: None,
    };
    let part = Rows {
        x: Mat::from_fn(60, 3, |i, j| inputs(150)[(i + 40, j)]),
        y: Mat::zeros(60, 2),
        numbers: None,
    };
    // The same places, measured anew.
    let anew = Rows {
        y: Mat::from_fn(80, 2, |i, o| data.y[(i, o)] + 0.01),
        ..rows(&data)
    };
    let part = Rows {
        y: Mat::from_fn(60, 2, |i, o| if i < 40 { data.y[(i + 40, o)] } else { 0.0 }),
        ..part
    };
    for (model, of_all, of_half, of_part, of_anew) in [
        (
            network(Activation::Fourier, 2),
            ("how closely it follows them", true),
            ("how closely it follows them", true),
            ("fitted to 40 of these 60", true),
            ("none of these rows", false),
        ),
        (
            process(2),
            ("Their predictions here are cross-validated", false),
            ("These are the rows that the model was fitted to", false),
            ("fitted to 40 of these 60", false),
            ("These rows have the same inputs as training rows", true),
        ),
    ] {
        let seen = |rows: &Rows| {
            let (_, content) = made(&model, Some(rows));
            let text = content["rows"]["seen"].as_str().unwrap().to_owned();
            (text, content["rows"]["flattered"].as_bool().unwrap())
        };
        for (rows, (words, flatters)) in [
            (&rows(&data), of_all),
            (&half, of_half),
            (&part, of_part),
            (&anew, of_anew),
        ] {
            let (text, flattered) = seen(rows);
            assert!(text.contains(words) && flattered == flatters, "{text}");
        }
        assert!(!seen(&others).1);
        let wrong = Rows {
            y: Mat::zeros(50, 3),
            ..others.clone()
        };
        let error = page(&model, Some(&wrong), &|_| ()).unwrap_err().to_string();
        assert!(error.contains("3 inputs and 2 outputs"), "{error}");
    }
}

#[test]
fn next_samples_lie_where_the_interval_is_wide_and_apart() {
    let (_, content) = made(&process(1), None);
    let next = &content["next"];
    let widths: Vec<f64> = (next["widths"].as_array().unwrap().iter())
        .map(|widths| widths[0].as_f64().unwrap())
        .collect();
    assert!(
        widths.len() > 2 && widths.is_sorted_by(|a, b| a >= b),
        "{widths:?}"
    );
    for row in next["rows"].as_array().unwrap() {
        let second = row[1].as_f64().unwrap();
        assert!((1e3..=1040.0).contains(&second), "{second}");
        // So many decimals as a slider has, but at its ends.
        let ends = content["controls"][1]["range"].as_array().unwrap();
        assert!(
            ends.contains(&row[1])
                || (second * 100.0).fract().min(1.0 - (second * 100.0).fract()) < 1e-6,
            "{second}"
        );
    }
}

#[test]
fn columns_of_text_become_choices_between_levels() {
    let x = inputs(60);
    let levels = ["steel", "brass", "wood"].map(String::from);
    let codes: Vec<f64> = (0..60).map(|i| f64::from(i % 3)).collect();
    let columns = [
        Column::Numbers(x.col_as_slice(0)),
        Column::Text {
            levels: &levels,
            codes: &codes,
            levels_are: Levels::Found,
        },
    ];
    let names = ["angle", "material"].map(String::from);
    let encoding = Encoding::learn(&names, &columns, false);
    let encoded = encoding.apply(&columns).unwrap();
    let y = Mat::from_fn(60, 1, |i, _| x[(i, 0)] + codes[i]);
    let data = Dataset::new(encoded, y).unwrap();
    let data = data
        .with_names(encoding.inputs(), vec!["y".into()])
        .unwrap();
    let method = Method::named("gaussian-process").unwrap();
    let mut model = method.fit(&data, 1, &|_| Control::Continue).unwrap();
    model.set_encoding(encoding);
    let (_, content) = made(&model, Some(&rows(&data)));
    let controls = content["controls"].as_array().unwrap();
    assert_eq!(controls.len(), 2);
    // A column of text is one input: angle varies by 1/12 and the level by 2/3.
    let total = |k: usize| content["sensitivity"][0]["total"][k].as_f64().unwrap();
    assert_eq!(
        content["sensitivity"][0]["total"].as_array().unwrap().len(),
        2
    );
    assert!((total(1) - 8.0 / 9.0).abs() < 0.02 && (total(0) - 1.0 / 9.0).abs() < 0.02);
    let errors = content["sensitivity"][0]["errors"][1].as_array().unwrap();
    assert!(
        errors.iter().all(|error| error.as_f64().unwrap() < 0.1),
        "{errors:?}"
    );
    assert_eq!(
        (&controls[1]["name"], &controls[1]["first"]),
        (&"material".into(), &1.into())
    );
    let brass = controls[1]["levels"].as_array().unwrap();
    let brass = brass.iter().find(|level| level["name"] == "brass").unwrap();
    assert_eq!(brass["inputs"].as_array().unwrap().len(), 3);
    let ones = brass["inputs"].as_array().unwrap().iter();
    assert_eq!(ones.filter(|v| v.as_f64() == Some(1.0)).count(), 1);
}

#[test]
fn intervals_of_the_page_are_those_of_the_model() {
    let x = inputs(40);
    let rows: Vec<Vec<f64>> = x
        .row_iter()
        .map(|row| row.iter().copied().collect())
        .collect();
    let mut models: Vec<Predictor> = Activation::ALL.map(|a| network(a, 1)).into();
    models.extend([network(Activation::Fourier, 2), process(1), process(2)]);
    models.push(fit("kernel-ridge", serde_json::json!({}), 2));
    for model in models {
        let (page, content) = made(&model, None);
        let (_, after) = page.split_once("<script id=\"model\">").unwrap();
        let (script, _) = after.split_once("</script>").unwrap();
        let program = format!(
            "{script}{}
halfWidths({}, model, (work, done) => {{
  for (let next = work.next(); ; next = work.next()) if (next.done) return done(next.value);
}}, (half) => {{
  for (const row of {rows:?}) console.log([model(...row)].flat().concat(half(row, 1).map(([width]) => width)).join(' '));
}});",
            include_str!("page/interval.js"),
            content["uncertainty"]
        );
        let Some(found) = intervals::printed(&program) else {
            return;
        };
        let (f, interval) = (
            model.predict(x.as_ref()).unwrap(),
            model.interval(x.as_ref(), 0.8).unwrap(),
        );
        let c = f.ncols();
        assert_eq!(found.len(), 2 * 40 * c, "{}", model.kind());
        for (i, o) in (0..40 * c).map(|k| (k / c, k % c)) {
            let half = 0.5 * (interval.high[(i, o)] - interval.low[(i, o)]);
            let [value, width] = [found[2 * c * i + o], found[2 * c * i + c + o]];
            let kind = model.kind();
            assert!(
                (value - f[(i, o)]).abs() < 1e-9 * f.norm_max(),
                "{kind}: {value}"
            );
            // Two digits are shown; where neurons are alike, rounding leaves hardly more.
            assert!((width - half).abs() < 1e-3 * half, "{kind}: {width} {half}");
        }
    }
}

#[test]
fn proposals_are_values_that_a_column_has_and_places_where_the_model_is_less_sure() {
    let x = inputs(60);
    let x = Mat::from_fn(60, 2, |i, j| match j {
        0 => x[(i, 0)].powi(3),
        _ => [20.0, 35.0, 80.0][i % 3],
    });
    let y = Mat::from_fn(60, 1, |i, _| (9.0 * x[(i, 0)]).sin() + 0.01 * x[(i, 1)]);
    let data = Dataset::new(x, y).unwrap();
    let method = Method::named("gaussian-process").unwrap();
    let model = method.fit(&data, 1, &|_| Control::Continue).unwrap();
    let (_, content) = made(&model, Some(&rows(&data)));
    for line in content["thin"].as_array().unwrap() {
        assert!(!line.as_str().unwrap().starts_with("x2"), "{line}");
    }
    let next = &content["next"];
    assert_eq!(next["level"], 0.9);
    assert!(!next["rows"].as_array().unwrap().is_empty());
    for row in next["rows"].as_array().unwrap() {
        assert!(
            [20.0, 35.0, 80.0].contains(&row[1].as_f64().unwrap()),
            "{row}"
        );
    }
}

#[test]
fn a_page_whose_script_is_far_from_the_model_says_so_and_has_no_other_languages() {
    let x = Mat::from_fn(40, 2, |i, j| ((i * (7 + 4 * j)) % 41) as f64 / 41.0);
    let y = Mat::from_fn(40, 1, |i, _| (3.0 * x[(i, 0)]).sin() + x[(i, 1)]);
    let data = Dataset::new(x, y).unwrap();
    let method = Method::named("kernel-ridge").unwrap();
    let model = method.fit(&data, 1, &|_| Control::Continue).unwrap();
    let (_, content) = made(&model, Some(&rows(&data)));
    assert!(!content["languages"].as_array().unwrap().is_empty());
    // Two points in one place, whose coefficients cancel but for rounding.
    let mut json: serde_json::Value = serde_json::from_str(&model.to_json()).unwrap();
    for sign in [1.0, -1.0] {
        let point = json["body"]["points"][5].clone();
        json["body"]["points"].as_array_mut().unwrap().push(point);
        let coefficients = json["body"]["coefficients"].as_array_mut().unwrap();
        coefficients.push(serde_json::json!([sign * 1e15]));
    }
    let model = Predictor::from_json(&json.to_string(), Path::new("m.json")).unwrap();
    let (_, content) = made(&model, None);
    assert!(content["languages"].as_array().unwrap().is_empty());
    let words = content["words"].as_array().unwrap();
    assert!(
        words
            .iter()
            .any(|words| words.as_str().unwrap().contains("JavaScript"))
    );
}
