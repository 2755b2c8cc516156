//! Invalid cells of a table, collected to the end of the file, so that one message lists them all.

use crate::error::{Paths, Spot, missing, show};
use crate::{Error, Problem, Remedy};

/// Maximum number of flaws that are listed.
const MOST: usize = 8;

/// Errors of cells and rows.
#[derive(Debug, Default)]
pub(crate) struct TableErrors {
    listed: Vec<Error>,
    more: usize,
}

impl TableErrors {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.listed.is_empty()
    }

    /// Adds an error.
    pub fn add(&mut self, error: Error) {
        match self.listed.len() < MOST {
            true => self.listed.push(error),
            false => self.more += 1,
        }
    }

    /// One error for all; `None` if there are none.
    pub fn into_error(self) -> Option<Error> {
        Error::all(self.listed, self.more)
    }
}

/// Gaps: how many rows have some, and in which columns.
#[derive(Debug, Default)]
pub(crate) struct Gaps {
    /// Rows with a gap.
    rows: usize,
    /// Gaps in each of the columns.
    counts: Vec<usize>,
    /// Where the first is, and in which of these columns.
    first: Option<(Spot, usize)>,
}

impl Gaps {
    /// None yet, in this many columns.
    pub fn of(columns: usize) -> Self {
        Gaps {
            counts: vec![0; columns],
            ..Gaps::default()
        }
    }

    /// Counts a row whose gaps are in these columns.
    pub fn count(&mut self, columns: impl Iterator<Item = usize>, at: impl FnOnce() -> Spot) {
        let mut least = None;
        for j in columns {
            self.counts[j] += 1;
            least = least.or(Some(j));
        }
        if let Some(j) = least {
            self.rows += 1;
            self.first = self.first.take().or_else(|| Some((at(), j)));
        }
    }

    /// The error of a table of `rows` rows with these gaps; `name` gives that of a column. None if there are no gaps.
    pub fn into_error<'a>(
        self,
        paths: &Paths,
        rows: usize,
        name: impl Fn(usize) -> &'a str,
    ) -> Option<Error> {
        let (spot, j) = self.first?;
        let place = paths.place(spot);
        if self.counts.iter().sum::<usize>() == 1 {
            return Some(missing(place, name(j)));
        }
        let gappy = self
            .counts
            .iter()
            .enumerate()
            .filter(|(_, gaps)| **gaps > 0);
        let mut columns: Vec<(String, usize)> = gappy
            .map(|(j, gaps)| (show(name(j).as_bytes()), *gaps))
            .collect();
        columns.sort_by_key(|(_, gaps)| std::cmp::Reverse(*gaps));
        let only = (columns.len() == 1).then(|| columns[0].0.clone());
        let error = Error::from(Problem::Gaps {
            table: paths.table.as_path().into(),
            place,
            gappy: self.rows,
            rows,
            columns,
        });
        let error = error
            .or("fill them in")
            .or(Remedy::DropRows)
            .or(Remedy::FillMeans);
        Some(match only {
            Some(only) => error.or(Remedy::LeaveOut(only)),
            None => error,
        })
    }
}
