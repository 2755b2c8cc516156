//! `thinfit report`.

use super::*;

#[test]
fn a_report_is_a_page_with_or_without_a_table() {
    let folder = fitted("report");
    assert_eq!(
        succeed(&folder, &["report", "model.json"]),
        "wrote model.html\n"
    );
    let page = read(&folder, "model.html");
    assert!(page.starts_with("<!doctype html>") && page.contains("\"rows\":null"));
    let arguments = ["report", "model.json", "train.csv", "-o", "report.html"];
    assert_eq!(succeed(&folder, &arguments), "wrote report.html\n");
    let page = read(&folder, "report.html");
    assert!(page.contains("These are the rows that the model was fitted to"));
    fail(&folder, &["report", "absent.json"], &["absent.json"]);
    fail(
        &folder,
        &["report", "model.json", "absent.csv"],
        &["absent.csv"],
    );
    fail(
        &folder,
        &["report", "model.json", "-o", "no/such/report.html"],
        &["no/such/report.html", "-o FILE"],
    );
    fail(
        &folder,
        &["report", "model.json", "train.csv", "-o", "train.csv"],
        &["train.csv", "-o FILE"],
    );
}

#[test]
fn rows_have_the_numbers_of_the_table() {
    let folder = fitted("report-rows");
    let table = read(&folder, "train.csv");
    let mut lines: Vec<&str> = table.lines().take(6).collect();
    lines.insert(2, ",a gap,0.5,1");
    write(&folder, "gap.csv", lines.join("\n"));
    let arguments = ["report", "model.json", "gap.csv", "--missing", "drop"];
    let output = thinfit(&folder, &arguments);
    assert!(read(&folder, "model.html").contains("\"numbers\":[1,3,4,5,6]"));
    assert!(text(&output.stderr).contains("dropped 1 row"));
    // A mean is no true value.
    let arguments = ["report", "model.json", "gap.csv", "--missing", "mean"];
    fail(&folder, &arguments, &["pass --missing drop"]);
}
