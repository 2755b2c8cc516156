//! Stray quotes: a quoted cell over several lines, or the rows between two quotes that should not be there.

use crate::Delimiter;
use crate::layout::Field;
use crate::records::Fields;
use memchr::{memchr, memchr_iter};

/// What the rows of a table look like.
#[derive(Debug, Clone, Default)]
pub(crate) struct RowShape {
    /// Whether most cells of each column are numbers.
    numeric: Vec<bool>,
}

impl RowShape {
    /// The shape of these rows.
    pub fn of(rows: &[Vec<Field>]) -> Self {
        let width = rows.iter().map(Vec::len).max().unwrap_or(0);
        let numeric = |j: usize| {
            let cells = || rows.iter().filter_map(|row| row.get(j));
            let numbers = cells().filter(|cell| **cell == Field::Number).count();
            let texts = cells().filter(|cell| cell.is_text()).count();
            numbers > texts
        };
        RowShape {
            numeric: (0..width).map(numeric).collect(),
        }
    }

    /// The line, counted from 0, on which a stray quote of a record opens, as far as one can tell: without its quotes, a line
    /// on which a cell opens and the one on which it closes are rows of `width` cells, and so are most of the lines between.
    /// `kind` gives the kind of a field.
    pub fn stray_quote(
        &self,
        record: &[u8],
        delimiter: Delimiter,
        width: usize,
        kind: impl Fn(&[u8]) -> Field,
    ) -> Option<u64> {
        memchr(b'\n', record)?;
        let lines: Vec<&[u8]> = record.split(|b| *b == b'\n').collect();
        let cells = |line: &[u8], quoted: bool| -> Vec<Field> {
            let line: Vec<u8> = line
                .iter()
                .copied()
                .filter(|b| quoted || *b != b'"')
                .collect();
            Fields::new(&line, delimiter).map(&kind).collect()
        };
        let is_row = |line: &&[u8]| {
            let row = |quoted: bool| self.is_row(&cells(line, quoted), width);
            row(false) || row(true)
        };
        let is_gap = |line: &&[u8]| {
            let cells = cells(line, false);
            cells.iter().all(|cell| *cell == Field::Missing)
        };
        let mut open = 0;
        for field in Fields::new(record, delimiter) {
            let close = open + memchr_iter(b'\n', field).count();
            if close > open {
                let between = lines[open + 1..close].iter().filter(|line| !is_gap(line));
                let (rows, others): (Vec<&&[u8]>, Vec<&&[u8]>) =
                    between.partition(|line| is_row(line));
                let opens = cells(lines[open], false).len() >= width;
                if opens && is_row(&lines[close]) && rows.len() >= others.len() {
                    return Some(open as u64);
                }
            }
            open = close;
        }
        None
    }

    /// Whether these cells are a row: as many as there are columns, a number or nothing where most cells are numbers, and at
    /// least one number. With more cells, as of a text with delimiters, the first and the last ones count.
    fn is_row(&self, cells: &[Field], width: usize) -> bool {
        let numeric = |j: usize| self.numeric.get(j).copied().unwrap_or(false);
        let fits = |j: usize, cell: &Field| !numeric(j) || !cell.is_text();
        let columns = || 0..width;
        if cells.len() < width || !cells.contains(&Field::Number) {
            return false;
        }
        if cells.len() == width {
            return columns().all(|j| fits(j, &cells[j]));
        }
        let surplus = cells.len() - width;
        let mut first = columns().take_while(|j| numeric(*j));
        let mut last = columns().rev().take_while(|j| numeric(*j));
        first.all(|j| fits(j, &cells[j])) && last.all(|j| fits(j, &cells[j + surplus]))
    }
}
