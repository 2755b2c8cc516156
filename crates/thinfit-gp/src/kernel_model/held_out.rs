//! Held-out errors of grouped rows. A row of a group says too much about the others, so each fold of whole groups is
//! predicted from the other folds, with the same kernel and ridge. With C = K + gI of those, μ their constant and k
//! between a row and them,
//!
//! ```text
//! r = y − μ − kᵀC⁻¹(y − μ)        σ² = s² (k(x, x) + g − kᵀC⁻¹k + (1 − 1ᵀC⁻¹k)²/1ᵀC⁻¹1)
//! ```
//!
//! where σ is the standard deviation of an observation of a Gaussian process. The model stores the errors, because it
//! cannot recompute them without the groups.
//!
//! Dimensions: `m` points, `c` outputs.

use super::{KernelBody, KernelModel};
use crate::cholesky::{all_threads, factor, solve};
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::{Mat, Par};
use thinfit::pieces::{folds, one_group, product};
use thinfit::{Dataset, Header, Result, TrainingRows, check_result};

/// Number of folds.
const FOLDS: usize = 5;

/// Folds of whole groups, which judge a fit and choose its settings; none without groups.
///
/// # Errors
/// All rows in one group.
pub fn group_folds(data: &Dataset, seed: u64) -> Result<Option<Vec<Vec<usize>>>> {
    if data.groups.is_none() {
        return Ok(None);
    }
    match folds(data, FOLDS, seed) {
        folds if folds.len() < 2 => Err(one_group(folds.len())),
        folds => Ok(Some(folds)),
    }
}

/// The errors in a fold of a model of the other rows, in scaled outputs.
struct HeldOut {
    /// y − f (rows × c).
    residual: Mat<f64>,
    /// Variances of these in units of the signal.
    variance: Vec<f64>,
}

/// The model with errors and intervals from folds in place of leave-one-out, if there are any. The rows of `data` are its points.
pub fn judged_by_folds(
    mut model: KernelModel,
    data: &Dataset,
    folds: Option<Vec<Vec<usize>>>,
) -> Result<KernelModel> {
    let Some(folds) = folds else {
        return Ok(model);
    };
    let (m, c) = (data.samples(), data.y.ncols());
    let y = model.output_scaler.apply(data.y.as_ref());
    let gram = model.body.kernel.gram(model.body.points.as_ref());
    let (mut residual, mut scores) = (Mat::zeros(m, c), vec![vec![0.0; m]; c]);
    for fold in &folds {
        let held = model.body.held_out(&model, &gram, &y, fold)?;
        for (o, scores) in scores.iter_mut().enumerate() {
            for (i, &row) in fold.iter().enumerate() {
                let r = held.residual[(i, o)];
                residual[(row, o)] = r;
                scores[row] = match &model.body.signal {
                    Some(_) if r == 0.0 => 0.0,
                    Some(signal) => r.abs() / (signal[o] * held.variance[i]).sqrt(),
                    None => r.abs() * model.output_scaler.scale[o],
                };
            }
        }
    }
    let residual = check_result(residual)?;
    let scale = model.output_scaler.scale.clone();
    if !model.record.validation_mse.is_empty() {
        let squares = residual.col_iter().map(|r| r.squared_norm_l2() / m as f64);
        let mse: Vec<f64> = squares.collect();
        model.record = model.record.clone().left_out(data, &mse, &scale, m);
    }
    let missed = Mat::from_fn(m, c, |i, o| scale[o] * residual[(i, o)]);
    model.record.rows = Some(TrainingRows::new(data).with_left_out(missed.as_ref()));
    let scores = scores.iter().map(|of| data.scores_of_groups(of));
    model.with_calibration(scores.collect())
}

impl KernelBody {
    /// The rows of a fold in a model of the other rows; `gram` is the lower triangle of K, `y` in scaled outputs.
    fn held_out(
        &self,
        header: &Header,
        gram: &Mat<f64>,
        y: &Mat<f64>,
        fold: &[usize],
    ) -> Result<HeldOut> {
        let (m, c) = (y.nrows(), y.ncols());
        let k = |i: usize, j: usize| gram[(i.max(j), i.min(j))];
        let others: Vec<usize> = (0..m).filter(|i| fold.binary_search(i).is_err()).collect();
        let inner = Mat::from_fn(others.len(), others.len(), |i, j| k(others[i], others[j]));
        let factor = factor(inner.as_ref(), header.record.ridge, all_threads())?;
        let cross = Mat::from_fn(fold.len(), others.len(), |i, j| k(fold[i], others[j]));
        let pull = solve(
            factor.l.as_ref(),
            Mat::from_fn(others.len(), 1, |_, _| 1.0).as_ref(),
        );
        let total: f64 = pull.col_as_slice(0).iter().sum();
        let mean = |o: usize| match &self.signal {
            None => self.mean[o],
            Some(_) => {
                let terms = others.iter().zip(pull.col_as_slice(0));
                terms.map(|(&i, pull)| pull * y[(i, o)]).sum::<f64>() / total
            }
        };
        let mean: Vec<f64> = (0..c).map(mean).collect();
        let centred = Mat::from_fn(others.len(), c, |i, o| y[(others[i], o)] - mean[o]);
        let alpha = solve(factor.l.as_ref(), centred.as_ref());
        let f = product(cross.as_ref(), alpha.as_ref());
        let of_mean = product(cross.as_ref(), pull.as_ref());
        let mut v = cross.transpose().to_owned();
        solve_lower_triangular_in_place(factor.l.as_ref(), v.as_mut(), Par::Seq);
        let variance = |i: usize| {
            // Rounding can make this negative.
            let left = (self.kernel.diagonal() - v.col(i).squared_norm_l2()).max(0.0);
            left + (1.0 - of_mean[(i, 0)]).powi(2) / total + factor.ridge
        };
        Ok(HeldOut {
            residual: Mat::from_fn(fold.len(), c, |i, o| y[(fold[i], o)] - mean[o] - f[(i, o)]),
            variance: (0..fold.len()).map(variance).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::GaussianProcess;
    use crate::kernel::tests::random;
    use thinfit::Control;

    /// Twelve settings, each read eight times with jitter, whose readings share an error.
    fn readings() -> Dataset {
        let (places, jitter) = (random(12, 2, 1), random(96, 2, 2));
        let (shared, own) = (random(12, 1, 3), random(96, 1, 4));
        let x = Mat::from_fn(96, 2, |i, j| places[(i % 12, j)] + 1e-3 * jitter[(i, j)]);
        let y = Mat::from_fn(96, 1, |i, _| {
            x[(i, 0)] + 2.0 * shared[(i % 12, 0)] + 0.01 * own[(i, 0)]
        });
        Dataset::new(x, y).unwrap()
    }

    fn grouped(data: &Dataset) -> Dataset {
        let groups = (0..data.samples()).map(|i| (i % 12) as u64);
        data.clone().with_groups(groups.collect()).unwrap()
    }

    #[test]
    fn the_held_out_rows_of_a_process_are_those_of_a_process_of_the_others() {
        let data = grouped(&readings());
        let model = GaussianProcess::default()
            .fit(&data, 1, &|_| Control::Continue)
            .unwrap();
        let folds = group_folds(&data, 1).unwrap().unwrap();
        assert_eq!(folds.len(), 5);
        let (fold, rows) = (&folds[0], model.record.rows.as_ref().unwrap());
        let others: Vec<usize> = (0..96).filter(|i| !fold.contains(i)).collect();
        let (rest, held) = (data.rows(&others), data.rows(fold));
        let y = model.output_scaler.apply(rest.y.as_ref());
        // The constant and the coefficients by the bordered system.
        let n = others.len();
        let points =
            |rows: &[usize]| Mat::from_fn(rows.len(), 2, |i, j| model.body.points[(rows[i], j)]);
        let gram = model
            .body
            .kernel
            .cross(points(&others).as_ref(), points(&others).as_ref());
        let system = Mat::from_fn(n + 1, n + 1, |i, j| match (i == n, j == n) {
            (false, false) => gram[(i, j)] + if i == j { model.record.ridge } else { 0.0 },
            (true, true) => 0.0,
            _ => 1.0,
        });
        let right = Mat::from_fn(n + 1, 1, |i, _| if i < n { y[(i, 0)] } else { 0.0 });
        let solved = faer::linalg::solvers::Solve::solve(&system.partial_piv_lu(), &right);
        let cross = model
            .body
            .kernel
            .cross(points(fold).as_ref(), points(&others).as_ref());
        for (i, &row) in fold.iter().enumerate() {
            let sum: f64 = (0..n).map(|j| cross[(i, j)] * solved[(j, 0)]).sum();
            let f = model.output_scaler.shift[0]
                + model.output_scaler.scale[0] * (solved[(n, 0)] + sum);
            let expected = held.y[(i, 0)] - f;
            let found = rows.left_out(row, 0).unwrap();
            assert!(
                (found - expected).abs() < 1e-4 * expected.abs().max(1e-2),
                "{found} {expected}"
            );
        }
    }

    #[test]
    fn rows_in_one_group_are_refused() {
        let one = readings().with_groups(vec![3; 96]).unwrap();
        let error = GaussianProcess::default().fit(&one, 1, &|_| Control::Continue);
        assert!(matches!(
            error.unwrap_err(),
            thinfit::Error::TooFew { what: "groups", .. }
        ));
    }
}
