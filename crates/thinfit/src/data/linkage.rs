//! Single linkage clustering, and sets of rows joined pair by pair.
//!
//! The edges of the minimum spanning tree are the distances at which single linkage joins clusters. Prim's algorithm
//! finds them in O(m² d) operations, without a distance matrix.
//!
//! Dimensions: `m` rows, `d` columns.

use faer::MatRef;

/// Largest m² d for which the tree is computed: about a second.
const MOST: usize = 1 << 31;

/// Sets of numbers below m, joined pair by pair.
pub(super) struct Disjoint {
    /// The parent of each; the least of a set is its root.
    parents: Vec<usize>,
}

impl Disjoint {
    /// Every number alone.
    pub fn new(m: usize) -> Self {
        Disjoint {
            parents: (0..m).collect(),
        }
    }

    /// The smallest number of the set of `i`.
    pub fn root(&mut self, mut i: usize) -> usize {
        while self.parents[i] != i {
            self.parents[i] = self.parents[self.parents[i]];
            i = self.parents[i];
        }
        i
    }

    /// Joins the sets of two numbers.
    pub fn join(&mut self, i: usize, j: usize) {
        let (i, j) = (self.root(i), self.root(j));
        self.parents[i.max(j)] = i.min(j);
    }

    /// The smallest number of the set of each (m).
    pub fn roots(mut self) -> Vec<usize> {
        (0..self.parents.len()).map(|i| self.root(i)).collect()
    }

    /// The sets, by their least numbers; the numbers of each in order.
    pub fn sets(self) -> Vec<Vec<usize>> {
        let roots = self.roots();
        let mut sets = vec![Vec::new(); roots.len()];
        for (i, root) in roots.into_iter().enumerate() {
            sets[root].push(i);
        }
        sets.retain(|set: &Vec<usize>| !set.is_empty());
        sets
    }
}

/// Two rows that a spanning tree connects.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    pub length: f64,
    pub rows: [usize; 2],
}

/// Rows as points, each column in units of its spread.
pub(super) struct Points {
    /// Row by row.
    values: Vec<f64>,
    d: usize,
}

impl Points {
    /// The rows of some columns of `x`; none if the tree would take too long, or if no column varies.
    pub fn new(x: MatRef<'_, f64>, columns: &[usize]) -> Option<Self> {
        let m = x.nrows();
        let spreads = columns.iter().map(|&j| (j, spread(x, j)));
        let varying: Vec<(usize, f64)> = spreads.filter(|(_, spread)| *spread > 0.0).collect();
        let d = varying.len();
        let affordable = m.saturating_mul(m).saturating_mul(d) <= MOST;
        if d == 0 || !affordable {
            return None;
        }
        let row = |i: usize| varying.iter().map(move |&(j, spread)| x[(i, j)] / spread);
        Some(Points {
            values: (0..m).flat_map(row).collect(),
            d,
        })
    }

    /// The point of row `i`.
    pub fn row(&self, i: usize) -> &[f64] {
        &self.values[i * self.d..(i + 1) * self.d]
    }

    /// The number of points.
    pub fn len(&self) -> usize {
        self.values.len() / self.d
    }

    /// The edges of the shortest spanning tree (m − 1), shortest first.
    pub fn tree(&self, distance: impl Fn(&[f64], &[f64]) -> f64) -> Vec<Edge> {
        let m = self.len();
        let mut outside: Vec<usize> = (1..m).collect();
        let mut nearest = vec![(f64::INFINITY, 0); m];
        let (mut last, mut edges) = (0, Vec::with_capacity(m.saturating_sub(1)));
        while !outside.is_empty() {
            let (mut next, mut least) = (0, f64::INFINITY);
            for (place, &i) in outside.iter().enumerate() {
                let length = distance(self.row(last), self.row(i));
                if length < nearest[i].0 {
                    nearest[i] = (length, last);
                }
                if nearest[i].0 < least {
                    (next, least) = (place, nearest[i].0);
                }
            }
            last = outside.swap_remove(next);
            let (length, from) = nearest[last];
            edges.push(Edge {
                length,
                rows: [from, last],
            });
        }
        edges.sort_by(|a, b| a.length.total_cmp(&b.length));
        edges
    }
}

/// The largest difference of two coordinates.
pub(super) fn chebyshev(a: &[f64], b: &[f64]) -> f64 {
    a.iter()
        .zip(b)
        .fold(0.0, |most, (a, b)| most.max((a - b).abs()))
}

/// The length of the straight line between two points.
pub(super) fn euclidean(a: &[f64], b: &[f64]) -> f64 {
    a.iter()
        .zip(b)
        .map(|(a, b)| (a - b).powi(2))
        .sum::<f64>()
        .sqrt()
}

/// The range of a column, or twice that of its middle 80 % where this is smaller and not zero: a few far values must not make all
/// others look alike.
fn spread(x: MatRef<'_, f64>, j: usize) -> f64 {
    let mut values: Vec<f64> = x.col(j).iter().copied().collect();
    values.sort_by(f64::total_cmp);
    let Some(last) = values.len().checked_sub(1) else {
        return 0.0;
    };
    let middle = 2.0 * (values[last - last / 10] - values[last / 10]);
    let range = values[last] - values[0];
    if middle > 0.0 {
        range.min(middle)
    } else {
        range
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use faer::Mat;

    #[test]
    fn sets_are_joined_and_named_by_their_least_number() {
        let mut sets = Disjoint::new(6);
        for (i, j) in [(4, 2), (5, 4), (1, 3)] {
            sets.join(i, j);
        }
        assert_eq!(sets.sets(), [vec![0], vec![1, 3], vec![2, 4, 5]]);
    }

    #[test]
    fn the_tree_of_a_line_has_its_gaps() {
        let at = [0.0, 7.0, 1.0, 3.0];
        let x = Mat::from_fn(4, 2, |i, j| if j == 0 { at[i] } else { 5.0 });
        let points = Points::new(x.as_ref(), &[0, 1]).unwrap();
        let lengths: Vec<f64> = points.tree(chebyshev).iter().map(|e| e.length).collect();
        // In units of the range.
        assert_eq!(lengths, [1.0 / 7.0, 2.0 / 7.0, 4.0 / 7.0]);
        assert!(Points::new(x.as_ref(), &[1]).is_none());
    }
}
