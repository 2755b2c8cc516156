//! Columns of whole numbers among the samples.

use faer::MatRef;

/// Distinct values from which on whole numbers are measurements that were rounded.
const MANY: usize = 20;

/// The columns of `x` (m × d) with whole numbers alone and fewer than 20 distinct ones: most are counts or choices.
pub(crate) fn whole_columns(x: MatRef<'_, f64>) -> Vec<usize> {
    let is_whole = |j: &usize| {
        let mut seen: Vec<f64> = Vec::new();
        x.col(*j).iter().all(|value| {
            if !seen.contains(value) {
                seen.push(*value);
            }
            value.fract() == 0.0 && seen.len() < MANY
        })
    };
    (0..x.ncols()).filter(is_whole).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use faer::Mat;

    #[test]
    fn columns_of_few_whole_numbers_are_found() {
        let x = Mat::from_fn(60, 4, |i, j| match j {
            0 => (2 + i % 5) as f64,
            1 => (i % 5) as f64 / 2.0,
            2 => (i % 20) as f64,
            _ => -((i % 19) as f64),
        });
        assert_eq!(whole_columns(x.as_ref()), [0, 3]);
    }
}
