//! A group of rows: the three sweeps of one evaluation of the objective over its share of the rows.
//!
//! Dimensions: `m` rows of the group, `d`′ entries of one hidden weight, `n` width, `c` outputs, `k` = columns of E.
//! Rows are processed in blocks that stay in cache, on one thread; `objective` sums over groups.

use crate::Activation;
use crate::data::rows::Rows;
use crate::math::product::{multiply, multiply_add};
use crate::network::features::{Padded, features, features_backward};
use faer::linalg::matmul::{matmul, triangular};
use faer::{Accum, Mat, MatRef, Par};

/// Rows per block: 256 rows of 200 planes are 400 KiB, which a second-level cache holds.
const BLOCK: usize = 256;
/// Maximum number of groups of rows; each has its own Gram matrix.
const GROUPS: usize = 16;
/// Bytes of planes up to which those of all rows are kept between sweeps; beyond, they are recomputed.
const KEEP: usize = 32 << 20;

/// A group of rows with its planes, residuals and partial sums.
pub(super) struct Group {
    activation: Activation,
    x: Padded,
    y: Mat<f64>,
    weights: Option<Vec<f64>>,
    /// Planes: of all rows if kept, else of the current block.
    e: Mat<f64>,
    keep: bool,
    /// \[Re(A b) − y | Im(A b)\] of all rows.
    residual: Mat<f64>,
    alpha: Mat<f64>,
    beta: Mat<f64>,
    /// D E of a block where there are weights, and dt in the third sweep.
    scratch: Mat<f64>,
    pub gram: Mat<f64>,
    pub rhs: Mat<f64>,
    pub db: Mat<f64>,
    pub dw: Mat<f64>,
    pub loss: f64,
}

impl Group {
    fn new(activation: Activation, rows: Rows<'_>, n: usize, keep: bool) -> Self {
        let (m, c, k) = (rows.len(), rows.y.ncols(), activation.columns(n));
        let components = activation.components();
        let block = m.min(BLOCK);
        Group {
            activation,
            x: Padded::new(activation, rows.x),
            y: rows.y.to_owned(),
            weights: rows.weights.map(<[f64]>::to_vec),
            e: Mat::zeros(if keep { m } else { block }, activation.planes(n)),
            keep,
            residual: Mat::zeros(m, components * c),
            alpha: Mat::zeros(block, components * c),
            beta: Mat::zeros(block, components * c),
            scratch: Mat::zeros(block, k),
            gram: Mat::zeros(k, k),
            rhs: Mat::zeros(k, c),
            db: Mat::zeros(k, c),
            dw: Mat::zeros(n, activation.weights(rows.x.ncols())),
            loss: 0.0,
        }
    }

    /// Start and length of each block of rows.
    fn blocks(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let m = self.y.nrows();
        (0..m)
            .step_by(BLOCK)
            .map(move |start| (start, BLOCK.min(m - start)))
    }

    /// Row of `e` at which the planes of the block starting at `start` lie.
    fn place(&self, start: usize) -> usize {
        if self.keep { start } else { 0 }
    }

    fn fill(&mut self, start: usize, len: usize, w: MatRef<'_, f64>) {
        let at = self.place(start);
        features(
            self.activation,
            self.x.rows(start, len),
            w,
            self.e.as_mut().subrows_mut(at, len),
        );
    }

    /// Computes the planes of all rows where they are kept.
    pub fn prepare(&mut self, w: MatRef<'_, f64>) {
        if self.keep {
            for (start, len) in self.blocks() {
                self.fill(start, len, w);
            }
        }
    }

    /// First sweep: gram += EᵀDE (lower half), rhs += EᵀDy.
    pub fn accumulate(&mut self, w: MatRef<'_, f64>) {
        use triangular::BlockStructure::{Rectangular, TriangularLower};
        self.gram.fill(0.0);
        self.rhs.fill(0.0);
        let k = self.gram.nrows();
        for (start, len) in self.blocks() {
            self.fill(start, len, w);
            let e = self
                .e
                .as_ref()
                .subrows(self.place(start), len)
                .subcols(0, k);
            let weighted = match &self.weights {
                None => e,
                Some(weights) => {
                    let mut scaled = self.scratch.as_mut().subrows_mut(0, len);
                    for l in 0..k {
                        for i in 0..len {
                            scaled[(i, l)] = weights[start + i] * e[(i, l)];
                        }
                    }
                    self.scratch.as_ref().subrows(0, len)
                }
            };
            let (gram, left) = (self.gram.as_mut(), weighted.transpose());
            triangular::matmul(
                gram,
                TriangularLower,
                Accum::Add,
                left,
                Rectangular,
                e,
                Rectangular,
                1.0,
                Par::Seq,
            );
            multiply_add(self.rhs.as_mut(), left, self.y.as_ref().subrows(start, len));
        }
    }

    /// Second sweep: residuals and loss, and with `adjoint` db += EᵀDr. The planes must be those of `w`.
    pub fn residuals(&mut self, w: MatRef<'_, f64>, mixed: MatRef<'_, f64>, adjoint: bool) {
        self.loss = 0.0;
        self.db.fill(0.0);
        let c = self.y.ncols();
        for (start, len) in self.blocks() {
            if !self.keep {
                self.fill(start, len, w);
            }
            let e = self
                .e
                .as_ref()
                .subrows(self.place(start), len)
                .subcols(0, mixed.nrows());
            let mut r = self.residual.as_mut().subrows_mut(start, len);
            multiply(r.as_mut(), e, mixed);
            let mut weighted = self.alpha.as_mut().subrows_mut(0, len);
            for o in 0..c {
                for i in 0..len {
                    let weight = weight(&self.weights, start + i);
                    r[(i, o)] -= self.y[(start + i, o)];
                    weighted[(i, o)] = weight * r[(i, o)];
                    self.loss += weighted[(i, o)] * r[(i, o)];
                }
            }
            if adjoint {
                multiply_add(
                    self.db.as_mut(),
                    e.transpose(),
                    weighted.as_ref().subcols(0, c),
                );
            }
        }
    }

    /// Third sweep: dw = this group's share of dL/dw through A.
    pub fn backward(
        &mut self,
        w: MatRef<'_, f64>,
        b: MatRef<'_, f64>,
        v: MatRef<'_, f64>,
        mixed_v: MatRef<'_, f64>,
        omega: f64,
    ) {
        self.dw.fill(0.0);
        let (n, c) = (w.nrows(), self.y.ncols());
        for (start, len) in self.blocks() {
            if !self.keep {
                self.fill(start, len, w);
            }
            let e = self.e.as_ref().subrows(self.place(start), len);
            let r = self.residual.as_ref().subrows(start, len);
            let (mut alpha, mut beta) = (
                self.alpha.as_mut().subrows_mut(0, len),
                self.beta.as_mut().subrows_mut(0, len),
            );
            matmul(
                alpha.as_mut(),
                Accum::Replace,
                e.subcols(0, mixed_v.nrows()),
                mixed_v,
                -1.0,
                Par::Seq,
            );
            for o in 0..alpha.ncols() {
                // The loss depends on Re(A b) only, so the imaginary half of 2r/Ω is zero.
                let share = if o < c { 2.0 / omega } else { 0.0 };
                for i in 0..len {
                    let weight = weight(&self.weights, start + i);
                    alpha[(i, o)] = weight * (alpha[(i, o)] + share * r[(i, o)]);
                    beta[(i, o)] = -weight * r[(i, o)];
                }
            }
            features_backward(
                self.activation,
                self.x.rows(start, len),
                e,
                (alpha.as_ref(), beta.as_ref()),
                (b, v),
                self.scratch.as_mut().submatrix_mut(0, 0, len, n),
                self.dw.as_mut(),
            );
        }
    }
}

/// The weight of row `k`.
#[inline(always)]
fn weight(weights: &Option<Vec<f64>>, k: usize) -> f64 {
    weights.as_ref().map_or(1.0, |weights| weights[k])
}

/// Cuts rows into groups whose number depends on m alone.
pub(super) fn groups(activation: Activation, rows: Rows<'_>, n: usize) -> Vec<Group> {
    let m = rows.len();
    let count = m.div_ceil(BLOCK).clamp(1, GROUPS);
    let keep = m * activation.planes(n) * size_of::<f64>() <= KEEP;
    (0..count)
        .map(|g| {
            let (start, end) = (g * m / count, (g + 1) * m / count);
            Group::new(activation, rows.slice(start, end - start), n, keep)
        })
        .collect()
}
