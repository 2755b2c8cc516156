//! Integer columns among the samples.

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

/// Distinct integers from which on a column is taken to have no values between them.
const COUNTS: usize = 4;
/// Maximum number of distinct coded levels of a design, such as −2, −1, 0, 1 and 2.
const CODED: usize = 5;

/// The columns of `x` (m × d) that take no values between integers: all samples are integers, at least four distinct ones or 0 and 1
/// alone. Few integers that are symmetric about zero are the coded levels of a design, which stand for measured quantities.
pub(crate) fn integer_columns(x: MatRef<'_, f64>) -> Vec<usize> {
    let is_integer = |j: &usize| {
        let mut values: Vec<f64> = x.col(*j).iter().copied().collect();
        if values.iter().any(|value| value.fract() != 0.0) {
            return false;
        }
        values.sort_by(f64::total_cmp);
        values.dedup();
        let coded = values.len() <= CODED
            && values
                .first()
                .zip(values.last())
                .is_some_and(|(a, b)| *a == -b);
        values == [0.0, 1.0] || (values.len() >= COUNTS && !coded)
    };
    (0..x.ncols()).filter(is_integer).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use faer::Mat;

    #[test]
    fn counts_and_switches_are_integers_and_coded_levels_are_not() {
        let columns: [&[f64]; 8] = [
            &[0.0, 1.0, 1.0, 0.0, 1.0, 0.0],
            &[1.0, 2.0, 3.0, 4.0, 4.0, 1.0],
            &[100.0, 207.0, 314.0, 401.0, 523.0, 688.0],
            // Coded levels, three integers, two that are no switch, one alone, and fractions.
            &[-1.0, 0.0, 1.0, -1.0, 0.0, 1.0],
            &[-2.0, -1.0, 0.0, 1.0, 2.0, 0.0],
            &[1.0, 2.0, 3.0, 1.0, 2.0, 3.0],
            &[2.0, 4.0, 2.0, 4.0, 2.0, 4.0],
            &[1.0, 2.0, 3.0, 4.0, 5.5, 6.0],
        ];
        let x = Mat::from_fn(6, columns.len(), |i, j| columns[j][i]);
        assert_eq!(integer_columns(x.as_ref()), [0, 1, 2]);
    }

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
