//! Tables: reading as a whole, in blocks and with text must agree.

use super::check_message;
use crate::target::Outcome;
use std::path::Path;
use thinfit::MatRef;
use thinfit::file::fnv1a;
use thinfit_table::{Cells, Missing, Options, Reader};

/// How to read a table; depends on the bytes alone, so that an input says it all.
fn options(input: &[u8]) -> Options {
    let hash = fnv1a(input.iter().copied());
    let bits = |from: u32, count: u32| hash >> from & ((1 << count) - 1);
    Options {
        missing: [Missing::Refuse, Missing::Drop, Missing::Keep][bits(8, 8) as usize % 3],
        array: (bits(16, 4) == 0).then(|| "X".into()),
        header: [None, None, None, None, None, None, Some(true), Some(false)][bits(20, 3) as usize],
        delimiter: None,
        sheet: None,
        decimal_comma: bits(24, 3) == 0,
        needed: bits(32, 1) == 0,
        skip_rows: u64::from(bits(36, 4) == 0),
        memory: Some([1, 16, 128, 256][bits(34, 2) as usize] << 20),
    }
}

/// Reads a table in three ways. Text is sometimes without a name that says what it is.
pub fn survive(name: &str, input: &[u8]) -> Outcome {
    let options = options(input);
    let name = match fnv1a(input.iter().copied()) % 8 {
        0 => "-",
        _ => name,
    };
    let open = || Reader::from_bytes(Path::new(name), input.to_vec(), &options);
    let mut reader = match open() {
        Ok(reader) => reader,
        Err(error) => return refused(name, &error),
    };
    let whole = reader.read();
    let (Ok(mut blocks), Ok(mut with_text)) = (open(), open()) else {
        panic!("opened once, but not again");
    };
    let mut rows = 0;
    let ended = loop {
        match blocks.next_block(3) {
            Ok(Some(block)) => {
                if let Ok(whole) = &whole {
                    let bits = |x: MatRef<'_, f64>| -> Vec<u64> {
                        let rows = x.row_iter().flat_map(|row| row.iter().collect::<Vec<_>>());
                        rows.map(|value| value.to_bits()).collect()
                    };
                    let same = whole.x.subrows(rows, block.nrows());
                    assert_eq!(bits(same), bits(block.as_ref()));
                }
                rows += block.nrows();
            }
            Ok(None) => break true,
            Err(error) => {
                refused(name, &error);
                break false;
            }
        }
        // A file may say that it has any number of rows.
        if whole.is_err() && rows > 100_000 {
            break false;
        }
    };
    let all: Vec<usize> = (0..with_text.names().len()).collect();
    with_text.admit_text(&all);
    let mut accepted = whole.is_ok();
    if let Ok(raw) = with_text.read_raw() {
        let known = |j: &usize| match raw.cells(*j) {
            Cells::Text { levels, codes } => {
                let known = |code: &f64| code.is_nan() || (*code as usize) < levels.len();
                codes.iter().all(known)
            }
            _ => true,
        };
        assert!(all.iter().all(known), "a code without a text");
        accepted |= raw.complete(&all).is_ok();
    }
    match whole {
        Ok(whole) => {
            let gaps = options.missing == Missing::Keep;
            let sound = |value: &f64| value.is_finite() || gaps && value.is_nan();
            let finite = |column: &[f64]| column.iter().all(sound);
            assert!((0..whole.x.ncols()).all(|j| finite(whole.x.col_as_slice(j))));
            assert_eq!(whole.names.len(), whole.x.ncols());
            assert!(ended && rows == whole.x.nrows());
            let size = |count: usize| count.ilog2();
            let (rows, columns) = (size(whole.x.nrows()), size(whole.x.ncols()));
            Outcome::accepted(format!(
                "{} rows {} columns",
                "x".repeat(rows as usize),
                "x".repeat(columns as usize)
            ))
        }
        Err(error) => {
            let memory = matches!(error.problem, thinfit_table::Problem::Memory { .. });
            // Every row may have been dropped; in blocks there is no limit.
            assert!(
                !ended || rows == 0 || memory,
                "refused whole, but not in blocks: {error}"
            );
            Outcome {
                accepted,
                ..refused(name, &error)
            }
        }
    }
}

fn refused(name: &str, error: &thinfit_table::Error) -> Outcome {
    let message = error.to_string();
    assert!(
        message.contains(name),
        "without the name of the file: {message}"
    );
    check_message(&message);
    Outcome::refused(message)
}
