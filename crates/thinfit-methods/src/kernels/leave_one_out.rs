//! Leave-one-out errors of kernel ridge regression in closed form, for many ridges at once.
//!
//! With one decomposition K = U diag(s) Uᵀ per kernel, the error at row i of the fit without it costs O(m²) for every
//! λ:
//!
//! ```text
//! α_i / ((K + λI)⁻¹)_ii        α = U diag(1/(s + λ)) Uᵀ y,   ((K + λI)⁻¹)_ii = Σ_k U_ik²/(s_k + λ)
//! ```
//!
//! Dimensions: `m` samples, `c` outputs.

use crate::networks::least_squares::times;
use faer::diag::Diag;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::{Mat, MatRef, Par};

/// Mean squared leave-one-out errors, for every λ a list over outputs; infinite if the decomposition fails.
pub(crate) fn leave_one_out(
    gram: MatRef<'_, f64>,
    y: MatRef<'_, f64>,
    lambdas: &[f64],
) -> Vec<Vec<f64>> {
    let (m, c) = (y.nrows(), y.ncols());
    let (mut u, mut s) = (Mat::zeros(m, m), Diag::zeros(m));
    let scratch =
        self_adjoint_evd_scratch::<f64>(m, ComputeEigenvectors::Yes, Par::Seq, Default::default());
    let done = self_adjoint_evd(
        gram,
        s.as_mut(),
        Some(u.as_mut()),
        Par::Seq,
        MemStack::new(&mut MemBuffer::new(scratch)),
        Default::default(),
    );
    if done.is_err() {
        return vec![vec![f64::INFINITY; c]; lambdas.len()];
    }
    let s = s.column_vector();
    let squared = Mat::from_fn(m, m, |i, k| u[(i, k)] * u[(i, k)]);
    let rotated = times(u.transpose(), y);
    // Eigenvalues are only accurate to this; below it, a zero ridge would divide by rounding errors.
    let floor = m as f64 * f64::EPSILON * s.iter().fold(0.0, |a: f64, v| a.max(*v));
    // All ridges at once: each block of c columns belongs to one λ.
    let shrink = |k: usize, l: usize| 1.0 / (s[k].max(0.0) + lambdas[l]).max(floor);
    let shrunk = Mat::from_fn(m, lambdas.len(), shrink);
    let diagonal = times(squared.as_ref(), shrunk.as_ref());
    let shrunk = Mat::from_fn(m, lambdas.len() * c, |k, at| {
        shrink(k, at / c) * rotated[(k, at % c)]
    });
    let alpha = times(u.as_ref(), shrunk.as_ref());
    let error = |l: usize, o: usize| {
        let terms = (0..m).map(|i| (alpha[(i, l * c + o)] / diagonal[(i, l)]).powi(2));
        terms.sum::<f64>() / m as f64
    };
    (0..lambdas.len())
        .map(|l| (0..c).map(|o| error(l, o)).collect())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::cholesky::{factor, solve};
    use crate::kernels::kernel::tests::random;
    use crate::{Kernel, Shape};

    #[test]
    fn the_closed_form_gives_the_errors_of_fits_without_a_row() {
        let (m, c, lambdas) = (25, 2, [1e-6, 1e-2]);
        let (x, y) = (random(m, 2, 1), random(m, c, 2));
        let kernel = Kernel::single(Shape::Gaussian, vec![0.4; 2]);
        let errors = leave_one_out(kernel.gram(x.as_ref()).as_ref(), y.as_ref(), &lambdas);
        for (lambda, errors) in lambdas.into_iter().zip(errors) {
            let mut expected = vec![0.0; c];
            for i in 0..m {
                let rest = |a: &Mat<f64>| {
                    Mat::from_fn(m - 1, a.ncols(), |k, j| a[(k + usize::from(k >= i), j)])
                };
                let (x_rest, y_rest) = (rest(&x), rest(&y));
                let l = factor(kernel.gram(x_rest.as_ref()).as_ref(), lambda, Par::Seq)
                    .unwrap()
                    .l;
                let alpha = solve(l.as_ref(), y_rest.as_ref());
                let f = kernel.cross(x.subrows(i, 1), x_rest.as_ref()) * &alpha;
                (0..c).for_each(|o| expected[o] += (f[(0, o)] - y[(i, o)]).powi(2) / m as f64);
            }
            for (error, expected) in errors.iter().zip(expected) {
                assert!((error / expected - 1.0).abs() < 1e-7);
            }
        }
    }
}
