//! NPY, NPZ and MAT: number types, memory orders, several arrays, and damaged files.

#![allow(clippy::unwrap_used)] // Helpers of tests fail as tests do.

mod files;

use faer::Mat;
use files::{mat, npy, npz};
use std::path::{Path, PathBuf};
use thinfit_table::{Missing, Options, Reader, Result, Table};

fn read_with(name: &str, bytes: Vec<u8>, options: &Options) -> Result<Table> {
    Reader::from_bytes(Path::new(name), bytes, options)?.read()
}

fn read(name: &str, bytes: Vec<u8>) -> Result<Table> {
    read_with(name, bytes, &Options::default())
}

#[track_caller]
fn error(name: &str, bytes: Vec<u8>) -> String {
    read(name, bytes).unwrap_err().to_string()
}

fn rows(x: &Mat<f64>) -> Vec<Vec<f64>> {
    x.row_iter()
        .map(|row| row.iter().copied().collect())
        .collect()
}

#[test]
fn npy_of_every_type_and_order_gives_the_same_table() {
    macro_rules! check {
        ($($type:ty, $letter:literal);*) => {$(
            for (mark, big) in [('<', false), ('>', true)] {
                for fortran in [false, true] {
                    let stored = if fortran { [1, 3, 5, 2, 4, 6] } else { [1, 2, 3, 4, 5, 6] };
                    let bytes: Vec<u8> = stored
                        .iter()
                        .flat_map(|v| {
                            let mut bytes = (*v as $type).to_le_bytes();
                            if big {
                                bytes.reverse();
                            }
                            bytes
                        })
                        .collect();
                    let descr = format!("'{mark}{}'", $letter);
                    let table = read("a.npy", npy(&descr, fortran, "(3, 2)", &bytes)).unwrap();
                    assert_eq!(table.names, ["c1", "c2"]);
                    assert_eq!(rows(&table.x), [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], "{descr}");
                }
            }
        )*};
    }
    check!(f64, "f8"; f32, "f4"; i64, "i8"; i32, "i4"; i16, "i2"; i8, "i1"; u64, "u8"; u32, "u4"; u16, "u2"; u8, "u1");
    let flags = read("a.npy", npy("'|b1'", false, "(3,)", &[1, 0, 1])).unwrap();
    assert_eq!(rows(&flags.x), [[1.0], [0.0], [1.0]]);
}

#[test]
fn npy_is_read_in_blocks_and_by_columns() {
    let (m, k) = (1000, 7);
    let value = |i: usize, j: usize| (i * 10 + j) as f64 / 3.0;
    for fortran in [false, true] {
        let number = |at: usize| {
            if fortran {
                value(at % m, at / m)
            } else {
                value(at / k, at % k)
            }
        };
        let bytes: Vec<u8> = (0..m * k).flat_map(|at| number(at).to_le_bytes()).collect();
        let bytes = npy("'<f8'", fortran, "(1000, 7)", &bytes);
        let mut reader =
            Reader::from_bytes(Path::new("a.npy"), bytes, &Options::default()).unwrap();
        reader.select(&[6, 2]);
        let mut first = 0;
        while let Some(block) = reader.next_block(64).unwrap() {
            for i in 0..block.nrows() {
                assert_eq!(block[(i, 0)], value(first + i, 6));
                assert_eq!(block[(i, 1)], value(first + i, 2));
            }
            first += block.nrows();
        }
        assert_eq!(first, m);
    }
}

#[test]
fn nan_in_an_array_is_a_missing_value() {
    let bytes: Vec<u8> = [1.0, f64::NAN, 3.0]
        .iter()
        .flat_map(|v| v.to_le_bytes())
        .collect();
    let bytes = npy("'<f8'", false, "(3, 1)", &bytes);
    assert!(
        error("a.npy", bytes.clone())
            .starts_with("a.npy, row 2 (counted from 1): column `c1` has no value; ")
    );
    let options = Options {
        missing: Missing::Drop,
        ..Options::default()
    };
    assert_eq!(
        rows(&read_with("a.npy", bytes, &options).unwrap().x),
        [[1.0], [3.0]]
    );
}

#[test]
fn damaged_and_unsuitable_npy_files_are_refused_at_once() {
    let numbers = [0; 48];
    let cases = [
        (npy("'<f8'", false, "(3, 4)", &numbers), "truncated"),
        (
            npy("'<f8'", false, "(1000000000000, 1)", &numbers),
            "truncated",
        ),
        (
            npy(
                "'<f8'",
                false,
                "(18446744073709551615, 18446744073709551615)",
                &numbers,
            ),
            "truncated",
        ),
        (npy("'<f8'", false, "(0, 1000000000000)", &[]), "at most"),
        (npy("'<f8'", false, "(0, 3)", &[]), "expected rows"),
        (npy("'<f8'", false, "(3, 0)", &[]), "expected rows"),
        (npy("'<f8'", false, "(1, 2, 3)", &numbers), "3 axes"),
        (npy("'<f8'", false, "()", &numbers), "0 axes"),
        (npy("'|O'", false, "(3,)", &numbers), "pickled objects"),
        (npy("'<c16'", false, "(3,)", &numbers), "complex numbers"),
        (npy("'<U4'", false, "(3,)", &numbers), "text"),
        (
            npy("[('a', '<f8'), ('b', '<i4')]", false, "(4,)", &numbers),
            "records",
        ),
        (npy("'<f8'", false, "(-3, 4)", &numbers), "the header"),
        (npy("'<f8'", false, "(3", &numbers), "the header"),
        (
            b"\x93NUMPY\x01\0\xff\xff{".to_vec(),
            "ends inside its header",
        ),
        (
            b"\x93NUMPY\x02\0\xff\xff\xff\xff{".to_vec(),
            "a header of 4294967295 bytes",
        ),
        (b"\x93NUMPY\x09\0".to_vec(), "version 9"),
        (b"1,2\n".to_vec(), "as its extension says"),
    ];
    for (bytes, part) in cases {
        let message = error("a.npy", bytes);
        assert!(
            message.starts_with("a.npy: expected ") && message.contains(part),
            "{message}"
        );
        assert!(message.contains("; "), "{message}");
    }
}

/// Numbers as bytes.
fn f8(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

#[test]
fn arrays_of_an_npz_file_stand_side_by_side() {
    for deflated in [false, true] {
        let x = npy("'<f8'", false, "(2, 2)", &f8(&[1.0, 2.0, 3.0, 4.0]));
        let y = npy("'<i4'", false, "(2,)", &[5, 0, 0, 0, 6, 0, 0, 0]);
        let seed = npy("'<i8'", false, "()", &[7; 8]);
        let text = npy("'<U1'", false, "(9,)", &[0; 36]);
        let bytes = npz(
            &[("X", x), ("y", y), ("seed", seed), ("text", text)],
            deflated,
        );
        let table = read("a.npz", bytes.clone()).unwrap();
        assert_eq!(table.names, ["X1", "X2", "y"]);
        assert_eq!(rows(&table.x), [[1.0, 2.0, 5.0], [3.0, 4.0, 6.0]]);
        let array = |name: &str| Options {
            array: Some(name.into()),
            ..Options::default()
        };
        assert_eq!(
            read_with("a.npz", bytes.clone(), &array("y"))
                .unwrap()
                .names,
            ["y"]
        );
        assert_eq!(
            read_with("a.npz", bytes.clone(), &array("y,X"))
                .unwrap()
                .names,
            ["y", "X1", "X2"]
        );
        let message = read_with("a.npz", bytes, &array("Z"))
            .unwrap_err()
            .to_string();
        assert_eq!(
            message,
            "a.npz: expected an array `Z` of numbers, found X (2 × 2), y (2), seed (0 axes), text (text); name the arrays \
             that make up the table"
        );
    }
}

#[test]
fn npz_files_that_make_no_table_list_what_they_hold() {
    let one = npy("'<f8'", false, "(1, 2)", &f8(&[1.0, 2.0]));
    let two = npy("'<f8'", false, "(2, 1)", &f8(&[1.0, 2.0]));
    let message = error("a.npz", npz(&[("a", one.clone()), ("b", two)], true));
    assert!(message.contains("a (1 × 2), b (2 × 1)"), "{message}");
    assert!(message.contains("name the arrays"), "{message}");
    let message = error("a.npz", npz(&[], true));
    assert!(message.contains("without arrays"), "{message}");
    // A single number is not part of the table unless asked for.
    let single = npy("'<f8'", false, "(1,)", &f8(&[1.0]));
    let mut both = npz(&[("a", one), ("a1", single)], false);
    assert_eq!(read("a.npz", both.clone()).unwrap().names, ["a1", "a2"]);
    let clash = Options {
        array: Some("a,a1".into()),
        ..Options::default()
    };
    let message = read_with("a.npz", both.clone(), &clash).unwrap_err();
    assert!(message.to_string().contains("`a1` twice"), "{message}");
    both.truncate(60);
    assert!(error("a.npz", both).contains("an NPZ file"));
}

#[test]
fn numpy_and_scipy_files_are_read() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    for name in ["numpy.npz", "scipy.mat", "scipy-v6.mat"] {
        let table = Reader::open(&folder.join(name), &Options::default())
            .unwrap()
            .read()
            .unwrap();
        assert_eq!(table.names, ["X1", "X2", "y"], "{name}");
        let expected = [[0.1, -2.0, 1.0], [0.2, 1e300, 0.0], [0.3, 5.0, 200.0]];
        assert_eq!(rows(&table.x), expected, "{name}");
    }
}

#[test]
fn variables_of_a_mat_file_stand_side_by_side() {
    for big in [false, true] {
        for compressed in [false, true] {
            let variables = [
                ("X", 6, 9, [2, 2], f8(&[1.0, 3.0, 2.0, 4.0])),
                ("y", 6, 2, [2, 1], vec![5, 6]),
                ("n", 6, 1, [1, 1], vec![255]),
                ("label", 4, 4, [1, 2], vec![0, 65, 0, 66]),
            ];
            let table = read("a.mat", mat(&variables, big, compressed)).unwrap();
            assert_eq!(table.names, ["X1", "X2", "y"]);
            assert_eq!(rows(&table.x), [[1.0, 2.0, 5.0], [3.0, 4.0, 6.0]]);
            let options = Options {
                array: Some("n".into()),
                ..Options::default()
            };
            let table = read_with("a.mat", mat(&variables, big, compressed), &options).unwrap();
            assert_eq!(rows(&table.x), [[-1.0]]);
        }
    }
}

#[test]
fn damaged_and_newer_mat_files_are_refused_at_once() {
    let whole = mat(&[("X", 6, 9, [2, 1], f8(&[1.0, 2.0]))], false, false);
    for length in 10..whole.len() {
        let message = error("a.mat", whole[..length].to_vec());
        assert!(message.contains("a MAT file of version 5"), "{message}");
    }
    let message = error(
        "a.mat",
        mat(
            &[("X", 6, 9, [2_000_000_000, 500], vec![0; 16])],
            false,
            true,
        ),
    );
    assert!(message.contains("truncated or damaged"), "{message}");
    let message = error(
        "a.mat",
        mat(&[("s", 2, 9, [1, 1], vec![0; 16])], false, true),
    );
    assert!(message.contains("s (a structure)"), "{message}");
    let mut newer = b"MATLAB 7.3 MAT-file".to_vec();
    newer.resize(600, b' ');
    assert!(error("a.mat", newer).contains("'-v7'"));
    assert!(error("a.mat", b"\x89HDF\r\n".to_vec()).contains("'-v7'"));
}

#[test]
fn the_data_sets_of_the_paper_are_read() {
    let Some(folder) = std::env::var_os("THINFIT_DATA") else {
        eprintln!("skipped: THINFIT_DATA is not set");
        return;
    };
    for (name, m, k) in [
        ("ccpp.mat", 7000, 5),
        ("lrgReg.mat", 4000, 21),
        ("airfoil.txt", 1503, 6),
        ("propulsion.txt", 11934, 18),
        ("skillcraft.txt", 3338, 20),
        ("telemonitoring.txt", 5875, 22),
    ] {
        let options = Options {
            array: (name == "ccpp.mat").then(|| "XTrain,YTrain".into()),
            ..Options::default()
        };
        let table = Reader::open(&Path::new(&folder).join(name), &options)
            .and_then(|mut reader| reader.read())
            .unwrap();
        assert_eq!((table.x.nrows(), table.x.ncols()), (m, k), "{name}");
    }
}

#[cfg(not(feature = "parquet"))]
#[test]
fn a_build_without_parquet_names_the_feature() {
    let message = error("a.parquet", b"PAR1\0\0\0\0PAR1".to_vec());
    assert!(message.contains("the feature `parquet`"), "{message}");
}

#[test]
fn archives_that_unpack_to_more_than_the_limit_are_refused_before_unpacking() {
    let (m, zeros) = (500_000, vec![0; 8_000_000]);
    let shape = format!("({m}, 2)");
    let array = npy("'<f8'", false, &shape, &zeros);
    let files = [
        ("a.npz", npz(&[("X", array.clone())], true)),
        ("a.mat", mat(&[("X", 6, 9, [m, 2], zeros)], false, true)),
        ("a.npy", array),
    ];
    for (name, bytes) in files {
        let options = |memory| Options {
            memory: Some(memory),
            ..Options::default()
        };
        let memory = allocation_counter::measure(|| {
            let read = read_with(name, bytes.clone(), &options(7_000_000));
            let error = read.unwrap_err().to_string();
            let figure = "about 8.0 MB in memory, above the limit of 7.0 MB";
            let what = "500000 rows of 2 columns take";
            assert!(error.contains(what) && error.contains(figure), "{error}");
            if name != "a.npy" {
                // In blocks it has to be unpacked all the same.
                let reader = Reader::from_bytes(name.as_ref(), bytes.clone(), &options(7_000_000));
                let error = reader.unwrap().next_block(10).unwrap_err().to_string();
                let what = "unpacking its columns takes";
                assert!(error.contains(what) && error.contains(figure), "{error}");
            }
        });
        let most = bytes.len() as u64 + (1 << 20);
        assert!(
            memory.bytes_max < most,
            "{name}: {} bytes",
            memory.bytes_max
        );
        assert!(
            read_with(name, bytes, &options(8_000_000)).is_ok(),
            "{name}"
        );
    }
}

#[test]
fn a_hole_in_a_mat_file_is_not_searched_for_variables() {
    let mut bytes = mat(&[("X", 6, 9, [1, 1], vec![0; 8])], false, false);
    bytes.resize(bytes.len() + 1000, 0);
    let message = error("a.mat", bytes);
    assert!(message.contains("without type or content"), "{message}");
}

#[test]
fn an_array_whose_columns_are_not_asked_for_is_not_unpacked() {
    let numbers: Vec<u8> = (1..=3).flat_map(|i| f64::from(i).to_le_bytes()).collect();
    // The first file has only some bytes of the huge array, which unpacking detects.
    let huge = npy("'<f8'", false, "(3, 10000)", &[0; 80]);
    let y = npy("'<f8'", false, "(3,)", &numbers);
    let zeros = vec![0; 3 * 8 * 10_000];
    let variables = [
        ("huge", 6, 9, [3, 10_000], zeros),
        ("y", 6, 9, [3, 1], numbers),
    ];
    let options = Options {
        memory: Some(1000),
        ..Options::default()
    };
    for (name, bytes) in [
        ("a.npz", npz(&[("huge", huge), ("y", y)], true)),
        ("a.mat", mat(&variables, false, true)),
    ] {
        let open = || Reader::from_bytes(name.as_ref(), bytes.clone(), &options).unwrap();
        let mut reader = open();
        let column = reader.column("y").unwrap();
        reader.select(&[column]);
        let table = reader.read().unwrap();
        assert_eq!(table.x.col_as_slice(0), [1.0, 2.0, 3.0], "{name}");
        let error = open().read().unwrap_err().to_string();
        assert!(error.contains("above the limit"), "{error}");
    }
}
