//! Ridge solutions of one triangle for many damping strengths: the steps of Levenberg-Marquardt.
//!
//! Dimensions: R is k × k, upper triangular. \[R; √μ I\] consists of two triangles, and so is factored without a
//! normal matrix, on one thread.

use crate::math::columns::{column, column_mut};
use crate::solve::householder::triangle_product;
use crate::solve::tsqr_triangle::eliminate;
use faer::linalg::triangular_solve::{
    solve_lower_triangular_in_place, solve_upper_triangular_in_place,
};
use faer::{Mat, MatRef, Par};

/// Solves min |R z + g|² + μ|z|² for one R and as many μ as are asked for.
///
/// The rows √μ·I fill in only above the diagonal while R is eliminated, so one solve costs (2/3) k³ operations
/// instead of the (10/3) k³ of a QR of the stacked matrix.
pub(crate) struct Damped {
    /// R with g as its last column, k × (k + 1).
    r: Mat<f64>,
    /// The triangle in progress, k × (k + 1).
    out: Mat<f64>,
    /// The filled rows √μ·I, k × (k + 1).
    fill: Mat<f64>,
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
            fill: Mat::zeros(k, k + 1),
        }
    }

    /// z = −(RᵀR + μI)⁻¹Rᵀg, from the QR of [R; √μ I].
    pub(crate) fn solve(&mut self, mu: f64) -> Mat<f64> {
        let k = self.r.nrows();
        self.out.copy_from(&self.r);
        self.fill.fill(0.0);
        (0..k).for_each(|i| self.fill[(i, i)] = mu.sqrt());
        eliminate(self.out.as_mut(), self.fill.as_mut(), |_, end| end);
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
