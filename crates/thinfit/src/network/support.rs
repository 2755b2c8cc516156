//! Which entries of the hidden weights may differ from zero.
//!
//! A feature with zero weight in an input does not act on that input. A function that is a sum of terms in few inputs
//! is fitted best by features that act on those inputs only, and such features must stay sparse while they are
//! trained.

use faer::MatRef;

/// The entries (l, j) of the hidden weights (n × d′) that are free to move; all others are zero and stay zero.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Support {
    /// Neuron by neuron, coordinates ascending.
    free: Vec<(usize, usize)>,
}

impl Support {
    /// All entries of `n` neurons with `d`′ coordinates each.
    pub fn full(n: usize, dim: usize) -> Self {
        Self::filtered(n, dim, |_| true)
    }

    /// The entries of `w` (n × d′) that are not zero.
    pub fn of(w: MatRef<'_, f64>) -> Self {
        Self::filtered(w.nrows(), w.ncols(), |entry| w[entry] != 0.0)
    }

    /// The free entries, neuron by neuron.
    pub fn entries(&self) -> &[(usize, usize)] {
        &self.free
    }

    fn filtered(n: usize, dim: usize, keep: impl Fn((usize, usize)) -> bool) -> Self {
        let entries = (0..n).flat_map(|l| (0..dim).map(move |j| (l, j)));
        Support {
            free: entries.filter(|&entry| keep(entry)).collect(),
        }
    }
}
