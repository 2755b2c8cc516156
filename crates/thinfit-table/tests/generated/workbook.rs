//! A table as a sheet of a workbook (XLSX).

use super::content::{Cell, Column, written};
use super::random::Random;
use super::{Defect, File, Plan};
use std::io::Write;

/// Rows of a sheet so far.
#[derive(Default)]
struct Sheet {
    rows: String,
    number: usize,
    left: usize,
    shared: Vec<String>,
}

impl Sheet {
    /// Adds a row of cells: the attributes and the content of each, which is absent if it is empty.
    fn row(&mut self, cells: &[(String, String)]) {
        self.number += 1;
        let mut row = String::new();
        for (j, (kind, content)) in cells.iter().enumerate() {
            if !content.is_empty() {
                let column = char::from(b'A' + (self.left + j) as u8);
                row += &format!("<c r=\"{column}{}\"{kind}>{content}</c>", self.number);
            }
        }
        self.rows += &format!("<row r=\"{}\">{row}</row>", self.number);
    }

    fn text(&mut self, random: &mut Random, text: &str) -> (String, String) {
        let text = text.replace('&', "&amp;").replace('<', "&lt;");
        match random.below(3) {
            0 => (" t=\"inlineStr\"".into(), format!("<is><t>{text}</t></is>")),
            1 => (" t=\"str\"".into(), format!("<v>{text}</v>")),
            _ => {
                self.shared.push(text);
                (
                    " t=\"s\"".into(),
                    format!("<v>{}</v>", self.shared.len() - 1),
                )
            }
        }
    }
}

/// Writes a part of a table.
pub fn write(random: &mut Random, columns: &[Column], rows: &[Vec<Cell>], plan: &Plan) -> File {
    let mut file = File {
        ending: "xlsx",
        ..File::default()
    };
    let mut sheet = Sheet {
        left: random.below(3),
        ..Sheet::default()
    };
    for _ in 0..plan.options.skip_rows {
        let junk = sheet.text(random, "junk");
        sheet.row(&[junk]);
        file.counts.asked += 1;
    }
    // Above the table they do not count.
    sheet.number += random.below(3);
    if plan.title && columns.len() > 1 {
        let title = sheet.text(random, "A title");
        sheet.row(&[title]);
        file.counts.titles += 1;
        file.counts.blanks += blanks(random, &mut sheet, 4);
    }
    if plan.header {
        let names: Vec<_> = columns
            .iter()
            .map(|c| sheet.text(random, &c.name))
            .collect();
        sheet.row(&names);
        if plan.units {
            file.counts.blanks += blanks(random, &mut sheet, 8);
            let units: Vec<_> = columns
                .iter()
                .map(|column| match column.unit {
                    "" => Default::default(),
                    unit => sheet.text(random, unit),
                })
                .collect();
            sheet.row(&units);
            file.units = true;
        }
    }
    for (i, row) in rows.iter().enumerate() {
        if columns.len() > 1 && i > 0 {
            file.counts.blanks += blanks(random, &mut sheet, 12);
        }
        let mut cells = Vec::new();
        for (j, (column, cell)) in columns.iter().zip(row).enumerate() {
            cells.push(match *cell {
                Cell::Missing => match random.below(3) {
                    0 => (" t=\"e\"".into(), "<v>#N/A</v>".into()),
                    1 => sheet.text(random, "NA"),
                    _ => Default::default(),
                },
                Cell::Text(text) => sheet.text(random, text),
                Cell::Number(value) if random.one_in(8) => {
                    let (text, unusual) = written(random, value, column, false);
                    file.unusual[j] += u64::from(unusual);
                    let text = match plan.options.decimal_comma {
                        true => text.replace('.', ","),
                        false => text,
                    };
                    sheet.text(random, &text)
                }
                Cell::Number(value) => (String::new(), format!("<v>{value}</v>")),
            });
        }
        if plan.defect == Some(Defect::Formula(i)) {
            cells[0] = (String::new(), "<f>B7+1</f>".into());
        }
        // In several columns, a row without any cell would be a blank one.
        if columns.len() > 1 && cells.iter().all(|cell| cell.1.is_empty()) {
            cells[0] = (" t=\"e\"".into(), "<v>#N/A</v>".into());
        }
        sheet.row(&cells);
    }
    file.others = u64::from(random.one_in(4));
    file.bytes = packed(&sheet, file.others > 0, random.one_in(4));
    file
}

/// Adds blank rows now and then; returns their number.
fn blanks(random: &mut Random, sheet: &mut Sheet, among: usize) -> u64 {
    let count = if random.one_in(among) {
        1 + random.below(2)
    } else {
        0
    };
    sheet.number += count;
    if count > 0 && random.one_in(2) {
        sheet.rows += &format!("<row r=\"{}\"/>", sheet.number);
    }
    count as u64
}

/// The archive of a workbook with this sheet, perhaps with another one below and with a hidden one above.
fn packed(sheet: &Sheet, other: bool, hidden: bool) -> Vec<u8> {
    let main = "xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\"";
    let office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    let packages = "http://schemas.openxmlformats.org/package/2006/relationships";
    let mut sheets = String::new();
    if hidden {
        sheets += "<sheet name=\"lists\" sheetId=\"3\" state=\"hidden\" r:id=\"r2\"/>";
    }
    sheets += "<sheet name=\"data\" sheetId=\"1\" r:id=\"r1\"/>";
    if other {
        sheets += "<sheet name=\"more\" sheetId=\"2\" r:id=\"r2\"/>";
    }
    let relation = |id: u32| {
        format!(
            "<Relationship Id=\"r{id}\" Type=\"{office}/worksheet\" Target=\"worksheets/sheet{id}.xml\"/>"
        )
    };
    let part = |rows: &str| format!("<worksheet {main}><sheetData>{rows}</sheetData></worksheet>");
    let shared: String = sheet
        .shared
        .iter()
        .map(|text| format!("<si><t>{text}</t></si>"))
        .collect();
    let parts = [
        (
            "xl/workbook.xml",
            format!("<workbook {main} xmlns:r=\"{office}\"><sheets>{sheets}</sheets></workbook>"),
        ),
        (
            "xl/_rels/workbook.xml.rels",
            format!(
                "<Relationships xmlns=\"{packages}\">{}{}</Relationships>",
                relation(1),
                relation(2)
            ),
        ),
        ("xl/worksheets/sheet1.xml", part(&sheet.rows)),
        (
            "xl/worksheets/sheet2.xml",
            part("<row><c><v>1</v></c></row>"),
        ),
        (
            "xl/sharedStrings.xml",
            format!("<sst {main}>{shared}</sst>"),
        ),
    ];
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, text) in parts {
        let options = zip::write::SimpleFileOptions::default();
        archive.start_file(name, options).expect("in memory");
        archive.write_all(text.as_bytes()).expect("in memory");
    }
    archive.finish().expect("in memory").into_inner()
}
