//! The regulariser R(w) = mean over s points of ‖∇f(p_j)‖_q^p and its exact gradient (paper §3.4, eq. `L_reg`).
//!
//! Dimensions: `s` points in blocks, `d` inputs, `n` width, `c` outputs, `k` columns of E. With
//! u_j = Re Σ_l b_l Φ′(t_jl)/n · w_l the inner gradient, σ_j = dR/du_j and e_jl = ⟨σ_j, w_l⟩:
//!
//! dR/db_l = Σ_j e_jl conj(Φ′)/n,  dR/dw_l = Σ_j Re(b_l Φ′/n) σ_j + Σ_j Re(b_l Φ″/n) e_jl p_j.
//!
//! The padded coordinate is not an input: σ is zero there. This file does not choose the box of the points and does not
//! know how b depends on w; `train::objective` does.

use crate::Activation;
use crate::math::columns::{column, column_mut};
use crate::math::dot::dot_in_lanes;
use crate::math::elementary::vectorised;
use crate::math::fma::Fma;
use crate::math::product::{multiply, multiply_add};
use crate::math::random::Stream;
use crate::network::features::{Padded, features};
use crate::network::planes::{real_planes, slopes};
use faer::reborrow::ReborrowMut;
use faer::{Mat, MatMut, MatRef};
use rand::RngExt;
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;

/// Which norm of the gradient is averaged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Variation {
    /// (p,q) = (1,1): anisotropic total variation, as in the paper.
    #[default]
    Anisotropic,
    /// (p,q) = (1,2): isotropic total variation.
    Isotropic,
    /// (p,q) = (2,2): Dirichlet energy.
    Dirichlet,
}

impl Variation {
    /// Every choice, for grids.
    pub const ALL: [Variation; 3] = [
        Variation::Anisotropic,
        Variation::Isotropic,
        Variation::Dirichlet,
    ];

    /// ‖u‖_q^p of row `j` of `u` (rows × d), which is overwritten by its derivative times `weight`.
    fn norm_backward(self, mut u: MatMut<'_, f64>, j: usize, weight: f64) -> f64 {
        let d = u.ncols();
        match self {
            Variation::Anisotropic => (0..d)
                .map(|i| {
                    let v = u[(j, i)];
                    u[(j, i)] = if v == 0.0 { 0.0 } else { weight.copysign(v) };
                    v.abs()
                })
                .sum(),
            Variation::Isotropic => {
                let norm = (0..d).map(|i| u[(j, i)] * u[(j, i)]).sum::<f64>().sqrt();
                let scale = if norm == 0.0 { 0.0 } else { weight / norm };
                (0..d).for_each(|i| u[(j, i)] *= scale);
                norm
            }
            Variation::Dirichlet => (0..d)
                .map(|i| {
                    let v = u[(j, i)];
                    u[(j, i)] = 2.0 * v * weight;
                    v * v
                })
                .sum(),
        }
    }
}

/// Points per block; a block's planes stay in the second-level cache.
const BLOCK: usize = 128;

/// A block of sample points with everything their share of R and of its gradient needs.
pub(crate) struct Block {
    points: Padded,
    e: Mat<f64>,
    /// Re(b_l Φ′)/n.
    slope: Mat<f64>,
    /// e_jl, then Re(b_l Φ″)/n · e_jl.
    inner: Mat<f64>,
    /// u, then σ.
    u: Mat<f64>,
    /// This block's share of R.
    pub value: f64,
    /// This block's share of dR/db at fixed w (k × c).
    pub db: Mat<f64>,
    /// This block's share of dR/dw at fixed b (n × d′).
    pub dw: Mat<f64>,
}

/// Blocks for `s` points in `d` inputs.
pub(crate) fn blocks(activation: Activation, s: usize, d: usize, n: usize, c: usize) -> Vec<Block> {
    let count = s.div_ceil(BLOCK);
    (0..count)
        .map(|i| {
            let rows = (i + 1) * s / count - i * s / count;
            Block {
                points: Padded::new(activation, Mat::zeros(rows, d).as_ref()),
                e: Mat::zeros(rows, activation.planes(n)),
                slope: Mat::zeros(rows, n),
                inner: Mat::zeros(rows, n),
                u: Mat::zeros(rows, d),
                value: 0.0,
                db: Mat::zeros(activation.columns(n), c),
                dw: Mat::zeros(n, activation.weights(d)),
            }
        })
        .collect()
}

/// Draws fresh points, uniform in the box `domain` (d pairs of low and high).
pub(crate) fn scatter(blocks: &mut [Block], domain: &[[f64; 2]], rng: &mut Stream) {
    for block in blocks {
        for (j, &[low, high]) in domain.iter().enumerate() {
            for p in block.points.input_mut(j) {
                *p = low + (high - low) * rng.random::<f64>();
            }
        }
    }
}

impl Block {
    /// Takes this block's points from the first rows of `points` (rows × d) and returns how many it took.
    #[cfg(test)]
    pub fn place(&mut self, points: MatRef<'_, f64>) -> usize {
        let (d, rows) = (self.u.ncols(), self.u.nrows());
        for j in 0..d {
            let from = points.col(j).subrows(0, rows);
            let to = self.points.input_mut(j).iter_mut();
            to.zip(from.iter()).for_each(|(to, &from)| *to = from);
        }
        rows
    }

    /// Computes value, db and dw of this block for given w (n × d′) and b (k × c); `s` counts all points.
    pub fn variation(
        &mut self,
        activation: Activation,
        norm: Variation,
        w: MatRef<'_, f64>,
        b: MatRef<'_, f64>,
        s: usize,
    ) {
        let (d, rows) = (self.u.ncols(), self.u.nrows());
        let inputs = w.subcols(0, d);
        features(activation, self.points.as_ref(), w, self.e.as_mut());
        self.value = 0.0;
        self.db.fill(0.0);
        self.dw.fill(0.0);
        for o in 0..b.ncols() {
            slopes(activation, self.e.as_ref(), b, o, self.slope.as_mut());
            multiply(self.u.as_mut(), self.slope.as_ref(), inputs);
            self.value += (0..rows)
                .map(|j| norm.norm_backward(self.u.as_mut(), j, 1.0 / s as f64))
                .sum::<f64>();
            multiply(self.inner.as_mut(), self.u.as_ref(), inputs.transpose());
            let direct = self.dw.as_mut().subcols_mut(0, d);
            multiply_add(direct, self.slope.transpose(), self.u.as_ref());
            slopes_backward(
                activation,
                self.e.as_ref(),
                b,
                o,
                self.inner.as_mut(),
                self.db.as_mut(),
            );
            multiply_add(
                self.dw.as_mut(),
                self.inner.transpose(),
                self.points.as_ref().matrix(),
            );
        }
        self.value /= s as f64;
    }
}

/// Adds Σ_j e_jl conj(Φ′)/n to `db` and turns `inner` from e_jl into Re(b_l Φ″)/n · e_jl.
fn slopes_backward(
    activation: Activation,
    e: MatRef<'_, f64>,
    b: MatRef<'_, f64>,
    o: usize,
    mut inner: MatMut<'_, f64>,
    mut db: MatMut<'_, f64>,
) {
    let n = inner.ncols();
    vectorised(
        #[inline(always)]
        || {
            for l in 0..n {
                let inner = column_mut(inner.rb_mut(), l);
                if activation.is_complex() {
                    let (cos, sin) = (column(e, l), column(e, n + l));
                    db[(l, o)] -= 2.0 * PI * dot_in_lanes::<8>(inner, sin);
                    db[(n + l, o)] -= 2.0 * PI * dot_in_lanes::<8>(inner, cos);
                    let (re, im) = (-4.0 * PI * PI * b[(l, o)], 4.0 * PI * PI * b[(n + l, o)]);
                    for ((inner, &cos), &sin) in inner.iter_mut().zip(cos).zip(sin) {
                        *inner *= re.fma(cos, im * sin);
                    }
                } else {
                    let (phi, sine) = real_planes(activation, e, n, l);
                    let mut total = 0.0;
                    for ((inner, &phi), &sine) in inner.iter_mut().zip(phi).zip(sine) {
                        let (first, second) = activation.derivatives(phi, sine, n as f64);
                        total += *inner * first;
                        *inner *= b[(l, o)] * second;
                    }
                    db[(l, o)] += total;
                }
            }
        },
    );
}
