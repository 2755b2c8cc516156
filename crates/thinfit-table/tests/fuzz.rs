//! Any bytes give a table or an error, quickly and in little memory. `THINFIT_FUZZ=N` runs N cases of each test.

#![allow(clippy::unwrap_used)] // Helpers of tests fail as tests do.

mod files;

use files::{mat, npy, npz};
use proptest::collection::vec;
use proptest::prelude::*;
use std::path::Path;
use std::time::{Duration, Instant};
use thinfit_table::{Cells, Missing, Options, Reader};

fn config() -> ProptestConfig {
    let cases = std::env::var("THINFIT_FUZZ").map_or(500, |n| n.parse().unwrap());
    ProptestConfig::with_cases(cases)
}

/// Processor time of this thread, since a busy machine may suspend it for long; zero where the system does not say.
fn computed() -> Duration {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = told.split(' ').next().and_then(|n| n.parse().ok());
    Duration::from_nanos(nanoseconds.unwrap_or(0))
}

/// Reads a table whole and in blocks, which must agree, in little time and memory.
fn survive(name: &str, bytes: &[u8], options: &Options) {
    let (start, before) = (Instant::now(), computed());
    let memory = allocation_counter::measure(|| {
        let open = || Reader::from_bytes(Path::new(name), bytes.to_vec(), options);
        let Ok(mut reader) = open() else {
            return;
        };
        let whole = reader.read();
        let mut blocks = open().unwrap();
        let mut rows = 0;
        let ended = loop {
            match blocks.next_block(3) {
                Ok(Some(block)) => {
                    if let Ok(whole) = &whole {
                        assert_eq!(whole.x.subrows(rows, block.nrows()), block);
                    }
                    rows += block.nrows();
                }
                Ok(None) => break true,
                Err(error) => {
                    assert!(error.to_string().contains(name), "{error}");
                    break false;
                }
            }
        };
        let mut with_text = open().unwrap();
        let all: Vec<usize> = (0..with_text.names().len()).collect();
        with_text.admit_text(&all);
        if let Ok(raw) = with_text.read_raw() {
            let codes = |j| match raw.cells(j) {
                Cells::Text { levels, codes } => {
                    let known = |code: &f64| code.is_nan() || (*code as usize) < levels.len();
                    codes.iter().all(known)
                }
                _ => true,
            };
            assert!(all.iter().all(|j| codes(*j)));
            drop(raw.complete(&all));
        }
        match whole {
            Ok(whole) => {
                assert!(whole.x.col_iter().all(|c| c.iter().all(|v| v.is_finite())));
                assert_eq!(whole.names.len(), whole.x.ncols());
                if options.missing != Missing::Mean {
                    assert!(ended && rows == whole.x.nrows());
                }
            }
            // Every row may have been dropped.
            Err(_) => assert!(!ended || rows == 0),
        }
    });
    let most = (16 << 20) + 2000 * bytes.len() as u64;
    assert!(memory.bytes_max < most, "{} bytes", memory.bytes_max);
    let (took, computed) = (start.elapsed(), computed() - before);
    if took > Duration::from_secs(2) {
        eprintln!("{name}: {took:?}, of which {computed:?} computing");
    }
    assert!(computed < Duration::from_secs(2), "{computed:?}");
}

fn options() -> impl Strategy<Value = Options> {
    let missing = prop_oneof![
        Just(Missing::Refuse),
        Just(Missing::Drop),
        Just(Missing::Mean)
    ];
    let array = prop_oneof![9 => Just(None), 1 => Just(Some("X".to_owned()))];
    let flags = any::<(Option<bool>, bool, bool)>();
    (missing, array, flags).prop_map(
        |(missing, array, (header, decimal_comma, needed))| Options {
            missing,
            array,
            header,
            delimiter: None,
            decimal_comma,
            needed,
            memory: Some(1 << 20),
        },
    )
}

/// A change to a file: where, how, and with what.
type Change = (prop::sample::Index, u8, u32);

fn change(bytes: &mut Vec<u8>, (place, how, what): &Change) {
    if bytes.is_empty() {
        return;
    }
    let at = place.index(bytes.len());
    match how % 8 {
        0 => bytes.truncate(at),
        1 => bytes[at] = *what as u8,
        2 => bytes.insert(at, *what as u8),
        3 => drop(bytes.remove(at)),
        4 => bytes[at] ^= 1 << (what % 8),
        // Extreme numbers where there may be a length.
        5 | 6 => {
            let extreme = [0, 1, u32::MAX, 1 << 31, i32::MAX as u32, *what][*what as usize % 6];
            for (byte, new) in bytes[at..].iter_mut().zip(extreme.to_le_bytes()) {
                *byte = new;
            }
        }
        _ => {
            let piece = bytes[at..].iter().take(64).copied().collect::<Vec<_>>();
            bytes.splice(at..at, piece);
        }
    }
}

fn changes() -> impl Strategy<Value = Vec<Change>> {
    vec(any::<Change>(), 1..6)
}

fn numbers(count: usize) -> Vec<u8> {
    (0..count)
        .flat_map(|i| (i as f64 / 3.0).to_le_bytes())
        .collect()
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn arbitrary_bytes_are_survived(
        kind in 0..6usize,
        named in any::<bool>(),
        tail in vec(any::<u8>(), 0..300),
        options in options(),
    ) {
        let magic: [&[u8]; 6] = [b"", b"\x93NUMPY\x01\0", b"PK\x03\x04", b"MATLAB 5.0 MAT-file", b"PAR1", b"\x93NUMPY\x02\0"];
        let name = ["a.csv", "a.npy", "a.npz", "a.mat", "a.parquet", "a.npy"][kind];
        let bytes = [magic[kind], &tail].concat();
        survive(if named { name } else { "-" }, &bytes, &options);
    }

    #[test]
    fn texts_of_signs_are_survived(text in "[-+.0-9eEnaiNA#\",;?\t \r\n]{0,80}", options in options()) {
        survive("a.csv", text.as_bytes(), &options);
    }

    #[test]
    fn texts_of_tokens_are_survived(
        tokens in vec(prop::sample::select(vec![
            "1", "2.5", "-3e4", "NA", "", "x", "\"", "\"\"", "\"7\"", "\"a\nb\"", ",", ",", ",", ";", "\t", " ", "\n", "\n", "\n",
            "\r\n", "#", "#N/A", "inf", "1e999", "é", "\u{feff}",
        ]), 0..40),
        options in options(),
    ) {
        survive("a.csv", tokens.concat().as_bytes(), &options);
    }

    #[test]
    fn changed_texts_are_survived(changes in changes(), options in options()) {
        let mut bytes = b"a,\"b c\",d\n1,2,x\n3.5,-4e-5,y\n,NA,z\n6,7,\"w\nv\"\n".to_vec();
        changes.iter().for_each(|c| change(&mut bytes, c));
        survive("a.csv", &bytes, &options);
    }

    #[test]
    fn changed_npy_files_are_survived(changes in changes(), fortran in any::<bool>(), options in options()) {
        let mut bytes = npy("'<f8'", fortran, "(4, 3)", &numbers(12));
        changes.iter().for_each(|c| change(&mut bytes, c));
        survive("a.npy", &bytes, &options);
    }

    #[test]
    fn changed_npz_files_are_survived(changes in changes(), deflated in any::<bool>(), options in options()) {
        let x = npy("'<f8'", false, "(4, 3)", &numbers(12));
        let y = npy("'<f4'", false, "(4,)", &numbers(2));
        let mut bytes = npz(&[("X", x), ("y", y)], deflated);
        changes.iter().for_each(|c| change(&mut bytes, c));
        survive("a.npz", &bytes, &options);
    }

    #[test]
    fn npz_files_of_changed_arrays_are_survived(changes in changes(), options in options()) {
        let mut x = npy("'<f8'", true, "(4, 3)", &numbers(12));
        changes.iter().for_each(|c| change(&mut x, c));
        survive("a.npz", &npz(&[("X", x)], true), &options);
    }

    #[test]
    fn changed_mat_files_are_survived(
        changes in changes(), big in any::<bool>(), compressed in any::<bool>(), options in options(),
    ) {
        let variables = [("X", 6, 9, [4, 3], numbers(12)), ("y", 6, 2, [4, 1], vec![1, 2, 3, 4])];
        let mut bytes = mat(&variables, big, compressed);
        changes.iter().for_each(|c| change(&mut bytes, c));
        survive("a.mat", &bytes, &options);
    }
}

#[cfg(feature = "parquet")]
proptest! {
    #![proptest_config(config())]

    #[test]
    fn changed_parquet_files_are_survived(changes in changes(), compressed in any::<bool>(), options in options()) {
        let mut bytes = files::parquet(compressed);
        changes.iter().for_each(|c| change(&mut bytes, c));
        survive("a.parquet", &bytes, &options);
    }
}
