//! Our numbers next to the published ones, as CSV, Markdown and, in [`page`](crate::page), HTML.

use std::collections::HashMap;
use std::fmt::Write;

use crate::comparison::{Comparison, Count, Ours};
use crate::job::CHOOSING;
use crate::notes::{INTRODUCTION, heading, notes, title};
use crate::{Choice, Entry, Exhibit, Job, Ledger, Plan, Settings};
use thinfit::Lambda;

/// All cells of the paper with what a ledger has for them, and the exhibits to show.
#[derive(Clone, Debug)]
pub struct Report {
    /// The exhibits to show, in order.
    pub exhibits: Vec<Exhibit>,
    /// All cells, of the other exhibits too: the count is over all published cells.
    pub comparisons: Vec<Comparison>,
    /// The settings of all fits, as text.
    pub settings: String,
    /// Number of seeds that a cell should have.
    pub seeds: usize,
}

impl Report {
    /// All cells with their entries in the ledger: those of the λ and settings of `plan`, of any seed.
    pub fn new(exhibits: &[Exhibit], plan: &Plan, settings: &Settings, ledger: &Ledger) -> Self {
        let unseeded = |job: &Job| {
            Job {
                seed: 0,
                ..job.clone()
            }
            .to_string()
        };
        let mut entries: HashMap<String, Vec<Entry>> = HashMap::new();
        // What chose λ is no result.
        let results = ledger.entries().into_iter();
        for entry in results.filter(|entry| entry.job.seed != CHOOSING) {
            entries.entry(unseeded(&entry.job)).or_default().push(entry);
        }
        let cells = Exhibit::ALL.iter().flat_map(|exhibit| exhibit.cells());
        let mut comparisons: Vec<Comparison> = cells
            .map(|cell| {
                let job = plan.job(&cell, settings, ledger);
                let mine = job.and_then(|job| entries.get(&unseeded(&job)).cloned());
                Comparison {
                    cell,
                    published: cell.reference(),
                    preset: settings.label(cell.row),
                    ours: mine.map(Ours::new),
                    best: false,
                }
            })
            .collect();
        mark_best(&mut comparisons, plan.seeds.len());
        let lambda = match plan.lambda {
            Choice::Validated => "selected by validation for each cell, from one fit each".into(),
            Choice::Published => "as the paper selected it".into(),
            Choice::Given(Lambda::Auto) => "selected by validation in every fit".into(),
            Choice::Given(Lambda::Fixed(lambda)) => format!("{lambda} in every fit"),
        };
        Report {
            exhibits: exhibits.to_vec(),
            comparisons,
            settings: format!("{settings}; λ {lambda}"),
            seeds: plan.seeds.len(),
        }
    }

    /// The cells of an exhibit.
    pub fn of(&self, exhibit: Exhibit) -> impl Iterator<Item = &Comparison> {
        self.comparisons
            .iter()
            .filter(move |comparison| comparison.cell.exhibit == exhibit)
    }

    /// How many cells of each exhibit have a number of ours and, if there is a table among them, of all six tables.
    pub fn counts(&self) -> Vec<(String, Count)> {
        let count = |exhibit: &Exhibit| (exhibit.to_string(), Count::of(self.of(*exhibit)));
        let mut counts: Vec<_> = self.exhibits.iter().map(count).collect();
        let is_table = |exhibit: &Exhibit| *exhibit != Exhibit::Figure1;
        if self.exhibits.iter().any(is_table) {
            let cells = self.comparisons.iter();
            let tables = cells.filter(|comparison| is_table(&comparison.cell.exhibit));
            counts.push(("all tables".into(), Count::of(tables)));
        }
        counts
    }

    /// One line per cell: the published columns under their own names, then ours.
    pub fn csv(&self) -> String {
        let mut out = String::from(
            "table,width,problem,d,M,method,activation,mse,highlighted,lambda,\
             our_lambda,our_mse,our_spread,seeds,failed,seconds,commit,settings\n",
        );
        let number = |value: Option<f64>| value.map_or(String::new(), |v| format!("{v:e}"));
        for comparison in self.exhibits.iter().flat_map(|exhibit| self.of(*exhibit)) {
            let Comparison {
                cell,
                published,
                ours,
                ..
            } = comparison;
            let ours = ours.as_ref();
            let fields = [
                cell.exhibit.to_string(),
                cell.width.to_string(),
                cell.column.problem().into(),
                cell.column.dim().to_string(),
                cell.column.samples().to_string(),
                quoted(cell.row.label()),
                cell.activation.map_or("", |a| a.name()).into(),
                number(published.map(|cell| cell.mse)),
                published.map_or(String::new(), |cell| u8::from(cell.highlighted).to_string()),
                number(published.and_then(|cell| cell.lambda)),
                ours.map_or(String::new(), |ours| powers(&ours.lambdas(), " ")),
                number(ours.and_then(|ours| ours.mse)),
                number(ours.and_then(|ours| ours.spread)),
                ours.map_or(0, |ours| ours.entries.len()).to_string(),
                ours.map_or(0, Ours::failed).to_string(),
                number(ours.map(|ours| ours.seconds)),
                ours.map_or(String::new(), |ours| ours.commits().join(" ")),
                quoted(&comparison.preset),
            ];
            out += &(fields.join(",") + "\n");
        }
        out
    }

    /// One section per exhibit and one list per column, a line for each method and activation.
    pub fn markdown(&self) -> String {
        let mut out = format!(
            "# Our numbers and the published ones\n\n{INTRODUCTION}\n\n\
             Settings: {}.\n\nCells with a number of ours:\n\n",
            self.settings,
        );
        for (name, count) in self.counts() {
            // Writing to a string cannot fail.
            let _ = writeln!(out, "- {name}: {count}");
        }
        for &exhibit in &self.exhibits {
            let _ = write!(out, "\n## {}\n\n", title(exhibit));
            for note in notes(exhibit) {
                let _ = writeln!(out, "- {note}");
            }
            for column in exhibit.columns() {
                let _ = write!(
                    out,
                    "\n### {}\n\n| method | activation | λ | ours | spread | seeds | published | ratio | time | remark |\n\
                     |---|---|---|---|---|---|---|---|---|---|\n",
                    heading(column)
                );
                for comparison in self.of(exhibit).filter(|c| c.cell.column == column) {
                    let _ = writeln!(out, "{}", self.markdown_row(comparison));
                }
            }
        }
        out
    }

    fn markdown_row(&self, comparison: &Comparison) -> String {
        let number = |value: Option<f64>| value.map_or("–".into(), figure);
        let ours = comparison.ours.as_ref();
        let mse = match (ours, comparison.best) {
            (None, _) => "missing".into(),
            (Some(ours), true) => format!("**{}**", number(ours.mse)),
            (Some(ours), false) => ours.mse.map_or("failed".into(), figure),
        };
        let published = match comparison.published {
            Some(cell) if cell.highlighted => format!("**{}**", figure(cell.mse)),
            cell => number(cell.map(|cell| cell.mse)),
        };
        format!(
            "| {} | {} | {} | {mse} | {} | {} | {published} | {} | {} | {} |",
            comparison.cell.row,
            comparison
                .cell
                .activation
                .map_or("", |activation| activation.name()),
            lambda(comparison),
            number(ours.and_then(|ours| ours.spread)),
            ours.map_or("–".into(), |ours| self.seeds(ours)),
            comparison.ratio().map_or("–".into(), ratio),
            ours.map_or("–".into(), taken),
            remarks(comparison).join(" "),
        )
    }

    /// Number of seeds, how many there should be if some are missing, and how many failed.
    pub(crate) fn seeds(&self, ours: &Ours) -> String {
        let mut text = ours.entries.len().to_string();
        // Writing to a string cannot fail.
        if ours.entries.len() < self.seeds {
            let _ = write!(text, " of {}", self.seeds);
        }
        if ours.failed() > 0 {
            let _ = write!(text, ", {} failed", ours.failed());
        }
        text
    }
}

/// Marks the cells with the smallest error of ours in their column; only those with all seeds and no failed fit compete.
fn mark_best(comparisons: &mut [Comparison], seeds: usize) {
    let whole = |ours: &&Ours| ours.failed() == 0 && ours.entries.len() >= seeds;
    let mse = |comparison: &Comparison| comparison.ours.as_ref().filter(whole)?.mse;
    let place = |comparison: &Comparison| (comparison.cell.exhibit, comparison.cell.column);
    let mut least = HashMap::new();
    for comparison in comparisons.iter() {
        let least = least.entry(place(comparison)).or_insert(f64::INFINITY);
        *least = mse(comparison).map_or(*least, |mse| least.min(mse));
    }
    for comparison in comparisons {
        comparison.best = mse(comparison).is_some_and(|mse| mse == least[&place(comparison)]);
    }
}

/// The remarks on a cell.
pub(crate) fn remarks(comparison: &Comparison) -> Vec<String> {
    let remarks = [comparison.polish(), comparison.remark()];
    remarks.into_iter().flatten().collect()
}

/// λ of our fits, or the published one in brackets.
pub(crate) fn lambda(comparison: &Comparison) -> String {
    match (&comparison.ours, comparison.published) {
        (Some(ours), _) => powers(&ours.lambdas(), ", "),
        (None, Some(published)) => published
            .lambda
            .map_or(String::new(), |lambda| format!("({})", power(lambda))),
        (None, None) => String::new(),
    }
}

/// Powers of ten in one line.
fn powers(values: &[f64], separator: &str) -> String {
    let texts: Vec<String> = values.iter().map(|&value| power(value)).collect();
    texts.join(separator)
}

/// Three digits.
pub(crate) fn figure(value: f64) -> String {
    match value {
        v if (0.0995..0.9995).contains(&v) => format!("{v:.3}"),
        v if (0.9995..9.995).contains(&v) => format!("{v:.2}"),
        v if (9.995..99.95).contains(&v) => format!("{v:.1}"),
        v => format!("{v:.2e}"),
    }
}

/// A power of ten or zero, in its short form.
pub(crate) fn power(value: f64) -> String {
    match value {
        v if v == 0.0 || v >= 0.1 => v.to_string(),
        v => format!("{v:e}"),
    }
}

/// A ratio, with two digits or fewer.
pub(crate) fn ratio(value: f64) -> String {
    match value {
        v if (0.0095..0.095).contains(&v) => format!("{v:.3}"),
        v if (0.095..9.95).contains(&v) => format!("{v:.2}"),
        v if (9.95..9999.5).contains(&v) => format!("{v:.0}"),
        v => format!("{v:.0e}"),
    }
}

/// The mean time of a fit, and on which GPU if any.
pub(crate) fn taken(ours: &Ours) -> String {
    let seconds = time(ours.seconds);
    match ours.devices().as_slice() {
        [] => seconds,
        devices => format!("{seconds} on {}", devices.join(", ")),
    }
}

/// Seconds in a unit that suits them.
pub fn time(seconds: f64) -> String {
    match seconds {
        s if s < 0.995 => format!("{:.0} ms", 1000.0 * s),
        s if s < 99.5 => format!("{s:.1} s"),
        s if s < 599.5 => format!("{s:.0} s"),
        s if s < 5970.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}

/// A field of a CSV file.
fn quoted(text: &str) -> String {
    match text.contains([',', '"']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Row;
    use crate::job::tests::plan;
    use std::path::Path;

    /// A report of Table 1 with these test errors of GFT with Fourier features on f1 (5, 300), by seed, and one other.
    fn report(name: &str, errors: &[Option<f64>], seeds: u64) -> Report {
        let folder = format!("thinfit-report-{name}-{}", std::process::id());
        let folder = std::env::temp_dir().join(folder);
        let ledger = Ledger::open(&folder).unwrap();
        let seeds: Vec<u64> = (1..=seeds).collect();
        let plan = plan(Exhibit::Table(1).cells(), &seeds);
        let settings = Settings::paper();
        for job in plan.jobs(&settings, &ledger) {
            let place = usize::try_from(job.seed).unwrap() - 1;
            let name = (job.column.name(), job.row, job.activation);
            let mse = match name {
                ("f1-5", Row::Gft, Some(thinfit::Activation::Fourier)) => errors.get(place),
                ("f1-5", Row::Shrimp, _) => Some(&Some(1e-3)),
                _ => None,
            };
            if let Some(&mse) = mse {
                let entry = Entry {
                    mse,
                    validation_mse: None,
                    selection: None,
                    selected_lambda: Some(0.0),
                    parameters: None,
                    seconds: 2.0,
                    device: (job.row == Row::Gft).then(|| "GPU".into()),
                    batch: None,
                    commit: "abc".into(),
                    finished: 0,
                    failure: mse.is_none().then(|| "the loss is not finite".into()),
                    config: serde_json::Value::Null,
                    job,
                };
                ledger.add(&entry).unwrap();
            }
        }
        let report = Report::new(&[Exhibit::Table(1)], &plan, &settings, &ledger);
        std::fs::remove_dir_all(&folder).unwrap();
        report
    }

    /// The first line of a row, on f1 (5, 300).
    fn of(report: &Report, row: Row) -> &Comparison {
        let mut comparisons = report.comparisons.iter();
        let found = comparisons.find(|c| c.cell.row == row && c.cell.column.name() == "f1-5");
        found.unwrap()
    }

    fn counts(report: &Report) -> Vec<String> {
        let counts = report.counts().into_iter();
        counts
            .map(|(name, count)| format!("{name}: {count}"))
            .collect()
    }

    /// The counts of a record, whose table of all numbers is the one that its ledger gives.
    fn recorded(name: &str, tables: &[u32], lambda: Choice, seeds: &[u64]) -> Vec<String> {
        let runs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../runs");
        let folder = runs.join(name);
        let ledger = Ledger::open(&folder).unwrap();
        let plan = Plan {
            lambda,
            ..plan(vec![], seeds)
        };
        let tables: Vec<Exhibit> = tables.iter().copied().map(Exhibit::Table).collect();
        let report = Report::new(&tables, &plan, &Settings::paper(), &ledger);
        let recorded = std::fs::read_to_string(folder.join("results.csv")).unwrap();
        assert_eq!(report.csv(), recorded);
        counts(&report)
    }

    #[test]
    fn the_tables_with_published_lambda_have_93_of_the_300_published_cells() {
        let name = "2026-11-15-xeon-2core-tables";
        let expected = [
            "table1: 56 of 78 published cells, 32 of them within a factor of 3, and 62 of our own",
            "table2: 11 of 30 published cells, 10 of them within a factor of 3, and 45 of our own",
            "table3: 26 of 72 published cells, 19 of them within a factor of 3, and 54 of our own",
            "all tables: 93 of 300 published cells, 61 of them within a factor of 3, and 161 of our own",
        ];
        let counts = recorded(name, &[1, 2, 3], Choice::Published, &[1, 2, 3]);
        assert_eq!(counts, expected);
    }

    #[test]
    fn the_tables_with_validated_lambda_have_all_300_published_cells() {
        let name = "2026-11-17-h200-tables";
        let counts = recorded(
            name,
            &[1, 2, 3, 4, 5, 6],
            Choice::Validated,
            &[1, 2, 3, 4, 5],
        );
        let expected = "all tables: 300 of 300 published cells, 213 of them within a factor of 3, and 161 of our own";
        assert_eq!(counts.last().unwrap(), expected);
    }

    #[test]
    fn means_spreads_and_ratios_are_those_of_the_seeds() {
        let report = report("whole", &[Some(1e-7), Some(2e-7), Some(6e-7)], 3);
        let comparison = of(&report, Row::Gft);
        let ours = comparison.ours.as_ref().unwrap();
        assert!((ours.mse.unwrap() - 3e-7).abs() < 1e-20);
        assert!((ours.spread.unwrap() - 7e-14f64.sqrt()).abs() < 1e-16);
        assert!((comparison.ratio().unwrap() - 3e-7 / 2.72e-7).abs() < 1e-9);
        assert_eq!(report.seeds(ours), "3");
        assert!(comparison.best && !of(&report, Row::Shrimp).best);
        let expected = [
            "table1: 2 of 78 published cells, 1 of them within a factor of 3",
            "all tables: 2 of 300 published cells, 1 of them within a factor of 3",
        ];
        assert_eq!(counts(&report), expected);
    }

    #[test]
    fn the_best_has_all_seeds_and_no_failure_and_failures_alone_are_no_number() {
        let few = report("few", &[Some(1e-9), Some(1e-9)], 5);
        assert!(!of(&few, Row::Gft).best && of(&few, Row::Shrimp).best);
        assert_eq!(
            few.seeds(of(&few, Row::Gft).ours.as_ref().unwrap()),
            "2 of 5"
        );
        let partly = report("partly", &[Some(1e-9), None], 2);
        assert!(!of(&partly, Row::Gft).best && of(&partly, Row::Shrimp).best);
        let ours = of(&partly, Row::Gft).ours.as_ref().unwrap();
        assert_eq!(partly.seeds(ours), "2, 1 failed");
        assert!(partly.csv().contains(",2,1,2e0,abc,paper"));
        let wholly = report("wholly", &[None], 5);
        let one = "table1: 1 of 78 published cells, 0 of them within a factor of 3";
        assert_eq!(counts(&wholly)[0], one);
        let row = "| GFT | fourier | 0 | failed | – | 1 of 5, 1 failed | 2.72e-7 | – |";
        assert!(wholly.markdown().contains(row));
        let page = crate::page(&wholly, None);
        assert!(page.contains("<td class=\"worse\"><b>failed</b>"));
        // A thousand times the published number, which is of another domain.
        assert!(page.contains("<td class=\"alike best\"><b>1.00e-3</b>"));
    }

    #[test]
    fn numbers_have_three_digits_and_ratios_two() {
        let figures = [0.0994, 0.0996, 0.99951, 9.996, 99.96].map(figure);
        assert_eq!(figures, ["9.94e-2", "0.100", "1.00", "10.0", "1.00e2"]);
        let ratios = [0.0094, 0.0096, 0.5, 9.96, 12345.0].map(ratio);
        assert_eq!(ratios, ["9e-3", "0.010", "0.50", "10", "1e4"]);
        let times = [0.0501, 1.5, 154.2, 600.0, 7200.0].map(time);
        assert_eq!(times, ["50 ms", "1.5 s", "154 s", "10 min", "2.0 h"]);
    }

    #[test]
    fn every_form_names_the_settings() {
        let report = report("settings", &[Some(1.0)], 5);
        let words = "preset `paper` for F-Opt, GFT and GFT-r; λ as the paper selected it";
        assert!(report.markdown().contains(words));
        assert!(crate::page(&report, None).contains(words));
        assert!(report.markdown().contains("| 2.0 s on GPU |"));
        assert!(crate::page(&report, None).contains("2.0 s on GPU"));
        assert!(report.csv().lines().next().unwrap().ends_with(",settings"));
        assert!(report.csv().contains(",abc,paper\n"));
    }
}
