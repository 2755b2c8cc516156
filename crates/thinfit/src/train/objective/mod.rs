//! The objective L(w) + λR(w) with b = b(w), its value and its exact gradient (paper eqs. `L_von_w`, `L_reg`).
//!
//! Dimensions: `m` samples, `d` inputs, `n` width, `c` outputs, `k` = columns of E. One evaluation is three
//! sweeps over the rows, each followed by one sum over the groups of rows:
//!
//! 1. E, then \[EᵀDE | EᵀDy\]; factor S, solve b.
//! 2. r = Re(A b) − y, then \[loss | g_b = (2/Ω) AᴴDr + λ dR/db\]; solve v = S⁻¹ g_b.
//! 3. α = D((2/Ω) r − A v), β = D(y − A b), dA = α bᴴ + β vᴴ of rank 2c, then dW = dtᵀX + λ dR/dw.
//!
//! The only O(m n²) work is the Gram matrix. Rows live in groups whose number depends on m alone, and the sums
//! run over groups in their order: the result is the same for any number of threads. Nothing here allocates
//! after construction.

mod group;
mod joint;

pub use joint::Joint;

use super::timing::{Stage, Timing};
use crate::clock::Instant;
use crate::data::rows::Rows;
use crate::math::columns::{column, column_mut};
use crate::math::random::Stream;
use crate::network::planes::{conjugate, mix};
use crate::network::variation::{self, Variation};
use crate::solve::normal::NormalEquations;
use crate::{Activation, Dataset, Network, Result, Ridge};
use faer::reborrow::ReborrowMut;
use faer::{Mat, MatMut, MatRef};
use group::{Group, groups};
use rayon::prelude::*;

/// The network of these hidden weights (n × d′) as a training step sees it: b by the normal equations on `data`, in the units
/// that it is given in. A preview of a running fit; the final weights are solved more accurately.
///
/// # Errors
/// Numbers that are no longer finite.
pub fn glance(
    data: &Dataset,
    activation: Activation,
    ridge: Ridge,
    hidden: Mat<f64>,
) -> Result<Network> {
    let (rows, n) = (Rows::of(data), hidden.nrows());
    let mut objective = Objective::new(activation, ridge, rows, n);
    objective.solve(hidden.as_ref())?;
    Ok(Network {
        activation,
        output: objective.b,
        hidden,
    })
}

/// The value of the objective, by its terms.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Loss {
    /// Mean squared error over the rows, summed over outputs.
    pub data: f64,
    /// R(w), zero where λ = 0.
    pub variation: f64,
    /// data + λ · variation.
    pub total: f64,
}

/// λR(w) as a term of the objective.
struct Regulariser {
    lambda: f64,
    norm: Variation,
    points: usize,
    /// The box that the points lie in, d pairs.
    domain: Vec<[f64; 2]>,
    blocks: Vec<variation::Block>,
}

/// L(w) + λR(w) over a fixed set of rows.
pub(crate) struct Objective {
    pub activation: Activation,
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
    pub timing: Timing,
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
            mixed: Mat::zeros(k, activation.components() * c),
            normal: NormalEquations::new(activation, n, c),
            timing: Timing::default(),
        }
    }

    /// Adds λR(w), sampled at `points` points in the box `domain` (d pairs).
    pub fn regularised(
        mut self,
        lambda: f64,
        norm: Variation,
        points: usize,
        domain: Vec<[f64; 2]>,
    ) -> Self {
        let (d, n) = (domain.len(), self.groups[0].dw.nrows());
        self.regulariser = (lambda > 0.0).then(|| Regulariser {
            lambda,
            norm,
            points,
            domain,
            blocks: variation::blocks(self.activation, points, d, n, self.b.ncols()),
        });
        self
    }

    /// Whether each evaluation needs fresh points.
    pub fn wants_points(&self) -> bool {
        self.regulariser.is_some()
    }

    /// Draws fresh points for the regulariser.
    pub fn scatter(&mut self, rng: &mut Stream) {
        if let Some(r) = &mut self.regulariser {
            variation::scatter(&mut r.blocks, &r.domain, rng);
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
            .for_each(|group| group.accumulate(w));
        self.gram.fill(0.0);
        self.b.fill(0.0);
        for group in &self.groups {
            add_lower(self.gram.as_mut(), group.gram.as_ref());
            add_scaled(self.b.as_mut(), 1.0, group.rhs.as_ref());
        }
        conjugate(self.activation, self.b.as_mut());
        self.timing.add(Stage::Gram, &mut clock);
        self.normal.factor(self.gram.as_ref(), self.ridge)?;
        self.normal.solve(self.b.as_mut());
        mix(self.activation, self.b.as_ref(), self.mixed.as_mut());
        self.timing.add(Stage::Solve, &mut clock);
        Ok(())
    }

    /// The objective at w, with b solved, and its gradient in `dw` (n × d′).
    pub fn gradient(&mut self, w: MatRef<'_, f64>, dw: MatMut<'_, f64>) -> Result<Loss> {
        self.solve(w)?;
        let loss = self.residuals(w);
        let mut clock = Instant::now();
        self.normal.solve(self.v.as_mut());
        self.timing.add(Stage::Solve, &mut clock);
        self.sweep(w, dw);
        Ok(loss)
    }

    /// The objective at w and b, and its gradient in b at fixed w, which is left in v.
    fn residuals(&mut self, w: MatRef<'_, f64>) -> Loss {
        let mut clock = Instant::now();
        let (activation, omega) = (self.activation, self.omega);
        let (groups, regulariser) = (&mut self.groups, &mut self.regulariser);
        let (b, mixed) = (self.b.as_ref(), self.mixed.as_ref());
        rayon::join(
            || {
                groups.par_iter_mut().for_each(|group| {
                    group.residuals(w, mixed, true);
                    group.loss /= omega;
                })
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
        loss.data = total_loss(&self.groups);
        loss.total = loss.data;
        self.v.fill(0.0);
        for group in &self.groups {
            add_scaled(self.v.as_mut(), 2.0 / omega, group.db.as_ref());
        }
        conjugate(activation, self.v.as_mut());
        if let Some(r) = &self.regulariser {
            for block in &r.blocks {
                loss.variation += block.value;
                add_scaled(self.v.as_mut(), r.lambda, block.db.as_ref());
            }
            loss.total += r.lambda * loss.variation;
        }
        self.timing.add(Stage::Residuals, &mut clock);
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
            .for_each(|group| group.backward(w, b, v, mixed, omega));
        dw.fill(0.0);
        for group in &self.groups {
            add_scaled(dw.rb_mut(), 1.0, group.dw.as_ref());
        }
        if let Some(r) = &self.regulariser {
            for block in &r.blocks {
                add_scaled(dw.rb_mut(), r.lambda, block.dw.as_ref());
            }
        }
        self.timing.add(Stage::Sweep, &mut clock);
    }
}

/// The error of given weights on other rows.
pub(crate) struct Holdout {
    activation: Activation,
    omega: f64,
    groups: Vec<Group>,
    mixed: Mat<f64>,
}

impl Holdout {
    /// Room to evaluate `n` neurons on `rows`.
    pub fn new(activation: Activation, rows: Rows<'_>, n: usize) -> Self {
        let columns = activation.components() * rows.y.ncols();
        Holdout {
            activation,
            omega: rows.total_weight(),
            groups: groups(activation, rows, n),
            mixed: Mat::zeros(activation.columns(n), columns),
        }
    }

    /// (1/Ω) Σ weight · (Re(A b) − y)², summed over outputs.
    pub fn error(&mut self, w: MatRef<'_, f64>, b: MatRef<'_, f64>) -> f64 {
        mix(self.activation, b, self.mixed.as_mut());
        let mixed = self.mixed.as_ref();
        self.groups.par_iter_mut().for_each(|group| {
            group.prepare(w);
            group.residuals(w, mixed, false);
        });
        total_loss(&self.groups) / self.omega
    }
}

/// The losses of the groups, in their order.
fn total_loss(groups: &[Group]) -> f64 {
    groups.iter().fold(0.0, |total, group| total + group.loss)
}

/// total += factor · part, without the temporary that faer's operators would make.
fn add_scaled(mut total: MatMut<'_, f64>, factor: f64, part: MatRef<'_, f64>) {
    for j in 0..total.ncols() {
        let total = column_mut(total.rb_mut(), j).iter_mut();
        for (total, part) in total.zip(column(part, j)) {
            *total += factor * part;
        }
    }
}

/// total += part, on and below the diagonal.
fn add_lower(mut total: MatMut<'_, f64>, part: MatRef<'_, f64>) {
    for j in 0..total.ncols() {
        let total = column_mut(total.rb_mut(), j)[j..].iter_mut();
        for (total, part) in total.zip(&column(part, j)[j..]) {
            *total += part;
        }
    }
}
