//! The posterior covariance of a kernel model between two points, and where its errors exceed its own estimate.
//!
//! With C = K + gI as in `kernel_model`, the covariance of f at a and b in units of the signal variance is
//!
//! ```text
//! k(a, b) − k_aᵀC⁻¹k_b + (1 − 1ᵀC⁻¹k_a)(1 − 1ᵀC⁻¹k_b) / 1ᵀC⁻¹1
//! ```
//!
//! without the last term if the method has no constant. Ridge regression is treated as a Gaussian process with the
//! same kernel.

use super::{BLOCK, KernelBody};
use crate::cholesky::solve;
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::{Mat, MatRef, Par};
use thinfit::pieces::product;
use thinfit::{Header, Result, check_result};

/// Where a row is one of the points, up to rounding.
const SAME: f64 = 1e-12;

impl KernelBody {
    /// The covariances of f at the rows of `a` and `b`, in units of the signal variance.
    ///
    /// # Errors
    /// As [`Header::by_blocks`], or a kernel matrix that cannot be factorised.
    pub fn covariance(
        &self,
        header: &Header,
        a: MatRef<'_, f64>,
        b: MatRef<'_, f64>,
    ) -> Result<Mat<f64>> {
        let l = self.factor(header)?;
        let m = l.nrows();
        let pull = solve(l.as_ref(), Mat::from_fn(m, 1, |_, _| 1.0).as_ref());
        let total: f64 = pull.col_as_slice(0).iter().sum();
        // What the samples explain (m columns), then what they leave of the constant.
        let known = |x| {
            header.by_blocks(x, m + 1, BLOCK, |x, mut out| {
                let k = self.cross(header, x);
                let mean = product(k.as_ref(), pull.as_ref());
                let mut v = k.transpose().to_owned();
                solve_lower_triangular_in_place(l.as_ref(), v.as_mut(), Par::Seq);
                for i in 0..out.nrows() {
                    (0..m).for_each(|j| out[(i, j)] = v[(j, i)]);
                    out[(i, m)] = match self.signal {
                        Some(_) => (1.0 - mean[(i, 0)]) / total.sqrt(),
                        None => 0.0,
                    };
                }
            })
        };
        let [of_a, of_b] = [known(a)?, known(b)?];
        let mut left = product(of_a.subcols(0, m), of_b.subcols(0, m).transpose());
        let kernel = self.kernel.cross(
            header.input_scaler.apply(a).as_ref(),
            header.input_scaler.apply(b).as_ref(),
        );
        for j in 0..left.ncols() {
            for i in 0..left.nrows() {
                let of_constant = of_a[(i, m)] * of_b[(j, m)];
                left[(i, j)] = kernel[(i, j)] - left[(i, j)] + of_constant;
            }
        }
        check_result(left)
    }

    /// The signal variance of each output (c) under which the errors at rows left out are as large as expected, in scaled
    /// outputs.
    pub fn calibrated_signal(&self, header: &Header) -> Result<Vec<f64>> {
        let surprises = self.surprises(header)?;
        let mean = |o| surprises.col(o).iter().sum::<f64>() / surprises.nrows() as f64;
        Ok((0..surprises.ncols()).map(mean).collect())
    }

    /// How many times larger than expected squared errors are around the rows of `x` (n × d), the mean over outputs: those at
    /// the points left out, weighed by the inverse square of their variogram 1 − k(x, x_i)/k(x, x).
    pub fn local_error_ratio(&self, header: &Header, x: MatRef<'_, f64>) -> Result<Vec<f64>> {
        let (surprises, signal) = (self.surprises(header)?, self.calibrated_signal(header)?);
        let (m, c) = (surprises.nrows(), surprises.ncols());
        let of = |i: usize| {
            let each = (0..c).filter(|&o| signal[o] > 0.0);
            each.map(|o| surprises[(i, o)] / signal[o]).sum::<f64>() / c as f64
        };
        let squares: Vec<f64> = (0..m).map(of).collect();
        let diagonal = self.kernel.diagonal();
        let doubt = header.by_blocks(x, 1, BLOCK, |x, mut out| {
            let k = self.cross(header, x);
            for i in 0..out.nrows() {
                let weight = |j: usize| (1.0 - k[(i, j)] / diagonal).max(SAME).powi(-2);
                let total: f64 = (0..m).map(weight).sum();
                out[(i, 0)] = (0..m).map(|j| weight(j) * squares[j]).sum::<f64>() / total;
            }
        })?;
        Ok(doubt.col_as_slice(0).to_vec())
    }

    /// The points in the units of the data (m × d).
    pub fn samples(&self, header: &Header) -> Mat<f64> {
        let scaler = &header.input_scaler;
        Mat::from_fn(self.points.nrows(), self.points.ncols(), |i, j| {
            scaler.unwarped(j, scaler.shift[j] + scaler.scale[j] * self.points[(i, j)])
        })
    }
}
