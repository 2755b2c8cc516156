//! Held-out errors of kernel ridge regression for many ridges at once: leave-one-out in closed form, or by folds.
//!
//! With one decomposition K = U diag(s) Uᵀ per kernel, the error at row i of the fit without it costs O(m²) for every
//! λ:
//!
//! ```text
//! α_i / ((K + λI)⁻¹)_ii        α = U diag(1/(s + λ)) Uᵀ y,   ((K + λI)⁻¹)_ii = Σ_k U_ik²/(s_k + λ)
//! ```
//!
//! Dimensions: `m` samples, `c` outputs.

use faer::diag::Diag;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::{Mat, MatRef, Par};
use thinfit::pieces::product;

/// K = U diag(s) Uᵀ.
struct Decomposed {
    u: Mat<f64>,
    s: Diag<f64>,
}

impl Decomposed {
    /// Of a matrix K, of which the lower triangle is read; none if the decomposition fails.
    fn new(gram: MatRef<'_, f64>) -> Option<Self> {
        let m = gram.nrows();
        let (mut u, mut s) = (Mat::zeros(m, m), Diag::zeros(m));
        let vectors = ComputeEigenvectors::Yes;
        let scratch = self_adjoint_evd_scratch::<f64>(m, vectors, Par::Seq, Default::default());
        let done = self_adjoint_evd(
            gram,
            s.as_mut(),
            Some(u.as_mut()),
            Par::Seq,
            MemStack::new(&mut MemBuffer::new(scratch)),
            Default::default(),
        );
        done.ok().map(|()| Decomposed { u, s })
    }

    /// 1/(s + λ) for every eigenvalue and ridge (m × ridges).
    fn shrunk(&self, lambdas: &[f64]) -> Mat<f64> {
        let s = self.s.column_vector();
        // Eigenvalues are only accurate to this; below it, a zero ridge would divide by rounding errors.
        let largest = s.iter().fold(0.0, |a: f64, v| a.max(*v));
        let floor = s.nrows() as f64 * f64::EPSILON * largest;
        let shrink = |k: usize, l: usize| 1.0 / (s[k].max(0.0) + lambdas[l]).max(floor);
        Mat::from_fn(s.nrows(), lambdas.len(), shrink)
    }

    /// α = (K + λI)⁻¹y for all ridges: each block of c columns belongs to one λ.
    fn alpha(&self, y: MatRef<'_, f64>, shrunk: &Mat<f64>) -> Mat<f64> {
        let c = y.ncols();
        let rotated = product(self.u.transpose(), y);
        let parts = Mat::from_fn(rotated.nrows(), shrunk.ncols() * c, |k, at| {
            shrunk[(k, at / c)] * rotated[(k, at % c)]
        });
        product(self.u.as_ref(), parts.as_ref())
    }
}

/// Mean squared leave-one-out errors, for every λ a list over outputs; infinite if the decomposition fails.
pub(crate) fn leave_one_out(
    gram: MatRef<'_, f64>,
    y: MatRef<'_, f64>,
    lambdas: &[f64],
) -> Vec<Vec<f64>> {
    let (m, c) = (y.nrows(), y.ncols());
    let Some(decomposed) = Decomposed::new(gram) else {
        return vec![vec![f64::INFINITY; c]; lambdas.len()];
    };
    let u = &decomposed.u;
    let squared = Mat::from_fn(m, m, |i, k| u[(i, k)] * u[(i, k)]);
    let shrunk = decomposed.shrunk(lambdas);
    let diagonal = product(squared.as_ref(), shrunk.as_ref());
    let alpha = decomposed.alpha(y, &shrunk);
    let error = |l: usize, o: usize| {
        let terms = (0..m).map(|i| (alpha[(i, l * c + o)] / diagonal[(i, l)]).powi(2));
        terms.sum::<f64>() / m as f64
    };
    (0..lambdas.len())
        .map(|l| (0..c).map(|o| error(l, o)).collect())
        .collect()
}

/// The same where the rows of each fold are predicted by the fit to those of the others; `gram` is the lower triangle of K.
pub(crate) fn by_folds(
    gram: MatRef<'_, f64>,
    y: MatRef<'_, f64>,
    lambdas: &[f64],
    folds: &[Vec<usize>],
) -> Vec<Vec<f64>> {
    let (m, c) = (y.nrows(), y.ncols());
    let k = |i: usize, j: usize| gram[(i.max(j), i.min(j))];
    let mut errors = vec![vec![0.0; c]; lambdas.len()];
    for fold in folds {
        let others: Vec<usize> = (0..m).filter(|i| fold.binary_search(i).is_err()).collect();
        let inner = Mat::from_fn(others.len(), others.len(), |i, j| k(others[i], others[j]));
        let Some(decomposed) = Decomposed::new(inner.as_ref()) else {
            return vec![vec![f64::INFINITY; c]; lambdas.len()];
        };
        let known = Mat::from_fn(others.len(), c, |i, o| y[(others[i], o)]);
        let alpha = decomposed.alpha(known.as_ref(), &decomposed.shrunk(lambdas));
        let cross = Mat::from_fn(fold.len(), others.len(), |i, j| k(fold[i], others[j]));
        let f = product(cross.as_ref(), alpha.as_ref());
        for (l, errors) in errors.iter_mut().enumerate() {
            for (o, sum) in errors.iter_mut().enumerate() {
                let squares =
                    (0..fold.len()).map(|i| (y[(fold[i], o)] - f[(i, l * c + o)]).powi(2));
                *sum += squares.sum::<f64>() / m as f64;
            }
        }
    }
    errors
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::random;
    use thinfit_gp::pieces::{factor, solve};
    use thinfit_gp::{Kernel, Shape};

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

    #[test]
    fn errors_by_folds_are_those_of_fits_to_the_other_folds() {
        let (m, c, lambda) = (24, 2, 1e-3);
        let (x, y) = (random(m, 2, 3), random(m, c, 4));
        let kernel = Kernel::single(Shape::Gaussian, vec![0.4; 2]);
        let gram = kernel.gram(x.as_ref());
        let folds: Vec<Vec<usize>> = (0..3)
            .map(|k| (0..m).filter(|i| i % 3 == k).collect())
            .collect();
        let errors = by_folds(gram.as_ref(), y.as_ref(), &[1.0, lambda], &folds);
        let mut expected = vec![0.0; c];
        for fold in &folds {
            let rest: Vec<usize> = (0..m).filter(|i| !fold.contains(i)).collect();
            let pick = |a: &Mat<f64>, rows: &[usize]| {
                Mat::from_fn(rows.len(), a.ncols(), |i, j| a[(rows[i], j)])
            };
            let inner = pick(&x, &rest);
            let l = factor(kernel.gram(inner.as_ref()).as_ref(), lambda, Par::Seq)
                .unwrap()
                .l;
            let alpha = solve(l.as_ref(), pick(&y, &rest).as_ref());
            let f = kernel.cross(pick(&x, fold).as_ref(), inner.as_ref()) * &alpha;
            let error = f - pick(&y, fold);
            (0..c).for_each(|o| expected[o] += error.col(o).squared_norm_l2() / m as f64);
        }
        for (error, expected) in errors[1].iter().zip(expected) {
            assert!((error / expected - 1.0).abs() < 1e-7);
        }
    }
}
