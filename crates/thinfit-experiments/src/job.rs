//! What there is to do: the cells of the tables, and one job for each cell and seed.

use std::fmt;
use std::str::FromStr;

use crate::published::{self, Setting};
use crate::{Column, Problem, Row, Settings};
use serde::{Deserialize, Serialize};
use thinfit::{Activation, Lambda};

/// A table or a figure of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum What {
    /// Tables 1 to 6.
    Table(u32),
    /// Figure 1: features learned for three functions of two inputs.
    Figure1,
}

/// Neither a table nor a figure.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no `{name}`; expected one of table1 to table6, figure1, all")]
pub struct UnknownWhat {
    /// The name that was given.
    pub name: String,
}

/// One entry of a table: a column, and a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Cell {
    /// Where it stands.
    pub what: What,
    /// What is learned.
    pub column: Column,
    /// Hidden neurons; in tables of 100, also where a method has another number of them or none.
    pub width: usize,
    /// By which method.
    pub row: Row,
    /// With which activation, where there is a choice.
    pub activation: Option<Activation>,
}

/// How the strength λ of the regulariser is found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Choice {
    /// As the paper selected it; 0 where the paper has no such cell.
    Published,
    /// By validation in every fit, or this value in all of them.
    Given(Lambda),
}

/// One fit: what makes its result what it is, but for the commit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// What is learned.
    pub column: Column,
    /// By which row, under the name that files have for it.
    #[serde(rename = "method")]
    pub row: Row,
    /// With which activation, where there is a choice.
    pub activation: Option<Activation>,
    /// Hidden neurons.
    pub width: usize,
    /// Strength of the regulariser, where the method has one.
    pub lambda: Option<Lambda>,
    /// Name of the settings, as [`Settings::label`] has it.
    pub preset: String,
    /// Seed of the data and of the fit.
    pub seed: u64,
}

/// Cells, seeds and settings: all jobs of one call.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The cells to fill.
    pub cells: Vec<Cell>,
    /// The seeds of every cell.
    pub seeds: Vec<u64>,
    /// How λ is found.
    pub lambda: Choice,
}

impl What {
    /// All tables, then the figure.
    pub const ALL: [What; 7] = [
        What::Table(1),
        What::Table(2),
        What::Table(3),
        What::Table(4),
        What::Table(5),
        What::Table(6),
        What::Figure1,
    ];

    /// What a word on the command line stands for; `all` is everything.
    ///
    /// # Errors
    /// A word that is none.
    pub fn matching(word: &str) -> Result<Vec<What>, UnknownWhat> {
        match word {
            "all" => Ok(What::ALL.to_vec()),
            _ => Ok(vec![word.parse()?]),
        }
    }

    /// Hidden neurons.
    pub fn width(self) -> usize {
        match self {
            What::Table(4) => 50,
            What::Table(5) => 200,
            _ => 100,
        }
    }

    /// The columns, those of the paper and ours beside them.
    pub fn columns(self) -> impl Iterator<Item = Column> {
        Column::all().filter(move |column| match (self, column) {
            (What::Table(table), Column::Function(problem, ..)) => match problem {
                Problem::F1 | Problem::F2 | Problem::F3 => table != 2 && table != 3,
                Problem::Ishigami => table == 1,
                Problem::H1 | Problem::H1Text | Problem::H2 | Problem::H3 => table == 2,
                _ => false,
            },
            (What::Table(table), Column::Measured(_)) => table == 3,
            (What::Figure1, Column::Function(problem, ..)) => {
                matches!(problem, Problem::G1 | Problem::G2 | Problem::G3)
            }
            (What::Figure1, Column::Measured(_)) => false,
        })
    }

    /// The methods, in the order of the rows.
    pub fn rows(self) -> impl Iterator<Item = Row> {
        Row::ALL.into_iter().filter(move |row| {
            let ablation = matches!(row, Row::FullySampled | Row::NoisyGradients);
            let trained = row.core().is_some() || *row == Row::NeuralNet;
            match self {
                What::Table(1) => !ablation,
                // SHRIMP itself has real features there.
                What::Table(2 | 3) => !ablation && *row != Row::ShrimpReal,
                What::Table(6) => ablation,
                What::Table(_) => trained,
                What::Figure1 => {
                    matches!(row, Row::Gft | Row::GftR | Row::AnovaRff | Row::NeuralNet)
                }
            }
        })
    }

    /// All cells, row by row.
    pub fn cells(self) -> Vec<Cell> {
        let mut cells = Vec::new();
        for row in self.rows() {
            let activations: Vec<Option<Activation>> = match (self, row.activations()) {
                (_, []) => vec![None],
                (What::Figure1, _) => vec![Some(Activation::Fourier)],
                (_, some) => some.iter().copied().map(Some).collect(),
            };
            for activation in activations {
                // f2 on the wide domain is there for the rows that the paper took from elsewhere.
                let wide = matches!(
                    row,
                    Row::AnovaRff | Row::Shrimp | Row::ShrimpReal | Row::Harfe
                );
                let columns = self
                    .columns()
                    .filter(|column| wide || column.problem() != Problem::Ishigami.name());
                cells.extend(columns.map(|column| Cell {
                    what: self,
                    column,
                    width: self.width(),
                    row,
                    activation,
                }));
            }
        }
        cells
    }
}

impl Cell {
    /// What the paper prints for it. The wide domain of f2 stands beside the published rows of f2.
    pub fn published(&self) -> Option<&'static published::Cell> {
        let problem = match self.column.problem() {
            "ishigami" => "f2",
            problem => problem,
        };
        let setting = Setting {
            problem,
            dim: self.column.dim(),
            samples: self.column.samples(),
            width: self.width,
        };
        published::find(setting, self.row, self.activation)
    }

    /// The λ that the paper selected, 0 where it has no such cell, none where the method has no λ.
    pub fn published_lambda(&self) -> Option<f64> {
        let twin = match self.column {
            Column::Function(Problem::H1Text, dim, samples) => Cell {
                column: Column::Function(Problem::H1, dim, samples),
                ..*self
            },
            _ => *self,
        };
        let published = twin.published().and_then(|cell| cell.lambda);
        self.row.has_lambda().then(|| published.unwrap_or(0.0))
    }
}

impl Plan {
    /// All jobs. The first seeds of all cells come before the next seeds, so what a stop leaves out is the last seeds.
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
        // Settings that were changed one by one may be long, and hold any character.
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
}

impl fmt::Display for Job {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} {}", self.column.name(), self.row.name())?;
        if let Some(activation) = self.activation {
            write!(out, " {}", activation.name())?;
        }
        write!(out, " width {}", self.width)?;
        match self.lambda {
            // Written out, 1e-300 has three hundred digits.
            Some(Lambda::Fixed(v)) if v > 0.0 && v < 1e-5 => write!(out, " lambda {v:e}")?,
            Some(Lambda::Fixed(v)) => write!(out, " lambda {v}")?,
            Some(Lambda::Auto) => write!(out, " lambda auto")?,
            None => {}
        }
        write!(out, " {} seed {}", self.preset, self.seed)
    }
}

impl fmt::Display for What {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            What::Table(table) => write!(out, "table{table}"),
            What::Figure1 => write!(out, "figure1"),
        }
    }
}

impl FromStr for What {
    type Err = UnknownWhat;

    fn from_str(name: &str) -> Result<Self, UnknownWhat> {
        What::ALL
            .into_iter()
            .find(|what| what.to_string() == name)
            .ok_or_else(|| UnknownWhat { name: name.into() })
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// The jobs of a method on f1 (5, 300), one for each activation, seed 1.
    pub(crate) fn jobs(row: Row) -> Vec<Job> {
        let cells = What::Table(1).cells().into_iter();
        let plan = Plan {
            cells: cells
                .filter(|cell| cell.row == row && cell.column.name() == "f1-5")
                .collect(),
            seeds: vec![1],
            lambda: Choice::Published,
        };
        plan.jobs(&Settings::paper())
    }

    #[test]
    fn every_published_cell_is_a_cell_of_its_table() {
        let cells: Vec<Cell> = What::ALL.iter().flat_map(|what| what.cells()).collect();
        for published in published::cells() {
            let found = cells.iter().filter(|cell| {
                cell.what == What::Table(published.table)
                    && cell.column.problem() == published.problem
                    && cell.published() == Some(published)
            });
            assert_eq!(found.count(), 1, "{published:?}");
        }
    }

    #[test]
    fn jobs_go_seed_by_seed_with_the_published_lambda() {
        let plan = Plan {
            cells: What::Table(1).cells(),
            seeds: vec![1, 2],
            lambda: Choice::Published,
        };
        let jobs = plan.jobs(&Settings::paper());
        assert_eq!(jobs.len(), 2 * plan.cells.len());
        assert!(jobs[..plan.cells.len()].iter().all(|job| job.seed == 1));
        let job = |text: &str| jobs.iter().any(|job| job.to_string() == text);
        assert!(job("f3-5 gft fourier width 100 lambda 0.0001 paper seed 1"));
        assert!(job("f3-5 gft-r fourier width 100 lambda 0 paper seed 2"));
        assert!(job("f3-5 kernel-ridge width 100 default seed 2"));
        let text = serde_json::to_string(&jobs[0]).unwrap();
        assert_eq!(serde_json::from_str::<Job>(&text).unwrap(), jobs[0]);
    }

    #[test]
    fn file_names_of_jobs_stay_short_and_apart() {
        let cells = What::Table(2).cells();
        let slug = |steps: &str| {
            let plan = Plan {
                cells: cells.clone(),
                seeds: vec![1],
                lambda: Choice::Published,
            };
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
