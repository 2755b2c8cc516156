//! Model files from strangers: every text of a model set to each of many payloads, exported, compiled, run and opened. No
//! payload may run, and what is computed are the predictions.

use super::*;
use std::collections::{BTreeMap, BTreeSet};
use thinfit::{Candidate, Column, Diagnosis, Encoding, Levels, Tried};
use thinfit_methods::Method;
use thinfit_text::is_hidden;

/// The payloads, one JSON string per line; those that do something make the file `@MARK@`.
const PAYLOADS: &str = include_str!("payloads.txt");

fn payloads(mark: &Path) -> Vec<String> {
    let mark = mark.to_str().unwrap();
    let payload = |line: &str| serde_json::from_str::<String>(line).unwrap();
    let lines = PAYLOADS.lines().map(payload);
    lines.map(|text| text.replace("@MARK@", mark)).collect()
}

/// The place to evaluate at.
const ROW: [f64; 3] = [0.3, 0.7, 0.1];

/// Small models of either kind, with texts wherever there can be some, and with an encoding or without one.
fn small() -> Vec<Predictor> {
    let x = Mat::from_fn(30, 3, |i, j| {
        ((i + 1) as f64 * [0.618, 0.755, 0.57][j]).fract()
    });
    let y = Mat::from_fn(30, 1, |i, _| {
        (3.0 * x[(i, 0)]).sin() + x[(i, 1)] * x[(i, 2)]
    });
    let levels = ["low", "high"].map(String::from);
    let units = ["1 mm", "2 mm"].map(String::from);
    let codes: Vec<f64> = (0..30).map(|i| f64::from(i % 2)).collect();
    let column = |levels| Column::Text {
        levels,
        codes: &codes,
        levels_are: Levels::Found,
    };
    let kinds = ["a", "b"].map(String::from);
    let columns = [
        column(&levels),
        column(&units),
        column(&kinds),
        Column::Dates,
    ];
    let names = ["level", "length", "kind", "day"].map(String::from);
    let encoding = Encoding::learn(&names, &columns, false);
    let data = Dataset::new(x, y).unwrap();
    let data = data
        .with_names(encoding.inputs(), vec!["y".into()])
        .unwrap();
    let mut models = Vec::new();
    for (method, settings) in [
        ("random", serde_json::json!({ "width": 4 })),
        (
            "gaussian-process",
            serde_json::json!({ "least_noise": 0.1 }),
        ),
    ] {
        let method = Method::named(method).unwrap();
        let method = method.changed(settings.as_object().unwrap()).unwrap();
        let mut model = method.fit(&data, 1, &|_| Control::Continue).unwrap();
        let record = match &mut model {
            Predictor::Network(model) => &mut model.record,
            Predictor::Kernel(model) => &mut model.record,
        };
        record.device = Some("a GPU".into());
        record.chosen_by = Some("likelihood".into());
        record.settings = Some(serde_json::json!({ "kernel": "gaussian", "more": ["words"] }));
        record.diagnosis = Some(Diagnosis {
            tried: vec![Tried {
                candidate: Candidate::Matern,
                mse: vec![1.0],
                of_part: false,
            }],
            ..Diagnosis::default()
        });
        models.push(model.clone());
        model.set_encoding(encoding.clone());
        models.push(model);
    }
    models
}

/// A model file in which a text is another one: the value at a pointer, or a name among the settings, which anyone may give.
fn changed(json: &serde_json::Value, place: &str, payload: &str) -> serde_json::Value {
    let mut changed = json.clone();
    match place.strip_prefix("name of ") {
        None => *changed.pointer_mut(place).unwrap() = payload.into(),
        Some(name) => {
            let settings = changed.pointer_mut("/record/settings").unwrap();
            let settings = settings.as_object_mut().unwrap();
            let value = settings.remove(name).unwrap();
            settings.insert(payload.into(), value);
        }
    }
    changed
}

/// Pointers to all texts in a JSON value.
fn texts(value: &serde_json::Value, at: &str, found: &mut Vec<String>) {
    match value {
        serde_json::Value::String(_) => found.push(at.into()),
        serde_json::Value::Array(values) => {
            let values = values.iter().enumerate();
            values.for_each(|(i, value)| texts(value, &format!("{at}/{i}"), found));
        }
        serde_json::Value::Object(fields) => {
            let fields = fields.iter();
            fields.for_each(|(key, value)| texts(value, &format!("{at}/{key}"), found));
        }
        _ => {}
    }
}

/// The commands in a fragment of LaTeX.
fn commands(text: &str) -> BTreeSet<String> {
    let after = text.split('\\').skip(1);
    let command = |rest: &str| -> String {
        let letters: String = rest.chars().take_while(char::is_ascii_alphabetic).collect();
        match letters.is_empty() {
            true => rest.chars().take(1).collect(),
            false => letters,
        }
    };
    after.map(command).collect()
}

/// Checks a fragment of LaTeX against that of the model without a payload.
fn check_latex(text: &str, plain: &str, payload: &str) {
    let escapes = "textbackslash textasciitilde textasciicircum & % $ # _ { }";
    let known: BTreeSet<String> = escapes.split(' ').map(String::from).collect();
    let known = &known | &commands(plain);
    let found = commands(text);
    assert!(found.is_subset(&known), "{payload:?}: {found:?}");
    assert_eq!(text.lines().count(), plain.lines().count(), "{payload:?}");
    let comments = |text: &str| text.lines().filter(|line| line.starts_with('%')).count();
    assert_eq!(comments(text), comments(plain), "{payload:?}");
    let special = |text: &str| -> Vec<usize> {
        let bare = text.replace("\\\\", "").replace("\\%", "");
        let bare = bare.replace("\\$", "").replace("\\#", "");
        // A line that begins with % is a comment.
        let inner = |line: &str| line.chars().skip(1).collect::<String>();
        let inner: String = bare.lines().map(inner).collect();
        "%$#~".chars().map(|c| inner.matches(c).count()).collect()
    };
    assert_eq!(special(text), special(plain), "{payload:?}: {text}");
    assert!(!text.contains("^^"), "{payload:?}");
}

#[test]
fn no_text_of_a_model_file_runs_in_any_export() {
    let folder = Folder::new("injection");
    let mark = folder.0.join("mark");
    let x = Mat::from_fn(1, 3, |_, j| ROW[j]);
    // Many payloads give the same code: the texts do not get there.
    let (mut exports, mut names) = (BTreeMap::new(), Vec::new());
    let (mut accepted, mut refused, mut fields) = (0, 0, 0);
    for model in small() {
        let expected = model.predict(x.as_ref()).unwrap()[(0, 0)];
        let plain = crate::latex(&model, 4);
        let json: serde_json::Value = serde_json::from_str(&model.to_json()).unwrap();
        let mut pointers = Vec::new();
        texts(&json, "", &mut pointers);
        let settings = json["record"]["settings"].as_object().unwrap();
        pointers.extend(settings.keys().map(|name| format!("name of {name}")));
        assert!(pointers.len() > 10, "{pointers:?}");
        fields += pointers.len();
        for (pointer, payload) in pointers
            .iter()
            .flat_map(|pointer| payloads(&mark).into_iter().map(move |p| (pointer, p)))
        {
            let hostile = changed(&json, pointer, &payload);
            let model = match Predictor::from_json(&hostile.to_string(), Path::new("m.json")) {
                Ok(model) => model,
                Err(error) => {
                    let message = error.to_string();
                    assert!(!message.contains(is_hidden), "{pointer} {message:?}");
                    refused += 1;
                    continue;
                }
            };
            accepted += 1;
            let line = |text: &str| text.contains(|c| is_hidden(c) && c != '\n');
            let latex = crate::latex(&model, 4);
            check_latex(&latex, &plain, &payload);
            let python = crate::python(&model, "f");
            let crate::CSource { header, source, .. } = crate::c(&model, "f");
            let script = crate::javascript(&model, "f").script;
            for text in [&latex, &python, &header, &source, &script] {
                assert!(!line(text), "{pointer} {payload:?}");
            }
            let opens = |pair: &[u8]| pair[0] == b'<' && !matches!(pair[1], b' ' | b'=');
            let tag = script.as_bytes().windows(2).any(opens);
            assert!(!tag, "{payload:?}");
            let formula = crate::formula::Formula::new(&model);
            let graph = crate::lowering::lowered(&formula, Precision::F64);
            let onnx = crate::onnx::bytes(&formula, graph);
            let file = ModelProto::decode(&onnx[..]).unwrap();
            assert_eq!(
                file.metadata_props[0].value.split('\n').count(),
                3,
                "{payload:?}"
            );
            let found = evaluated(&file.graph.unwrap(), &ROW, 3).unwrap();
            assert!((found[0] - expected).abs() < 1e-12, "{pointer}");
            exports
                .entry((header, source, python, script))
                .or_insert((model, expected));
        }
    }
    assert!(accepted > 1000 && refused > 1000, "{accepted} {refused}");
    println!(
        "{fields} texts of 4 models × {} payloads: {refused} refused, {accepted} exported, {} different",
        payloads(&mark).len(),
        exports.len()
    );
    let mut main = String::from("#include <stdio.h>\n");
    let (mut body, mut script, mut expected) = (String::new(), String::new(), Vec::new());
    let mut page = String::new();
    for (k, (model, value)) in exports.values().enumerate() {
        let name = format!("f_{k}");
        let crate::CSource { header, source, .. } = crate::c(model, &name);
        main += &format!("#include \"{name}.h\"\n");
        body += &format!("    {name}(x, &y, 1); printf(\"%.17g\\n\", y);\n");
        let python = crate::python(model, &name);
        script += &format!("import {name}\nprint({name}.{name}(*{ROW:?}))\n");
        page += &crate::javascript(model, &name).script;
        page += &format!("console.log({name}(...{ROW:?}));\n");
        for (extension, text) in [("h", header), ("c", source), ("py", python)] {
            std::fs::write(folder.0.join(format!("{name}.{extension}")), text).unwrap();
        }
        names.push(format!("{name}.c"));
        expected.push(*value);
    }
    let [a, b, c] = ROW;
    main += &format!(
        "int main(void)\n{{\n    const double x[] = {{{a}, {b}, {c}}};\n    double y;\n{body}    return 0;\n}}\n"
    );
    std::fs::write(folder.0.join("main.c"), main).unwrap();
    std::fs::write(folder.0.join("all.py"), script).unwrap();
    std::fs::write(folder.0.join("all.js"), page).unwrap();
    let agree = |printed: String| {
        let values: Vec<f64> = printed.lines().map(|line| line.parse().unwrap()).collect();
        assert!(distance(&values, &expected) < 1e-12);
    };
    // Trigraphs are read with -std=c99 alone.
    let mut compile = vec!["-std=c99", "-O0", "-o", "all", "main.c"];
    compile.extend(names.iter().map(String::as_str));
    if run("cc", &compile, &folder.0).is_some() {
        let program = folder.0.join("all");
        agree(run(program.to_str().unwrap(), &[], &folder.0).unwrap());
    }
    if let Some(printed) = run("python3", &["all.py"], &folder.0) {
        agree(printed);
    }
    if let Some(printed) = run("node", &["all.js"], &folder.0) {
        agree(printed);
    }
    assert!(!mark.exists(), "a payload ran");
}

#[test]
fn any_file_stem_gives_code_that_compiles_and_runs() {
    let stems = "BLOCK NULL memcpy linux unix int main INPUTS PLANES cosine products T f x y rows k load string math
        stdint printf malloc time class lambda None print uint64_t size_t errno signgam y1 j0 axes_0 1st EOF INFINITY
        register typeof bool true xor asm near min max let eval arguments undefined NaN Math Object scaled values points
        await yield window document location top console";
    let folder = Folder::new("stems");
    let (model, x) = (&small()[0], Mat::from_fn(1, 3, |_, j| ROW[j]));
    let expected = model.predict(x.as_ref()).unwrap()[(0, 0)];
    let headers = ["stdio", "stdlib", "math", "errno", "string", "unistd"];
    let mut main: String = headers.map(|h| format!("#include <{h}.h>\n")).concat();
    let (mut body, mut script) = (String::new(), String::from("import sys\n"));
    let (mut page, mut page_count) = (String::new(), 0);
    let mut compile: Vec<String> = ["-std=gnu17", "-Wall", "-I.", "-o", "all", "all.c"]
        .map(String::from)
        .to_vec();
    for stem in stems.split_whitespace() {
        let crate::CSource {
            name,
            header,
            source,
        } = crate::c(model, stem);
        main += &format!("#include \"{name}.h\"\n");
        body += &format!("    {name}(at, &found, 1); {name}_gradient(at, slopes, 1);\n");
        body += "    printf(\"%.17g\\n\", found);\n";
        script += &format!("import {name} as module\n");
        script += &format!("sys.stdout.write(repr(module.{name}(*{ROW:?})) + '\\n')\n");
        let code = crate::javascript(model, stem);
        page += &format!(
            "import {{ {0} as f{page_count} }} from \"./{0}.mjs\";\n",
            code.name
        );
        page += &format!("process.stdout.write(f{page_count}(...{ROW:?}) + \"\\n\");\n");
        page_count += 1;
        for (file, text) in [
            (format!("{}.mjs", code.name), code.module()),
            (format!("{name}.h"), header),
            (format!("{name}.c"), source),
            (format!("{name}.py"), crate::python(model, stem)),
        ] {
            std::fs::write(folder.0.join(file), text).unwrap();
        }
        compile.push(format!("{name}.c"));
    }
    let [a, b, c] = ROW;
    main += &format!(
        "int main(void)\n{{\n    const double at[] = {{{a}, {b}, {c}}};\n    double found, slopes[3];\n{body}    \
         return 0;\n}}\n"
    );
    std::fs::write(folder.0.join("all.c"), main).unwrap();
    std::fs::write(folder.0.join("all_.py"), script).unwrap();
    std::fs::write(folder.0.join("all_.mjs"), page).unwrap();
    let agree = |printed: String| {
        let values: Vec<f64> = printed.lines().map(|line| line.parse().unwrap()).collect();
        assert_eq!(values.len(), stems.split_whitespace().count());
        assert!(values.iter().all(|found| (found - expected).abs() < 1e-12));
    };
    let compile: Vec<&str> = compile.iter().map(String::as_str).collect();
    if run("cc", &compile, &folder.0).is_some() {
        let program = folder.0.join("all");
        agree(run(program.to_str().unwrap(), &[], &folder.0).unwrap());
    }
    if let Some(printed) = run("python3", &["all_.py"], &folder.0) {
        agree(printed);
    }
    if let Some(printed) = run("node", &["all_.mjs"], &folder.0) {
        agree(printed);
    }
}

#[test]
fn no_identifier_of_the_c_code_is_taken_as_the_name_of_the_function() {
    let folder = Folder::new("own-names");
    // Between them, they have every function there is.
    let mut models = vec![with_warps(&with_edges(1)), with_warps(&sum_of_parts(1))];
    models.extend(
        [Activation::Fourier, Activation::Tanh, Activation::Sigmoid].map(|a| network(a, 1)),
    );
    for model in models {
        let source = crate::c(&model, "f").source;
        let words = source.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        let words: BTreeSet<&str> = words
            .filter(|word| word.starts_with(|c: char| c.is_ascii_alphabetic()))
            .filter(|word| word.len() > 1 && *word == crate::identifier(word))
            .collect();
        let mut compile = vec!["-std=c99".to_owned(), "-fsyntax-only".into()];
        for word in words {
            let crate::CSource {
                name,
                header,
                source,
            } = crate::c(&model, word);
            std::fs::write(folder.0.join(format!("{name}.h")), header).unwrap();
            std::fs::write(folder.0.join(format!("{name}.c")), source).unwrap();
            compile.push(format!("{name}.c"));
        }
        let compile: Vec<&str> = compile.iter().map(String::as_str).collect();
        run("cc", &compile, &folder.0);
    }
}
