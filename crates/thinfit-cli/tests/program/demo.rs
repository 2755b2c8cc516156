//! `thinfit demo`.

use super::*;

#[test]
fn without_arguments_the_program_prints_its_help() {
    let folder = folder("alone");
    let help = succeed(&folder, &[]);
    assert_eq!(help, succeed(&folder, &["-h"]));
    assert!(
        help.contains("Usage: thinfit") && help.contains("thinfit demo"),
        "{help}"
    );
    assert!(files(&folder).is_empty());
}

#[test]
fn the_demo_gives_the_same_model_every_time() {
    let folder = folder("demo");
    let output = thinfit(&folder, &["demo"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let table = text(&output.stdout);
    for cell in ["kernel ridge", "1.15e-2", "5.87e-5", "6.26e-6"] {
        assert!(table.contains(cell), "{cell} is missing in\n{table}");
    }
    let progress = text(&output.stderr);
    assert!(
        progress.contains("100 %") && !progress.contains('\u{1b}'),
        "{progress}"
    );
    assert_eq!(
        files(&folder.join("thinfit-demo")),
        [
            "features.png",
            "features.svg",
            "fit.png",
            "fit.svg",
            "model.json"
        ]
    );

    let output = thinfit(
        &folder,
        &["demo", "--seed", "0", "--out", "again", "--quiet"],
    );
    assert!(output.status.success());
    assert_eq!(text(&output.stderr), "");
    let read = |out: &str| std::fs::read(folder.join(out).join("model.json")).unwrap();
    assert!(
        read("thinfit-demo") == read("again"),
        "the same seed gave a different model"
    );
}

#[test]
fn a_folder_that_cannot_be_created_is_an_error_before_the_fit() {
    let folder = folder("blocked");
    std::fs::write(folder.join("file"), "in the way").unwrap();
    let output = thinfit(&folder, &["demo", "--out", "file/below"]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(text(&output.stdout), "");
    let message = text(&output.stderr);
    assert!(
        message.starts_with("error: cannot create the folder `file/below`")
            && message.contains("-o DIR"),
        "{message}"
    );
    assert_eq!(message.lines().count(), 1);
}

#[test]
fn a_misspelt_option_is_an_error_with_a_suggestion() {
    fail(
        &folder("usage"),
        &["demo", "--sed", "3"],
        &["unexpected argument '--sed'", "similar", "'--seed'"],
    );
}
