//! Folds of cross-validation.

use super::Dataset;
use super::groups::divided;
use crate::math::random::{Purpose, stream};
use rand::RngExt;

/// Shuffled folds of about equal size; rows of a group, and rows with equal inputs, are in one fold.
pub fn folds(data: &Dataset, count: usize, seed: u64) -> Vec<Vec<usize>> {
    let mut groups = data.inseparable(count);
    let mut rng = stream(seed, Purpose::Folds, 0);
    for i in (1..groups.len()).rev() {
        groups.swap(i, rng.random_range(0..=i));
    }
    divided(groups, count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use faer::Mat;

    #[test]
    fn folds_hold_every_row_once_and_keep_equal_rows_together() {
        let x = Mat::from_fn(40, 2, |i, j| ((i % 13) * (j + 1)) as f64);
        let data = Dataset::new(x.clone(), Mat::from_fn(40, 1, |i, _| i as f64)).unwrap();
        let folds = folds(&data, 5, 3);
        let mut seen: Vec<usize> = folds.iter().flatten().copied().collect();
        seen.sort_unstable();
        assert_eq!(seen, (0..40).collect::<Vec<_>>());
        for fold in &folds {
            for i in 0..40 {
                if fold.iter().any(|&k| k % 13 == i % 13) {
                    assert!(fold.contains(&i));
                }
            }
            assert!((6..=10).contains(&fold.len()), "{folds:?}");
        }
    }

    #[test]
    fn folds_divide_no_group() {
        let x = Mat::from_fn(60, 1, |i, _| ((i * 17) % 41) as f64);
        let data = Dataset::new(x, Mat::zeros(60, 1)).unwrap();
        let group = |i: usize| (i % 12) as u64;
        let data = data.with_groups((0..60).map(group).collect()).unwrap();
        let folds = folds(&data, 5, 3);
        assert_eq!(folds.len(), 5);
        for group in data.grouped() {
            let fold = folds.iter().find(|fold| fold.contains(&group[0])).unwrap();
            assert!(group.iter().all(|i| fold.contains(i)), "{folds:?}");
        }
    }
}
