//! The results file: every finished fit adds a line, so that an interrupted run can be continued.

use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::Path;

use crate::case::Case;
use crate::learner::{Judged, Learner};

/// The columns; the first six are the key. Errors and widths are in the units of the data, `nmse` is `mse` over the
/// variance of f, `true_mse` is what `reported` estimates, `variance` the error of predicting the mean, by the report.
const HEADER: [&str; 22] = [
    "group",
    "problem",
    "m",
    "noise",
    "seed",
    "method",
    "d",
    "chosen",
    "deviation",
    "mse",
    "nmse",
    "reported",
    "true_mse",
    "cover90",
    "width90",
    "cover95",
    "width95",
    "parameters",
    "terms",
    "seconds",
    "failure",
    "variance",
];
const KEY: usize = 6;

/// A line of the file.
#[derive(Clone)]
pub struct Line(Vec<String>);

impl Line {
    /// Cuts a line of the file.
    pub fn of(line: &str) -> Line {
        Line(line.split(',').map(str::to_owned).collect())
    }

    /// The text in a column; empty if there is no such column.
    pub fn text(&self, column: &str) -> &str {
        let place = HEADER.iter().position(|name| *name == column);
        place.map_or("", |place| &self.0[place])
    }

    /// The number in a column, if there is one.
    pub fn number(&self, column: &str) -> Option<f64> {
        self.text(column).parse().ok()
    }

    /// What the line is about.
    pub fn key(&self) -> String {
        self.0[..KEY].join(",")
    }
}

/// The key of a fit.
pub fn key(case: &Case, seed: u64, learner: &Learner) -> String {
    let Case {
        group,
        problem,
        rows,
        noise,
        ..
    } = case;
    format!("{group},{problem},{rows},{noise},{seed},{}", learner.name)
}

/// The lines of a file, less those that an interruption left incomplete.
pub fn read(path: &Path) -> std::io::Result<Vec<Line>> {
    let mut text = String::new();
    File::open(path)?.read_to_string(&mut text)?;
    let mut lines: Vec<Line> = text.lines().skip(1).map(Line::of).collect();
    lines.retain(|line| line.0.len() == HEADER.len());
    Ok(lines)
}

/// A file that lines are added to.
pub struct Sheet {
    file: File,
    done: HashSet<String>,
}

impl Sheet {
    /// Opens a file, or begins one.
    pub fn open(path: &Path) -> std::io::Result<Self> {
        let before = if path.exists() {
            std::fs::read_to_string(path)?
        } else {
            String::new()
        };
        let done = match before.is_empty() {
            true => HashSet::new(),
            false => read(path)?.iter().map(Line::key).collect(),
        };
        let mut file = OpenOptions::new().create(true).append(true).open(path)?;
        if before.is_empty() {
            writeln!(file, "{}", HEADER.join(","))?;
        } else if !before.ends_with('\n') {
            writeln!(file)?;
        }
        Ok(Sheet { file, done })
    }

    /// Whether a fit is in the file.
    pub fn has(&self, key: &str) -> bool {
        self.done.contains(key)
    }

    /// Adds a fit, or the reason for its failure.
    pub fn add(
        &mut self,
        key: &str,
        d: usize,
        judged: &Result<Judged, String>,
    ) -> std::io::Result<()> {
        let number = |value: f64| format!("{value:e}");
        let maybe = |value: Option<f64>| value.map_or(String::new(), number);
        let values = match judged {
            Ok(judged) => {
                let variance = judged.deviation * judged.deviation;
                let part =
                    |i: usize, pick: fn((f64, f64)) -> f64| maybe(judged.intervals[i].map(pick));
                [
                    judged.chosen.clone(),
                    number(judged.deviation),
                    number(judged.mse),
                    number(judged.mse / variance),
                    maybe(judged.reported),
                    number(judged.observed_mse),
                    part(0, |at| at.0),
                    part(0, |at| at.1),
                    part(1, |at| at.0),
                    part(1, |at| at.1),
                    judged.parameters.to_string(),
                    judged.terms.clone().unwrap_or_default(),
                    format!("{:.3}", judged.seconds),
                    String::new(),
                    maybe(judged.variance),
                ]
            }
            Err(reason) => {
                let mut values = [const { String::new() }; HEADER.len() - KEY - 1];
                values[HEADER.len() - KEY - 3] = reason.replace([',', '\n'], ";");
                values
            }
        };
        let line = format!("{key},{d},{}\n", values.join(","));
        // In one call, so that an interruption leaves whole lines but for the last.
        self.file.write_all(line.as_bytes())?;
        self.done.insert(key.into());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fits_are_found_again_after_an_interruption() {
        let name = format!("thinfit-suite-{}.csv", std::process::id());
        let path = std::env::temp_dir().join(name);
        let _ = std::fs::remove_file(&path);
        let judged = |intervals| Judged {
            chosen: "b".into(),
            deviation: 2.0,
            mse: 1.0,
            reported: None,
            variance: None,
            observed_mse: 3.0,
            intervals,
            parameters: 5,
            terms: None,
            seconds: 0.5,
        };
        let keys = ["g,p,10,0,1,a", "g,p,10,0,2,a", "g,p,10,0,3,a"];
        let mut sheet = Sheet::open(&path).unwrap();
        let fit = judged([Some((0.9, 1.0)), Some((0.95, f64::INFINITY))]);
        sheet.add(keys[0], 4, &Ok(fit)).unwrap();
        sheet.add(keys[1], 4, &Err("one, two".into())).unwrap();
        sheet.file.write_all(b"g,p,10,0,3,a,4,").unwrap();
        let mut sheet = Sheet::open(&path).unwrap();
        assert_eq!(keys.map(|key| sheet.has(key)), [true, true, false]);
        sheet.add(keys[2], 4, &Ok(judged([None; 2]))).unwrap();
        let lines = read(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(lines.len(), 3);
        assert_eq!(
            (lines[0].number("nmse"), lines[0].text("d")),
            (Some(0.25), "4")
        );
        assert_eq!(lines[0].number("width95"), Some(f64::INFINITY));
        assert_eq!(
            (lines[1].number("mse"), lines[1].text("failure")),
            (None, "one; two")
        );
        assert_eq!(
            (lines[2].key(), lines[2].number("cover90")),
            (keys[2].into(), None)
        );
    }
}
