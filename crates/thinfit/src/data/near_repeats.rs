//! Near-repeats: rows of one setting whose inputs differ by jitter, such as sensor readings of a set point. A fold
//! that held out one of them would test a model on its training data.
//!
//! Rows are linked if every input agrees to within 10⁻⁴ of its spread, and to within 10⁻³ of the median distance
//! between sets of linked rows. Links are found by single linkage in the maximum norm.

use super::linkage::{Disjoint, Edge, Points, chebyshev};
use faer::MatRef;

/// Largest difference of an input in a link, in units of its spread.
const CLOSE: f64 = 1e-4;
/// The same in units of the distance between sets of linked rows.
const CLOSE_TO_SPACING: f64 = 1e-3;
/// Above the tolerance there are hardly any distances, up to this factor.
const GAP: f64 = 30.0;
/// How many there may be, as a share of the links.
const IN_GAP: f64 = 0.1;
/// Minimum share of the rows that are linked to others.
const LINKED: f64 = 0.05;
/// Minimum number of such rows.
const FEWEST: usize = 4;

/// A group for each row (m) where many rows of `x` (m × d) nearly repeat others: the number of its first row. None where there are
/// no near-repeats, or only exact ones, which folds keep together anyway; and of more than some thousand rows.
pub fn near_repeats(x: MatRef<'_, f64>) -> Option<Vec<u64>> {
    let columns: Vec<usize> = (0..x.ncols()).collect();
    let points = Points::new(x, &columns)?;
    let (edges, m) = (points.tree(chebyshev), points.len());
    let mut tolerance = CLOSE;
    // A lower tolerance links fewer rows, and then the sets are nearer to each other.
    loop {
        let lower = tolerance.min(CLOSE_TO_SPACING * spacing(&edges, m, tolerance)?);
        if lower == tolerance {
            break;
        }
        tolerance = lower;
    }
    let near = |edge: &&Edge| edge.length > 0.0 && edge.length <= tolerance;
    let links: Vec<&Edge> = edges.iter().filter(near).collect();
    let mut linked: Vec<usize> = links.iter().flat_map(|edge| edge.rows).collect();
    linked.sort_unstable();
    linked.dedup();
    let in_gap = |edge: &&Edge| edge.length > tolerance && edge.length <= GAP * tolerance;
    let between = edges.iter().filter(in_gap).count();
    let many = linked.len() >= FEWEST && linked.len() as f64 >= LINKED * m as f64;
    if !many || between as f64 > IN_GAP * links.len() as f64 {
        return None;
    }
    let mut sets = Disjoint::new(m);
    let close = edges.iter().filter(|edge| edge.length <= tolerance);
    close.for_each(|edge| sets.join(edge.rows[0], edge.rows[1]));
    let roots = sets.roots();
    let mut sizes = vec![0; m];
    roots.iter().for_each(|&root| sizes[root] += 1);
    // Half the table in one place is a scale that was misjudged.
    let sound = sizes.into_iter().all(|size| size <= m.div_ceil(2));
    sound.then(|| roots.into_iter().map(|root| root as u64).collect())
}

/// The median distance from each set of linked rows to the nearest other; none if there is one set alone.
fn spacing(edges: &[Edge], m: usize, tolerance: f64) -> Option<f64> {
    let mut sets = Disjoint::new(m);
    let mut nearest = vec![None; m];
    // Shortest first, so the first edge that leaves a set is the shortest. It is in the tree.
    for edge in edges {
        let [i, j] = edge.rows;
        if edge.length <= tolerance {
            sets.join(i, j);
            continue;
        }
        for row in [i, j] {
            nearest[sets.root(row)].get_or_insert(edge.length);
        }
    }
    let mut distances: Vec<f64> = nearest.into_iter().flatten().collect();
    distances.sort_by(f64::total_cmp);
    distances.get(distances.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::random::{Purpose, stream};
    use faer::Mat;
    use rand::RngExt;

    fn random(m: usize, d: usize, seed: u64) -> Mat<f64> {
        let mut rng = stream(seed, Purpose::Points, 0);
        Mat::from_fn(m, d, |_, _| rng.random::<f64>())
    }

    /// `copies` rows at each of `settings` random places, with jitter, in an order that mixes them.
    fn jittered(settings: usize, copies: usize, d: usize, jitter: f64) -> Mat<f64> {
        let (places, noise) = (random(settings, d, 1), random(settings * copies, d, 2));
        Mat::from_fn(settings * copies, d, |i, j| {
            100.0 * places[(i % settings, j)] + 100.0 * jitter * noise[(i, j)]
        })
    }

    #[test]
    fn readings_with_jitter_are_one_group_for_each_setting() {
        for (settings, copies, d, jitter) in [
            (40, 3, 3, 1e-5),
            (60, 2, 2, 1e-6),
            (5, 20, 4, 5e-5),
            (30, 4, 1, 1e-6),
        ] {
            let groups = near_repeats(jittered(settings, copies, d, jitter).as_ref());
            let groups = groups.unwrap_or_else(|| panic!("{settings} × {copies}"));
            let expected = (0..settings * copies).map(|i| (i % settings) as u64);
            assert_eq!(groups, expected.collect::<Vec<_>>());
        }
    }

    #[test]
    fn random_designs_have_no_near_repeats() {
        for (m, d) in [(10, 1), (200, 1), (2000, 1), (400, 2), (1000, 5)] {
            for seed in 0..5 {
                assert_eq!(near_repeats(random(m, d, seed).as_ref()), None, "{m} × {d}");
            }
        }
    }

    #[test]
    fn grids_and_exact_repeats_are_not_near_repeats() {
        let grid = Mat::from_fn(400, 2, |i, j| if j == 0 { i / 20 } else { i % 20 } as f64);
        assert_eq!(near_repeats(grid.as_ref()), None);
        let dense = Mat::from_fn(3000, 1, |i, _| i as f64);
        assert_eq!(near_repeats(dense.as_ref()), None);
        let repeated = Mat::from_fn(90, 2, |i, j| ((i % 30) * (j + 3) % 31) as f64);
        assert_eq!(near_repeats(repeated.as_ref()), None);
        assert_eq!(near_repeats(Mat::from_fn(50, 2, |_, _| 3.0).as_ref()), None);
    }

    #[test]
    fn far_values_do_not_make_all_others_repeats() {
        let bulk = random(200, 2, 3);
        let outlier = Mat::from_fn(200, 2, |i, j| if i < 3 { 1e7 } else { bulk[(i, j)] });
        assert_eq!(near_repeats(outlier.as_ref()), None);
        let tails = Mat::from_fn(200, 2, |i, j| (30.0 * bulk[(i, j)]).exp());
        assert_eq!(near_repeats(tails.as_ref()), None);
    }

    #[test]
    fn exact_repeats_join_the_near_ones() {
        let mut x = jittered(20, 3, 2, 1e-6);
        for j in 0..2 {
            x[(20, j)] = x[(0, j)];
        }
        let groups = near_repeats(x.as_ref()).unwrap();
        assert!(groups[0] == groups[20] && groups[0] == groups[40]);
    }
}
