//! Clusters: rows clumped around a few points. Folds that divide a clump test a model next to its training rows.
//!
//! Single linkage joins points within a clump at short distances and clumps at long ones. There are clusters if these
//! distances have a gap, those above it are far longer, and the clumps are small compared with the distances between
//! their centres.
//!
//! Only columns with many values count: levels and grid steps are separated by nature.

use super::linkage::{Disjoint, Points, euclidean};
use crate::math::quantile::upper_median;
use faer::MatRef;
use std::collections::HashSet;

/// Maximum number of values of a column of levels.
const LEVELS: usize = 10;
/// Minimum share of the rows that are different in a column without levels.
const DIFFERENT: f64 = 0.25;
/// Minimum ratio of two consecutive distances of the linkage where clusters end.
const GAP: f64 = 2.0;
/// Minimum ratio of the median distance above the gap to the distance that 95 % of those below it do not reach.
const LONGER: f64 = 5.0;
/// Minimum distance from a cluster to the nearest, in units of how far rows are from their centres.
const APART: f64 = 3.0;
/// Minimum share of the rows in clusters of two and more.
const CLUSTERED: f64 = 0.9;
/// Largest share of the rows in one cluster: a few rows far from all others are outliers.
const LARGEST: f64 = 0.6;

/// A cluster for each row (m) of `x` (m × d), where the rows are in 2 to m/3 clusters: the number of its first row. None where they are
/// not, or of more than some thousand rows.
pub fn clustered(x: MatRef<'_, f64>) -> Option<Vec<u64>> {
    let m = x.nrows();
    let values = |j: usize| x.col(j).iter().map(|v| (v + 0.0).to_bits());
    let count = |j: usize| values(j).collect::<HashSet<u64>>().len();
    let least = LEVELS.max((DIFFERENT * m as f64) as usize);
    let columns: Vec<usize> = (0..x.ncols()).filter(|&j| count(j) > least).collect();
    let points = Points::new(x, &columns)?;
    let edges = points.tree(euclidean);
    let lengths: Vec<f64> = edges.iter().map(|edge| edge.length).collect();
    // Equal points are one.
    let first = lengths.partition_point(|length| *length == 0.0);
    let different = m - first;
    let ratio = |k: usize| lengths[k + 1] / lengths[k];
    // Cutting after edge k leaves m − 1 − k clusters.
    let clusters = |k: usize| m - 1 - k;
    let cuts = (first..lengths.len().saturating_sub(1))
        .filter(|&k| clusters(k) >= 2 && 3 * clusters(k) <= different);
    let cut = cuts.max_by(|&k, &l| ratio(k).total_cmp(&ratio(l)))?;
    let (within, between) = lengths[first..].split_at(cut + 1 - first);
    let longest = within[within.len() - 1 - within.len() / 20];
    if ratio(cut) <= GAP || between[between.len() / 2] <= LONGER * longest {
        return None;
    }
    let mut sets = Disjoint::new(m);
    for edge in &edges[..=cut] {
        sets.join(edge.rows[0], edge.rows[1]);
    }
    let sets = sets.sets();
    let together: usize = sets.iter().map(Vec::len).filter(|rows| *rows > 1).sum();
    let largest = sets.iter().map(Vec::len).max().unwrap_or(0);
    let share = |rows: usize| rows as f64 / m as f64;
    if share(together) < CLUSTERED || share(largest) > LARGEST || !are_apart(&points, &sets) {
        return None;
    }
    let mut groups = vec![0; m];
    for set in sets {
        set.iter().for_each(|&row| groups[row] = set[0] as u64);
    }
    Some(groups)
}

/// Whether the median distance of a centre to the nearest other is large compared with that of rows from their centres.
fn are_apart(points: &Points, sets: &[Vec<usize>]) -> bool {
    let centre = |rows: &Vec<usize>| -> Vec<f64> {
        let mut sum = vec![0.0; points.row(0).len()];
        for &row in rows {
            let pairs = sum.iter_mut().zip(points.row(row));
            pairs.for_each(|(sum, v)| *sum += v / rows.len() as f64);
        }
        sum
    };
    let centres: Vec<Vec<f64>> = sets.iter().map(centre).collect();
    let square = |(rows, centre): (&Vec<usize>, &Vec<f64>)| -> f64 {
        let squares = rows
            .iter()
            .map(|&row| euclidean(points.row(row), centre).powi(2));
        squares.sum()
    };
    let spread = sets.iter().zip(&centres).map(square).sum::<f64>() / points.len() as f64;
    let nearest = |i: usize| {
        let others = (0..centres.len()).filter(|&j| j != i);
        let distances = others.map(|j| euclidean(&centres[i], &centres[j]));
        distances.fold(f64::INFINITY, f64::min)
    };
    let typical = upper_median((0..centres.len()).map(nearest).collect());
    typical.is_some_and(|typical| typical > APART * spread.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::random::{Purpose, stream};
    use faer::Mat;
    use rand::RngExt;
    use rand_distr::StandardNormal;

    /// `size` rows around each of `count` random places, in an order that mixes them.
    fn clumps(count: usize, size: usize, d: usize, spread: f64, seed: u64) -> Mat<f64> {
        let mut rng = stream(seed, Purpose::Points, 0);
        let places = Mat::from_fn(count, d, |_, _| rng.random::<f64>());
        Mat::from_fn(count * size, d, |i, j| {
            places[(i % count, j)] + spread * rng.sample::<f64, _>(StandardNormal)
        })
    }

    fn uniform(m: usize, d: usize, seed: u64) -> Mat<f64> {
        let mut rng = stream(seed, Purpose::Points, 1);
        Mat::from_fn(m, d, |_, _| rng.random::<f64>())
    }

    #[test]
    fn rows_around_twelve_places_are_twelve_clusters() {
        for (count, size, d, spread) in [(12, 8, 4, 0.01), (4, 30, 4, 0.01), (20, 5, 6, 0.02)] {
            // By chance, two places may be near each other.
            let expected: Vec<u64> = (0..count * size).map(|i| (i % count) as u64).collect();
            let found = (0..20).filter(|seed| {
                let x = clumps(count, size, d, spread, *seed);
                clustered(x.as_ref()).is_some_and(|found| found == expected)
            });
            assert!(found.count() >= 14, "{count} × {size}");
        }
    }

    #[test]
    fn designs_are_not_clusters() {
        for (m, d) in [(8, 1), (60, 1), (300, 1), (200, 2), (500, 5), (100, 10)] {
            for seed in 0..10 {
                assert_eq!(clustered(uniform(m, d, seed).as_ref()), None, "{m} × {d}");
            }
        }
        let grid = |scale: &dyn Fn(usize) -> f64| {
            Mat::from_fn(144, 2, |i, j| scale(if j == 0 { i / 12 } else { i % 12 }))
        };
        assert_eq!(clustered(grid(&|i| i as f64).as_ref()), None);
        assert_eq!(clustered(grid(&|i| 10f64.powi(i as i32)).as_ref()), None);
        let lines = Mat::from_fn(600, 2, |i, j| if j == 0 { i / 60 } else { i % 60 } as f64);
        assert_eq!(clustered(lines.as_ref()), None);
    }

    #[test]
    fn levels_repeats_and_outliers_are_not_clusters() {
        let x = uniform(120, 3, 7);
        // A column of levels beside columns that vary.
        let levels = Mat::from_fn(120, 3, |i, j| match j {
            0 => (100 * (i % 4)) as f64,
            _ => x[(i, j)],
        });
        assert_eq!(clustered(levels.as_ref()), None);
        let repeated = Mat::from_fn(120, 3, |i, j| x[(i % 40, j)]);
        assert_eq!(clustered(repeated.as_ref()), None);
        let outlier = Mat::from_fn(120, 3, |i, j| x[(i, j)] + if i < 2 { 50.0 } else { 0.0 });
        assert_eq!(clustered(outlier.as_ref()), None);
        let normal = clumps(1, 300, 3, 1.0, 2);
        assert_eq!(clustered(normal.as_ref()), None);
    }
}
