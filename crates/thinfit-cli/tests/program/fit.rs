//! `thinfit fit`, `score` and the settings.

use super::*;

#[test]
fn a_fit_is_that_of_the_library_to_the_last_bit() {
    let folder = fitted("fit-bits");
    assert_eq!(
        read(&folder, "model.json"),
        fitted_by_the_library(80, None).to_json()
    );
}

#[test]
fn a_fit_ends_by_saying_how_good_it_is_and_what_to_do_next() {
    let folder = folder("fit-report");
    write(&folder, "train.csv", csv(80));
    let report = succeed(
        &folder,
        &with_short(&[
            "fit",
            "train.csv",
            "--target",
            "y",
            "--inputs",
            "a,b",
            "-o",
            "m.json",
        ]),
    );
    for words in [
        "80 samples",
        "8 held-out rows",
        "this model",
        "linear fit",
        "predicting the mean",
        "wrote m.json",
        "thinfit inspect m.json",
        "thinfit predict m.json",
    ] {
        assert!(report.contains(words), "`{words}` is missing in\n{report}");
    }
    assert_eq!(files(&folder), ["m.json", "train.csv"]);
}

#[test]
fn json_is_one_object_and_nothing_else() {
    let folder = folder("fit-json");
    write(&folder, "train.csv", csv(60));
    let fit = with_short(&["fit", "train.csv", "--target=y", "--drop=name", "--json"]);
    let output = thinfit(&folder, &fit);
    assert_eq!(text(&output.stderr), "");
    let result: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(result["model"], "model.json");
    assert_eq!(result["samples"], 60);
    assert!(result["validation"]["mse"][0].as_f64().unwrap() >= 0.0);
    let score = succeed(&folder, &["score", "model.json", "train.csv", "--json"]);
    let score: serde_json::Value = serde_json::from_str(&score).unwrap();
    assert_eq!(score["rows"], 60);
}

#[test]
fn score_equals_the_error_of_the_library() {
    let folder = fitted("score");
    let (x, y) = points(80);
    let error = fitted_by_the_library(80, None).predict(x.as_ref()).unwrap() - &y;
    let mse = error.squared_norm_l2() / 80.0;
    let score = succeed(
        &folder,
        &[
            "score",
            "model.json",
            "train.csv",
            "--target",
            "y",
            "--json",
        ],
    );
    let score: serde_json::Value = serde_json::from_str(&score).unwrap();
    let found = score["scores"][0]["mse"].as_f64().unwrap();
    assert!((found - mse).abs() <= 1e-12 * mse, "{found} {mse}");
    let mean = y.col_as_slice(0).iter().sum::<f64>() / 80.0;
    let variance = y
        .col_as_slice(0)
        .iter()
        .map(|v| (v - mean).powi(2))
        .sum::<f64>()
        / 80.0;
    let r2 = score["scores"][0]["r2"].as_f64().unwrap();
    assert!((r2 - (1.0 - mse / variance)).abs() < 1e-12);
    let table = succeed(&folder, &["score", "model.json", "train.csv"]);
    assert!(
        table.contains("rmse") && table.ends_with(" 80\n"),
        "{table}"
    );
}

#[test]
fn the_command_line_wins_over_the_file_and_the_file_over_the_preset() {
    let folder = folder("settings");
    write(&folder, "train.csv", csv(60));
    write(
        &folder,
        "fit.toml",
        "data = 'train.csv'\ntarget = 'y'\ndrop = ['name']\noutput = 'from-file.json'\nquiet = true\n\
         width = 9\nseed = 3\nmethod = 'f-opt'\nlambda = 1e-3\n[direct]\nsteps = 30\n[polish]\nsteps = 0\n",
    );
    succeed(
        &folder,
        &[
            "fit",
            "--config",
            "fit.toml",
            "--width",
            "7",
            "--set",
            "direct.rate=0.01",
            "--set",
            "ridge.absolute=1e-6",
        ],
    );
    let config = Model::load(folder.join("from-file.json"))
        .unwrap()
        .header
        .record
        .config
        .unwrap();
    assert_eq!((config.width, config.seed, config.direct.steps), (7, 3, 30));
    assert_eq!((config.direct.rate, config.scale), (0.01, 0.05));
    assert_eq!(config.training, thinfit::Training::Direct);
    assert_eq!(config.ridge, thinfit::Ridge::Absolute(1e-6));
}

#[test]
fn a_fit_of_the_paper_preset_predicts_the_same_after_loading() {
    let folder = folder("paper");
    write(&folder, "train.csv", csv(60));
    let few = [
        "--set=generate.steps=3",
        "--set=refine.steps=3",
        "--set=generator.hidden=[32]",
        "-q",
    ];
    let fit = [
        "fit",
        "train.csv",
        "--target=y",
        "--drop=name",
        "--preset=paper",
    ];
    succeed(&folder, &[&fit[..], &few].concat());
    let mut config = Config::paper();
    config.generate.steps = 3;
    config.refine.steps = 3;
    config.generator.hidden = vec![32];
    let (x, y) = points(60);
    let data = Dataset::new(x.clone(), y).unwrap();
    let model = thinfit::fit(&data, &config, &|_| Control::Continue).unwrap();
    let loaded = Model::load(folder.join("model.json")).unwrap();
    assert_eq!(
        loaded.predict(x.as_ref()).unwrap(),
        model.predict(x.as_ref()).unwrap()
    );
}

#[test]
fn weights_count_rows() {
    let folder = folder("weights");
    let (x, y) = points(60);
    let row = |i: usize| format!("{},{},{},{}\n", x[(i, 0)], x[(i, 1)], y[(i, 0)], 1 + i % 2);
    write(
        &folder,
        "w.csv",
        format!("a,b,y,w\n{}", (0..60).map(row).collect::<String>()),
    );
    succeed(
        &folder,
        &with_short(&["fit", "w.csv", "--target=y", "--weights=w"]),
    );
    let model = Model::load(folder.join("model.json")).unwrap();
    assert_eq!(model.inputs, ["a", "b"]);
    let weights = (0..60).map(|i| f64::from(1 + i % 2)).collect();
    let weighted = fitted_by_the_library(60, Some(weights));
    let plain = fitted_by_the_library(60, None);
    assert_eq!(model.to_json(), weighted.to_json());
    assert_ne!(model.scaled_output(), plain.scaled_output());
}

#[test]
fn several_targets_share_a_model() {
    let folder = folder("targets");
    write(&folder, "train.csv", csv(80));
    succeed(
        &folder,
        &with_short(&["fit", "train.csv", "--target=y,b", "--inputs=a"]),
    );
    let predicted = succeed(&folder, &["predict", "model.json", "train.csv"]);
    assert!(predicted.starts_with("y,b\n"), "{predicted}");
    let score = succeed(&folder, &["score", "model.json", "train.csv"]);
    assert_eq!(score.lines().count(), 3, "{score}");
}

#[test]
fn wrong_options_are_errors_that_say_what_to_do() {
    let folder = folder("fit-errors");
    write(&folder, "train.csv", csv(40));
    write(&folder, "bad.toml", "width = 'many'\n");
    write(&folder, "typo.toml", "widht = 10\n");
    write(&folder, "broken.toml", "width = = 3\n");
    write(&folder, "dots.toml", "delimiter = '...'\n");
    let fit = ["fit", "train.csv", "--target", "y", "--drop", "name"];
    let with = |more: &[&'static str]| [&fit[..], more].concat();
    fail(
        &folder,
        &["fit", "train.csv"],
        &["--target", "a, name, b, y"],
    );
    fail(&folder, &["fit", "--target", "y"], &["which table"]);
    fail(
        &folder,
        &["fit", "train.csv", "--target", "z"],
        &["`z`", "a, name, b, y"],
    );
    fail(
        &folder,
        &["fit", "none.csv", "--target", "y"],
        &["none.csv"],
    );
    fail(
        &folder,
        &["fit", "train.csv", "--target", "name"],
        &["train.csv:2", "`name`", "not numbers"],
    );
    fail(&folder, &with(&["--inputs", "a,y"]), &["`y`", "twice"]);
    fail(
        &folder,
        &with(&["--drop", "y"]),
        &["`y`", "--drop", "--target"],
    );
    fail(&folder, &with(&["--weights", "y"]), &["`y`", "twice"]);
    fail(&folder, &with(&["--config", "bad.toml"]), &["width"]);
    fail(&folder, &with(&["--config", "typo.toml"]), &["widht"]);
    fail(
        &folder,
        &with(&["--config", "broken.toml"]),
        &["broken.toml"],
    );
    fail(
        &folder,
        &with(&["--config", "absent.toml"]),
        &["absent.toml"],
    );
    fail(&folder, &with(&["--lambda", "much"]), &["auto"]);
    fail(&folder, &with(&["--width", "0"]), &["width", "1 to 10000"]);
    fail(&folder, &with(&["--set", "polish"]), &["KEY=VALUE"]);
    fail(&folder, &with(&["--set", "polish.stepps=3"]), &["stepps"]);
    fail(
        &folder,
        &with(&["-o", "no/such/folder/m.json"]),
        &["no/such/folder", "-o"],
    );
    fail(
        &folder,
        &with(&["-o", "train.csv"]),
        &["train.csv", "something else"],
    );
    fail(
        &folder,
        &with(&["--checkpoint", "model.json", "-o", "./model.json"]),
        &["something else"],
    );
    fail(&folder, &with(&["--config", "dots.toml"]), &["--delimiter"]);
    fail(
        &folder,
        &with(&["--resume", "absent.state"]),
        &["absent.state"],
    );
    let output = thinfit(&folder, &with(&["--method", "magic"]));
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("gft-r"));
    assert_eq!(thinfit(&folder, &["fitt"]).status.code(), Some(2));
}

#[test]
fn a_constant_target_is_named() {
    let folder = folder("constant");
    let lines: String = (0..40).map(|i| format!("{},2.5\n", i * 17 % 40)).collect();
    write(&folder, "flat.csv", format!("x,y\n{lines}"));
    let report = succeed(&folder, &with_short(&["fit", "flat.csv", "--target", "y"]));
    assert!(report.contains("y is constant in all samples"), "{report}");
    assert!(!report.contains("noisy"), "{report}");
}

#[test]
fn a_gpu_that_is_asked_for_and_not_there_is_an_error() {
    let folder = folder("fit-device");
    write(&folder, "train.csv", csv(80));
    let fit = |words: &[&str]| {
        let words = with_short(&[&["fit", "train.csv", "--target=y"], words].concat());
        let mut program = program(&folder, &words);
        program.env("CUDA_VISIBLE_DEVICES", "-1").output().unwrap()
    };
    let output = fit(&["--device=cuda"]);
    let told = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{told}");
    for word in ["cuda: ", "NVIDIA driver", "use device cpu"] {
        assert!(told.contains(word), "`{word}` is missing in: {told}");
    }
    assert_eq!(files(&folder), ["train.csv"]);
    // Without a word on the device, or with `auto`, it is the processor.
    let model = |words: &[&str]| {
        let output = fit(words);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        // Columns that are left out are named, also where nothing else is said.
        let told = text(&output.stderr);
        assert!(
            !told.contains("cuda") && told.lines().count() <= 1,
            "{told}"
        );
        read(&folder, "model.json")
    };
    let expected = model(&["--device=cpu"]);
    assert_eq!(model(&[]), expected);
    assert_eq!(model(&["--device=auto"]), expected);
    assert!(!expected.contains("\"device\""));
    let summary: serde_json::Value = serde_json::from_slice(&fit(&["--json"]).stdout).unwrap();
    assert_eq!(summary["device"], "cpu");
    let other = ["fit", "train.csv", "--target=y", "--method=rff"];
    let words = ["`device`", "`rff`", "gft-r"];
    fail(&folder, &[&other[..], &["--device=cuda"]].concat(), &words);
    fail(
        &folder,
        &[&other[..], &["--device=gpu"]].concat(),
        &["cuda"],
    );
    write(&folder, "fit.toml", "device = \"gpu\"\n");
    let words = ["`device`", "`gpu`", "cpu, cuda, auto"];
    fail(
        &folder,
        &[&other[..], &["--config=fit.toml"]].concat(),
        &words,
    );
}

#[test]
fn means_fill_inputs_and_never_what_is_learned() {
    let folder = folder("fit-means");
    let rows = (0..40).map(|i| {
        let x = f64::from(i) / 40.0;
        let (a, y) = (x.to_string(), (x * x).to_string());
        let level = if i % 2 == 0 { "steel" } else { "brass" };
        match i {
            3 => format!(",{level},{y}\n"),
            7 => format!("{a},NA,{y}\n"),
            5 | 11 => format!("{a},{level},\n"),
            _ => format!("{a},{level},{y}\n"),
        }
    });
    write(
        &folder,
        "gaps.csv",
        format!("a,metal,y\n{}", rows.collect::<String>()),
    );
    let fit = [
        "fit",
        "gaps.csv",
        "--target=y",
        "--missing=mean",
        "--set=budget=1",
    ];
    let report = succeed(&folder, &fit);
    let gaps =
        " samples (2 rows with missing values dropped, 2 missing values replaced by means or";
    assert!(report.contains(gaps), "{report}");
    // What it says to do next works.
    assert!(
        report.contains("thinfit plot model.json gaps.csv --missing drop"),
        "{report}"
    );
    succeed(
        &folder,
        &[
            "plot",
            "model.json",
            "gaps.csv",
            "--missing",
            "drop",
            "--out=figures",
        ],
    );
}

#[test]
fn only_a_model_replaces_a_model_and_a_state_a_state() {
    let folder = fitted("replaced");
    let fit = with_short(&["fit", "train.csv", "--target=y", "--drop=name"]);
    let other = "t,u\n1,2\n";
    write(&folder, "other.csv", other);
    for (more, found) in [
        (["-o=other.csv", "--json"], "not a model"),
        (["-o=n.json", "--checkpoint=other.csv"], "not the state"),
        (["-o=n.json", "--checkpoint=model.json"], "not the state"),
    ] {
        let words = [&fit[..], &more].concat();
        fail(&folder, &words, &[found, "not overwritten"]);
    }
    assert_eq!(read(&folder, "other.csv"), other);
    write(&folder, "new.json", "");
    for _ in 0..2 {
        succeed(
            &folder,
            &[&fit[..], &["-o", "new.json", "--checkpoint=fit.state"]].concat(),
        );
    }
    let state = [&fit[..], &["-o", "fit.state"]].concat();
    fail(&folder, &state, &["fit.state", "not overwritten"]);
}

#[test]
fn a_fit_names_the_random_features_that_won_and_the_error_of_the_pure_method() {
    let folder = folder("fit-winner");
    write(&folder, "train.csv", csv(80));
    let fit = [
        "fit",
        "train.csv",
        "--target=y",
        "--inputs=a,b",
        "--method=gft-r",
        "--width=12",
        "--set=generate.steps=20",
        "--set=refine.steps=20",
        "-q",
    ];
    let report = succeed(&folder, &fit);
    for words in [
        "gft-r without polish  ",
        "selected by validation: polished random features of scale ",
        ", not those of gft-r",
    ] {
        assert!(report.contains(words), "`{words}` is missing in\n{report}");
    }
    let json = succeed(&folder, &[&fit[..], &["--json"]].concat());
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["selection"]["winner"], "polished_random");
    let pure = json["selection"]["trained_mse"][0].as_f64().unwrap();
    assert!(pure > json["validation"]["mse"][0].as_f64().unwrap());
    let plain = succeed(&folder, &[&fit[..], &["--set=polish.steps=0"]].concat());
    assert!(!plain.contains("polish"), "{plain}");
}

#[test]
fn outputs_of_two_values_and_of_text_get_help() {
    let folder = folder("fit-classes");
    let rows = |of: [&str; 2]| -> String {
        let row = |i: usize| format!("{}.5,{}\n", i, of[i % 2]);
        (0..30).map(row).collect()
    };
    let fit = ["fit", "a.csv", "--target=y", "--budget=0.5", "-q"];
    write(&folder, "a.csv", format!("x,y\n{}", rows(["0", "1"])));
    let output = thinfit(&folder, &fit);
    let said = text(&output.stderr);
    let count = said.matches("`y` has two values, 0 and 1: ").count();
    assert_eq!(count, 1, "{said}");
    assert!(said.contains("not probabilities"), "{said}");
    std::fs::remove_file(folder.join("model.json")).unwrap();
    write(&folder, "a.csv", format!("x,y\n{}", rows(["no", "yes"])));
    let words = ["thinfit does not classify", "encode two classes as 0 and 1"];
    fail(&folder, &fit, &words);
}
