//! No silent losses in text files: every line is a row, an error, or reported as skipped.

#![allow(clippy::unwrap_used)] // Helpers of tests fail as tests do.

#[cfg(feature = "excel")]
mod generated;

#[cfg(feature = "excel")]
use std::collections::BTreeSet;
use std::path::Path;
use thinfit_table::{
    Cells, Done, Missing, Notation, Note, Options, Position, RawTable, Reader, Result, Why,
};

fn open_with(text: impl Into<Vec<u8>>, options: &Options) -> Result<Reader> {
    Reader::from_bytes(Path::new("a.csv"), text.into(), options)
}

fn keep() -> Options {
    Options {
        missing: Missing::Keep,
        ..Options::default()
    }
}

/// The table as it is, any column of which may hold text, and what was done to it.
fn read(text: impl Into<Vec<u8>>) -> Result<(RawTable, Vec<String>, Vec<Done>)> {
    let mut reader = open_with(text, &keep())?;
    let all: Vec<usize> = (0..reader.names().len()).collect();
    reader.admit_text(&all);
    let raw = reader.read_raw()?;
    let done = reader.notes().into_iter().map(|note: Note| note.done);
    Ok((raw, reader.names().to_vec(), done.collect()))
}

fn numbers(raw: &RawTable, j: usize) -> Vec<f64> {
    match raw.cells(j) {
        Cells::Numbers(values) => values.to_vec(),
        other => panic!("{other:?}"),
    }
}

fn levels(raw: &RawTable, j: usize) -> Vec<String> {
    match raw.cells(j) {
        Cells::Text { levels, .. } => levels.to_vec(),
        other => panic!("{other:?}"),
    }
}

fn skipped(why: Why, lines: u64, first: u64) -> Done {
    let first = Position::Line(first);
    Done::Skipped { why, lines, first }
}

#[test]
fn lines_that_start_with_a_number_sign_do_not_vanish_below_the_names() {
    let text = "# made today\n# by hand\nkind,y\n#1,2\n#2,3\n#1,4\n";
    let (raw, names, done) = read(text).unwrap();
    assert_eq!(names, ["kind", "y"]);
    assert_eq!(levels(&raw, 0), ["#1", "#2"]);
    assert_eq!(numbers(&raw, 1), [2.0, 3.0, 4.0]);
    assert_eq!(done, [skipped(Why::Comment, 2, 1)]);
    let error = open_with("a,b\n1,2\n# a remark\n3,4\n", &keep()).unwrap();
    let error = { error }.read().unwrap_err().to_string();
    assert!(error.starts_with("a.csv:3: expected 2 fields"), "{error}");
    assert!(error.contains("remove the comment"), "{error}");
}

#[test]
fn blank_lines_of_a_table_of_one_column_are_rows() {
    let (raw, _, done) = read("y\n1\n\n3\n  \n5\n\n\n").unwrap();
    let y = numbers(&raw, 0);
    assert_eq!((y.len(), y[0], y[2], y[4]), (5, 1.0, 3.0, 5.0));
    assert!(y[1].is_nan() && y[3].is_nan());
    assert_eq!(done, [skipped(Why::End, 2, 7)]);
    // Block by block, and where rows are passed over.
    let mut reader = open_with("1\n\n\n4\n", &keep()).unwrap();
    assert_eq!(reader.skip(2).unwrap(), 2);
    let block = reader.next_block(9).unwrap().unwrap();
    assert!(block.nrows() == 2 && block[(0, 0)].is_nan() && block[(1, 0)] == 4.0);
    // In several columns they are skipped, and counted.
    let (raw, _, done) = read("a,b\n1,2\n\n\n3,4\n\n5,6\n").unwrap();
    assert_eq!(numbers(&raw, 0), [1.0, 3.0, 5.0]);
    assert_eq!(done, [skipped(Why::Blank, 3, 3)]);
}

#[test]
fn two_stray_quotes_do_not_swallow_the_rows_between_them() {
    let rows = |from: u32, to: u32| -> String {
        (from..to)
            .map(|i| format!("{i},steel,{}\n", 2 * i))
            .collect()
    };
    for (first, last) in [
        ("10,\"steel,20\n", "20,steel\",40\n"),
        ("10,\"steel,20\n", "20,steel,\"40\n"),
        ("10,steel,\"20\n", "20,steel,40\"\n"),
    ] {
        let text = format!(
            "a,kind,y\n{}{first}{}{last}{}",
            rows(0, 10),
            rows(11, 20),
            rows(21, 30)
        );
        let error = read(text)
            .unwrap()
            .0
            .complete(&[0])
            .unwrap_err()
            .to_string();
        assert!(
            error.starts_with("a.csv:12: ") && error.contains("quote"),
            "{error}"
        );
    }
    // A single one, where all text is quoted.
    let error = read("a,kind,y\n1,\"steel,2\n3,\"steel\",4\n5,\"alu\",6\n").unwrap();
    let error = error.0.complete(&[0]).unwrap_err().to_string();
    assert!(error.starts_with("a.csv:2: "), "{error}");
    let error = read("a,\"kind,y\n1,2,3\n4,5\",z\n")
        .err()
        .unwrap()
        .to_string();
    assert!(error.starts_with("a.csv:1: "), "{error}");
}

#[test]
fn rows_between_stray_quotes_are_found_with_gaps_and_unusual_numbers_among_them() {
    let row = |i: u32| match i {
        12 => "\n".to_owned(),
        13 => ",,\n".to_owned(),
        14 => "not a row\n".to_owned(),
        _ => format!("{i},steel,${}\n", 2 * i),
    };
    let rows = |from, to| -> String { (from..to).map(row).collect() };
    let (first, last) = ("10,\"steel,$20\n", "20,steel\",$40\n");
    let text = format!(
        "a,kind,y\n{}{first}{}{last}{}",
        rows(0, 10),
        rows(11, 20),
        rows(21, 30)
    );
    let error = read(text).unwrap().0.complete(&[0]).unwrap_err();
    assert!(error.to_string().starts_with("a.csv:12: "), "{error}");
    // In rows one below the other, and with a decimal comma.
    let error = read("a,kind,y\n1,\"steel,2\n3,steel\",4\n5,alu,6\n").unwrap();
    let error = error.0.complete(&[0]).unwrap_err();
    assert!(error.to_string().starts_with("a.csv:2: "), "{error}");
    let comma = Options {
        decimal_comma: true,
        ..keep()
    };
    let text = "a;kind;y\n1,5;\"steel;€2,5\n\n2,5;steel;€3,5\n3,5;steel\";€4,5\n5,5;alu;€6,5\n";
    let mut reader = open_with(text, &comma).unwrap();
    reader.admit_text(&[1]);
    let error = reader.read().unwrap_err();
    assert!(error.to_string().starts_with("a.csv:2: "), "{error}");
}

#[test]
fn a_quote_that_shifts_the_cells_of_its_row_is_found() {
    for row in [
        "1,\"steel,\"first, of two\",4",
        "\"1,\"a,b,c,4",
        "1,\"a,b\"c,d,4",
    ] {
        let text = format!("a,kind,remark,y\n0,steel,none,1\n{row}\n2,steel,none,5\n");
        let error = read(text).unwrap().0.complete(&[0]).unwrap_err();
        assert!(error.to_string().starts_with("a.csv:3: "), "{error}");
    }
    // Inches, and text behind a quoted word, are content.
    let (raw, ..) = read("kind,y\n5\" pipe,1\n\"old\" pipe,2\n").unwrap();
    assert_eq!(levels(&raw, 0), ["5\" pipe", "\"old\" pipe"]);
}

#[test]
fn empty_cells_in_quotes_do_not_hide_a_stray_quote() {
    let text = "n a b y\n1 steel steel 4\n#N/A \"5 \"\" #N/A\n460 steel\" steel 7\n2 alu alu 3\n";
    let error = read(text).unwrap().0.complete(&[0]).unwrap_err();
    assert!(error.to_string().starts_with("a.csv:3: "), "{error}");
}

#[test]
fn remarks_of_several_lines_do_not_hide_the_delimiter() {
    let remark = "\"c d\ne f\ng h\"";
    let text = format!("y,kind\n1,steel\n2,steel\n3,{remark}\n4,{remark}\n");
    for header in [None, Some(true)] {
        let options = Options { header, ..keep() };
        let mut reader = open_with(text.clone(), &options).unwrap();
        assert_eq!(reader.names(), ["y", "kind"]);
        reader.admit_text(&[1]);
        assert_eq!(
            numbers(&reader.read_raw().unwrap(), 0),
            [1.0, 2.0, 3.0, 4.0]
        );
    }
}

#[test]
fn a_blank_line_above_the_units_is_none_of_the_rows() {
    let (raw, _, done) = read("x\n\n[mm]\n1\n\n3\n").unwrap();
    let x = numbers(&raw, 0);
    assert!(x.len() == 3 && x[0] == 1.0 && x[1].is_nan() && x[2] == 3.0);
    let units = Done::Units {
        position: Position::Line(3),
        units: vec![("x".into(), "mm".into())],
    };
    assert_eq!(done, [skipped(Why::Blank, 1, 2), units]);
}

#[test]
fn a_remark_of_several_lines_is_no_stray_quote() {
    for (remark, y) in [
        ("first, of two\nlines, and 3", 2.0),
        ("lines\n\nwith, a blank one, and\nmore", 2.0),
        ("12 mm, then\n13 mm\n14 mm, done", -1.0),
    ] {
        let text = format!("a,remark,y\n1,\"{remark}\",{y}\n2,,3\n");
        let (raw, _, done) = read(text).unwrap();
        let table = raw.complete(&[0, 1, 2]).unwrap();
        assert_eq!(table.x.col_as_slice(2), [y, 3.0]);
        match table.cells(1) {
            Cells::Text { levels, .. } => assert_eq!(levels, [remark]),
            other => panic!("{other:?}"),
        }
        // Whatever goes over several lines is reported.
        let first = Position::Line(2);
        assert_eq!(done, [Done::LineBreaks { cells: 1, first }]);
    }
    let blanks = "kind y\nsteel 1\n\"a remark\n\nof, three\" -95\nbrass 2\n";
    let (raw, ..) = read(blanks).unwrap();
    assert_eq!(numbers(&raw, 1), [1.0, -95.0, 2.0]);
}

#[test]
fn numbers_in_unusual_notations_are_no_identifiers() {
    let text = "f,m,t,p\n1D-3,\u{2212}1,1'234,$1.2\n2.5D+1,2,999,$3\n3,4,12'345.5,\n";
    let (raw, _, done) = read(text).unwrap();
    assert_eq!(numbers(&raw, 0), [1e-3, 25.0, 3.0]);
    assert_eq!(numbers(&raw, 1), [-1.0, 2.0, 4.0]);
    assert_eq!(numbers(&raw, 2), [1234.0, 999.0, 12_345.5]);
    assert_eq!(numbers(&raw, 3)[..2], [1.2, 3.0]);
    let told: Vec<(&str, u64, &Notation, &str)> = done
        .iter()
        .map(|done| match done {
            Done::Numbers {
                column,
                notations,
                cells,
                text,
                ..
            } => (column.as_str(), *cells, &notations[0], text.as_str()),
            other => panic!("{other:?}"),
        })
        .collect();
    let expected = [
        ("f", 2, &Notation::FortranExponent, "1D-3"),
        ("m", 1, &Notation::TypographicMinus, "\u{2212}1"),
        ("t", 2, &Notation::Apostrophes, "1'234"),
        ("p", 2, &Notation::Currency('$'), "$1.2"),
    ];
    assert_eq!(told, expected);
    // Block by block, too, where no text is admitted.
    let mut reader = open_with(text, &keep()).unwrap();
    let block = reader.next_block(2).unwrap().unwrap();
    assert_eq!((block[(0, 0)], block[(1, 3)]), (1e-3, 3.0));
    assert!(reader.next_block(2).unwrap().is_some());
    assert_eq!(reader.notes().len(), 4);
    // Levels among which some look like it stay levels, and currencies are not mixed.
    let (raw, ..) = read("kind\n$5\nfree\n").unwrap();
    assert_eq!(levels(&raw, 0), ["$5", "free"]);
    let (raw, ..) = read("price\n$5\n€6\n").unwrap();
    assert_eq!(levels(&raw, 0), ["$5", "€6"]);
    let mut reader = open_with("price\n$5\n€6\n", &keep()).unwrap();
    let error = reader.read().unwrap_err().to_string();
    assert!(
        error.starts_with("a.csv:3: column `price` is `€6`"),
        "{error}"
    );
    let error = open_with("x\n0x1f\n", &keep()).unwrap().read().unwrap_err();
    assert!(
        error
            .to_string()
            .contains("`0x1f`, not a number; write plain decimal"),
        "{error}"
    );
}

#[test]
fn titles_and_units_are_used_and_reported() {
    let text = "Series 12, pump\nmade,\nt,flow,kind\n[s],m³/h,-\n1,2,a\n3,4,b\n";
    let (raw, names, done) = read(text).unwrap();
    assert_eq!(names, ["t", "flow", "kind"]);
    assert_eq!(numbers(&raw, 1), [2.0, 4.0]);
    let unit = |name: &str, unit: &str| (name.to_owned(), unit.to_owned());
    let units = Done::Units {
        position: Position::Line(4),
        units: vec![unit("t", "s"), unit("flow", "m³/h"), unit("kind", "-")],
    };
    assert_eq!(done, [skipped(Why::Title, 2, 1), units]);
    // With another delimiter, and a comment.
    let (raw, names, _) = read("# x\nA title\nt;p\n1;2\n3;4\n").unwrap();
    assert_eq!(
        (names, numbers(&raw, 0)),
        (vec!["t".into(), "p".into()], vec![1.0, 3.0])
    );
    let (raw, names, _) = read("A title of blanks\nt p\ns bar\n1 2\n3 4\n").unwrap();
    assert_eq!(
        (names, numbers(&raw, 1)),
        (vec!["t".into(), "p".into()], vec![2.0, 4.0])
    );
}

#[test]
fn rows_are_skipped_where_the_options_say_so() {
    let options = Options {
        skip_rows: 2,
        ..keep()
    };
    let mut reader = open_with("1,\"2\n\u{fc}ber,3,4\nx,y\n1,2\n", &options).unwrap();
    assert_eq!(reader.names(), ["x", "y"]);
    assert_eq!(reader.read().unwrap().x[(0, 1)], 2.0);
    assert_eq!(reader.notes()[0].done, skipped(Why::Asked, 2, 1));
    let long = format!("{}\nlast\nx\n1\n", "word ".repeat(50_000));
    assert_eq!(open_with(long, &options).unwrap().names(), ["x"]);
    let error = open_with(
        "x\n1\n",
        &Options {
            skip_rows: 3,
            ..keep()
        },
    )
    .err()
    .unwrap();
    assert!(
        error.to_string().contains("more than the 3 lines"),
        "{error}"
    );
    let array = b"\x93NUMPY\x01\0".to_vec();
    let error = Reader::from_bytes(Path::new("a.npy"), array, &options)
        .err()
        .unwrap();
    assert!(error.to_string().contains("skip no rows"), "{error}");
}

#[test]
fn text_that_german_excel_writes_is_read() {
    let text = b"Gr\xf6\xdfe;Art;T [\xb0C]\n1;gr\xfcn;5\n2;\x84alt\x93;6\n";
    let (raw, names, done) = read(&text[..]).unwrap();
    assert_eq!(names, ["Größe", "Art", "T [°C]"]);
    assert_eq!(levels(&raw, 1), ["grün", "„alt“"]);
    assert_eq!(
        done,
        [Done::Windows1252 {
            first: Position::Line(1)
        }]
    );
    // Far below the first bytes as well.
    let rows: String = (0..20_000).map(|i| format!("{i},ab\n")).collect();
    let text = [format!("x,kind\n{rows}").as_bytes(), b"1,gr\xfcn\n"].concat();
    let (raw, _, done) = read(text).unwrap();
    assert_eq!(levels(&raw, 1), ["ab", "grün"]);
    assert_eq!(
        done,
        [Done::Windows1252 {
            first: Position::Line(20_002)
        }]
    );
}

#[cfg(feature = "excel")]
#[test]
fn rows_in_are_rows_used_and_rows_reported() {
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR")).join("loss");
    let (mut formats, mut refused, mut skipped) = (BTreeSet::new(), 0, 0);
    for seed in 1..=2000 {
        let outcome = generated::check(seed, &scratch).unwrap_or_else(|lost| panic!("{lost}"));
        match outcome.refused {
            true => refused += 1,
            false => assert_eq!(outcome.rows, outcome.used + outcome.dropped, "{seed}"),
        }
        formats.insert(outcome.format);
        skipped += outcome.skipped;
    }
    assert!(formats.len() == 4 && refused > 100 && skipped > 1000);
}
