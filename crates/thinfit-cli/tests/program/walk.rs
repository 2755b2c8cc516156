//! The README and the tutorial: every command works and prints what the page shows.

use super::*;

/// A command of a page and what it should print.
struct Step {
    command: String,
    expected: Vec<String>,
}

/// The commands (`$ …`) in the `console` blocks of a page, with the lines that follow them; a `toml` block is a file, named at the
/// end of the sentence before it.
fn steps(page: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut inside = false;
    let mut files = page.split("\n```toml\n");
    let mut before = files.next().unwrap();
    for part in files {
        let (content, after) = part.split_once("\n```\n").unwrap();
        let name = before.trim_end().trim_end_matches("`:").rsplit('`').next();
        steps.push(Step {
            command: format!("cat > {} <<'END'\n{content}\nEND", name.unwrap()),
            expected: Vec::new(),
        });
        before = after;
    }
    for line in page.lines() {
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
fn the_commands_of_the_readme_print_what_it_shows() {
    walk("README.md", "walk-readme", 7);
}

#[cfg(unix)]
#[test]
fn the_commands_of_the_tutorial_print_what_it_shows() {
    walk("docs/tutorial.md", "walk-tutorial", 17);
}

/// Runs the commands of a page, one after the other in one folder.
#[cfg(unix)]
fn walk(page: &str, name: &str, count: usize) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(page);
    let steps = steps(&std::fs::read_to_string(path).unwrap());
    assert_eq!(steps.len(), count, "commands in {page}");
    let folder = folder(name);
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
        let (found, expected) = (in_any_order(&found), in_any_order(&expected));
        assert_eq!(found, expected, "{command}");
    }
}

/// The lines that are not empty; candidates come last and sorted, since rounding decides the order of near equals.
#[cfg(unix)]
fn in_any_order(lines: &[String]) -> Vec<&String> {
    let candidate = |line: &&String| {
        [
            "Gaussian process ",
            "network of ",
            "nearly linear model",
            "mean of the samples",
        ]
        .iter()
        .any(|start| line.starts_with(start))
    };
    let lines = lines.iter().filter(|line| !line.is_empty());
    let (mut candidates, mut rest): (Vec<&String>, Vec<&String>) = lines.partition(candidate);
    candidates.sort();
    rest.append(&mut candidates);
    rest
}
