//! The edges of a fitted process: their positions, and the heights of the jumps.

use super::KernelBody;
use crate::{Crossing, Edge};
use faer::Mat;
use thinfit::Header;
use thinfit::pieces::product;

/// A jump or a kink of a model along a hyperplane.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundEdge {
    /// Which of the two.
    pub crossing: Crossing,
    /// Where, in the units of the data, as in `x1 + 0.7 x2 passes 0.6`.
    pub place: String,
    /// Size of the jump at the rows nearest to it: its first decile, median and last decile. Only for a jump of the only output.
    pub height: Option<[f64; 3]>,
}

impl KernelBody {
    /// The edges of a model with this header.
    pub fn edges(&self, header: &Header) -> Vec<FoundEdge> {
        let edges = self.kernel.edges.iter().enumerate();
        let found = |(e, edge): (usize, &Edge)| FoundEdge {
            crossing: edge.crossing,
            place: edge.place(&header.inputs, &header.input_scaler),
            height: match edge.crossing {
                Crossing::Jump => self.height(header, e),
                Crossing::Bend => None,
            },
        };
        edges.map(found).collect()
    }

    /// The difference of both sides of edge `e` at the quarter of the points nearest to it.
    fn height(&self, header: &Header, e: usize) -> Option<[f64; 3]> {
        let [scale] = header.output_scaler.scale[..] else {
            return None;
        };
        let (kernel, d) = (&self.kernel, header.dim());
        let distance = |i: usize| kernel.edges[e].argument(self.points.row(i)).abs();
        let mut rows: Vec<usize> = (0..self.points.nrows()).collect();
        rows.sort_by(|&a, &b| distance(a).total_cmp(&distance(b)));
        rows.truncate(rows.len().div_ceil(4));
        let near = Mat::from_fn(rows.len(), d, |i, j| self.points[(rows[i], j)]);
        let points = kernel.widened(self.points.as_ref());
        let mut x = kernel.widened(near.as_ref());
        let mut side = |h: f64| {
            x.col_as_slice_mut(d + e).fill(h);
            product(
                kernel.cross_widened(&x, &points).as_ref(),
                self.coefficients.as_ref(),
            )
        };
        let difference = (side(0.5) - side(-0.5)) * faer::Scale(scale);
        let mut sizes: Vec<f64> = difference.col_as_slice(0).iter().map(|v| v.abs()).collect();
        sizes.sort_by(f64::total_cmp);
        let at = |share: f64| sizes[(share * (sizes.len() - 1) as f64).round() as usize];
        Some([0.1, 0.5, 0.9].map(at))
    }
}
