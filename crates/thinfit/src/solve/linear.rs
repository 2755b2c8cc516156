//! The linear fit y ≈ Xβ + β₀, the baseline that every model is compared with.
//!
//! Dimensions: `m` samples, `d` inputs, `c` outputs, k = min(m, d + 1). With more coefficients than rows, only those
//! in the span of the rows can differ from zero: the rows are first transformed into k coordinates of that span, so
//! that memory and time grow with d instead of d².

use crate::data::{Dataset, Scaler, divided};
use crate::solve::householder::Qr;
use faer::{Mat, MatRef};

/// Ridge relative to √m: picks a solution where columns are dependent, and is negligible elsewhere.
const KAPPA: f64 = 1e-10;
/// 1 − h below which the closed form of leave-one-out is rounding.
const CLOSE: f64 = 1e-7;
/// How many folds judge a fit to rows in groups.
const FOLDS: usize = 10;

/// Predictions (rows × c) at the rows of `x` by the least squares fit to `data`.
pub(crate) fn linear_fit(data: &Dataset, x: MatRef<'_, f64>) -> Mat<f64> {
    Linear::fit(data).predict(x)
}

/// Mean squared error per output when every row is predicted by the linear fit to all others, r_i/(1 − h_i) with the
/// residuals r and h_i = |row i of Q|²; of rows in groups, by the fit to the rows of other folds.
pub fn linear_leave_one_out(data: &Dataset) -> Vec<f64> {
    if data.groups.is_some() {
        return linear_by_folds(data);
    }
    let (m, c) = (data.samples(), data.y.ncols());
    let fit = Linear::fit(data);
    let mut error = fit.predict(data.x.as_ref()) - &data.y;
    let k = m.min(data.dim() + 1);
    let mut q = Mat::<f64>::identity(m + k, k);
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

/// The same by folds that divide no group.
fn linear_by_folds(data: &Dataset) -> Vec<f64> {
    let mut sums = vec![0.0; data.y.ncols()];
    let folds = divided(data.inseparable(FOLDS), FOLDS);
    for fold in &folds {
        let others = (0..data.samples()).filter(|i| fold.binary_search(i).is_err());
        let others: Vec<usize> = match folds.len() {
            // Nothing can be held out.
            1 => fold.clone(),
            _ => others.collect(),
        };
        let held = data.rows(fold);
        let error = Linear::fit(&data.rows(&others)).predict(held.x.as_ref()) - &held.y;
        for (sum, error) in sums.iter_mut().zip(error.col_iter()) {
            *sum += error.squared_norm_l2();
        }
    }
    sums.iter().map(|sum| sum / data.samples() as f64).collect()
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
        let entry = |i: usize, j: usize| root(i) * if j < d { x[(i, j)] } else { 1.0 };
        // A = Rᵀ Qᵀ with orthonormal columns in Q: for β = Qγ, Aβ = Rᵀγ and |β| = |γ|.
        let span = (m < d + 1).then(|| Qr::new(Mat::from_fn(d + 1, m, |j, i| entry(i, j))));
        let (tau, k) = (KAPPA * (m as f64).sqrt(), m.min(d + 1));
        let qr = Qr::new(Mat::from_fn(m + k, k, |i, j| match i.checked_sub(m) {
            None => match &span {
                None => entry(i, j),
                Some(span) if j <= i => span.r()[(j, i)],
                Some(_) => 0.0,
            },
            Some(l) => f64::from(u8::from(l == j)) * tau,
        }));
        let mut beta = Mat::from_fn(
            m + k,
            c,
            |i, o| {
                if i < m { root(i) * data.y[(i, o)] } else { 0.0 }
            },
        );
        qr.transpose_apply(beta.as_mut());
        qr.solve(beta.as_mut().subrows_mut(0, k));
        beta.truncate(k, c);
        if let Some(span) = &span {
            beta = Mat::from_fn(d + 1, c, |j, o| if j < k { beta[(j, o)] } else { 0.0 });
            span.apply(beta.as_mut());
        }
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

    /// The fit by definition, in d + 1 unknowns: predictions at the rows of `x`.
    fn plain(data: &Dataset, x: MatRef<'_, f64>) -> Mat<f64> {
        let (m, d, c) = (data.samples(), data.dim(), data.y.ncols());
        let scaler = Scaler::to_standard(data.x.as_ref());
        let scaled = scaler.apply(data.x.as_ref());
        let root = |i: usize| data.weights.as_ref().map_or(1.0, |w| w[i].sqrt());
        let tau = KAPPA * (m as f64).sqrt();
        let qr = Qr::new(Mat::from_fn(m + d + 1, d + 1, |i, j| {
            match i.checked_sub(m) {
                None if j < d => root(i) * scaled[(i, j)],
                None => root(i),
                Some(k) => f64::from(u8::from(k == j)) * tau,
            }
        }));
        let mut beta = Mat::from_fn(m + d + 1, c, |i, o| match i < m {
            true => root(i) * data.y[(i, o)],
            false => 0.0,
        });
        qr.transpose_apply(beta.as_mut());
        qr.solve(beta.as_mut().subrows_mut(0, d + 1));
        let x = scaler.apply(x);
        Mat::from_fn(x.nrows(), c, |i, o| {
            let terms = (0..d).map(|j| x[(i, j)] * beta[(j, o)]);
            terms.sum::<f64>() + beta[(d, o)]
        })
    }

    #[test]
    fn rows_of_a_group_do_not_predict_each_other() {
        // Ten groups of five rows, each with an offset of its own that one input tells.
        let x = Mat::from_fn(50, 3, |i, j| match j {
            0 => ((i * 7) % 11) as f64,
            _ => f64::from(u8::from((i / 5) % 2 == j - 1)) * (i / 5) as f64,
        });
        let y = Mat::from_fn(50, 1, |i, _| x[(i, 0)] + ((i / 5 * 37) % 10) as f64);
        let data = Dataset::new(x, y).unwrap();
        let alone = linear_leave_one_out(&data)[0];
        let grouped = data.clone().with_groups((0..50).map(|i| i / 5).collect());
        let grouped = grouped.unwrap();
        let found = linear_leave_one_out(&grouped)[0];
        let mut expected = 0.0;
        for group in grouped.grouped() {
            let others: Vec<usize> = (0..50).filter(|i| !group.contains(i)).collect();
            let held = data.rows(&group);
            let error = linear_fit(&data.rows(&others), held.x.as_ref()) - &held.y;
            expected += error.squared_norm_l2() / 50.0;
        }
        assert!((found / expected - 1.0).abs() < 1e-12 && found > 1.1 * alone);
    }

    #[test]
    fn more_columns_than_rows_give_the_fit_by_definition() {
        for (m, d) in [(1, 3), (5, 5), (7, 40), (12, 11), (40, 90)] {
            // Row 3 repeats row 0, column 1 repeats column 0.
            let row = |i: usize| if i == 3 { 0 } else { i };
            let x = Mat::from_fn(m, d, |i, j| {
                ((1 + row(i) * d + j.max(1)).pow(2) as f64).sin()
            });
            let y = Mat::from_fn(m, 2, |i, o| ((2 + row(i) * (3 + o)) as f64).cos());
            let new = Mat::from_fn(9, d, |i, j| (0.11 * (i * d + j) as f64).cos());
            let data = Dataset::new(x, y).unwrap();
            let weights = (0..m).map(|i| 1.0 + (i % 4) as f64).collect();
            for data in [data.clone(), data.with_weights(weights).unwrap()] {
                let (found, expected) =
                    (linear_fit(&data, new.as_ref()), plain(&data, new.as_ref()));
                let size = expected.norm_max();
                let error = (&found - &expected).norm_max();
                assert!(error < 1e-5 * size, "{m} × {d}: {error:e} of {size:e}");
            }
        }
    }

    #[test]
    fn twenty_thousand_columns_of_five_rows_take_megabytes() {
        let x = Mat::from_fn(5, 20_000, |i, j| ((i * 20_000 + j) as f64).sin());
        let y = Mat::from_fn(5, 1, |i, _| (i as f64).cos());
        let data = Dataset::new(x, y).unwrap();
        let memory = allocation_counter::measure(|| {
            assert!(linear_leave_one_out(&data)[0].is_finite());
        });
        // Most of it is what the matrix products pack; a matrix of all columns would take 3 GB.
        assert!(memory.bytes_max < 200 << 20, "{} bytes", memory.bytes_max);
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
