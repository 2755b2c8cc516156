//! Every command on every kind of model and table: each combination either works or fails with an error listed here.
//!
//! A model is a line of [`MODELS`], a table one of [`TABLES`], a command one of [`COMMANDS`]. Each model is fitted once to each
//! table. Commands are tested pairwise: each meets every model, every table and both numbers of outputs, but not every triple of
//! them. `THINFIT_COMBINATIONS=all` runs all triples, 1,190 commands in place of 119.

use super::*;

/// A model: its name, and the options of a quick fit.
const MODELS: [(&str, &[&str]); 7] = [
    (
        "gft-r",
        &[
            "--method=gft-r",
            "--width=12",
            "--set=generate.steps=20",
            "--set=refine.steps=20",
            "--set=check_every=10",
            "--set=polish.steps=2",
            "--set=generator.hidden=[8]",
        ],
    ),
    ("random", &["--method=random", "--width=12"]),
    ("kernel-ridge", &["--method=kernel-ridge"]),
    (
        "gaussian-process",
        &[
            "--method=gaussian-process",
            "--set=starts=1",
            "--set=iterations=20",
        ],
    ),
    ("salsa", &["--method=salsa"]),
    ("auto", &["--budget=0.5"]),
    ("thin", &["--thin", "--budget=0.5"]),
];

/// What a table is called, and whether rows have missing values.
const TABLES: [(&str, bool); 5] = [
    ("plain", false),
    ("odd names", false),
    ("identifiers", false),
    ("categories", false),
    ("gaps", true),
];

/// Rows of every table.
const ROWS: usize = 40;

/// A command beside the model and, where it takes one, the table; and what its result is. A command that needs a table says so by
/// `{data}`. A model that refuses it is in [`refused`].
const COMMANDS: [(&[&str], Check); 17] = [
    (&["predict", "{model}", "{data}"], Check::Rows(0)),
    (&["predict", "{model}", "{data}", "--std"], Check::Rows(1)),
    (
        &["predict", "{model}", "{data}", "--interval=0.5"],
        Check::Rows(2),
    ),
    (
        &["predict", "{model}", "{data}", "--gradient"],
        Check::Slopes,
    ),
    (&["score", "{model}", "{data}", "--json"], Check::Json),
    (&["inspect", "{model}", "--features=0"], Check::Text),
    (
        &["plot", "{model}", "{data}", "-q", "-o", "figures"],
        Check::Text,
    ),
    (
        &["report", "{model}", "{data}", "-q", "-o", "page.html"],
        Check::Text,
    ),
    (
        &["export", "{model}", "--to=onnx", "-o", "m.onnx"],
        Check::Text,
    ),
    (&["export", "{model}", "--to=c", "-o", "m.c"], Check::Text),
    (
        &["export", "{model}", "--to=python", "-o", "m.py"],
        Check::Text,
    ),
    (&["export", "{model}", "--to=js", "-o", "m.js"], Check::Text),
    (
        &["export", "{model}", "--to=latex", "-o", "m.tex"],
        Check::Text,
    ),
    (&["inspect", "{model}", "{data}"], Check::Text),
    (&["minimise", "{model}"], Check::Text),
    (
        &["propagate", "{model}", "inputs.toml", "--rows=100"],
        Check::Text,
    ),
    (&["suggest", "{model}", "--rows=3"], Check::Text),
];

/// What a result is checked for.
#[derive(Clone, Copy)]
enum Check {
    /// A line per row, with so many numbers beside each prediction, all finite but in rows with gaps.
    Rows(usize),
    /// The same, with a number for each input.
    Slopes,
    /// An object without nulls in its scores.
    Json,
    /// It says something, and nothing that is not a number.
    Text,
}

/// The words in which a model refuses a command, if it does.
fn refused(model: &str, command: &[&str]) -> Option<&'static str> {
    let is = |word: &str| command.contains(&word);
    match model {
        "kernel-ridge" | "salsa" if is("--std") => Some("fit a Gaussian process"),
        _ => None,
    }
}

/// A table with this many outputs.
fn table(kind: &str, outputs: usize) -> String {
    let quoted = |name: &str| format!("\"{}\"", name.replace('"', "\"\""));
    let [a, b, y, z] = match kind {
        "odd names" => ["flow [m³/s]", "10\" pipe, inner", "Yield (%)", "it's <b>"],
        _ => ["a", "b", "y", "z"],
    };
    let mut header = vec![quoted(a), quoted(b)];
    header.extend(match kind {
        "identifiers" => vec!["sample".into()],
        "categories" => vec!["metal".into(), "load".into()],
        _ => Vec::new(),
    });
    header.extend([y, z].iter().take(outputs).map(|name| quoted(name)));
    let mut text = header.join(",") + "\n";
    let (x, f) = points(ROWS);
    for i in 0..ROWS {
        let gap = kind == "gaps" && i % 9 == 4;
        let second = if gap {
            String::new()
        } else {
            x[(i, 1)].to_string()
        };
        let mut cells = vec![x[(i, 0)].to_string(), second];
        let metal = ["steel", "brass", "alu"][(i * i + i / 3) % 3];
        cells.extend(match kind {
            "identifiers" => vec![format!("S-{i}")],
            "categories" => vec![metal.into(), ["low", "medium", "high"][i % 3].into()],
            _ => Vec::new(),
        });
        let y = f[(i, 0)]
            + if kind == "categories" {
                metal.len() as f64
            } else {
                0.0
            };
        let targets = [y, x[(i, 0)] - 2.0 * x[(i, 1)]];
        cells.extend(targets.iter().take(outputs).map(f64::to_string));
        text += &(cells.join(",") + "\n");
    }
    text
}

/// The names of the outputs of a table.
fn targets(kind: &str, outputs: usize) -> Vec<String> {
    let names = match kind {
        "odd names" => ["Yield (%)", "it's <b>"],
        _ => ["y", "z"],
    };
    let names = names.iter().take(outputs);
    names.map(|name| format!("--target={name}")).collect()
}

/// Checks what a command printed.
fn check(printed: &str, check: Check, outputs: usize, gaps: bool, what: &str) {
    let lacks_number = |text: &str| {
        let words = text.split(|c: char| !c.is_alphanumeric());
        words.into_iter().any(|word| word == "NaN" || word == "inf")
    };
    assert!(
        !printed.is_empty() && !lacks_number(printed),
        "{what}: {printed}"
    );
    let beside = match check {
        Check::Text => return,
        Check::Json => {
            let object: serde_json::Value = serde_json::from_str(printed).unwrap();
            let scores = object["scores"].as_array().into_iter().flatten();
            scores.for_each(|score| assert!(score["rmse"].is_number(), "{what}: {printed}"));
            return;
        }
        Check::Rows(beside) => Some(beside),
        Check::Slopes => None,
    };
    // A name may be quoted and have a comma in it; numbers are not.
    let lines: Vec<&str> = printed.lines().skip(1).collect();
    assert_eq!(lines.len(), ROWS, "{what}");
    let wide = lines[0].split(',').count();
    match beside {
        Some(beside) => assert_eq!(wide, outputs * (1 + beside), "{what}: {printed}"),
        None => assert!(
            wide >= 3 * outputs && wide.is_multiple_of(outputs),
            "{what}"
        ),
    }
    for (i, line) in lines.iter().enumerate() {
        let cells: Vec<&str> = line.split(',').collect();
        let empty = gaps && i % 9 == 4;
        assert_eq!(cells.len(), wide, "{what}: {line}");
        for cell in cells {
            let number = cell.parse::<f64>().is_ok_and(f64::is_finite);
            let fits = if empty {
                cell.trim_matches('"').is_empty()
            } else {
                number
            };
            assert!(fits, "{what}, row {i}: {line}");
        }
    }
}

/// Fits a model to a table of each kind, and runs its share of the commands on it, or all.
fn try_model(number: usize, all: bool) {
    let (model, options) = MODELS[number];
    let folder = folder(&format!("combinations-{model}"));
    let tables = TABLES.into_iter().enumerate();
    let cases = tables.flat_map(|(at, table)| [1, 2].map(|outputs| (at, table, outputs)));
    for (at, (kind, gaps), outputs) in cases {
        if !all && (number + at) % 2 != outputs - 1 {
            continue;
        }
        write(&folder, "data.csv", table(kind, outputs));
        let first = if kind == "odd names" {
            "flow [m³/s]"
        } else {
            "a"
        };
        write(
            &folder,
            "inputs.toml",
            format!("\"{first}\" = [0.2, 0.8]\n"),
        );
        let targets = targets(kind, outputs);
        let targets: Vec<&str> = targets.iter().map(String::as_str).collect();
        let fit = [&["fit", "data.csv", "-q"], &targets[..], options].concat();
        let missing = if gaps { &["--missing=mean"][..] } else { &[] };
        let report = succeed(&folder, &[&fit[..], missing].concat());
        assert!(report.contains("fitted"), "{model}, {kind}: {report}");
        for (place, (command, result)) in COMMANDS.into_iter().enumerate() {
            if !all && (number + place) % TABLES.len() != at {
                continue;
            }
            let takes_table = command.contains(&"{data}");
            let fill = |word: &&'static str| match *word {
                "{model}" => "model.json",
                "{data}" => "data.csv",
                word => word,
            };
            let mut words: Vec<&str> = command.iter().map(fill).collect();
            if gaps && takes_table {
                words.push("--missing=drop");
            }
            let what = format!("{model}, {kind}, {outputs} outputs, {command:?}");
            match refused(model, command) {
                Some(said) => {
                    fail(&folder, &words, &[said]);
                }
                None => check(&succeed(&folder, &words), result, outputs, gaps, &what),
            }
        }
        if kind == "plain" {
            check(
                &succeed(&folder, &["inspect", "model.json", "--json"]),
                Check::Json,
                1,
                false,
                model,
            );
        }
        if gaps {
            let filled = ["predict", "model.json", "data.csv", "--missing=mean"];
            let filled = succeed(&folder, &filled);
            check(&filled, Check::Rows(0), outputs, false, "means");
            let scored = [
                "score",
                "model.json",
                "data.csv",
                "--missing=mean",
                "--json",
            ];
            check(
                &succeed(&folder, &scored),
                Check::Json,
                outputs,
                false,
                "means",
            );
        }
        // What is kept stands beside the prediction of its row.
        let first = match kind {
            "odd names" => "flow [m³/s]",
            _ => "a",
        };
        let keep = format!("--keep={first}");
        let kept = ["predict", "model.json", "data.csv", &keep, "--missing=drop"];
        let kept = succeed(&folder, &kept);
        let (x, _) = points(ROWS);
        for (i, line) in kept.lines().skip(1).enumerate() {
            assert!(
                line.starts_with(&format!("{},", x[(i, 0)])),
                "{model}, {kind}: {line}"
            );
        }
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn every_command_works_on_every_model_and_on_every_table() {
    let all = std::env::var_os("THINFIT_COMBINATIONS").is_some_and(|which| which == "all");
    std::thread::scope(|scope| {
        for number in 0..MODELS.len() {
            scope.spawn(move || try_model(number, all));
        }
    });
}

#[test]
fn methods_compare_on_tables_of_every_kind() {
    let folder = folder("combinations-compare");
    for (kind, gaps) in TABLES {
        write(&folder, "data.csv", table(kind, 2));
        let targets = targets(kind, 2);
        let targets: Vec<&str> = targets.iter().map(String::as_str).collect();
        let methods = "--methods=kernel-ridge,rff";
        let compare = ["compare", "data.csv", "-q", "--folds=2", methods];
        let missing = if gaps { &["--missing=drop"][..] } else { &[] };
        let printed = succeed(&folder, &[&compare, &targets[..], missing].concat());
        check(&printed, Check::Text, 2, gaps, kind);
    }
}
