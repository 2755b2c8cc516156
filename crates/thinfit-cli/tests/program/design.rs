//! `thinfit design`.

use super::*;

const RANGES: &str = "# order of the columns\nthickness = [0.5, 2]\n\"v [m/s]\" = { low = 1e-3, high = 1e3, log = true }\n\
                      holes = { low = 2, high = 5, whole = true }\nmaterial = [\"steel\", \"brass, soft\"]\n";

#[test]
fn a_plan_fills_the_ranges_and_can_grow() {
    let folder = folder("design");
    write(&folder, "ranges.toml", RANGES);
    for scheme in ["maximin", "latin", "sobol", "halton"] {
        let scheme = format!("--scheme={scheme}");
        let arguments = ["design", "ranges.toml", "--rows=16", &scheme];
        let plan = succeed(&folder, &arguments);
        let mut lines = plan.lines();
        assert_eq!(lines.next(), Some("thickness,\"v [m/s]\",holes,material"));
        let mut count = [0_usize; 2];
        for line in lines {
            let cells: Vec<&str> = line.splitn(4, ',').collect();
            let number = |j: usize| cells[j].parse::<f64>().unwrap();
            assert!((0.5..=2.0).contains(&number(0)) && (1e-3..=1e3).contains(&number(1)));
            assert!([2.0, 3.0, 4.0, 5.0].contains(&number(2)), "{line}");
            let level = ["steel", "\"brass, soft\""]
                .iter()
                .position(|l| *l == cells[3]);
            count[level.unwrap()] += 1;
        }
        assert!(count[0].abs_diff(8) <= 1, "{scheme}: {count:?}");
        assert_eq!(succeed(&folder, &arguments), plan);
        let other = [&arguments[..], &["--seed=1"]].concat();
        assert_ne!(succeed(&folder, &other), plan);
        // What exists is kept away from, or gone on after.
        write(&folder, "done.csv", &plan);
        let more = [&arguments[..], &["--add-to=done.csv", "-o=more.csv"]].concat();
        assert_eq!(succeed(&folder, &more), "wrote more.csv\n");
        let more = read(&folder, "more.csv");
        assert_eq!(more.lines().count(), 17);
        assert!(
            more.lines().skip(1).all(|line| !plan.contains(line)),
            "{scheme}"
        );
    }
}

#[test]
fn a_table_of_tabs_has_the_same_cells() {
    let folder = folder("design-tabs");
    write(&folder, "ranges.toml", RANGES);
    let arguments = ["design", "ranges.toml", "--rows=9"];
    let commas = succeed(&folder, &arguments);
    succeed(&folder, &[&arguments[..], &["-o=plan.tsv"]].concat());
    let tabs = read(&folder, "plan.tsv");
    let quoted = tabs.replace("brass, soft", "soft").contains(',');
    assert!(!quoted && tabs.replace('\t', ",") == commas, "{tabs}");
}

#[test]
fn ranges_that_are_none_are_named() {
    let folder = folder("design-errors");
    let arguments = ["design", "ranges.toml", "--rows=8"];
    fail(&folder, &arguments, &["cannot read the ranges ranges.toml"]);
    for (text, words) in [
        (
            "",
            &["ranges.toml: expected ranges of inputs, found none"][..],
        ),
        (
            "a = [2, 1]",
            &["ranges.toml: `a`: expected two numbers, the smaller first, found 2 and 1"],
        ),
        ("a = 3", &["ranges.toml: `a`: expected `[low, high]`"]),
        (
            "a = [0, 1",
            &["ranges.toml: expected TOML such as `speed = [1, 9]`"],
        ),
        ("a = []", &["`a`: expected a level or more, found none"]),
        (
            "b = [1, 2]\nwall thickness = [1, 2]",
            &["quote names that contain blanks: \"wall thickness\" = …"],
        ),
    ] {
        write(&folder, "ranges.toml", text);
        fail(&folder, &arguments, words);
    }
    write(&folder, "ranges.toml", "a = [0, 1]\nb = ['x', 'y']");
    write(&folder, "done.csv", "a,b\n0.5,x\n0.2,z\n");
    let more = [&arguments[..], &["--add-to=done.csv"]].concat();
    fail(
        &folder,
        &more,
        &["done.csv, row 2: expected a level of `b` in ranges.toml, found `z`"],
    );
    write(&folder, "done.csv", "a\n0.5\n");
    fail(&folder, &more, &["b"]);
    fail(
        &folder,
        &["design", "ranges.toml", "--rows=0"],
        &["expected a number of rows from 1 to 50000"],
    );
    for name in ["plan.xlsx", "plan.ODS", "plan.parquet"] {
        let output = format!("-o={name}");
        fail(
            &folder,
            &[&arguments[..], &[&output]].concat(),
            &[name, "such as table.csv"],
        );
    }
    let clash = [&arguments[..], &["-o=ranges.toml"]].concat();
    fail(&folder, &clash, &["ranges.toml"]);
}
