//! Our numbers beside the published ones, cell by cell: as CSV, as Markdown, and ([`page`](crate::page)) as HTML.

use std::collections::HashMap;
use std::fmt::Write;

use crate::published::Published;
use crate::{Cell, Choice, Column, Entry, Exhibit, Job, Ledger, Plan, Row, Settings};
use thinfit::Lambda;

/// All cells of some tables, with what we have.
#[derive(Clone, Debug)]
pub struct Report {
    /// The tables and figures, in the order in which they are shown.
    pub exhibits: Vec<Exhibit>,
    /// Their cells.
    pub comparisons: Vec<Comparison>,
    /// The settings of all fits, in words.
    pub settings: String,
    /// Seeds that a cell should have.
    pub seeds: usize,
}

/// A cell and what is known of it.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The cell.
    pub cell: Cell,
    /// Exhibit the paper prints.
    pub published: Option<&'static Published>,
    /// Name of the settings, as [`Settings::label`] has it.
    pub preset: String,
    /// Exhibit we measured; none if no seed is done.
    pub ours: Option<Ours>,
    /// Whether no other method has a smaller error of ours in this column of this table; only where no seed is missing and
    /// no fit failed.
    pub best: bool,
}

/// Our fits of a cell.
#[derive(Clone, Debug)]
pub struct Ours {
    /// The records, by seed.
    pub entries: Vec<Entry>,
    /// Mean of the test errors of the fits that did not fail; none if all did.
    pub mse: Option<f64>,
    /// Standard deviation of the test errors over the seeds, where there are two or more.
    pub spread: Option<f64>,
    /// Mean seconds of a fit.
    pub seconds: f64,
}

impl Ours {
    fn new(mut entries: Vec<Entry>) -> Self {
        entries.sort_by_key(|entry| entry.job.seed);
        let errors: Vec<f64> = entries.iter().filter_map(|entry| entry.mse).collect();
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let mse = (!errors.is_empty()).then(|| mean(&errors));
        let spread = mse.filter(|_| errors.len() > 1).map(|mse| {
            let squares = errors.iter().map(|error| (error - mse).powi(2));
            (squares.sum::<f64>() / (errors.len() - 1) as f64).sqrt()
        });
        let seconds: Vec<f64> = entries.iter().map(|entry| entry.seconds).collect();
        Ours {
            mse,
            spread,
            seconds: mean(&seconds),
            entries,
        }
    }

    /// Seeds whose fit ended without a model, mostly because its numbers left the finite range.
    pub fn failed(&self) -> usize {
        self.entries
            .iter()
            .filter(|entry| entry.mse.is_none())
            .count()
    }

    /// The different λ that were used, from the smallest.
    pub fn lambdas(&self) -> Vec<f64> {
        let mut all: Vec<f64> = self
            .entries
            .iter()
            .filter_map(|r| r.selected_lambda)
            .collect();
        all.sort_by(f64::total_cmp);
        all.dedup();
        all
    }

    /// The different commits, in the order of the seeds.
    pub fn commits(&self) -> Vec<&str> {
        let mut commits: Vec<&str> = Vec::new();
        for entry in &self.entries {
            if !commits.contains(&entry.commit.as_str()) {
                commits.push(&entry.commit);
            }
        }
        commits
    }
}

impl Comparison {
    /// Our error over the published one, where there are both.
    pub fn ratio(&self) -> Option<f64> {
        Some(self.ours.as_ref()?.mse? / self.published?.mse)
    }

    /// Whether the published number is of the same experiment: the paper took three rows of Table 1 from elsewhere.
    pub fn comparable(&self) -> bool {
        let copied = matches!(self.cell.row, Row::AnovaRff | Row::Shrimp | Row::Harfe);
        !(copied && self.cell.exhibit == Exhibit::Table(1))
    }
}

impl Report {
    /// All cells of `whats` with the records that belong to them: of the λ and settings of `plan`, and of any seed.
    pub fn new(exhibits: &[Exhibit], plan: &Plan, settings: &Settings, ledger: &Ledger) -> Self {
        let unseeded = |job: &Job| {
            Job {
                seed: 0,
                ..job.clone()
            }
            .to_string()
        };
        let mut entries: HashMap<String, Vec<Entry>> = HashMap::new();
        for entry in ledger.entries() {
            entries.entry(unseeded(&entry.job)).or_default().push(entry);
        }
        let cells: Vec<Cell> = exhibits
            .iter()
            .flat_map(|exhibit| exhibit.cells())
            .collect();
        let lambda = match plan.lambda {
            Choice::Published => "as the paper selected it".into(),
            Choice::Given(Lambda::Auto) => "selected by validation in every fit".into(),
            Choice::Given(Lambda::Fixed(lambda)) => format!("{lambda} in every fit"),
        };
        let seeds = plan.seeds.len();
        let plan = Plan {
            cells: cells.clone(),
            seeds: vec![0],
            lambda: plan.lambda,
        };
        let mut comparisons: Vec<Comparison> = cells
            .into_iter()
            .zip(plan.jobs(settings))
            .map(|(cell, job)| Comparison {
                cell,
                published: cell.beside(),
                preset: job.preset.clone(),
                ours: entries.get(&unseeded(&job)).cloned().map(Ours::new),
                best: false,
            })
            .collect();
        let whole = |ours: &&Ours| ours.failed() == 0 && ours.entries.len() >= seeds;
        let mse = |comparison: &Comparison| comparison.ours.as_ref().filter(whole)?.mse;
        for i in 0..comparisons.len() {
            let here = (comparisons[i].cell.exhibit, comparisons[i].cell.column);
            let least = comparisons
                .iter()
                .filter(|comparison| (comparison.cell.exhibit, comparison.cell.column) == here)
                .filter_map(mse)
                .fold(f64::INFINITY, f64::min);
            comparisons[i].best = mse(&comparisons[i]).is_some_and(|mse| mse == least);
        }
        Report {
            exhibits: exhibits.to_vec(),
            comparisons,
            settings: format!("{}; λ {lambda}", settings),
            seeds,
        }
    }

    /// The entries of a table.
    pub fn of(&self, exhibit: Exhibit) -> impl Iterator<Item = &Comparison> {
        self.comparisons
            .iter()
            .filter(move |comparison| comparison.cell.exhibit == exhibit)
    }

    /// Cells, and how many of them have a number of ours.
    pub fn count(&self) -> (usize, usize) {
        let ours = self
            .comparisons
            .iter()
            .filter_map(|comparison| comparison.ours.as_ref());
        (
            self.comparisons.len(),
            ours.filter_map(|ours| ours.mse).count(),
        )
    }

    /// One line a cell: the columns of the published record under their names, then ours.
    pub fn csv(&self) -> String {
        let mut out = String::from(
            "table,width,problem,d,M,method,activation,mse,highlighted,lambda,\
             our_lambda,our_mse,our_spread,seeds,failed,seconds,commit,settings\n",
        );
        let number = |value: Option<f64>| value.map_or(String::new(), |v| format!("{v:e}"));
        for comparison in &self.comparisons {
            let cell = &comparison.cell;
            let published = comparison.published;
            let ours = comparison.ours.as_ref();
            let joined = |texts: Vec<String>| texts.join(" ");
            // Writing to a string cannot fail.
            let _ = writeln!(
                out,
                "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}",
                cell.exhibit,
                cell.width,
                cell.column.problem(),
                cell.column.dim(),
                cell.column.samples(),
                quoted(cell.row.label()),
                cell.activation.map_or("", |activation| activation.name()),
                number(published.map(|cell| cell.mse)),
                published.map_or("", |cell| if cell.highlighted { "1" } else { "0" }),
                number(published.and_then(|cell| cell.lambda)),
                ours.map_or(String::new(), |ours| joined(
                    ours.lambdas().iter().map(|&lambda| power(lambda)).collect()
                )),
                number(ours.and_then(|ours| ours.mse)),
                number(ours.and_then(|ours| ours.spread)),
                ours.map_or(0, |ours| ours.entries.len()),
                ours.map_or(0, Ours::failed),
                number(ours.map(|ours| ours.seconds)),
                ours.map_or(String::new(), |ours| ours.commits().join(" ")),
                quoted(&comparison.preset),
            );
        }
        out
    }

    /// One section a table and one list a column, methods below each other.
    pub fn markdown(&self) -> String {
        let (cells, filled) = self.count();
        let mut out = format!(
            "# Our numbers beside the published ones\n\n{INTRODUCTION}\n\n\
             Settings: {}.\n\n{filled} of {cells} cells have a number of ours.\n",
            self.settings,
        );
        for &exhibit in &self.exhibits {
            let _ = write!(out, "\n## {}\n\n", title(exhibit));
            for note in notes(exhibit) {
                let _ = writeln!(out, "- {note}");
            }
            for column in exhibit.columns() {
                let _ = write!(
                    out,
                    "\n### {}\n\n| method | activation | λ | ours | spread | seeds | published | ratio | time |\n\
                     |---|---|---|---|---|---|---|---|---|\n",
                    heading(column)
                );
                for comparison in self
                    .of(exhibit)
                    .filter(|comparison| comparison.cell.column == column)
                {
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
            "| {} | {} | {} | {mse} | {} | {} | {published} | {} | {} |",
            comparison.cell.row,
            comparison
                .cell
                .activation
                .map_or("", |activation| activation.name()),
            lambda(comparison),
            number(ours.and_then(|ours| ours.spread)),
            ours.map_or("–".into(), |ours| self.seeds(ours)),
            comparison.ratio().map_or("–".into(), ratio),
            ours.map_or("–".into(), |ours| time(ours.seconds)),
        )
    }

    /// Number of seeds, how many there should be where some are missing, and how many of them failed.
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

/// Exhibit all reports say first.
pub(crate) const INTRODUCTION: &str = "Numbers are mean squared errors on test points, means over seeds; the spread is \
    their standard deviation. Fits that fail, mostly because their numbers leave the finite range, are left out of the mean \
    and counted. Published ones are from Tables 1 to 6 of Hertrich and Neumayer, Generative Feature Training \
    of Thin 2-Layer Networks, TMLR 2025, means over five runs. The ratio is ours over published. The best of a column is \
    bold, ours and the paper's each among their own, and among ours only where no seed is missing and no fit failed. λ is the strength of the regulariser that our fits used; where no number of ours is \
    there, the published one in brackets. ANOVA-RFF, SHRIMP and HARFE have as many features as their pruning leaves, mostly more \
    than the neurons of the table. Times are of one fit on one thread, with others at the same time.";

/// The title of a table.
pub(crate) fn title(exhibit: Exhibit) -> &'static str {
    match exhibit {
        Exhibit::Table(1) => "Table 1: functions on the unit cube, 100 neurons",
        Exhibit::Table(2) => "Table 2: further functions, 100 neurons",
        Exhibit::Table(3) => "Table 3: measured data, 100 neurons",
        Exhibit::Table(4) => "Table 4: 50 neurons",
        Exhibit::Table(5) => "Table 5: 200 neurons",
        Exhibit::Table(_) => "Table 6: ablations, 100 neurons",
        Exhibit::Figure1 => "Figure 1: features of functions of two inputs, 100 neurons",
    }
}

/// Exhibit a reader of a table has to know.
pub(crate) fn notes(exhibit: Exhibit) -> &'static [&'static str] {
    const RIDGE: &str = "Kernel ridge regression: the paper states neither ridge nor precision. Ours is in double precision \
        with a ridge of 1e-4 for functions and 1e-5 for measured data, between which the published errors lie.";
    const STEP: &str = "F-Opt: the paper leaves its step size open. Ours is 1e-3, which is mostly better. With 1e-4, the one \
        of GFT, eleven of twelve errors of one seed are within a factor 3 of the published ones.";
    const LAST: &str = "Neural net: as in the paper the last iterate of Adam counts, and it scatters, in places \
        more than tenfold between seeds. The same network in PyTorch has errors like ours, in single and in double precision \
        (tools/plain_precision.py).";
    match exhibit {
        Exhibit::Table(1) => &[
            "The published rows of ANOVA-RFF, SHRIMP and HARFE were copied by the paper from another paper, and are very \
             probably not of the unit cube: that paper's programs draw f2 from [−π, π]^d, and f1 from other distributions, \
             too. Our rows are our own runs on the unit cube, as the text of the paper has it, where f2 is much easier, and \
             for f2 also on [−π, π]^d (columns ishigami, the published numbers of f2 beside them). There the errors \
             depend on the density of the frequencies, which is not published; ours are normal with deviation 1/q for sets \
             of q inputs, and for ANOVA-RFF normal or Cauchy by validation. SHRIMP has complex features on all pairs of \
             inputs here, as those programs do; the row below GFT-r has the real features of SHRIMP's own authors.",
            RIDGE,
            STEP,
            LAST,
            "The paper has no rows for SALSA, SHRIMP with real features, RFF, ARFF, SWIM, validated kernel ridge and Gaussian processes here.",
        ],
        Exhibit::Table(2) => &[
            "The published numbers of h1 belong to sin(Σx) + ‖x‖⁴ (column h1); the text of the paper has sin(Σx) + ‖x‖² \
             (column h1-text, for which nothing is published).",
            RIDGE,
            "Kernel ridge regression on h3: no ridge that was tried gives the published error, which is sixteen times ours.",
            STEP,
            LAST,
        ],
        Exhibit::Table(3) => &[
            "Every seed splits the rows anew, except for galaxy, which has one split: there the spread is that of the fits.",
            "The published rows of SHRIMP and SALSA were copied by the paper from the SHRIMP paper, one split each. Our \
             SHRIMP has the settings of its authors' scripts for measured data.",
            RIDGE,
            STEP,
            LAST,
        ],
        Exhibit::Table(6) => &[
            "The paper gives neither step size nor number of steps for noisy gradients, and no program for either ablation.",
        ],
        Exhibit::Figure1 => &[
            "The share is the part of Σ|b| that lies within 0.1 of the lines on which the Fourier transform of the function \
             lies. The paper prints no numbers here.",
        ],
        Exhibit::Table(_) => &[STEP, LAST],
    }
}

/// A column with its inputs and samples.
pub(crate) fn heading(column: Column) -> String {
    match column {
        Column::Function(crate::Problem::Ishigami, dim, samples) => {
            format!("ishigami ({dim}, {samples}): f2 on [−π, π]^{dim}")
        }
        Column::Function(problem, dim, samples) => {
            format!(
                "{} ({dim}, {samples}): {}",
                problem.name(),
                problem.formula()
            )
        }
        Column::Measured(measured) => {
            format!(
                "{} ({}, {})",
                measured.name(),
                column.dim(),
                column.samples()
            )
        }
    }
}

/// λ of our fits, or the published one in brackets.
pub(crate) fn lambda(comparison: &Comparison) -> String {
    let ours = comparison
        .ours
        .as_ref()
        .map(Ours::lambdas)
        .unwrap_or_default();
    match (&ours[..], comparison.published.and_then(|cell| cell.lambda)) {
        ([], _) if comparison.ours.is_some() => String::new(),
        ([], Some(published)) => format!("({})", power(published)),
        ([], None) => String::new(),
        (some, _) => some
            .iter()
            .map(|&v| power(v))
            .collect::<Vec<_>>()
            .join(", "),
    }
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

/// A power of ten, or zero, as one would write it.
fn power(value: f64) -> String {
    match value {
        v if v == 0.0 || v >= 0.1 => v.to_string(),
        v => format!("{v:e}"),
    }
}

/// A ratio, with as many digits as it deserves.
pub(crate) fn ratio(value: f64) -> String {
    match value {
        v if (0.0095..0.095).contains(&v) => format!("{v:.3}"),
        v if (0.095..9.95).contains(&v) => format!("{v:.2}"),
        v if (9.95..9999.5).contains(&v) => format!("{v:.0}"),
        v => format!("{v:.0e}"),
    }
}

/// Seconds, as one would say them.
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

    /// A report of Table 1 with these test errors of GFT with Fourier features on f1 (5, 300), by seed, and one other.
    fn report(name: &str, errors: &[Option<f64>], seeds: u64) -> Report {
        let folder = format!("thinfit-report-{name}-{}", std::process::id());
        let folder = std::env::temp_dir().join(folder);
        let ledger = Ledger::open(&folder).unwrap();
        let seeds = (1..=seeds).collect();
        let (cells, lambda) = (Exhibit::Table(1).cells(), Choice::Published);
        let plan = Plan {
            cells,
            seeds,
            lambda,
        };
        let settings = Settings::paper();
        for job in plan.jobs(&settings) {
            let place = usize::try_from(job.seed).unwrap() - 1;
            let name = (job.column.name(), job.row, job.activation);
            let mse = match name {
                ("f1-5", Row::Gft, Some(thinfit::Activation::Fourier)) => errors.get(place),
                ("f1-5", Row::Shrimp, _) => Some(&Some(1e-3)),
                _ => None,
            };
            if let Some(&mse) = mse {
                let entry = Entry {
                    job,
                    mse,
                    validation_mse: None,
                    selected_lambda: Some(0.0),
                    parameters: None,
                    seconds: 2.0,
                    commit: "abc".into(),
                    finished: 0,
                    failure: mse.is_none().then(|| "the loss is not finite".into()),
                    config: serde_json::Value::Null,
                };
                ledger.add(&entry).unwrap();
            }
        }
        let report = Report::new(&[Exhibit::Table(1)], &plan, &settings, &ledger);
        std::fs::remove_dir_all(&folder).unwrap();
        report
    }

    fn of(report: &Report, row: Row) -> &Comparison {
        let column = "f1-5";
        let mut comparisons = report.comparisons.iter();
        let found = comparisons.find(|e| e.cell.row == row && e.cell.column.name() == column);
        found.unwrap()
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
        assert_eq!(report.count().1, 2);
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
        assert_eq!(wholly.count().1, 1);
        let row = "| GFT | fourier | 0 | failed | – | 1 of 5, 1 failed | 2.72e-7 | – |";
        assert!(wholly.markdown().contains(row));
        let page = crate::page(&wholly, None);
        assert!(page.contains("<td class=\"worse\"><b>failed</b>"));
        // A thousand times the published number, which is of another domain.
        assert!(page.contains("<td class=\"alike best\"><b>1.00e-3</b>"));
    }

    #[test]
    fn numbers_have_the_digits_that_they_deserve() {
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
        assert!(report.csv().lines().next().unwrap().ends_with(",settings"));
        assert!(report.csv().contains(",abc,paper\n"));
    }
}
