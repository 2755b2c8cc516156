//! Sheets of Excel workbooks. `tests/data/pump.xlsx` was written by openpyxl; its formula has a saved value, as Excel
//! writes it.

#![allow(clippy::unwrap_used)] // Helpers of tests fail as tests do.
#![cfg(feature = "excel")]

use std::path::Path;
use thinfit_table::{Cells, Done, Error, Missing, Note, Options, Position, Reader, Remedy, Why};

const FILE: &[u8] = include_bytes!("data/pump.xlsx");

fn open(sheet: Option<&str>, options: Options) -> Result<Reader, Error> {
    let options = Options {
        sheet: sheet.map(str::to_owned),
        ..options
    };
    Reader::from_bytes(Path::new("pump.xlsx"), FILE.to_vec(), &options)
}

#[test]
fn a_sheet_is_read_from_where_its_table_begins() {
    let options = Options {
        missing: Missing::Keep,
        ..Options::default()
    };
    let mut reader = open(Some("Pump tests"), options).unwrap();
    let names = ["day", "flow [m3/s]", "material", "10\" pipe", "ok", "y"];
    assert_eq!(reader.names(), names);
    reader.admit_text(&[0, 2]);
    let table = reader.read().unwrap();
    assert_eq!((table.x.nrows(), table.x.ncols()), (12, 6));
    let Cells::Text { levels, .. } = table.cells(0) else {
        panic!("dates are text");
    };
    assert_eq!(levels[3], "2024-03-04 14:30:00");
    let Cells::Text { levels, .. } = table.cells(2) else {
        panic!("materials are text");
    };
    assert_eq!(levels, ["steel", "brass", "alu"]);
    let flow = table.x.col_as_slice(1);
    assert_eq!((flow[0], flow[1], flow[5]), (0.5, 0.6, 7.5));
    assert!(flow[2].is_nan());
    assert_eq!((table.x[(0, 4)], table.x[(11, 5)]), (1.0, 16.5));
}

#[test]
fn what_is_wrong_is_named_by_its_cell() {
    let error = open(Some("Bad"), Options::default()).unwrap().read();
    let message = error.unwrap_err().to_string();
    for expected in [
        "pump.xlsx, Bad!A4: column `a` is `x`, not a number; correct it",
        "pump.xlsx, Bad!B5: column `b` is the error #DIV/0!; correct the formula, or clear the cell",
        "pump.xlsx, Bad: 2 of 5 rows have missing values (b: 2), the first in row 3",
    ] {
        assert!(message.contains(expected), "{message}");
    }
    let error = open(Some("Pump"), Options::default()).err().unwrap();
    let message = error.to_string();
    let expected = "pump.xlsx: expected a sheet `Pump`, found Notes, Pump tests, Bad (did you mean `Pump tests`?)";
    assert!(message.contains(expected), "{message}");
    assert_eq!(error.remedies, [Remedy::Sheet]);
    let mut first = open(None, Options::default()).unwrap();
    assert_eq!(first.names(), ["see the other sheet"]);
    assert!(first.read().is_err());
}

#[test]
fn a_workbook_takes_no_more_memory_than_it_may() {
    let options = Options {
        memory: Some(4000),
        ..Options::default()
    };
    let message = open(None, options).err().unwrap().to_string();
    assert!(message.contains("in memory, above the limit"), "{message}");
}

/// A workbook of one sheet with these rows, and with one shared text.
fn workbook(rows: &str, shared: &str) -> Vec<u8> {
    workbook_of(
        rows,
        shared,
        "<sheet name=\"A\" sheetId=\"1\" r:id=\"r1\"/>",
    )
}

/// A workbook of these sheets; the one with the relation `r1` has these rows.
fn workbook_of(rows: &str, shared: &str, sheets: &str) -> Vec<u8> {
    use std::io::Write;
    let main = "xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\"";
    let office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    let parts = [
        (
            "xl/workbook.xml",
            format!("<workbook {main} xmlns:r=\"{office}\"><sheets>{sheets}</sheets></workbook>"),
        ),
        (
            "xl/_rels/workbook.xml.rels",
            format!(
                "<Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\"><Relationship Id=\"r1\" Type=\"{office}/worksheet\" Target=\"worksheets/sheet1.xml\"/><Relationship Id=\"r2\" Type=\"{office}/sharedStrings\" Target=\"sharedStrings.xml\"/></Relationships>"
            ),
        ),
        (
            "xl/worksheets/sheet1.xml",
            format!("<worksheet {main}><sheetData>{rows}</sheetData></worksheet>"),
        ),
        (
            "xl/sharedStrings.xml",
            format!("<sst {main}><si><t>{shared}</t></si></sst>"),
        ),
    ];
    let mut packed = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, text) in parts {
        let options = zip::write::SimpleFileOptions::default();
        packed.start_file(name, options).unwrap();
        packed.write_all(text.as_bytes()).unwrap();
    }
    packed.finish().unwrap().into_inner()
}

/// Cells of text and numbers in a row.
fn row(cells: &[&str]) -> String {
    let cell = |text: &&str| match text.parse::<f64>() {
        Ok(_) => format!("<c><v>{text}</v></c>"),
        Err(_) => format!("<c t=\"str\"><v>{text}</v></c>"),
    };
    let cells: String = cells.iter().map(cell).collect();
    format!("<row>{cells}</row>")
}

fn read(bytes: Vec<u8>, skip_rows: u64) -> Result<Reader, Error> {
    let options = Options {
        skip_rows,
        ..Options::default()
    };
    Reader::from_bytes(Path::new("a.xlsx"), bytes, &options)
}

#[test]
fn a_formula_without_a_saved_value_is_no_empty_cell() {
    for formula in [
        "<c><f>A2*2</f></c>",
        "<c><f>A2*2</f><v></v></c>",
        "<c t=\"str\"><f>A2</f></c>",
    ] {
        let rows =
            row(&["a", "b"]) + &row(&["1", "2"]) + &format!("<row><c><v>3</v></c>{formula}</row>");
        let error = read(workbook(&rows, "x"), 0).unwrap().read().unwrap_err();
        let expected = "a.xlsx, A!B3: column `b` is a formula without a saved value; open";
        assert!(error.to_string().starts_with(expected), "{error}");
    }
    // A text may be empty.
    let rows = row(&["a", "b"])
        + &row(&["1", "2"])
        + "<row><c><v>3</v></c><c t=\"str\"><f>A2</f><v></v></c></row>";
    let error = read(workbook(&rows, "x"), 0).unwrap().read().unwrap_err();
    assert!(error.to_string().contains("has no value"), "{error}");
}

#[test]
fn a_hidden_first_sheet_is_passed_over() {
    let rows = row(&["a"]) + &row(&["1"]);
    let sheet = |name: &str, id: u32, state: &str| {
        format!(
            "<sheet name=\"{name}\" sheetId=\"{id}\" {state} r:id=\"r{}\"/>",
            3 - id
        )
    };
    let hidden = sheet("lists", 1, "state=\"veryHidden\"") + &sheet("data", 2, "");
    let mut reader = read(workbook_of(&rows, "x", &hidden), 0).unwrap();
    assert_eq!(reader.read().unwrap().x[(0, 0)], 1.0);
    let taken = Done::Sheet {
        taken: "data".into(),
        hidden: vec!["lists".into()],
        others: vec![],
    };
    assert_eq!(reader.notes()[0].done, taken);
    let all = sheet("data", 2, "state=\"hidden\"");
    assert!(
        read(workbook_of(&rows, "x", &all), 0)
            .unwrap()
            .notes()
            .is_empty()
    );
}

#[test]
fn further_sheets_that_are_not_read_are_named() {
    let notes = |sheet: Option<&str>| open(sheet, Options::default()).unwrap().notes();
    let taken = Done::Sheet {
        taken: "Notes".into(),
        hidden: vec![],
        others: vec!["Pump tests".into(), "Bad".into()],
    };
    assert!(notes(None)[0].done == taken && notes(None)[0].is_loss());
    let is_sheet = |note: &Note| matches!(note.done, Done::Sheet { .. });
    assert!(!notes(Some("Pump tests")).iter().any(is_sheet));
    // The empty ones of a new workbook do not matter.
    let sheet = |name: &str, relation: &str| {
        format!("<sheet name=\"{name}\" sheetId=\"1\" r:id=\"{relation}\"/>")
    };
    let sheets = sheet("A", "r1") + &sheet("B", "r2");
    let bytes = workbook_of(&(row(&["a"]) + &row(&["1"])), "x", &sheets);
    assert!(read(bytes, 0).unwrap().notes().is_empty());
}

#[test]
fn titles_and_units_of_a_sheet_are_used_and_reported() {
    let rows = row(&["Series 12"])
        + &row(&["t", "p"])
        + &row(&["[s]", "bar"])
        + &row(&["1", "2"])
        + &row(&["3", "4"]);
    let mut reader = read(workbook(&rows, "x"), 0).unwrap();
    assert_eq!(reader.names(), ["t", "p"]);
    assert_eq!(reader.read().unwrap().x.col_as_slice(1), [2.0, 4.0]);
    let notes = reader.notes();
    let skipped = |why| Done::Skipped {
        why,
        lines: 1,
        first: Position::Row(1),
    };
    let units = Done::Units {
        position: Position::Row(3),
        units: vec![("t".into(), "s".into()), ("p".into(), "bar".into())],
    };
    assert_eq!(
        [&notes[0].done, &notes[1].done],
        [&skipped(Why::Title), &units]
    );
    let reader = read(workbook(&rows, "x"), 1).unwrap();
    assert_eq!(
        (reader.names().len(), &reader.notes()[0].done),
        (2, &skipped(Why::Asked))
    );
}

#[test]
fn blank_rows_of_a_sheet_do_not_vanish() {
    let missing = "<row><c t=\"e\"><v>#N/A</v></c></row>";
    let one = row(&["y"]) + &row(&["1"]) + "<row/>" + &row(&["3"]) + missing + &row(&["5"]);
    let keep = Options {
        missing: Missing::Keep,
        ..Options::default()
    };
    let open = |rows: &str| {
        let bytes = workbook(rows, "x");
        Reader::from_bytes(Path::new("a.xlsx"), bytes, &keep).unwrap()
    };
    let mut reader = open(&one);
    assert_eq!(reader.rows(), Some(5));
    let y = reader.read().unwrap().x.col_as_slice(0).to_vec();
    assert_eq!((y.len(), y[0], y[2], y[4]), (5, 1.0, 3.0, 5.0));
    assert!(y[1].is_nan() && y[3].is_nan());
    assert!(reader.notes().is_empty());
    // Block by block, where rows are passed over, and without names.
    let mut reader = open(&one);
    assert_eq!(reader.skip(2).unwrap(), 2);
    let block = reader.next_block(9).unwrap().unwrap();
    assert!(block.nrows() == 3 && block[(0, 0)] == 3.0 && block[(1, 0)].is_nan());
    assert_eq!(reader.place_of(1).position, Position::Row(5));
    let mut reader = open(&(row(&["1"]) + "<row/><row/>" + &row(&["4"])));
    assert_eq!(reader.read().unwrap().x.nrows(), 4);
    // In several columns they are skipped, and counted; a row of missing values is a row.
    let several = row(&["a", "b"])
        + "<row/>"
        + &row(&["1", "2"])
        + "<row/><row/>"
        + missing
        + &row(&["3", "4"]);
    let mut reader = open(&several);
    let table = reader.read().unwrap();
    assert_eq!((table.x.nrows(), table.x[(2, 1)]), (3, 4.0));
    assert!(table.x[(1, 0)].is_nan() && table.x[(1, 1)].is_nan());
    let blank = Done::Skipped {
        why: Why::Blank,
        lines: 3,
        first: Position::Row(2),
    };
    assert_eq!(reader.notes()[0].done, blank);
}

/// Seconds of the processor that this thread has taken, which other work on the machine does not add to; where the system does not
/// tell, seconds since 1970.
fn processor_seconds() -> f64 {
    let taken = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = taken.and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    nanoseconds.map_or_else(
        || std::time::UNIX_EPOCH.elapsed().unwrap().as_secs_f64(),
        |nanoseconds| nanoseconds / 1e9,
    )
}

#[test]
fn a_small_workbook_that_unpacks_to_hundreds_of_megabytes_is_refused_in_a_moment() {
    let row = row(&["1"; 40]);
    let bytes = workbook(&row.repeat(250_000), "");
    assert!(bytes.len() < 1_000_000, "{}", bytes.len());
    let start = processor_seconds();
    let message = read(bytes, 0).err().unwrap().to_string();
    let expected = "that unpack to 100 times as much or more; save the sheet as CSV";
    assert!(message.contains(expected), "{message}");
    let took = processor_seconds() - start;
    assert!(took < 5.0, "{took} s");
    // A cell in the far corner is no rectangle.
    let corner =
        "<row><c><v>1</v></c></row><row r=\"1048576\"><c r=\"XFD1048576\"><v>2</v></c></row>";
    let start = processor_seconds();
    drop(read(workbook(corner, ""), 0));
    let took = processor_seconds() - start;
    assert!(took < 5.0, "{took} s");
}

#[test]
fn a_text_that_many_cells_share_counts_for_each() {
    let rows = "<row><c t=\"s\"><v>0</v></c></row>".repeat(3000);
    let options = Options {
        memory: Some(10_000_000),
        ..Options::default()
    };
    for (length, fits) in [(10, true), (100_000, false)] {
        let bytes = workbook(&rows, &"x".repeat(length));
        let opened = Reader::from_bytes(Path::new("a.xlsx"), bytes, &options);
        let message = opened.err().map(|error| error.to_string());
        let refused = message
            .as_ref()
            .is_some_and(|text| text.contains("above the limit"));
        assert_eq!(refused, !fits, "{length}: {message:?}");
    }
}

#[test]
fn text_with_a_decimal_comma_is_a_number_as_in_csv() {
    let cell = |text: &str| format!("<c t=\"str\"><v>{text}</v></c>");
    let row = |a: &str, b: &str| format!("<row>{}{}</row>", cell(a), cell(b));
    let rows = row("a", "b") + &row("1,5", "2") + &row("-0,25", "1e3") + &row("−2,5", "€0,5");
    let read = |decimal_comma: bool| {
        let options = Options {
            decimal_comma,
            ..Options::default()
        };
        let bytes = workbook(&rows, "x");
        let mut reader = Reader::from_bytes(Path::new("a.xlsx"), bytes, &options).unwrap();
        assert_eq!(reader.names(), ["a", "b"]);
        reader.read()
    };
    let table = read(true).unwrap();
    assert_eq!(table.x.col_as_slice(0), [1.5, -0.25, -2.5]);
    assert_eq!(table.x.col_as_slice(1), [2.0, 1000.0, 0.5]);
    let message = read(false).err().unwrap().to_string();
    assert!(message.contains("`1,5`, not a number"), "{message}");
}

#[test]
fn older_and_other_spreadsheets_are_named_with_what_to_do() {
    let ods = b"PK\x03\x04\x14\0\0\0\0\0mimetypeapplication/vnd.oasis.opendocument.spreadsheetPK";
    for (name, bytes, words) in [
        (
            "old.xls",
            &b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"[..],
            "an old Excel file (XLS)",
        ),
        ("table.ods", &ods[..], "an OpenDocument file (ODS)"),
    ] {
        let opened = Reader::from_bytes(Path::new(name), bytes.to_vec(), &Options::default());
        let message = opened.err().unwrap().to_string();
        let advice = "save it as XLSX, or the sheet as CSV";
        assert!(
            message.contains(words) && message.contains(advice),
            "{message}"
        );
    }
}

#[test]
fn cells_beyond_the_last_row_are_errors() {
    for row in ["18446744073709551615", "1048577"] {
        let bytes = workbook(&format!("<row r=\"{row}\"><c><v>1</v></c></row>"), "x");
        let opened = Reader::from_bytes(Path::new("a.xlsx"), bytes, &Options::default());
        let message = opened.err().unwrap().to_string();
        assert!(message.contains("beyond the last row"), "{message}");
    }
}

#[test]
fn damaged_workbooks_are_errors() {
    for cut in (0..FILE.len()).step_by(97) {
        let bytes = FILE[..cut].to_vec();
        assert!(Reader::from_bytes(Path::new("a.xlsx"), bytes, &Options::default()).is_err());
        let mut bytes = FILE.to_vec();
        bytes[cut] ^= 0x41;
        let opened = Reader::from_bytes(Path::new("a.xlsx"), bytes, &Options::default());
        let _ = opened.and_then(|mut reader| reader.read());
    }
}
