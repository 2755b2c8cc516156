//! The linear fit y ≈ Xβ + β₀: what a model has to beat before it is worth its name.

use crate::data::{Dataset, Scaler};
use crate::solve::householder::Qr;
use faer::{Mat, MatRef};

/// Ridge relative to √m: picks a solution where columns are dependent, and is negligible elsewhere.
const KAPPA: f64 = 1e-10;
/// 1 − h below which the closed form of leave-one-out is rounding.
const CLOSE: f64 = 1e-7;

/// Predictions (rows × c) at the rows of `x` by the least squares fit to `data`.
pub(crate) fn linear_fit(data: &Dataset, x: MatRef<'_, f64>) -> Mat<f64> {
    Linear::fit(data).predict(x)
}

/// Mean squared error per output when every row is predicted by the linear fit to all others, r_i/(1 − h_i) with the
/// residuals r and h_i = |row i of Q|².
pub fn linear_leave_one_out(data: &Dataset) -> Vec<f64> {
    let (m, d, c) = (data.samples(), data.dim(), data.y.ncols());
    let fit = Linear::fit(data);
    let mut error = fit.predict(data.x.as_ref()) - &data.y;
    let mut q = Mat::<f64>::identity(m + d + 1, d + 1);
    fit.qr.apply(q.as_mut());
    for i in 0..m {
        let left = 1.0 - q.row(i).squared_norm_l2();
        // The fit passes through this row whatever its value, and its residual is rounding alone.
        let alone = (left < CLOSE && m > 1).then(|| {
            let others = data.rows(&(0..m).filter(|&k| k != i).collect::<Vec<_>>());
            Linear::fit(&others).predict(data.x.as_ref().subrows(i, 1))
        });
        for o in 0..c {
            error[(i, o)] = match &alone {
                Some(f) => f[(0, o)] - data.y[(i, o)],
                None => error[(i, o)] / left.max(CLOSE),
            };
        }
    }
    (0..c)
        .map(|o| error.col(o).squared_norm_l2() / m as f64)
        .collect()
}

/// A least squares fit to scaled inputs.
struct Linear {
    scaler: Scaler,
    qr: Qr,
    /// (d + 1) × c, the constant last.
    beta: Mat<f64>,
}

impl Linear {
    fn fit(data: &Dataset) -> Self {
        let (m, d, c) = (data.samples(), data.dim(), data.y.ncols());
        // The ridge is meant for columns of order one.
        let scaler = Scaler::to_standard(data.x.as_ref());
        let x = scaler.apply(data.x.as_ref());
        let root = |i: usize| {
            data.weights
                .as_ref()
                .map_or(1.0, |weights| weights[i].sqrt())
        };
        let tau = KAPPA * (m as f64).sqrt();
        let qr = Qr::new(Mat::from_fn(m + d + 1, d + 1, |i, j| {
            match i.checked_sub(m) {
                None if j < d => root(i) * x[(i, j)],
                None => root(i),
                Some(k) => f64::from(u8::from(k == j)) * tau,
            }
        }));
        let mut beta = Mat::from_fn(m + d + 1, c, |i, o| {
            if i < m { root(i) * data.y[(i, o)] } else { 0.0 }
        });
        qr.transpose_apply(beta.as_mut());
        qr.solve(beta.as_mut().subrows_mut(0, d + 1));
        beta.truncate(d + 1, c);
        Linear { scaler, qr, beta }
    }

    fn predict(&self, x: MatRef<'_, f64>) -> Mat<f64> {
        let (x, d) = (self.scaler.apply(x), x.ncols());
        Mat::from_fn(x.nrows(), self.beta.ncols(), |i, o| {
            let sum: f64 = (0..d).map(|j| x[(i, j)] * self.beta[(j, o)]).sum();
            sum + self.beta[(d, o)]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_linear_function_is_found_even_with_a_repeated_column() {
        let x = Mat::from_fn(20, 3, |i, j| ((i * (3 + j.min(1))) % 7) as f64 / 7.0 - 0.5);
        let y = Mat::from_fn(20, 1, |i, _| 2.0 * x[(i, 0)] - x[(i, 1)] + 0.25);
        let data = Dataset::new(x.clone(), y.clone()).unwrap();
        let error = linear_fit(&data, x.as_ref()) - y;
        assert!(error.norm_max() < 1e-8);
    }

    #[test]
    fn the_closed_form_is_the_error_of_fits_that_leave_a_row_out() {
        // The second input is zero but in one row, which has it for itself.
        let x = Mat::from_fn(15, 2, |i, j| match (i, j) {
            (_, 0) => ((i * i + 3 * i) as f64).sin(),
            (4, _) => 1.0,
            _ => 0.0,
        });
        let y = Mat::from_fn(15, 2, |i, o| ((2 + i * (3 + o)) as f64).cos());
        let data = Dataset::new(x, y).unwrap();
        let closed = linear_leave_one_out(&data);
        for (o, closed) in closed.into_iter().enumerate() {
            let square = |i: usize| {
                let rows: Vec<usize> = (0..15).filter(|&k| k != i).collect();
                let others = |a: &Mat<f64>| Mat::from_fn(14, 2, |k, j| a[(rows[k], j)]);
                let others = Dataset::new(others(&data.x), others(&data.y)).unwrap();
                let f = linear_fit(&others, data.x.as_ref().subrows(i, 1));
                (f[(0, o)] - data.y[(i, o)]).powi(2)
            };
            let direct = (0..15).map(square).sum::<f64>() / 15.0;
            assert!((closed - direct).abs() < 1e-7 * direct, "{closed} {direct}");
        }
    }
}
