//! The rows of all runs on the device.

use crate::device::{Buffer, Lane};
use crate::parameters::Parameters;
use thinfit::{Activation, Dataset, Result};

/// Rows, one run after the other: padded inputs, outputs, roots of the weights, and the sum of the weights of each run.
pub(crate) struct Table {
    x: Buffer<f64>,
    y: Buffer<f64>,
    root: Buffer<f64>,
    omega: Buffer<f64>,
    /// Rows of one run.
    pub rows: usize,
}

impl Table {
    /// Copies the rows of all runs, which have one shape.
    pub fn new<'a>(
        lane: &Lane,
        activation: Activation,
        runs: impl Iterator<Item = &'a Dataset>,
    ) -> Result<Self> {
        let (mut x, mut y, mut root, mut omega) = (vec![], vec![], vec![], vec![]);
        let mut rows = 0;
        for data in runs {
            let (d, dim) = (data.dim(), activation.weights(data.dim()));
            rows = data.samples();
            x.reserve(rows * dim);
            for i in 0..rows {
                x.extend((0..d).map(|j| data.x[(i, j)]));
                x.extend((d..dim).map(|_| 1.0));
                y.extend((0..data.y.ncols()).map(|o| data.y[(i, o)]));
            }
            let weight = |i: usize| data.weights.as_ref().map_or(1.0, |weights| weights[i]);
            root.extend((0..rows).map(|i| weight(i).sqrt()));
            omega.push((0..rows).map(weight).sum());
        }
        Ok(Table {
            x: lane.upload(&x)?,
            y: lane.upload(&y)?,
            root: lane.upload(&root)?,
            omega: lane.upload(&omega)?,
            rows,
        })
    }

    /// The arguments of kernels that work on this table.
    pub fn arguments(&self, p: &Parameters) -> Parameters {
        Parameters {
            x: self.x.address,
            y: self.y.address,
            root: self.root.address,
            omega: self.omega.address,
            m: self.rows as i32,
            ..*p
        }
    }

    /// The chunks of the table, each with the arguments of its kernels.
    pub fn chunks(&self, p: &Parameters) -> impl Iterator<Item = Parameters> + use<> {
        let (p, rows, chunk) = (self.arguments(p), self.rows, p.chunk as usize);
        (0..rows).step_by(chunk).map(move |first| Parameters {
            first: first as i32,
            rows: chunk.min(rows - first) as i32,
            ..p
        })
    }
}
