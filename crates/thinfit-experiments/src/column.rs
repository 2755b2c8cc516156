//! A column of the paper's tables: a problem with its numbers of inputs and samples.
//!
//! A seed draws the training and test points of a function, or splits the rows of measured data; galaxy has one split.

use std::fmt;
use std::str::FromStr;

use crate::{Error, Measured, Problem, Sample, Split};
use serde::{Deserialize, Serialize};

/// A column: what is learned.
///
/// | name | problem | inputs, samples | table |
/// |---|---|---|---|
/// | `f1-5`, `f1-10`, `f2-5`, `f2-10`, `f3-5`, `f3-10` | functions on the unit cube, noiseless | as in [`Problem::settings`] | 1, 4, 5, 6 |
/// | `ishigami-5`, `ishigami-10` | f2 on [−π, π]^d | (5, 500), (10, 1000) | beside 1 |
/// | `h1`, `h2`, `h3` | functions on the unit cube | as in [`Problem::settings`] | 2 |
/// | `h1-text` | h1 as the paper prints it | (10, 1000) | beside 2 |
/// | `g1`, `g2`, `g3` | functions of two inputs | (2, 2000) | Figure 1 |
/// | `propulsion` … `skillcraft` | measured data, see [`uci`](crate::uci) | | 3 |
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "&'static str")]
pub enum Column {
    /// A function, its number of inputs, and its number of training points and of test points.
    Function(Problem, usize, usize),
    /// A measured data set.
    Measured(Measured),
}

/// No column has this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no column `{name}`; expected one of {}", Column::NAMED.map(|(name, _)| name).join(", "))]
pub struct UnknownColumn {
    /// The name that was given.
    pub name: String,
}

use Column::Function;

impl Column {
    /// Every column with its name, in the order of the tables.
    pub const NAMED: [(&'static str, Column); 21] = [
        ("f1-5", Function(Problem::F1, 5, 300)),
        ("f1-10", Function(Problem::F1, 10, 500)),
        ("f2-5", Function(Problem::F2, 5, 500)),
        ("f2-10", Function(Problem::F2, 10, 1000)),
        ("f3-5", Function(Problem::F3, 5, 500)),
        ("f3-10", Function(Problem::F3, 10, 200)),
        ("ishigami-5", Function(Problem::Ishigami, 5, 500)),
        ("ishigami-10", Function(Problem::Ishigami, 10, 1000)),
        ("h1", Function(Problem::H1, 10, 1000)),
        ("h1-text", Function(Problem::H1Text, 10, 1000)),
        ("h2", Function(Problem::H2, 20, 1000)),
        ("h3", Function(Problem::H3, 5, 500)),
        ("propulsion", Column::Measured(Measured::Propulsion)),
        ("galaxy", Column::Measured(Measured::Galaxy)),
        ("airfoil", Column::Measured(Measured::Airfoil)),
        ("ccpp", Column::Measured(Measured::Ccpp)),
        ("telemonit", Column::Measured(Measured::Telemonit)),
        ("skillcraft", Column::Measured(Measured::Skillcraft)),
        ("g1", Function(Problem::G1, 2, 2000)),
        ("g2", Function(Problem::G2, 2, 2000)),
        ("g3", Function(Problem::G3, 2, 2000)),
    ];

    /// All columns, in the order of the tables.
    pub fn all() -> impl Iterator<Item = Column> {
        Column::NAMED.into_iter().map(|(_, column)| column)
    }

    /// Name on the command line and in the ledger.
    pub fn name(self) -> &'static str {
        Column::NAMED
            .iter()
            .find(|(_, column)| *column == self)
            .map_or("another column", |(name, _)| name)
    }

    /// Name of the problem in the published tables.
    pub fn problem(self) -> &'static str {
        match self {
            Function(problem, ..) => problem.name(),
            Column::Measured(Measured::Telemonit) => "telemonitoring",
            Column::Measured(measured) => measured.name(),
        }
    }

    /// Number of inputs.
    pub fn dim(self) -> usize {
        match self {
            Function(_, dim, _) => dim,
            Column::Measured(measured) => measured.dim(),
        }
    }

    /// Number of training points.
    pub fn samples(self) -> usize {
        match self {
            Function(_, _, samples) => samples,
            Column::Measured(measured) => measured.samples(),
        }
    }

    /// The columns that a command-line argument names: one by its name, or all of a problem (`f1`).
    ///
    /// # Errors
    /// An unknown name.
    pub fn matching(word: &str) -> Result<Vec<Column>, UnknownColumn> {
        let named: Vec<Column> = Column::all().filter(|c| c.name() == word).collect();
        let problem = || Column::all().filter(|c| c.problem() == word).collect();
        let found = if named.is_empty() { problem() } else { named };
        match found.is_empty() {
            false => Ok(found),
            true => Err(UnknownColumn { name: word.into() }),
        }
    }

    /// Training and test points of a seed.
    ///
    /// # Errors
    /// Measured data that are missing or have the wrong contents.
    pub fn draw(self, seed: u64) -> Result<(Sample, Sample), Error> {
        match self {
            Function(problem, dim, samples) => {
                let sample = |split| problem.sample(dim, samples, seed, split);
                Ok((sample(Split::Train)?, sample(Split::Test)?))
            }
            Column::Measured(measured) => Ok(measured.read(seed)?),
        }
    }
}

impl fmt::Display for Column {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "{} ({}, {})",
            self.problem(),
            self.dim(),
            self.samples()
        )
    }
}

impl FromStr for Column {
    type Err = UnknownColumn;

    fn from_str(name: &str) -> Result<Self, UnknownColumn> {
        Column::all()
            .find(|column| column.name() == name)
            .ok_or_else(|| UnknownColumn { name: name.into() })
    }
}

impl TryFrom<String> for Column {
    type Error = UnknownColumn;

    fn try_from(name: String) -> Result<Self, UnknownColumn> {
        name.parse()
    }
}

impl From<Column> for &'static str {
    fn from(column: Column) -> &'static str {
        column.name()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back_to_their_columns() {
        for (name, column) in Column::NAMED {
            assert_eq!((column.name(), name.parse()), (name, Ok(column)));
        }
        assert_eq!(Column::matching("f1").unwrap().len(), 2);
        assert_eq!(Column::matching("h1").unwrap().len(), 1);
        assert_eq!(Column::matching("telemonitoring").unwrap().len(), 1);
        let error = Column::matching("f9").unwrap_err().to_string();
        assert!(
            error.contains("`f9`") && error.contains("f1-5, f1-10"),
            "{error}"
        );
    }

    #[test]
    fn every_published_cell_has_a_column() {
        for cell in crate::published::cells() {
            let found = Column::all().filter(|column| {
                (column.problem(), column.dim(), column.samples())
                    == (cell.problem, cell.dim, cell.samples)
            });
            assert_eq!(found.count(), 1, "{cell:?}");
        }
    }
}
