//! LSQR (Paige and Saunders 1982) for complex matrices: least squares by Golub-Kahan bidiagonalisation.
//!
//! Stopping early regularises: the solution stays in the span of the first directions.

use faer::{Mat, MatRef, c64};
use thinfit::pieces::product;

/// Relative size below which the gradient Aᴴr counts as zero.
const GRADIENT: f64 = 1e-12;
/// Relative size below which the residual counts as zero.
const RESIDUAL: f64 = 1.5e-8;
/// Condition number of the bidiagonal matrix at which to stop, before digits are lost.
const CONDITION: f64 = 6.7e7;

/// Approximate argmin |A b − y|² for A (m × n) and y (m × c), column by column, by at most `iterations` steps.
pub(crate) fn lsqr(a: MatRef<'_, c64>, y: MatRef<'_, c64>, iterations: usize) -> Mat<c64> {
    let mut b = Mat::zeros(a.ncols(), y.ncols());
    for o in 0..y.ncols() {
        let solution = solve(a, y.subcols(o, 1), iterations);
        b.as_mut().subcols_mut(o, 1).copy_from(&solution);
    }
    b
}

/// Scales a vector to norm one, unless it is zero, and returns its former norm.
fn normalise(v: &mut Mat<c64>) -> f64 {
    let norm = v.norm_l2();
    if norm > 0.0 {
        *v *= faer::Scale(c64::new(1.0 / norm, 0.0));
    }
    norm
}

fn solve(a: MatRef<'_, c64>, y: MatRef<'_, c64>, iterations: usize) -> Mat<c64> {
    let real = |v: f64| faer::Scale(c64::new(v, 0.0));
    let mut x = Mat::zeros(a.ncols(), 1);
    let mut u = y.to_owned();
    let first = normalise(&mut u);
    let mut v = product(a.adjoint(), u.as_ref());
    let mut alpha = normalise(&mut v);
    let (mut w, mut phi_bar, mut rho_bar) = (v.clone(), first, alpha);
    // Squared Frobenius norms of the bidiagonal matrix and of the directions of x.
    let (mut norm, mut spread) = (0.0f64, 0.0f64);
    for _ in 0..iterations {
        if phi_bar * alpha == 0.0 {
            break;
        }
        u = product(a, v.as_ref()) - u * real(alpha);
        let beta = normalise(&mut u);
        norm += alpha * alpha + beta * beta;
        v = product(a.adjoint(), u.as_ref()) - v * real(beta);
        alpha = normalise(&mut v);
        let rho = rho_bar.hypot(beta);
        let (c, s) = (rho_bar / rho, beta / rho);
        let (theta, phi) = (s * alpha, c * phi_bar);
        rho_bar = -c * alpha;
        phi_bar *= s;
        x += &w * real(phi / rho);
        spread += (w.norm_l2() / rho).powi(2);
        w = &v - w * real(theta / rho);
        let size = norm.sqrt();
        let small = phi_bar <= RESIDUAL * first + GRADIENT * size * x.norm_l2();
        let flat = alpha * c.abs() <= GRADIENT * size;
        if small || flat || size * spread.sqrt() >= CONDITION {
            break;
        }
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::least_squares::ridge;

    #[test]
    fn enough_iterations_give_the_least_squares_solution() {
        let entry = |i: usize, j: usize| {
            let t = (1 + i * i + 5 * i * j + 3 * j) as f64;
            c64::new(t.sin(), (0.7 * t).cos())
        };
        let (a, y) = (
            Mat::from_fn(30, 6, entry),
            Mat::from_fn(30, 2, |i, j| entry(j, i)),
        );
        let direct = ridge(a.as_ref(), y.as_ref(), 0.0).unwrap().b;
        assert!((lsqr(a.as_ref(), y.as_ref(), 50) - direct).norm_max() < 1e-8);
    }

    #[test]
    fn a_zero_right_side_has_the_zero_solution() {
        let a = Mat::from_fn(4, 3, |i, j| c64::new((i + j) as f64, 1.0));
        let b = lsqr(a.as_ref(), Mat::zeros(4, 1).as_ref(), 10);
        assert_eq!(b.norm_max(), 0.0);
    }
}
