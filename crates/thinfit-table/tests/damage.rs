//! Damaged files: data with a checksum is never read with other values, and lengths that contradict shapes are
//! errors.

#![allow(clippy::unwrap_used)] // Helpers of tests fail as tests do.

mod files;

use files::{mat, npy, npz};
use std::path::Path;
use thinfit_table::{Options, Reader};

/// Names and values of a table, row by row; none if it is refused.
fn read(name: &str, bytes: &[u8]) -> Option<(Vec<String>, Vec<Vec<f64>>)> {
    let mut reader = Reader::from_bytes(Path::new(name), bytes.to_vec(), &Options::default());
    let table = reader.as_mut().ok()?.read().ok()?;
    let rows = table.x.row_iter().map(|row| row.iter().copied().collect());
    Some((table.names.clone(), rows.collect()))
}

fn numbers(values: impl Iterator<Item = f64>) -> Vec<u8> {
    values.flat_map(f64::to_le_bytes).collect()
}

/// Flips every bit of a file; how many of these files are read, all with the values of the whole one.
fn flips_that_are_read(name: &str, whole: &[u8]) -> usize {
    let expected = read(name, whole).unwrap().1;
    let mut accepted = 0;
    for place in 0..whole.len() {
        for bit in 0..8 {
            let mut bytes = whole.to_vec();
            bytes[place] ^= 1 << bit;
            if let Some((_, found)) = read(name, &bytes) {
                assert_eq!(found, expected, "{name}: bit {bit} of byte {place}");
                accepted += 1;
            }
        }
    }
    accepted
}

fn archive(deflated: bool) -> Vec<u8> {
    let x = npy(
        "'<f8'",
        false,
        "(4, 2)",
        &numbers((0..8).map(|i| 0.1 * f64::from(i))),
    );
    let y = npy(
        "'<f8'",
        false,
        "(4,)",
        &numbers((0..4).map(|i| f64::from(i).sqrt())),
    );
    npz(&[("X", x), ("y", y)], deflated)
}

#[test]
fn a_flipped_bit_in_an_npz_file_is_never_read_as_another_value() {
    for deflated in [false, true] {
        let bytes = archive(deflated);
        let accepted = flips_that_are_read("a.npz", &bytes);
        // Names, dates and the like have no checksum.
        assert!(accepted < 8 * bytes.len() / 2, "{accepted}");
    }
}

#[test]
fn a_flipped_bit_in_a_compressed_mat_file_is_never_read_as_another_value() {
    let x = numbers((0..8).map(|i| 0.1 * f64::from(i)));
    let variables = [
        ("X", 6, 9, [4, 2], x),
        ("y", 6, 2, [4, 1], vec![9, 8, 7, 6]),
    ];
    for big in [false, true] {
        let accepted = flips_that_are_read("a.mat", &mat(&variables, big, true));
        // The text at the start of the file.
        assert!(accepted < 8 * 128, "{accepted}");
    }
}

#[test]
fn a_shape_that_contradicts_the_number_of_bytes_is_an_error() {
    let ten = numbers((0..10).map(f64::from));
    for shape in ["(4, 2)", "(2, 4)", "(9,)", "(11,)", "(5, 3)"] {
        let file = npy("'<f8'", false, shape, &ten);
        assert!(read("a.npy", &file).is_none(), "{shape}");
        for deflated in [false, true] {
            let archive = npz(&[("X", file.clone())], deflated);
            assert!(read("a.npz", &archive).is_none(), "{shape}");
        }
    }
    for shape in [[4, 2], [2, 4], [9, 1], [11, 1], [5, 3]] {
        for compressed in [false, true] {
            let file = mat(&[("X", 6, 9, shape, ten.clone())], false, compressed);
            let found = Reader::from_bytes(Path::new("a.mat"), file, &Options::default());
            let error = found.err().unwrap().to_string();
            assert!(error.contains("80 bytes of numbers"), "{error}");
        }
    }
    let whole = npy("'<f8'", false, "(5, 2)", &ten);
    assert!(read("a.npy", &whole).is_some());
}

/// An archive whose table of contents has three names for one array.
#[test]
fn arrays_of_an_npz_file_that_share_their_bytes_are_refused() {
    let bytes = include_bytes!("../../thinfit-fuzz/corpus/npz/arrays-on-each-other.npz");
    let reader = Reader::from_bytes(Path::new("a.npz"), bytes.to_vec(), &Options::default());
    let error = reader.err().unwrap().to_string();
    assert!(error.contains("arrays that overlap"), "{error}");
}

/// The file was written by PyArrow with `write_page_checksum`; the `parquet` crate compares checksums, but writes none.
#[cfg(feature = "parquet")]
#[test]
fn a_flipped_bit_in_a_parquet_page_is_found_by_its_checksum() {
    let whole = include_bytes!("data/checksums.parquet");
    let (names, rows) = read("a.parquet", whole).unwrap();
    assert_eq!(names, ["a", "b"]);
    assert_eq!(rows, [[0.1, 1.0], [-2.0, 2.0], [3.5, 4.0]]);
    // What describes the pages, between them and at the end, has no checksum.
    let places = whole
        .windows(24)
        .enumerate()
        .filter(|(_, bytes)| {
            let column = |j: usize| numbers(rows.iter().map(|row| row[j]));
            *bytes == column(0) || *bytes == column(1)
        })
        .map(|(place, _)| place);
    let places: Vec<usize> = places.collect();
    assert_eq!(places.len(), 2);
    for bit in 0..8 * 24 {
        for place in &places {
            let mut bytes = whole.to_vec();
            bytes[place + bit / 8] ^= 1 << (bit % 8);
            assert!(read("a.parquet", &bytes).is_none(), "bit {bit} at {place}");
        }
    }
}
