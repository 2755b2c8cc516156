//! One fit, and the plan of all fits of a call.

use std::fmt;

use crate::{Cell, Column, Exhibit, Ledger, Row, Settings};
use serde::{Deserialize, Serialize};
use thinfit::{Activation, Lambda};

/// How the strength λ of the regulariser is chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Choice {
    /// As the paper's authors chose it: the least validation error of one fit for each λ, whose seed is 0; all seeds of
    /// the cell then have this λ.
    Validated,
    /// As the paper selected it; 0 where the paper has no such cell.
    Published,
    /// By validation in every fit, or the same value in all of them.
    Given(Lambda),
}

/// The seed of the fits that choose λ, which no other fit of a plan has.
pub(crate) const CHOOSING: u64 = 0;

/// One fit: everything that determines its result except the commit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// What is learned.
    pub column: Column,
    /// What learns it.
    #[serde(rename = "method")]
    pub row: Row,
    /// The activation, for methods that have a choice.
    pub activation: Option<Activation>,
    /// Hidden neurons.
    pub width: usize,
    /// Strength of the regulariser, for methods that have one.
    pub lambda: Option<Lambda>,
    /// Name of the settings, from [`Settings::label`].
    pub preset: String,
    /// Seed of the data and of the fit.
    pub seed: u64,
}

/// Cells, seeds and λ: all jobs of one call.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The cells to fill.
    pub cells: Vec<Cell>,
    /// The seeds of every cell.
    pub seeds: Vec<u64>,
    /// How λ is chosen.
    pub lambda: Choice,
}

impl Plan {
    /// All jobs that are known: first those that choose λ, then seed by seed those of the cells whose λ is known, so that a
    /// stop among these costs every cell its last seeds, and no cell all of them.
    pub fn jobs(&self, settings: &Settings, ledger: &Ledger) -> Vec<Job> {
        let mut jobs = Vec::new();
        if self.lambda == Choice::Validated {
            let cells = self.cells.iter().filter(|cell| has_choice(cell));
            jobs.extend(cells.flat_map(|cell| choosing(cell, settings)));
        }
        let chosen = self.cells.iter();
        let chosen: Vec<Job> = chosen
            .filter_map(|cell| self.job(cell, settings, ledger))
            .collect();
        for &seed in &self.seeds {
            jobs.extend(chosen.iter().map(|job| Job {
                seed,
                ..job.clone()
            }));
        }
        jobs
    }

    /// The fit of a cell, but for its seed; none while its λ is not known.
    pub(crate) fn job(&self, cell: &Cell, settings: &Settings, ledger: &Ledger) -> Option<Job> {
        let lambda = match self.lambda {
            _ if !cell.row.has_lambda() => None,
            Choice::Validated if has_choice(cell) => {
                Some(Lambda::Fixed(validated(cell, settings, ledger)?))
            }
            Choice::Validated | Choice::Published => cell.published_lambda().map(Lambda::Fixed),
            Choice::Given(lambda) => Some(lambda),
        };
        Some(job(cell, settings, lambda))
    }
}

/// Whether validation chooses λ of a cell. In Figure 1 the paper has none.
fn has_choice(cell: &Cell) -> bool {
    cell.row.has_lambda() && cell.exhibit != Exhibit::Figure1
}

fn job(cell: &Cell, settings: &Settings, lambda: Option<Lambda>) -> Job {
    Job {
        column: cell.column,
        row: cell.row,
        activation: cell.activation,
        width: cell.width,
        lambda,
        preset: settings.label(cell.row),
        seed: CHOOSING,
    }
}

/// The fits that choose λ of a cell.
fn choosing(cell: &Cell, settings: &Settings) -> impl Iterator<Item = Job> {
    Lambda::GRID
        .map(|lambda| job(cell, settings, Some(Lambda::Fixed(lambda))))
        .into_iter()
}

/// The λ with the least validation error; none while a fit is missing. A fit that failed does not count; if all did, 0.
fn validated(cell: &Cell, settings: &Settings, ledger: &Ledger) -> Option<f64> {
    let mut best = (f64::INFINITY, 0.0);
    for (job, lambda) in choosing(cell, settings).zip(Lambda::GRID) {
        // A failed one that is tried again is missing.
        let entry = ledger
            .get(&job)
            .filter(|_| ledger.has(&job).unwrap_or(false))?;
        let error = entry.mse.and(entry.validation_mse).unwrap_or(f64::INFINITY);
        if error < best.0 {
            best = (error, lambda);
        }
    }
    Some(best.1)
}

impl Job {
    /// A name that no other job has, fit for a file.
    pub fn slug(&self) -> String {
        // A list of changed settings may be long and hold any character.
        let plain = |c: char| c.is_ascii_alphanumeric();
        let preset = match self.preset.chars().all(plain) {
            true => self.preset.clone(),
            false => format!("{:016x}", thinfit::file::fnv1a(self.preset.bytes())),
        };
        Job {
            preset,
            ..self.clone()
        }
        .to_string()
        .replace(' ', "_")
    }

    /// The job that this one starts from: GFT for GFT-r, otherwise itself.
    pub(crate) fn root(&self) -> Job {
        let row = match self.row {
            Row::GftR => Row::Gft,
            row => row,
        };
        Job {
            row,
            ..self.clone()
        }
    }
}

impl fmt::Display for Job {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} {}", self.column.name(), self.row.name())?;
        if let Some(activation) = self.activation {
            write!(out, " {}", activation.name())?;
        }
        write!(out, " width {}", self.width)?;
        match self.lambda {
            // Without an exponent, 1e-300 has three hundred digits.
            Some(Lambda::Fixed(v)) if v > 0.0 && v < 1e-5 => write!(out, " lambda {v:e}")?,
            Some(Lambda::Fixed(v)) => write!(out, " lambda {v}")?,
            Some(Lambda::Auto) => write!(out, " lambda auto")?,
            None => {}
        }
        write!(out, " {} seed {}", self.preset, self.seed)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::Entry;
    use crate::attempt::blank;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// A plan of these cells with the published λ.
    pub(crate) fn plan(cells: Vec<Cell>, seeds: &[u64]) -> Plan {
        Plan {
            cells,
            seeds: seeds.to_vec(),
            lambda: Choice::Published,
        }
    }

    /// The ledger of a folder that is not there any more.
    pub(crate) fn no_ledger() -> Ledger {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = format!("thinfit-none-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(folder);
        let ledger = Ledger::open(&folder).unwrap();
        std::fs::remove_dir_all(&folder).unwrap();
        ledger
    }

    /// The jobs of a row on f1 (5, 300), one for each activation, seed 1.
    pub(crate) fn jobs(row: Row) -> Vec<Job> {
        let mut cells = Exhibit::Table(1).cells();
        cells.retain(|cell| cell.row == row && cell.column.name() == "f1-5");
        plan(cells, &[1]).jobs(&Settings::paper(), &no_ledger())
    }

    #[test]
    fn jobs_go_seed_by_seed_with_the_published_lambda() {
        let plan = plan(Exhibit::Table(1).cells(), &[1, 2]);
        let jobs = plan.jobs(&Settings::paper(), &no_ledger());
        assert_eq!(jobs.len(), 2 * plan.cells.len());
        assert!(jobs[..plan.cells.len()].iter().all(|job| job.seed == 1));
        let job = |text: &str| jobs.iter().any(|job| job.to_string() == text);
        assert!(job("f3-5 gft fourier width 100 lambda 0.0001 paper seed 1"));
        assert!(job("f3-5 gft-r fourier width 100 lambda 0 paper seed 2"));
        assert!(job("f3-5 kernel-ridge width 100 default seed 2"));
        let text = serde_json::to_string(&jobs[0]).unwrap();
        assert!(text.contains("\"method\":\"anova-rff\""), "{text}");
        assert_eq!(serde_json::from_str::<Job>(&text).unwrap(), jobs[0]);
    }

    #[test]
    fn lambda_is_chosen_by_fits_of_a_seed_of_its_own_and_then_serves_all_seeds() {
        let folder = std::env::temp_dir().join(format!("thinfit-lambda-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        let (ledger, settings) = (Ledger::open(&folder).unwrap(), Settings::paper());
        let mut cells = Exhibit::Table(1).cells();
        cells.retain(|cell| {
            let rows = [Row::Gft, Row::KernelRidge];
            rows.contains(&cell.row) && cell.column.name() == "f1-5"
        });
        cells.retain(|cell| cell.activation != Some(Activation::Sigmoid));
        let plan = Plan {
            lambda: Choice::Validated,
            ..plan(cells, &[1, 2])
        };
        let first = plan.jobs(&settings, &ledger);
        let choosing: Vec<&Job> = first.iter().filter(|job| job.seed == CHOOSING).collect();
        assert_eq!((choosing.len(), first.len()), (Lambda::GRID.len(), 8));
        for (i, job) in choosing.into_iter().enumerate() {
            assert_eq!(plan.jobs(&settings, &ledger).len(), 8, "{i}");
            // The third is the best, the second failed.
            let entry = Entry {
                mse: (i != 1).then_some(1.0),
                validation_mse: (i != 1).then(|| (i as f64 - 2.0).abs() + 0.1),
                ..blank(job, 1.0)
            };
            ledger.add(&entry).unwrap();
        }
        let jobs = plan.jobs(&settings, &ledger);
        let of = |row: Row| {
            jobs.iter()
                .filter(move |job| job.row == row && job.seed > 0)
        };
        let lambdas: Vec<_> = of(Row::Gft).map(|job| (job.seed, job.lambda)).collect();
        let best = Some(Lambda::Fixed(Lambda::GRID[2]));
        assert_eq!(lambdas, [(1, best), (2, best)]);
        assert_eq!((of(Row::KernelRidge).count(), jobs.len()), (2, 10));
        // The one that failed may be the best after all.
        ledger.retry();
        assert_eq!(plan.jobs(&settings, &ledger).len(), 8);
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn file_names_of_jobs_are_short_and_differ() {
        let slug = |steps: &str| {
            let plan = plan(Exhibit::Table(2).cells(), &[1]);
            let mut job = plan.jobs(&Settings::paper(), &no_ledger()).remove(0);
            job.preset += steps;
            job.slug()
        };
        assert_eq!(slug(""), "h1_anova-rff_fourier_width_100_default_seed_1");
        let long = " generate={\"steps\":4}".repeat(40);
        assert!(slug(&long).len() < 100 && slug(&long).is_ascii());
        assert_ne!(slug(" a=1_2"), slug(" a=1 2"));
    }
}
