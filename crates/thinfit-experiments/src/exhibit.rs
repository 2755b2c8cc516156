//! The tables and the figure of the paper, and their cells.

use std::fmt;
use std::str::FromStr;

use crate::published::{self, Heading, Published};
use crate::{Column, Problem, Row};
use thinfit::Activation;

/// A table or a figure of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Exhibit {
    /// Tables 1 to 6.
    Table(u32),
    /// Figure 1: features learned for three functions of two inputs.
    Figure1,
}

/// The name of no table and no figure.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no `{name}`; expected one of table1 to table6, figure1, all")]
pub struct UnknownExhibit {
    /// The name that was given.
    pub name: String,
}

/// A cell of a table: a column, a row and an activation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Cell {
    /// The table or figure.
    pub exhibit: Exhibit,
    /// What is learned.
    pub column: Column,
    /// Hidden neurons of the table, even for a method with another number of them or none.
    pub width: usize,
    /// What learns it.
    pub row: Row,
    /// The activation, for methods that have a choice.
    pub activation: Option<Activation>,
}

impl Exhibit {
    /// All tables, then the figure.
    pub const ALL: [Exhibit; 7] = [
        Exhibit::Table(1),
        Exhibit::Table(2),
        Exhibit::Table(3),
        Exhibit::Table(4),
        Exhibit::Table(5),
        Exhibit::Table(6),
        Exhibit::Figure1,
    ];

    /// The exhibits that a command-line argument names; `all` names every one.
    ///
    /// # Errors
    /// An unknown name.
    pub fn matching(word: &str) -> Result<Vec<Exhibit>, UnknownExhibit> {
        match word {
            "all" => Ok(Exhibit::ALL.to_vec()),
            _ => Ok(vec![word.parse()?]),
        }
    }

    /// Hidden neurons.
    pub fn width(self) -> usize {
        match self {
            Exhibit::Table(4) => 50,
            Exhibit::Table(5) => 200,
            _ => 100,
        }
    }

    /// The columns: those of the paper and our own.
    pub fn columns(self) -> impl Iterator<Item = Column> {
        Column::all().filter(move |column| match (self, column) {
            (Exhibit::Table(table), Column::Function(problem, ..)) => match problem {
                Problem::F1 | Problem::F2 | Problem::F3 => table != 2 && table != 3,
                Problem::Ishigami => table == 1,
                Problem::H1 | Problem::H1Text | Problem::H2 | Problem::H3 => table == 2,
                _ => false,
            },
            (Exhibit::Table(table), Column::Measured(_)) => table == 3,
            (Exhibit::Figure1, Column::Function(problem, ..)) => {
                matches!(problem, Problem::G1 | Problem::G2 | Problem::G3)
            }
            (Exhibit::Figure1, Column::Measured(_)) => false,
        })
    }

    /// The rows: those of the paper and our own.
    pub fn rows(self) -> impl Iterator<Item = Row> {
        Row::ALL.into_iter().filter(move |row| {
            let ablation = matches!(row, Row::FullySampled | Row::NoisyGradients);
            match self {
                Exhibit::Table(1) => !ablation,
                // SHRIMP itself has real features there.
                Exhibit::Table(2 | 3) => !ablation && *row != Row::ShrimpReal,
                Exhibit::Table(6) => ablation,
                Exhibit::Table(_) => row.is_trained(),
                Exhibit::Figure1 => {
                    matches!(row, Row::Gft | Row::GftR | Row::AnovaRff | Row::NeuralNet)
                }
            }
        })
    }

    /// The lines of the table: one for each row and activation.
    pub(crate) fn lines(self) -> impl Iterator<Item = (Row, Option<Activation>)> {
        self.rows().flat_map(move |row| {
            let activations = match (self, row.activations()) {
                (_, []) => vec![None],
                (Exhibit::Figure1, _) => vec![Some(Activation::Fourier)],
                (_, some) => some.iter().copied().map(Some).collect(),
            };
            activations
                .into_iter()
                .map(move |activation| (row, activation))
        })
    }

    /// All cells, line by line.
    pub fn cells(self) -> Vec<Cell> {
        let mut cells = Vec::new();
        for (row, activation) in self.lines() {
            // Only rows that the paper copied from elsewhere may be of f2 on the wide domain.
            let wide = matches!(
                row,
                Row::AnovaRff | Row::Shrimp | Row::ShrimpReal | Row::Harfe
            );
            let columns = self
                .columns()
                .filter(|column| wide || column.problem() != Problem::Ishigami.name());
            cells.extend(columns.map(|column| Cell {
                exhibit: self,
                column,
                width: self.width(),
                row,
                activation,
            }));
        }
        cells
    }
}

impl Cell {
    /// What the paper prints in this cell.
    pub fn published(&self) -> Option<&'static Published> {
        self.published_as(self.column.problem())
    }

    /// What the paper prints in this cell or, on the wide domain of f2, in the cell of f2.
    pub fn reference(&self) -> Option<&'static Published> {
        self.published_as(match self.column.problem() {
            "ishigami" => "f2",
            problem => problem,
        })
    }

    /// The λ that the paper selected, 0 if it has no such cell, none if the method has no λ.
    pub fn published_lambda(&self) -> Option<f64> {
        let problem = match self.column.problem() {
            "h1-text" => "h1",
            problem => problem,
        };
        let published = self.published_as(problem).and_then(|cell| cell.lambda);
        self.row.has_lambda().then(|| published.unwrap_or(0.0))
    }

    fn published_as(&self, problem: &str) -> Option<&'static Published> {
        let heading = Heading {
            problem,
            dim: self.column.dim(),
            samples: self.column.samples(),
            width: self.width,
        };
        published::find(heading, self.row, self.activation)
    }
}

impl fmt::Display for Exhibit {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Exhibit::Table(table) => write!(out, "table{table}"),
            Exhibit::Figure1 => write!(out, "figure1"),
        }
    }
}

impl FromStr for Exhibit {
    type Err = UnknownExhibit;

    fn from_str(name: &str) -> Result<Self, UnknownExhibit> {
        Exhibit::ALL
            .into_iter()
            .find(|exhibit| exhibit.to_string() == name)
            .ok_or_else(|| UnknownExhibit { name: name.into() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_published_cell_is_one_cell_of_its_table() {
        let cells: Vec<Cell> = Exhibit::ALL.iter().flat_map(|e| e.cells()).collect();
        for published in published::cells() {
            let found = cells.iter().filter(|cell| {
                cell.exhibit == Exhibit::Table(published.table)
                    && cell.published() == Some(published)
            });
            assert_eq!(found.count(), 1, "{published:?}");
        }
    }

    #[test]
    fn the_wide_domain_stands_beside_f2_but_is_not_published() {
        let wide = Exhibit::Table(1).cells().into_iter();
        let wide: Vec<Cell> = wide.filter(|c| c.column.name() == "ishigami-5").collect();
        assert!(wide.iter().all(|cell| cell.published().is_none()));
        let references = wide.iter().filter_map(Cell::reference).map(|cell| cell.row);
        let expected = [Row::AnovaRff, Row::Shrimp, Row::Harfe];
        assert_eq!(references.collect::<Vec<_>>(), expected);
    }
}
