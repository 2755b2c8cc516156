//! A table in memory: first as it is in the file, with gaps and text, then complete.

use crate::error::{malformed, missing, not_a_number, show, useful};
use crate::words::Words;
use crate::{Error, Missing, Place, Position, Remedy, Result};
use faer::Mat;
use std::path::PathBuf;

/// The cells of a column (m).
#[derive(Debug, Clone, Copy)]
pub enum Cells<'a> {
    /// Numbers.
    Numbers(&'a [f64]),
    /// Text, at least in some rows.
    Text {
        /// Different texts.
        levels: &'a [String],
        /// Their indices, row by row.
        codes: &'a [f64],
    },
    /// Dates or times, which are not read.
    Dates,
}

impl<'a> Cells<'a> {
    /// The cells of a column with these values, which are codes if there are words.
    pub(crate) fn new(values: &'a [f64], words: Option<&'a Words>) -> Self {
        match words {
            Some(words) if words.dates => Cells::Dates,
            Some(words) if !words.levels.is_empty() => Cells::Text {
                levels: &words.levels,
                codes: values,
            },
            _ => Cells::Numbers(values),
        }
    }
}

/// A table read whole, without gaps: m rows of k columns.
#[derive(Debug, Clone)]
pub struct Table {
    /// Names of the selected columns (k).
    pub names: Vec<String>,
    /// Values (m × k), all finite; codes in a column of text.
    pub x: Mat<f64>,
    /// The place of each row among all rows of the file, counted from 0 (m).
    pub rows: Vec<usize>,
    /// Rows left out because of missing values.
    pub dropped: usize,
    /// Missing values replaced by means.
    pub filled: usize,
    path: PathBuf,
    words: Vec<Option<Words>>,
}

impl Table {
    /// The cells of column `j`.
    pub fn cells(&self, j: usize) -> Cells<'_> {
        Cells::new(self.x.col_as_slice(j), self.words[j].as_ref())
    }

    /// Where column `j` first holds `text`, if it was found as text.
    pub fn place(&self, j: usize, text: &str) -> Option<Place> {
        let position = self.words[j].as_ref()?.place(text)?;
        let path = self.path.clone();
        Some(Place { path, position })
    }
}

/// A table as it is in its file: a missing value is NaN.
#[derive(Debug)]
pub struct RawTable {
    pub(crate) path: PathBuf,
    pub(crate) names: Vec<String>,
    pub(crate) x: Mat<f64>,
    /// The text of each column that may hold some.
    pub(crate) words: Vec<Option<Words>>,
    /// The first row of each column in which it is missing.
    pub(crate) gaps: Vec<Option<(usize, Position)>>,
    pub(crate) missing: Missing,
    pub(crate) needed: bool,
    /// Columns that no mean may fill.
    pub(crate) measured: Vec<usize>,
}

impl RawTable {
    /// The cells of column `j`, with NaN for a missing one.
    pub fn cells(&self, j: usize) -> Cells<'_> {
        Cells::new(self.x.col_as_slice(j), self.words[j].as_ref())
    }

    /// The error of the first text in column `j`, where numbers were expected; none if there is no text.
    pub fn not_a_number(&self, j: usize) -> Option<Error> {
        let words = self.words[j].as_ref()?;
        let (text, position) = words.first()?;
        let error = not_a_number(self.at(position), &self.names[j], text.as_bytes());
        Some(useful(error, self.needed))
    }

    /// These columns without gaps: what becomes of a missing value is as the options of the reader say.
    ///
    /// # Errors
    /// A value is missing and [`Missing::Refuse`] is set, or no rows are left.
    pub fn complete(mut self, columns: &[usize]) -> Result<Table> {
        let (m, mut filled) = (self.x.nrows(), 0);
        let mut rows: Vec<usize> = (0..m).collect();
        match self.missing {
            Missing::Refuse => {
                let gaps = columns.iter().filter_map(|j| Some((self.gaps[*j]?, *j)));
                if let Some(((_, position), j)) = gaps.min_by_key(|((row, _), _)| *row) {
                    let error = missing(self.at(position), &self.names[j]);
                    return Err(useful(error, self.needed));
                }
            }
            Missing::Drop => rows.retain(|row| self.is_complete(*row, columns)),
            Missing::Mean => {
                rows.retain(|row| self.is_complete(*row, &self.measured));
                for j in columns {
                    if self.gaps[*j].is_some() && !self.measured.contains(j) {
                        filled += self.fill(*j)?;
                    }
                }
            }
        }
        let dropped = m - rows.len();
        if rows.is_empty() {
            return Err(self.no_rows(dropped));
        }
        let as_they_are = dropped == 0 && columns.iter().copied().eq(0..self.names.len());
        let pick = |j: &usize| (self.names[*j].clone(), self.words[*j].clone());
        let (names, words) = columns.iter().map(pick).unzip();
        let x = match as_they_are {
            true => self.x,
            false => Mat::from_fn(rows.len(), columns.len(), |i, j| {
                self.x[(rows[i], columns[j])]
            }),
        };
        Ok(Table {
            names,
            x,
            rows,
            dropped,
            filled,
            path: self.path,
            words,
        })
    }

    /// The table with columns that no mean may fill: rows without them are left out, where means fill the others.
    pub fn measured(mut self, columns: &[usize]) -> Self {
        self.measured = columns.to_vec();
        self
    }

    /// Whether the row has values in all of these columns.
    fn is_complete(&self, row: usize, columns: &[usize]) -> bool {
        columns
            .iter()
            .all(|j| self.gaps[*j].is_none() || !self.x[(row, *j)].is_nan())
    }

    /// Replaces NaN in column `j` by its mean, or by its most frequent text; returns the number of NaNs.
    fn fill(&mut self, j: usize) -> Result<usize> {
        let text = matches!(self.cells(j), Cells::Text { .. });
        let column = self.x.col_as_slice_mut(j);
        let present: Vec<f64> = column.iter().copied().filter(|v| !v.is_nan()).collect();
        if present.is_empty() {
            let name = show(self.names[j].as_bytes());
            let expected = format!("values in column `{name}`");
            let error = malformed(&self.path, expected, "none", "fill it in");
            return Err(useful(error.or(Remedy::LeaveOut(name)), self.needed));
        }
        let filling = if text {
            most_frequent(&present)
        } else {
            // Divide first: a sum of large numbers may overflow.
            let count = present.len() as f64;
            present.iter().map(|v| v / count).sum()
        };
        let missing = column.len() - present.len();
        column
            .iter_mut()
            .filter(|v| v.is_nan())
            .for_each(|v| *v = filling);
        Ok(missing)
    }

    /// The error of a table of which no rows are left.
    fn no_rows(&self, dropped: usize) -> Error {
        let found = format!("a missing value in each of {dropped}");
        let error = malformed(&self.path, "rows", found, "give complete rows");
        useful(
            error.or(Remedy::FewerColumns).or(Remedy::FillMeans),
            self.needed,
        )
    }

    fn at(&self, position: Position) -> Place {
        Place {
            path: self.path.clone(),
            position,
        }
    }
}

/// The code that occurs most often, the first of them in a tie.
fn most_frequent(codes: &[f64]) -> f64 {
    let most = codes.iter().fold(0.0, |most: f64, code| most.max(*code));
    let mut counts = vec![0usize; most as usize + 1];
    codes.iter().for_each(|code| counts[*code as usize] += 1);
    let first = counts
        .iter()
        .max()
        .and_then(|most| counts.iter().position(|n| n == most));
    first.unwrap_or(0) as f64
}
