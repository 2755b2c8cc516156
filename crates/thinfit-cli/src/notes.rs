//! Notes about a table: skipped lines, interpreted cells, ignored columns and rows. Ignored data are reported even
//! with `--quiet`.

use thinfit::{Code, Coded, Encoding};
use thinfit_table::{Done, Notation, Note, Position, Why};

use crate::digits::counted;
use crate::progress::Progress;

/// Maximum number of notes of the files of a table; there may be many files.
const MOST: usize = 12;
/// Maximum number of names in a note.
const NAMES: usize = 8;

/// Prints the notes about the files of a table.
pub fn tell(notes: &[Note], progress: &Progress) {
    for note in notes.iter().take(MOST) {
        let text = format!("{}: {}", note.path.display(), described(&note.done));
        match note.is_loss() {
            true => progress.warn(text),
            false => progress.note(text),
        }
    }
    if notes.len() > MOST {
        progress.warn(format!("and {} more", counted(notes.len() - MOST, "note")));
    }
}

/// The columns with a unit in a row of units, and the unit; without those whose unit differs between files.
pub fn units(notes: &[Note]) -> Vec<(String, String)> {
    let of_file = |note: &Note| match &note.done {
        Done::Units { units, .. } => units.clone(),
        _ => vec![],
    };
    let mut units: Vec<(String, String)> = notes.iter().flat_map(of_file).collect();
    units.sort();
    units.dedup();
    let once = |(column, _): &&(String, String)| {
        units.iter().filter(|(other, _)| other == column).count() == 1
    };
    units.iter().filter(once).cloned().collect()
}

/// Prints how the columns are used, and which one was kept although it may hold row numbers.
pub fn tell_columns(encoding: &Encoding, kept: Option<&str>, progress: &Progress) {
    for coded in encoding.columns() {
        match (coded.note(), &coded.code) {
            (Some(note), Code::LeftOut { .. }) => progress.warn(note),
            (Some(note), _) => progress.note(note),
            (None, _) => {}
        }
    }
    let numbering = |coded: &&Coded| coded.code.numbers_rows() && !coded.name.trim().is_empty();
    let numbering: Vec<&str> = encoding
        .columns()
        .iter()
        .filter(numbering)
        .map(|coded| coded.name.as_str())
        .collect();
    if !numbering.is_empty() {
        progress.warn(format!(
            "to use {} as an input, list all inputs with --inputs",
            some(&numbering)
        ));
    }
    if let Some(name) = kept {
        progress.note(format!(
            "{name}: consecutive integers or nearly so, used as an input because no other numeric column is left; if they are row \
             numbers, pass --drop"
        ));
    }
}

/// Reports how many missing values the model has filled in.
pub fn tell_filled(values: usize, progress: &Progress) {
    if values > 0 {
        let filled = counted(values, "missing value");
        progress.note(format!("{filled} replaced as in training"));
    }
}

/// Reports how many rows were left out.
pub fn tell_dropped(rows: usize, progress: &Progress) {
    if rows > 0 {
        let rows = counted(rows, "row");
        progress.warn(format!("dropped {rows} with missing values"));
    }
}

/// What was done to a file.
fn described(done: &Done) -> String {
    match done {
        Done::Skipped { why, lines, first } => {
            let unit = match first {
                Position::Line(_) => "line",
                _ => "row",
            };
            let lines = match why {
                Why::Blank | Why::End => counted_blank(*lines, unit),
                _ => counted(usize::try_from(*lines).unwrap_or(usize::MAX), unit),
            };
            let why = match why {
                Why::Comment => ", comments above the table",
                Why::Blank => "",
                Why::End => " below the last row",
                Why::Title => ", a title above the names",
                Why::Asked => ", by --skip-rows",
                _ => "",
            };
            format!("skipped {lines}{why} (from {first})")
        }
        Done::Units { position, units } => {
            let units: Vec<String> = units
                .iter()
                .map(|(name, unit)| format!("{name}: {unit}"))
                .collect();
            let units: Vec<&str> = units.iter().map(String::as_str).collect();
            format!("{position} holds units ({})", some(&units))
        }
        Done::LineBreaks { cells, first } => {
            let cells = usize::try_from(*cells).unwrap_or(usize::MAX);
            format!(
                "{} with line breaks in quotes (the first in the row from {first})",
                counted(cells, "cell")
            )
        }
        Done::Windows1252 { first } => {
            format!("the text is not UTF-8 (from {first}); read as Windows-1252")
        }
        Done::Sheet {
            taken,
            hidden,
            others,
        } => {
            let names =
                |names: &[String]| some(&names.iter().map(String::as_str).collect::<Vec<_>>());
            let not = match (hidden.as_slice(), others.as_slice()) {
                (hidden, []) => format!("the hidden {}", names(hidden)),
                ([], others) => names(others),
                (hidden, others) => format!("{} and the hidden {}", names(others), names(hidden)),
            };
            format!("read the first visible sheet, {taken}, not {not}; --sheet chooses another")
        }
        Done::Files { skipped } => {
            let skipped: Vec<&str> = skipped.iter().map(String::as_str).collect();
            format!("skipped {}: not tables by their extensions", some(&skipped))
        }
        Done::Numbers {
            column,
            notations,
            cells,
            first,
            text,
        } => {
            let notations: Vec<String> = notations.iter().map(notation).collect();
            let cells = usize::try_from(*cells).unwrap_or(usize::MAX);
            format!(
                "column `{column}`: read {} with {} as numbers (the first is `{text}`, {first})",
                counted(cells, "cell"),
                notations.join(" and ")
            )
        }
        Done::Durations { column } => format!("column `{column}`: durations, read in seconds"),
        _ => "some of it was interpreted".into(),
    }
}

fn counted_blank(lines: u64, unit: &str) -> String {
    let lines = usize::try_from(lines).unwrap_or(usize::MAX);
    counted(lines, &format!("blank {unit}"))
}

/// What is unusual about a number.
fn notation(notation: &Notation) -> String {
    match notation {
        Notation::FortranExponent => "a Fortran exponent".into(),
        Notation::TypographicMinus => "a typographic minus sign".into(),
        Notation::Apostrophes => "apostrophes between thousands".into(),
        Notation::Currency(sign) => format!("the currency sign {sign}"),
        _ => "an unusual notation".into(),
    }
}

/// The first of these names.
fn some(names: &[&str]) -> String {
    let shown = names[..names.len().min(NAMES)].join(", ");
    match names.len().checked_sub(NAMES) {
        Some(more) if more > 0 => format!("{shown} and {more} more"),
        _ => shown,
    }
}
