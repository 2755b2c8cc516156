//! Several files as one table, folders, and skipped rows.

#![allow(clippy::unwrap_used)] // Helpers of tests fail as tests do.

mod files;

use files::npy;
use std::path::{Path, PathBuf};
use thinfit_table::{Done, Missing, Note, Options, Reader, Result, Table, TableFiles};

/// A fresh folder with these files.
fn folder(name: &str, files: &[(&str, &[u8])]) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    for (file, bytes) in files {
        std::fs::write(folder.join(file), bytes).unwrap();
    }
    folder
}

fn read(path: &Path) -> Result<Table> {
    Reader::open(path, &Options::default())?.read()
}

fn column(table: &Table, j: usize) -> Vec<f64> {
    table.x.col_as_slice(j).to_vec()
}

#[test]
fn a_folder_is_one_table_by_the_names_of_its_first_file() {
    let folder = folder(
        "several",
        &[
            ("2.csv", b"y,x\n30,3\n40,4\n"),
            ("1.csv", b"x,y\n1,10\n2,20\n"),
            ("3.tsv", b"x\ty\n5\t50\n"),
            ("notes.md", b"no table"),
        ],
    );
    let table = read(&folder).unwrap();
    assert_eq!(table.names, ["x", "y"]);
    assert_eq!(column(&table, 0), [1.0, 2.0, 3.0, 4.0, 5.0]);
    assert_eq!(column(&table, 1), [10.0, 20.0, 30.0, 40.0, 50.0]);
    let paths = ["2.csv", "1.csv"].map(|file| folder.join(file));
    let mut reader = Reader::open_all(&paths, &Options::default()).unwrap();
    assert_eq!(reader.rows(), None);
    assert_eq!(column(&reader.read().unwrap(), 0), [30.0, 40.0, 10.0, 20.0]);
}

#[test]
fn hidden_files_of_a_folder_are_no_part_of_the_table() {
    let folder = folder(
        "hidden",
        &[
            ("1.csv", b"x\n1\n"),
            (".1.csv", b"x\n9\n"),
            ("._1.csv", b"\0\x05\x16\x07"),
        ],
    );
    assert_eq!(column(&read(&folder).unwrap(), 0), [1.0]);
}

#[test]
fn files_of_a_folder_that_are_not_read_are_named() {
    let files = ["1.csv", "2.xls", "3.csv.bak", "runs", ".hidden"];
    let folder = folder("unread", &files.map(|file| (file, &b"x\n1\n"[..])));
    std::fs::create_dir(folder.join("more")).unwrap();
    let skipped = Done::Files {
        skipped: ["2.xls", "3.csv.bak", "more/", "runs"]
            .map(str::to_owned)
            .into(),
    };
    let note = Note {
        path: folder.clone(),
        done: skipped,
    };
    let reader = Reader::open(&folder, &Options::default()).unwrap();
    assert!(reader.notes() == [note.clone()] && note.is_loss());
    let again = [&folder, &folder.join("1.csv")];
    let reader = Reader::open_all(&again, &Options::default()).unwrap();
    assert_eq!(reader.notes(), [note]);
    let pattern = folder.join("*.csv");
    let reader = Reader::open(&pattern, &Options::default()).unwrap();
    assert_eq!(reader.notes(), []);
}

#[test]
fn a_cell_in_the_second_file_is_located_there() {
    let folder = folder(
        "located",
        &[
            ("1.csv", b"x,kind\n1,a\n2,a\n"),
            ("2.csv", b"# two\nx,kind\n3,a\n,b\n5,\n"),
        ],
    );
    let paths = ["1.csv", "2.csv"].map(|file| folder.join(file));
    let open = |missing| {
        let options = Options {
            missing,
            ..Options::default()
        };
        let mut reader = Reader::open_all(&paths, &options).unwrap();
        reader.admit_text(&[1]);
        reader
    };
    let second = |line: u64| format!("{}:{line}", paths[1].display());
    let table = open(Missing::Keep).read().unwrap();
    assert_eq!(table.place(1, "b").unwrap().to_string(), second(4));
    let first = format!("{}:2", paths[0].display());
    assert_eq!(table.place(1, "a").unwrap().to_string(), first);
    let mut blocks = open(Missing::Keep);
    assert_eq!(blocks.next_block(4).unwrap().unwrap().nrows(), 4);
    assert_eq!(blocks.place(1, "b").unwrap().to_string(), second(4));
    let places = [0, 2, 3].map(|row| blocks.place_of(row).to_string());
    assert_eq!(places, [first, second(3), second(4)]);
    for error in [
        open(Missing::Refuse).read().unwrap_err(),
        open(Missing::Refuse).next_block(9).unwrap_err(),
    ] {
        let gaps = format!(
            "2 of 5 rows have missing values (x: 1, kind: 1), the first in {}",
            second(4)
        );
        assert!(error.to_string().contains(&gaps), "{error}");
    }
    // What was done is told of the right file, once.
    let notes = blocks.notes();
    assert_eq!((notes.len(), &notes[0].path), (1, &paths[1]));
}

#[test]
fn a_pattern_names_the_files_that_match_it_by_name() {
    let one: (&str, &[u8]) = ("1.csv", b"x\n1\n");
    let folder = folder(
        "pattern",
        &[("2.csv", b"x\n2\n"), one, ("3.tsv", b"x\n3\n")],
    );
    let names = |pattern: &str| -> Result<Vec<String>> {
        let files = TableFiles::find(&[folder.join(pattern)])?;
        let name = |file: &PathBuf| file.file_name().unwrap().to_string_lossy().into_owned();
        Ok(files.paths().iter().map(name).collect())
    };
    assert_eq!(names("*.csv").unwrap(), ["1.csv", "2.csv"]);
    assert_eq!(names("[13].?sv").unwrap(), ["1.csv", "3.tsv"]);
    // What has the name of a pattern is that file.
    std::fs::write(folder.join("[1].csv"), "x\n4\n").unwrap();
    assert_eq!(names("[1].csv").unwrap(), ["[1].csv"]);
    for (pattern, part) in [("*.npy", "match"), ("[.csv", "pattern")] {
        let message = names(pattern).unwrap_err().to_string();
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn a_file_that_does_not_fit_is_named_before_anything_is_read() {
    let folder = folder(
        "unlike",
        &[("1.csv", b"x,y\n1,10\n"), ("2.csv", b"x,z\n1,10\n")],
    );
    let error = read(&folder).unwrap_err().to_string();
    assert!(
        error.contains("2.csv: expected the columns of the first file, `y` among them")
            || error.contains("2.csv: expected the columns of the first file, y among them"),
        "{error}"
    );
    let bad = self::folder(
        "flawed",
        &[("1.csv", b"x\n1\n"), ("2.csv", b"x\n1\nword\n")],
    );
    let error = read(&bad).unwrap_err().to_string();
    assert!(error.contains("2.csv") && error.contains("word"), "{error}");
    let error = read(&self::folder("none", &[("a.md", b"")])).unwrap_err();
    assert!(error.to_string().contains("expected tables"), "{error}");
}

#[test]
fn rows_are_passed_over_in_every_format() {
    let text: String = (0..50).map(|i| format!("{i},{}\n", 2 * i)).collect();
    let text = format!("a,b\n{text}");
    let numbers = (0..100).flat_map(|k| f64::from(k).to_le_bytes());
    let numbers = numbers.collect::<Vec<u8>>();
    let array = npy("'<f8'", false, "(50, 2)", &numbers);
    let folder = folder("skipped", &[("a.csv", text.as_bytes()), ("b.npy", &array)]);
    for file in ["a.csv", "b.npy"] {
        let path = folder.join(file);
        let mut reader = Reader::open(&path, &Options::default()).unwrap();
        let all = reader.read().unwrap();
        let mut reader = Reader::open(&path, &Options::default()).unwrap();
        assert_eq!(reader.skip(7).unwrap(), 7);
        let block = reader.next_block(3).unwrap().unwrap();
        assert_eq!(block, all.x.subrows(7, 3).to_owned());
        assert_eq!(reader.skip(30).unwrap(), 30);
        assert_eq!(
            reader.next_block(5).unwrap().unwrap(),
            all.x.subrows(40, 5).to_owned()
        );
        assert_eq!(reader.skip(30).unwrap(), 5);
        assert_eq!(reader.next_block(5).unwrap(), None);
    }
    // Over the end of a file.
    let two = [folder.join("a.csv"), folder.join("a.csv")];
    let mut reader = Reader::open_all(&two, &Options::default()).unwrap();
    assert_eq!(reader.skip(60).unwrap(), 60);
    let block = reader.next_block(1).unwrap().unwrap();
    assert_eq!(block[(0, 0)], 10.0);
}

#[test]
fn gaps_count_over_all_files() {
    let folder = folder(
        "gaps",
        &[("1.csv", b"x,y\n1,\n2,3\n"), ("2.csv", b"x,y\n,1\n4,5\n")],
    );
    let options = Options {
        missing: Missing::Drop,
        ..Options::default()
    };
    let table = Reader::open(&folder, &options).unwrap().read().unwrap();
    assert_eq!(table.dropped, 2);
    assert_eq!(table.rows, [1, 3]);
}

#[test]
fn a_file_that_is_gone_is_not_a_pipe() {
    let folder = folder("gone", &[("1.csv", b"x,y\n1,2\n")]);
    let two = [folder.join("1.csv"), folder.join("2.csv")];
    let error = Reader::open_all(&two, &Options::default()).err().unwrap();
    let error = error.to_string();
    let expected = format!("cannot read {}: ", two[1].display());
    assert!(error.starts_with(&expected), "{error}");
    let two = [folder.join("1.csv"), "-".into()];
    let error = Reader::open_all(&two, &Options::default()).err().unwrap();
    assert!(error.to_string().contains("standard input"), "{error}");
}
