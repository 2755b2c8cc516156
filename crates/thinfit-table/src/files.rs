//! Several files as one table: their rows in sequence, their columns matched by the names in the first file.

use crate::error::{Spot, malformed, show, unread};
use crate::note::{Done, Note};
use crate::reader::{Block, Source, open_file};
use crate::{Options, Position, Result};
use std::path::{Path, PathBuf};
use thinfit_text::list;

/// Endings of files that may be tables; others in a folder are skipped.
const ENDINGS: [&str; 9] = [
    "csv", "tsv", "txt", "dat", "npy", "npz", "mat", "parquet", "xlsx",
];

/// The files of one table, found once.
#[derive(Clone, Debug)]
pub struct TableFiles {
    /// What messages call the table.
    pub(crate) name: PathBuf,
    paths: Vec<PathBuf>,
    /// What was skipped in folders.
    pub(crate) notes: Vec<Note>,
}

impl TableFiles {
    /// The files that these paths name: a file names itself, a folder the tables in it that are not hidden, by name, and a pattern such
    /// as `*.csv` the files that match it. `-` is standard input.
    ///
    /// # Errors
    /// A folder that cannot be read or holds no tables, or a pattern that nothing matches.
    ///
    /// # Panics
    /// There are no paths.
    pub fn find(paths: &[impl AsRef<Path>]) -> Result<Self> {
        let (mut files, mut notes) = (Vec::new(), Vec::new());
        for path in paths {
            let (named, note) = named(path.as_ref())?;
            files.extend(named);
            notes.extend(note);
        }
        let first = paths[0].as_ref();
        Ok(TableFiles {
            name: match paths.len() {
                1 => first.to_owned(),
                more => PathBuf::from(format!("{} and {} more", first.display(), more - 1)),
            },
            paths: files,
            notes,
        })
    }

    /// The files, at least one, in the order of their rows.
    pub fn paths(&self) -> &[PathBuf] {
        &self.paths
    }
}

/// The files that a path names, and a note of what was skipped if it is a folder.
fn named(path: &Path) -> Result<(Vec<PathBuf>, Option<Note>)> {
    if !path.is_dir() {
        let files = match path.to_str() {
            // A file may have such a name.
            Some(text) if text.contains(['*', '?', '[']) && !path.exists() => matching(path, text)?,
            _ => vec![path.into()],
        };
        return Ok((files, None));
    }
    let (files, skipped): (Vec<PathBuf>, Vec<PathBuf>) =
        visible(path)?.into_iter().partition(|file| is_table(file));
    if files.is_empty() {
        let expected = format!("tables ({})", ENDINGS.join(", "));
        let advice = "give a folder with some, or a pattern such as 'folder/*/*.csv' for tables in its subfolders";
        return Err(malformed(path, expected, "none", advice));
    }
    let name = |file: &PathBuf| {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let mark = if file.is_dir() { "/" } else { "" };
        show(name.as_bytes()) + mark
    };
    let note = (!skipped.is_empty()).then(|| Note {
        path: path.into(),
        done: Done::Files {
            skipped: skipped.iter().map(name).collect(),
        },
    });
    Ok((files, note))
}

/// What is in a folder, by name, except what is hidden: as a shell does, since other programs keep such files next to tables.
fn visible(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder).map_err(|error| unread(folder, error))?;
    let mut files = Vec::new();
    for entry in entries {
        files.push(entry.map_err(|error| unread(folder, error))?.path());
    }
    files.retain(|file| {
        let name = file.file_name().unwrap_or_default();
        !name.to_string_lossy().starts_with('.')
    });
    files.sort();
    Ok(files)
}

/// Whether something in a folder is a table, by its ending.
fn is_table(file: &Path) -> bool {
    let ending = file.extension().and_then(|ending| ending.to_str());
    let ending = ending.map(str::to_ascii_lowercase);
    file.is_file() && ending.is_some_and(|ending| ENDINGS.contains(&ending.as_str()))
}

/// The files that match a pattern that no shell has expanded.
fn matching(path: &Path, pattern: &str) -> Result<Vec<PathBuf>> {
    let advice = "give the files one by one";
    let shell = glob::MatchOptions {
        require_literal_separator: true,
        require_literal_leading_dot: true,
        ..Default::default()
    };
    let found = glob::glob_with(pattern, shell)
        .map_err(|error| malformed(path, "a pattern of names", error.msg, advice))?;
    let mut files = Vec::new();
    for file in found {
        files.push(file.map_err(|error| unread(path, error.into()))?);
    }
    files.retain(|file| file.is_file());
    match files.is_empty() {
        true => Err(malformed(
            path,
            "files that match",
            "none",
            "check the pattern",
        )),
        false => Ok(files),
    }
}

/// Rows of several files.
pub(crate) struct Files {
    options: Options,
    /// The files to come, the next one last.
    waiting: Vec<PathBuf>,
    /// How each file is shown, and the place of the open one.
    shown: Vec<PathBuf>,
    file: usize,
    names: Vec<String>,
    /// The open file, and the column there of each name.
    source: Box<dyn Source>,
    columns: Vec<usize>,
    /// Where the rows of the last block are.
    spots: Vec<Spot>,
    /// What was done to the files before the open one.
    notes: Vec<Note>,
    /// The number of rows, where all files say it.
    rows: Option<u64>,
}

impl Files {
    /// Opens the first of at least one file, and looks into the others.
    pub fn open(mut files: Vec<PathBuf>, options: &Options) -> Result<Self> {
        let (mut rows, mut shown) = (Some(0), Vec::new());
        let mut first: Option<Vec<String>> = None;
        // An incompatible file should not be found only after hours.
        for path in &files {
            let is_file = path != Path::new("-") && {
                let entry = std::fs::metadata(path).map_err(|error| unread(path, error))?;
                entry.is_file()
            };
            if !is_file {
                let found = "a pipe, a device or standard input";
                return Err(malformed(
                    path,
                    "a file, as one of several",
                    found,
                    "write it to a file first",
                ));
            }
            let (source, name) = open_file(path, options)?;
            shown.push(name);
            rows = rows
                .zip(source.rows())
                .map(|(all, rows): (u64, u64)| all.saturating_add(rows));
            let names = first.get_or_insert_with(|| source.names().to_vec());
            columns(path, names, &*source)?;
        }
        files.reverse();
        let names = first.unwrap_or_default();
        let path = files.pop().unwrap_or_default();
        let source = open_file(&path, options)?.0;
        Ok(Files {
            columns: columns(&path, &names, &*source)?,
            options: options.clone(),
            waiting: files,
            shown,
            file: 0,
            names,
            source,
            spots: Vec::new(),
            notes: Vec::new(),
            rows,
        })
    }

    /// How the files are shown, in their order.
    pub fn shown(&self) -> &[PathBuf] {
        &self.shown
    }

    /// Opens the next file; false if there is none.
    fn advance(&mut self) -> Result<bool> {
        let Some(path) = self.waiting.pop() else {
            return Ok(false);
        };
        self.notes.extend(self.source.notes());
        self.source = open_file(&path, &self.options)?.0;
        self.file += 1;
        self.columns = columns(&path, &self.names, &*self.source)?;
        Ok(true)
    }

    fn here(&self, columns: &[usize]) -> Vec<usize> {
        columns.iter().map(|c| self.columns[*c]).collect()
    }
}

/// The column of each name in a file.
fn columns(path: &Path, names: &[String], source: &dyn Source) -> Result<Vec<usize>> {
    let here = source.names();
    let place = |name: &String| here.iter().position(|other| other == name);
    let missing = names.iter().filter(|name| place(name).is_none());
    let missing: Vec<String> = missing.map(|name| show(name.as_bytes())).collect();
    if !missing.is_empty() {
        let expected = format!(
            "the columns of the first file, {} among them",
            list(missing.into_iter())
        );
        let found = format!(
            "others: {}",
            list(here.iter().map(|name| show(name.as_bytes())))
        );
        let advice = "give files with the same columns";
        return Err(malformed(path, expected, found, advice));
    }
    Ok(names.iter().filter_map(place).collect())
}

impl Source for Files {
    fn names(&self) -> &[String] {
        &self.names
    }

    fn read(&mut self, columns: &[usize], rows: usize, out: &mut Block) -> Result<usize> {
        let mut read = 0;
        self.spots.clear();
        loop {
            let (here, file) = (self.here(columns), self.file);
            out.file = file;
            let count = self.source.read(&here, rows - read, out)?;
            read += count;
            let spot = |row| Spot {
                file,
                position: self.source.position(row),
            };
            self.spots.extend((0..count).map(spot));
            if read == rows || !self.advance()? {
                return Ok(read);
            }
        }
    }

    fn skip(&mut self, columns: &[usize], rows: u64) -> Result<u64> {
        let mut skipped = 0;
        loop {
            let here = self.here(columns);
            let count = self.source.skip(&here, rows - skipped)?;
            skipped += count;
            if skipped == rows || !self.advance()? {
                return Ok(skipped);
            }
        }
    }

    fn position(&self, row: usize) -> Position {
        self.spots[row].position
    }

    fn spot(&self, row: usize) -> Spot {
        self.spots[row]
    }

    fn notes(&self) -> Vec<Note> {
        [&self.notes[..], &self.source.notes()].concat()
    }

    fn rows(&self) -> Option<u64> {
        self.rows
    }

    fn unpacked(&self, columns: &[usize]) -> u64 {
        self.source.unpacked(&self.here(columns))
    }
}
