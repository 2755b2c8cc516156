//! The groups of cases. A case is a problem with a number of rows and a noise level.

use std::error::Error;

use thinfit::file::fnv1a;
use thinfit_experiments::{Column, Formula, Measured, Split, Stress, Trial};

/// Fresh points that a fit is judged by.
const FRESH: usize = 2000;
/// Noise, in multiples of the deviation of f.
const LEVELS: [f64; 4] = [0.0, 0.01, 0.1, 0.5];
/// The functions that reports and intervals are checked on.
const CHECKED: [&str; 5] = [
    "friedman-5",
    "otl-circuit-6",
    "piston-7",
    "borehole-8",
    "lim-2",
];
/// Columns with a known structure: sums of small terms, then none.
const STRUCTURED: [&str; 9] = [
    "f1-5", "f1-10", "f2-5", "f2-10", "f3-5", "f3-10", "g2", "g3", "h1",
];

/// Names of the groups.
pub const GROUPS: [&str; 10] = [
    "clean",
    "noise",
    "odd",
    "null",
    "idle",
    "paper",
    "uci",
    "coverage",
    "reported",
    "structure",
];

/// Where the rows come from.
enum Source {
    Formula(Formula),
    Column(Column),
    Stress(Stress),
}

/// A problem with a number of rows and a level of noise.
pub struct Case {
    pub group: &'static str,
    pub problem: String,
    /// Rows to fit.
    pub rows: usize,
    /// Deviation of the noise over that of f.
    pub noise: f64,
    source: Source,
}

impl Case {
    /// The cases of a group; other sizes than its own where the problem has a choice, and only those sizes elsewhere.
    pub fn of(group: &str, sizes: &[usize]) -> Result<Vec<Case>, String> {
        let formulas = |names: &[&str]| -> Vec<Formula> {
            let wanted = |f: &&Formula| names.is_empty() || names.contains(&f.name);
            Formula::ALL.iter().filter(wanted).copied().collect()
        };
        let columns = |names: &[&str], measured: bool| -> Vec<Column> {
            let wanted = |c: &Column| match names {
                [] => matches!(c, Column::Measured(_)) == measured,
                _ => names.contains(&c.name()),
            };
            Column::all().filter(wanted).collect()
        };
        let group = *GROUPS.iter().find(|name| **name == group).ok_or_else(|| {
            format!(
                "--group: expected one of {}, found `{group}`",
                GROUPS.join(", ")
            )
        })?;
        let (fits, known) = match group {
            "clean" => (vec![100, 300], (formulas(&[]), &LEVELS[..1])),
            "noise" => (vec![100, 300], (formulas(&[]), &LEVELS[1..])),
            "coverage" => (vec![30, 100, 300, 1000], (formulas(&CHECKED), &LEVELS[..])),
            "reported" => (vec![50, 200], (formulas(&CHECKED), &LEVELS[..])),
            _ => (Vec::new(), (Vec::new(), &LEVELS[..0])),
        };
        let fits = if sizes.is_empty() { &fits } else { sizes };
        let mut cases = Vec::new();
        for formula in known.0 {
            for &rows in fits {
                cases.extend(known.1.iter().map(|&noise| Case {
                    group,
                    problem: formula.name.into(),
                    rows,
                    noise,
                    source: Source::Formula(formula),
                }));
            }
        }
        let fixed = match group {
            "paper" => columns(&[], false),
            "uci" => columns(&[], true),
            "structure" => columns(&STRUCTURED, false),
            _ => Vec::new(),
        };
        cases.extend(fixed.into_iter().map(|column| Case {
            group,
            problem: column.name().into(),
            rows: column.samples(),
            noise: 0.0,
            source: Source::Column(column),
        }));
        let tables = match group {
            "odd" => Stress::all(),
            "null" => Stress::null(),
            "idle" => Stress::idle(),
            _ => Vec::new(),
        };
        cases.extend(tables.into_iter().map(|table| Case {
            group,
            problem: table.name.clone(),
            rows: table.rows,
            noise: table.level(),
            source: Source::Stress(table),
        }));
        cases.retain(|case| sizes.is_empty() || sizes.contains(&case.rows));
        Ok(cases)
    }

    /// The rows of a seed. Published columns have the points of their seed; elsewhere no two problems share theirs.
    pub fn draw(&self, seed: u64) -> Result<Trial, Box<dyn Error>> {
        let own = seed ^ fnv1a(self.problem.bytes());
        Ok(match &self.source {
            Source::Formula(f) => {
                let (train, test) = (Split::Train, Split::Test);
                let (train, test) = (f.sample(self.rows, own, train), f.sample(FRESH, own, test));
                Trial::noisy(train, test, self.noise, own)?
            }
            Source::Column(Column::Function(f, d, m)) => {
                let train = f.sample(*d, *m, seed, Split::Train)?;
                Trial::new(train, f.sample(*d, FRESH, seed, Split::Test)?)?
            }
            Source::Column(Column::Measured(data)) => {
                let (train, test) = Measured::read(*data, seed)?;
                Trial::new(train, test)?
            }
            Source::Stress(table) => table.draw(own)?,
        })
    }
}
