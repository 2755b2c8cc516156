//! The objective L(w) + λR(w) with b = b(w), its value and its exact gradient (paper eqs. `L_von_w`, `L_reg`).
//!
//! Dimensions: `m` samples, `d` inputs, `n` width, `c` outputs, `k` = columns of E. One evaluation is three
//! sweeps over the rows, each followed by one sum over the groups of rows (and, one day, over ranks):
//!
//! 1. E, then \[EᵀDE | EᵀDy\]; factor S, solve b.
//! 2. r = Re(A b) − y, then \[loss | g_b = (2/Ω) AᴴDr + λ dR/db\]; solve v = S⁻¹ g_b.
//! 3. α = D((2/Ω) r − A v), β = D(y − A b), dA = α bᴴ + β vᴴ of rank 2c, then dW = dtᵀX + λ dR/dw.
//!
//! The only O(m n²) work is the Gram matrix. Rows live in groups whose number depends on m alone, and the sums
//! run over groups in their order: the result is the same for any number of threads. Nothing here allocates
//! after construction.

use crate::data::rows::Rows;
use crate::math::random::Stream;
use crate::network::features::{conjugate, features, features_backward, mix, pad, parts};
use crate::network::variation::{self, Variation};
use crate::solve::normal::{NormalEquations, Ridge};
use crate::train::timing::{Laps, Part};
use crate::{Activation, Result};
use faer::linalg::matmul::{matmul, triangular};
use faer::{Accum, Mat, MatMut, MatRef, Par};
use rayon::prelude::*;
use std::time::Instant;

mod joint;

pub use joint::Joint;

/// Rows per block: 256 rows of 200 planes are 400 KiB, which a second-level cache holds.
const BLOCK: usize = 256;
/// Most groups of rows; each has its own Gram matrix.
const GROUPS: usize = 16;
/// Planes of all rows are kept between sweeps up to this many bytes, and computed again beyond.
const KEEP: usize = 32 << 20;

/// The value of the objective, by its parts.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Loss {
    /// Mean squared error over the rows, summed over outputs.
    pub data: f64,
    /// R(w), zero where λ = 0.
    pub variation: f64,
    /// data + λ · variation.
    pub total: f64,
}

/// A group of rows with its planes, residuals and partial sums.
pub(crate) struct Group {
    activation: Activation,
    x: Mat<f64>,
    y: Mat<f64>,
    weights: Option<Vec<f64>>,
    /// Planes: of all rows if kept, else of the block at work.
    e: Mat<f64>,
    keep: bool,
    /// \[Re(A b) − y | Im(A b)\] of all rows.
    residual: Mat<f64>,
    alpha: Mat<f64>,
    beta: Mat<f64>,
    /// D E of a block where there are weights, and dt in the third sweep.
    scratch: Mat<f64>,
    gram: Mat<f64>,
    rhs: Mat<f64>,
    db: Mat<f64>,
    dw: Mat<f64>,
    loss: f64,
}

impl Group {
    fn new(activation: Activation, rows: Rows<'_>, n: usize, keep: bool) -> Self {
        let (m, c, k) = (rows.x.nrows(), rows.y.ncols(), activation.columns(n));
        let block = m.min(BLOCK);
        Group {
            activation,
            x: pad(activation, rows.x),
            y: rows.y.to_owned(),
            weights: rows.weights.map(<[f64]>::to_vec),
            e: Mat::zeros(if keep { m } else { block }, activation.planes(n)),
            keep,
            residual: Mat::zeros(m, parts(activation) * c),
            alpha: Mat::zeros(block, parts(activation) * c),
            beta: Mat::zeros(block, parts(activation) * c),
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
        let m = self.x.nrows();
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
            self.x.as_ref().subrows(start, len),
            w,
            self.e.as_mut().subrows_mut(at, len),
        );
    }

    /// Computes the planes of all rows where they are kept.
    fn prepare(&mut self, w: MatRef<'_, f64>) {
        if self.keep {
            for (start, len) in self.blocks() {
                self.fill(start, len, w);
            }
        }
    }

    /// First sweep: gram += EᵀDE (lower half), rhs += EᵀDy.
    fn accumulate(&mut self, w: MatRef<'_, f64>) {
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
            matmul(
                self.rhs.as_mut(),
                Accum::Add,
                left,
                self.y.as_ref().subrows(start, len),
                1.0,
                Par::Seq,
            );
        }
    }

    /// Second sweep: residuals and loss, and with `adjoint` db += EᵀDr. The planes must be those of `w`.
    fn residuals(&mut self, w: MatRef<'_, f64>, mixed: MatRef<'_, f64>, adjoint: bool) {
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
            matmul(r.as_mut(), Accum::Replace, e, mixed, 1.0, Par::Seq);
            let mut weighted = self.alpha.as_mut().subrows_mut(0, len);
            for o in 0..c {
                for i in 0..len {
                    let weight = self
                        .weights
                        .as_ref()
                        .map_or(1.0, |weights| weights[start + i]);
                    r[(i, o)] -= self.y[(start + i, o)];
                    weighted[(i, o)] = weight * r[(i, o)];
                    self.loss += weighted[(i, o)] * r[(i, o)];
                }
            }
            if adjoint {
                matmul(
                    self.db.as_mut(),
                    Accum::Add,
                    e.transpose(),
                    weighted.as_ref().subcols(0, c),
                    1.0,
                    Par::Seq,
                );
            }
        }
    }

    /// Third sweep: dw = this group's share of dL/dw through A.
    fn backward(
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
                // The loss sees Re(A b) only, so the imaginary half of 2r/Ω is zero.
                let share = if o < c { 2.0 / omega } else { 0.0 };
                for i in 0..len {
                    let weight = self
                        .weights
                        .as_ref()
                        .map_or(1.0, |weights| weights[start + i]);
                    alpha[(i, o)] = weight * (alpha[(i, o)] + share * r[(i, o)]);
                    beta[(i, o)] = -weight * r[(i, o)];
                }
            }
            features_backward(
                self.activation,
                self.x.as_ref().subrows(start, len),
                e,
                (alpha.as_ref(), beta.as_ref()),
                (b, v),
                self.scratch.as_mut().submatrix_mut(0, 0, len, n),
                self.dw.as_mut(),
            );
        }
    }
}

/// Cuts rows (x not padded) into groups whose number depends on m alone.
fn groups(activation: Activation, rows: Rows<'_>, n: usize) -> Vec<Group> {
    let m = rows.len();
    let count = m.div_ceil(BLOCK).clamp(1, GROUPS);
    let keep = m * activation.planes(n) * size_of::<f64>() <= KEEP;
    (0..count)
        .map(|g| {
            let (start, end) = (g * m / count, (g + 1) * m / count);
            let part = Rows {
                x: rows.x.subrows(start, end - start),
                y: rows.y.subrows(start, end - start),
                weights: rows.weights.map(|weights| &weights[start..end]),
            };
            Group::new(activation, part, n, keep)
        })
        .collect()
}

/// λR(w) as a term of the objective.
struct Regulariser {
    lambda: f64,
    norm: Variation,
    points: usize,
    low: Vec<f64>,
    high: Vec<f64>,
    blocks: Vec<variation::Block>,
}

/// L(w) + λR(w) over a fixed set of rows.
pub(crate) struct Objective {
    activation: Activation,
    ridge: Ridge,
    omega: f64,
    groups: Vec<Group>,
    regulariser: Option<Regulariser>,
    gram: Mat<f64>,
    /// b(w) of the last evaluation, as planes (k × c).
    pub b: Mat<f64>,
    v: Mat<f64>,
    mixed: Mat<f64>,
    /// The factor of S of the last evaluation.
    pub normal: NormalEquations,
    /// Time spent so far.
    pub laps: Laps,
}

impl Objective {
    /// An objective over `rows` for `n` neurons, without regulariser.
    pub fn new(activation: Activation, ridge: Ridge, rows: Rows<'_>, n: usize) -> Self {
        let (c, k) = (rows.y.ncols(), activation.columns(n));
        Objective {
            activation,
            ridge,
            omega: rows.total_weight(),
            groups: groups(activation, rows, n),
            regulariser: None,
            gram: Mat::zeros(k, k),
            b: Mat::zeros(k, c),
            v: Mat::zeros(k, c),
            mixed: Mat::zeros(k, parts(activation) * c),
            normal: NormalEquations::new(activation, n, c),
            laps: Laps::default(),
        }
    }

    /// Adds λR(w), sampled at `points` points in the bounding box of `x` (m × d).
    pub fn regularised(
        mut self,
        lambda: f64,
        norm: Variation,
        points: usize,
        x: MatRef<'_, f64>,
    ) -> Self {
        let (d, n) = (x.ncols(), self.groups[0].dw.nrows());
        let bound = |j: usize, pick: fn(f64, f64) -> f64| {
            (0..x.nrows())
                .map(|k| x[(k, j)])
                .reduce(pick)
                .unwrap_or(0.0)
        };
        self.regulariser = (lambda > 0.0).then(|| Regulariser {
            lambda,
            norm,
            points,
            low: (0..d).map(|j| bound(j, f64::min)).collect(),
            high: (0..d).map(|j| bound(j, f64::max)).collect(),
            blocks: variation::blocks(self.activation, points, d, n, self.b.ncols()),
        });
        self
    }

    /// Whether fresh points are wanted before each evaluation.
    pub fn wants_points(&self) -> bool {
        self.regulariser.is_some()
    }

    /// Draws fresh points for the regulariser.
    pub fn scatter(&mut self, rng: &mut Stream) {
        if let Some(r) = &mut self.regulariser {
            variation::scatter(&mut r.blocks, &r.low, &r.high, rng);
        }
    }

    /// Sets the regulariser's points by hand, for golden values and finite differences.
    #[cfg(test)]
    pub fn place(&mut self, points: MatRef<'_, f64>) {
        let mut start = 0;
        for block in self.regulariser.iter_mut().flat_map(|r| &mut r.blocks) {
            start += block.place(points.subrows(start, points.nrows() - start));
        }
    }

    /// Solves b(w) for w (n × d′).
    pub fn solve(&mut self, w: MatRef<'_, f64>) -> Result<()> {
        let mut clock = Instant::now();
        self.groups
            .par_iter_mut()
            .for_each(|rows| rows.accumulate(w));
        self.gram.fill(0.0);
        self.b.fill(0.0);
        for rows in &self.groups {
            add_lower(self.gram.as_mut(), rows.gram.as_ref());
            self.b += &rows.rhs;
        }
        conjugate(self.activation, self.b.as_mut());
        self.laps.lap(Part::Gram, &mut clock);
        self.normal.factor(self.gram.as_ref(), self.ridge)?;
        self.normal.solve(self.b.as_mut());
        mix(self.activation, self.b.as_ref(), self.mixed.as_mut());
        self.laps.lap(Part::Solve, &mut clock);
        Ok(())
    }

    /// The objective at w, with b solved, and its gradient in `dw` (n × d′).
    pub fn gradient(&mut self, w: MatRef<'_, f64>, mut dw: MatMut<'_, f64>) -> Result<Loss> {
        self.solve(w)?;
        let loss = self.residuals(w);
        let mut clock = Instant::now();
        self.normal.solve(self.v.as_mut());
        self.laps.lap(Part::Solve, &mut clock);
        self.sweep(w, dw.as_mut());
        Ok(loss)
    }

    /// The objective at w and b, and its gradient in b at fixed w, which is left in v.
    fn residuals(&mut self, w: MatRef<'_, f64>) -> Loss {
        let mut clock = Instant::now();
        let mixed = self.mixed.as_ref();
        let (groups, regulariser, b) = (&mut self.groups, &mut self.regulariser, self.b.as_ref());
        let activation = self.activation;
        rayon::join(
            || {
                groups
                    .par_iter_mut()
                    .for_each(|rows| rows.residuals(w, mixed, true))
            },
            || {
                if let Some(r) = regulariser {
                    r.blocks
                        .par_iter_mut()
                        .for_each(|block| block.variation(activation, r.norm, w, b, r.points));
                }
            },
        );
        let mut loss = Loss::default();
        self.v.fill(0.0);
        for rows in &self.groups {
            loss.data += rows.loss / self.omega;
            add_scaled(self.v.as_mut(), 2.0 / self.omega, rows.db.as_ref());
        }
        conjugate(activation, self.v.as_mut());
        loss.total = loss.data;
        if let Some(r) = &self.regulariser {
            for block in &r.blocks {
                loss.variation += block.value;
                add_scaled(self.v.as_mut(), r.lambda, block.db.as_ref());
            }
            loss.total += r.lambda * loss.variation;
        }
        self.laps.lap(Part::Residuals, &mut clock);
        loss
    }

    /// The gradient in w at residuals, b and v as they stand.
    fn sweep(&mut self, w: MatRef<'_, f64>, mut dw: MatMut<'_, f64>) {
        let mut clock = Instant::now();
        mix(self.activation, self.v.as_ref(), self.mixed.as_mut());
        let (b, v, mixed, omega) = (
            self.b.as_ref(),
            self.v.as_ref(),
            self.mixed.as_ref(),
            self.omega,
        );
        self.groups
            .par_iter_mut()
            .for_each(|rows| rows.backward(w, b, v, mixed, omega));
        dw.fill(0.0);
        for rows in &self.groups {
            dw += &rows.dw;
        }
        if let Some(r) = &self.regulariser {
            for block in &r.blocks {
                add_scaled(dw.as_mut(), r.lambda, block.dw.as_ref());
            }
        }
        self.laps.lap(Part::Sweep, &mut clock);
    }
}

/// Mean squared error of given (w, b) on rows that take no part in the solve.
pub(crate) struct Holdout {
    activation: Activation,
    omega: f64,
    groups: Vec<Group>,
    mixed: Mat<f64>,
}

impl Holdout {
    pub fn new(activation: Activation, rows: Rows<'_>, n: usize) -> Self {
        let mixed = Mat::zeros(activation.columns(n), parts(activation) * rows.y.ncols());
        Holdout {
            activation,
            omega: rows.total_weight(),
            groups: groups(activation, rows, n),
            mixed,
        }
    }

    /// (1/Ω) Σ weight · (Re(A b) − y)², summed over outputs.
    pub fn error(&mut self, w: MatRef<'_, f64>, b: MatRef<'_, f64>) -> f64 {
        mix(self.activation, b, self.mixed.as_mut());
        let mixed = self.mixed.as_ref();
        self.groups.par_iter_mut().for_each(|rows| {
            rows.prepare(w);
            rows.residuals(w, mixed, false);
        });
        self.groups.iter().map(|rows| rows.loss).sum::<f64>() / self.omega
    }
}

/// sum += part on the lower triangle.
fn add_lower(mut sum: MatMut<'_, f64>, part: MatRef<'_, f64>) {
    for j in 0..sum.ncols() {
        let (sum, part) = (
            crate::math::columns::column_mut(sum.as_mut(), j),
            crate::math::columns::column(part, j),
        );
        for (sum, &part) in sum[j..].iter_mut().zip(&part[j..]) {
            *sum += part;
        }
    }
}

/// sum += factor · part, without the temporary that faer's operators would make.
fn add_scaled(mut sum: MatMut<'_, f64>, factor: f64, part: MatRef<'_, f64>) {
    for j in 0..sum.ncols() {
        let (sum, part) = (
            crate::math::columns::column_mut(sum.as_mut(), j),
            crate::math::columns::column(part, j),
        );
        for (sum, &part) in sum.iter_mut().zip(part) {
            *sum += factor * part;
        }
    }
}
