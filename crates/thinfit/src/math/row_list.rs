//! A matrix in a file, as a list of rows.

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

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Table(#[serde(with = "crate::math::row_list")] Mat<f64>);

    #[test]
    fn a_matrix_survives_json_to_the_last_bit() {
        for (rows, columns) in [(1, 1), (3, 2), (2, 5), (4, 0), (0, 0)] {
            let table = Table(Mat::from_fn(rows, columns, |i, j| {
                ((i + 1) as f64 / (j + 3) as f64).powi(31)
            }));
            let text = serde_json::to_string(&table).unwrap();
            assert_eq!(serde_json::from_str::<Table>(&text).unwrap(), table);
        }
        let table = Table(Mat::from_fn(2, 3, |i, j| (10 * i + j) as f64));
        let text = serde_json::to_string(&table).unwrap();
        assert_eq!(text, "[[0.0,1.0,2.0],[10.0,11.0,12.0]]");
    }

    #[test]
    fn ragged_rows_are_refused_by_number() {
        let error = serde_json::from_str::<Table>("[[1, 2], [3, 4], [5]]").unwrap_err();
        let expected = "expected rows of 2 numbers, found 1 in row 2";
        assert!(error.to_string().starts_with(expected), "{error}");
    }
}
