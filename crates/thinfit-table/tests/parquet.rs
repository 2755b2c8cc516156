//! Parquet: types, nulls, groups of rows.

#![allow(clippy::unwrap_used)] // Helpers of tests fail as tests do.
#![cfg(feature = "parquet")]

mod files;

use std::path::Path;
use thinfit_table::{Missing, Options, Reader};

fn open(compressed: bool, missing: Missing) -> Reader {
    let options = Options {
        missing,
        ..Options::default()
    };
    Reader::from_bytes(Path::new("a.parquet"), files::parquet(compressed), &options).unwrap()
}

#[test]
fn numeric_columns_of_every_type_are_read() {
    for compressed in [false, true] {
        let mut reader = open(compressed, Missing::Drop);
        assert_eq!(
            reader.names(),
            ["a", "b", "name", "u", "i", "f", "flag", "price", "day"]
        );
        reader.select(&[7, 0, 1, 3, 4, 5, 6]);
        let table = reader.read().unwrap();
        let expected = [
            [1.5, 0.1, -7.0, 1.0, -1.0, 0.5, 1.0],
            [0.01, -2.0, 9.0, 3.0, 1.0, 2.5, 1.0],
        ];
        assert_eq!((table.x.nrows(), table.dropped), (4, 2));
        for (i, row) in table.x.row_iter().enumerate() {
            assert!(row.iter().eq(&expected[i % 2]), "{row:?}");
        }
        let mut reader = open(compressed, Missing::Refuse);
        reader.select(&[3]);
        let table = reader.read().unwrap();
        assert_eq!(table.x[(4, 0)], u64::MAX as f64);
    }
}

#[test]
fn blocks_go_across_groups_of_rows() {
    let mut reader = open(true, Missing::Refuse);
    reader.select(&[4]);
    let mut sizes = Vec::new();
    while let Some(block) = reader.next_block(4).unwrap() {
        sizes.push(block.nrows());
    }
    assert_eq!(sizes, [4, 2]);
}

#[test]
fn nulls_text_dates_and_damage_are_errors() {
    let message = |columns: &[usize]| {
        let mut reader = open(true, Missing::Refuse);
        reader.select(columns);
        reader.read().unwrap_err().to_string()
    };
    let gaps = message(&[1]);
    let expected = "a.parquet: 2 of 6 rows have gaps (b: 2), the first in row 2 (counted from 1); ";
    assert!(gaps.starts_with(expected), "{gaps}");
    assert!(message(&[2]).contains("column `name` is text or bytes, not a number"));
    assert!(message(&[8]).contains("column `day` is a date or time, not a number"));
    let mut bytes = files::parquet(true);
    bytes.truncate(bytes.len() / 2);
    let cut = Reader::from_bytes(Path::new("a.parquet"), bytes, &Options::default());
    let cut = cut.err().unwrap().to_string();
    assert!(cut.contains("expected a Parquet file"), "{cut}");
}

/// `tests/data/gzip.parquet` was written by pyarrow.
#[test]
fn a_column_packed_in_another_way_is_named() {
    let bytes = include_bytes!("data/gzip.parquet").to_vec();
    let name = Path::new("a.parquet");
    let mut reader = Reader::from_bytes(name, bytes, &Options::default()).unwrap();
    let error = reader.read().unwrap_err().to_string();
    let expected = "a.parquet: expected a Parquet file, found in group 1 of its rows a column packed by GZIP, which is not read; copy or save it again, \
                    uncompressed or with Snappy";
    assert!(error.starts_with(expected), "{error}");
}
