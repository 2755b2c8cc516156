//! Reading in blocks takes constant memory, however long the file.

#![allow(clippy::unwrap_used)] // Helpers of tests fail as tests do.

use faer::Mat;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use thinfit_table::{Options, Reader, Writer};

const COLUMNS: usize = 8;

/// Peak memory in bytes while a file is read in blocks, and the sum of its values.
fn use_of(path: &Path) -> (u64, f64) {
    let mut sum = 0.0;
    let memory = allocation_counter::measure(|| {
        let mut reader = Reader::open(path, &Options::default()).unwrap();
        while let Some(block) = reader.next_block(1000).unwrap() {
            sum += block.sum();
        }
    });
    (memory.bytes_max, sum)
}

fn value(i: usize, j: usize) -> f64 {
    ((i * 31 + j) % 1009) as f64 / 7.0
}

fn csv(path: &Path, rows: usize) {
    let mut writer = Writer::create(path).unwrap();
    for first in (0..rows).step_by(1000) {
        let block = Mat::from_fn(1000, COLUMNS, |i, j| value(first + i, j));
        writer.rows(block.as_ref()).unwrap();
    }
    writer.finish().unwrap();
}

fn npy(path: &Path, rows: usize, fortran: bool) {
    let fortran = if fortran { "True" } else { "False" };
    let header =
        format!("{{'descr': '<f8', 'fortran_order': {fortran}, 'shape': ({rows}, {COLUMNS}), }}\n");
    let mut bytes = b"\x93NUMPY\x01\0".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend((0..rows * COLUMNS).flat_map(|at| value(at, 0).to_le_bytes()));
    File::create(path).unwrap().write_all(&bytes).unwrap();
}

#[test]
fn long_files_take_no_more_memory_than_short_ones() {
    let folder: PathBuf =
        std::env::temp_dir().join(format!("thinfit-memory-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("table");
    type Write<'a> = &'a dyn Fn(&Path, usize);
    let writers: [Write<'_>; 3] = [&csv, &|path, rows| npy(path, rows, false), &|path, rows| {
        npy(path, rows, true)
    }];
    for write in writers {
        write(&path, 20_000);
        let (short, _) = use_of(&path);
        write(&path, 200_000);
        let (long, sum) = use_of(&path);
        assert!(long < short + 1000, "{short} bytes, then {long}");
        assert!(long < 2 << 20, "{long} bytes");
        assert!(sum > 0.0);
    }
    std::fs::remove_dir_all(&folder).unwrap();
}
