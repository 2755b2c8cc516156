//! Text: dialects, headers, missing values, and errors with their remedies.

#![allow(clippy::unwrap_used)] // Helpers of tests fail as tests do.

use faer::Mat;
use std::path::Path;
use thinfit_table::{Delimiter, Error, Missing, Options, Problem, Reader, Remedy, Result, Table};

fn open_with(text: impl Into<Vec<u8>>, options: &Options) -> Result<Reader> {
    Reader::from_bytes(Path::new("train.csv"), text.into(), options)
}

fn read_with(text: impl Into<Vec<u8>>, options: &Options) -> Result<Table> {
    open_with(text, options)?.read()
}

fn read(text: impl Into<Vec<u8>>) -> Result<Table> {
    read_with(text, &Options::default())
}

fn missing(missing: Missing) -> Options {
    Options {
        missing,
        ..Options::default()
    }
}

/// The rows of a table.
fn rows(x: &Mat<f64>) -> Vec<Vec<f64>> {
    x.row_iter()
        .map(|row| row.iter().copied().collect())
        .collect()
}

#[track_caller]
fn error(text: impl Into<Vec<u8>>) -> String {
    read(text).unwrap_err().to_string()
}

#[track_caller]
fn remedies(text: &str, options: &Options) -> Vec<Remedy> {
    read_with(text, options).unwrap_err().remedies
}

/// A remedy as text.
fn words(words: &str) -> Remedy {
    Remedy::File(words.into())
}

fn leave_out(column: &str) -> Remedy {
    Remedy::LeaveOut(column.into())
}

#[test]
fn every_delimiter_is_detected_with_and_without_a_header() {
    for separator in [",", ";", "\t", " ", "   ", " , ", " \t "] {
        for header in [true, false] {
            for end in ["\n", "\r\n", "\n\n\n", ""] {
                let mut lines = vec![["1", "-2.5", "3e-2"], ["4", ".5", "+6"]];
                if header {
                    lines.insert(0, ["a", "b", "c"]);
                }
                let line_end = if end == "\r\n" { "\r\n" } else { "\n" };
                let lines: Vec<_> = lines.iter().map(|l| l.join(separator)).collect();
                let text = lines.join(line_end) + end;
                let table = read(text.clone()).unwrap();
                let names = if header {
                    ["a", "b", "c"]
                } else {
                    ["c1", "c2", "c3"]
                };
                assert_eq!(table.names, names, "{text:?}");
                assert_eq!(
                    rows(&table.x),
                    [[1.0, -2.5, 0.03], [4.0, 0.5, 6.0]],
                    "{text:?}"
                );
            }
        }
    }
}

#[test]
fn byte_order_mark_comments_above_the_names_and_blank_lines_are_skipped() {
    let text = "\u{feff}# made \"today\n\n  # more\n a , b \n1,2\n   \n3,4\n\n";
    let table = read(text).unwrap();
    assert_eq!(table.names, ["a", "b"]);
    assert_eq!(rows(&table.x), [[1.0, 2.0], [3.0, 4.0]]);
}

#[test]
fn quoted_fields_may_hold_delimiters_quotes_and_line_ends() {
    let text = "\"a, \"\"b\"\"\",\"two\nlines\",5\" pipe\r\n\"1\",\" 2 \",3\r\n4,5,6";
    let table = read(text).unwrap();
    assert_eq!(table.names, ["a, \"b\"", "two lines", "5\" pipe"]);
    assert_eq!(rows(&table.x), [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
    let message = error("\"a\nb\",c\n1,2\n3,x\n");
    assert!(message.starts_with("train.csv:4: column `c`"), "{message}");
}

#[test]
fn one_column_needs_no_delimiter() {
    assert_eq!(rows(&read("1\n2\n").unwrap().x), [[1.0], [2.0]]);
    assert_eq!(read("y\n1\n").unwrap().names, ["y"]);
    // A name with blanks is one name if the rows have one field.
    assert_eq!(read("my y\n1\n2\n").unwrap().names, ["my y"]);
}

#[test]
fn options_override_detection() {
    let options = Options {
        delimiter: Some("|".parse().unwrap()),
        header: Some(true),
        ..Options::default()
    };
    let table = read_with("1990|1991\n1|2\n", &options).unwrap();
    assert_eq!(table.names, ["1990", "1991"]);
    let options = Options {
        header: Some(false),
        ..Options::default()
    };
    let mut reader = open_with("18,ford\n15,buick\n", &options).unwrap();
    reader.select(&[0]);
    assert_eq!(rows(&reader.read().unwrap().x), [[18.0], [15.0]]);
    assert_eq!("tab".parse(), Ok(Delimiter::Byte(b'\t')));
    assert_eq!(" ".parse(), Ok(Delimiter::Blanks));
    assert!("-".parse::<Delimiter>().is_err());
}

#[test]
fn decimal_commas_are_read_when_asked_for_and_suggested_when_not() {
    let options = Options {
        decimal_comma: true,
        ..Options::default()
    };
    let text = "a;b\n1,5;-2,25e3\n3;4,0\n";
    let table = read_with(text, &options).unwrap();
    assert_eq!(rows(&table.x), [[1.5, -2250.0], [3.0, 4.0]]);
    // The comma is then not a delimiter, even if there is nothing else.
    assert_eq!(
        rows(&read_with("1,5\n2,5\n", &options).unwrap().x),
        [[1.5], [2.5]]
    );
    assert_eq!(
        remedies(text, &Options::default()),
        [
            Remedy::DecimalComma,
            words("write numbers without thousands separators")
        ]
    );
    let both = Options {
        delimiter: Some(Delimiter::Byte(b',')),
        ..options
    };
    let error = open_with(text, &both).err().unwrap();
    assert!(error.to_string().contains("a comma for both"), "{error}");
    assert_eq!(error.remedies, [Remedy::DecimalPoint, Remedy::Delimiter]);
}

#[test]
fn no_one_is_told_to_leave_out_a_needed_column() {
    let needed = |missing| Options {
        needed: true,
        missing,
        ..Options::default()
    };
    let refuse = needed(Missing::Refuse);
    assert_eq!(remedies("a,b\n1,x\n", &refuse), [words("correct it")]);
    assert_eq!(remedies("a,b\n1,inf\n", &refuse), [words("correct it")]);
    assert_eq!(
        remedies("a,b\n1,\n", &refuse),
        [words("fill it in"), Remedy::DropRows]
    );
    assert_eq!(
        remedies("a,b\n1,\n", &needed(Missing::Drop)),
        [words("give complete rows")]
    );
}

#[test]
fn a_first_line_of_names_and_numbers_is_a_header_only_if_the_rows_say_so() {
    assert_eq!(
        read("land,1990\n1,2\n3,4\n").unwrap().names,
        ["land", "1990"]
    );
    assert_eq!(
        remedies("18,ford\n15,buick\n", &Options::default()),
        [Remedy::Header]
    );
    // Missing values are values.
    assert_eq!(
        read_with("1,NA\n3,4\n", &missing(Missing::Drop))
            .unwrap()
            .names,
        ["c1", "c2"]
    );
}

#[test]
fn columns_are_selected_in_any_order_and_the_others_may_be_text() {
    let mut reader =
        open_with("name,x,y\nfirst,1,2\n\"la,st\",3,4\n", &Options::default()).unwrap();
    let columns = ["y", "x"].map(|name| reader.column(name).unwrap());
    reader.select(&columns);
    let table = reader.read().unwrap();
    assert_eq!(table.names, ["y", "x"]);
    assert_eq!(rows(&table.x), [[2.0, 1.0], [4.0, 3.0]]);
    assert_eq!(
        reader.column("nmae").unwrap_err().to_string(),
        "train.csv has no column `nmae`; did you mean `name`?"
    );
    assert_eq!(
        reader.column("weight").unwrap_err().to_string(),
        "train.csv has no column `weight`; it has name, x, y"
    );
}

#[test]
fn missing_values_are_refused_dropped_or_kept() {
    let text = "a,b\n1,2\n,4\n5,NA\n3,nan\n7,#N/A\n9,null\n#N/A,?\n2,6\n";
    assert_eq!(
        error(text),
        "train.csv: 6 of 8 rows have missing values (b: 5, a: 2), the first in line 3; fill them in, drop rows with missing values, or \
         replace missing values by column means"
    );
    assert_eq!(
        error("a,b\n1,2\n,4\n"),
        "train.csv:3: column `a` has no value; fill it in, drop rows with missing values, replace missing values by column \
         means, or drop the column"
    );
    assert_eq!(
        remedies("a,b\n1,\n2,\n", &Options::default()),
        [
            words("fill them in"),
            Remedy::DropRows,
            Remedy::FillMeans,
            leave_out("b")
        ]
    );
    let dropped = read_with(text, &missing(Missing::Drop)).unwrap();
    assert_eq!(rows(&dropped.x), [[1.0, 2.0], [2.0, 6.0]]);
    assert_eq!(dropped.dropped, 6);
    assert_eq!(dropped.rows, [0, 7]);
    let kept = read_with(text, &missing(Missing::Keep)).unwrap();
    assert_eq!((kept.dropped, kept.x.nrows()), (0, 8));
    assert!(kept.x[(1, 0)].is_nan() && kept.x[(1, 1)] == 4.0);
    let error = read_with("a,b\n1,\n2,\n", &missing(Missing::Drop)).unwrap_err();
    assert!(error.to_string().contains("each of 2"), "{error}");
    assert_eq!(
        error.remedies,
        [
            words("give complete rows"),
            Remedy::FewerColumns,
            Remedy::FillMeans
        ]
    );
    // A row of delimiters alone is a row.
    assert_eq!(
        read_with("1\t2\n\t\n3\t4\n", &missing(Missing::Drop))
            .unwrap()
            .dropped,
        1
    );
}

#[test]
fn blocks_are_the_table_cut_into_pieces() {
    let text: String = (0..10).map(|i| format!("{i},{}\n", i * i)).collect();
    let whole = rows(&read(text.clone()).unwrap().x);
    for size in [1, 3, 5, 10, 11] {
        let mut reader = open_with(text.clone(), &Options::default()).unwrap();
        let mut pieces = Vec::new();
        while let Some(block) = reader.next_block(size).unwrap() {
            assert_eq!(block.nrows(), size.min(10 - pieces.len()));
            pieces.extend(rows(&block));
        }
        assert_eq!(pieces, whole);
        assert!(reader.next_block(size).unwrap().is_none());
    }
    // Dropped rows do not shorten a block.
    let mut reader = open_with("1\nNA\n3\nNA\n5\n6\n", &missing(Missing::Drop)).unwrap();
    assert_eq!(
        rows(&reader.next_block(3).unwrap().unwrap()),
        [[1.0], [3.0], [5.0]]
    );
    assert_eq!(reader.dropped(), 2);
    assert_eq!(rows(&reader.next_block(3).unwrap().unwrap()), [[6.0]]);
    let mut reader = open_with("1\nNA\n3\n", &missing(Missing::Keep)).unwrap();
    let block = reader.next_block(5).unwrap().unwrap();
    assert!(block.nrows() == 3 && block[(1, 0)].is_nan());
    // A column that may have gaps keeps them.
    let mut reader = open_with("1,\nNA,2\n3,4\n", &missing(Missing::Drop)).unwrap();
    reader.admit_gaps(&[1]);
    let block = reader.next_block(5).unwrap().unwrap();
    assert!(block.nrows() == 2 && block[(0, 1)].is_nan() && block[(1, 1)] == 4.0);
}

#[test]
fn all_that_is_wrong_with_a_table_is_in_one_message() {
    let text = "a,b\n1,x\n,2\n3\ninf,4\n5,\n";
    let expected = [
        "train.csv:2: column `b` is `x`, not a number",
        "train.csv:4: expected 2 fields as in line 1, found 1",
        "train.csv:5: column `a` is infinite",
        "train.csv: 2 of 5 rows have missing values (a: 1, b: 1), the first in line 3",
    ];
    let whole = error(text);
    let mut reader = open_with(text, &Options::default()).unwrap();
    let blocks = reader.next_block(1).unwrap_err().to_string();
    for message in [whole, blocks] {
        assert!(message.starts_with("4 problems:\n"), "{message}");
        for line in expected {
            assert!(message.contains(&format!("\n  {line}; ")), "{message}");
        }
    }
    let many = error("a\n".to_owned() + &"x\n".repeat(20));
    assert!(
        many.contains("20 problems")
            && many.ends_with("and 12 more\ncorrect it, or drop the column"),
        "{many}"
    );
    let twice = open_with("a,b,a,b,c\n", &Options::default()).err().unwrap();
    assert!(
        twice
            .to_string()
            .contains("found `a`, `b` twice; rename one of each"),
        "{twice}"
    );
}

#[test]
fn errors_say_what_is_wrong_where_and_what_mends_it() {
    let cases: [(&[u8], &str); 14] = [
        (
            b"a,age\n1,2\n3,x\xfcy\x07\n",
            "train.csv:3: column `age` is `xüy\\u{7}`, not a number; correct it, or drop the column",
        ),
        (
            b"a;b\n1,5;2\n",
            "train.csv:2: column `a` is `1,5`, not a number; declare the comma a decimal comma, or write numbers without \
             thousands separators",
        ),
        (
            b"# head\na,b,c\n1,2,3\n1,2\n",
            "train.csv:4: expected 3 fields as in line 2, found 2; complete or remove the line, or set the field separator",
        ),
        (
            b"1 2 3\n4 5 6\n1 2 3 4\n",
            "train.csv:3: expected 3 fields as in line 1, found 4; complete or remove the line, or set the field separator",
        ),
        (
            b"a,b\n1,inf\n",
            "train.csv:2: column `b` is infinite; correct it, or drop the column",
        ),
        (
            b"a,b\n1,1e999\n",
            "train.csv:2: column `b` is infinite; correct it, or drop the column",
        ),
        (
            b"a,b,a\n1,2,3\n",
            "train.csv: expected distinct column names, found `a` twice; rename one of them",
        ),
        (
            b"",
            "train.csv: expected a table, found an empty file; give a file with rows",
        ),
        (
            b"# nothing\n\n",
            "train.csv: expected a table, found only blank lines and comments; give a file with rows",
        ),
        (
            b"a,b\n",
            "train.csv: expected rows, found none; give a file with rows below the header",
        ),
        (
            b"\xff\xfea\0\n\0",
            "train.csv: expected a table, found UTF-16 text; save it as UTF-8",
        ),
        (
            b"a,b\n1,\"2\n3,4\n",
            "train.csv:2: expected a row, found a quote that is not closed; close or remove the quote",
        ),
        (
            b"1,2\r3,4\r5,6",
            "train.csv: expected lines that end with a line feed, found carriage returns alone; convert them, for instance \
             with `tr '\\r' '\\n'`",
        ),
        (
            b"\x1f\x8b\x08",
            "train.csv: expected a table, found a gzip archive; unpack it with `gunzip`",
        ),
    ];
    for (text, message) in cases {
        assert_eq!(error(text), message);
    }
}

#[test]
fn a_program_can_put_remedies_in_its_own_words() {
    let error = Error {
        problem: Problem::Format {
            path: "a".into(),
            expected: "rows".into(),
            found: "none".into(),
        },
        remedies: vec![leave_out("b"), Remedy::Delimiter, Remedy::Header],
    };
    let message = error.message(|remedy| match remedy {
        Remedy::LeaveOut(column) => format!("-{column}"),
        _ => "-x".into(),
    });
    assert_eq!(message, format!("{}; -b, -x, or -x", error.problem));
    let error = Error::from(error.problem);
    assert_eq!(error.to_string(), error.problem.to_string());
}

#[test]
fn no_remedy_names_an_option_of_a_program() {
    let remedies = [
        Remedy::NotJson,
        Remedy::Parquet,
        Remedy::Delimiter,
        Remedy::Header,
        Remedy::DecimalComma,
        Remedy::DecimalPoint,
        Remedy::Array,
        Remedy::SkipRows,
        Remedy::DropRows,
        Remedy::FillMeans,
        Remedy::Numbers,
        Remedy::Sheet,
        leave_out("a"),
        Remedy::FewerColumns,
    ];
    for remedy in remedies {
        let words = remedy.to_string();
        assert!(!words.contains("--") && !words.is_empty(), "{words}");
    }
}

#[test]
fn lines_longer_than_the_sample_are_read() {
    let wide = |value: &str| vec![value; 20_000].join(",") + "\n";
    // The sample may end right after a sign.
    for value in ["-1e-5", "-12e-55", "-1.5", "1"] {
        let table = read(wide(value) + &wide("2")).unwrap();
        assert_eq!((table.x.nrows(), table.x.ncols()), (2, 20_000));
        assert_eq!(table.x[(0, 19_999)], value.parse::<f64>().unwrap());
    }
}

#[test]
fn long_texts_are_shortened_in_messages() {
    let message = error(format!("a\n1\n{}\n", "é".repeat(1000)));
    assert!(
        message.contains(&format!("`{}…`", "é".repeat(40))),
        "{message}"
    );
}

#[test]
fn files_that_cannot_be_opened_say_why() {
    let folder = std::env::temp_dir();
    let message = |path: &Path| {
        Reader::open(path, &Options::default())
            .err()
            .unwrap()
            .to_string()
    };
    // A folder stands for the tables in it.
    let empty = folder.join(format!("thinfit-empty-{}", std::process::id()));
    std::fs::create_dir_all(&empty).unwrap();
    let expected = "found none; give a folder with some, or a pattern such as 'folder/*/*.csv' for tables in its subfolders";
    assert!(message(&empty).ends_with(expected));
    std::fs::remove_dir(&empty).unwrap();
    let absent = folder.join("there-is-no-such-file.csv");
    assert!(message(&absent).starts_with(&format!("cannot read {}: ", absent.display())));
}

#[test]
fn blank_lines_and_comments_without_an_end_are_an_error() {
    let options = Options {
        delimiter: Some(Delimiter::Byte(b',')),
        header: Some(true),
        ..Options::default()
    };
    for line in ["\n", "# nothing\n", "  \t\r\n"] {
        let endless = line.repeat((65 << 20) / line.len());
        let mut texts = vec![endless.clone()];
        // Below the names a line that starts with # is a row.
        if !line.starts_with('#') {
            texts.push(format!("a,b\n1,2\n{endless}3,4\n"));
        }
        for text in texts {
            let reader = Reader::from_bytes("t.csv".as_ref(), text.into(), &options);
            let message = reader.and_then(|mut reader| reader.read()).unwrap_err();
            let message = message.to_string();
            let found = "more than 64 MiB of blank lines and comments";
            assert!(message.contains(found), "{message}");
        }
    }
}

#[test]
fn a_file_that_is_cut_off_while_it_is_read_is_not_a_shorter_table() {
    let path = std::env::temp_dir().join(format!("thinfit-cut-{}.csv", std::process::id()));
    let long: String = (0..100_000).map(|i| format!("{i},{}\n", 2 * i)).collect();
    std::fs::write(&path, &long).unwrap();
    let mut reader = Reader::open(&path, &Options::default()).unwrap();
    let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    // At the end of a line.
    let half = long.len() / 2 + long[long.len() / 2..].find('\n').unwrap() + 1;
    file.set_len(half as u64).unwrap();
    let message = reader.read().unwrap_err().to_string();
    let expected = format!("{} bytes are missing at its end", long.len() - half);
    assert!(message.contains(&expected), "{message}");
    std::fs::remove_file(&path).unwrap();
}

#[cfg(unix)]
#[test]
fn pipes_give_text_and_nothing_else() {
    let path = std::env::temp_dir().join(format!("thinfit-pipe-{}", std::process::id()));
    let made = std::process::Command::new("mkfifo").arg(&path).status();
    assert!(made.unwrap().success());
    let long: String = (0..100_000).map(|i| format!("{i},{}\n", 2 * i)).collect();
    let through = |bytes: &[u8]| {
        std::thread::scope(|scope| {
            // A reader that gives up early leaves the writer with an error, as it should.
            scope.spawn(|| drop(std::fs::write(&path, bytes)));
            Reader::open(&path, &Options::default()).and_then(|mut reader| reader.read())
        })
    };
    let table = through(long.as_bytes()).unwrap();
    assert_eq!(
        (table.x.nrows(), table.x[(99_999, 1)]),
        (100_000, 199_998.0)
    );
    let message = through(b"\x93NUMPY\x01\0").unwrap_err().to_string();
    assert!(message.ends_with("write it to a file first"), "{message}");
    std::fs::remove_file(&path).unwrap();
}

#[test]
fn numbers_are_read_to_the_last_bit() {
    for text in [
        "0.1",
        "2.2250738585072014e-308",
        "4.9406564584124654e-324",
        "9007199254740993",
        "1.7976931348623157e308",
        "0.500000000000000166533453693773481063544750213623046875",
    ] {
        let expected: f64 = text.parse().unwrap();
        assert_eq!(
            read(format!("{text}\n")).unwrap().x[(0, 0)].to_bits(),
            expected.to_bits()
        );
    }
}

#[test]
fn names_that_look_like_other_files_are_names() {
    for text in ["PK,x\n1,2\n", "PAR1,PAR2\n3,4\n"] {
        let mut reader =
            Reader::from_bytes(Path::new("a.csv"), text.into(), &Options::default()).unwrap();
        assert_eq!(reader.read().unwrap().x.ncols(), 2);
    }
}

#[test]
fn a_name_does_not_carry_hidden_characters() {
    let text = "\"a\u{202e}\",\"Yield\r\n(%)\",\u{1b}[31m°C,\u{200b},温度 µ²\n1,2,3,4,5\n";
    let names = read(text).unwrap().names;
    assert_eq!(names, ["a", "Yield (%)", "[31m°C", "c4", "温度 µ²"]);
    let message = error("a,a\u{200b}\n1,2\n");
    assert!(message.contains("`a` twice"), "{message}");
    let message = error("a,b\n1,\u{1b}[2J\u{202e}x\n");
    assert!(message.contains(r"`\u{1b}[2J\u{202e}x`"), "{message}");
}

#[test]
fn a_name_above_64_kib_does_not_make_the_header_vanish() {
    let long = "a".repeat(70_000);
    for text in [
        format!("{long},b\n1,2\n3,4\n"),
        format!("\"{long}\",b\n1,2\n3,4\n"),
        format!("b,{long}\n1,2\n3,4\n"),
        format!("# {long}\na,b\n1,2\n3,4\n"),
    ] {
        let message = error(text);
        let told = ["column names of at most", "no complete field"];
        assert!(told.iter().any(|t| message.contains(t)), "{message}");
    }
    let comment = format!("# {long}\na,b\n1,2\n3,4\n");
    let header = Options {
        header: Some(true),
        ..Options::default()
    };
    assert_eq!(read_with(comment, &header).unwrap().names, ["a", "b"]);
    let names: Vec<String> = (0..10_000).map(|j| format!("\"column {j}\"")).collect();
    let row: Vec<String> = (0..10_000).map(|j| j.to_string()).collect();
    for count in 9_000..9_003 {
        let text = format!("{}\n{}\n", names[..count].join(","), row[..count].join(","));
        let table = read(text).unwrap();
        assert_eq!((table.x.nrows(), table.names[7].as_str()), (1, "column 7"));
    }
}
