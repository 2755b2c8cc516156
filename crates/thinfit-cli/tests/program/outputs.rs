//! Where commands write.

use super::*;

#[test]
fn a_dash_is_no_file_to_write() {
    let folder = fitted("dash");
    let long = ["--output=-", "--output", "-"];
    for command in [
        &[
            "fit",
            "train.csv",
            "--target=y",
            "--drop=name",
            "--method=rff",
        ][..],
        &["export", "model.json", "--to=c"],
        &["predict", "model.json", "train.csv"],
        &["plot", "model.json"],
        &["report", "model.json"],
        &["data", "f3"],
        &["minimise", "model.json"],
        &["suggest", "model.json"],
    ] {
        for option in [&["-o", "-"][..], &["-o-"], &long[..1], &long[1..]] {
            fail(&folder, &[command, option].concat(), &["found `-`", "./-"]);
        }
    }
    let state = ["fit", "train.csv", "--target=y", "--checkpoint=-"];
    fail(&folder, &state, &["found `-`"]);
    succeed(&folder, &["export", "model.json", "--to=c", "-o", "./-"]);
    assert!(folder.join("-").exists());
}

#[test]
#[cfg(unix)]
fn a_link_to_a_file_that_does_not_exist_is_kept_and_its_target_written() {
    use std::os::unix::fs::symlink;
    let folder = fitted("dangling");
    std::fs::create_dir(folder.join("inner")).unwrap();
    let fit = with_short(&["fit", "train.csv", "--target=y", "--drop=name"]);
    for (name, command) in [
        ("fit.json", &fit[..]),
        ("export.c", &["export", "model.json", "--to=c"]),
        ("predict.csv", &["predict", "model.json", "train.csv"]),
        ("report.html", &["report", "model.json"]),
        ("minimise.csv", &["minimise", "model.json"]),
    ] {
        let (link, target) = (folder.join(name), folder.join("inner").join(name));
        symlink(Path::new("inner").join(name), &link).unwrap();
        for state in ["absent", "there"] {
            succeed(&folder, &[command, &["-o", name]].concat());
            let kept = std::fs::symlink_metadata(&link).unwrap().is_symlink();
            assert!(kept && target.is_file(), "{name} {state}");
        }
    }
    // A folder that does not exist is an error, and the link is left.
    symlink("none/model.c", folder.join("lost.c")).unwrap();
    let lost = ["export", "model.json", "--to=python", "-o", "lost.c"];
    fail(&folder, &lost, &["lost.c"]);
    assert!(folder.join("lost.c").is_symlink());
    // Two names of one file to be.
    symlink("absent.json", folder.join("one.json")).unwrap();
    let same = ["--checkpoint=one.json", "-o", "absent.json"];
    fail(
        &folder,
        &[&fit[..], &same].concat(),
        &["uses it for something else"],
    );
}
