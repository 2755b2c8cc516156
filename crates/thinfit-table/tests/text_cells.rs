//! Text columns: codes and levels, whole and in blocks, with gaps.

#![allow(clippy::unwrap_used)] // Helpers of tests fail as tests do.

#[cfg(feature = "parquet")]
mod files;

use std::path::Path;
use thinfit_table::{Cells, Missing, Options, Reader};

fn open(text: &str, missing: Missing) -> Reader {
    let options = Options {
        missing,
        ..Options::default()
    };
    let mut reader = Reader::from_bytes(Path::new("a.csv"), text.into(), &options).unwrap();
    let all: Vec<usize> = (0..reader.names().len()).collect();
    reader.admit_text(&all);
    reader
}

/// The cells of a column as text.
fn words(cells: Cells<'_>) -> Vec<String> {
    match cells {
        Cells::Numbers(values) => values.iter().map(f64::to_string).collect(),
        Cells::Text { levels, codes } => codes
            .iter()
            .map(|code| match code.is_nan() {
                true => "-".into(),
                false => format!("'{}'", levels[*code as usize]),
            })
            .collect(),
        Cells::Dates => vec!["dates".into()],
    }
}

#[test]
fn text_becomes_codes_and_numbers_stay() {
    let text = "a,b,c\n1,x,3.0\n2,\" y z \",\n3,x,q\n4,NA,true\n";
    let raw = open(text, Missing::Refuse).read_raw().unwrap();
    assert_eq!(words(raw.cells(0)), ["1", "2", "3", "4"]);
    assert_eq!(words(raw.cells(1)), ["'x'", "'y z'", "'x'", "-"]);
    assert_eq!(words(raw.cells(2)), ["'3'", "-", "'q'", "'1'"]);
    // Only the columns in use must be complete.
    assert_eq!(raw.complete(&[0]).unwrap().x.nrows(), 4);
    let raw = || open(text, Missing::Refuse).read_raw().unwrap();
    let error = |raw: thinfit_table::RawTable| raw.complete(&[0]).unwrap_err().to_string();
    let said = error(raw().expect_numbers(&[0, 2]));
    assert!(
        said.starts_with("a.csv:4: column `c` is `q`, not a number"),
        "{said}"
    );
    let said = error(raw().measured(&[1]).expect_numbers(&[1]));
    assert!(
        said.contains("column `b` holds text (x, y z), not numbers; choose a numeric column"),
        "{said}"
    );
    let error = raw().complete(&[1, 0]).unwrap_err().to_string();
    assert!(
        error.starts_with("a.csv:5: column `b` has no value"),
        "{error}"
    );
    let error = raw().complete(&[0, 1, 2]).unwrap_err().to_string();
    assert!(
        error.starts_with(
            "a.csv: 2 of 4 rows have missing values (b: 1, c: 1), the first in line 3; fill them in"
        ),
        "{error}"
    );
}

#[test]
fn gaps_in_text_are_dropped_or_kept() {
    let text = "a,b\n1,x\n2,y\n,y\n3,\n";
    let table = open(text, Missing::Drop).read().unwrap();
    assert_eq!(
        (table.dropped, words(table.cells(1))),
        (2, vec!["'x'".into(), "'y'".into()])
    );
    assert_eq!(table.place(1, "y").unwrap().to_string(), "a.csv:3");
    let table = open(text, Missing::Keep).read().unwrap();
    assert_eq!(words(table.cells(1)), ["'x'", "'y'", "'y'", "-"]);
}

#[test]
fn none_is_missing_among_numbers_and_a_word_among_words() {
    let raw = open("a,b\n1,none\nnone,zinc\n", Missing::Refuse)
        .read_raw()
        .unwrap();
    assert_eq!(words(raw.cells(0)), ["1", "NaN"]);
    assert_eq!(words(raw.cells(1)), ["'none'", "'zinc'"]);
    let error = raw.complete(&[0, 1]).unwrap_err().to_string();
    assert!(
        error.starts_with("a.csv:3: column `a` has no value"),
        "{error}"
    );
}

#[test]
fn blocks_have_levels_of_their_own() {
    let lines: String = (0..10).map(|i| format!("w{i},{i}\n")).collect();
    let text = format!("a,b\nNA,0\n{lines}");
    let mut reader = open(&text, Missing::Drop);
    reader.admit_text(&[0]);
    let mut seen = Vec::new();
    while let Some(block) = reader.next_block(3).unwrap() {
        let Cells::Text { levels, .. } = reader.cells(&block, 0) else {
            panic!("a column of text");
        };
        assert!(levels.len() <= 3);
        let line = format!("a.csv:{}", seen.len() + 3);
        assert_eq!(
            reader
                .place(0, &format!("w{}", seen.len()))
                .unwrap()
                .to_string(),
            line
        );
        let column = words(reader.cells(&block, 0));
        seen.extend(column.into_iter().zip(words(reader.cells(&block, 1))));
    }
    let expected: Vec<_> = (0..10)
        .map(|i| (format!("'w{i}'"), i.to_string()))
        .collect();
    assert_eq!((seen, reader.dropped()), (expected, 1));
}

#[test]
fn true_and_false_are_numbers() {
    let options = Options::default();
    let text = "flag,x\nTrue,1\nFALSE,2\n";
    let mut reader = Reader::from_bytes(Path::new("a.csv"), text.into(), &options).unwrap();
    let table = reader.read().unwrap();
    assert_eq!((table.x[(0, 0)], table.x[(1, 0)]), (1.0, 0.0));
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_gives_text_and_dates() {
    let options = Options::default();
    let bytes = files::parquet(true);
    let mut reader = Reader::from_bytes(Path::new("a.parquet"), bytes, &options).unwrap();
    let columns = ["name", "day", "a"].map(|name| reader.column(name).unwrap());
    reader.select(&columns);
    reader.admit_text(&columns);
    let raw = reader.read_raw().unwrap();
    assert_eq!(words(raw.cells(1)), ["dates"]);
    assert_eq!(words(raw.cells(0)).len(), 6);
    assert!(matches!(raw.cells(0), Cells::Text { .. }));
    assert!(matches!(raw.cells(2), Cells::Numbers(_)));
    let error = raw
        .expect_numbers(&[0])
        .complete(&[0])
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("a.parquet, row 1 (counted from 1): column `name`"),
        "{error}"
    );
}
