//! The first five minutes of the README: every command works and prints what the README shows.

use super::*;

/// A command of the README and what it should print.
struct Step {
    command: String,
    expected: Vec<String>,
}

/// The commands (`$ …`) in the `console` blocks of the README, with the lines that follow them.
fn steps(readme: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut inside = false;
    for line in readme.lines() {
        match (inside, line.strip_prefix("$ ")) {
            (false, _) => inside = line == "```console",
            (true, _) if line == "```" => inside = false,
            (true, Some(command)) => steps.push(Step {
                command: command.into(),
                expected: Vec::new(),
            }),
            (true, None) => steps.last_mut().unwrap().expected.push(line.into()),
        }
    }
    steps
}

/// The words of a line with `#` for every number: figures differ between processors, words do not.
fn shape(line: &str) -> String {
    line.split(|c: char| c.is_whitespace() || ",;:()".contains(c))
        .filter(|word| !word.is_empty())
        .map(|word| word.parse::<f64>().map_or(word, |_| "#"))
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(unix)]
#[test]
fn the_first_five_minutes_are_as_the_readme_shows_them() {
    let readme = concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md");
    let steps = steps(&std::fs::read_to_string(readme).unwrap());
    assert!(steps.len() >= 6, "the README has no walk");
    let folder = folder("walk");
    let programs = Path::new(env!("CARGO_BIN_EXE_thinfit")).parent().unwrap();
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
    for Step { command, expected } in steps {
        let output = Command::new("sh")
            .args(["-c", &command])
            .env("PATH", &path)
            .current_dir(&folder)
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "{command}: {}",
            text(&output.stderr)
        );
        let found: Vec<String> = text(&output.stdout).lines().map(shape).collect();
        let expected: Vec<String> = expected.iter().map(|line| shape(line)).collect();
        let found: Vec<&String> = found.iter().filter(|line| !line.is_empty()).collect();
        let expected: Vec<&String> = expected.iter().filter(|line| !line.is_empty()).collect();
        assert_eq!(found, expected, "{command}");
    }
}
