//! Written tables read back to the same bits, and files appear complete or not at all.

#![allow(clippy::unwrap_used)] // Helpers of tests fail as tests do.

use faer::Mat;
use proptest::prelude::*;
use std::collections::HashSet;
use std::path::Path;
use thinfit_table::{Delimiter, Options, Reader, Writer};
use thinfit_text::clean;

fn header() -> Options {
    Options {
        delimiter: Some(Delimiter::Byte(b',')),
        header: Some(true),
        ..Options::default()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    #[test]
    fn written_tables_are_read_back_to_the_same_bits(
        names in proptest::collection::hash_set("[^\\pC]{1,8}|[ ,;\"#\n\ta1]{1,5}", 2..5),
        bits in proptest::collection::vec(any::<u64>(), 1..40),
    ) {
        // What is hidden in a name is taken out; the rest is what it was.
        let names: Vec<String> = names.into_iter().collect();
        let expected: Vec<String> = names.iter().map(|name| clean(name).into_owned()).collect();
        prop_assume!(expected.iter().collect::<HashSet<_>>().len() == names.len());
        let k = names.len();
        let finite = |v: f64| if v.is_finite() { v } else { -0.0 };
        let x = Mat::from_fn(bits.len().div_ceil(k), k, |i, j| {
            finite(f64::from_bits(bits[(i * k + j) % bits.len()]))
        });
        let mut bytes = Vec::new();
        let mut writer = Writer::new("memory", &mut bytes);
        writer.names(&names).unwrap();
        writer.rows(x.as_ref()).unwrap();
        writer.finish().unwrap();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let mut reader = Reader::from_bytes(Path::new("memory"), bytes, &header()).unwrap();
        let table = reader.read().unwrap();
        prop_assert_eq!(&table.names, &expected, "{}", text);
        prop_assert_eq!(table.x.nrows(), x.nrows());
        for j in 0..k {
            for i in 0..x.nrows() {
                prop_assert_eq!(table.x[(i, j)].to_bits(), x[(i, j)].to_bits());
            }
        }
    }
}

#[test]
fn numbers_are_written_with_the_fewest_digits() {
    let values = [1.0, -0.0, 0.1, 1e23, 1.5e-300, 123456789.0, 1e15, 1e16];
    let mut bytes = Vec::new();
    let mut writer = Writer::new("memory", &mut bytes);
    let row = Mat::from_fn(1, values.len(), |_, j| values[j]);
    writer.rows(row.as_ref()).unwrap();
    writer.finish().unwrap();
    assert_eq!(
        String::from_utf8(bytes).unwrap(),
        "1,-0,0.1,1e+23,1.5e-300,123456789,1000000000000000,1e+16\n"
    );
}

#[test]
fn a_file_appears_when_it_is_finished_and_not_before() {
    let folder = std::env::temp_dir().join(format!("thinfit-table-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("out.csv");
    let files = || std::fs::read_dir(&folder).unwrap().count();
    let mut writer = Writer::create(&path).unwrap();
    writer.names(&["a"]).unwrap();
    assert!(!path.exists());
    drop(writer);
    assert_eq!(files(), 0);
    let mut writer = Writer::create(&path).unwrap();
    writer.names(&["a"]).unwrap();
    writer.rows(Mat::<f64>::identity(2, 1).as_ref()).unwrap();
    writer.finish().unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "a\n1\n0\n");
    assert_eq!(files(), 1);
    let table = Reader::open(&path, &Options::default())
        .unwrap()
        .read()
        .unwrap();
    assert_eq!(table.names, ["a"]);
    std::fs::remove_dir_all(&folder).unwrap();
    let message = Writer::create(&path).err().unwrap().to_string();
    assert!(message.starts_with("cannot write "), "{message}");
}
