//! A generated table as text: CSV, TSV or blank-separated, with comments, titles and blank lines around the rows.

use super::content::{Cell, Column, written};
use super::random::Random;
use super::{Defect, File, Plan};

/// What is missing in a column of numbers; only the first few are in a column of text.
const GAPS: [&str; 9] = ["", "", "NA", "N/A", "#N/A", "nan", "NULL", "?", "none"];
const TEXT_GAPS: usize = 5;

/// How a text is written.
struct Style {
    /// None stands for blanks.
    delimiter: Option<char>,
    decimal_comma: bool,
    latin: bool,
    /// Whether blanks may be tabs, which could be the delimiter otherwise.
    tabs: bool,
}

/// Writes a part of a table.
pub fn write(random: &mut Random, columns: &[Column], rows: &[Vec<Cell>], plan: &Plan) -> File {
    let comma = plan.options.decimal_comma;
    let delimiter = match plan.delimiter {
        Some(delimiter) => delimiter,
        None if comma => random.of(&[Some(';'), Some('\t'), None]),
        None => random.of(&[Some(','), Some(','), Some(';'), Some('\t'), None]),
    };
    let style = Style {
        delimiter,
        decimal_comma: comma,
        latin: random.one_in(4),
        tabs: plan.delimiter.is_some(),
    };
    let mut file = File::default();
    let mut lines: Vec<String> = Vec::new();
    let width = columns.len();
    for _ in 0..plan.options.skip_rows {
        lines.push("junk, \"; 1".into());
        file.counts.asked += 1;
    }
    let blanks = |lines: &mut Vec<String>, random: &mut Random, among: usize| -> u64 {
        let count = if random.one_in(among) {
            1 + random.below(2)
        } else {
            0
        };
        lines.extend((0..count).map(|_| random.of(&["", "  "]).to_owned()));
        count as u64
    };
    if random.one_in(4) {
        lines.extend(["# made, by hand".into(), "# a \"remark".into()]);
        file.counts.comments += 2;
    }
    file.counts.blanks += blanks(&mut lines, random, 8);
    if plan.title && width > 1 {
        let title = if style.delimiter.is_none() {
            "Series"
        } else {
            "A title"
        };
        lines.push(title.into());
        file.counts.titles += 1;
        file.counts.blanks += blanks(&mut lines, random, 4);
    }
    if plan.header {
        let names: Vec<String> = columns
            .iter()
            .map(|column| style.quoted(random, &column.name, &mut file))
            .collect();
        lines.push(style.joined(random, &names));
        if plan.units {
            file.counts.blanks += blanks(&mut lines, random, 8);
            let unit = |column: &Column| match column.unit {
                "" if style.delimiter.is_none() => "-".to_owned(),
                unit => unit.to_owned(),
            };
            let units: Vec<String> = columns.iter().map(unit).collect();
            lines.push(style.joined(random, &units));
            file.units = true;
        }
    }
    for (i, row) in rows.iter().enumerate() {
        if width > 1 && i > 0 {
            file.counts.blanks += blanks(&mut lines, random, 12);
        }
        if plan.defect == Some(Defect::Comment(i)) {
            lines.push("#remark".into());
        }
        let mut cells: Vec<String> = columns
            .iter()
            .zip(row)
            .enumerate()
            .map(|(j, (column, cell))| style.cell(random, (j, column), *cell, &mut file))
            .collect();
        spoil(random, plan.defect, i, columns, &mut cells);
        lines.push(style.joined(random, &cells));
    }
    file.counts.end += blanks(&mut lines, random, 6);
    let end = random.of(&["\n", "\r\n"]);
    let mut text = lines.join(end);
    if file.counts.end > 0 || !random.one_in(4) {
        text += end;
    }
    // None of these characters is UTF-8 as a single byte, so that one of them decides.
    let content = lines[plan.options.skip_rows as usize..].iter();
    file.latin = style.latin && content.clone().any(|line| !line.is_ascii());
    file.bytes = match file.latin {
        true => text.chars().map(byte).collect(),
        false => text.into_bytes(),
    };
    if !file.latin && random.one_in(8) && plan.options.skip_rows == 0 {
        file.bytes.splice(0..0, *b"\xef\xbb\xbf");
    }
    file.ending = match style.delimiter {
        Some(',' | ';') => "csv",
        Some(_) => "tsv",
        None => "txt",
    };
    file
}

/// Puts the defect of a plan into its row.
fn spoil(
    random: &mut Random,
    defect: Option<Defect>,
    row: usize,
    columns: &[Column],
    cells: &mut Vec<String>,
) {
    let at = random.below(cells.len());
    match defect {
        Some(Defect::Short(i)) if i == row => {
            cells.pop();
            // Nothing at all would be a blank line.
            cells[0] = "5".into();
        }
        Some(Defect::Long(i)) if i == row => cells.push("1".into()),
        Some(Defect::Word(i)) if i == row => {
            if let Some(j) = columns.iter().position(|column| !column.text) {
                cells[j] = "oops".into();
            }
        }
        Some(Defect::Open(i) | Defect::Stray(i, _)) if i == row => {
            cells[at] = format!("\"{}", bare(&cells[at]));
        }
        Some(Defect::Stray(_, i)) if i == row => {
            cells[at] = match random.one_in(2) {
                true => format!("\"{}", bare(&cells[at])),
                false => format!("{}\"", bare(&cells[at])),
            };
        }
        _ => {}
    }
}

/// A cell without quotes and what needs them.
fn bare(cell: &str) -> String {
    match cell.contains('"') {
        true => "5".into(),
        false => cell.into(),
    }
}

/// The byte of a character in Windows-1252.
fn byte(c: char) -> u8 {
    match c {
        '€' => 0x80,
        '\u{2013}' => 0x96,
        c => u8::try_from(u32::from(c)).expect("a character of Windows-1252"),
    }
}

impl Style {
    fn joined(&self, random: &mut Random, cells: &[String]) -> String {
        let between = match self.delimiter {
            Some(delimiter) => delimiter.to_string(),
            None if self.tabs => random.of(&[" ", "  ", "\t"]).to_owned(),
            None => random.of(&[" ", "  "]).to_owned(),
        };
        cells.join(&between)
    }

    fn cell(
        &self,
        random: &mut Random,
        (j, column): (usize, &Column),
        cell: Cell,
        file: &mut File,
    ) -> String {
        match cell {
            Cell::Missing => {
                let gaps = if column.text {
                    &GAPS[..TEXT_GAPS]
                } else {
                    &GAPS
                };
                match (random.of(gaps), self.delimiter) {
                    ("", None) => "\"\"".into(),
                    (gap, _) => gap.into(),
                }
            }
            Cell::Number(value) => {
                let (mut text, unusual) = written(random, value, column, self.latin);
                file.unusual[j] += u64::from(unusual);
                if self.decimal_comma {
                    text = text.replace('.', ",");
                }
                match text.contains(self.delimiter.unwrap_or(' ')) || random.one_in(16) {
                    true => format!("\"{text}\""),
                    false => text,
                }
            }
            Cell::Text(text) => self.quoted(random, text, file),
        }
    }

    /// A text, in quotes where it needs some.
    fn quoted(&self, random: &mut Random, text: &str, file: &mut File) -> String {
        let delimiter = |c: char| {
            self.delimiter
                .map_or(matches!(c, ' ' | '\t'), |own| c == own)
        };
        let needed = text.starts_with('"') || text.contains('\n') || text.contains(delimiter);
        file.counts.broken += u64::from(text.contains('\n'));
        match needed || random.one_in(8) {
            true => format!("\"{}\"", text.replace('"', "\"\"")),
            false => text.into(),
        }
    }
}
