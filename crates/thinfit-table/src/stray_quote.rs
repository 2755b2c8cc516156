//! Stray quotes: distinguishes a quoted cell that spans lines from rows between two quotes that should not be there.

use crate::Delimiter;
use crate::layout::Field;
use crate::records::Fields;
use memchr::memchr;

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

    /// The line, counted from 0, on which a stray quote of a record opens, as far as one can tell: text follows where a cell with
    /// delimiters or line ends closes; or, without this cell, the lines on which it opens and closes are rows of `width` cells,
    /// and so are most of the lines between. Of `names`, the first line holds no numbers. `kind` gives the kind of a field.
    pub fn stray_quote(
        &self,
        record: &[u8],
        delimiter: Delimiter,
        (width, names): (usize, bool),
        kind: impl Fn(&[u8]) -> Field,
    ) -> Option<u64> {
        memchr(b'"', record)?;
        let fields: Vec<&[u8]> = Fields::new(record, delimiter).collect();
        let kinds = |fields: &[&[u8]]| -> Vec<Field> { fields.iter().map(|f| kind(f)).collect() };
        let cells =
            |line: &[u8]| -> Vec<Field> { Fields::new(line, delimiter).map(&kind).collect() };
        let is_gap = |cells: &Vec<Field>| cells.iter().all(|cell| *cell == Field::Missing);
        let mut line = 0;
        for (j, field) in fields.iter().enumerate() {
            if is_overfull(field, delimiter) {
                return Some(line);
            }
            let lines: Vec<&[u8]> = field.split(|b| *b == b'\n').collect();
            if let [first, between @ .., last] = lines.as_slice() {
                // Quotes inside are doubled, as of empty cells.
                let (first, last) = (&first[1..], &last[..last.len() - 1]);
                let opening = [kinds(&fields[..j]), cells(first)].concat();
                let closing = [cells(last), kinds(&fields[j + 1..])].concat();
                let between = between.iter().map(|line| cells(line));
                let between: Vec<Vec<Field>> = between.filter(|cells| !is_gap(cells)).collect();
                let rows = between.iter().filter(|cells| self.is_row(cells, width));
                let opens = names && line == 0 && opening.len() == width;
                if (opens || self.is_row(&opening, width))
                    && self.is_row(&closing, width)
                    && 2 * rows.count() >= between.len()
                {
                    return Some(line);
                }
            }
            line += lines.len() as u64 - 1;
        }
        None
    }

    /// Whether these cells are a row: as many as there are columns, and a number or nothing where most cells are numbers. If
    /// that is nowhere, one is a number.
    fn is_row(&self, cells: &[Field], width: usize) -> bool {
        let numeric = |j: usize| self.numeric.get(j).copied().unwrap_or(false);
        cells.len() == width
            && (0..width).all(|j| !numeric(j) || !cells[j].is_text())
            && ((0..width).any(numeric) || cells.contains(&Field::Number))
    }
}

/// Whether text follows the closing quote of a field that has delimiters or line ends between its quotes, as no program writes.
fn is_overfull(field: &[u8], delimiter: Delimiter) -> bool {
    let Some(inner) = field.strip_prefix(b"\"") else {
        return false;
    };
    let mut at = 0;
    while let Some(quote) = memchr(b'"', &inner[at..]) {
        at += quote + 1;
        match inner.get(at) {
            None => return false,
            Some(b'"') => at += 1,
            Some(_) => {
                let ends = delimiter.bytes();
                return inner[..at].iter().any(|b| ends.contains(b) || *b == b'\n');
            }
        }
    }
    false
}
