//! The table that a user named: its files, how they are read, and what for.

pub mod model_rows;
pub mod roles;
pub mod samples;

use std::path::{Path, PathBuf};

use thinfit::Encoding;
use thinfit_methods::Predictor;
use thinfit_table::{Missing, Options, Reader, TableFiles};

use crate::args::{self, TableArgs};
use crate::failure::Failure;
use crate::memory::Memory;
use crate::shell::quoted;

/// The files of a table, found once, and how they are read.
pub struct TableSource {
    files: TableFiles,
    args: TableArgs,
    memory: Memory,
}

/// What a table is opened for, which decides what becomes of missing values.
#[derive(Clone, Copy)]
pub enum Purpose<'a> {
    /// To fit it in memory: gaps are refused, left out, or kept to be filled.
    Fit,
    /// To fit it block by block: gaps are refused, or kept to be left out.
    FitInBlocks,
    /// To predict or score its rows: gaps are refused, or kept, so that every row has its line.
    Predict(&'a Predictor),
    /// To compare a model or a design with measured rows: rows with gaps are refused or dropped.
    Compare,
}

impl TableSource {
    /// Finds the files: the first, and more.
    pub fn find(
        first: &Path,
        more: &[PathBuf],
        args: &TableArgs,
        memory: Memory,
    ) -> Result<Self, Failure> {
        let paths: Vec<&Path> = [first]
            .into_iter()
            .chain(more.iter().map(PathBuf::as_path))
            .collect();
        Ok(TableSource {
            files: TableFiles::find(&paths)?,
            args: args.clone(),
            memory,
        })
    }

    /// The files, at least one, those in a folder by name.
    pub fn files(&self) -> &[PathBuf] {
        self.files.paths()
    }

    /// The file that messages about columns name.
    pub fn first(&self) -> &Path {
        &self.files()[0]
    }

    /// What to do with missing values, where the user says it.
    pub fn missing(&self) -> Option<args::Missing> {
        self.args.missing
    }

    /// The limit on memory.
    pub fn memory(&self) -> Memory {
        self.memory
    }

    /// Opens the table.
    pub fn open(&self, purpose: Purpose<'_>) -> Result<Reader, Failure> {
        let delimiter = self.args.delimiter.as_deref().map(str::parse).transpose();
        let delimiter =
            delimiter.map_err(|problem: String| Failure::new(format!("--delimiter: {problem}")))?;
        let options = Options {
            delimiter,
            header: self.args.header.into(),
            missing: purpose.missing(self.args.missing)?,
            decimal_comma: self.args.decimal_comma,
            needed: matches!(purpose, Purpose::Predict(_) | Purpose::Compare),
            array: self.args.array.clone(),
            sheet: self.args.sheet.clone(),
            skip_rows: self.args.skip_rows.unwrap_or(0),
            memory: Some(self.memory.of_table()),
        };
        Ok(Reader::open_files(&self.files, &options)?)
    }

    /// How the table is read, as typed on the command line of a command that uses the model: it leaves rows with gaps out.
    pub fn typed(&self) -> String {
        let args = &self.args;
        let mut typed = String::new();
        let skip_rows = args.skip_rows.map(|rows| rows.to_string());
        let given = [
            ("skip-rows", skip_rows.as_deref()),
            ("delimiter", args.delimiter.as_deref()),
            ("array", args.array.as_deref()),
            ("sheet", args.sheet.as_deref()),
            ("missing", args.missing.map(|_| "drop")),
        ];
        for (option, value) in given {
            typed += &value.map_or(String::new(), |value| {
                format!(" --{option} {}", quoted(value))
            });
        }
        let flags = [
            ("header", args.header.header),
            ("no-header", args.header.no_header),
            ("decimal-comma", args.decimal_comma),
        ];
        for (flag, _) in flags.iter().filter(|(_, set)| *set) {
            typed += &format!(" --{flag}");
        }
        typed
    }
}

impl Purpose<'_> {
    /// What the reader does with missing values where the user asks for `missing`.
    fn missing(self, missing: Option<args::Missing>) -> Result<Missing, Failure> {
        let Some(missing) = missing else {
            return Ok(Missing::Refuse);
        };
        let means = matches!(missing, args::Missing::Mean);
        match self {
            Purpose::Fit if means => Ok(Missing::Keep),
            Purpose::Fit => Ok(Missing::Drop),
            Purpose::FitInBlocks => Ok(Missing::Keep),
            Purpose::Predict(model) if means && !model.encoding().is_some_and(Encoding::fills) => {
                Err(Failure::new(
                    "--missing mean: expected a model that was fitted with --missing mean and knows the means, found one that was \
                     not; fit it so, or pass --missing drop",
                ))
            }
            Purpose::Predict(_) => Ok(Missing::Keep),
            Purpose::Compare if means => Err(Failure::new(
                "--missing mean: expected rows as they were measured, found means in place of missing values; give complete \
                 rows, or pass --missing drop",
            )),
            Purpose::Compare => Ok(Missing::Drop),
        }
    }
}
