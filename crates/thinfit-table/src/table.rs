//! A table in memory: as in the file at first, with gaps and text, then complete.

use crate::error::{Paths, Spot, malformed, not_a_number, show, useful, without};
use crate::table_errors::{Gaps, TableErrors};
use crate::text_cells::TextCells;
use crate::{Error, Missing, Place, Position, Problem, Remedy, Result};
use faer::Mat;
use thinfit_text::{list, unusual_number};

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
    /// The cells of a column with these values, which are codes if there are text cells.
    pub(crate) fn new(values: &'a [f64], text_cells: Option<&'a TextCells>) -> Self {
        match text_cells {
            Some(text_cells) if text_cells.dates => Cells::Dates,
            Some(text_cells) if !text_cells.levels.is_empty() => Cells::Text {
                levels: &text_cells.levels,
                codes: values,
            },
            _ => Cells::Numbers(values),
        }
    }
}

/// A table read whole: m rows of k columns.
#[derive(Debug, Clone)]
pub struct Table {
    /// Names of the selected columns (k).
    pub names: Vec<String>,
    /// Values (m × k), all finite but for the gaps that [`Missing::Keep`] leaves; codes in a column of text.
    pub x: Mat<f64>,
    /// The place of each row among all rows of the file, counted from 0 (m).
    pub rows: Vec<usize>,
    /// Rows left out because of missing values.
    pub dropped: usize,
    paths: Paths,
    text_cells: Vec<Option<TextCells>>,
}

impl Table {
    /// The cells of column `j`.
    pub fn cells(&self, j: usize) -> Cells<'_> {
        Cells::new(self.x.col_as_slice(j), self.text_cells[j].as_ref())
    }

    /// Where column `j` first holds `text`, if it was found as text.
    pub fn place(&self, j: usize, text: &str) -> Option<Place> {
        let spot = self.text_cells[j].as_ref()?.place(text)?;
        Some(self.paths.place(spot))
    }
}

/// A table as it is in its file: a missing value is NaN.
#[derive(Debug)]
pub struct RawTable {
    pub(crate) paths: Paths,
    pub(crate) names: Vec<String>,
    pub(crate) x: Mat<f64>,
    /// The text of each column that may hold some.
    pub(crate) text_cells: Vec<Option<TextCells>>,
    /// The first row of each column in which it is missing.
    pub(crate) gaps: Vec<Option<(usize, Spot)>>,
    pub(crate) missing: Missing,
    pub(crate) needed: bool,
    /// Columns that may have no gaps, whatever becomes of those of others.
    pub(crate) measured: Vec<usize>,
    /// What is wrong with cells.
    pub(crate) errors: TableErrors,
}

impl RawTable {
    /// The cells of column `j`, with NaN for a missing one.
    pub fn cells(&self, j: usize) -> Cells<'_> {
        Cells::new(self.x.col_as_slice(j), self.text_cells[j].as_ref())
    }

    /// Takes text in these columns for flaws, of which [`RawTable::complete`] tells.
    pub fn expect_numbers(mut self, columns: &[usize]) -> Self {
        for j in columns {
            // Without texts its values are numbers, not codes.
            let text_cells = self.text_cells[*j].as_ref();
            let Some(text_cells) =
                text_cells.filter(|text_cells| text_cells.dates || !text_cells.levels.is_empty())
            else {
                continue;
            };
            let name = &self.names[*j];
            let texts: Vec<(&str, Spot)> = text_cells.texts().collect();
            // A number in an unusual notation is not a flaw.
            let unusual = |text: &str| unusual_number(text).is_some();
            let readable = texts.iter().all(|(text, _)| unusual(text));
            let mut flaws = texts
                .iter()
                .filter(|(text, _)| readable || !unusual(text))
                .map(|(text, spot)| not_a_number(self.paths.place(*spot), name, text.as_bytes()));
            let first = flaws.next();
            let comma = |error: &Error| error.remedies.contains(&Remedy::DecimalComma);
            let classes = self.measured.contains(j)
                && mostly_text(text_cells, self.x.col_as_slice(*j))
                && !first.as_ref().is_some_and(comma);
            if text_cells.dates || classes {
                const MOST: usize = 4;
                let shown = texts.iter().take(MOST).map(|text| show(text.0.as_bytes()));
                let more = if texts.len() > MOST { ", …" } else { "" };
                let examples = match text_cells.dates {
                    true => "dates or times".into(),
                    false => format!("{}{more}", list(shown)),
                };
                let start = Spot {
                    file: 0,
                    position: Position::Row(1),
                };
                let spot = texts.first().map_or(start, |text| text.1);
                let error = Error::from(Problem::Text {
                    place: self.paths.place(spot),
                    column: show(name.as_bytes()),
                    examples,
                });
                self.errors.add(error.or(Remedy::Numbers));
            } else {
                let flaws: Vec<Error> = first.into_iter().chain(flaws).collect();
                flaws.into_iter().for_each(|flaw| self.errors.add(flaw));
            }
        }
        self
    }

    /// These columns, all of whose cells can be used: what becomes of a missing value is as the options of the reader say.
    ///
    /// # Errors
    /// Cells that cannot be used, values that are missing where [`Missing::Refuse`] is set, or no rows are left.
    pub fn complete(mut self, columns: &[usize]) -> Result<Table> {
        let m = self.x.nrows();
        self.check(columns)?;
        let mut rows: Vec<usize> = (0..m).collect();
        match self.missing {
            Missing::Refuse => {}
            Missing::Drop => rows.retain(|row| self.is_complete(*row, columns)),
            Missing::Keep => rows.retain(|row| self.is_complete(*row, &self.measured)),
        }
        let dropped = m - rows.len();
        if rows.is_empty() {
            return Err(self.no_rows(dropped));
        }
        let as_they_are = dropped == 0 && columns.iter().copied().eq(0..self.names.len());
        let pick = |j: &usize| (self.names[*j].clone(), self.text_cells[*j].clone());
        let (names, text_cells) = columns.iter().map(pick).unzip();
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
            paths: self.paths,
            text_cells,
        })
    }

    /// Tells of all flaws, and of the gaps in these columns if they are refused.
    fn check(&mut self, columns: &[usize]) -> Result<()> {
        let mut flaws = std::mem::take(&mut self.errors);
        if self.missing == Missing::Refuse && columns.iter().any(|j| self.gaps[*j].is_some()) {
            let mut gaps = Gaps::of(columns.len());
            // Positions are known of first gaps alone, among which is the first of all.
            let first = columns.iter().filter_map(|j| self.gaps[*j]);
            let first = first.min_by_key(|(row, _)| *row).map(|(_, at)| at);
            for row in 0..self.x.nrows() {
                let gappy = (0..columns.len()).filter(|j| self.x[(row, columns[*j])].is_nan());
                let position = Position::Row(row as u64 + 1);
                gaps.count(gappy, || first.unwrap_or(Spot { file: 0, position }));
            }
            let name = |j: usize| self.names[columns[j]].as_str();
            let error = gaps.into_error(&self.paths, self.x.nrows(), name);
            error.into_iter().for_each(|error| flaws.add(error));
        }
        let measured = self.measured.iter();
        let measured: Vec<String> = measured.map(|j| show(self.names[*j].as_bytes())).collect();
        // What is to be learned cannot be left out.
        let stays =
            |remedy: &Remedy| matches!(remedy, Remedy::LeaveOut(name) if measured.contains(name));
        match flaws.into_error() {
            Some(error) => Err(without(useful(error, self.needed), &stays)),
            None => Ok(()),
        }
    }

    /// The table with columns that may have no gaps: with [`Missing::Keep`], rows with some there are left out.
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

    /// The error of a table of which no rows are left.
    fn no_rows(&self, dropped: usize) -> Error {
        let found = format!("a missing value in each of {dropped}");
        let error = malformed(&self.paths.table, "rows", found, "give complete rows");
        useful(
            error.or(Remedy::FewerColumns).or(Remedy::FillMeans),
            self.needed,
        )
    }
}

/// Whether most of these cells, by their codes, are different texts rather than numbers.
fn mostly_text(text_cells: &TextCells, codes: &[f64]) -> bool {
    let present = codes.iter().filter(|code| !code.is_nan());
    let (text, numbers): (Vec<&f64>, Vec<&f64>) =
        present.partition(|code| text_cells.is_text(**code as usize));
    text_cells.texts().nth(1).is_some() && text.len() > numbers.len()
}
