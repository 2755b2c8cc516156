//! Parquet: types, nulls, row groups.

#![allow(clippy::unwrap_used)] // Helpers of tests fail as tests do.
#![cfg(feature = "parquet")]

mod files;

use std::path::Path;
use thinfit_table::{Done, Missing, Options, Reader};

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
    let expected =
        "a.parquet: 2 of 6 rows have missing values (b: 2), the first in row 2 (counted from 1); ";
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
    let expected = "a.parquet: expected a Parquet file, found in group 1 of its rows a column compressed with GZIP, which is not supported; copy or save it again, \
                    uncompressed or with Snappy";
    assert!(error.starts_with(expected), "{error}");
}

/// Writes a table of a FlatBuffer, each of whose fields takes four bytes; returns its place and those of its fields.
fn flat(buffer: &mut Vec<u8>, fields: &[Option<u32>]) -> (usize, Vec<usize>) {
    let sizes = [4 + 2 * fields.len() as u16, 4 + 4 * fields.len() as u16];
    let start = buffer.len();
    buffer.extend(sizes.map(u16::to_le_bytes).concat());
    for (j, field) in (0u16..).zip(fields) {
        buffer.extend(field.map_or(0, |_| 4 + 4 * j).to_le_bytes());
    }
    let table = buffer.len();
    buffer.extend(((table - start) as u32).to_le_bytes());
    for field in fields {
        buffer.extend(field.unwrap_or(0).to_le_bytes());
    }
    (
        table,
        (0..fields.len()).map(|j| table + 4 + 4 * j).collect(),
    )
}

/// Arrow's schema of these columns, of which the unit of a duration is known.
fn arrow_schema(columns: &[(&str, u32, Option<u32>)]) -> String {
    let point = |buffer: &mut Vec<u8>, from: usize, to: usize| {
        buffer[from..from + 4].copy_from_slice(&((to - from) as u32).to_le_bytes());
    };
    let mut buffer = vec![0; 4];
    let (message, of_message) = flat(&mut buffer, &[Some(4), Some(1), Some(0)]);
    point(&mut buffer, 0, message);
    let (schema, of_schema) = flat(&mut buffer, &[None, Some(0)]);
    point(&mut buffer, of_message[2], schema);
    let fields = buffer.len();
    point(&mut buffer, of_schema[1], fields);
    buffer.extend((columns.len() as u32).to_le_bytes());
    buffer.resize(buffer.len() + 4 * columns.len(), 0);
    for (k, (name, kind, unit)) in columns.iter().enumerate() {
        let (field, of_field) = flat(&mut buffer, &[Some(0), Some(1), Some(*kind), Some(0)]);
        point(&mut buffer, fields + 4 + 4 * k, field);
        let text = buffer.len();
        point(&mut buffer, of_field[0], text);
        buffer.extend((name.len() as u32).to_le_bytes());
        buffer.extend(name.as_bytes());
        let (of_type, _) = flat(&mut buffer, &[*unit]);
        point(&mut buffer, of_field[3], of_type);
    }
    let length = (buffer.len() as u32).to_le_bytes();
    let bytes = [&[0xff; 4][..], &length, &buffer].concat();
    let digits = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for three in bytes.chunks(3) {
        let bits = (0..3).fold(0, |bits, k| {
            bits << 8 | u32::from(*three.get(k).unwrap_or(&0))
        });
        let digit = |k: usize| char::from(digits[(bits >> (18 - 6 * k) & 63) as usize]);
        text.extend((0..=three.len()).map(digit));
    }
    text
}

#[test]
fn durations_are_seconds_and_not_bare_numbers() {
    use parquet::data_type::Int64Type;
    use parquet::file::metadata::KeyValue;
    use parquet::file::properties::WriterProperties;
    use parquet::file::writer::SerializedFileWriter;
    use std::sync::Arc;
    let schema = "message table { REQUIRED INT64 n; REQUIRED INT64 ns; REQUIRED INT64 ms; }";
    let schema = Arc::new(parquet::schema::parser::parse_message_type(schema).unwrap());
    let arrow = arrow_schema(&[("n", 2, None), ("ns", 18, Some(3)), ("ms", 18, None)]);
    let metadata = KeyValue::new("ARROW:schema".to_owned(), arrow);
    let properties = WriterProperties::builder().set_key_value_metadata(Some(vec![metadata]));
    let mut bytes = Vec::new();
    let mut file =
        SerializedFileWriter::new(&mut bytes, schema, Arc::new(properties.build())).unwrap();
    let mut group = file.next_row_group().unwrap();
    while let Some(mut column) = group.next_column().unwrap() {
        column
            .typed::<Int64Type>()
            .write_batch(&[1_500_000_000, -2000], None, None)
            .unwrap();
        column.close().unwrap();
    }
    group.close().unwrap();
    file.close().unwrap();
    let mut reader =
        Reader::from_bytes(Path::new("a.parquet"), bytes, &Options::default()).unwrap();
    let table = reader.read().unwrap();
    assert_eq!(table.x.col_as_slice(0), [1.5e9, -2000.0]);
    assert_eq!(table.x.col_as_slice(1), [1.5, -2e-6]);
    assert_eq!(table.x.col_as_slice(2), [1.5e6, -2.0]);
    let told = |column: &str| Done::Durations {
        column: column.into(),
    };
    let notes: Vec<Done> = reader.notes().into_iter().map(|note| note.done).collect();
    assert_eq!(notes, [told("ns"), told("ms")]);
    reader.select(&[0, 2]);
    assert_eq!(reader.notes().len(), 1);
}
