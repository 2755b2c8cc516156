//! A typical laboratory table, with text, units, dates and sample numbers, is fitted as it is.

use super::*;

const METHOD: &str = "--method=kernel-ridge-validated";

/// A line of the table for sample `i` of `material`.
fn line(i: usize, material: &str) -> String {
    let load = ["low", "high", "medium"][i % 3];
    let (t, length) = ((i * 37 % 61) as f64, (i * 17 % 53) as f64 / 4.0);
    let coating = ["none", "zinc"][(i / 2) % 2];
    let remark = if i.is_multiple_of(9) {
        format!("odd, see {i}")
    } else {
        String::new()
    };
    let y = material.len() as f64 + [0.0, 2.0, 1.0][i % 3] + (t / 30.0).sin() + 0.1 * length;
    let day = 1 + i % 28;
    format!(
        "{i},2024-03-{day:02} 14:30,S-{i},{material},{load},{t},{length} mm,{coating},{},\"{remark}\",{y}\n",
        i.is_multiple_of(5)
    )
}

fn table(rows: usize) -> String {
    let materials = ["steel", "alu", "titanium", "steel"];
    let lines = (0..rows).map(|i| line(i, materials[(i * i + i / 3) % 4]));
    format!(
        "Nr,date,sample,material,load,t,length,coating,checked,remark,y\n{}",
        lines.collect::<String>()
    )
}

/// A folder with lab.csv and a model.json fitted to it.
fn laboratory(name: &str) -> PathBuf {
    let folder = folder(name);
    write(&folder, "lab.csv", table(60));
    succeed(&folder, &["fit", "lab.csv", "--target=y", METHOD]);
    folder
}

#[test]
fn the_program_says_what_became_of_each_column_and_the_model_knows() {
    let folder = folder("laboratory");
    write(&folder, "lab.csv", table(60));
    let output = thinfit(&folder, &["fit", "lab.csv", "--target=y", METHOD]);
    let said = text(&output.stderr);
    let notes = [
        "Nr: ignored, it numbers the rows",
        "date: ignored, it holds dates or times",
        "sample: ignored, it is different in nearly every row, like an identifier",
        "material: text with 3 levels (alu, steel, titanium), one input each",
        "load: text with 3 levels in order (low < medium < high), one input from 0 to 1",
        "length: text, read as numbers in mm",
        "coating: text with 2 levels (none, zinc), one input that is 1 for zinc",
        "remark: ignored, it is empty in most rows",
    ];
    let inspected = succeed(&folder, &["inspect", "model.json"]);
    for note in notes {
        assert!(said.contains(&format!("{note}\n")), "{note}: {said}");
        assert!(
            inspected.contains(&format!("{note}\n")),
            "{note}: {inspected}"
        );
    }
    let inspected = succeed(&folder, &["inspect", "model.json", "--json"]);
    let inspected: serde_json::Value = serde_json::from_str(&inspected).unwrap();
    let inputs = [
        "material=alu",
        "material=steel",
        "material=titanium",
        "load",
        "t",
        "length",
        "coating=zinc",
        "checked",
    ];
    assert_eq!(inspected["inputs"], serde_json::json!(inputs));
    let score = succeed(&folder, &["score", "model.json", "lab.csv", "--json"]);
    let score: serde_json::Value = serde_json::from_str(&score).unwrap();
    assert!(score["scores"][0]["r2"].as_f64().unwrap() > 0.99, "{score}");
}

#[test]
fn a_network_of_text_predicts_plots_and_exports() {
    let folder = folder("laboratory-network");
    write(&folder, "lab.csv", table(60));
    succeed(&folder, &with_short(&["fit", "lab.csv", "--target=y"]));
    let (_, rows) = numbers(&succeed(
        &folder,
        &[
            "predict",
            "model.json",
            "lab.csv",
            "--keep=t,y",
            "--gradient",
        ],
    ));
    assert_eq!((rows.len(), rows[0].len()), (60, 2 + 1 + 8));
    assert_eq!(rows[1][0], 37.0);
    let pictures = succeed(
        &folder,
        &["plot", "model.json", "lab.csv", "--out=pictures"],
    );
    assert!(pictures.contains("effects.svg"), "{pictures}");
    succeed(
        &folder,
        &["export", "model.json", "--to=c", "-o", "model.c"],
    );
}

#[test]
fn prediction_needs_only_the_columns_that_are_used_in_any_order() {
    let folder = laboratory("laboratory-order");
    let whole = succeed(&folder, &["predict", "model.json", "lab.csv"]);
    let table = table(60);
    let pick = |line: &str| {
        let fields: Vec<&str> = line.split(',').collect();
        format!(
            "{}\n",
            [8, 7, 6, 5, 4, 3].map(|j: usize| fields[j]).join(";")
        )
    };
    let picked: String = table.lines().map(pick).collect();
    write(&folder, "few.csv", picked);
    assert_eq!(
        succeed(&folder, &["predict", "model.json", "few.csv"]),
        whole
    );
}

#[test]
fn what_the_samples_did_not_hold_is_an_error_with_its_line() {
    let folder = laboratory("laboratory-unseen");
    let head = table(0);
    for (file, line, words) in [
        (
            "level.csv",
            line(7, "wood"),
            "level.csv:2: column `material`: expected one of alu, steel, titanium, as in the samples, found `wood`",
        ),
        (
            "unit.csv",
            line(7, "alu").replace(" mm", " cm"),
            "unit.csv:2: column `length`: expected a number with the unit mm",
        ),
        (
            "number.csv",
            line(7, "17"),
            "number.csv:2: column `material`: expected one of alu, steel, titanium, as in the samples, found `17`",
        ),
        (
            "word.csv",
            line(7, "alu").replace(",15,", ",warm,"),
            "word.csv:2: column `t` is `warm`, not a number",
        ),
        (
            "gap.csv",
            line(7, ""),
            "gap.csv:2: column `material` has no value",
        ),
    ] {
        write(&folder, file, format!("{head}{line}"));
        fail(&folder, &["predict", "model.json", file], &[words]);
        fail(&folder, &["score", "model.json", file], &[words]);
    }
    // A row without its text has no prediction, but its line.
    write(
        &folder,
        "gap.csv",
        format!("{head}{}{}", line(7, ""), line(8, "alu")),
    );
    let predict = ["predict", "model.json", "gap.csv", "--missing=drop"];
    let predicted = succeed(&folder, &predict);
    let lines: Vec<&str> = predicted.lines().collect();
    assert_eq!((lines.len(), lines[1]), (3, "\"\""));
    // An input of text can stand beside its prediction.
    let kept = [
        "predict",
        "model.json",
        "gap.csv",
        "--keep=material",
        "--missing=drop",
    ];
    assert!(succeed(&folder, &kept).starts_with("material,y\n,\nalu,"));
    // One message has all texts that the samples did not hold, and what was meant.
    write(
        &folder,
        "levels.csv",
        format!("{head}{}{}", line(7, "wood"), line(8, "Alu")),
    );
    fail(
        &folder,
        &["predict", "model.json", "levels.csv"],
        &[
            "2 problems",
            "levels.csv:2",
            "`wood`",
            "levels.csv:3",
            "did you mean `alu`?",
        ],
    );
}

#[test]
fn missing_text_follows_the_rule_for_missing_values() {
    let folder = folder("laboratory-missing");
    let gap = table(60) + &line(60, "");
    write(&folder, "gap.csv", gap);
    let fit = ["fit", "gap.csv", "--target=y", METHOD];
    fail(
        &folder,
        &fit,
        &[
            "gap.csv:62: column `material` has no value",
            "--missing drop",
        ],
    );
    for (missing, samples) in [
        ("--missing=drop", "60 samples"),
        ("--missing=mean", "61 samples"),
    ] {
        let report = succeed(&folder, &[&fit[..], &[missing]].concat());
        assert!(report.contains(samples), "{report}");
    }
}

#[test]
fn inputs_that_are_named_are_used_or_refused() {
    let folder = folder("laboratory-named");
    write(&folder, "lab.csv", table(60));
    for column in ["date", "sample"] {
        let inputs = format!("--inputs=t,{column}");
        let refused = format!("`{column}` cannot be an input");
        let fit = ["fit", "lab.csv", "--target=y", METHOD, &inputs];
        fail(&folder, &fit, &[&refused, "--inputs", "number"]);
    }
    let inputs = "--inputs=material,Nr";
    let fit = ["fit", "lab.csv", "--target=y", METHOD, inputs, "--json"];
    let report = succeed(&folder, &fit);
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    let inputs = ["material=alu", "material=steel", "material=titanium", "Nr"];
    assert_eq!(report["inputs"], serde_json::json!(inputs));
}

#[test]
fn a_column_that_numbers_the_rows_is_named_and_left_out() {
    let folder = folder("laboratory-runs");
    let line = |i: usize| {
        let t = (i * 7 % 20) as f64;
        format!("{},{t},{}\n", i + 1, t * t)
    };
    let lines: String = (0..20).map(line).collect();
    write(&folder, "runs.csv", format!("Run,t,y\n{lines}"));
    let fit = ["fit", "runs.csv", "--target=y", METHOD];
    let said = text(&thinfit(&folder, &fit).stderr);
    let note = "Run: ignored, it numbers the rows";
    assert!(said.contains(note), "{said}");
    assert!(succeed(&folder, &["inspect", "model.json"]).contains(note));
    // It is the input of a series that has no other.
    let series = [&fit[..], &["--drop=t", "--json"]].concat();
    let report: serde_json::Value = serde_json::from_str(&succeed(&folder, &series)).unwrap();
    assert_eq!(report["inputs"], serde_json::json!(["Run"]));
}

#[test]
fn a_table_of_numbers_leaves_no_encoding_in_the_file() {
    let folder = fitted("laboratory-numbers");
    assert!(!read(&folder, "model.json").contains("encoding"));
}
