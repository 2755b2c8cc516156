//! An Excel workbook (XLSX): a ZIP archive of XML parts. Provides the cells of one sheet.
//!
//! Cells are stored one by one, not as a rectangle: a single cell in the last corner of a sheet would make a
//! rectangle of 17 billion. The unpacked size of the archive is measured before anything is read.

use crate::error::{Amount, amount, malformed, show};
use crate::reader::Seekable;
use crate::{Error, Problem, Remedy, Result};
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use std::collections::HashMap;
use std::io::Read;
use std::path::Path;
use thinfit_text::{list, meant, shown};
use zip::ZipArchive;

/// Maximum length of a quoted flaw in characters.
const LONGEST: usize = 200;
/// About the bytes that a cell takes in memory, without its text.
const CELL: u64 = 48;
/// A part may unpack to so many times its size, or to [`UNSUSPICIOUS`] bytes; sheets as they are saved stay far below.
const MOST_UNPACKED: u64 = 100;
/// Bytes that any part may unpack to.
const UNSUSPICIOUS: u64 = 10_000_000;
/// Maximum number of rows and columns of a sheet.
const LARGEST: (u64, u32) = (1 << 20, 1 << 14);
/// Days from 1899-12-30, the day 0 of most workbooks, to 1904-01-01, that of the others.
const TO_1904: f64 = 1462.0;

/// What is in a cell.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Content {
    Number(f64),
    Text(String),
    /// An error, such as `#DIV/0!`.
    Error(String),
    /// The error `#N/A`, which stands for a missing value.
    Missing,
    /// A formula whose value was not saved.
    Unsaved,
}

impl Content {
    fn text(&self) -> &str {
        match self {
            Content::Number(_) | Content::Missing | Content::Unsaved => "",
            Content::Text(text) | Content::Error(text) => text,
        }
    }
}

/// A sheet of a workbook.
pub(crate) struct Cells {
    pub name: String,
    pub rows: Vec<Row>,
    /// The names of hidden sheets before it, if it was not asked for.
    pub hidden: Vec<String>,
    /// The names of other sheets that are not hidden and have cells, if it was not asked for.
    pub others: Vec<String>,
}

/// A row that is not empty.
pub(crate) struct Row {
    /// Its number in the sheet, from 1.
    pub number: u64,
    /// Its cells that are not empty, by column from 0, in ascending order.
    pub cells: Vec<(u32, Content)>,
}

/// What is wrong.
type Flawed<T> = std::result::Result<T, String>;

/// An open workbook.
pub(crate) struct Workbook {
    archive: ZipArchive<Box<dyn Seekable>>,
    /// The names of the sheets, their parts, and whether they are hidden.
    sheets: Vec<(String, String, bool)>,
    /// Whether a number in each of the styles is a date or time.
    dates: Vec<bool>,
    texts: Vec<String>,
    from_1904: bool,
    memory: Option<u64>,
}

impl Workbook {
    /// Opens a workbook, which may unpack to no more than `memory`.
    pub fn open(path: &Path, input: Box<dyn Seekable>, memory: Option<u64>) -> Result<Self> {
        let damaged = |why: String| flawed(path, why);
        let archive = ZipArchive::new(input);
        let mut archive = archive.map_err(|error| damaged(error.to_string()))?;
        check_size(path, &mut archive, memory)?;
        let mut book = Workbook {
            archive,
            sheets: Vec::new(),
            dates: Vec::new(),
            texts: Vec::new(),
            from_1904: false,
            memory,
        };
        book.read_parts().map_err(damaged)?;
        Ok(book)
    }

    /// The sheet of this name, or the first that is not hidden; if all are, the first.
    pub fn rows(mut self, path: &Path, wanted: Option<&str>) -> Result<Cells> {
        let visible = self.sheets.iter().position(|sheet| !sheet.2);
        let found = match wanted {
            None => self.sheets.get(visible.unwrap_or(0)),
            Some(wanted) => self.sheets.iter().find(|sheet| sheet.0 == wanted),
        };
        let hidden = match wanted {
            None => visible.unwrap_or(0),
            Some(_) => 0,
        };
        let hidden = self.sheets[..hidden].iter().map(|sheet| sheet.0.clone());
        let hidden = hidden.collect();
        let Some((name, part, _)) = found.cloned() else {
            let names: Vec<&str> = self.sheets.iter().map(|sheet| sheet.0.as_str()).collect();
            let expected = match wanted {
                None => "a sheet".into(),
                Some(wanted) => format!("a sheet `{}`", show(wanted.as_bytes())),
            };
            let found: String = match names.len() {
                0 => "none".into(),
                _ => list(names.iter().map(|name| show(name.as_bytes()))),
            };
            let hint = match wanted.and_then(|wanted| meant(&names, wanted)) {
                Some(name) => format!(" (did you mean `{}`?)", show(name.as_bytes())),
                None => String::new(),
            };
            return Err(malformed(path, expected, found + &hint, Remedy::Sheet));
        };
        let mut others = Vec::new();
        if wanted.is_none() {
            let sheets = self.sheets.clone();
            for (other, part, _) in sheets.iter().filter(|sheet| !sheet.2 && sheet.0 != name) {
                // Flaws of sheets that are not read do not matter.
                if self.part(part).is_ok_and(|text| has_cells(&text)) {
                    others.push(other.clone());
                }
            }
        }
        let text = self.part(&part).map_err(|why| flawed(path, why))?;
        let rows = self.cells(&text).map_err(|why| match why {
            Stop::Flaw(why) => flawed(path, why),
            Stop::Memory(taken) => too_large(path, "its cells take", taken, self.memory),
        })?;
        Ok(Cells {
            name,
            rows,
            hidden,
            others,
        })
    }

    /// Reads all parts but the sheets.
    fn read_parts(&mut self) -> Flawed<()> {
        let relations = self.part("xl/_rels/workbook.xml.rels")?;
        let mut targets = HashMap::new();
        walk(&relations, |event, _| {
            if let Event::Start(element) = event
                && element.local_name().as_ref() == "Relationship"
            {
                let target = attribute(element, "Target").unwrap_or_default();
                let target = match target.strip_prefix('/') {
                    Some(target) => target.to_owned(),
                    None => format!("xl/{target}"),
                };
                targets.insert(attribute(element, "Id").unwrap_or_default(), target);
            }
            Ok(())
        })?;
        let workbook = self.part("xl/workbook.xml")?;
        walk(&workbook, |event, _| {
            let Event::Start(element) = event else {
                return Ok(());
            };
            match element.local_name().as_ref() {
                "workbookPr" => {
                    let from = attribute(element, "date1904");
                    self.from_1904 = matches!(from.as_deref(), Some("1" | "true"));
                }
                "sheet" => {
                    let name = attribute(element, "name").unwrap_or_default();
                    let part = attribute(element, "id").and_then(|id| targets.get(&id));
                    let state = attribute(element, "state").unwrap_or_default();
                    let hidden = matches!(state.as_str(), "hidden" | "veryHidden");
                    self.sheets
                        .extend(part.map(|part| (name, part.clone(), hidden)));
                }
                _ => {}
            }
            Ok(())
        })?;
        if self
            .archive
            .index_for_name("xl/sharedStrings.xml")
            .is_some()
        {
            let texts = self.part("xl/sharedStrings.xml")?;
            self.texts = shared_texts(&texts)?;
        }
        if self.archive.index_for_name("xl/styles.xml").is_some() {
            let styles = self.part("xl/styles.xml")?;
            self.dates = date_styles(&styles)?;
        }
        Ok(())
    }

    /// The text of a part.
    fn part(&mut self, name: &str) -> Flawed<String> {
        let missing = |_| format!("no part `{}`", show(name.as_bytes()));
        let mut entry = self.archive.by_name(name).map_err(missing)?;
        let mut text = String::new();
        let read = entry.read_to_string(&mut text);
        read.map_err(|error| error.to_string())?;
        Ok(text)
    }

    /// The rows of a sheet.
    fn cells(&self, text: &str) -> std::result::Result<Vec<Row>, Stop> {
        let (mut rows, mut taken): (Vec<Row>, u64) = (Vec::new(), 0);
        // The place, type and style of the cell that is open, and its value.
        let (mut open, mut value) = (None, String::new());
        let (mut formula, mut valued) = (false, false);
        let mut next = (1, 0);
        let mut stopped = None;
        walk(text, |event, path| {
            match event {
                Event::Start(element) => match element.local_name().as_ref() {
                    "row" => {
                        let number = attribute(element, "r").and_then(|row| row.parse().ok());
                        next = (number.unwrap_or(next.0), 0);
                    }
                    "c" => {
                        let place = attribute(element, "r");
                        let place = place.map_or(Ok(next), |place| position(&place))?;
                        let kind = attribute(element, "t").unwrap_or_default();
                        let style = attribute(element, "s").and_then(|style| style.parse().ok());
                        if place.0 > LARGEST.0 || place.1 >= LARGEST.1 {
                            return Err("a cell beyond the last row or column".into());
                        }
                        next = (place.0, place.1 + 1);
                        open = Some((place, kind, style.unwrap_or(0)));
                        value.clear();
                        (formula, valued) = (false, false);
                    }
                    "f" => formula = true,
                    "v" => valued = true,
                    _ => {}
                },
                Event::Text(_) | Event::CData(_) | Event::GeneralRef(_) => {
                    let inside = path.ends_with(&["v"]) || path.ends_with(&["t"]);
                    if inside && !path.contains(&"rPh") {
                        value += &content(event)?;
                    }
                }
                Event::End(element) if element.local_name().as_ref() == "row" => {
                    next.0 = next.0.saturating_add(1);
                }
                Event::End(element) if element.local_name().as_ref() == "c" => {
                    let Some(((row, column), kind, style)) = open.take() else {
                        return Ok(());
                    };
                    // A text may be empty; a number that is was not calculated.
                    let unsaved = formula && value.is_empty() && !(valued && kind == "str");
                    let content = match unsaved {
                        true => Some(Content::Unsaved),
                        false => self.content(&kind, style, &value)?,
                    };
                    let Some(content) = content else {
                        return Ok(());
                    };
                    // A text may be shared by many cells, each of which has its own.
                    taken += CELL + content.text().len() as u64;
                    if self.memory.is_some_and(|most| taken > most) {
                        stopped = Some(taken);
                        return Err(String::new());
                    }
                    match rows.last_mut() {
                        Some(last) if last.number == row => last.cells.push((column, content)),
                        Some(last) if last.number > row => return Err("rows out of order".into()),
                        _ => rows.push(Row {
                            number: row,
                            cells: vec![(column, content)],
                        }),
                    }
                }
                _ => {}
            }
            Ok(())
        })
        .map_err(|why| stopped.map_or(Stop::Flaw(why), Stop::Memory))?;
        for row in &rows {
            if !row.cells.is_sorted_by(|one, next| one.0 < next.0) {
                return Err(Stop::Flaw("cells out of order".into()));
            }
        }
        Ok(rows)
    }

    /// What a cell of this type and style holds; none if it is empty.
    fn content(&self, kind: &str, style: usize, value: &str) -> Flawed<Option<Content>> {
        let text = |text: &str| match text.trim() {
            "" => None,
            text => Some(Content::Text(text.to_owned())),
        };
        Ok(match kind {
            "e" if value == "#N/A" => Some(Content::Missing),
            "e" => Some(Content::Error(value.into())),
            "s" => {
                let index: Option<usize> = value.trim().parse().ok();
                let found = index.and_then(|index| self.texts.get(index));
                let found = found.ok_or("a reference to a missing text")?;
                text(found)
            }
            "str" | "inlineStr" | "d" => text(value),
            _ if value.trim().is_empty() => None,
            _ => {
                let number: Option<f64> = value.trim().parse().ok();
                let number =
                    number.ok_or_else(|| format!("`{}`, not a number", show(value.as_bytes())))?;
                let date = kind != "b" && self.dates.get(style) == Some(&true);
                Some(match date {
                    true => {
                        Content::Text(moment(number + if self.from_1904 { TO_1904 } else { 0.0 }))
                    }
                    false => Content::Number(number),
                })
            }
        })
    }
}

/// Why the cells of a sheet were not read to the end.
enum Stop {
    Flaw(String),
    /// They take more bytes than they may.
    Memory(u64),
}

/// Refuses an archive whose parts lie on each other, or unpack to more than there may be in memory or far more than parts of
/// workbooks do.
fn check_size(
    path: &Path,
    archive: &mut ZipArchive<Box<dyn Seekable>>,
    memory: Option<u64>,
) -> Result<()> {
    let damaged = |why: String| flawed(path, why);
    match archive.has_overlapping_files() {
        Ok(false) => {}
        Ok(true) => return Err(damaged("parts that overlap".into())),
        Err(error) => return Err(damaged(error.to_string())),
    }
    let limit = memory.unwrap_or(u64::MAX);
    let mut left = limit;
    for place in 0..archive.len() {
        let entry = archive.by_index(place);
        let entry = entry.map_err(|error| damaged(error.to_string()))?;
        let name = entry.name().map(|name| show(name.as_bytes()));
        let packed = entry.compressed_size();
        let most = UNSUSPICIOUS.max(packed.saturating_mul(MOST_UNPACKED));
        // What it says of its size may be wrong.
        let unpacked = std::io::copy(&mut entry.take(left.min(most)), &mut std::io::sink());
        let unpacked = unpacked.map_err(|error| damaged(error.to_string()))?;
        left -= unpacked;
        if left == 0 {
            return Err(too_large(path, "its unpacked content takes", limit, memory));
        }
        if unpacked == most {
            let found = format!(
                "`{}`, {} that unpack to {MOST_UNPACKED} times as much or more",
                name.unwrap_or_default(),
                amount(packed)
            );
            let advice = "save the sheet as CSV";
            return Err(malformed(path, "an Excel file (XLSX)", found, advice));
        }
    }
    Ok(())
}

fn too_large(path: &Path, what: &str, taken: u64, memory: Option<u64>) -> Error {
    let error = Error::from(Problem::Memory {
        path: path.into(),
        what: what.into(),
        needed: Amount::Above(taken),
        limit: memory.unwrap_or(u64::MAX),
    });
    error
        .or("save the sheet as CSV")
        .or(Remedy::Memory(taken.saturating_mul(2)))
}

/// Whether a sheet seems to have cells with something in them: values, or texts of their own.
fn has_cells(text: &str) -> bool {
    let marks = ["<v>", ":v>", "<is>", ":is>"];
    marks.iter().any(|mark| text.contains(mark))
}

/// The error of a file with a flaw.
fn flawed(path: &Path, why: String) -> Error {
    let advice = "open it and save it again, or save the sheet as CSV";
    // It may quote the file.
    let why: String = shown(&why).chars().take(LONGEST).collect();
    malformed(path, "an Excel file (XLSX)", why, advice)
}

/// The elements that matter to what is in them.
const AROUND: [&str; 4] = ["v", "t", "rPh", "cellXfs"];

/// Calls `visit` for every piece of an XML text, with the names of the elements around it, empty where they are none of
/// [`AROUND`]. An empty element also starts and ends.
fn walk(text: &str, mut visit: impl FnMut(&Event<'_>, &[&str]) -> Flawed<()>) -> Flawed<()> {
    let mut reader = Reader::from_str(text);
    reader.config_mut().expand_empty_elements = true;
    // Of the elements that matter, none is deeper.
    const DEEPEST: usize = 64;
    let mut around: Vec<&'static str> = Vec::new();
    loop {
        let event = reader.read_event().map_err(|error| error.to_string())?;
        if let Event::Eof = event {
            return match around.is_empty() {
                true => Ok(()),
                false => Err("XML that ends too early".into()),
            };
        }
        if let Event::End(_) = event {
            around.pop();
        }
        visit(&event, &around)?;
        if let Event::Start(element) = &event {
            if around.len() >= DEEPEST {
                return Err("XML that is too deep".into());
            }
            let name = element.local_name();
            let known = AROUND.iter().find(|known| **known == name.as_ref());
            around.push(known.copied().unwrap_or(""));
        }
    }
}

/// The value of an attribute, whatever its prefix.
fn attribute(element: &BytesStart<'_>, name: &str) -> Option<String> {
    let mut attributes = element.attributes().flatten();
    let found = attributes.find(|attribute| attribute.key.local_name().as_ref() == name)?;
    let value = found
        .normalized_value(quick_xml::XmlVersion::Implicit1_0)
        .ok()?;
    Some(value.into_owned())
}

/// The characters of a piece of text.
fn content(event: &Event<'_>) -> Flawed<String> {
    match event {
        Event::Text(text) => Ok(text.xml10_content().into_owned()),
        Event::CData(text) => Ok(text.xml10_content().into_owned()),
        Event::GeneralRef(entity) => {
            let resolved = entity
                .resolve_char_ref()
                .map_err(|error| error.to_string())?;
            let named = match &*entity.xml10_content() {
                "amp" => Some('&'),
                "lt" => Some('<'),
                "gt" => Some('>'),
                "quot" => Some('"'),
                "apos" => Some('\''),
                _ => None,
            };
            let found = resolved.or(named).ok_or("an unknown entity")?;
            Ok(found.into())
        }
        _ => Ok(String::new()),
    }
}

/// The texts that cells share.
fn shared_texts(text: &str) -> Flawed<Vec<String>> {
    let mut texts = Vec::new();
    walk(text, |event, path| {
        match event {
            Event::Start(element) if element.local_name().as_ref() == "si" => {
                texts.push(String::new());
            }
            // Not how it is pronounced.
            _ if path.ends_with(&["t"]) && !path.contains(&"rPh") => {
                if let Some(last) = texts.last_mut() {
                    *last += &content(event)?;
                }
            }
            _ => {}
        }
        Ok(())
    })?;
    Ok(texts)
}

/// Whether a number in each of the styles of a workbook is a date or time.
fn date_styles(text: &str) -> Flawed<Vec<bool>> {
    let (mut formats, mut dates) = (HashMap::new(), Vec::new());
    walk(text, |event, path| {
        let Event::Start(element) = event else {
            return Ok(());
        };
        let format = || attribute(element, "numFmtId").and_then(|id| id.parse::<u32>().ok());
        match element.local_name().as_ref() {
            "numFmt" => {
                let code = attribute(element, "formatCode").unwrap_or_default();
                formats.insert(format().unwrap_or(0), is_date_format(&code));
            }
            "xf" if path.ends_with(&["cellXfs"]) => {
                let format = format().unwrap_or(0);
                // Formats that have a number but no text.
                let known = matches!(format, 14..=22 | 27..=36 | 45..=47 | 50..=58);
                dates.push(formats.get(&format).copied().unwrap_or(known));
            }
            _ => {}
        }
        Ok(())
    })?;
    Ok(dates)
}

/// Whether a format has letters of dates or times outside quotes and brackets.
fn is_date_format(code: &str) -> bool {
    let (mut quoted, mut bracketed, mut escaped) = (false, false, false);
    code.chars().any(|c| {
        if std::mem::take(&mut escaped) {
            return false;
        }
        match c {
            '\\' | '_' | '*' => escaped = true,
            '"' => quoted = !quoted,
            '[' if !quoted => bracketed = true,
            ']' if !quoted => bracketed = false,
            'd' | 'D' | 'm' | 'M' | 'y' | 'Y' | 'h' | 'H' | 's' | 'S' => {
                return !quoted && !bracketed;
            }
            _ => {}
        }
        false
    })
}

/// The date and time of a number of days since 1899-12-30, as text; a time alone within the first day.
fn moment(days: f64) -> String {
    let seconds = (days * 86_400.0).round().clamp(0.0, 1e12) as i64;
    let (day, second) = (seconds / 86_400, seconds % 86_400);
    let time = format!(
        "{:02}:{:02}:{:02}",
        second / 3600,
        second / 60 % 60,
        second % 60
    );
    if day == 0 {
        return time;
    }
    // Years from March on, so that a leap day is the last of a year; day 0 is 1899-12-30.
    let day = day + 693_899;
    let (era, of_era) = (day / 146_097, day % 146_097);
    let of_era_year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * of_era_year + of_era_year / 4 - of_era_year / 100);
    let month = (5 * of_year + 2) / 153;
    let of_month = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = 400 * era + of_era_year + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{of_month:02} {time}")
}

/// Row, from 1, and column, from 0, of a place such as `C7`.
fn position(place: &str) -> Flawed<(u64, u32)> {
    let digits = place.trim_start_matches(|c: char| c.is_ascii_uppercase());
    let letters = &place[..place.len() - digits.len()];
    let wrong = || format!("a cell at `{}`", show(place.as_bytes()));
    if letters.is_empty() || letters.len() > 3 {
        return Err(wrong());
    }
    let column = letters
        .bytes()
        .fold(0, |sum, c| 26 * sum + u32::from(c - b'A') + 1)
        - 1;
    let row: u64 = digits.parse().map_err(|_| wrong())?;
    match (1..=LARGEST.0).contains(&row) && column < LARGEST.1 {
        true => Ok((row, column)),
        false => Err(wrong()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_become_dates() {
        for (days, expected) in [
            (45_351.5, "2024-02-29 12:00:00"),
            (45_352.0, "2024-03-01 00:00:00"),
            (61.0, "1900-03-01 00:00:00"),
            (0.75, "18:00:00"),
            (2_958_465.0, "9999-12-31 00:00:00"),
        ] {
            assert_eq!(moment(days), expected);
        }
    }

    #[test]
    fn formats_of_dates_are_known_by_their_letters() {
        for code in ["yyyy-mm-dd", "d.m.yy hh:mm", "[$-409]h:mm AM/PM", "mm:ss.0"] {
            assert!(is_date_format(code), "{code}");
        }
        for code in [
            "0.00",
            "General",
            "0.0\" days\"",
            "#,##0 [$EUR]",
            "0.0\\m",
            "[Red]0",
        ] {
            assert!(!is_date_format(code), "{code}");
        }
        assert_eq!(position("AA12"), Ok((12, 26)));
        assert!(position("7").is_err() && position("XFE1").is_err() && position("A0").is_err());
    }
}
