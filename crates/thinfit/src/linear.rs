//! The linear fit y ≈ Xβ + β₀: what a model has to beat before it is worth its name.

use crate::data::{Dataset, Scaler};
use crate::householder::Qr;
use faer::{Mat, MatRef};

/// Ridge relative to √m: decides between solutions where columns depend on each other, and is not felt elsewhere.
const KAPPA: f64 = 1e-10;

/// Predictions (rows × c) at the rows of `x` by the least squares fit to `data`.
pub(crate) fn linear_fit(data: &Dataset, x: MatRef<'_, f64>) -> Mat<f64> {
    let (m, d) = (data.samples(), data.dim());
    // The ridge is meant for columns of order one.
    let scaler = Scaler::to_standard(data.x.as_ref());
    let (train, x) = (scaler.apply(data.x.as_ref()), scaler.apply(x));
    let x = x.as_ref();
    let root = |i: usize| {
        data.weights
            .as_ref()
            .map_or(1.0, |weights| weights[i].sqrt())
    };
    let entry = |x: MatRef<'_, f64>, i: usize, j: usize| if j < d { x[(i, j)] } else { 1.0 };
    let tau = KAPPA * (m as f64).sqrt();
    let stacked = Mat::from_fn(m + d + 1, d + 1, |i, j| match i.checked_sub(m) {
        None => root(i) * entry(train.as_ref(), i, j),
        Some(k) => f64::from(u8::from(k == j)) * tau,
    });
    let mut beta = Mat::from_fn(m + d + 1, data.y.ncols(), |i, o| {
        if i < m { root(i) * data.y[(i, o)] } else { 0.0 }
    });
    let qr = Qr::new(stacked);
    qr.transpose_apply(beta.as_mut());
    qr.solve(beta.as_mut().subrows_mut(0, d + 1));
    Mat::from_fn(x.nrows(), data.y.ncols(), |i, o| {
        (0..=d).map(|j| entry(x, i, j) * beta[(j, o)]).sum()
    })
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
}
