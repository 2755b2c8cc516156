//! Generated tables with known content in every format, and a check that reading loses nothing: every row is used,
//! reported as skipped, or an error.

mod arrays;
mod content;
mod random;
mod text;
mod workbook;

use content::{Cell, Column};
use random::Random;
use std::path::{Path, PathBuf};
use thinfit_table::{Cells, Delimiter, Done, Missing, Note, Options, Reader, Why};

/// The kind of file that a table is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Format {
    Text,
    Workbook,
    Array,
    Folder,
}

/// Something wrong in a row, or in two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Defect {
    /// A cell too few or too many.
    Short(usize),
    Long(usize),
    /// A word among numbers.
    Word(usize),
    /// A comment above the row.
    Comment(usize),
    /// A quote that opens without need, and in another row one that opens or closes.
    Open(usize),
    Stray(usize, usize),
    /// A formula without a saved value.
    Formula(usize),
}

/// Lines that are not rows, and what else is to be reported.
#[derive(Debug, Default, PartialEq, Eq)]
struct Counts {
    asked: u64,
    comments: u64,
    blanks: u64,
    end: u64,
    titles: u64,
    /// Cells over several lines.
    broken: u64,
}

/// A file, and what reading it must report.
#[derive(Debug)]
struct File {
    bytes: Vec<u8>,
    ending: &'static str,
    counts: Counts,
    units: bool,
    latin: bool,
    /// Further sheets.
    others: u64,
    /// Cells in an unusual notation, by column.
    unusual: Vec<u64>,
}

impl Default for File {
    fn default() -> Self {
        File {
            bytes: Vec::new(),
            ending: "",
            counts: Counts::default(),
            units: false,
            latin: false,
            others: 0,
            unusual: vec![0; 8],
        }
    }
}

/// How to write and read a table.
struct Plan {
    header: bool,
    title: bool,
    units: bool,
    /// The delimiter that the options give, if they do: a character, or blanks.
    delimiter: Option<Option<char>>,
    defect: Option<Defect>,
    options: Options,
}

/// Cells row by row, what was reported, and how many rows were dropped.
type Read = (Vec<Vec<Found>>, Vec<Note>, usize);

/// What became of a table that was read as it should be.
#[derive(Clone, Copy, Debug)]
pub struct Outcome {
    pub format: Format,
    /// Whether a defect was found.
    pub refused: bool,
    /// Rows written, used, and reported as dropped since they have gaps.
    pub rows: u64,
    pub used: u64,
    pub dropped: u64,
    /// Lines and rows around the table that were reported as skipped.
    pub skipped: u64,
}

/// Writes and reads the table of a seed; files in a folder go to `scratch`.
///
/// # Errors
/// What was lost, read wrongly or not reported, with the table.
pub fn check(seed: u64, scratch: &Path) -> Result<Outcome, String> {
    let mut random = Random::new(seed);
    let format = match random.below(8) {
        0..4 => Format::Text,
        4 | 5 => Format::Workbook,
        6 => Format::Array,
        _ => Format::Folder,
    };
    let columns = content::columns(&mut random, format == Format::Array);
    let parts = match format {
        Format::Folder => 2 + random.below(3),
        _ => 1,
    };
    let parts: Vec<Vec<Vec<Cell>>> = (0..parts)
        .map(|_| content::rows(&mut random, &columns))
        .collect();
    let plan = plan(&mut random, format, &columns, parts[0].len());
    let mut files = Vec::new();
    for part in &parts {
        files.push(match format {
            Format::Array => arrays::write(&mut random, part),
            Format::Workbook => workbook::write(&mut random, &columns, part, &plan),
            Format::Folder if random.one_in(3) => {
                workbook::write(&mut random, &columns, part, &plan)
            }
            _ => text::write(&mut random, &columns, part, &plan),
        });
    }
    let known = Known {
        columns,
        rows: parts.concat(),
        path: written(&files, format, scratch),
        files,
        plan,
    };
    let outcome = known.check(&mut random, format);
    outcome.map_err(|what| known.described(seed, &what))
}

/// How to write and read a table of these columns.
fn plan(random: &mut Random, format: Format, columns: &[Column], rows: usize) -> Plan {
    let all_numbers = columns.iter().all(|column| !column.text);
    let header = format != Format::Array && (format == Format::Folder || !random.one_in(5));
    let said = match header {
        true => random.one_in(4).then_some(true),
        // Numbers and text in the first line could be either.
        false => (!all_numbers || random.one_in(2)).then_some(false),
    };
    let decimal_comma = format != Format::Array && random.one_in(4);
    let delimiter = match format {
        Format::Text if random.one_in(2) => Some(match decimal_comma {
            true => random.of(&[Some(';'), Some('\t'), None]),
            false => random.of(&[Some(','), Some(';'), Some('\t'), None, Some('|')]),
        }),
        _ => None,
    };
    let row = 1 + random.below(rows - 1);
    let later = (row + 1 + random.below(8)).min(rows - 1);
    let word = Defect::Word(row);
    let defect = match format {
        Format::Text if columns.len() > 1 && random.one_in(3) => Some(match random.below(7) {
            0 => Defect::Short(row),
            1 => Defect::Long(row),
            2 => Defect::Comment(row),
            3 => Defect::Open(row),
            4 | 5 if row < later => Defect::Stray(row, later),
            _ => word,
        }),
        Format::Workbook if random.one_in(8) => Some(Defect::Formula(row)),
        _ => None,
    };
    let skips = matches!(format, Format::Text | Format::Workbook) && random.one_in(8);
    Plan {
        header,
        title: header && said.is_none() && random.one_in(4),
        units: header && random.one_in(3),
        delimiter,
        defect,
        options: Options {
            delimiter: delimiter.map(|one| match one {
                Some(byte) => Delimiter::Byte(byte as u8),
                None => Delimiter::Blanks,
            }),
            header: if format == Format::Array { None } else { said },
            missing: Missing::Keep,
            decimal_comma,
            skip_rows: if skips { 1 + random.below(2) as u64 } else { 0 },
            ..Options::default()
        },
    }
}

/// Writes the files of a folder, with some that are no tables; the name of a single file.
fn written(files: &[File], format: Format, scratch: &Path) -> PathBuf {
    if format != Format::Folder {
        return format!("a.{}", files[0].ending).into();
    }
    std::fs::remove_dir_all(scratch).ok();
    std::fs::create_dir_all(scratch).expect("a folder to write to");
    let write = |name: String, bytes: &[u8]| {
        std::fs::write(scratch.join(name), bytes).expect("a folder to write to");
    };
    for (i, file) in files.iter().enumerate() {
        write(format!("{i}.{}", file.ending), &file.bytes);
    }
    write("0.csv.bak".into(), b"x\n1\n");
    write("README".into(), b"what is here");
    scratch.into()
}

/// A table in files, and its content.
struct Known {
    columns: Vec<Column>,
    rows: Vec<Vec<Cell>>,
    files: Vec<File>,
    path: PathBuf,
    plan: Plan,
}

impl Known {
    fn open(&self, options: &Options) -> thinfit_table::Result<Reader> {
        match self.files.as_slice() {
            [file] if !self.path.is_dir() => {
                Reader::from_bytes(&self.path, file.bytes.clone(), options)
            }
            _ => Reader::open(&self.path, options),
        }
    }

    /// Columns of text, or all of them.
    fn admitted(&self, all: bool) -> Vec<usize> {
        let admitted = (0..self.columns.len()).filter(|j| all || self.columns[*j].text);
        admitted.collect()
    }

    fn check(&self, random: &mut Random, format: Format) -> Result<Outcome, String> {
        let (rows, size) = (self.rows.len(), 1 + random.below(20));
        let mut outcome = Outcome {
            format,
            refused: false,
            rows: rows as u64,
            used: 0,
            dropped: 0,
            skipped: 0,
        };
        if self.plan.defect.is_some() {
            let all = matches!(self.plan.defect, Some(Defect::Word(_))) || random.one_in(2);
            let whole = self.whole(&self.admitted(!all));
            let blocks = self.blocks(&self.plan.options, size, 0);
            if whole.is_ok() || blocks.is_ok() {
                let [one, other] = [whole.is_ok(), blocks.is_ok()];
                return Err(format!(
                    "a defect was not found (whole {one}, in blocks {other})"
                ));
            }
            outcome.refused = true;
            return Ok(outcome);
        }
        let all = random.one_in(2);
        let (values, notes) = self.whole(&self.admitted(all))?;
        self.compare("whole", &values, &self.rows.iter().collect::<Vec<_>>())?;
        outcome.skipped = self.compare_notes(&notes, true)?;
        let skip = if random.one_in(4) {
            random.below(rows)
        } else {
            0
        };
        let (values, notes, dropped) = self.blocks(&self.plan.options, size, skip)?;
        self.compare(
            "in blocks",
            &values,
            &self.rows[skip..].iter().collect::<Vec<_>>(),
        )?;
        if skip == 0 {
            self.compare_notes(&notes, false)?;
        }
        if dropped > 0 {
            return Err(format!("{dropped} rows dropped that should be kept"));
        }
        // Where rows with gaps are dropped, they are counted.
        let complete = |row: &&Vec<Cell>| !row.contains(&Cell::Missing);
        let complete: Vec<&Vec<Cell>> = self.rows.iter().filter(complete).collect();
        let drop = Options {
            missing: Missing::Drop,
            ..self.plan.options.clone()
        };
        let (values, _, dropped) = self.blocks(&drop, size, 0)?;
        self.compare("complete rows", &values, &complete)?;
        (outcome.used, outcome.dropped) = (complete.len() as u64, dropped as u64);
        match complete.len() + dropped == rows {
            true => Ok(outcome),
            false => Err(format!(
                "{} rows used and {dropped} dropped",
                complete.len()
            )),
        }
    }

    /// The cells of the table, row by row, read whole, and what was reported.
    fn whole(&self, admitted: &[usize]) -> Result<(Vec<Vec<Found>>, Vec<Note>), String> {
        let told = |error: thinfit_table::Error| error.to_string();
        let mut reader = self.open(&self.plan.options).map_err(told)?;
        self.compare_names(reader.names())?;
        reader.admit_text(admitted);
        let raw = reader.read_raw().map_err(told)?;
        let notes = reader.notes();
        let all: Vec<usize> = (0..self.columns.len()).collect();
        let table = raw.complete(&all).map_err(told)?;
        let columns: Vec<Vec<Found>> = all.iter().map(|j| cells(table.cells(*j))).collect();
        Ok((turned(&columns), notes))
    }

    /// The same, read in blocks of `size` rows below the first `skip`, and how many rows were dropped.
    fn blocks(&self, options: &Options, size: usize, skip: usize) -> Result<Read, String> {
        let told = |error: thinfit_table::Error| error.to_string();
        let mut reader = self.open(options).map_err(told)?;
        reader.admit_text(&self.admitted(false));
        let skipped = reader.skip(skip as u64).map_err(told)?;
        if skipped != skip as u64 {
            return Err(format!("{skipped} rows skipped instead of {skip}"));
        }
        let mut rows = Vec::new();
        while let Some(block) = reader.next_block(size).map_err(told)? {
            let columns = (0..self.columns.len()).map(|j| cells(reader.cells(&block, j)));
            rows.extend(turned(&columns.collect::<Vec<_>>()));
        }
        Ok((rows, reader.notes(), reader.dropped()))
    }

    fn compare_names(&self, names: &[String]) -> Result<(), String> {
        let known = self.columns.iter().zip(1..);
        let known = known.map(|(column, j)| match self.plan.header {
            true => column.name.clone(),
            false => format!("c{j}"),
        });
        match known.eq(names.iter().cloned()) {
            true => Ok(()),
            false => Err(format!("the names {names:?}")),
        }
    }

    fn compare(&self, how: &str, found: &[Vec<Found>], known: &[&Vec<Cell>]) -> Result<(), String> {
        if found.len() != known.len() {
            return Err(format!(
                "{how}: {} rows instead of {}",
                found.len(),
                known.len()
            ));
        }
        for (i, (found, known)) in found.iter().zip(known).enumerate() {
            for (j, (found, known)) in found.iter().zip(known.iter()).enumerate() {
                if !found.is(known) {
                    return Err(format!(
                        "{how}: row {i}, column {j}: {found:?} instead of {known:?}"
                    ));
                }
            }
        }
        Ok(())
    }

    /// Compares what was reported with what is in the files; returns the number of lines around the table.
    fn compare_notes(&self, notes: &[Note], whole: bool) -> Result<u64, String> {
        let (mut found, mut known) = (Counts::default(), Counts::default());
        let (mut flags, mut unusual) = ([0; 4], vec![0; self.columns.len()]);
        for note in notes {
            match &note.done {
                Done::Skipped { why, lines, .. } => match why {
                    Why::Asked => found.asked += lines,
                    Why::Comment => found.comments += lines,
                    Why::Blank => found.blanks += lines,
                    Why::End => found.end += lines,
                    Why::Title => found.titles += lines,
                    other => return Err(format!("{other:?}")),
                },
                Done::LineBreaks { cells, .. } => found.broken += cells,
                Done::Units { .. } => flags[0] += 1,
                Done::Windows1252 { .. } => flags[1] += 1,
                Done::Sheet { others, .. } => flags[2] += others.len() as u64,
                Done::Files { skipped } => flags[3] += skipped.len() as u64,
                Done::Numbers { column, cells, .. } => {
                    let name = |j: &usize| match self.plan.header {
                        true => self.columns[*j].name == *column,
                        false => format!("c{}", j + 1) == *column,
                    };
                    let j = (0..unusual.len()).find(name).ok_or("a note of no column")?;
                    unusual[j] += cells;
                }
                other => return Err(format!("{other:?}")),
            }
        }
        let count = |of: &dyn Fn(&File) -> u64| self.files.iter().map(of).sum::<u64>();
        known.asked = count(&|file| file.counts.asked);
        known.comments = count(&|file| file.counts.comments);
        known.blanks = count(&|file| file.counts.blanks);
        known.end = count(&|file| file.counts.end);
        known.titles = count(&|file| file.counts.titles);
        known.broken = count(&|file| file.counts.broken);
        let expected = [
            count(&|file| u64::from(file.units)),
            count(&|file| u64::from(file.latin)),
            count(&|file| file.others),
            if self.path.is_dir() { 2 } else { 0 },
        ];
        let cells = (0..unusual.len()).map(|j| count(&|file| file.unusual[j]));
        let cells: Vec<u64> = cells.collect();
        if found != known || flags != expected || whole && unusual != cells {
            return Err(format!(
                "reported {found:?}, {flags:?}, {unusual:?} instead of {known:?}, {expected:?}, {cells:?}"
            ));
        }
        Ok(found.asked + found.comments + found.blanks + found.end + found.titles)
    }

    fn described(&self, seed: u64, what: &str) -> String {
        let mut text = format!(
            "seed {seed}: {what}\n{:?}, {:?}\n",
            self.plan.defect, self.plan.options
        );
        for file in self.files.iter().filter(|file| file.bytes.len() < 10_000) {
            text += &match file.ending {
                "xlsx" | "npy" => format!("a file {}\n", file.ending),
                _ => format!("{}\n", String::from_utf8_lossy(&file.bytes)),
            };
        }
        text
    }
}

/// What a reader found in a cell.
#[derive(Clone, Debug)]
enum Found {
    Missing,
    Number(f64),
    Text(String),
}

impl Found {
    /// Whether this is what was written; a text that is a number may be one.
    fn is(&self, known: &Cell) -> bool {
        match (self, known) {
            (Found::Missing, Cell::Missing) => true,
            (Found::Number(found), Cell::Number(known)) => found.to_bits() == known.to_bits(),
            (Found::Text(found), Cell::Text(known)) => found == known,
            (Found::Number(found), Cell::Text(known)) => found.to_string() == *known,
            _ => false,
        }
    }
}

/// The cells of a column.
fn cells(column: Cells<'_>) -> Vec<Found> {
    let number = |value: &f64| match value.is_nan() {
        true => Found::Missing,
        false => Found::Number(*value),
    };
    match column {
        Cells::Numbers(values) => values.iter().map(number).collect(),
        Cells::Text { levels, codes } => {
            let text = |code: &f64| match code.is_nan() {
                true => Found::Missing,
                false => Found::Text(levels[*code as usize].clone()),
            };
            codes.iter().map(text).collect()
        }
        Cells::Dates => Vec::new(),
    }
}

/// Rows of these columns.
fn turned(columns: &[Vec<Found>]) -> Vec<Vec<Found>> {
    let row = |i: usize| columns.iter().map(|column| column[i].clone()).collect();
    (0..columns[0].len()).map(row).collect()
}
