//! Ridge solutions of one triangle for many strengths: the steps of Levenberg-Marquardt.
//!
//! Dimensions: R is k × k, upper triangular. The QR of \[R; √μ I\] is made by the blocks of `householder`; it forms no
//! normal matrix and runs on one thread.

use crate::math::columns::{column, column_mut};
use crate::solve::householder::{BLOCK, factor_block, memory, reflect_transpose, triangle_product};
use faer::dyn_stack::MemBuffer;
use faer::linalg::triangular_solve::{
    solve_lower_triangular_in_place, solve_upper_triangular_in_place,
};
use faer::reborrow::{Reborrow, ReborrowMut};
use faer::{Mat, MatRef, Par};

/// Solves min |R z + g|² + μ|z|² for one R and as many μ as are asked for.
///
/// The rows √μ·I fill in only above the diagonal while R is eliminated, so one solve costs (2/3) k³ operations
/// instead of the (10/3) k³ of a QR of the stacked matrix.
pub(crate) struct Damped {
    /// R with g as its last column, k × (k + 1).
    r: Mat<f64>,
    /// The triangle being made, k × (k + 1).
    out: Mat<f64>,
    /// A block row of R above the filled rows √μ·I, (BLOCK + k) × (k + 1).
    fill: Mat<f64>,
    memory: MemBuffer,
}

impl Damped {
    /// Takes the upper triangle of `r` (k × k) and `g` (k entries).
    pub(crate) fn new(r: MatRef<'_, f64>, g: &[f64]) -> Damped {
        let k = g.len();
        assert!(r.nrows() == k && r.ncols() == k);
        let mut kept = Mat::zeros(k, k + 1);
        for j in 0..k {
            column_mut(kept.as_mut(), j)[..=j].copy_from_slice(&column(r, j)[..=j]);
        }
        column_mut(kept.as_mut(), k).copy_from_slice(g);
        Damped {
            out: kept.clone(),
            r: kept,
            fill: Mat::zeros(BLOCK + k, k + 1),
            memory: memory(k + 1),
        }
    }

    /// z = −(RᵀR + μI)⁻¹Rᵀg, from the QR of [R; √μ I].
    pub(crate) fn solve(&mut self, mu: f64) -> Mat<f64> {
        let k = self.r.nrows();
        let root = mu.sqrt();
        self.fill.fill(0.0);
        for i in 0..k {
            self.fill[(BLOCK + i, i)] = root;
        }
        let mut factor = Mat::zeros(BLOCK, BLOCK);
        for start in (0..k).step_by(BLOCK) {
            let width = BLOCK.min(k - start);
            let (end, tall) = (start + width, 2 * width + start);
            let columns = k + 1 - start;
            let mut active = self
                .fill
                .as_mut()
                .submatrix_mut(BLOCK - width, start, tall, columns);
            active
                .rb_mut()
                .subrows_mut(0, width)
                .copy_from(
                    self.r
                        .as_ref()
                        .submatrix(start, start, end - start, columns),
                );
            let (mut panel, mut rest) = active.split_at_col_mut(width);
            let mut t = factor.as_mut().submatrix_mut(0, 0, width, width);
            factor_block(panel.rb_mut(), t.rb_mut(), &mut self.memory);
            reflect_transpose(panel.rb(), t.rb(), rest.rb_mut(), &mut self.memory);
            let (mut done, mut right) = self
                .out
                .as_mut()
                .submatrix_mut(start, start, width, columns)
                .split_at_col_mut(width);
            done.copy_from(panel.rb().subrows(0, width));
            right.copy_from(rest.rb().subrows(0, width));
        }
        let mut z = self.out.as_ref().subcols(k, 1).to_owned();
        solve_upper_triangular_in_place(self.out.as_ref().subcols(0, k), z.as_mut(), Par::Seq);
        column_mut(z.as_mut(), 0).iter_mut().for_each(|z| *z = -*z);
        z
    }

    /// R z.
    pub(crate) fn multiply(&self, z: MatRef<'_, f64>) -> Mat<f64> {
        triangle_product(self.r.as_ref().subcols(0, self.r.nrows()), false, z)
    }

    /// (RᵀR + μI)⁻¹Rᵀg with the μ of the last [`Damped::solve`], by two triangular solves.
    ///
    /// Its error grows with the square of the condition number; good enough for a correction, not for a step.
    pub(crate) fn solve_again(&self, g: MatRef<'_, f64>) -> Mat<f64> {
        let k = self.r.nrows();
        let mut z = triangle_product(self.r.as_ref().subcols(0, k), true, g);
        let triangle = self.out.as_ref().subcols(0, k);
        solve_lower_triangular_in_place(triangle.transpose(), z.as_mut(), Par::Seq);
        solve_upper_triangular_in_place(triangle, z.as_mut(), Par::Seq);
        z
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::random::{Purpose, stream};
    use crate::solve::householder::Qr;
    use rand::RngExt;

    #[test]
    fn a_solution_satisfies_the_normal_equations() {
        let mut rng = stream(5, Purpose::Weights, 0);
        for k in [1, 5, 32, 33, 100] {
            let r = Qr::new(Mat::from_fn(k + 7, k, |_, _| rng.random::<f64>() - 0.5)).triangle();
            let g = Mat::from_fn(k, 1, |i, _| (i as f64).sin());
            let mut damped = Damped::new(r.as_ref(), g.col_as_slice(0));
            for mu in [1e-12, 1e-3, 10.0] {
                let z = damped.solve(mu);
                let gradient = r.transpose() * (&r * &z + &g) + faer::Scale(mu) * &z;
                assert!(
                    gradient.norm_max() < 1e-12 * (1.0 + z.norm_max()),
                    "k {k} mu {mu}"
                );
                let again = damped.solve_again(g.as_ref());
                let error = (&again + &z).norm_max();
                assert!(
                    error < 1e-8 * (1.0 + z.norm_max()),
                    "k {k} mu {mu}: {error:e}"
                );
            }
        }
    }
}
