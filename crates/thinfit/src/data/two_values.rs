//! Outputs with only two distinct values, such as 0 and 1 for two classes.

use std::fmt;

use super::Dataset;
use crate::math::digits::six_digits;

/// Minimum number of rows; with fewer, two values mean little.
const FEWEST: usize = 5;

/// An output with only two values.
#[derive(Clone, Debug, PartialEq)]
pub struct TwoValues {
    /// The name of the output.
    pub output: String,
    /// The smaller value.
    pub low: f64,
    /// The larger value.
    pub high: f64,
}

impl TwoValues {
    /// The outputs of these samples with only two values.
    pub fn of(data: &Dataset) -> Vec<TwoValues> {
        let outputs = data.outputs.iter().zip(data.y.col_iter());
        let found = outputs.filter_map(|(output, values)| {
            let low = values.iter().copied().fold(f64::INFINITY, f64::min);
            let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let two = low < high && values.iter().all(|&value| value == low || value == high);
            (two && values.nrows() >= FEWEST).then(|| TwoValues {
                output: output.clone(),
                low,
                high,
            })
        });
        found.collect()
    }
}

impl fmt::Display for TwoValues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let TwoValues { output, low, high } = self;
        write!(
            f,
            "`{output}` has two values, {} and {}: thinfit fits numbers by least squares; predictions lie between the two and beyond, \
             and are not probabilities",
            six_digits(*low),
            six_digits(*high)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use faer::Mat;

    #[test]
    fn outputs_of_two_values_are_found() {
        let y = Mat::from_fn(6, 3, |i, o| [(i % 2) as f64, i as f64, 1.0][o]);
        let data = Dataset::new(Mat::from_fn(6, 1, |i, _| i as f64), y).unwrap();
        let found = TwoValues::of(&data);
        assert_eq!(
            (found.len(), &*found[0].output, found[0].low, found[0].high),
            (1, "y1", 0.0, 1.0)
        );
        assert!(TwoValues::of(&data.rows(&[0, 1, 2, 3])).is_empty());
    }
}
