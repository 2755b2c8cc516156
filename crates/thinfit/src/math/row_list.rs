//! A matrix in a file: a list of its rows.

use faer::Mat;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Writes the rows; for `#[serde(with)]`.
///
/// # Errors
/// Those of the serializer.
pub fn serialize<S: Serializer>(a: &Mat<f64>, serializer: S) -> Result<S::Ok, S::Error> {
    struct Row<'a>(faer::RowRef<'a, f64>);
    impl Serialize for Row<'_> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.collect_seq(self.0.iter())
        }
    }
    serializer.collect_seq(a.row_iter().map(Row))
}

/// Reads the rows.
///
/// # Errors
/// Rows of different lengths.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Mat<f64>, D::Error> {
    let rows = Vec::<Vec<f64>>::deserialize(deserializer)?;
    let columns = rows.first().map_or(0, Vec::len);
    match rows.iter().position(|row| row.len() != columns) {
        None => Ok(Mat::from_fn(rows.len(), columns, |i, j| rows[i][j])),
        Some(i) => Err(D::Error::custom(format!(
            "expected rows of {columns} numbers, found {} in row {i}",
            rows[i].len()
        ))),
    }
}
