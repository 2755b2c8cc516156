//! A table of numbers as an NPY file.

use super::File;
use super::content::Cell;
use super::random::Random;

/// Writes rows of numbers.
pub fn write(random: &mut Random, rows: &[Vec<Cell>]) -> File {
    let (m, k) = (rows.len(), rows[0].len());
    let fortran = random.one_in(2);
    let order = if fortran { "True" } else { "False" };
    let mut header = format!("{{'descr': '<f8', 'fortran_order': {order}, 'shape': ({m}, {k}), }}");
    while !(10 + header.len() + 1).is_multiple_of(64) {
        header.push(' ');
    }
    header.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.bytes());
    let value = |i: usize, j: usize| match rows[i][j] {
        Cell::Number(value) => value,
        _ => f64::NAN,
    };
    for at in 0..m * k {
        let (i, j) = if fortran {
            (at % m, at / m)
        } else {
            (at / k, at % k)
        };
        bytes.extend(value(i, j).to_le_bytes());
    }
    File {
        bytes,
        ending: "npy",
        ..File::default()
    }
}
