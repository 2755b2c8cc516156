//! The function of a model, the only thing in which networks and kernels differ.

use super::calibration::Calibration;
use super::header::Header;
use crate::Result;
use faer::{Mat, MatMut, MatRef};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The function of a [`Model`](crate::Model).
pub trait Body: Clone + Sync + Serialize + DeserializeOwned {
    /// Name and version of the file format.
    const FORMAT: &'static str;
    /// Rows evaluated at a time.
    const BLOCK: usize;

    /// The first flaw of a body for `d` inputs and `c` outputs, if any.
    fn flaw(&self, d: usize, c: usize) -> Option<&'static str>;

    /// How many real numbers prediction needs.
    fn parameters(&self) -> usize;

    /// Writes f at the rows of a block (rows × d) to a block of results (rows × c), both in the units of the data.
    fn values<'a>(
        &'a self,
        header: &'a Header,
    ) -> impl Fn(MatRef<'_, f64>, MatMut<'_, f64>) + Sync + 'a;

    /// Writes the derivatives of output `o` at a block of scaled rows x′ (rows × d), per unit of x′ and in scaled outputs.
    fn slopes(&self, x: MatRef<'_, f64>, o: usize, out: MatMut<'_, f64>);

    /// The variance of each output in scaled units (c) that variances are multiples of, and the variance of noise as a multiple.
    ///
    /// # Errors
    /// A body without standard deviations.
    fn unit_variance(&self, header: &Header) -> Result<(&[f64], f64)>;

    /// The variance of f at the rows of `x` (m × 1), as a multiple of [`Body::unit_variance`].
    ///
    /// # Errors
    /// As [`Header::by_blocks`], or a body without standard deviations.
    fn variance(&self, header: &Header, x: MatRef<'_, f64>) -> Result<Mat<f64>>;

    /// The calibration of a model whose header has none.
    ///
    /// # Errors
    /// A body without intervals.
    fn own_calibration(&self, header: &Header) -> Result<&Calibration>;
}
