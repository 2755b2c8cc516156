//! One fit, and the plan that lists the fits of a call.

use std::fmt;

use crate::{Cell, Column, Row, Settings};
use serde::{Deserialize, Serialize};
use thinfit::{Activation, Lambda};

/// How the strength λ of the regulariser is chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Choice {
    /// As the paper selected it; 0 where the paper has no such cell.
    Published,
    /// By validation in every fit, or the same value in all of them.
    Given(Lambda),
}

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
    /// All jobs, seed by seed: an early stop costs every cell its last seeds, and no cell all of them.
    pub fn jobs(&self, settings: &Settings) -> Vec<Job> {
        let job = move |cell: &Cell, seed| Job {
            column: cell.column,
            row: cell.row,
            activation: cell.activation,
            width: cell.width,
            lambda: match self.lambda {
                Choice::Published => cell.published_lambda().map(Lambda::Fixed),
                Choice::Given(lambda) => cell.row.has_lambda().then_some(lambda),
            },
            preset: settings.label(cell.row),
            seed,
        };
        self.seeds
            .iter()
            .flat_map(|&seed| self.cells.iter().map(move |cell| job(cell, seed)))
            .collect()
    }
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
    use crate::Exhibit;

    /// A plan of these cells with the published λ.
    pub(crate) fn plan(cells: Vec<Cell>, seeds: &[u64]) -> Plan {
        Plan {
            cells,
            seeds: seeds.to_vec(),
            lambda: Choice::Published,
        }
    }

    /// The jobs of a row on f1 (5, 300), one for each activation, seed 1.
    pub(crate) fn jobs(row: Row) -> Vec<Job> {
        let mut cells = Exhibit::Table(1).cells();
        cells.retain(|cell| cell.row == row && cell.column.name() == "f1-5");
        plan(cells, &[1]).jobs(&Settings::paper())
    }

    #[test]
    fn jobs_go_seed_by_seed_with_the_published_lambda() {
        let plan = plan(Exhibit::Table(1).cells(), &[1, 2]);
        let jobs = plan.jobs(&Settings::paper());
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
    fn file_names_of_jobs_are_short_and_differ() {
        let slug = |steps: &str| {
            let plan = plan(Exhibit::Table(2).cells(), &[1]);
            let mut job = plan.jobs(&Settings::paper()).remove(0);
            job.preset += steps;
            job.slug()
        };
        assert_eq!(slug(""), "h1_anova-rff_fourier_width_100_default_seed_1");
        let long = " generate={\"steps\":4}".repeat(40);
        assert!(slug(&long).len() < 100 && slug(&long).is_ascii());
        assert_ne!(slug(" a=1_2"), slug(" a=1 2"));
    }
}
