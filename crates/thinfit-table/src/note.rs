//! Notes of a reader: skipped lines and interpreted cells, for the program to report.

use crate::{Position, error::Spot};
use std::collections::BTreeSet;
use std::path::PathBuf;
use thinfit_text::{Notation, unusual_number};

/// Something that was skipped or interpreted in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// The file.
    pub path: PathBuf,
    /// What was done.
    pub done: Done,
}

impl Note {
    /// Whether part of the file was skipped, rather than interpreted.
    pub fn is_loss(&self) -> bool {
        matches!(
            self.done,
            Done::Skipped {
                why: Why::Comment | Why::Blank | Why::Title,
                ..
            } | Done::Sheet { .. }
                | Done::Files { .. }
        )
    }
}

/// What was done in reading a file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Done {
    /// Lines or rows without cells of the table were skipped.
    Skipped {
        /// The reason.
        why: Why,
        /// How many.
        lines: u64,
        /// The first of them.
        first: Position,
    },
    /// A row of units below the names is not one of the table.
    Units {
        /// Where it is.
        position: Position,
        /// Columns and their units, without brackets.
        units: Vec<(String, String)>,
    },
    /// Quoted cells span several lines.
    LineBreaks {
        /// How many cells.
        cells: u64,
        /// Where the row of the first begins.
        first: Position,
    },
    /// Text that is not UTF-8 was read as Windows-1252.
    Windows1252 {
        /// The first place of such text.
        first: Position,
    },
    /// The first sheet of a workbook that is not hidden was taken, and others were not.
    Sheet {
        /// Its name.
        taken: String,
        /// The names of the hidden sheets before it.
        hidden: Vec<String>,
        /// The names of other sheets that are not hidden and have cells.
        others: Vec<String>,
    },
    /// Files of a folder, or folders in it, were skipped.
    Files {
        /// Their names in order, without those of hidden ones.
        skipped: Vec<String>,
    },
    /// Cells in an unusual notation were read as numbers.
    Numbers {
        /// The column.
        column: String,
        /// The notations.
        notations: Vec<Notation>,
        /// How many cells.
        cells: u64,
        /// Where the first is.
        first: Position,
        /// Its text.
        text: String,
    },
    /// Durations were read as seconds.
    Durations {
        /// The column.
        column: String,
    },
}

/// Why lines were skipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Why {
    /// They start with `#` and stand above the table.
    Comment,
    /// They are blank.
    Blank,
    /// They are blank and stand below the last row.
    End,
    /// They are a title above the names.
    Title,
    /// [`Options::skip_rows`](crate::Options::skip_rows) says so.
    Asked,
}

/// Lines that were skipped for one reason, or cells of another kind.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Skipped {
    lines: u64,
    first: u64,
}

impl Skipped {
    /// Counts `lines` lines, of which `first` is the first.
    pub fn count(&mut self, first: u64, lines: u64) {
        if self.lines == 0 {
            self.first = first;
        }
        self.lines += lines;
    }

    /// How many there are, and the first; `None` if there are none.
    pub fn counted(self) -> Option<(u64, u64)> {
        (self.lines > 0).then_some((self.lines, self.first))
    }

    /// What was done; none if there are no lines.
    pub fn done(self, why: Why, position: impl Fn(u64) -> Position) -> Option<Done> {
        (self.lines > 0).then(|| Done::Skipped {
            why,
            lines: self.lines,
            first: position(self.first),
        })
    }
}

/// Cells of a column in an unusual notation.
#[derive(Debug, Clone, Default)]
pub(crate) struct Unusual {
    cells: u64,
    notations: BTreeSet<Notation>,
    first: Option<(Spot, String)>,
}

impl Unusual {
    /// The number of a cell in an unusual notation; `None` if it is not a number, or has another currency than those before.
    pub fn number(&mut self, text: &str, spot: Spot) -> Option<f64> {
        let (value, notations) = unusual_number(text)?;
        self.add(&notations, 1, text, spot).then_some(value)
    }

    /// Counts cells with this text; false if it is in another currency than those before.
    pub fn add(&mut self, notations: &[Notation], cells: u64, text: &str, spot: Spot) -> bool {
        let currency = |notation: &&Notation| matches!(notation, Notation::Currency(_));
        let [known, new] = [
            self.notations.iter().find(currency),
            notations.iter().find(currency),
        ];
        if known.is_some() && new.is_some() && known != new {
            return false;
        }
        self.notations.extend(notations);
        self.cells += cells;
        self.first
            .get_or_insert_with(|| (spot, text.trim().to_owned()));
        true
    }

    /// Where the first is and what was done; `None` if there are none.
    pub fn done(&self, column: &str) -> Option<(Spot, Done)> {
        let (spot, text) = self.first.as_ref()?;
        let done = Done::Numbers {
            column: column.to_owned(),
            notations: self.notations.iter().copied().collect(),
            cells: self.cells,
            first: spot.position,
            text: text.clone(),
        };
        Some((*spot, done))
    }
}
