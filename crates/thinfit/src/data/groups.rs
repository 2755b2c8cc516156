//! Groups: rows that depend on each other, such as readings of one setting or steps of one run. No split divides
//! them; otherwise a model would be judged on rows that it almost knows.
//!
//! Dimensions: `m` samples.

use super::Dataset;
use super::linkage::Disjoint;
use crate::math::random::{Purpose, stream};
use crate::{Error, Result};
use rand::RngExt;
use std::collections::HashMap;

/// Maximum number of validation rows; more would cost time without benefit.
const MAX_VALIDATION: usize = 10_000;

/// Minimum number of samples of positive weight.
const MIN_SAMPLES: usize = 4;

impl Dataset {
    /// The same samples in groups: rows with the same number belong together.
    ///
    /// # Errors
    /// A number of groups other than m.
    pub fn with_groups(mut self, groups: Vec<u64>) -> Result<Self> {
        self.groups = Some(groups);
        self.check()?;
        Ok(self)
    }

    /// The rows of each group, by their first rows; without groups, each row alone.
    pub fn grouped(&self) -> Vec<Vec<usize>> {
        self.joined(false)
    }

    /// As many scores as there are groups, sorted, with the distribution of the `scores` of all rows (m) in which every group counts
    /// once: rows of a group are hardly more than one observation, and intervals that counted each would be too narrow. Without
    /// groups, the scores themselves.
    pub fn scores_of_groups(&self, scores: &[f64]) -> Vec<f64> {
        let groups = self.grouped();
        let mut shares: Vec<(f64, f64)> = Vec::with_capacity(scores.len());
        for group in &groups {
            let share = 1.0 / group.len() as f64;
            shares.extend(group.iter().map(|&row| (scores[row], share)));
        }
        shares.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (mut at, mut reached) = (0, 0.0);
        (0..groups.len())
            .map(|k| {
                while at + 1 < shares.len() && reached + shares[at].1 < (k + 1) as f64 - 1e-9 {
                    reached += shares[at].1;
                    at += 1;
                }
                shares[at].0
            })
            .collect()
    }

    /// Rows that stay together when all are divided into up to `folds` folds: those of a group, and those with equal inputs. Where
    /// this would leave fewer sets than folds, since each group has the same inputs, only those of a group.
    pub fn inseparable(&self, folds: usize) -> Vec<Vec<usize>> {
        let sets = self.joined(true);
        if self.groups.is_none() || sets.len() >= folds {
            return sets;
        }
        self.joined(false)
    }

    /// Rows joined by their groups, and where `equal` is set by equal inputs.
    fn joined(&self, equal: bool) -> Vec<Vec<usize>> {
        let mut sets = Disjoint::new(self.samples());
        let mut of_group = HashMap::new();
        for (i, group) in self.groups.iter().flatten().enumerate() {
            sets.join(*of_group.entry(group).or_insert(i), i);
        }
        let mut of_inputs: HashMap<Vec<u64>, usize> = HashMap::new();
        for i in (0..self.samples()).filter(|_| equal) {
            // Adding zero makes −0 equal to 0.
            let inputs = self.x.row(i).iter().map(|v| (v + 0.0).to_bits()).collect();
            sets.join(*of_inputs.entry(inputs).or_insert(i), i);
        }
        sets.sets()
    }

    /// Shuffles the rows and holds out about `fraction` of them for validation: (training, validation). No group is divided.
    ///
    /// Both parts have at least one row. Without groups, rows of weight zero go to training, where they have no effect.
    ///
    /// # Errors
    /// Fewer than four samples of positive weight, or all of them in one group.
    pub fn split(&self, fraction: f64, seed: u64) -> Result<(Dataset, Dataset)> {
        let counts = |row: usize| {
            self.weights
                .as_ref()
                .is_none_or(|weights| weights[row] > 0.0)
        };
        let useful = |rows: &Vec<usize>| rows.iter().filter(|&&row| counts(row)).count();
        let mut sets = self.grouped();
        let mut rng = stream(seed, Purpose::Split, 0);
        for i in (1..sets.len()).rev() {
            sets.swap(i, rng.random_range(0..=i));
        }
        sets.sort_by_key(|rows| useful(rows) > 0);
        let total: usize = sets.iter().map(useful).sum();
        if total < MIN_SAMPLES {
            return Err(Error::TooFew {
                what: "samples of positive weight",
                needed: MIN_SAMPLES,
                found: total,
                advice: "a fit needs rows to train on and rows to validate on",
            });
        }
        let groups = sets.iter().filter(|rows| useful(rows) > 0).count();
        if groups < 2 {
            return Err(one_group(groups));
        }
        let wanted = (total as f64 * fraction).ceil() as usize;
        let wanted = wanted.clamp(1, (total - 1).min(MAX_VALIDATION));
        // A large group stays in training, unless all groups are large.
        let most = wanted.max(total / 2);
        let (mut held, mut train, mut validation) = (0, Vec::new(), Vec::new());
        for rows in sets.into_iter().rev() {
            let count = useful(&rows);
            let fits = count > 0 && held < wanted && held + count <= most;
            if fits {
                held += count;
            }
            let part = if fits { &mut validation } else { &mut train };
            part.extend(rows.into_iter().rev());
        }
        train.reverse();
        validation.reverse();
        Ok((self.rows(&train), self.rows(&validation)))
    }
}

/// Sets of rows put together to at most `count` folds of about equal size, none of them empty: each set in turn to the smallest fold. The
/// rows of a fold are in order.
pub fn divided(sets: Vec<Vec<usize>>, count: usize) -> Vec<Vec<usize>> {
    let mut folds = vec![Vec::new(); count.min(sets.len()).max(1)];
    for set in sets {
        let smallest = folds.iter_mut().min_by_key(|fold| fold.len());
        smallest.expect("there is at least one fold").extend(set);
    }
    folds.retain(|fold: &Vec<usize>| !fold.is_empty());
    folds.iter_mut().for_each(|fold| fold.sort_unstable());
    folds
}

/// The error of samples that cannot be held out, since all are in one group.
pub fn one_group(found: usize) -> Error {
    Error::TooFew {
        what: "groups",
        needed: 2,
        found,
        advice: "no split divides a group; give smaller groups, or none",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use faer::Mat;

    fn data(m: usize) -> Dataset {
        let x = Mat::from_fn(m, 2, |i, j| (i * (j + 1)) as f64);
        Dataset::new(x, Mat::from_fn(m, 1, |i, _| i as f64)).unwrap()
    }

    /// The groups of the rows of both parts.
    fn groups(parts: &(Dataset, Dataset)) -> [Vec<u64>; 2] {
        [&parts.0, &parts.1].map(|part| part.groups.clone().unwrap())
    }

    #[test]
    fn readings_of_one_setting_calibrate_as_one_row() {
        let x = Mat::from_fn(10, 1, |i, _| i as f64);
        let data = Dataset::new(x.clone(), x).unwrap();
        let scores: Vec<f64> = (0..10).map(|i| ((7 * i) % 10) as f64).collect();
        let sorted: Vec<f64> = (0..10).map(f64::from).collect();
        assert_eq!(data.scores_of_groups(&scores), sorted);
        let twice: Vec<f64> = (0..10).map(|i| f64::from(i / 2)).collect();
        let pairs = data
            .clone()
            .with_groups((0..10).map(|i| i / 2).collect())
            .unwrap();
        assert_eq!(pairs.scores_of_groups(&twice), [0.0, 1.0, 2.0, 3.0, 4.0]);
        // A large group counts no more than a small one.
        let uneven = data
            .with_groups(vec![1, 1, 1, 1, 1, 1, 1, 1, 2, 3])
            .unwrap();
        let scores: Vec<f64> = (0..10)
            .map(|i| if i < 8 { 1.0 } else { i as f64 })
            .collect();
        assert_eq!(uneven.scores_of_groups(&scores), [1.0, 8.0, 9.0]);
    }

    #[test]
    fn no_group_is_on_both_sides_of_a_split() {
        for (size, seed) in [(1, 0), (3, 1), (6, 2), (20, 3), (30, 4)] {
            let all = data(60).with_groups((0..60).map(|i| i % (60 / size)).collect());
            let parts = all.unwrap().split(0.1, seed).unwrap();
            let [train, validation] = groups(&parts);
            assert!(
                validation.iter().all(|group| !train.contains(group)),
                "{size}"
            );
            assert_eq!(train.len() + validation.len(), 60);
            let expected = 6_usize.next_multiple_of(size as usize);
            assert_eq!(validation.len(), expected, "{size}");
        }
    }

    #[test]
    fn a_group_of_most_rows_is_trained_on() {
        let all = data(50)
            .with_groups((0..50).map(|i| i.min(5)).collect())
            .unwrap();
        for seed in 0..20 {
            let [train, validation] = groups(&all.split(0.1, seed).unwrap());
            assert!(train.contains(&5) && validation.len() == 5);
        }
        let one = data(50).with_groups(vec![7; 50]).unwrap();
        let error = one.split(0.1, 1).unwrap_err();
        assert!(matches!(
            error,
            Error::TooFew {
                what: "groups",
                found: 1,
                ..
            }
        ));
    }

    #[test]
    fn a_wrong_number_of_groups_is_an_error_and_rows_keep_theirs() {
        let error = data(5).with_groups(vec![1; 4]).unwrap_err();
        assert!(
            matches!(error, Error::Shape { what: "groups", .. }),
            "{error}"
        );
        let all = data(5).with_groups(vec![1, 1, 2, 3, 3]).unwrap();
        assert_eq!(all.rows(&[4, 0]).groups, Some(vec![3, 1]));
        assert_eq!(all.grouped(), [vec![0, 1], vec![2], vec![3, 4]]);
        assert_eq!(data(3).grouped(), [[0], [1], [2]]);
    }

    #[test]
    fn equal_inputs_stay_together_unless_all_groups_have_the_same() {
        let x = Mat::from_fn(6, 1, |i, _| [1.0, 2.0, 1.0, 3.0, -0.0, 0.0][i]);
        let all = Dataset::new(x, Mat::zeros(6, 1)).unwrap();
        assert_eq!(
            all.inseparable(5),
            [vec![0, 2], vec![1], vec![3], vec![4, 5]]
        );
        let grouped = all.clone().with_groups(vec![0, 0, 1, 1, 2, 2]).unwrap();
        assert_eq!(grouped.inseparable(2), [vec![0, 1, 2, 3], vec![4, 5]]);
        assert_eq!(grouped.inseparable(3), [[0, 1], [2, 3], [4, 5]]);
    }
}
