//! `thinfit suggest`.

use super::*;

/// A table of a number, a quantity, a text and an output that is least where the number is 2 and the text is `b`.
fn table() -> String {
    let mut text = String::from("a,mass,kind,y\n");
    for i in 0..40 {
        let (a, mass, kind) = (
            4.0 * ((i * 17) % 41) as f64 / 41.0,
            1 + i % 7,
            ["a", "b"][i % 2],
        );
        let noise = 0.1 * (((i * 37) % 11) as f64 / 11.0 - 0.5);
        let y =
            (a - 2.0).powi(2) + 0.01 * mass as f64 + if kind == "a" { 3.0 } else { 0.0 } + noise;
        text += &format!("{a},{mass} kg,{kind},{y}\n");
    }
    text
}

#[test]
fn suggested_rows_are_rows_of_the_users_table() {
    let folder = folder("suggest");
    write(&folder, "train.csv", table());
    succeed(
        &folder,
        &[
            "fit",
            "train.csv",
            "--target=y",
            "--method=gaussian-process",
            "-o=model.json",
            "-q",
        ],
    );
    let arguments = ["suggest", "model.json", "--rows=5"];
    let rows = succeed(&folder, &arguments);
    assert_eq!(rows.lines().next(), Some("a,mass,kind"));
    assert_eq!(rows.lines().count(), 6);
    assert_eq!(succeed(&folder, &arguments), rows);
    for line in rows.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        // As many digits as a person would set.
        assert!(cells[0].len() <= 8 && cells[1].len() <= 12, "{line}");
        assert!(
            (0.0..4.0).contains(&cells[0].parse::<f64>().unwrap()),
            "{line}"
        );
        assert!(
            cells[1].trim_matches('"').ends_with(" kg") && ["a", "b"].contains(&cells[2]),
            "{line}"
        );
    }
    // What was suggested can be predicted, and counts as planned.
    write(&folder, "next.csv", &rows);
    assert_eq!(
        succeed(&folder, &["predict", "model.json", "next.csv", "-q"])
            .lines()
            .count(),
        6
    );
    let more = succeed(&folder, &[&arguments[..], &["--add-to=next.csv"]].concat());
    assert_ne!(more, rows);
    // The least value, and ranges beyond those of the samples.
    let least = [
        "suggest",
        "model.json",
        "--rows=2",
        "--goal=minimum",
        "-t=y",
    ];
    let found = succeed(&folder, &least);
    let line = found.lines().nth(1).unwrap();
    let a: f64 = line.split(',').next().unwrap().parse().unwrap();
    assert!((1.5..2.5).contains(&a) && line.ends_with(",b"), "{line}");
    write(
        &folder,
        "ranges.toml",
        "a = { low = 5, high = 7, whole = true }\n",
    );
    let beyond = [&arguments[..], &["--ranges=ranges.toml"]].concat();
    for line in succeed(&folder, &beyond).lines().skip(1) {
        assert!(
            ["5", "6", "7"].contains(&line.split(',').next().unwrap()),
            "{line}"
        );
    }
}

#[test]
fn what_cannot_be_suggested_is_refused() {
    let folder = folder("suggest-errors");
    write(&folder, "train.csv", table());
    for (method, model) in [("gaussian-process", "model.json"), ("rff", "plain.json")] {
        let output = format!("-o={model}");
        let method = format!("--method={method}");
        succeed(
            &folder,
            &["fit", "train.csv", "--target=y", &method, &output, "-q"],
        );
    }
    write(&folder, "ranges.toml", "b = [1, 2]\n");
    write(&folder, "other.json", "{}");
    let message = fail(
        &folder,
        &["suggest", "other.json"],
        &[
            "other.json: expected a model",
            "give a model that thinfit wrote",
        ],
    );
    assert!(!message.contains("before the table"), "{message}");
    for (arguments, words) in [
        (
            &["plain.json"][..],
            &["networks made by `rff` have none"][..],
        ),
        (
            &["model.json", "--target=y"],
            &["--target", "remove --target"],
        ),
        (
            &["model.json", "--goal=maximum", "--target=z"],
            &["--target z", "choose one of y"],
        ),
        (
            &["model.json", "--ranges=ranges.toml"],
            &["`b`: expected an input of the model (a, mass, kind)"],
        ),
        (
            &["model.json", "-o=model.json"],
            &["choose another with --output"],
        ),
    ] {
        fail(&folder, &[&["suggest"], arguments].concat(), words);
    }
}
